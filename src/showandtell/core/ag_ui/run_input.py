"""Reads `RunAgentInput`, the body of an AG-UI request.

Of its messages only the newest counts, if it is a user's, and of its other fields `resume`, the ids, and `if_running`
and `lift` in `forwardedProps`. `tools` and `context` are ignored; `messages` and `state` go back to the client if a
snapshot repeats them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, TypeAlias

import msgspec
from msgspec import Raw, Struct

from showandtell.core.events.types import IfRunning
from showandtell.core.messages.file_json import FileSource
from showandtell.core.wire.bounded import Item, decode_bounded
from showandtell.errors import BadInput

#: Maximum number of messages and answers to interrupts in a request, and of parts in a message.
MAX_MESSAGES, MAX_ANSWERS, MAX_PARTS = 100_000, 1000, 200
#: Maximum characters of an id, of a message's texts, and of the reason of an approval.
MAX_ID, MAX_CHARACTERS, MAX_REASON = 500, 1_000_000, 10_000
#: Roles of messages that come between a user's message and the run that it starts.
PASSING_ROLES = frozenset({"activity", "system", "developer"})
#: Content parts with a file. "binary" is that of 0.0.x.
FILE_TYPES = frozenset({"image", "audio", "video", "document", "binary"})


#: What a user's message holds, in order.
UserContent: TypeAlias = tuple[str | FileSource, ...]


class Answer(Item, frozen=True, rename="camel"):
    """The answer to an interrupt."""

    interrupt_id: str
    status: Literal["resolved", "cancelled"]
    payload: Any = None


class _Message(Item, frozen=True):
    id: str = ""
    role: str = ""
    content: Raw = Raw(b'""')


class _Source(Struct, frozen=True, rename="camel"):
    type: Literal["url", "data", "file"]
    value: str
    mime_type: str | None = None


class _Part(Item, frozen=True, rename="camel"):
    type: str
    text: str = ""
    source: Raw = Raw(b"null")
    metadata: Raw = Raw(b"null")
    mime_type: str | None = None
    url: str | None = None
    data: str | None = None
    filename: str | None = None


class _Names(Struct, frozen=True):
    filename: str | None = None
    name: str | None = None


class _Function(Struct, frozen=True):
    name: str
    arguments: str = ""


class CallRecord(Item, frozen=True):
    """A tool call in a message. The metadata is ours, or anything."""

    id: str
    function: _Function
    metadata: Raw = Raw(b"null")


class HistoryMessage(Item, frozen=True, rename="camel"):
    """A message of a client's history. Fields that hold data for one provider are not read."""

    role: str = ""
    content: Raw = Raw(b"null")
    tool_calls: Raw = Raw(b"null")
    tool_call_id: str = ""
    error: str | None = None
    metadata: Raw = Raw(b"null")


class _Body(Struct, frozen=True, rename="camel"):
    thread_id: str
    run_id: str
    messages: Raw = Raw(b"[]")
    protocol_version: str | None = None
    parent_run_id: str | None = None
    state: Raw = Raw(b"null")
    resume: Raw = Raw(b"null")
    forwarded_props: Raw = Raw(b"null")


class RunInput(Struct, frozen=True):
    """A request. `content` is the newest message if it is a user's, else None; `approvals` maps call ids to answers.

    `message_id` is the client's id of that message, which may be empty. `is_legacy`: the peer speaks 0.0.x.
    `if_running` is what happens to an answer that runs already, `lift` are the ids of files for the user alone that the
    model may see.
    """

    thread_id: str
    run_id: str
    parent_run_id: str | None
    is_legacy: bool
    content: UserContent | None
    approvals: Mapping[str, tuple[bool, str]]
    messages: Raw
    state: Any
    if_running: IfRunning = "stop"
    message_id: str = ""
    lift: tuple[str, ...] = ()

    def client_messages(self) -> Sequence[Any]:
        """The client's messages as plain JSON; none if it is damaged in what nobody reads."""
        try:
            return msgspec.json.decode(self.messages)
        except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
            return ()


_read_body = msgspec.json.Decoder(_Body).decode
_read_messages = msgspec.json.Decoder(list[_Message]).decode
_read_answers = msgspec.json.Decoder(list[Answer] | None).decode
_read_content = msgspec.json.Decoder(str | list[_Part]).decode
_read_source = msgspec.json.Decoder(_Source).decode


