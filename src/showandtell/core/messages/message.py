"""Messages: a `Draft` whose files are claims, and a `Message` as it is stored."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Annotated, Any, Literal, TypeAlias

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from showandtell.checking.checked import Checked, checked
from showandtell.checking.shown import Wanted
from showandtell.core.messages.conversation_settings import ConversationSettings
from showandtell.core.messages.file import File
from showandtell.core.messages.metadata import load_metadata
from showandtell.core.messages.parts import (
    DraftPart,
    HostedBlock,
    Json,
    Part,
    Shown,
    Source,
    Text,
    ToolCall,
    is_approval,
    is_for_user,
    is_note,
    is_scalar,
)
from showandtell.errors import BadInput

Role: TypeAlias = Literal["user", "assistant", "tool"]
#: Why a model's message ended; None for other messages, "cut" if the stream ended without a reason or with an unknown
#: one, and "pause" if the provider only interrupted it and wants to be asked again.
Stop: TypeAlias = Literal["end", "tool_calls", "pause", "length", "refusal", "cut", "cancelled", "limit", "error"]
#: What a program gives for the parts of a draft.
A_PART = Wanted("a part: wrap text in Text, and bytes in File.from_bytes")
PARTS = Wanted("a tuple of parts, as (Text('hello'),)")
#: Maximum number of files that are shown again because one message refers to them.
MAX_RECALLED = 20


class Reference(Struct, frozen=True, gc=False):
    """A reference to files in a user's text: the exact `words`, and the `numbers` of the files.

    If it is ambiguous, `numbers` is empty, and `readings` holds each possible meaning. `missing` are numbers in the
    text that no file has.
    """

    words: str
    numbers: tuple[int, ...]
    readings: tuple[tuple[int, ...], ...] = ()
    missing: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Draft(Checked):
    """A message before ingest, from a user, a tool or another library's history: its files are claims.

    >>> from showandtell import Draft, File, Text
    >>> draft = Draft("user", (Text("What is this?"), File.from_bytes(b"a,b", "text/csv", "table.csv")))
    >>> [file.name for file in draft.claims]
    ['table.csv']

    Args:
        metadata: the program's own JSON, such as that of a `ToolResult`. It is stored, and no model sees it.

    Raises:
        BadInput: a field of another type, such as text that isn't wrapped in `Text`.
    """

    role: Role
    parts: Annotated[tuple[Annotated[DraftPart, A_PART], ...], PARTS] = ()
    call_id: str | None = None
    tool: str | None = None
    is_error: bool = False
    stop: Stop | None = None
    author: str | None = None
    metadata: object = field(default=None, hash=False)

    def __post_init__(self) -> None:
        if self.role in ("system", "developer"):  # pyright: ignore[reportUnnecessaryContains] - programs try them
            raise BadInput(f"role is {self.role!r}: pass its text as instructions=")
        Checked.__post_init__(self)

    @property
    def text(self) -> str:
        """The text parts of this message, joined."""
        return join_texts(self.parts)

    @property
    def claims(self) -> tuple[File, ...]:
        """The files that are still claims, in order, those inside JSON included."""
        files: list[File] = []
        for part in self.parts:
            if isinstance(part, File):
                files.append(part)
            elif isinstance(part, Json | HostedBlock):
                files += [file for _, file in part.files if isinstance(file, File)]
        return tuple(files)


class BranchPoint(Struct, frozen=True):
    """The message after which a branch starts; None: before the first one."""

    message_id: str | None


#: A moment with its time zone.
Moment = Annotated[datetime, Meta(tz=True)]


class Details(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """What a list of conversations shows of one, and its settings. All but `title` and times are its owner's."""

    title: str = ""
    created: Moment | None = None
    changed: Moment | None = None
    pinned: bool = False
    archived: bool = False
    tags: tuple[str, ...] = ()
    settings: ConversationSettings | None = None


