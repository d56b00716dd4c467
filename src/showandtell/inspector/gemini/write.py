"""Write a reply as generateContent does: one JSON response, server-sent chunks, or an array of chunks."""

from __future__ import annotations

import base64
import hashlib
import re
import struct
import zlib
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from showandtell.inspector.answering.words import user_text
from showandtell.inspector.gemini.rules import Target, sign
from showandtell.inspector.request import (
    Call,
    ModelRequest,
    ReceivedFile,
    Reply,
    RequestTurn,
    Result,
    TextPart,
    files_of,
)
from showandtell.inspector.text_chunks import CHUNK_SIZE, split_text

#: Tokens of a small image or a page of a document, and of a generated image (from memory).
IMAGE_TOKENS, GENERATED_IMAGE_TOKENS = 258, 1290
#: Tokens per second of audio (from memory), and bytes per second at 128 kbit/s, since nothing is decoded here.
SECOND_TOKENS, SECOND_BYTES = 32, 16_000
PAGE = re.compile(rb"/Type\s*/Page\b")
DRAW_REQUEST = re.compile(
    r"\b(draw|paint|sketch)\b|\b(make|create|generate)\b.{0,80}\b(picture|image|photo|drawing|illustration)",
    re.IGNORECASE | re.DOTALL,
)
SIDE = 64


def serialize_message(reply: Reply, request: ModelRequest, target: Target, name: str) -> bytes:
    """The complete response. `name` is its id."""
    parts = [*_text(reply.text), *_images(reply, request), *_calls(reply.calls, target, name)]
    if not reply.calls:
        parts = [*parts[:-1], {**(parts[-1] if parts else {"text": ""}), **_signature(target, name)}]
    return msgspec.json.encode(_chunk(parts, reply, request, name, _finish(reply)))


def serialize_stream(reply: Reply, request: ModelRequest, target: Target, name: str) -> Iterator[bytes]:
    """The response as server-sent events. The API ends lines with CR LF (from memory)."""
    for chunk in build_chunks(reply, request, target, name):
        yield b"data: " + msgspec.json.encode(chunk) + b"\r\n\r\n"


def serialize_array(reply: Reply, request: ModelRequest, target: Target, name: str) -> bytes:
    """The chunks as one JSON array, as sent without alt=sse."""
    return msgspec.json.encode(list(build_chunks(reply, request, target, name)))


def build_chunks(reply: Reply, request: ModelRequest, target: Target, name: str) -> Iterator[dict[str, Any]]:
    """Chunks of text, a chunk per image and call, and a last one with an empty text and the text's signature."""
    for chunk in split_text(reply.text, CHUNK_SIZE):
        yield _chunk(_text(chunk), reply, request, name)
    for part in (*_images(reply, request), *_calls(reply.calls, target, name)):
        yield _chunk([part], reply, request, name)
    signed = {} if reply.calls else _signature(target, name)
    yield _chunk([{"text": "", **signed}], reply, request, name, _finish(reply))


def _chunk(
    parts: Sequence[dict[str, Any]], reply: Reply, request: ModelRequest, name: str, finish: str | None = None
) -> dict[str, Any]:
    candidate: dict[str, Any] = {"content": {"parts": parts, "role": "model"}, "index": 0}
    if finish:
        candidate["finishReason"] = finish
    usage = _usage(reply, request, done=finish is not None)
    return {"candidates": [candidate], "usageMetadata": usage, "modelVersion": request.model, "responseId": name}


def _text(text: str) -> list[dict[str, Any]]:
    return [{"text": text}] if text else []


def _calls(calls: Sequence[Call], target: Target, name: str) -> Iterator[dict[str, Any]]:
    """Only the first of parallel calls is signed. On Vertex, calls have no ids."""
    for at, call in enumerate(calls):
        call_fields = {"name": call.tool, "args": msgspec.json.decode(call.arguments)}
        named = {"id": f"fc_{call.call_id}", **call_fields} if target.host == "google" else call_fields
        yield {"functionCall": named, **(_signature(target, name) if at == 0 else {})}


