"""The portable conversation: a JSON file of messages, with the same records that a history stores.

Files are given by `path` (within the conversation file's folder), `data` (base64) or `uri`; a file that was shown
before is given by its `number`. Documented in docs/conversation.md.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Literal, NoReturn, cast

import msgspec
import pybase64

from showandtell.core.messages.display_names import clean_name
from showandtell.core.messages.file import Audience, File, Reader, details_of
from showandtell.core.messages.message import Details, Draft, History, Message, Role, Stop
from showandtell.core.messages.metadata import dump_metadata
from showandtell.core.messages.parts import (
    Approval,
    Correction,
    DraftPart,
    HostedBlock,
    HostedState,
    Json,
    Opaque,
    Part,
    Selection,
    Shown,
    Source,
    Summary,
    Text,
    ToolCall,
)
from showandtell.errors import BadConversation, BadFile, BadInput

VERSION = 1
MAX_NUMBER = 1_000_000_000
#: Maximum number of messages in a conversation file, far beyond any real conversation.
MAX_MESSAGES = 100_000
#: Maximum depth of a JSON value, as for tool results, and maximum length of a problem; far beyond any real one.
MAX_DEPTH, MAX_PROBLEM = 100, 2000
SOURCES = ("path", "data", "uri", "problem")


class FileRecord(msgspec.Struct, tag="file", forbid_unknown_fields=True, omit_defaults=True):
    """A file: exactly one of path, data, uri and problem; or only the number of a file that was shown before.

    `problem` says why there are no bytes. `view` is the part that is shown again, if not all. `date` is the day on
    which it was added, `shared_by` the person from whose conversation the user took it. `in_context` is false for a
    file whose content is kept out of requests. `id` and `metadata` are the program's own.
    """

    path: str | None = None
    data: str | None = None
    uri: str | None = None
    media_type: str | None = None
    name: str | None = None
    description: str | None = None
    number: Annotated[int, msgspec.Meta(ge=1, le=MAX_NUMBER)] | None = None
    date: dt.date | None = None
    problem: Annotated[str, msgspec.Meta(min_length=1, max_length=MAX_PROBLEM)] | None = None
    audience: Audience = "both"
    view: Selection | None = None
    shared_by: str | None = None
    in_context: bool = True
    id: str | None = None
    metadata: dict[str, Any] | None = None
    convert: bool = True
    lifted: bool = False


class TextRecord(msgspec.Struct, tag="text", forbid_unknown_fields=True, omit_defaults=True):
    """Text, and who may read it."""

    text: str
    audience: Audience | Literal["model"] = "both"


class JsonRecord(msgspec.Struct, tag="json", forbid_unknown_fields=True, omit_defaults=True):
    """A JSON value; `files` maps JSON pointers, at which the value has null, to files."""

    value: msgspec.Raw
    files: dict[str, FileRecord] = msgspec.field(default_factory=dict[str, FileRecord])


class CallRecord(msgspec.Struct, tag="tool_call", forbid_unknown_fields=True, omit_defaults=True):
    """A tool call; `arguments` is an object, or the model's own text if that isn't JSON."""

    call_id: str
    tool: str
    arguments: msgspec.Raw
    opaque: Opaque | None = None


#: In place of JSON that a block doesn't have.
NO_JSON = msgspec.Raw(b"null")


class HostedRecord(msgspec.Struct, tag="hosted", forbid_unknown_fields=True, omit_defaults=True):
    """A block of a tool that the provider runs itself, as JSON, or null for none; `files` as in `JsonRecord`.

    `input` and `output` are JSON, or strings that hold JSON text.
    """

    provider: str
    block: msgspec.Raw
    call_id: str
    tool: str
    input: msgspec.Raw = NO_JSON
    output: msgspec.Raw = NO_JSON
    state: HostedState = "done"
    files: dict[str, FileRecord] = msgspec.field(default_factory=dict[str, FileRecord])
    base_url: str = ""


PartRecord = (
    TextRecord | FileRecord | JsonRecord | CallRecord | HostedRecord | Source | Opaque | Approval | Correction | Summary
)


class MessageRecord(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True):
    """One message; `call_id`, `tool` and `is_error` belong to role tool, `stop` to role assistant, `author` to user.

    `parent` is the index of the message before it, if that isn't the previous one in the list (-1: no parent).
    `metadata` is the program's own, of a tool's result.
    """

    role: Role
    parts: list[PartRecord]
    call_id: str | None = None
    tool: str | None = None
    is_error: bool = False
    stop: Stop | None = None
    parent: Annotated[int, msgspec.Meta(ge=-1)] | None = None
    author: str | None = None
    metadata: Any = None


class ConversationRecord(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True):
    """The complete file. `head` is the index of the message after which the conversation continues (default: last)."""

    version: int
    messages: Annotated[list[MessageRecord], msgspec.Meta(max_length=MAX_MESSAGES)]
    instructions: str = ""
    head: Annotated[int, msgspec.Meta(ge=-1)] | None = None
    details: Details | None = None


def parse(data: bytes, folder: Path, name: str = "the conversation") -> History:
    """Read a conversation file from its bytes. Its paths are relative to `folder`.

    Raises `BadConversation`, which names the message, or `BadFile` for its files.
    """
    try:
        # Decoded first, because msgspec doesn't check the UTF-8 of `msgspec.Raw` values.
        record = msgspec.json.decode(data.decode(), type=ConversationRecord)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BadConversation(f"{name} is not a conversation file: {error}") from error
    if record.version != VERSION:
        raise BadConversation(f"{name} has version {record.version}; this program reads version {VERSION}")
    drafts = [_draft(message, index, folder) for index, message in enumerate(record.messages)]
    parents = [_parent(message, index) for index, message in enumerate(record.messages)]
    if record.head is not None and record.head >= len(drafts):
        raise BadConversation(f"head is {record.head}, and there are {len(drafts)} messages")
    return History(drafts, record.instructions, parents, record.head, record.details)


def _parent(record: MessageRecord, index: int) -> int | None:
    """The index of a message's parent. Raises `BadConversation` if the parent doesn't come first."""
    if record.parent is not None and record.parent >= index:
        raise BadConversation(f"messages[{index}]: its parent {record.parent} isn't an earlier message")
    parent = index - 1 if record.parent is None else record.parent
    return None if parent < 0 else parent


def _draft(record: MessageRecord, index: int, folder: Path) -> Draft:
    try:
        parts = tuple(_part(part, folder) for part in record.parts)
        dump_metadata(record.metadata)
    except BadInput as error:
        raise BadConversation(f"messages[{index}]: {error}") from error
    except (ValueError, RecursionError) as error:
        # For example a path with a NUL, a number too large for a float, or a value of a thousand brackets.
        raise BadConversation(f"messages[{index}] can't be read: {error}") from error
    author = clean_name(record.author) if record.role == "user" else ""
    return Draft(
        record.role, parts, record.call_id, record.tool, record.is_error, record.stop, author or None, record.metadata
    )


def _part(record: PartRecord, folder: Path) -> DraftPart:
    match record:
        case TextRecord():
            return Text(record.text, record.audience)
        case FileRecord():
            return _file(record, folder)
        case JsonRecord():
            return _json(record, folder)
        case CallRecord():
            return ToolCall(record.call_id, record.tool, _arguments(record.arguments), record.opaque)
        case HostedRecord():
            block = _json(JsonRecord(record.block, record.files), folder)
            text = "" if block.text == "null" else block.text
            given, output = ("" if bytes(raw) == b"null" else _arguments(raw) for raw in (record.input, record.output))
            named = record.provider, text, record.call_id, record.tool
            return HostedBlock(*named, given, output, record.state, block.files, record.base_url)
        case Source() | Opaque() | Approval() | Correction() | Summary():
            return record


def _json(record: JsonRecord, folder: Path) -> Json:
    value = _value(record.value)
    for pointer in record.files:
        if not _is_null(value, pointer):
            raise BadInput(f"the pointer {pointer!r} of a file must lead to null in the JSON value")
    files = tuple((pointer, _file(file, folder)) for pointer, file in record.files.items())
    return Json(msgspec.json.encode(value).decode(), files)


def _value(raw: msgspec.Raw) -> Any:
    value: Any = msgspec.json.decode(raw)
    layer: list[Any] = [value]
    for _ in range(MAX_DEPTH + 1):
        layer = [child for node in layer for child in _children(node)]
    if layer:
        raise BadInput(f"a JSON value is nested deeper than {MAX_DEPTH} levels")
    return value


def _children(node: Any) -> Iterable[Any]:
    if isinstance(node, dict):
        return cast("dict[str, Any]", node).values()
    return cast("list[Any]", node) if isinstance(node, list) else ()


def _is_null(value: Any, pointer: str) -> bool:
    """Whether a JSON pointer (RFC 6901) leads to null."""
    node: Any = value
    try:
        for key in pointer.split("/")[1:]:
            name = key.replace("~1", "/").replace("~0", "~")
            node = node[int(name) if isinstance(node, list) else name]
    except (KeyError, IndexError, ValueError, TypeError):
        return False
    return node is None and pointer[:1] in {"", "/"}


def _arguments(raw: msgspec.Raw) -> str:
    value = _value(raw)
    return value if isinstance(value, str) else msgspec.json.format(bytes(raw).decode(), indent=-1)


def _file(record: FileRecord, folder: Path) -> File | Shown:
    sources = [source for source in SOURCES if getattr(record, source) is not None]
    if not sources and record.number is not None:
        return Shown(record.number, "", _check_view(record.view))
    if len(sources) != 1:
        raise BadInput(f"a file needs one of path, data, uri and problem, not {' and '.join(sources) or 'none'}")
    if record.view is not None:
        raise BadInput(f"{record.name or 'a file'} is new and has a view: give view only beside a number")
    return _source(record, folder)


def _check_view(view: Selection | None) -> Selection | None:
    """Check that pages count from 1 and that a crop isn't empty. Raises `BadInput`."""
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
        file = File(Reader(MissingBytes(record.problem), 0))
    else:
        try:
            file = File(pybase64.b64decode(record.data or "", validate=True))
        except ValueError as error:
            raise BadInput(f"the data of {record.name or 'a file'} is not base64: {error}") from error
    name, shared_by = record.name or file.name, clean_name(record.shared_by) or None
    details = details_of(record) | {"name": name, "shared_by": shared_by}
    date = record.date and record.date.isoformat()
    return replace(file, **details, number=record.number, date=date, lifted=record.lifted)


