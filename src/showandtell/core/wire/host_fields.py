"""Fields of a message that are the host's own, such as its reasoning: joined from a stream, to go back as they came.

Hosts require them (DeepSeek and Kimi: "must be passed back"), and invent new ones. So there is no list of them: what
isn't ours and holds no file goes back.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, cast

import msgspec

from showandtell.core.collect.base64_text import split_files

#: Maximum size of a message's fields as JSON, far above any reasoning. Larger ones don't go back.
MAX_FIELDS = 4 * 1024 * 1024
#: Maximum nesting of a field. Deeper ones don't go back.
MAX_LEVELS = 32
#: Fields of objects that each piece repeats or that come once, so that the last value counts.
KEPT = frozenset({"type", "id", "index", "format", "signature"})
#: Fields that tell two items of a list apart.
IDENTITY = ("type", "id")
#: Types of items that always come whole, even with the index of another one (OpenRouter).
WHOLE = frozenset({"reasoning.encrypted"})


@dataclass(slots=True)
class _Text:
    """A text in pieces."""

    pieces: list[str]


@dataclass(slots=True)
class _List:
    """The items of a list so far; `by_index` has the newest one of each index."""

    items: list[Any] = field(default_factory=list[Any])
    by_index: dict[int, dict[str, Any]] = field(default_factory=dict[int, dict[str, Any]])


@dataclass(slots=True)
class JoinedFields:
    """The fields of one message. A complete answer is one piece, and a stream any number of them."""

    _fields: dict[str, Any] = field(default_factory=dict[str, Any])

    def add(self, fields: Mapping[str, Any]) -> None:
        """Add the fields of a message, or of a piece of one.

        Texts are joined. An item of a list continues the one of an earlier piece with its index, type and id, others
        are appended. Objects are joined field by field; of anything else the last value counts, unless it is null.
        """
        for name, value in fields.items():
            if _is_flat(value, MAX_LEVELS):
                self._fields[name] = _join(self._fields.get(name), value, name)

    def to_json(self) -> str | None:
        """The fields as a JSON object; None if none is left without nulls and files, or if they are too large."""
        plain = {name: value for name, item in self._fields.items() if (value := _plain(item)) is not None}
        kept = {name: value for name, value in plain.items() if not _holds_file(value)}
        text = msgspec.json.encode(kept)
        return text.decode() if kept and len(text) <= MAX_FIELDS else None


def _join(before: Any, value: Any, name: str) -> Any:
    match before, value:
        case _, None:
            return before
        case _Text(), str() if name not in KEPT:
            before.pieces.append(value)
            return before
        case dict(), dict():
            fields = cast("dict[str, Any]", before)
            for key, item in cast("dict[str, Any]", value).items():
                fields[key] = _join(fields.get(key), item, key)
            return fields
        case _List(), list():
            _add_items(before, cast("list[Any]", value))
            return before
        case _:
            return _open(value, name)


def _open(value: Any, name: str = "") -> Any:
    """A value that later pieces can continue."""
    match value:
        case str() if name not in KEPT:
            return _Text([value])
        case dict():
            return {key: _open(item, key) for key, item in cast("dict[str, Any]", value).items()}
        case list():
            _add_items(opened := _List(), cast("list[Any]", value))
            return opened
        case _:
            return value


def _add_items(known: _List, items: Iterable[Any]) -> None:
    """Add the items of one piece. None continues another one of the same piece."""
    own = set[int]()
    for item in items:
        before = _find(item, known)
        if before is not None and _repeats(item, before):
            before |= {key: _open(value, key) for key, value in cast("dict[str, Any]", item).items()}
        elif before is None or id(before) in own:
            known.items.append(before := _open(item))
        else:
            _join(before, item, "")
        if isinstance(item, dict):
            own.add(id(before))
            if isinstance(index := cast("dict[str, Any]", item).get("index"), int):
                known.by_index[index] = cast("dict[str, Any]", before)


def _find(item: Any, known: _List) -> dict[str, Any] | None:
    """The item that this one continues, by its index, or the last one by its type."""
    if not isinstance(item, dict):
        return None
    fields = cast("dict[str, Any]", item)
    kind, index = str(fields.get("type")), fields.get("index")
    last = known.items[-1] if known.items and index is None and _has_text(fields) else None
    found: Any = known.by_index.get(index) if isinstance(index, int) else last
    if not isinstance(found, dict) or kind in WHOLE:
        return None
    other = cast("dict[str, Any]", found)
    if index is None and other.get("signature"):
        return None  # the signature ended it
    pairs = ((other.get(key), fields.get(key)) for key in IDENTITY)
    differ = any(isinstance(one, str) and isinstance(two, str) and one != two for one, two in pairs)
    return None if differ else other


def _text_name(fields: Mapping[str, Any]) -> str:
    """The field that has the text of an item, which its type names: `text` of "reasoning.text"."""
    return str(fields.get("type")).rpartition(".")[2]


def _has_text(fields: Mapping[str, Any]) -> bool:
    """Whether an item is a text, so that one without an index may be a piece of it."""
    return isinstance(fields.get(_text_name(fields)), str)


def _repeats(item: Any, before: Mapping[str, Any]) -> bool:
    """Whether the last piece of an item, which is signed, has the whole text once more (LiteLLM)."""
    fields, name = cast("dict[str, Any]", item), _text_name(before)
    text = fields.get(name)
    return bool(text and fields.get("signature")) and text == _plain(before.get(name))


def _plain(value: Any) -> Any:
    match value:
        case _Text(pieces=pieces):
            return "".join(pieces)
        case _List(items=items):
            return [_plain(item) for item in items]
        case dict():
            return {key: _plain(item) for key, item in cast("dict[str, Any]", value).items()}
        case _:
            return value


def _is_flat(value: Any, levels: int) -> bool:
    """Whether a value has at most this many levels."""
    if not isinstance(value, dict | list):
        return True
    items = cast("dict[str, Any]", value).values() if isinstance(value, dict) else cast("list[Any]", value)
    return levels > 0 and all(_is_flat(item, levels - 1) for item in items)


def _holds_file(value: Any) -> bool:
    """Whether a text in a value is a file in base64. One that only quotes a file is the model's own words."""
    match value:
        case str():
            pieces = split_files(value)
            return pieces is not None and not any(isinstance(piece, str) for piece in pieces)
        case dict():
            return any(_holds_file(item) for item in cast("dict[str, Any]", value).values())
        case list():
            return any(_holds_file(item) for item in cast("list[Any]", value))
        case _:
            return False
