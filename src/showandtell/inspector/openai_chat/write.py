"""Write a reply as POST /v1/chat/completions does: one JSON completion, or its chunks as server-sent events.

`Manner` is what a host that speaks this api writes differently from OpenAI; errors have a function for each form.
"""

from __future__ import annotations

import base64
import hashlib
import re
import zlib
from collections.abc import Iterator, Mapping
from struct import pack
from typing import Any, Literal

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from showandtell.inspector.answering.words import person_words
from showandtell.inspector.request import Call, ModelRequest, Refusal, Reply
from showandtell.inspector.text_chunks import PIECE, cut_text

#: A moment that never changes, so that the same request gives the same bytes.
CREATED = 1_767_225_600


class Manner(Struct, frozen=True, kw_only=True):
    """How one host writes its answers.

    name: what an answer's id begins with. call: what a call's id begins with, which is cut at `call_length`.
    calls: "pieces": arguments bit by bit; "whole": each call in a chunk of its own; "last": all of them in the chunk
        that ends the message. numbered: whether calls count up; else each has the index 0.
    always_stop: whether a stream ends with "stop" after calls, too.
    usage: of a stream: "asked": a last chunk where it is asked for; "end": in the chunk that ends the message; "groq":
        there, in `x_groq`; "always": a last chunk that repeats an empty choice.
    bare: whether null fields of OpenAI's are left out. more: fields of every answer. cost: US dollars a token.
    opening: what stands before the first chunk. routed: whether the host routes to others, which its answers name, and
        some of which draw. images: data URLs of pictures that the answer shows.
    """

    name: str = "chatcmpl-"
    call: str = "call_"
    call_length: int = 64
    calls: Literal["pieces", "whole", "last"] = "pieces"
    numbered: bool = True
    always_stop: bool = False
    usage: Literal["asked", "end", "groq", "always"] = "asked"
    bare: bool = False
    more: Mapping[str, Any] = {}
    cost: float | None = None
    opening: bytes = b""
    routed: bool = False
    images: tuple[str, ...] = ()


PLAIN = Manner()
#: Recorded by pydantic-ai (test_groq, test_mistral, test_openrouter); that Groq and Mistral send calls whole, and
#: Mistral all of them at the end, is from memory.
GROQ = Manner(call="", call_length=9, calls="whole", usage="groq")
MISTRAL = Manner(name="", call="", call_length=9, calls="last", usage="end", bare=True)
OPENROUTER = Manner(
    name="gen-", usage="always", cost=0.000_001, opening=b": OPENROUTER PROCESSING\n\n" * 2, routed=True
)
#: Index 0 for each call, and "stop" after calls, are those of Ollama's older releases (its #7963 changed the latter):
#: both are still about, and harder to read.
OLLAMA = Manner(calls="whole", numbered=False, always_stop=True, bare=True, more={"system_fingerprint": "fp_ollama"})
VLLM = Manner(call="chatcmpl-tool-")
LLAMACPP = Manner(call="")
LMSTUDIO = Manner(call="", call_length=9)
DRAWS = re.compile(r"\b(draw|paint|sketch|illustrate)\b", re.IGNORECASE)


def fit_manner(manner: Manner, reply: Reply, asked: ModelRequest) -> Manner:
    """The manner of one answer: a router names the upstream, and shows a picture where an image model is to draw."""
    if not manner.routed:
        return manner
    upstream = asked.model.partition("/")[0].replace("-", " ").title()
    words = person_words(asked.turns[-1]) if asked.turns else ""
    draws = "image" in asked.model and not reply.calls and DRAWS.search(words)
    return replace(manner, more={"provider": upstream}, images=(draw_png(words),) if draws else ())