@dataclass(frozen=True, slots=True)
class MissingBytes:
    """In place of bytes that are missing; to open it raises `BadFile` with the problem."""

    problem: str

    def __call__(self) -> NoReturn:
        """Raise `BadFile` with the problem and the advice after its last colon."""
        problem, _, advice = self.problem.rpartition(": ")
        raise BadFile("", problem or self.problem, advice if problem else "hand it in again")


def problem_of(file: File) -> str | None:
    """The unchanged `problem` of the record that a file was read from, if any."""
    opener = file.source.open if isinstance(file.source, Reader) else None
    return opener.problem if isinstance(opener, MissingBytes) else None


def dump(
    messages: Sequence[Message],
    file: Callable[[int], FileRecord],
    head: str | None = None,
    details: Details | None = None,
) -> bytes:
    """Write a stored conversation as a conversation file. `file` returns the record of a file by number, once per file.

    `head` is the id of the message after which the conversation continues.
    """
    indexes = {message.id: index for index, message in enumerate(messages)}
    writer = _Writer(file)
    records: list[MessageRecord] = []
    for index, message in enumerate(messages):
        parent = indexes[message.parent_id] if message.parent_id is not None else -1
        records.append(
            MessageRecord(
                message.role,
                [writer.part(part) for part in message.parts],
                message.call_id,
                message.tool,
                message.is_error,
                message.stop,
                None if parent == index - 1 else parent,
                message.author or None,
                message.metadata,
            )
        )
    last = -1 if head is None else indexes[head]
    record = ConversationRecord(VERSION, records, "", None if last == len(records) - 1 else last, details)
    return msgspec.json.format(msgspec.json.encode(record), indent=2)


