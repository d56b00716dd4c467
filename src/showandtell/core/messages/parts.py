"""Parts: the typed content of messages.

Parts are values: equal by content, hashable, and without bytes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Generic, Literal, TypeAlias, TypeGuard

from msgspec import Struct
from msgspec.structs import force_setattr
from typing_extensions import TypeVar

from showandtell.checking.checked import Checked
from showandtell.core.messages.file import Audience, File


class Selection(Struct, frozen=True, gc=False):
    """A part of a file: `pages` from 1, `crop` as left, top, right, bottom in pixels of the original."""

    pages: tuple[int, ...] | None = None
    crop: tuple[int, int, int, int] | None = None


class Shown(Checked, Struct, frozen=True, gc=False, tag="file"):
    """A stored file at one place in the conversation.

    >>> from showandtell import Agent, builtin_tools
    >>> from showandtell.samples import folder
    >>> run = Agent("inspector", builtin_tools(folder())).run_sync("/read_file path=kiwi.jpg")
    >>> [part.number for part in run.messages[2].parts]
    [1]
    """

    number: int
    attachment_id: str
    view: Selection | None = None


class Text(Checked, Struct, frozen=True, gc=False, tag="text"):
    """Text, and who may read it.

    >>> from showandtell import Text
    >>> Text("for the user alone", audience="user").audience
    'user'
    """

    text: str
    audience: Audience | Literal["model"] = "both"

    def __post_init__(self) -> None:
        Checked.__post_init__(self)
        if self.audience == "model":  # what conversations stored by 0.1 say
            force_setattr(self, "audience", "assistant")


def unfetched(name: str, address: str, problem: str = "") -> str:
    """The text in place of a file whose address is not opened, with the problem if there was one."""
    return f"{name} (not fetched{', ' + problem if problem else ''}): {address}"


#: A file in a JSON value: a stored file, or before ingest possibly a claim.
FileT = TypeVar("FileT", default=File | Shown)


class Json(Checked, Struct, Generic[FileT], frozen=True, tag="json"):
    """A JSON value as text. It has null in place of files; `files` maps JSON pointers to files.

    In a stored message every file is a `Shown`; a `File` only occurs before ingest.

    >>> from showandtell import Json
    >>> Json('{"points": 3}').files
    ()
    """

    text: str
    files: tuple[tuple[str, FileT], ...] = ()


def is_scalar(part: object) -> TypeGuard[Json]:
    """Whether a part is JSON without structure: a number, true or false."""
    return isinstance(part, Json) and part.text[:1] in {*"-0123456789tf"}


class Opaque(Checked, Struct, frozen=True, gc=False, tag="opaque", forbid_unknown_fields=True, omit_defaults=True):
    """Opaque data to return to a provider: signatures, reasoning. Left out for others, and at another base URL.

    >>> from showandtell import Opaque
    >>> Opaque("anthropic", "a signature").provider
    'anthropic'

    Args:
        base_url: where it came from; empty if that isn't known, so that it goes back by the provider's name alone.
    """

    provider: str
    text: str
    base_url: str = ""


#: What a provider's own tool does: it runs, has finished or failed, or waits for a person or program.
HostedState: TypeAlias = Literal["running", "done", "error", "waiting"]


class HostedBlock(Checked, Struct, Generic[FileT], frozen=True, tag="hosted", omit_defaults=True):
    """A block of a tool that the provider runs itself, or a block of a type that this version doesn't know.

    It goes back to its provider unchanged and in its place; other providers get a line of words. `block` is its JSON
    text, with null in place of files, which `files` maps from JSON pointers. Blocks of one call share a `call_id`.
    `tool` is the provider's name of the tool, or the type of an unknown block. `input` and `output` are JSON texts for
    people and other providers, cut if they are long, and empty if the block has none. `base_url` is as in `Opaque`.

    >>> from showandtell.hosted import HostedBlock
    >>> HostedBlock("openai", '{"type": "web_search_call"}', "ws_1", "web_search", input='{"query": "kiwi"}').tool
    'web_search'
    """

    provider: str
    block: str
    call_id: str
    tool: str
    input: str = ""
    output: str = ""
    state: HostedState = "done"
    files: tuple[tuple[str, FileT], ...] = ()
    base_url: str = ""


class Source(Checked, Struct, frozen=True, gc=False, tag="source", omit_defaults=True):
    """Where the text before it comes from: an address, or a file of this conversation by number.

    Only people see it; the provider gets its own citation back.

    >>> from showandtell.hosted import Source
    >>> Source("Kiwi", "https://kiwi.example", quote="a green fruit").url
    'https://kiwi.example'

    Args:
        start: where the words begin that it supports, in characters of the text.
        end: where they end.
        quote: the words of the source.
        page: from 1.
        seconds: the place in a recording.
        name: the file's name at the provider, if it isn't one of this conversation.
    """

    title: str = ""
    url: str = ""
    number: int | None = None
    quote: str = ""
    start: int | None = None
    end: int | None = None
    page: int | None = None
    seconds: float | None = None
    name: str = ""


class ToolCall(Checked, Struct, frozen=True, gc=False, tag="tool_call"):
    """A model's request to run a tool. `arguments` is the model's own text, which may be invalid JSON.

    >>> from showandtell import ToolCall
    >>> ToolCall("call_1", "photo", '{"name": "kiwi"}').tool
    'photo'
    """

    call_id: str
    tool: str
    arguments: str
    opaque: Opaque | None = None


class Approval(Struct, frozen=True, gc=False, tag="approval", forbid_unknown_fields=True):
    """A user's decision about a pending call."""

    call_id: str
    approved: bool
    reason: str = ""


class Summary(Struct, frozen=True, gc=False, tag="summary", forbid_unknown_fields=True):
    """What requests hold in place of earlier messages: a summary of them; without text, a note.

    `replaces` are ranges of positions in its branch, from 0: each up to, and without, its second number.
    """

    text: str
    replaces: tuple[tuple[int, int], ...]

    @property
    def count(self) -> int:
        """The number of messages that it stands for."""
        return sum(stop - start for start, stop in self.replaces)


class Correction(Struct, frozen=True, gc=False, tag="correction", forbid_unknown_fields=True):
    """Why the model's last answer was not accepted: the program's text, for the model."""

    text: str


#: The parts of a stored message.
Part: TypeAlias = (
    Text | Json[Shown] | Shown | ToolCall | Opaque | HostedBlock[Shown] | Source | Approval | Correction | Summary
)
#: The parts of a draft: its files may be claims.
DraftPart: TypeAlias = Part | Json | HostedBlock | File


def is_approval(parts: Sequence[DraftPart]) -> bool:
    """Whether a message with these parts only decides about pending calls, so that it doesn't start a turn."""
    return bool(parts) and all(isinstance(part, Approval) for part in parts)


def is_note(parts: Sequence[DraftPart]) -> bool:
    """Whether a message with these parts is the program's note to the model, so that it doesn't start a turn."""
    return bool(parts) and all(isinstance(part, Correction | Summary) for part in parts)


def is_summary(parts: Sequence[DraftPart]) -> bool:
    """Whether a message with these parts stands for earlier messages."""
    return bool(parts) and all(isinstance(part, Summary) for part in parts)


def is_for_user(part: DraftPart) -> TypeGuard[Text]:
    """Whether a part is text for the user alone."""
    return isinstance(part, Text) and part.audience == "user"


def is_for_people(part: DraftPart) -> TypeGuard[Text]:
    """Whether a part is text that the user may read."""
    return isinstance(part, Text) and part.audience != "assistant"
