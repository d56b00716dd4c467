"""Imports histories of the Anthropic Messages API: messages with their blocks, as dicts or SDK objects."""

from __future__ import annotations

from typing import Any

from showandtell.checking.checked import checked
from showandtell.core.histories.reading import (
    History,
    Item,
    Parts,
    Reading,
    decode_file,
    linked_file,
    list_items,
    located_errors,
    text_parts,
    to_json,
    to_opaque,
    unsupported,
    without_nulls,
)
from showandtell.core.messages.file import File
from showandtell.core.messages.parts import Json, ToolCall
from showandtell.core.wire.anthropic_messages.hosted import describe_block, read_citation
from showandtell.core.wire.anthropic_messages.parse import STOP_REASONS

#: Blocks that only Anthropic can use. They go back unchanged.
OPAQUE_TYPES = frozenset({"thinking", "redacted_thinking"})
#: Blocks of the model with a meaning of their own. All others are of tools that Anthropic runs, or of newer types.
OWN_TYPES = frozenset({"text", "image", "document", "search_result"})


@checked
def from_anthropic(messages: object) -> History:
    """Import message params and `Message` responses, mixed in any way. A single one is a history of one.

    Every tool_result becomes its own message. Raises `BadConversation`, with the place, for a block of unknown type and
    for a result without its call. Raises `BadFile` for media that can't be read.

    >>> from showandtell import from_anthropic
    >>> history = from_anthropic([{"role": "user", "content": "hello"}])
    >>> history[0].role, history[0].parts[0].text
    ('user', 'hello')
    """
    reading = Reading()
    for index, item in enumerate(list_items(messages)):
        with located_errors(place := f"messages[{index}]"):
            _read_item(item, place, reading)
    return reading.history


def _read_item(item: Any, place: str, reading: Reading) -> None:
    match item:
        case str():
            reading.add_user(text_parts(item))
        case {"role": "system", "content": content}:
            reading.add_instructions(_text(content))
        case {"role": "assistant", "content": content, **rest}:
            parts = [part for at, block in _places(content, place) for part in _assistant_block(block, at, reading)]
            reason = rest.get("stop_reason")
            reading.add_assistant(parts, STOP_REASONS.get(reason, "cut") if reason else None)
        case {"role": "user", "content": content}:
            _user(content, place, reading)
        case _:
            raise unsupported(place, item)


def _blocks(content: str | list[Item] | None) -> list[Item]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else content or []


def _places(content: str | list[Item] | None, place: str) -> list[tuple[str, Item]]:
    return [(f"{place}.content[{index}]", block) for index, block in enumerate(_blocks(content))]


def _text(content: str | list[Item] | None) -> str:
    return "\n\n".join(block["text"] for block in _blocks(content) if block.get("type") == "text")


def _user(content: str | list[Item], place: str, reading: Reading) -> None:
    """Split a message into tool results and user messages, in the order of the blocks."""
    parts: Parts = []
    for at, block in _places(content, place):
        match block:
            case {"type": "tool_result", "tool_use_id": call_id}:
                if parts:
                    reading.add_user(parts)
                    parts = []
                output = [part for place, item in _places(block.get("content"), at) for part in _block(item, place)]
                reading.add_result(call_id, output, at, is_error=bool(block.get("is_error")))
            case _:
                parts += _block(block, at)
    if parts or not content:
        reading.add_user(parts)


def _assistant_block(block: Item, place: str, reading: Reading) -> Parts:
    match block:
        case {"type": "tool_use", "id": call_id, "name": tool, "input": arguments}:
            caller = block.get("caller") or {"type": "direct"}
            own = None if caller.get("type") == "direct" else to_opaque("anthropic", {"caller": caller})
            return [ToolCall(call_id, tool, to_json(arguments), own)]
        case {"type": "text", "text": text, "citations": [_, *_] as citations}:
            sources = [read_citation("", citation).source for citation in citations]
            return [*text_parts(text), *sources, to_opaque("anthropic", {"citations": citations})]
        case {"type": str() as kind} if kind in OPAQUE_TYPES:
            return [to_opaque("anthropic", block)]
        case {"type": str() as kind} if kind not in OWN_TYPES:
            return [reading.keep(describe_block(without_nulls(block), len(reading.hosted)), "anthropic")]
        case _:
            return _block(block, place)


def _block(block: Item, place: str) -> Parts:
    match block:
        case {"type": "text", "text": text}:
            return text_parts(text)
        case {"type": "image", "source": source}:
            return _source(source, "image/png", None, None, place)
        case {"type": "document", "source": source}:
            return _source(source, "application/pdf", block.get("title"), block.get("context"), place)
        case {"type": "container_upload", "file_id": file_id}:
            return [File.from_uri(f"anthropic:{file_id}")]
        case {"type": "search_result"}:
            return [Json(to_json({key: block[key] for key in ("title", "source", "content") if key in block}))]
        case _:
            raise unsupported(place, block)


def _source(source: Item, fallback: str, name: str | None, description: str | None, place: str) -> Parts:
    match source:
        case {"type": "base64", "data": data}:
            return [decode_file(data, source.get("media_type"), name, description)]
        case {"type": "url", "url": url}:
            return [linked_file(url, fallback, name)]
        case {"type": "file", "file_id": file_id}:
            return [File.from_uri(f"anthropic:{file_id}", fallback, name, description)]
        case {"type": "text", "data": text}:
            return [File.from_bytes(text.encode(), source.get("media_type") or "text/plain", name, description)]
        case {"type": "content", "content": content}:
            return _document(content, name, description, place)
        case _:
            raise unsupported(f"{place}.source", source)


def _document(content: str | list[Item], name: str | None, description: str | None, place: str) -> Parts:
    """A document of blocks: one text file with all of its text, then its images."""
    text = _text(content)
    others = [(at, block) for at, block in _places(content, place) if block.get("type") != "text"]
    files: Parts = [File.from_bytes(text.encode(), "text/plain", name, description)] if text else []
    return files + [part for at, block in others for part in _block(block, at)]
