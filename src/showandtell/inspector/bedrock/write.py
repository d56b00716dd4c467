"""Write a reply as Bedrock's Converse does: one JSON answer, or the frames of its event stream."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from showandtell.core.wire.aws_eventstream import encode
from showandtell.inspector.request import Call, Reply
from showandtell.inspector.text_chunks import PIECE, cut_text

#: No clock runs here: the same request gives the same bytes.
METRICS = {"latencyMs": 1}


def spell_answer(reply: Reply) -> bytes:
    """The whole answer."""
    content = [{"text": reply.text}] if reply.text else []
    calls = [{"toolUse": {**_opened(call), "input": msgspec.json.decode(call.arguments)}} for call in reply.calls]
    answer = {
        "output": {"message": {"role": "assistant", "content": [*content, *calls]}},
        "stopReason": _stop(reply),
        "usage": _usage(reply),
        "metrics": METRICS,
    }
    return msgspec.json.encode(answer)


def spell_stream(reply: Reply) -> Iterator[bytes]:
    """The answer frame by frame. A text block has no start: the union of starts has no member for it."""
    yield _frame("messageStart", {"role": "assistant"})
    index = 0
    if reply.text or not reply.calls:
        yield from _deltas(index, [{"text": piece} for piece in cut_text(reply.text, PIECE)])
        index += 1
    for call in reply.calls:
        yield _frame("contentBlockStart", {"start": {"toolUse": _opened(call)}, "contentBlockIndex": index})
        pieces = ("", *cut_text(call.arguments, PIECE // 4))
        yield from _deltas(index, [{"toolUse": {"input": piece}} for piece in pieces])
        index += 1
    yield _frame("messageStop", {"stopReason": _stop(reply)})
    yield _frame("metadata", {"usage": _usage(reply), "metrics": METRICS})


def _deltas(index: int, deltas: list[dict[str, Any]]) -> Iterator[bytes]:
    for delta in deltas:
        yield _frame("contentBlockDelta", {"delta": delta, "contentBlockIndex": index})
    yield _frame("contentBlockStop", {"contentBlockIndex": index})


def _opened(call: Call) -> dict[str, Any]:
    return {"toolUseId": f"tooluse_{call.call_id}", "name": call.tool}


def _stop(reply: Reply) -> str:
    if reply.cut:
        return "max_tokens"
    return "tool_use" if reply.calls else "end_turn"


def _usage(reply: Reply) -> dict[str, int]:
    total = reply.input_tokens + reply.output_tokens
    return {"inputTokens": reply.input_tokens, "outputTokens": reply.output_tokens, "totalTokens": total}


def _frame(kind: str, payload: dict[str, Any]) -> bytes:
    return encode(kind, msgspec.json.encode(payload))