class _Writer:
    """Converts parts to records, and remembers which files it has written."""

    def __init__(self, file: Callable[[int], FileRecord]) -> None:
        self._file = file
        self._written: set[int] = set()

    def part(self, part: Part) -> PartRecord:
        match part:
            case Text():
                return TextRecord(part.text, part.audience)
            case Json():
                return JsonRecord(msgspec.Raw(part.text.encode()), self._files(part))
            case HostedBlock():
                given, output = (_raw_arguments(text) if text else NO_JSON for text in (part.input, part.output))
                block, files = msgspec.Raw((part.block or "null").encode()), self._files(part)
                named = part.provider, block, part.call_id, part.tool
                return HostedRecord(*named, given, output, part.state, files, part.base_url)
            case Shown():
                return self._record(part)
            case ToolCall():
                return CallRecord(part.call_id, part.tool, _raw_arguments(part.arguments), part.opaque)
            case Source() | Opaque() | Approval() | Correction() | Summary():
                return part

    def _files(self, part: Json[Shown] | HostedBlock[Shown]) -> dict[str, FileRecord]:
        return {pointer: self._record(shown) for pointer, shown in part.files}

    def _record(self, shown: Shown) -> FileRecord:
        if shown.number in self._written:
            return FileRecord(number=shown.number, view=shown.view)
        self._written.add(shown.number)
        return msgspec.structs.replace(self._file(shown.number), view=shown.view)


def _raw_arguments(arguments: str) -> msgspec.Raw:
    """A call's arguments as JSON: an object if that doesn't change any whitespace, else a string."""
    try:
        is_object = isinstance(msgspec.json.decode(arguments), dict)
        is_object = is_object and msgspec.json.format(arguments, indent=-1) == arguments
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        is_object = False
    return msgspec.Raw(arguments.encode() if is_object else msgspec.json.encode(arguments))
