"""Write a reply as POST /v1/chat/completions does: one JSON completion, or its chunks as server-sent events.

`ReplyStyle` holds the differences between hosts of this API. Each error format has a function.
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

from showandtell.inspector.answering.words import user_text
from showandtell.inspector.request import ApiError, Call, ModelRequest, Reply
from showandtell.inspector.text_chunks import CHUNK_SIZE, split_text

#: A fixed time, so that equal requests give equal bytes.
CREATED = 1_767_225_600


class ReplyStyle(Struct, frozen=True, kw_only=True):
    """How a host writes its responses.

    id_prefix, call_id_prefix: prefixes of response and call ids. max_call_id: maximum length of a call id.
    calls: "pieces": arguments in pieces; "whole": one chunk per call; "last": all calls in the chunk that ends the
        message. numbers_calls: whether calls are numbered; else each has the index 0.
    always_stop: whether a stream ends with "stop" even after calls.
    usage: where a stream reports tokens. "asked": in a last chunk if requested; "end": in the chunk that ends the
        message; "groq": there, in `x_groq`; "always": in a last chunk that repeats an empty choice.
    omits_nulls: whether to leave out OpenAI's null fields. extra: fields of every response. cost: US dollars per token.
    preamble: bytes before the first chunk. is_router: whether the host routes to upstreams, which its responses name
        and some of which generate images. images: data URLs of images in the response.
    reasoning: the field of a message that has the model's reasoning.
    """

    id_prefix: str = "chatcmpl-"
    call_id_prefix: str = "call_"
    max_call_id: int = 64
    calls: Literal["pieces", "whole", "last"] = "pieces"
    numbers_calls: bool = True
    always_stop: bool = False
    usage: Literal["asked", "end", "groq", "always"] = "asked"
    omits_nulls: bool = False
    extra: Mapping[str, Any] = {}
    cost: float | None = None
    preamble: bytes = b""
    is_router: bool = False
    images: tuple[str, ...] = ()
    reasoning: str = "reasoning"


DEFAULT_STYLE = ReplyStyle()
#: Recorded by pydantic-ai (test_groq, test_mistral, test_openrouter). From memory: Groq and Mistral send complete
#: calls, Mistral sends all of them at the end.
GROQ = ReplyStyle(call_id_prefix="", max_call_id=9, calls="whole", usage="groq")
MISTRAL = ReplyStyle(id_prefix="", call_id_prefix="", max_call_id=9, calls="last", usage="end", omits_nulls=True)
OPENROUTER = ReplyStyle(
    id_prefix="gen-", usage="always", cost=0.000_001, preamble=b": OPENROUTER PROCESSING\n\n" * 2, is_router=True
)
#: Index 0 for each call, and "stop" after calls, as in Ollama's older releases (its #7963 changed the latter). They are
#: still in use, and harder to parse.
OLLAMA = ReplyStyle(
    calls="whole", numbers_calls=False, always_stop=True, omits_nulls=True, extra={"system_fingerprint": "fp_ollama"}
)
VLLM = ReplyStyle(call_id_prefix="chatcmpl-tool-")
LLAMACPP = ReplyStyle(call_id_prefix="")
LMSTUDIO = ReplyStyle(call_id_prefix="", max_call_id=9)
#: A stream begins with an empty reasoning (Oaklight/llm-rosetta #356).
DEEPSEEK = ReplyStyle(call_id_prefix="call_00_", omits_nulls=True, reasoning="reasoning_content")
DRAW_REQUEST = re.compile(r"\b(draw|paint|sketch|illustrate)\b", re.IGNORECASE)


def fit_style(style: ReplyStyle, reply: Reply, request: ModelRequest) -> ReplyStyle:
    """The style of one response. A router names the upstream and adds an image if an image model is asked to draw."""
    if not style.is_router:
        return style
    upstream = request.model.partition("/")[0].replace("-", " ").title()
    text = user_text(request.turns[-1]) if request.turns else ""
    draws = "image" in request.model and not reply.calls and DRAW_REQUEST.search(text)
    return replace(style, extra={"provider": upstream}, images=(draw_png(text),) if draws else ())


def serialize_completion(reply: Reply, model: str, name: str, style: ReplyStyle = DEFAULT_STYLE) -> bytes:
    """The complete response. `name` is part of its id."""
    message: dict[str, Any] = {"role": "assistant", "content": reply.text or (None if not style.omits_nulls else "")}
    message |= {} if style.omits_nulls else {"refusal": None}
    message |= {style.reasoning: reply.reasoning} if reply.reasoning else {}
    message |= {"images": _images(style)} if style.images else {}
    if reply.calls:
        message["tool_calls"] = [_tool_call(call, at, style) for at, call in enumerate(reply.calls)]
    choice = {"index": 0, "message": message, **_null_logprobs(style), "finish_reason": _finish(reply)}
    head = _head("chat.completion", model, name, style)
    ends = {"x_groq": {"id": f"req_{name}"}} if style.usage == "groq" else {}
    return msgspec.json.encode({**head, "choices": [choice], "usage": _usage(reply, style), **ends})


def serialize_stream(
    reply: Reply, model: str, name: str, *, usage: bool, style: ReplyStyle = DEFAULT_STYLE
) -> Iterator[bytes]:
    """The response as chunks. The last ones report tokens with `usage`, or if the host always does."""
    head = _head("chat.completion.chunk", model, name, style)
    more = {"usage": None} if usage and style.usage == "asked" else {}
    if style.preamble:
        yield style.preamble
    for delta in _deltas(reply, style):
        yield _data({**head, "choices": [_choice(delta, None, style)], **more})
    last, tokens = _last(reply, style), _usage(reply, style)
    finish = "stop" if style.always_stop and reply.calls else _finish(reply)
    ends: dict[str, Any] = {"end": {"usage": tokens}, "groq": {"x_groq": {"id": f"req_{name}", "usage": tokens}}}
    yield _data({**head, "choices": [_choice(last, finish, style)], **more, **ends.get(style.usage, {})})
    if style.usage == "always":
        yield _data({**head, "choices": [_choice({"role": "assistant", "content": ""}, None, style)], "usage": tokens})
    elif usage and style.usage != "end":
        yield _data({**head, "choices": [], "usage": tokens})
    yield b"data: [DONE]\n\n"


def _deltas(reply: Reply, style: ReplyStyle) -> Iterator[dict[str, Any]]:
    no_text = reply.calls and not reply.text and not style.omits_nulls
    yield {"role": "assistant", "content": None if no_text else "", **({} if style.omits_nulls else {"refusal": None})}
    for chunk in ("", *split_text(reply.reasoning, CHUNK_SIZE)) if reply.reasoning else ():
        yield {"content": None, style.reasoning: chunk}
    for chunk in split_text(reply.text, CHUNK_SIZE):
        yield {"content": chunk}
    if style.images:
        yield {"images": _images(style)}
    if style.calls != "last":
        for index, call in enumerate(reply.calls):
            yield from _call_deltas(call, index, style)


def _call_deltas(call: Call, index: int, style: ReplyStyle) -> Iterator[dict[str, Any]]:
    started = _tool_call(call, index, style)
    place = {"index": index if style.numbers_calls else 0}
    if style.calls == "whole":
        yield {"tool_calls": [{**place, **started}]}
        return
    started["function"]["arguments"] = ""
    yield {"tool_calls": [{**place, **started}]}
    for chunk in split_text(call.arguments, CHUNK_SIZE // 4):
        yield {"tool_calls": [{**place, "function": {"arguments": chunk}}]}


def _last(reply: Reply, style: ReplyStyle) -> dict[str, Any]:
    """The delta of the chunk that ends the message."""
    if style.calls != "last":
        return {}
    calls = [{"index": at, **_tool_call(call, at, style)} for at, call in enumerate(reply.calls)]
    return {"content": "", **({"tool_calls": calls} if calls else {})}


def _head(kind: str, model: str, name: str, style: ReplyStyle) -> dict[str, Any]:
    return {"id": style.id_prefix + name, "object": kind, "created": CREATED, "model": model, **style.extra}


def _choice(delta: dict[str, Any], finish: str | None, style: ReplyStyle) -> dict[str, Any]:
    return {"index": 0, "delta": delta, **_null_logprobs(style), "finish_reason": finish}


def _null_logprobs(style: ReplyStyle) -> dict[str, Any]:
    return {} if style.omits_nulls else {"logprobs": None}


def _tool_call(call: Call, index: int, style: ReplyStyle) -> dict[str, Any]:
    function = {"name": call.tool, "arguments": call.arguments}
    fields = {
        "id": f"{style.call_id_prefix}{call.call_id}"[: style.max_call_id],
        "type": "function",
        "function": function,
    }
    return {**fields, "index": index} if style.calls == "last" else fields


def _images(style: ReplyStyle) -> list[dict[str, Any]]:
    return [{"type": "image_url", "image_url": {"url": url}, "index": at} for at, url in enumerate(style.images)]


def _finish(reply: Reply) -> str:
    if reply.truncated:
        return "length"
    return "tool_calls" if reply.calls else "stop"


def _usage(reply: Reply, style: ReplyStyle) -> dict[str, Any]:
    total = reply.input_tokens + reply.output_tokens
    usage = {"prompt_tokens": reply.input_tokens, "completion_tokens": reply.output_tokens, "total_tokens": total}
    return usage if style.cost is None else {**usage, "cost": round(total * style.cost, 9), "is_byok": False}


def _data(chunk: dict[str, Any]) -> bytes:
    return b"data: " + msgspec.json.encode(chunk) + b"\n\n"


# Error formats. OpenAI's own is `openai_chat.read.format_error`.


def format_groq_error(error: ApiError) -> bytes:
    """Message and type, and a code if there is one (chatboxai/chatbox #2081)."""
    fields = {"message": error.message, "type": error.kind}
    return _error(fields if error.code is None else {**fields, "code": error.code})


def format_openrouter_error(error: ApiError) -> bytes:
    """Message and HTTP status (recorded by pydantic-ai, test_openrouter_errors_raised)."""
    return _error({"message": error.message, "code": error.status})


def format_llamacpp_error(error: ApiError) -> bytes:
    """HTTP status, message and type (from memory)."""
    return _error({"code": error.status, "message": error.message, "type": error.kind})


def format_mistral_error(error: ApiError) -> bytes:
    """`message` is a list of details for schema violations and text for other errors (recorded: eca #231, #233)."""
    body: dict[str, Any] = {"object": "error", "message": error.message, "type": error.kind}
    if error.status == 422:
        steps = (error.parameter or "").split(".")
        place = ["body", *(int(step) if step.isdecimal() else step for step in steps if step)]
        detail = {"type": error.kind, "loc": place, "msg": error.message}
        body |= {"message": {"detail": [detail]}, "type": "invalid_request_error"}
    return msgspec.json.encode({**body, "param": None, "code": error.code})


def format_vllm_error(error: ApiError) -> bytes:
    """As recorded from vLLM behind NIM."""
    return _error({"message": error.message, "type": "BadRequestError", "param": None, "code": error.status})


def format_lmstudio_error(error: ApiError) -> bytes:
    """The message alone (SwarmUI-MagicPromptExtension #51)."""
    return _error(error.message)


def format_cohere_error(error: ApiError) -> bytes:
    """The message at the top level (from memory)."""
    return msgspec.json.encode({"message": error.message})


def format_litellm_error(error: ApiError) -> bytes:
    """The message after the name of LiteLLM's exception (OpenHands #7700; the format is from memory)."""
    text = f"litellm.BadRequestError: OpenAIException - {error.message}"
    return _error({"message": text, "type": None, "param": None, "code": str(error.status)})


def _error(error: object) -> bytes:
    return msgspec.json.encode({"error": error})


def draw_png(text: str) -> str:
    """A data URL of an 8 x 8 PNG in one color, derived from the text."""
    rows = (b"\0" + hashlib.sha256(text.encode()).digest()[:3] * 8) * 8
    chunks = (b"IHDR", pack(">IIBBBBB", 8, 8, 8, 2, 0, 0, 0)), (b"IDAT", zlib.compress(rows)), (b"IEND", b"")
    png = b"".join(pack(">I", len(data)) + tag + data + pack(">I", zlib.crc32(tag + data)) for tag, data in chunks)
    return "data:image/png;base64," + base64.b64encode(b"\x89PNG\r\n\x1a\n" + png).decode()