def _signature(target: Target, name: str) -> dict[str, Any]:
    if not target.newer:
        return {}
    return {"thoughtSignature": base64.b64encode(sign(target.host, name)).decode()}


def _finish(reply: Reply) -> str:
    return "MAX_TOKENS" if reply.truncated else "STOP"


def _images(reply: Reply, request: ModelRequest) -> list[dict[str, Any]]:
    """An image, if the last user message asks an image model for one."""
    text = user_text(request.turns[-1]) if request.turns else ""
    if "image" not in request.model or reply.calls or reply.truncated or not DRAW_REQUEST.search(text):
        return []
    data = base64.b64encode(draw_square(text)).decode()
    return [{"inlineData": {"mimeType": "image/png", "data": data}}]


def draw_square(text: str) -> bytes:
    """A PNG in one color, derived from the text."""
    row = b"\0" + hashlib.sha256(text.encode()).digest()[:3] * SIDE
    header = struct.pack(">IIBBBBB", SIDE, SIDE, 8, 2, 0, 0, 0)
    chunks = (b"IHDR" + header, b"IDAT" + zlib.compress(row * SIDE), b"IEND")
    framed = (struct.pack(">I", len(chunk) - 4) + chunk + struct.pack(">I", zlib.crc32(chunk)) for chunk in chunks)
    return b"\x89PNG\r\n\x1a\n" + b"".join(framed)


def _usage(reply: Reply, request: ModelRequest, *, done: bool) -> dict[str, Any]:
    """Tokens by modality. The last chunk includes those of the response."""
    prompt = count_modalities(request)
    usage: dict[str, Any] = {
        "promptTokenCount": sum(prompt.values()),
        "totalTokenCount": sum(prompt.values()),
        "promptTokensDetails": _details(prompt),
    }
    if not done:
        return usage
    output = {"TEXT": reply.output_tokens, "IMAGE": GENERATED_IMAGE_TOKENS * len(_images(reply, request))}
    answer = {modality: count for modality, count in output.items() if count}
    usage["candidatesTokenCount"] = sum(answer.values())
    usage["totalTokenCount"] += sum(answer.values())
    return {**usage, "candidatesTokensDetails": _details(answer)}


def _details(counts: dict[str, int]) -> list[dict[str, Any]]:
    return [{"modality": modality, "tokenCount": count} for modality, count in counts.items()]


def count_modalities(request: ModelRequest) -> dict[str, int]:
    """Prompt tokens by modality. A file that is only a reference counts nothing, since it is not seen."""
    texts = len(request.system) + sum(len(tool.description) + len(repr(tool.schema)) for tool in request.tools)
    counts = {"TEXT": texts // 4 + 1 + sum(_count_text(turn) for turn in request.turns)}
    newer = Target("google", request.model).newer
    for file in (file for turn in request.turns for file in files_of(turn)):
        modality, count = _count_file(file, newer=newer)
        if count:
            counts[modality] = counts.get(modality, 0) + count
    return counts


def _count_text(turn: RequestTurn) -> int:
    """One token per four characters of text or arguments."""
    total = 0
    for part in turn.parts:
        match part:
            case TextPart():
                total += len(part.text) // 4 + 1
            case Call():
                total += len(part.tool + part.arguments) // 4 + 4
            case Result():
                total += 4 + sum(len(inner.text) // 4 + 1 for inner in part.parts if isinstance(inner, TextPart))
            case ReceivedFile():
                continue
    return total


def _count_file(file: ReceivedFile, *, newer: bool) -> tuple[str, int]:
    """The modality of a file and its tokens. Gemini 3 counts pages as images (recorded), older ones as documents."""
    data = file.data or b""
    match file.media_type.partition("/")[0]:
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
