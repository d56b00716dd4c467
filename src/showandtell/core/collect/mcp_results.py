"""Results of MCP tools as dicts: their content blocks, and structured content that says something new.

They are untrusted: an address in them becomes text.
"""

from __future__ import annotations

from typing import Any, cast

import msgspec

from showandtell.core.collect.blocks import read_content
from showandtell.core.collect.pointer_errors import PointerError
from showandtell.core.messages.parts import Text

RESULT_KEYS = frozenset({"content", "structuredContent", "isError", "_meta", "resultType"})


def read_mcp_result(result: dict[str, Any]) -> tuple[object, ...] | None:
    """The parts of an MCP tool result, then its structured content if that says something new.

    None for a dict that isn't exactly a result. Raises `PointerError` for a block that doesn't decode.
    """
    content = result["content"]
    if type(content) is not list or not result.keys() <= RESULT_KEYS or not (content or "isError" in result):
        return None
    try:
        parts = read_content(cast("list[Any]", content)) if content else ()
    except PointerError as error:
        error.steps.append("content")
        raise
    if parts is None:
        return None
    try:
        return (*parts, *read_structured(result.get("structuredContent"), cast("list[object]", content), parts))
    except RecursionError:
        raise PointerError("structured content nested too deep; return less of it") from None


def read_structured(structured: Any, content: list[object], parts: tuple[object, ...]) -> tuple[object, ...]:
    """Structured content without what the blocks already hold: one value, or none."""
    known = frozenset(map(base64_of, content)) - {""}
    remaining = drop_known(structured, known) if known else structured
    is_redundant = remaining is None or remaining == {} or repeats_texts(remaining, parts)
    return () if is_redundant else (remaining,)


def base64_of(block: object) -> str:
    """The base64 of an MCP block, or an empty string."""
    match block:
        case {"data": str(data)} | {"resource": {"blob": str(data)}}:
            return data
        case _:
            return ""


def drop_known(value: Any, known: frozenset[str]) -> Any:
    """A JSON value without the base64 strings in `known`. None if nothing remains."""
    match value:
        case str():
            return None if any(len(data) <= len(value) and data in value for data in known) else value
        case {"type": str(), "data": str(data)} if data in known:
            return None
        case dict():
            members = cast("dict[str, Any]", value)
            return drop_new_nulls(members, {key: drop_known(item, known) for key, item in members.items()})
        case list():
            items = cast("list[Any]", value)
            pairs = [(item, drop_known(item, known)) for item in items]
            return [new for old, new in pairs if new is not None or old is None] or (None if items else items)
        case _:
            return value


def drop_new_nulls(old: dict[str, Any], new: dict[str, Any]) -> dict[str, Any] | None:
    """The members that aren't null, or were null before. None if nothing remains of a non-empty dict."""
    remaining = {key: item for key, item in new.items() if item is not None or old[key] is None}
    return remaining if remaining or not old else None


def repeats_texts(structured: Any, parts: tuple[object, ...]) -> bool:
    """Whether the texts say the same as the structured content. Servers do so for clients that ignore it."""
    texts = [part.text for part in parts if isinstance(part, Text)]
    values = [parse_json(text) for text in texts]
    known = (*texts, *values, texts, values)
    match structured:
        case {"result": result, **rest} if not rest:
            return structured in known or result in known
        case _:
            return structured in known


def parse_json(text: str) -> Any:
    """The value of JSON text, or the text itself if it isn't JSON."""
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, ValueError, RecursionError):
        return text