def parse_run_input(data: bytes) -> RunInput:
    """Parse a request body. Raises `BadInput`."""
    try:
        body = _read_body(data)
        messages = decode_bounded(_read_messages, body.messages, MAX_MESSAGES, "request", "messages")
        answers = decode_bounded(_read_answers, body.resume, MAX_ANSWERS, "request", "answers to interrupts")
        newest = next((one for one in reversed(messages) if one.role not in PASSING_ROLES), None)
        content = read_content(newest.content) if newest is not None and newest.role == "user" else None
        state = msgspec.json.decode(body.state)
        wishes = read_wishes(msgspec.json.decode(body.forwarded_props))
    except (msgspec.DecodeError, RecursionError) as error:
        raise BadInput(f"the body is not an AG-UI request ({error}): send RunAgentInput") from None
    except UnicodeDecodeError:
        raise BadInput("the body is not UTF-8: send JSON as in RFC 8259") from None
    for name in (body.thread_id, body.run_id, body.parent_run_id or "x"):
        if not 1 <= len(name) <= MAX_ID or "\0" in name:
            raise BadInput(f"{name!r:.40} is not an id: use 1 to {MAX_ID} characters, without NUL")
    if sum(len(part) for part in content or () if isinstance(part, str)) > MAX_CHARACTERS:
        raise BadInput(f"the message has more than {MAX_CHARACTERS:,} characters: upload it as a file")
    approvals = {answer.interrupt_id: read_answer(answer) for answer in answers or ()}
    is_legacy = body.protocol_version is None
    ids = (body.thread_id, body.run_id, body.parent_run_id)
    message_id = newest.id if newest is not None and content is not None else ""
    return RunInput(
        *ids, is_legacy, content, approvals, body.messages, state, wishes.if_running, message_id, wishes.lift
    )


class Wishes(Struct, frozen=True):
    """The fields of `forwardedProps` that are ours."""

    if_running: IfRunning = "stop"
    lift: Annotated[tuple[str, ...], msgspec.Meta(max_length=MAX_PARTS)] = ()


def read_wishes(properties: Any) -> Wishes:
    """What `forwardedProps`, which may be anything, asks for. Raises `ValidationError`."""
    return msgspec.convert(properties if isinstance(properties, dict) else {}, Wishes)


def read_answer(answer: Answer) -> tuple[bool, str]:
    """Whether an answer approves the call, and why. A cancelled interrupt denies it. Raises `BadInput`."""
    if answer.status == "cancelled":
        return False, ""
    match answer.payload:
        case {"approved": bool() as approved, **rest} if isinstance(reason := rest.get("reason") or "", str):
            if len(reason) > MAX_REASON:
                raise BadInput(f"the reason of an approval has more than {MAX_REASON:,} characters: shorten it")
            return approved, reason
        case _:
            place = f"the payload for the interrupt {answer.interrupt_id!r:.60}"
            raise BadInput(f'{place} does not match its responseSchema: send {{"approved": true}} or false')


def read_content(content: Raw) -> UserContent:
    """The texts and files of a user's message. Raises `BadInput` and `DecodeError`."""
    parts = decode_bounded(_read_content, content, MAX_PARTS, "message", "parts")
    if isinstance(parts, str):
        return (parts,) if parts.strip() else ()
    found: list[str | FileSource] = []
    for part in parts:
        if part.type == "text":
            found += (part.text,) if part.text.strip() else ()
        elif part.type in FILE_TYPES:
            found.append(_read_file(part))
        else:
            raise BadInput(f"the message has a part of the unknown type {part.type!r:.40}: send text or a file")
    return tuple(found)


def _read_file(part: _Part) -> FileSource:
    name = part.filename or _name_in(part.metadata)
    if part.type != "binary":
        source = _read_source(part.source)
        return FileSource(source.type, source.value, source.mime_type, name)
    if part.data is not None:
        return FileSource("data", part.data, part.mime_type, name)
    if part.url is not None:
        return FileSource("url", part.url, part.mime_type, name)
    raise BadInput("a file of the message has neither an address nor data: send one of them")


def _name_in(metadata: Raw) -> str | None:
    """The file name in a part's metadata, which may be anything."""
    try:
        names = msgspec.json.decode(metadata, type=_Names | None)
    except msgspec.ValidationError:
        return None
    return (names.filename or names.name) if names is not None else None
