"""Messages: a `Draft` as it is handed in, with files that are claims, and a `Message` as it is stored."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from msgspec import Struct

from showandtell.core.messages.file import File
from showandtell.core.messages.parts import Claimed, Json, Part, Shown, Text, ToolCall, is_approval

Role: TypeAlias = Literal["user", "assistant", "tool"]
#: Why a model's message ended; None for messages of others, and "cut" where the stream never said.
Stop: TypeAlias = Literal["end", "tool_calls", "length", "refusal", "cut", "cancelled", "limit", "error"]
#: So many files are shown again for the words of one message.
MOST_RECALLED = 20


class Reference(Struct, frozen=True):
    """What a person's words point at: `words` as they stand in the text, and the `numbers` of the files they mean.

    Where that isn't clear `numbers` is empty, and `readings` holds each thing that they may mean.
    """

    words: str
    numbers: tuple[int, ...]
    readings: tuple[tuple[int, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class Draft:
    """A message before ingest, as a person, a tool or another library's history hands it in: its files are claims."""

    role: Role
    parts: tuple[Claimed, ...] = ()
    call_id: str | None = None
    tool: str | None = None
    is_error: bool = False
    stop: Stop | None = None

    @property
    def claims(self) -> tuple[File, ...]:
        """The files that are still claims, in order, those inside JSON included."""
        found: list[File] = []
        for part in self.parts:
            if isinstance(part, File):
                found.append(part)
            elif isinstance(part, Json):
                found += [file for _, file in part.files if isinstance(file, File)]
        return tuple(found)


class Lead(Struct, frozen=True):
    """The message behind which a branch begins; None: before the first one."""

    message_id: str | None


class History(list[Draft]):
    """A conversation before ingest: its messages in order, and its instructions (empty if none).

    Where it has branches, `parents` gives the index of the message before each (None: there is none), and `head` that
    of the last message of the branch that is talked on.
    """

    instructions: str

    def __init__(
        self,
        drafts: Iterable[Draft] = (),
        instructions: str = "",
        parents: Sequence[int | None] | None = None,
        head: int | None = None,
    ) -> None:
        super().__init__(drafts)
        self.instructions = instructions
        self.parents = parents
        self.head = head


class Message(Struct, frozen=True):
    """One stored message. `tool`, `call_id` and `is_error` belong to role tool, `stop` to role assistant.

    `parent_id` is the message before it, None for the first: two with one parent begin two branches. `references`
    say what its words point at.
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

    @property
    def text(self) -> str:
        """The words of this message, joined."""
        return "".join(part.text for part in self.parts if isinstance(part, Text))

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        """The tool calls of this message, in the model's order."""
        return tuple(part for part in self.parts if isinstance(part, ToolCall))

    @property
    def showings(self) -> tuple[Shown, ...]:
        """Every file of this message in order, those inside JSON included."""
        found: list[Shown] = []
        for part in self.parts:
            if isinstance(part, Shown):
                found.append(part)
            elif isinstance(part, Json):
                found += [file for _, file in part.files]
        return tuple(found)

    @property
    def recalled(self) -> tuple[int, ...]:
        """The files that its words point at and that it doesn't bring itself, each once, in order; at most 20."""
        meant = [number for one in self.references for some in (one.numbers, *one.readings) for number in some]
        own = {shown.number for shown in self.showings} if meant else set[int]()
        return tuple(number for number in dict.fromkeys(meant) if number not in own)[:MOST_RECALLED]


def begins_turn(message: Message | Draft) -> bool:
    """Whether a person says something here: words or files, and not only yes or no to calls that wait."""
    return message.role == "user" and not is_approval(message.parts)
