"""Write a reply as generateContent does: one JSON answer, server-sent chunks, or an array of the chunks."""

from __future__ import annotations

import base64
import hashlib
import re
import struct
import zlib
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from showandtell.inspector.answering.words import person_words
from showandtell.inspector.gemini.rules import Target, sign
from showandtell.inspector.request import Call, ModelRequest, ReceivedFile, Reply, RequestTurn, Result, Words, files_of
from showandtell.inspector.text_chunks import PIECE, cut_text

#: What the api counts for a small image or a page of a document, and for a made picture (from memory).
IMAGE_TOKENS, MADE_TOKENS = 258, 1290
#: Tokens a second of sound (from memory), and bytes a second, for nothing is decoded here: those of 128 kbit/s.
SECOND_TOKENS, SECOND_BYTES = 32, 16_000
PAGE = re.compile(rb"/Type\s*/Page\b")
DRAWS = re.compile(
    r"\b(draw|paint|sketch)\b|\b(make|create|generate)\b.{0,80}\b(picture|image|photo|drawing|illustration)",
    re.IGNORECASE | re.DOTALL,
)
SIDE = 64


def spell_answer(reply: Reply, asked: ModelRequest, target: Target, name: str) -> bytes:
    """The whole answer; `name` makes its id."""
    parts = [*_text(reply.text), *_pictures(reply, asked), *_calls(reply.calls, target, name)]
    if not reply.calls:
        parts = [*parts[:-1], {**(parts[-1] if parts else {"text": ""}), **_signature(target, name)}]
    return msgspec.json.encode(_chunk(parts, reply, asked, name, _finish(reply)))


def spell_stream(reply: Reply, asked: ModelRequest, target: Target, name: str) -> Iterator[bytes]:
    """The answer chunk by chunk, as server-sent events with the api's line ends, CR LF (from memory)."""
    for chunk in spell_chunks(reply, asked, target, name):
        yield b"data: " + msgspec.json.encode(chunk) + b"\r\n\r\n"


def spell_array(reply: Reply, asked: ModelRequest, target: Target, name: str) -> bytes:
    """The same chunks as one JSON array: what comes without alt=sse."""
    return msgspec.json.encode(list(spell_chunks(reply, asked, target, name)))


def spell_chunks(reply: Reply, asked: ModelRequest, target: Target, name: str) -> Iterator[dict[str, Any]]:
    """Text in pieces, each picture and call whole, and an empty text that ends it; a text's signature comes there."""
    for piece in cut_text(reply.text, PIECE):
        yield _chunk(_text(piece), reply, asked, name)
    for part in (*_pictures(reply, asked), *_calls(reply.calls, target, name)):
        yield _chunk([part], reply, asked, name)
    signed = {} if reply.calls else _signature(target, name)
    yield _chunk([{"text": "", **signed}], reply, asked, name, _finish(reply))


def _chunk(
    parts: Sequence[dict[str, Any]], reply: Reply, asked: ModelRequest, name: str, finish: str | None = None
) -> dict[str, Any]:
    candidate: dict[str, Any] = {"content": {"parts": parts, "role": "model"}, "index": 0}
    if finish:
        candidate["finishReason"] = finish
    usage = _usage(reply, asked, done=finish is not None)
    return {"candidates": [candidate], "usageMetadata": usage, "modelVersion": asked.model, "responseId": name}


def _text(text: str) -> list[dict[str, Any]]:
    return [{"text": text}] if text else []


def _calls(calls: Sequence[Call], target: Target, name: str) -> Iterator[dict[str, Any]]:
    """Of calls made side by side only the first is signed. Vertex gives calls no ids."""
    for at, call in enumerate(calls):
        spelled = {"name": call.tool, "args": msgspec.json.decode(call.arguments)}
        named = {"id": f"fc_{call.call_id}", **spelled} if target.host == "google" else spelled
        yield {"functionCall": named, **(_signature(target, name) if at == 0 else {})}


def _signature(target: Target, name: str) -> dict[str, Any]:
    if not target.newer:
        return {}
    return {"thoughtSignature": base64.b64encode(sign(target.host, name)).decode()}


