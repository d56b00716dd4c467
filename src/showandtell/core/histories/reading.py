"""Histories and answers of other libraries as drafts: what the importers share. No SDK is imported, none is needed."""

from __future__ import annotations

from binascii import Error as NotBase64
from collections.abc import Generator, Iterable, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any, TypeAlias, cast
from urllib.parse import unquote_to_bytes, urlsplit

import msgspec
import pybase64

from showandtell.core.media_types.claims import read_claim, respell
from showandtell.core.messages.file import File
from showandtell.core.messages.messages import Draft, History, Stop
from showandtell.core.messages.parts import Claimed, Opaque, Text, ToolCall
from showandtell.errors import BadConversation, BadFile, BadInput

Item: TypeAlias = dict[str, Any]
Parts: TypeAlias = list[Claimed]


@dataclass(slots=True)
class Reading:
    """What an importer has read so far: the history, and the calls by id for the results that follow."""

    history: History = field(default_factory=History)
    calls: dict[str, str] = field(default_factory=dict[str, str])

    def instruct(self, text: str) -> None:
        """Add words of the system."""
        self.history.instructions = "\n\n".join(filter(None, (self.history.instructions, text)))

    def ask(self, parts: Parts) -> None:
        """Add a user's message."""
        self.history.append(Draft("user", tuple(parts)))

    def answer(self, parts: Parts, stop: Stop | None = None, *, same: bool = False) -> None:
        """Add a model's message; with `same`, go on with the one before, if that is a model's."""
        self.calls |= {part.call_id: part.tool for part in parts if isinstance(part, ToolCall)}
        if same and self.history and self.history[-1].role == "assistant":
            parts = [*self.history.pop().parts, *parts]
        has_calls = any(isinstance(part, ToolCall) for part in parts)
        self.history.append(Draft("assistant", tuple(parts), stop=stop or ("tool_calls" if has_calls else "end")))

    def result(self, call_id: str, parts: Parts, place: str, *, is_error: bool = False) -> None:
        """Add a tool's result; its tool is the one that was called under this id."""
        if call_id not in self.calls:
            raise BadConversation(f"{place} answers the call {call_id!r}, which no message before it makes")
        self.history.append(Draft("tool", tuple(parts), call_id, self.calls[call_id], is_error))

    def stop(self, stop: Stop | None) -> None:
        """Say why the last message ended, where it is known better."""
        if stop and self.history and self.history[-1].role == "assistant":
            self.history[-1] = replace(self.history[-1], stop=stop)


@contextmanager
def shaped(place: str) -> Generator[None]:
    """Say of a message that lacks a field, or holds the wrong thing in one, where it stands."""
    try:
        yield
    except BadFile as error:
        raise BadFile(f"{place}: {error.name}", error.problem, error.advice) from error
    except BadInput:
        raise
    except RecursionError:
        raise BadConversation(f"{place} is nested too deep: hand in less of it") from None
    except (AttributeError, KeyError, TypeError, IndexError, ValueError) as error:
        # What others hand in may be of any shape; checking each field by hand would double every importer.
        raise BadConversation(f"{place} is not as its api writes it: {error!r}") from error


def plain(value: object) -> Any:
    """Turn an SDK's objects, at any depth, into dicts, lists and scalars; bytes stay bytes."""
    dump = getattr(value, "model_dump", None)
    if callable(dump):
        return plain(dump(warnings=False))
    match value:
        case Mapping():
            return {key: plain(held) for key, held in cast("Mapping[str, object]", value).items()}
        case list() | tuple():
            return [plain(held) for held in cast("Iterable[object]", value)]
        case Enum():
            return value.value
        case _:
            return value


def items_of(value: object, called: str = "messages") -> list[Any]:
    """The items of a history, plain; a single message, answer or text is a history of one."""
    if not isinstance(value, list | tuple):
        with shaped(f"{called}[0]"):
            value = plain(value)
    given = cast("Iterable[object]", value if isinstance(value, list | tuple) else [value])
    found: list[Any] = []
    for index, item in enumerate(given):
        with shaped(f"{called}[{index}]"):
            found.append(plain(item))
    return found


def to_json(value: object) -> str:
    """JSON text of a plain value."""
    return msgspec.json.encode(value).decode()


def opaque(provider: str, item: Item) -> Opaque:
    """Keep an item for its provider, without the fields that an SDK left empty."""
    return Opaque(provider, to_json({key: value for key, value in item.items() if value is not None}))


def words(text: str | None) -> Parts:
    """A text as parts: none where it is empty."""
    return [Text(text)] if text else []


def inline(data: str | bytes, media_type: str | None, name: str | None = None, description: str | None = None) -> File:
    """A file from base64, standard or url-safe, or from bytes. Raises `BadFile` where it is not base64."""
    raw = data if isinstance(data, bytes) else unbase64(data, name or media_type or "a file")
    return File.from_bytes(raw, respell(media_type), name, description)


def unbase64(text: str, name: str) -> bytes:
    """Decode base64 of either alphabet, padded or not."""
    if "-" in text or "_" in text:
        text = text.replace("-", "+").replace("_", "/")
    try:
        return pybase64.b64decode(text + "=" * (-len(text) % 4), validate=True)
    except (NotBase64, ValueError) as error:
        raise BadFile(name, "is not base64", "hand in the bytes as base64 or as a data URL") from error


def link(url: str, fallback: str | None = None, name: str | None = None, media_type: str | None = None) -> File:
    """A file from a data URL, or an address that the provider opens.

    `fallback` is the type of an address whose ending says none: those wires only tell an image from a document.
    """
    if url.startswith("data:"):
        return from_data_url(url, name)
    return File.from_uri(url, read_claim(media_type, urlsplit(url).path) or fallback, name)


def from_data_url(url: str, name: str | None = None) -> File:
    """Decode `data:image/png;base64,…`, or text with percent signs."""
    head, _, data = url[len("data:") :].partition(",")
    media_type = head.partition(";")[0] or "text/plain"
    if head.endswith(";base64"):
        return inline(data, media_type, name)
    return File.from_bytes(unquote_to_bytes(data), media_type, name)


def unknown(place: str, item: object) -> BadConversation:
    """The error for what an importer doesn't know, by its place and type: nothing is dropped in silence."""
    fields = cast("Item", item if isinstance(item, dict) else {"type": type(item).__name__})
    what = fields.get("type") or fields.get("role") or ", ".join(fields) or "none"
    return BadConversation(f"{place} is of a type that can't be adopted: {what}")
