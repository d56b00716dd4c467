"""The portable conversation: a JSON file of messages, the same records that a history stores.

Files are named by `path` (within the conversation file's folder), `data` (base64) or `uri`; one that was shown before
is shown again by its `number` alone. Documented in docs/conversation.md.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, NoReturn, cast

import msgspec
import pybase64

from showandtell.core.messages.file import File, Reader
from showandtell.core.messages.messages import Draft, History, Message, Role, Stop
from showandtell.core.messages.parts import (
    Approval,
    Audience,
    Claimed,
    Json,
    Opaque,
    Part,
    Selection,
    Shown,
    Text,
    ToolCall,
)
from showandtell.errors import BadConversation, BadFile, BadInput

VERSION = 1
MOST_NUMBER = 1_000_000_000
#: The most messages that a conversation file may have: no talk comes near it.
MOST_MESSAGES = 100_000
#: As deep as a tool's result may be, and the most letters of a problem; no honest one comes near it.
DEEPEST, MOST_PROBLEM = 100, 2000
SOURCES = ("path", "data", "uri", "problem")


class FileRecord(msgspec.Struct, tag="file", forbid_unknown_fields=True, omit_defaults=True):
    """A file: exactly one of path, data, uri and problem; or only the number of one that was shown before.

    `problem` says why there are no bytes. `view` is the part that is shown again, where it isn't all. `date` is the
    day on which it came.
    """

    path: str | None = None
    data: str | None = None
    uri: str | None = None
    media_type: str | None = None
    name: str | None = None
    description: str | None = None
    number: Annotated[int, msgspec.Meta(ge=1, le=MOST_NUMBER)] | None = None
    date: dt.date | None = None
    problem: Annotated[str, msgspec.Meta(min_length=1, max_length=MOST_PROBLEM)] | None = None
    view: Selection | None = None


class TextRecord(msgspec.Struct, tag="text", forbid_unknown_fields=True, omit_defaults=True):
    """Words."""

    text: str
    audience: Audience = "both"


class JsonRecord(msgspec.Struct, tag="json", forbid_unknown_fields=True, omit_defaults=True):
    """A JSON value; `files` maps JSON pointers, where the value has null, to files."""

    value: msgspec.Raw
    files: dict[str, FileRecord] = msgspec.field(default_factory=dict[str, FileRecord])


class CallRecord(msgspec.Struct, tag="tool_call", forbid_unknown_fields=True, omit_defaults=True):
    """A tool call; `arguments` is an object, or the model's own text where that is no JSON."""

    call_id: str
    tool: str
    arguments: msgspec.Raw
    opaque: Opaque | None = None


PartRecord = TextRecord | FileRecord | JsonRecord | CallRecord | Opaque | Approval


class MessageRecord(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True):
    """One message; `call_id`, `tool` and `is_error` belong to role tool, `stop` to role assistant.

    `parent` is the index of the message before it where that is not the one above (-1: there is none).
    """

    role: Role
    parts: list[PartRecord]
    call_id: str | None = None
    tool: str | None = None
    is_error: bool = False
    stop: Stop | None = None
    parent: Annotated[int, msgspec.Meta(ge=-1)] | None = None


class ConversationRecord(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True):
    """The whole file. `head` is the index of the message that the talk goes on behind, where that is not the last."""

    version: int
    messages: Annotated[list[MessageRecord], msgspec.Meta(max_length=MOST_MESSAGES)]
    instructions: str = ""
    head: Annotated[int, msgspec.Meta(ge=-1)] | None = None


def parse(data: bytes, folder: Path, name: str = "the conversation") -> History:
    """Read a conversation file from its bytes; `folder` is where its paths lie.

    Raises `BadConversation`, which names the message, or `BadFile` for its files.
    """
    try:
        # As text, for msgspec doesn't look at the letters of values that it is to leave alone.
        record = msgspec.json.decode(data.decode(), type=ConversationRecord)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BadConversation(f"{name} is no conversation file: {error}") from error
    if record.version != VERSION:
        raise BadConversation(f"{name} has version {record.version}; this program reads version {VERSION}")
    drafts = [_draft(message, index, folder) for index, message in enumerate(record.messages)]
    parents = [_parent(message, index) for index, message in enumerate(record.messages)]
    if record.head is not None and record.head >= len(drafts):
        raise BadConversation(f"head is {record.head}, and there are {len(drafts)} messages")
    return History(drafts, record.instructions, parents, record.head)