@checked
class History(list[Draft]):
    """A conversation before ingest: its messages in order, and its instructions (empty if none).

    If it has branches, `parents` has the index of each message's parent (None: no parent), and `head` is the index of
    the last message of the current branch. `details` are those of an exported conversation.

    >>> from showandtell import Draft, History, Text
    >>> history = History([Draft("user", (Text("hello"),))], instructions="Be brief.")
    >>> len(history), history.instructions
    (1, 'Be brief.')
    """

    instructions: str

    def __init__(
        self,
        drafts: Iterable[Draft] = (),
        instructions: str = "",
        parents: Sequence[int | None] | None = None,
        head: int | None = None,
        details: Details | None = None,
    ) -> None:
        super().__init__(drafts)
        self.instructions = instructions
        self.parents = parents
        self.head = head
        self.details = details


class Message(Checked, Struct, frozen=True, gc=False):
    """One stored message. `tool`, `call_id` and `is_error` belong to role tool, `stop` to role assistant.

    >>> from showandtell import Agent
    >>> run = Agent("inspector").run_sync("hello")
    >>> [message.role for message in run.messages]
    ['user', 'assistant']
    >>> run.messages[0].text
    'hello'

    Args:
        parent_id: the message before it; None for the first. Two messages with the same parent start two branches.
        references: the files that its text refers to.
        author: the display name of the person who wrote it, in a conversation of several people. Records omit it
            otherwise.
    """

    id: str
    role: Role
    parts: tuple[Part, ...] = ()
    call_id: str | None = None
    tool: str | None = None
    is_error: bool = False
    stop: Stop | None = None
    parent_id: str | None = None
    references: tuple[Reference, ...] = ()
    author: str | UnsetType = UNSET
    metadata_json: str | UnsetType = msgspec.field(default=UNSET, name="metadata")

    @property
    def metadata(self) -> Any:
        """The metadata of a tool's result, `ToolResult(metadata=)`. None if it has none, or none that is JSON."""
        return load_metadata(self.metadata_json)

    @property
    def text(self) -> str:
        """The text parts of this message, joined."""
        return join_texts(self.parts)

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        """The tool calls of this message, in the model's order."""
        return tuple(part for part in self.parts if isinstance(part, ToolCall))

    @property
    def waiting(self) -> tuple[ToolCall, ...]:
        """Calls of the provider's own tools that wait for a person's approval."""
        blocks = [part for part in self.parts if isinstance(part, HostedBlock) and part.state == "waiting"]
        return tuple(ToolCall(part.call_id, part.tool, part.input or "{}") for part in blocks)

    @property
    def sources(self) -> tuple[Source, ...]:
        """Where the texts of this message come from, in order."""
        return tuple(part for part in self.parts if isinstance(part, Source))

    @property
    def showings(self) -> tuple[Shown, ...]:
        """Every file of this message in order, those inside JSON included."""
        files: list[Shown] = []
        for part in self.parts:
            if isinstance(part, Shown):
                files.append(part)
            elif isinstance(part, Json | HostedBlock):
                files += [file for _, file in part.files]
        return tuple(files)

    @property
    def recalled(self) -> tuple[int, ...]:
        """Numbers of the files that its text refers to and that it doesn't hold itself, without repeats; at most 20.

        Ambiguous references recall no file.
        """
        numbers = [number for reference in self.references for number in reference.numbers]
        if not numbers:
            return ()
        own = {shown.number for shown in self.showings}
        return tuple(number for number in dict.fromkeys(numbers) if number not in own)[:MAX_RECALLED]


def without_user_texts(message: Message) -> Message:
    """The message as people other than the owner of its conversation see it: without texts for the user alone."""
    parts = tuple(part for part in message.parts if not is_for_user(part))
    return message if len(parts) == len(message.parts) else msgspec.structs.replace(message, parts=parts)


def join_texts(parts: Iterable[object]) -> str:
    """The texts among the parts of a message. A number that a tool returned is one, too."""
    return "".join(part.text for part in parts if isinstance(part, Text) or is_scalar(part))


def starts_turn(message: Message | Draft) -> bool:
    """Whether this is a user's message with text or files, not only approvals of pending calls, or a note."""
    return message.role == "user" and not is_approval(message.parts) and not is_note(message.parts)


def last_text(messages: Sequence[Message]) -> str:
    """The text of the newest answer, with the paused messages that it continues; empty if there is none."""
    texts: list[str] = []
    for message in reversed(messages):
        if message.role == "assistant" and (not texts or message.stop == "pause"):
            texts.append(message.text)
        elif texts:
            break
    return "".join(reversed(texts))
