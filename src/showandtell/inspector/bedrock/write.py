"""Write a reply as Bedrock's Converse does: one JSON response, or the frames of its event stream."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from showandtell.core.wire.aws_eventstream import encode
from showandtell.inspector.request import Call, Reply
from showandtell.inspector.text_chunks import CHUNK_SIZE, split_text

#: A constant, so that equal requests give equal bytes.
METRICS = {"latencyMs": 1}


def serialize_message(reply: Reply, call_type: str = "") -> bytes:
    """The complete response. `call_type` is the type of its calls, if they have one."""
    content = [{"text": reply.text}] if reply.text else []
    calls = [
        {"toolUse": {**_start(call, call_type), "input": msgspec.json.decode(call.arguments)}} for call in reply.calls
    ]
    answer = {
        "output": {"message": {"role": "assistant", "content": [*content, *calls]}},
        "stopReason": _stop(reply),
        "usage": _usage(reply),
        "metrics": METRICS,
    }
    return msgspec.json.encode(answer)


def serialize_stream(reply: Reply, call_type: str = "") -> Iterator[bytes]:
    """The response as frames. A text block has no start frame: the union of starts has no member for it."""
    yield _frame("messageStart", {"role": "assistant"})
    index = 0
    if reply.text or not reply.calls:
        yield from _deltas(index, [{"text": chunk} for chunk in split_text(reply.text, CHUNK_SIZE)])
        index += 1
    for call in reply.calls:
        yield _frame("contentBlockStart", {"start": {"toolUse": _start(call, call_type)}, "contentBlockIndex": index})
        chunks = ("", *split_text(call.arguments, CHUNK_SIZE // 4))
        yield from _deltas(index, [{"toolUse": {"input": chunk}} for chunk in chunks])
        index += 1
    yield _frame("messageStop", {"stopReason": _stop(reply)})
    yield _frame("metadata", {"usage": _usage(reply), "metrics": METRICS})


def _deltas(index: int, deltas: list[dict[str, Any]]) -> Iterator[bytes]:
    for delta in deltas:
        yield _frame("contentBlockDelta", {"delta": delta, "contentBlockIndex": index})
    yield _frame("contentBlockStop", {"contentBlockIndex": index})


def _start(call: Call, call_type: str) -> dict[str, Any]:
    started = {"toolUseId": f"tooluse_{call.call_id}", "name": call.tool}
    return {**started, "type": call_type} if call_type else started


def _stop(reply: Reply) -> str:
    if reply.truncated:
        return "max_tokens"
    return "tool_use" if reply.calls else "end_turn"


def _usage(reply: Reply) -> dict[str, int]:
    total = reply.input_tokens + reply.output_tokens
    return {"inputTokens": reply.input_tokens, "outputTokens": reply.output_tokens, "totalTokens": total}


def _frame(kind: str, payload: dict[str, Any]) -> bytes:
    return encode(kind, msgspec.json.encode(payload))
