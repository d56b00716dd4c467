"""Shared parts of the importers, which turn message histories of provider SDKs into drafts without any SDK."""

from __future__ import annotations

from binascii import Error as NotBase64
from collections.abc import Container, Generator, Iterable, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any, TypeAlias, cast
from urllib.parse import unquote_to_bytes, urlsplit

import msgspec
import pybase64
from msgspec import structs

from showandtell.core.media_types.claims import normalize_claim, read_claim
from showandtell.core.messages.file import File
from showandtell.core.messages.message import Draft, History, Stop
from showandtell.core.messages.parts import DraftPart, HostedBlock, Opaque, Text, ToolCall, unfetched
from showandtell.errors import BadConversation, BadFile, BadInput

Item: TypeAlias = dict[str, Any]
#: Schemes of addresses that need credentials.
BUCKETS = ("gs:", "s3:")
Parts: TypeAlias = list[DraftPart]


@dataclass(slots=True)
class Reading:
    """The state of an importer: the history so far, and the tool of each call by call id.

    provider: who gets back what only the host of the messages can read. None: nobody, or the API's own vendor.
    """

    provider: str | None = None
    history: History = field(default_factory=History)
    calls: dict[str, str] = field(default_factory=dict[str, str])
    hosted: dict[str, str] = field(default_factory=dict[str, str])

    def keep(self, block: HostedBlock, provider: str) -> HostedBlock:
        """A block of a tool that a provider ran. `hosted` has the tool of each such call by its id."""
        self.hosted[block.call_id] = block.tool
        return structs.replace(block, provider=provider)

    def add_instructions(self, text: str) -> None:
        """Append a system message to the instructions."""
        self.history.instructions = "\n\n".join(filter(None, (self.history.instructions, text)))

    def add_user(self, parts: Parts) -> None:
        """Add a user's message."""
        self.history.append(Draft("user", tuple(parts)))

    def add_assistant(self, parts: Parts, stop: Stop | None = None, *, extend: bool = False) -> None:
        """Add a model's message. With `extend`, append to the last message if it is a model's."""
        self.calls |= {part.call_id: part.tool for part in parts if isinstance(part, ToolCall)}
        if extend and self.history and self.history[-1].role == "assistant":
            parts = [*self.history.pop().parts, *parts]
        has_calls = any(isinstance(part, ToolCall) for part in parts)
        self.history.append(Draft("assistant", tuple(parts), stop=stop or ("tool_calls" if has_calls else "end")))

    def add_result(self, call_id: str, parts: Parts, place: str, *, is_error: bool = False) -> None:
        """Add a tool's result. Raises `BadConversation` if no call has this id."""
        if call_id not in self.calls:
            raise BadConversation(f"{place} answers the call {call_id!r}, which no message before it makes")
        self.history.append(Draft("tool", tuple(parts), call_id, self.calls[call_id], is_error))

    def set_stop(self, stop: Stop | None) -> None:
        """Set why the last message ended. Ignored for None, and if the last message isn't a model's."""
        if stop and self.history and self.history[-1].role == "assistant":
            self.history[-1] = replace(self.history[-1], stop=stop)


@contextmanager
def located_errors(place: str) -> Generator[None]:
    """Turn errors from missing or wrong fields into `BadConversation` with the place, and add it to `BadFile`."""
    try:
        yield
    except BadFile as error:
        raise BadFile(f"{place}: {error.name}", error.problem, error.advice) from error
    except BadInput:
        raise
    except RecursionError:
        raise BadConversation(f"{place} is nested too deep: hand in less of it") from None
    except (AttributeError, KeyError, TypeError, IndexError, ValueError) as error:
        # Input may have any shape, and checking each field by hand would double every importer.
        raise BadConversation(f"{place} is not as its api writes it: {error!r}") from error


