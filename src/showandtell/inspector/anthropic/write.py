"""Write a reply as POST /v1/messages does: one JSON message, or its server-sent events."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from showandtell.inspector.request import Call, Reply
from showandtell.inspector.signatures import sign
from showandtell.inspector.text_chunks import CHUNK_SIZE, split_text

#: Counts that every recorded answer has.
NOTHING_CACHED = {"cache_creation_input_tokens": 0, "cache_read_input_tokens": 0}


def serialize_message(reply: Reply, model: str, name: str) -> bytes:
    """The complete message. `name` is part of its id."""
    return msgspec.json.encode(
        {**_message(reply, model, name), "content": [*_thinking(reply), *_text(reply), *map(_tool_use, reply.calls)]}
    )


def serialize_stream(reply: Reply, model: str, name: str) -> Iterator[bytes]:
    """The message as events."""
    usage = {**NOTHING_CACHED, "input_tokens": reply.input_tokens, "output_tokens": 1}
    started: dict[str, Any] = {**_message(reply, model, name), "content": [], "stop_reason": None, "usage": usage}
    yield _event("message_start", {"message": started})
    yield _event("ping", {})
    index = 0
    for block in _thinking(reply):
        yield from _block(index, {**block, "thinking": "", "signature": ""}, _thinking_deltas(block))
        index += 1
    if reply.text or not reply.calls:
        yield from _block(index, {"type": "text", "text": ""}, _text_deltas(reply.text))
        index += 1
    for call in reply.calls:
        yield from _block(index, {**_tool_use(call), "input": {}}, _input_deltas(call.arguments))
        index += 1
    delta = {"stop_reason": _stop(reply), "stop_sequence": None, "stop_details": None}
    total = {"input_tokens": reply.input_tokens, "output_tokens": reply.output_tokens}
    yield _event("message_delta", {"delta": delta, "usage": {**NOTHING_CACHED, **total}})
    yield _event("message_stop", {})


def _message(reply: Reply, model: str, name: str) -> dict[str, Any]:
    return {
        "id": f"msg_{name}",
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": [],
        "stop_reason": _stop(reply),
        "stop_sequence": None,
        "stop_details": None,
        "usage": {**NOTHING_CACHED, "input_tokens": reply.input_tokens, "output_tokens": reply.output_tokens},
    }


def _stop(reply: Reply) -> str:
    if reply.truncated:
        return "max_tokens"
    return "tool_use" if reply.calls else "end_turn"


def _thinking(reply: Reply) -> list[dict[str, Any]]:
    signature = sign("anthropic", reply.reasoning)
    return [{"type": "thinking", "thinking": reply.reasoning, "signature": signature}] if reply.reasoning else []


def _text(reply: Reply) -> list[dict[str, Any]]:
    return [{"type": "text", "text": reply.text}] if reply.text else []


def _tool_use(call: Call) -> dict[str, Any]:
    arguments = msgspec.json.decode(call.arguments)
    named = {"type": "tool_use", "id": f"toolu_{call.call_id}", "name": call.tool, "input": arguments}
    return {
        **named,
        "caller": {"type": "direct"},
    }  # recorded since Claude 4.5; code that the provider runs may call too


def _thinking_deltas(block: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for chunk in split_text(block["thinking"], CHUNK_SIZE):
        yield {"type": "thinking_delta", "thinking": chunk}
    yield {"type": "signature_delta", "signature": block["signature"]}


def _text_deltas(text: str) -> Iterator[dict[str, Any]]:
    for chunk in split_text(text, CHUNK_SIZE):
        yield {"type": "text_delta", "text": chunk}


def _input_deltas(arguments: str) -> Iterator[dict[str, Any]]:
    # The API starts with an empty piece, which has broken clients.
    for chunk in ("", *split_text(arguments, CHUNK_SIZE // 4)):
        yield {"type": "input_json_delta", "partial_json": chunk}


def _block(index: int, started: dict[str, Any], deltas: Iterator[dict[str, Any]]) -> Iterator[bytes]:
    yield _event("content_block_start", {"index": index, "content_block": started})
    for delta in deltas:
        yield _event("content_block_delta", {"index": index, "delta": delta})
    yield _event("content_block_stop", {"index": index})


def _event(kind: str, fields: dict[str, Any]) -> bytes:
    return b"event: " + kind.encode() + b"\ndata: " + msgspec.json.encode({"type": kind, **fields}) + b"\n\n"
