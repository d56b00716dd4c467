"""Parse a chat request. Only the newest message counts: its text, its files and its approvals."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, TypeAlias

import msgspec
from msgspec import Raw, Struct, field

from showandtell.core.events.types import IfRunning
from showandtell.core.messages.conversation_settings import ConversationSettings
from showandtell.core.messages.file_json import FileSource
from showandtell.core.wire.bounded import Item, decode_bounded
from showandtell.errors import BadInput
from showandtell.storage.conversations.access import NO_TEXT

#: Maximum number of messages in a request, and of parts in the last one: people write far fewer.
MAX_MESSAGES, MAX_PARTS = 100_000, 200
#: Maximum bytes of the data about a file or an approval in a part of a message.
MAX_DATA, MAX_APPROVAL = 10_000, 1024 * 1024
#: Maximum characters in a message, in the reason of an approval, and in a client's id.
MAX_CHARACTERS = 1_000_000
MAX_ID = 500

Trigger: TypeAlias = Literal["submit-message", "regenerate-message"]
Role: TypeAlias = Literal["user", "assistant", "system"]


class UiAnswer(Struct, frozen=True):
    """A person's approval or denial of a tool call."""

    id: str
    approved: bool | None = None
    reason: str = ""


class AttachmentData(Struct, frozen=True):
    """The data of a part that names a file."""

    id: str = ""


class ClientPart(Item, frozen=True, rename="camel"):
    """The fields of a message part that any type uses. Parts of unknown types may hold anything."""

    type: str = ""
    text: str = ""
    url: str = ""
    media_type: str | None = None
    filename: str | None = None
    state: str = ""
    data: Raw = Raw(b"{}")
    approval: Raw = Raw(b"{}")


class ClientMessage(Item, frozen=True):
    """A message as the client sends it. Only the last one's fields are read: a newer client's history may hold more."""

    id: Raw = Raw(b"null")
    role: Raw = Raw(b"null")
    parts: Raw = Raw(b"[]")


class Body(Struct, frozen=True, rename="camel"):
    """The stock client's request body, with `model`, `if_running`, `settings` and `lift` added.

    `message` is the last one.
    """

    id: str
    messages: list[ClientMessage] = []
    message: ClientMessage | None = None
    trigger: Trigger = "submit-message"
    message_id: str | None = None
    model: str | None = None
    if_running: IfRunning = field(default="stop", name="if_running")
    settings: ConversationSettings | None = None
    lift: list[str] = []


class FileId(Struct, frozen=True):
    """A file, by the id of an attachment."""

    id: str


#: A text, a file by its id, or one by its address or as a data URL.
Content: TypeAlias = str | FileId | FileSource


class ChatRequest(Struct, frozen=True):
    """A parsed request. `content` holds texts and files in order; `client_id` is the client's id of the message.

    `message_id` names an earlier message to edit or to regenerate. `approvals` maps call ids to decision and reason.
    `settings` are those of a new conversation. `lift` are the ids of files for the user alone that the model may see.
    """

    chat_id: str
    client_id: str | None
    content: tuple[Content, ...]
    approvals: dict[str, tuple[bool, str]]
    trigger: Trigger
    message_id: str | None
    model: str | None
    if_running: IfRunning = "stop"
    settings: ConversationSettings | None = None
    lift: tuple[str, ...] = ()

    @property
    def is_edit(self) -> bool:
        """Whether the message replaces an earlier one."""
        return self.client_id is not None and self.message_id is not None

    @property
    def is_regeneration(self) -> bool:
        """Whether the request asks for another response to an earlier message."""
        return self.trigger == "regenerate-message"

    @property
    def is_continuation(self) -> bool:
        """Whether the request continues the newest answer: by approvals, or by no message at all."""
        return self.client_id is None and not self.is_regeneration


read_body = msgspec.json.Decoder(Body).decode
read_id = msgspec.json.Decoder(str).decode
read_role = msgspec.json.Decoder(Role).decode
read_parts = msgspec.json.Decoder(list[ClientPart]).decode
read_approval = msgspec.json.Decoder(UiAnswer).decode
read_attachment_data = msgspec.json.Decoder(AttachmentData).decode


def parse_chat_request(data: bytes) -> ChatRequest:
    """Parse a request body. Raises `BadInput`."""
    try:
        body = decode_bounded(read_body, data, MAX_MESSAGES, "request", "messages")
        last = body.message or (body.messages[-1] if body.messages else None)
        message_id, role = (read_id(last.id), read_role(last.role)) if last is not None else (None, None)
        parts = decode_bounded(read_parts, last.parts, MAX_PARTS, "message", "parts") if last is not None else []
        content = tuple(text_and_files(parts)) if role == "user" else ()
        approvals = dict(approvals_in(parts)) if role == "assistant" else {}
    except (msgspec.DecodeError, RecursionError) as error:
        raise BadInput(f"the body is not a chat request ({error}): send {{id, messages, trigger}}") from None
    except UnicodeDecodeError:
        raise BadInput("the body is not UTF-8: send JSON as in RFC 8259") from None
    lengths = (
        sum(len(part) for part in content if isinstance(part, str)),
        sum(len(why) for _, why in approvals.values()),
    )
    if max(lengths) > MAX_CHARACTERS:
        raise BadInput(f"the message has more than {MAX_CHARACTERS:,} characters: upload it as a file")
    is_regeneration = body.trigger == "regenerate-message"
    client_id = message_id if role == "user" and not is_regeneration else None
    check_message_id(client_id)
    check_message_id(body.message_id)
    return ChatRequest(
        body.id,
        client_id,
        () if is_regeneration else content,
        approvals,
        body.trigger,
        body.message_id,
        body.model,
        body.if_running,
        body.settings,
        tuple(body.lift[:MAX_PARTS]),
    )


def check_message_id(message_id: str | None) -> None:
    """Raise `BadInput` for a message id that can't be stored."""
    if message_id is not None and (not 1 <= len(message_id) <= MAX_ID or NO_TEXT.search(message_id)):
        raise BadInput(f"{message_id!r:.40} is not a message id: use 1 to {MAX_ID} characters, without NUL")


def text_and_files(parts: Iterable[ClientPart]) -> Iterable[Content]:
    """The texts and files of a message. Raises `BadInput`."""
    for part in parts:
        match part.type:
            case "text":
                if part.text.strip():
                    yield part.text
            case "file":
                yield FileSource("url", part.url, part.media_type, part.filename)
            case "data-attachment":
                if len(part.data) > MAX_DATA:
                    raise BadInput(f"the data of a file has more than {MAX_DATA:,} bytes: send its id only")
                yield FileId(read_attachment_data(part.data).id)
            case _:  # parts for the client's own use
                pass


def approvals_in(parts: Iterable[ClientPart]) -> Iterable[tuple[str, tuple[bool, str]]]:
    """Call ids with the person's decision and reason."""
    for part in parts:
        if part.state == "approval-responded":
            if len(part.approval) > MAX_APPROVAL:
                raise BadInput(f"an approval has more than {MAX_APPROVAL:,} bytes: give a shorter reason")
            decision = read_approval(part.approval)
            if decision.approved is not None:
                yield decision.id, (decision.approved, decision.reason)
