"""Histories of anthropic-messages as drafts: messages with their blocks, as dicts or as the SDK's objects."""

from __future__ import annotations

from typing import Any

from showandtell.core.histories.reading import (
    History,
    Item,
    Parts,
    Reading,
    inline,
    items_of,
    link,
    opaque,
    shaped,
    to_json,
    unknown,
    words,
)
from showandtell.core.messages.file import File
from showandtell.core.messages.parts import Json, ToolCall
from showandtell.core.wire.anthropic_messages.parse import STOPS

#: Blocks that only Anthropic can use: they go back as they came.
OWN = frozenset(
    {
        "thinking",
        "redacted_thinking",
        "server_tool_use",
        "web_search_tool_result",
        "web_fetch_tool_result",
        "code_execution_tool_result",
        "bash_code_execution_tool_result",
        "text_editor_code_execution_tool_result",
        "tool_search_tool_result",
        "mcp_tool_use",
        "mcp_tool_result",
        "compaction",
    }
)


def from_anthropic(messages: object) -> History:
    """Adopt message params, or `Message` answers, in any mixture; a single one is a history of one.

    Every tool_result becomes a message of its own. Raises `BadConversation` for a block of unknown type, naming its
    place, and for a result without its call; `BadFile` for media that can't be read.
    """
    reading = Reading()
    for index, item in enumerate(items_of(messages)):
        with shaped(place := f"messages[{index}]"):
            _take(item, place, reading)
    return reading.history


def _take(item: Any, place: str, reading: Reading) -> None:
    match item:
        case str():
            reading.ask(words(item))
        case {"role": "system", "content": content}:
            reading.instruct(_text(content))
        case {"role": "assistant", "content": content, **rest}:
            parts = [part for at, block in _places(content, place) for part in _said(block, at)]
            reading.answer(parts, STOPS.get(rest.get("stop_reason") or ""))
        case {"role": "user", "content": content}:
            _user(content, place, reading)
        case _:
            raise unknown(place, item)


def _blocks(content: str | list[Item] | None) -> list[Item]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else content or []


def _places(content: str | list[Item] | None, place: str) -> list[tuple[str, Item]]:
    return [(f"{place}.content[{index}]", block) for index, block in enumerate(_blocks(content))]


def _text(content: str | list[Item] | None) -> str:
    return "\n\n".join(block["text"] for block in _blocks(content) if block.get("type") == "text")


def _user(content: str | list[Item], place: str, reading: Reading) -> None:
    """Part a turn into tools' results and what the user says, in the order of the blocks."""
    said: Parts = []
    for at, block in _places(content, place):
        match block:
            case {"type": "tool_result", "tool_use_id": call_id}:
                if said:
                    reading.ask(said)
                    said = []
                parts = [part for below, held in _places(block.get("content"), at) for part in _seen(held, below)]
                reading.result(call_id, parts, at, is_error=bool(block.get("is_error")))
            case _:
                said += _seen(block, at)
    if said or not content:
        reading.ask(said)


def _said(block: Item, place: str) -> Parts:
    match block:
        case {"type": "tool_use", "id": call_id, "name": tool, "input": given}:
            return [ToolCall(call_id, tool, to_json(given))]
        case {"type": kind} if kind in OWN:
            return [opaque("anthropic", block)]
        case _:
            return _seen(block, place)


def _seen(block: Item, place: str) -> Parts:
    match block:
        case {"type": "text", "text": text}:
            return words(text)
        case {"type": "image", "source": source}:
            return _source(source, "image/png", None, None, place)
        case {"type": "document", "source": source}:
            return _source(source, "application/pdf", block.get("title"), block.get("context"), place)
        case {"type": "container_upload", "file_id": file_id}:
            return [File.from_uri(f"anthropic:{file_id}")]
        case {"type": "search_result"}:
            return [Json(to_json({key: block[key] for key in ("title", "source", "content") if key in block}))]
        case _:
            raise unknown(place, block)


def _source(source: Item, fallback: str, name: str | None, description: str | None, place: str) -> Parts:
    match source:
        case {"type": "base64", "data": data}:
            return [inline(data, source.get("media_type"), name, description)]
        case {"type": "url", "url": url}:
            return [link(url, fallback, name)]
        case {"type": "file", "file_id": file_id}:
            return [File.from_uri(f"anthropic:{file_id}", fallback, name, description)]
        case {"type": "text", "data": text}:
            return [File.from_bytes(text.encode(), source.get("media_type") or "text/plain", name, description)]
        case {"type": "content", "content": content}:
            return _written(content, name, description, place)
        case _:
            raise unknown(f"{place}.source", source)


def _written(content: str | list[Item], name: str | None, description: str | None, place: str) -> Parts:
    """A document that is written out in blocks: its words are one text file, its images follow."""
    text = _text(content)
    others = [(at, block) for at, block in _places(content, place) if block.get("type") != "text"]
    files: Parts = [File.from_bytes(text.encode(), "text/plain", name, description)] if text else []
    return files + [part for at, block in others for part in _seen(block, at)]