def to_plain(value: object) -> Any:
    """Turn SDK objects at any depth into dicts, lists and scalars. Bytes stay bytes."""
    dump = getattr(value, "model_dump", None)
    if callable(dump):
        return to_plain(dump(warnings=False))
    match value:
        case Mapping():
            return {key: to_plain(item) for key, item in cast("Mapping[str, object]", value).items()}
        case list() | tuple():
            return [to_plain(item) for item in cast("Iterable[object]", value)]
        case Enum():
            return value.value
        case _:
            return value


def list_items(value: object, name: str = "messages") -> list[Any]:
    """The items of a history as plain values. A single message, response or text is a history of one."""
    if not isinstance(value, list | tuple):
        with located_errors(f"{name}[0]"):
            value = to_plain(value)
    items = cast("Iterable[object]", value if isinstance(value, list | tuple) else [value])
    plain: list[Any] = []
    for index, item in enumerate(items):
        with located_errors(f"{name}[{index}]"):
            plain.append(to_plain(item))
    return plain


def to_json(value: object) -> str:
    """JSON text of a plain value."""
    return msgspec.json.encode(value).decode()


def to_opaque(provider: str, item: Item, nullable: Container[str] = ()) -> Opaque:
    """An item for its provider alone, without the empty fields of the SDK except those that are `nullable`."""
    return Opaque(provider, to_json(without_nulls(item, nullable)))


def without_nulls(item: Item, nullable: Container[str] = ()) -> Item:
    """An item without the empty fields of the SDK, except those that are `nullable`."""
    return {key: value for key, value in item.items() if value is not None or key in nullable}


def text_parts(text: str | None) -> Parts:
    """A list with one text part, or an empty list for empty text."""
    return [Text(text)] if text else []


def decode_file(
    data: str | bytes, media_type: str | None, name: str | None = None, description: str | None = None
) -> File:
    """A file from bytes, or from standard or URL-safe base64. Raises `BadFile` for invalid base64."""
    raw = data if isinstance(data, bytes) else decode_base64(data, name or media_type or "a file")
    return File.from_bytes(raw, normalize_claim(media_type), name, description)


def decode_base64(text: str, name: str) -> bytes:
    """Decode base64 of either alphabet, padded or not. Raises `BadFile` if it is invalid."""
    if "-" in text or "_" in text:
        text = text.replace("-", "+").replace("_", "/")
    try:
        return pybase64.b64decode(text + "=" * (-len(text) % 4), validate=True)
    except (NotBase64, ValueError) as error:
        raise BadFile(name, "is not base64", "hand in the bytes as base64 or as a data URL") from error


def linked_file(
    url: str, fallback: str | None = None, name: str | None = None, media_type: str | None = None
) -> File | Text:
    """A file from a data URL, or an address that the provider opens.

    `fallback` is the media type of an address without a known suffix, because these APIs only distinguish images from
    documents. An address in a bucket becomes text: it would be opened with the program's own credentials, and a
    history may come from anybody.
    """
    if url.startswith("data:"):
        return from_data_url(url, name)
    if url.startswith(BUCKETS):
        return Text(unfetched(name or "file", url))
    return File.from_uri(url, read_claim(media_type, urlsplit(url).path) or fallback, name)


def from_data_url(url: str, name: str | None = None) -> File:
    """Decode a data URL with base64 or percent-encoded text."""
    head, _, data = url[len("data:") :].partition(",")
    media_type = head.partition(";")[0] or "text/plain"
    if head.endswith(";base64"):
        return decode_file(data, media_type, name)
    return File.from_bytes(unquote_to_bytes(data), media_type, name)


def unsupported(place: str, item: object) -> BadConversation:
    """The error for an item of unknown type, with its place. Importers never drop items silently."""
    fields = cast("Item", item if isinstance(item, dict) else {"type": type(item).__name__})
    what = fields.get("type") or fields.get("role") or ", ".join(fields) or "none"
    return BadConversation(f"{place} is of a type that can't be adopted: {what}")