def _parent(record: MessageRecord, index: int) -> int | None:
    """The index of the message before one."""
    if record.parent is not None and record.parent >= index:
        raise BadConversation(f"messages[{index}]: its parent {record.parent} doesn't stand above it")
    parent = index - 1 if record.parent is None else record.parent
    return None if parent < 0 else parent


def _draft(record: MessageRecord, index: int, folder: Path) -> Draft:
    try:
        parts = tuple(_part(part, folder) for part in record.parts)
    except BadInput as error:
        raise BadConversation(f"messages[{index}]: {error}") from error
    except (ValueError, RecursionError) as error:
        # A path with a NUL, a number that no float holds, a value of a thousand brackets: each says what it is.
        raise BadConversation(f"messages[{index}] can't be read: {error}") from error
    return Draft(record.role, parts, record.call_id, record.tool, record.is_error, record.stop)


def _part(record: PartRecord, folder: Path) -> Claimed:
    match record:
        case TextRecord():
            return Text(record.text, record.audience)
        case FileRecord():
            return _file(record, folder)
        case JsonRecord():
            return _json(record, folder)
        case CallRecord():
            return ToolCall(record.call_id, record.tool, _arguments(record.arguments), record.opaque)
        case Opaque() | Approval():
            return record


def _json(record: JsonRecord, folder: Path) -> Json:
    value = _value(record.value)
    for pointer in record.files:
        if not _is_null(value, pointer):
            raise BadInput(f"the pointer {pointer!r} of a file leads to no null in the JSON value: put null there")
    files = tuple((pointer, _file(file, folder)) for pointer, file in record.files.items())
    return Json(msgspec.json.encode(value).decode(), files)


def _value(raw: msgspec.Raw) -> Any:
    value: Any = msgspec.json.decode(raw)
    layer: list[Any] = [value]
    for _ in range(DEEPEST + 1):
        layer = [held for node in layer for held in _held(node)]
    if layer:
        raise BadInput(f"a JSON value is nested deeper than {DEEPEST}: hand in less of it")
    return value


def _held(node: Any) -> Iterable[Any]:
    if isinstance(node, dict):
        return cast("dict[str, Any]", node).values()
    return cast("list[Any]", node) if isinstance(node, list) else ()


def _is_null(value: Any, pointer: str) -> bool:
    """Whether a JSON pointer (RFC 6901) leads to null."""
    here: Any = value
    try:
        for key in pointer.split("/")[1:]:
            name = key.replace("~1", "/").replace("~0", "~")
            here = here[int(name) if isinstance(here, list) else name]
    except (KeyError, IndexError, ValueError, TypeError):
        return False
    return here is None and pointer[:1] in {"", "/"}


def _arguments(raw: msgspec.Raw) -> str:
    value = _value(raw)
    return value if isinstance(value, str) else msgspec.json.format(bytes(raw).decode(), indent=-1)


def _file(record: FileRecord, folder: Path) -> File | Shown:
    given = [source for source in SOURCES if getattr(record, source) is not None]
    if not given and record.number is not None:
        return Shown(record.number, "", _view(record.view))
    if len(given) != 1:
        raise BadInput(f"a file needs one of path, data, uri and problem, not {' and '.join(given) or 'none'}")
    if record.view is not None:
        raise BadInput(f"{record.name or 'a file'} has a view where it is new: give view beside a number alone")
    return _source(record, folder)