def spell_completion(reply: Reply, model: str, name: str, manner: Manner = PLAIN) -> bytes:
    """The whole completion; `name` makes its id."""
    message: dict[str, Any] = {"role": "assistant", "content": reply.text or (None if not manner.bare else "")}
    message |= {} if manner.bare else {"refusal": None}
    message |= {"images": _images(manner)} if manner.images else {}
    if reply.calls:
        message["tool_calls"] = [_tool_call(call, at, manner) for at, call in enumerate(reply.calls)]
    choice = {"index": 0, "message": message, **_unlogged(manner), "finish_reason": _finish(reply)}
    head = _head("chat.completion", model, name, manner)
    ends = {"x_groq": {"id": f"req_{name}"}} if manner.usage == "groq" else {}
    return msgspec.json.encode({**head, "choices": [choice], "usage": _usage(reply, manner), **ends})


def spell_stream(reply: Reply, model: str, name: str, *, usage: bool, manner: Manner = PLAIN) -> Iterator[bytes]:
    """The completion chunk by chunk; with `usage`, or where the host always does so, it tells the tokens at its end."""
    head = _head("chat.completion.chunk", model, name, manner)
    more = {"usage": None} if usage and manner.usage == "asked" else {}
    if manner.opening:
        yield manner.opening
    for delta in _deltas(reply, manner):
        yield _data({**head, "choices": [_choice(delta, None, manner)], **more})
    last, tokens = _last(reply, manner), _usage(reply, manner)
    finish = "stop" if manner.always_stop and reply.calls else _finish(reply)
    ends: dict[str, Any] = {"end": {"usage": tokens}, "groq": {"x_groq": {"id": f"req_{name}", "usage": tokens}}}
    yield _data({**head, "choices": [_choice(last, finish, manner)], **more, **ends.get(manner.usage, {})})
    if manner.usage == "always":
        yield _data({**head, "choices": [_choice({"role": "assistant", "content": ""}, None, manner)], "usage": tokens})
    elif usage and manner.usage != "end":
        yield _data({**head, "choices": [], "usage": tokens})
    yield b"data: [DONE]\n\n"


def _deltas(reply: Reply, manner: Manner) -> Iterator[dict[str, Any]]:
    silent = reply.calls and not reply.text and not manner.bare
    yield {"role": "assistant", "content": None if silent else "", **({} if manner.bare else {"refusal": None})}
    for piece in cut_text(reply.text, PIECE):
        yield {"content": piece}
    if manner.images:
        yield {"images": _images(manner)}
    if manner.calls != "last":
        for index, call in enumerate(reply.calls):
            yield from _call_deltas(call, index, manner)


