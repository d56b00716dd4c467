"""What a client's chat request asks: of its whole body the newest message's words, files and answers alone count."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Literal, TypeAlias

import msgspec
from msgspec import Raw, Struct

from showandtell.errors import BadInput
from showandtell.storage.conversations.access import NO_TEXT

#: The most parts of one message; more were never written by a person.
MOST_PARTS = 200
#: The most letters of one message, or of why somebody says no; and of an id that a client makes up.
MOST_LETTERS = 1_000_000
MOST_ID = 500
OURS = re.compile(r"(?:https?://[^/?#]+)?/api/attachments/(att_[A-Za-z0-9_-]{22})(?:[/?#].*)?", re.ASCII)
UPLOAD_FIRST = (
    "a file of this message is no upload of this server: POST it to /api/attachments, "
    "and send a part with the url or the id that it gives"
)

Trigger: TypeAlias = Literal["submit-message", "regenerate-message"]


class UiAnswer(Struct, frozen=True):
    """A person's yes or no to a call."""

    id: str
    approved: bool | None = None
    reason: str = ""


class Named(Struct, frozen=True):
    """The data of a part that names a file."""

    id: str = ""


class AskedPart(Struct, frozen=True, rename="camel"):
    """A part of a client's message, as far as any counts; one of another type may hold anything."""

    type: str = ""
    text: str = ""
    url: str = ""
    state: str = ""
    data: Raw = Raw(b"{}")
    approval: Raw = Raw(b"{}")


class AskedMessage(Struct, frozen=True):
    """A client's message."""

    id: str
    role: Literal["user", "assistant", "system"]
    parts: list[Raw] = []


class Body(Struct, frozen=True, rename="camel"):
    """The stock client's body, and `model` besides."""

    id: str
    messages: list[Raw] = []
    trigger: Trigger = "submit-message"
    message_id: str | None = None
    model: str | None = None


class FileId(Struct, frozen=True):
    """A file, by the id of an attachment."""

    id: str


class ChatRequest(Struct, frozen=True):
    """What counts of a request. `said` holds words and ids of files in their order; `client_id` is the message's id.

    `message_id` is that of an earlier message: one that is edited, or answered again.
    """

    chat_id: str
    client_id: str | None
    said: tuple[str | FileId, ...]
    approvals: dict[str, tuple[bool, str]]
    trigger: Trigger
    message_id: str | None
    model: str | None


read_body = msgspec.json.Decoder(Body).decode
read_message = msgspec.json.Decoder(AskedMessage).decode
read_part = msgspec.json.Decoder(AskedPart).decode
read_answer = msgspec.json.Decoder(UiAnswer).decode
read_named = msgspec.json.Decoder(Named).decode


def parse_chat_request(data: bytes) -> ChatRequest:
    """Read a request's body. Raises `BadInput`, which says what is wrong with it."""
    try:
        body = read_body(data)
        last = read_message(body.messages[-1]) if body.messages else None
        parts = [read_part(part) for part in (last.parts if last else [])[: MOST_PARTS + 1]]
        said = tuple(words_and_files(parts)) if last is not None and last.role == "user" else ()
        approvals = dict(answers(parts)) if last is not None and last.role == "assistant" else {}
    except (msgspec.DecodeError, RecursionError) as error:
        raise BadInput(f"the body is no chat request ({error}): send {{id, messages, trigger}}") from None
    except UnicodeDecodeError:
        raise BadInput("the body is no UTF-8: send JSON as RFC 8259 has it") from None
    if len(parts) > MOST_PARTS:
        raise BadInput(f"a message of more than {MOST_PARTS} parts is not taken: send fewer")
    letters = sum(len(one) for one in said if isinstance(one, str)), sum(len(why) for _, why in approvals.values())
    if max(letters) > MOST_LETTERS:
        raise BadInput(f"a message of more than {MOST_LETTERS:,} letters is not taken: upload it as a file")
    again = body.trigger == "regenerate-message"
    client_id = last.id if last is not None and last.role == "user" and not again else None
    for one in (client_id, body.message_id):
        check_name(one)
    return ChatRequest(body.id, client_id, () if again else said, approvals, body.trigger, body.message_id, body.model)


def check_name(name: str | None) -> None:
    """Raise `BadInput` for an id of a message that can't be kept."""
    if name is not None and (not 1 <= len(name) <= MOST_ID or NO_TEXT.search(name)):
        raise BadInput(f"a message can't be called {name!r:.40}: use 1 to {MOST_ID} letters without NUL")


def words_and_files(parts: Iterable[AskedPart]) -> Iterable[str | FileId]:
    """What a person has said: each text, and each file once, however often it is named."""
    named: set[str] = set()
    for part in parts:
        match part.type:
            case "text":
                if part.text.strip():
                    yield part.text
            case "file" | "data-attachment":
                found = named_file(part)
                if found not in named:
                    named.add(found)
                    yield FileId(found)
            case _:  # what else a client keeps in a message is its own
                pass


def named_file(part: AskedPart) -> str:
    """The id of the file that a part names. Raises `BadInput` where it names none of ours."""
    if part.type == "data-attachment":
        return read_named(part.data).id
    match = OURS.fullmatch(part.url)
    if match is None:
        raise BadInput(UPLOAD_FIRST)
    return match[1]


def answers(parts: Iterable[AskedPart]) -> Iterable[tuple[str, tuple[bool, str]]]:
    """The calls that a person has said yes or no to."""
    for part in parts:
        if part.state == "approval-responded":
            answer = read_answer(part.approval)
            if answer.approved is not None:
                yield answer.id, (answer.approved, answer.reason)
