"""Write a reply as POST /v1/responses does: one JSON response, or its typed, numbered server-sent events."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeAlias

import msgspec

from showandtell.inspector.openai_chat.write import CREATED
from showandtell.inspector.request import Call, ModelRequest, Reply
from showandtell.inspector.signatures import sign
from showandtell.inspector.text_chunks import CHUNK_SIZE, split_text

Event: TypeAlias = tuple[str, dict[str, Any]]


def serialize_response(reply: Reply, request: ModelRequest, name: str) -> bytes:
    """The complete response. `name` is part of its id."""
    return msgspec.json.encode(_finished(reply, request, name))


def serialize_stream(reply: Reply, request: ModelRequest, name: str) -> Iterator[bytes]:
    """The response as events, numbered from 0. There is no [DONE] at the end."""
    for number, (kind, fields) in enumerate(_events(reply, request, name)):
        data = msgspec.json.encode({"type": kind, "sequence_number": number, **fields})
        yield b"event: " + kind.encode() + b"\ndata: " + data + b"\n\n"


def _events(reply: Reply, request: ModelRequest, name: str) -> Iterator[Event]:
    started = _response(request, name, "in_progress", [])
    yield "response.created", {"response": started}
    yield "response.in_progress", {"response": started}
    for index, item in enumerate(_items(reply, name)):
        yield from EVENTS[item["type"]](item, index)
    completed = _finished(reply, request, name)
    yield f"response.{completed['status']}", {"response": completed}


def _reasoning_events(item: dict[str, Any], index: int) -> Iterator[Event]:
    yield _item_event("added", {**item, "summary": []}, index)
    for at, part in enumerate(item["summary"]):
        place = {"item_id": item["id"], "output_index": index, "summary_index": at}
        yield "response.reasoning_summary_part.added", {**place, "part": {**part, "text": ""}}
        for chunk in split_text(part["text"], CHUNK_SIZE):
            yield "response.reasoning_summary_text.delta", {**place, "delta": chunk}
        yield "response.reasoning_summary_text.done", {**place, "text": part["text"]}
        yield "response.reasoning_summary_part.done", {**place, "part": part}
    yield _item_event("done", item, index)


def _message_events(item: dict[str, Any], index: int) -> Iterator[Event]:
    yield _item_event("added", {**item, "status": "in_progress", "content": []}, index)
    part = item["content"][0]
    place = {"item_id": item["id"], "output_index": index, "content_index": 0}
    yield "response.content_part.added", {**place, "part": {**part, "text": ""}}
    for chunk in split_text(part["text"], CHUNK_SIZE):
        yield "response.output_text.delta", {**place, "delta": chunk, "logprobs": []}
    yield "response.output_text.done", {**place, "text": part["text"], "logprobs": []}
    yield "response.content_part.done", {**place, "part": part}
    yield _item_event("done", item, index)


def _call_events(item: dict[str, Any], index: int) -> Iterator[Event]:
    yield _item_event("added", {**item, "status": "in_progress", "arguments": ""}, index)
    place = {"item_id": item["id"], "output_index": index}
    for chunk in split_text(item["arguments"], CHUNK_SIZE // 4):
        yield "response.function_call_arguments.delta", {**place, "delta": chunk}
    yield "response.function_call_arguments.done", {**place, "arguments": item["arguments"]}
    yield _item_event("done", item, index)


EVENTS = {"reasoning": _reasoning_events, "message": _message_events, "function_call": _call_events}


def _item_event(stage: str, item: dict[str, Any], index: int) -> Event:
    return f"response.output_item.{stage}", {"output_index": index, "item": item}


def _items(reply: Reply, name: str) -> list[dict[str, Any]]:
    messages = [_message(reply, name)] if reply.text or not reply.calls else []
    return [*_reasoning(reply, name), *messages, *map(_function_call, reply.calls)]


def _reasoning(reply: Reply, name: str) -> list[dict[str, Any]]:
    """The reasoning, which a client gets as a summary alone."""
    if not reply.reasoning:
        return []
    summary, item_id = [{"type": "summary_text", "text": reply.reasoning}], f"rs_{name}"
    signed = sign("openai", item_id)
    return [{"id": item_id, "type": "reasoning", "summary": summary, "encrypted_content": signed}]


def _message(reply: Reply, name: str) -> dict[str, Any]:
    part: dict[str, Any] = {"type": "output_text", "annotations": [], "logprobs": [], "text": reply.text}
    status = "incomplete" if reply.truncated else "completed"
    return {"id": f"msg_{name}", "type": "message", "status": status, "content": [part], "role": "assistant"}


def _function_call(call: Call) -> dict[str, Any]:
    return {
        "id": f"fc_{call.call_id}",
        "type": "function_call",
        "status": "completed",
        "arguments": call.arguments,
        "call_id": f"call_{call.call_id}",
        "name": call.tool,
    }


def _finished(reply: Reply, request: ModelRequest, name: str) -> dict[str, Any]:
    response = _response(request, name, "incomplete" if reply.truncated else "completed", _items(reply, name))
    reason = {"reason": "max_output_tokens"} if reply.truncated else None
    completed = None if reply.truncated else CREATED
    return {**response, "completed_at": completed, "incomplete_details": reason, "usage": _usage(reply)}


def _response(request: ModelRequest, name: str, status: str, output: list[dict[str, Any]]) -> dict[str, Any]:
    tools = [
        {"type": "function", "name": t.name, "description": t.description, "parameters": t.schema, "strict": False}
        for t in request.tools
    ]
    is_mode = request.tool_choice in {"auto", "none", "required"}
    return {
        "id": f"resp_{name}",
        "object": "response",
        "created_at": CREATED,
        "status": status,
        "completed_at": None,
        "error": None,
        "incomplete_details": None,
        "instructions": request.system or None,
        "max_output_tokens": request.max_tokens,
        "model": request.model,
        "output": output,
        "parallel_tool_calls": request.parallel,
        "tool_choice": request.tool_choice if is_mode else {"type": "function", "name": request.tool_choice},
        "tools": tools,
        "usage": None,
        "metadata": {},
    }


def _usage(reply: Reply) -> dict[str, Any]:
    return {
        "input_tokens": reply.input_tokens,
        "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
        "output_tokens": reply.output_tokens,
        "output_tokens_details": {"reasoning_tokens": reply.reasoning_tokens},
        "total_tokens": reply.input_tokens + reply.output_tokens,
    }