def _call_deltas(call: Call, index: int, manner: Manner) -> Iterator[dict[str, Any]]:
    opened = _tool_call(call, index, manner)
    place = {"index": index if manner.numbered else 0}
    if manner.calls == "whole":
        yield {"tool_calls": [{**place, **opened}]}
        return
    opened["function"]["arguments"] = ""
    yield {"tool_calls": [{**place, **opened}]}
    for piece in cut_text(call.arguments, PIECE // 4):
        yield {"tool_calls": [{**place, "function": {"arguments": piece}}]}


def _last(reply: Reply, manner: Manner) -> dict[str, Any]:
    """The delta of the chunk that ends the message."""
    if manner.calls != "last":
        return {}
    calls = [{"index": at, **_tool_call(call, at, manner)} for at, call in enumerate(reply.calls)]
    return {"content": "", **({"tool_calls": calls} if calls else {})}


def _head(kind: str, model: str, name: str, manner: Manner) -> dict[str, Any]:
    return {"id": manner.name + name, "object": kind, "created": CREATED, "model": model, **manner.more}


def _choice(delta: dict[str, Any], finish: str | None, manner: Manner) -> dict[str, Any]:
    return {"index": 0, "delta": delta, **_unlogged(manner), "finish_reason": finish}


def _unlogged(manner: Manner) -> dict[str, Any]:
    return {} if manner.bare else {"logprobs": None}


def _tool_call(call: Call, index: int, manner: Manner) -> dict[str, Any]:
    function = {"name": call.tool, "arguments": call.arguments}
    made = {"id": f"{manner.call}{call.call_id}"[: manner.call_length], "type": "function", "function": function}
    return {**made, "index": index} if manner.calls == "last" else made


def _images(manner: Manner) -> list[dict[str, Any]]:
    return [{"type": "image_url", "image_url": {"url": url}, "index": at} for at, url in enumerate(manner.images)]


def _finish(reply: Reply) -> str:
    if reply.cut:
        return "length"
    return "tool_calls" if reply.calls else "stop"


def _usage(reply: Reply, manner: Manner) -> dict[str, Any]:
    total = reply.input_tokens + reply.output_tokens
    told = {"prompt_tokens": reply.input_tokens, "completion_tokens": reply.output_tokens, "total_tokens": total}
    return told if manner.cost is None else {**told, "cost": round(total * manner.cost, 9), "is_byok": False}


def _data(chunk: dict[str, Any]) -> bytes:
    return b"data: " + msgspec.json.encode(chunk) + b"\n\n"


# The forms of errors. OpenAI's own is `openai_chat.spell_refusal`.


def spell_groq(refusal: Refusal) -> bytes:
    """Message and type, a code where there is one (chatboxai/chatbox #2081)."""
    error = {"message": refusal.message, "type": refusal.kind}
    return _error(error if refusal.code is None else {**error, "code": refusal.code})


def spell_openrouter(refusal: Refusal) -> bytes:
    """Message and HTTP status (recorded by pydantic-ai, test_openrouter_errors_raised)."""
    return _error({"message": refusal.message, "code": refusal.status})


def spell_llamacpp(refusal: Refusal) -> bytes:
    """The same and a type (from memory)."""
    return _error({"code": refusal.status, "message": refusal.message, "type": refusal.kind})


def spell_mistral(refusal: Refusal) -> bytes:
    """A fault of the schema is a list of details in `message`; everything else words (recorded: eca #231, #233)."""
    body: dict[str, Any] = {"object": "error", "message": refusal.message, "type": refusal.kind}
    if refusal.status == 422:
        steps = (refusal.parameter or "").split(".")
        place = ["body", *(int(step) if step.isdecimal() else step for step in steps if step)]
        detail = {"type": refusal.kind, "loc": place, "msg": refusal.message}
        body |= {"message": {"detail": [detail]}, "type": "invalid_request_error"}
    return msgspec.json.encode({**body, "param": None, "code": refusal.code})


def spell_vllm(refusal: Refusal) -> bytes:
    """As vLLM behind NIM was recorded."""
    return _error({"message": refusal.message, "type": "BadRequestError", "param": None, "code": refusal.status})


def spell_lmstudio(refusal: Refusal) -> bytes:
    """Words alone (SwarmUI-MagicPromptExtension #51)."""
    return _error(refusal.message)


def spell_message(refusal: Refusal) -> bytes:
    """Cohere's form (from memory)."""
    return msgspec.json.encode({"message": refusal.message})


def spell_proxied(refusal: Refusal) -> bytes:
    """LiteLLM's proxy names its own class before the upstream's words (OpenHands #7700; the form is from memory)."""
    words = f"litellm.BadRequestError: OpenAIException - {refusal.message}"
    return _error({"message": words, "type": None, "param": None, "code": str(refusal.status)})


def _error(error: object) -> bytes:
    return msgspec.json.encode({"error": error})


def draw_png(words: str) -> str:
    """A picture of one colour, 8 x 8 pixels, that follows from the words; as a data URL."""
    rows = (b"\0" + hashlib.sha256(words.encode()).digest()[:3] * 8) * 8
    chunks = (b"IHDR", pack(">IIBBBBB", 8, 8, 8, 2, 0, 0, 0)), (b"IDAT", zlib.compress(rows)), (b"IEND", b"")
    png = b"".join(pack(">I", len(data)) + tag + data + pack(">I", zlib.crc32(tag + data)) for tag, data in chunks)
    return "data:image/png;base64," + base64.b64encode(b"\x89PNG\r\n\x1a\n" + png).decode()
