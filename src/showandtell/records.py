"""The portable conversation: a JSON file of messages, the same records that a history stores.

Files are named by `path` (within the conversation file's folder), `data` (base64) or `uri`; one that was shown before
is shown again by its `number` alone. Documented in docs/conversation.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, cast

import msgspec
import pybase64

from showandtell.content import (
    Approval,
    Audience,
    Draft,
    File,
    History,
    Json,
    Opaque,
    Part,
    Role,
    Shown,
    Stop,
    Text,
    ToolCall,
    is_approval,
)
from showandtell.errors import BadConversation, BadInput

VERSION = 1
MOST_NUMBER = 1_000_000_000
#: As deep as a tool's result may be; no honest value comes near it.
DEEPEST = 100
SOURCES = ("path", "data", "uri")


class FileRecord(msgspec.Struct, tag="file", forbid_unknown_fields=True, omit_defaults=True):
    """A file: exactly one of path, data and uri; or only the number of one that was shown before."""

    path: str | None = None
    data: str | None = None
    uri: str | None = None
    media_type: str | None = None
    name: str | None = None
    description: str | None = None
    number: Annotated[int, msgspec.Meta(ge=1, le=MOST_NUMBER)] | None = None


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
    """One message; `call_id`, `tool` and `is_error` belong to role tool, `stop` to role assistant."""

    role: Role
    parts: list[PartRecord]
    call_id: str | None = None
    tool: str | None = None
    is_error: bool = False
    stop: Stop | None = None


class ConversationRecord(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True):
    """The whole file."""

    version: int
    messages: list[MessageRecord]
    instructions: str = ""


def load(path: str | Path) -> History:
    """Read a conversation file. Raises `BadConversation`, which names the message, or `BadFile` for its files."""
    path = Path(path)
    try:
        data = path.read_bytes()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise BadConversation(f"{path.name} can't be read: {reason}") from error
    return parse(data, path.parent, path.name)


def parse(data: bytes, folder: Path, name: str = "the conversation") -> History:
    """The same from bytes; `folder` is where its paths lie."""
    try:
        # As text, for msgspec doesn't look at the letters of values that it is to leave alone.
        record = msgspec.json.decode(data.decode(), type=ConversationRecord)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BadConversation(f"{name} is no conversation file: {error}") from error
    if record.version != VERSION:
        raise BadConversation(f"{name} has version {record.version}; this program reads version {VERSION}")
    drafts = (_draft(message, index, folder) for index, message in enumerate(record.messages))
    return History(drafts, record.instructions)


def _draft(record: MessageRecord, index: int, folder: Path) -> Draft:
    try:
        parts = tuple(_part(part, folder) for part in record.parts)
    except BadInput as error:
        raise BadConversation(f"messages[{index}]: {error}") from error
    except (ValueError, RecursionError) as error:
        # A path with a NUL, a number that no float holds, a value of a thousand brackets: each says what it is.
        raise BadConversation(f"messages[{index}] can't be read: {error}") from error
    return Draft(record.role, parts, record.call_id, record.tool, record.is_error, record.stop)


def _part(record: PartRecord, folder: Path) -> Part | File:
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
    match node:
        case dict():
            return cast("dict[str, Any]", node).values()
        case list():
            return cast("list[Any]", node)
        case _:
            return ()


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
    return value if isinstance(value, str) else bytes(raw).decode()


def _file(record: FileRecord, folder: Path) -> File | Shown:
    given = [source for source in SOURCES if getattr(record, source) is not None]
    if not given and record.number is not None:
        return Shown(record.number, "")
    if len(given) != 1:
        raise BadInput(f"a file needs one of path, data and uri, not {' and '.join(given) or 'none'}")
    return _source(record, folder)


def _source(record: FileRecord, folder: Path) -> File:
    if record.path is not None:
        file = File.from_path(record.path, within=folder)
    elif record.uri is not None:
        file = File.from_uri(record.uri, record.media_type)
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
    )


def check(messages: Sequence[Draft]) -> None:
    """Raise `BadConversation` where calls and results don't answer each other one to one, or stand in a wrong role."""
    open_calls: dict[str, int] = {}
    seen: set[str] = set()
    for index, draft in enumerate(messages):
        if is_approval(draft.parts):
            continue
        if draft.role == "tool":
            _answer(draft, index, open_calls)
            continue
        _all_closed(open_calls)
        for call in (part for part in draft.parts if isinstance(part, ToolCall)):
            if draft.role != "assistant":
                raise BadConversation(f"messages[{index}]: a tool call stands in role {draft.role}, not assistant")
            if call.call_id in seen:
                raise BadConversation(f"messages[{index}]: call_id {call.call_id!r} is used twice")
            seen.add(call.call_id)
            open_calls[call.call_id] = index
    _all_closed(open_calls)


def _answer(draft: Draft, index: int, open_calls: dict[str, int]) -> None:
    if draft.call_id not in open_calls:
        raise BadConversation(f"messages[{index}]: result {draft.call_id!r} answers no call of the message before it")
    del open_calls[draft.call_id]


def _all_closed(open_calls: Mapping[str, int]) -> None:
    for call_id, index in open_calls.items():
        raise BadConversation(f"messages[{index}]: call {call_id!r} has no result: add a message of role tool for it")
