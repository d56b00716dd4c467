"""What is displayed of files and conversations: small pictures of their files, made in the decoders' child process."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Protocol

from showandtell.core.display.layout import MAX_PICTURE_BYTES, Block, Picture, Rows, Words
from showandtell.core.display.words import counted
from showandtell.core.media_types.claims import normalize_claim
from showandtell.core.media_types.kinds import kind_of
from showandtell.core.messages.attachments import Attachment, Facts, format_label
from showandtell.core.messages.blobs import Blobs
from showandtell.core.messages.file import File, Reader, Uri
from showandtell.core.messages.file_json import is_visual
from showandtell.core.messages.message import Message, last_text
from showandtell.core.messages.parts import Json, Text, ToolCall
from showandtell.core.planning.labels import describe_origin
from showandtell.core.planning.receipt_words import delivery_line
from showandtell.core.planning.values import Receipt
from showandtell.errors import ShowAndTellError, StorageFailed
from showandtell.media import gate
from showandtell.storage.files.file_cache import FileCache

ROLES = {"user": "you", "assistant": "model"}
#: Messages of a conversation, the newest ones.
MAX_MESSAGES = 30
MAX_ARGUMENTS = 200
NO_PICTURE = "", b""


class DisplayedConversation(Protocol):
    """The conversation that messages and files are from."""

    @property
    def attachments(self) -> Mapping[int, Attachment]:
        """The files by number."""
        ...

    @property
    def blobs(self) -> Blobs:
        """Their bytes."""
        ...


class DisplayedRun(Protocol):
    """A run: how it ended, and what it stored."""

    @property
    def status(self) -> str:
        """How it ended."""
        ...

    @property
    def reason(self) -> str | None:
        """Why, if it isn't complete."""
        ...

    @property
    def conversation(self) -> DisplayedConversation:
        """The conversation that it belongs to."""
        ...

    @property
    def messages(self) -> tuple[Message, ...]:
        """The messages that it stored."""
        ...

    @property
    def receipts(self) -> tuple[Receipt, ...]:
        """How the model saw each file."""
        ...


def file_blocks(file: File) -> Iterator[Block]:
    """A file that may not be stored yet, by what it claims to be. Its picture is made from its bytes."""
    label = format_label(kind_of(file.media_type or ""), file.number) if file.number else "file"
    caption = f"{label}: {file.name or 'without a name'}"
    caption = ", ".join(filter(None, (caption, file.media_type, file.description)))
    # An address is never opened, and a reader of the program may be read only once.
    is_closed = isinstance(file.source, Uri) or (isinstance(file.source, Reader) and file.number is None)
    hidden = is_closed or file.audience == "assistant"
    yield Picture(caption) if hidden else Picture(caption, partial(_draw, file))


def _draw(file: File) -> tuple[str, bytes]:
    """A small picture of a file, which is stored in a temporary folder for it."""
    cache = FileCache()
    try:
        facts = cache.probe(file).facts
    except StorageFailed:
        return NO_PICTURE
    return thumbnail(cache.blobs, facts) if facts else NO_PICTURE


def conversation_blocks(
    messages: Sequence[Message], conversation: DisplayedConversation, receipts: Iterable[Receipt]
) -> Iterator[Block]:
    """Messages with their files, each where it appears first, and how the model saw them."""
    pictures = _Pictures(conversation)
    if len(messages) > MAX_MESSAGES:
        yield Words(f"… {counted(len(messages) - MAX_MESSAGES, 'earlier message')}")
    for message in messages[-MAX_MESSAGES:]:
        who = message.author or ROLES.get(message.role) or f"tool {message.tool}"
        yield Words(f"{who} (failed)" if message.is_error else who, "\n".join(_lines(message)))
        for shown in message.showings:
            yield from pictures.show(shown.number)
    yield from receipt_blocks(receipts)


def answer_blocks(run: DisplayedRun, *, has_finished: bool) -> Iterator[Block]:
    """The answer of a run, the files that it added, and how the model saw all files."""
    ended = f"{run.status}: {run.reason}" if run.reason else run.status
    yield Words(ended if has_finished else "this run has not finished: await it", last_text(run.messages))
    pictures = _Pictures(run.conversation)
    for message in run.messages:
        for shown in message.showings if message.role != "user" else ():
            yield from pictures.show(shown.number)
    yield from receipt_blocks(run.receipts)


def receipt_blocks(receipts: Iterable[Receipt]) -> Iterator[Block]:
    """How the model saw each file."""
    rows = tuple(f"{receipt.label} ({receipt.name}) {delivery_line(receipt.record())}" for receipt in receipts)
    if rows:
        yield Rows("What the model saw", rows)


def _lines(message: Message) -> Iterator[str]:
    """The texts for people, and the calls."""
    for part in message.parts:
        match part:
            case Text(text, audience) if audience != "assistant":
                yield text
            case Json(text):
                yield text
            case ToolCall():
                yield f"→ {part.tool} {part.arguments[:MAX_ARGUMENTS]}"
            case _:
                pass


class _Pictures:
    """The files of a conversation, each once."""

    def __init__(self, conversation: DisplayedConversation) -> None:
        self.conversation = conversation
        self.shown: set[int] = set()

    def show(self, number: int) -> Iterator[Picture]:
        """A file, if it hasn't been shown. A file for the model alone is kept from people, as on the page."""
        file = self.conversation.attachments.get(number)
        if file is None or number in self.shown or file.audience == "assistant":
            return
        self.shown.add(number)
        caption = f"{file.label}: {file.name}, {describe_origin(file)}"
        if file.problem is not None or file.facts is None:
            yield Picture(f"{caption} ({file.problem})" if file.problem else caption)
        else:
            yield Picture(caption, partial(thumbnail, self.conversation.blobs, file.facts))


def thumbnail(blobs: Blobs, facts: Facts) -> tuple[str, bytes]:
    """The media type and bytes of a small picture; both are empty if there is none. Raises nothing for a bad file."""
    if not is_visual(facts):
        return NO_PICTURE
    try:
        with blobs.local(facts) as path, tempfile.TemporaryDirectory(prefix="showandtell-") as folder:
            (drawn, *_) = gate.make(path, facts.media_type, "thumbnail", Path(folder)).files
            if drawn.stat().st_size > MAX_PICTURE_BYTES:
                return NO_PICTURE
            return normalize_claim(f"image/{drawn.suffix[1:]}") or "", drawn.read_bytes()
    except (ShowAndTellError, OSError, ValueError):
        return NO_PICTURE
