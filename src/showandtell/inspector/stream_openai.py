"""Write a reply as POST /v1/chat/completions does: one JSON completion, or its chunks as server-sent events."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from showandtell.inspector.seen import Call, Reply
from showandtell.inspector.stream_anthropic import PIECE, cut_text

#: A moment that never changes, so that the same request gives the same bytes.
CREATED = 1_767_225_600


def spell_completion(reply: Reply, model: str, name: str) -> bytes:
    """The whole completion; `name` makes its id."""
    message: dict[str, Any] = {"role": "assistant", "content": reply.text or None, "refusal": None}
    if reply.calls:
        message["tool_calls"] = [_tool_call(call) for call in reply.calls]
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": _finish(reply)}
    body = {**_head("chat.completion", model, name), "choices": [choice], "usage": _usage(reply)}
    return msgspec.json.encode(body)


def spell_stream(reply: Reply, model: str, name: str, *, usage: bool) -> Iterator[bytes]:
    """The completion chunk by chunk; with `usage`, a last chunk without choices tells the tokens."""
    head = _head("chat.completion.chunk", model, name)
    more = {"usage": None} if usage else {}
    for delta in _deltas(reply):
        yield _data({**head, "choices": [_choice(delta, None)], **more})
    yield _data({**head, "choices": [_choice({}, _finish(reply))], **more})
    if usage:
        yield _data({**head, "choices": [], "usage": _usage(reply)})
    yield b"data: [DONE]\n\n"


def _deltas(reply: Reply) -> Iterator[dict[str, Any]]:
    yield {"role": "assistant", "content": "" if reply.text or not reply.calls else None, "refusal": None}
    for piece in cut_text(reply.text, PIECE):
        yield {"content": piece}
    for index, call in enumerate(reply.calls):
        opened = _tool_call(call)
        opened["function"]["arguments"] = ""
        yield {"tool_calls": [{"index": index, **opened}]}
        for piece in cut_text(call.arguments, PIECE // 4):
            yield {"tool_calls": [{"index": index, "function": {"arguments": piece}}]}


def _head(kind: str, model: str, name: str) -> dict[str, Any]:
    return {"id": f"chatcmpl-{name}", "object": kind, "created": CREATED, "model": model}


def _choice(delta: dict[str, Any], finish: str | None) -> dict[str, Any]:
    return {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}


def _tool_call(call: Call) -> dict[str, Any]:
    function = {"name": call.tool, "arguments": call.arguments}
    return {"id": f"call_{call.call_id}", "type": "function", "function": function}


def _finish(reply: Reply) -> str:
    if reply.cut:
        return "length"
    return "tool_calls" if reply.calls else "stop"


def _usage(reply: Reply) -> dict[str, int]:
    total = reply.input_tokens + reply.output_tokens
    return {"prompt_tokens": reply.input_tokens, "completion_tokens": reply.output_tokens, "total_tokens": total}


def _data(chunk: dict[str, Any]) -> bytes:
    return b"data: " + msgspec.json.encode(chunk) + b"\n\n"