def _finish(reply: Reply) -> str:
    return "MAX_TOKENS" if reply.cut else "STOP"


def _pictures(reply: Reply, asked: ModelRequest) -> list[dict[str, Any]]:
    """A picture, where a model that draws is asked for one in a person's last words."""
    words = person_words(asked.turns[-1]) if asked.turns else ""
    if "image" not in asked.model or reply.calls or reply.cut or not DRAWS.search(words):
        return []
    data = base64.b64encode(draw_square(words)).decode()
    return [{"inlineData": {"mimeType": "image/png", "data": data}}]


def draw_square(words: str) -> bytes:
    """A PNG of one colour, which follows from the words."""
    row = b"\0" + hashlib.sha256(words.encode()).digest()[:3] * SIDE
    header = struct.pack(">IIBBBBB", SIDE, SIDE, 8, 2, 0, 0, 0)
    chunks = (b"IHDR" + header, b"IDAT" + zlib.compress(row * SIDE), b"IEND")
    framed = (struct.pack(">I", len(chunk) - 4) + chunk + struct.pack(">I", zlib.crc32(chunk)) for chunk in chunks)
    return b"\x89PNG\r\n\x1a\n" + b"".join(framed)


def _usage(reply: Reply, asked: ModelRequest, *, done: bool) -> dict[str, Any]:
    """Tokens by modality; the answer's are told at its end."""
    prompt = count_modalities(asked)
    usage: dict[str, Any] = {
        "promptTokenCount": sum(prompt.values()),
        "totalTokenCount": sum(prompt.values()),
        "promptTokensDetails": _details(prompt),
    }
    if not done:
        return usage
    made = {"TEXT": reply.output_tokens, "IMAGE": MADE_TOKENS * len(_pictures(reply, asked))}
    answer = {modality: count for modality, count in made.items() if count}
    usage["candidatesTokenCount"] = sum(answer.values())
    usage["totalTokenCount"] += sum(answer.values())
    return {**usage, "candidatesTokensDetails": _details(answer)}


def _details(counts: dict[str, int]) -> list[dict[str, Any]]:
    return [{"modality": modality, "tokenCount": count} for modality, count in counts.items()]


def count_modalities(asked: ModelRequest) -> dict[str, int]:
    """The prompt's tokens by modality; a file that came as a reference alone was not seen, and counts nothing."""
    texts = len(asked.system) + sum(len(offer.description) + len(repr(offer.schema)) for offer in asked.tools)
    counts = {"TEXT": texts // 4 + 1 + sum(_weigh(turn) for turn in asked.turns)}
    newer = Target("google", asked.model).newer
    for seen in (file for turn in asked.turns for file in files_of(turn)):
        modality, count = _measure(seen, newer=newer)
        if count:
            counts[modality] = counts.get(modality, 0) + count
    return counts


def _weigh(turn: RequestTurn) -> int:
    """Four characters of words or arguments a token."""
    total = 0
    for part in turn.parts:
        match part:
            case Words():
                total += len(part.text) // 4 + 1
            case Call():
                total += len(part.tool + part.arguments) // 4 + 4
            case Result():
                total += 4 + sum(len(inner.text) // 4 + 1 for inner in part.parts if isinstance(inner, Words))
            case ReceivedFile():
                continue
    return total


def _measure(seen: ReceivedFile, *, newer: bool) -> tuple[str, int]:
    """The modality of a file and its tokens. Gemini 3 counts pages as images (recorded), older ones as documents."""
    data = seen.data or b""
    match seen.media_type.partition("/")[0]:
        case _ if not data:
            return "TEXT", 0
        case "image":
            return "IMAGE", IMAGE_TOKENS
        case "application":
            return "IMAGE" if newer else "DOCUMENT", IMAGE_TOKENS * max(1, len(PAGE.findall(data)))
        case "audio":
            return "AUDIO", SECOND_TOKENS * (1 + len(data) // SECOND_BYTES)
        case "video":
            return "VIDEO", IMAGE_TOKENS * (1 + len(data) // SECOND_BYTES)
        case _:
            return "TEXT", len(data) // 4 + 1