def _view(view: Selection | None) -> Selection | None:
    """A view that there can be: pages count from 1, and a crop has an inside."""
    if view is not None and view.pages is not None and (not view.pages or min(view.pages) < 1):
        raise BadInput(f"a view of the pages {[*view.pages]} shows nothing: pages count from 1")
    if view is not None and view.crop is not None:
        left, top, right, bottom = view.crop
        if not (0 <= left < right and 0 <= top < bottom):
            raise BadInput(f"a view of the crop {[*view.crop]} shows nothing: give left, top, right, bottom in pixels")
    return view


def _source(record: FileRecord, folder: Path) -> File:
    if record.path is not None:
        file = File.from_path(record.path, within=folder)
    elif record.uri is not None:
        file = File.from_uri(record.uri, record.media_type)
    elif record.problem is not None:
        file = File(Reader(Broken(record.problem), 0))
    else:
        try:
            file = File(pybase64.b64decode(record.data or "", validate=True))
        except ValueError as error:
            raise BadInput(f"the data of {record.name or 'a file'} is not base64: {error}") from error
    return replace(
        file,
        media_type=record.media_type,
        name=record.name or file.name,
        description=record.description,
        number=record.number,
        date=record.date and record.date.isoformat(),
    )


@dataclass(frozen=True, slots=True)
class Broken:
    """Stands for bytes that aren't there; to open it raises `BadFile` with the problem."""

    problem: str

    def __call__(self) -> NoReturn:
        """Say why there is nothing to open."""
        what, _, advice = self.problem.rpartition(": ")
        raise BadFile("", what or self.problem, advice if what else "hand it in again")


def problem_of(file: File) -> str | None:
    """The problem that a record gives in place of a file's bytes, word for word."""
    opening = file.source.open if isinstance(file.source, Reader) else None
    return opening.problem if isinstance(opening, Broken) else None


def dump(messages: Sequence[Message], file: Callable[[int], FileRecord], head: str | None = None) -> bytes:
    """A stored conversation as a conversation file. `file` gives the record of each file, once, at its first showing.

    `head` is the id of the message that the talk goes on behind.
    """
    places = {message.id: index for index, message in enumerate(messages)}
    writing = _Writing(file)
    records: list[MessageRecord] = []
    for index, one in enumerate(messages):
        parent = places[one.parent_id] if one.parent_id is not None else -1
        parts = [writing.part(part) for part in one.parts]
        parent = None if parent == index - 1 else parent
        records.append(MessageRecord(one.role, parts, one.call_id, one.tool, one.is_error, one.stop, parent))
    last = -1 if head is None else places[head]
    record = ConversationRecord(VERSION, records, head=None if last == len(records) - 1 else last)
    return msgspec.json.format(msgspec.json.encode(record), indent=2)


class _Writing:
    """Parts as records; it knows which files were shown before."""

    def __init__(self, file: Callable[[int], FileRecord]) -> None:
        self._file = file
        self._told: set[int] = set()

    def part(self, part: Part) -> PartRecord:
        match part:
            case Text():
                return TextRecord(part.text, part.audience)
            case Json():
                files = {pointer: self._shown(shown) for pointer, shown in part.files}
                return JsonRecord(msgspec.Raw(part.text.encode()), files)
            case Shown():
                return self._shown(part)
            case ToolCall():
                return CallRecord(part.call_id, part.tool, _raw(part.arguments), part.opaque)
            case Opaque() | Approval():
                return part

    def _shown(self, shown: Shown) -> FileRecord:
        if shown.number in self._told:
            return FileRecord(number=shown.number, view=shown.view)
        self._told.add(shown.number)
        return msgspec.structs.replace(self._file(shown.number), view=shown.view)


def _raw(arguments: str) -> msgspec.Raw:
    """A call's arguments as they are written: an object where no space is lost by it, else the own text."""
    try:
        is_object = isinstance(msgspec.json.decode(arguments), dict)
        is_object = is_object and msgspec.json.format(arguments, indent=-1) == arguments
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        is_object = False
    return msgspec.Raw(arguments.encode() if is_object else msgspec.json.encode(arguments))
