"""What people, tools and models say: a `File` is a claim, parts are typed pieces of content, a message holds parts.

Parts are values: equal by content, hashable, and without bytes. A `File` becomes a `Shown` by being ingested, and only
a `Shown` can stand in a message.
"""

from __future__ import annotations

import io
import os
import secrets
import stat
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Generic, Literal, TypeAlias
from urllib.parse import urlsplit

from msgspec import Struct
from typing_extensions import TypeVar

from showandtell.errors import BadFile

Role: TypeAlias = Literal["user", "assistant", "tool"]
Audience: TypeAlias = Literal["both", "model", "user"]
#: Why a model's message ended; None for messages of others, and "cut" where the stream never said.
Stop: TypeAlias = Literal["end", "tool_calls", "length", "refusal", "cut", "cancelled", "limit", "error"]
By: TypeAlias = Literal["user", "tool", "assistant", "url", "mcp"]

#: So many files are shown again for the words of one message.
MOST_RECALLED = 20
URI_SCHEMES = frozenset({"https", "gs", "s3", "openai", "anthropic", "google", "xai", "mistral"})


def new_id(prefix: str) -> str:
    """A random id of 132 bits."""
    return f"{prefix}_{secrets.token_urlsafe(17)[:22]}"


@dataclass(frozen=True, slots=True)
class Uri:
    """An address that a provider opens itself: https, gs, s3, or `provider:file_id`."""

    value: str


@dataclass(frozen=True, slots=True)
class Reader:
    """Bytes that are opened once, when the message is sent; `size` is what they must come to."""

    open: Callable[[], BinaryIO]
    size: int


@dataclass(frozen=True, slots=True)
class File:
    """A file that somebody hands in: what it is said to be, not yet what it has been proved to be.

    `number` and `date` (ISO 8601, a day) are given only where an existing conversation has them already, `id` where it
    was uploaded before its message; `within` is the folder that a path may not leave, now and when it is opened.
    """

    source: bytes | Path | Uri | Reader
    media_type: str | None = None
    name: str | None = None
    description: str | None = None
    number: int | None = None
    within: Path | None = None
    date: str | None = None
    id: str | None = None

    @classmethod
    def from_bytes(
        cls, data: bytes, media_type: str | None = None, name: str | None = None, description: str | None = None
    ) -> File:
        """Take bytes as they are; without a `media_type` their signature says what they are."""
        return cls(bytes(data), media_type, name, description)

    @classmethod
    def from_path(
        cls,
        path: str | Path,
        media_type: str | None = None,
        name: str | None = None,
        *,
        within: str | Path | None = None,
    ) -> File:
        """Take a file on disk, read when the message is sent. With `within`, a path that leaves that folder raises.

        Symlinks are followed before the check, so a link that points outside is outside; it is checked again when the
        file is opened. Pipes and devices are no files, and are refused then.
        """
        path = Path(path)
        if within is None:
            return cls(path, media_type, name or path.name)
        folder = Path(within).resolve()
        path = resolve_within(path, folder)
        return cls(path, media_type, name or path.name, within=folder)

    @classmethod
    def from_uri(
        cls, uri: str, media_type: str | None = None, name: str | None = None, description: str | None = None
    ) -> File:
        """Name a file for the provider to open: `https:`, `gs:`, `s3:`, or a provider's own as `openai:file-abc`.

        For the program's own code: nothing here fetches it, and what models and tools hand in never becomes one.
        """
        try:
            parts = urlsplit(uri)
        except ValueError as error:
            raise BadFile(uri[:80], f"is no address ({error})", "check how it is written") from None
        if parts.scheme not in URI_SCHEMES:
            raise BadFile(uri[:80], f"has the scheme {parts.scheme!r}", f"use one of {', '.join(sorted(URI_SCHEMES))}")
        return cls(Uri(uri), media_type, name or Path(parts.path).name or uri, description)

    @classmethod
    def from_reader(
        cls,
        open: Callable[[], BinaryIO],  # noqa: A002 - it is what it does
        size: int,
        media_type: str,
        name: str | None = None,
    ) -> File:
        """Take `size` bytes from what `open()` returns, called once, when the message is sent."""
        return cls(Reader(open, size), media_type, name)

    @classmethod
    def __get_pydantic_core_schema__(cls, source: object, handler: object) -> Any:
        """As a tool's parameter, a File is a number that the model says; the tool gets the file of that number."""
        from pydantic_core import core_schema  # noqa: PLC0415 - only pydantic calls this, so it is there

        def by_number(number: int, info: Any) -> File:
            return info.context["file"](number)

        number = core_schema.with_info_after_validator_function(by_number, core_schema.int_schema(ge=1))
        number["metadata"] = {"pydantic_js_updates": {"description": "the number of a file of this conversation"}}

        def as_it_is(value: Any, check: Any) -> Any:
            return value if isinstance(value, cls) else check(value)

        either = core_schema.no_info_wrap_validator_function(as_it_is, number)
        return core_schema.json_or_python_schema(json_schema=number, python_schema=either)

    def open(self) -> BinaryIO:
        """Open the bytes for reading. `BadFile` for an address, and for a path that is no file or left its folder."""
        match self.source:
            case bytes() as data:
                return io.BytesIO(data)
            case Path() as path:
                return open_regular(path, self.within)
            case Reader() as reader:
                return reader.open()
            case Uri() as uri:
                raise BadFile(self.name or uri.value, "is an address, its bytes are not here", "download it first")

    def read(self) -> bytes:
        """All bytes at once."""
        with self.open() as stream:
            return stream.read()


def resolve_within(path: Path, folder: Path) -> Path:
    """A path in a resolved folder, links followed; `BadFile` where it leads outside, or in a circle."""
    try:
        resolved = (folder / path).resolve()
    except RuntimeError:
        raise BadFile(path.name, "is a link that leads in a circle", "name a file inside its folder") from None
    if not resolved.is_relative_to(folder):
        raise outside(path)
    return resolved


def outside(path: Path) -> BadFile:
    """The error for a path that leaves its folder."""
    return BadFile(path.name, "is outside the folder it may come from", "name a file inside that folder")


def open_regular(path: Path, within: Path | None = None) -> BinaryIO:
    """Open a file on disk, never a pipe or a device, which might give bytes for ever or none at all."""
    if within is not None and resolve_within(path, within) != path:
        raise outside(path)
    # A pipe without a writer would block here.
    flags = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | (0 if within is None else os.O_NOFOLLOW)
    try:
        handle = os.open(path, flags)
    except ValueError:
        raise BadFile(ascii(path.name), "is no path", "check how it is written") from None
    try:
        check_opened(handle, path, within)
    except BaseException:
        os.close(handle)
        raise
    return os.fdopen(handle, "rb")


def check_opened(handle: int, path: Path, within: Path | None) -> None:
    """Refuse what is no file, and what lies outside: a folder on the way may be a link since its path was checked."""
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        raise BadFile(path.name, "is no regular file", "name a file, not a folder, pipe or device")
    if within is None:
        return
    with suppress(FileNotFoundError):  # there is no /proc
        if not Path(f"/proc/self/fd/{handle}").readlink().is_relative_to(within):
            raise outside(path)


class Selection(Struct, frozen=True):
    """A part of a file: `pages` from 1, `crop` as left, top, right, bottom in pixels of the original."""

    pages: tuple[int, ...] | None = None
    crop: tuple[int, int, int, int] | None = None


class Shown(Struct, frozen=True, tag="file"):
    """A stored file at one place in the conversation."""

    number: int
    attachment_id: str
    view: Selection | None = None


class Text(Struct, frozen=True, tag="text"):
    """Words, and who they are for."""

    text: str
    audience: Audience = "both"


#: What lies at a place of a JSON value: a stored file, and before ingest perhaps still a claim.
Held = TypeVar("Held", default=File | Shown)


class Json(Struct, Generic[Held], frozen=True, tag="json"):
    """A JSON value as text; where files lay in it, it holds null, and `files` names the place by JSON pointer.

    In a stored message every file is a `Shown`; a `File` is there only before ingest.
    """

    text: str
    files: tuple[tuple[str, Held], ...] = ()


class Opaque(Struct, frozen=True, tag="opaque", forbid_unknown_fields=True):
    """What a provider needs back from us, unread: signatures, reasoning items. Left out for every other provider."""

    provider: str
    text: str


class ToolCall(Struct, frozen=True, tag="tool_call"):
    """A model's wish to run a tool. `arguments` is the model's own text, which need not be valid JSON."""

    call_id: str
    tool: str
    arguments: str
    opaque: Opaque | None = None


class Approval(Struct, frozen=True, tag="approval", forbid_unknown_fields=True):
    """A person's yes or no to a call that waits for one."""

    call_id: str
    approved: bool
    reason: str = ""


#: What a stored message is made of.
Part: TypeAlias = Text | Json[Shown] | Shown | ToolCall | Opaque | Approval
#: What a draft is made of: its files may be claims.
Claimed: TypeAlias = Part | Json | File


class Reference(Struct, frozen=True):
    """What a person's words point at: `words` as they stand in the text, and the `numbers` of the files they mean.

    Where that isn't clear `numbers` is empty, and `readings` holds each thing that they may mean.
    """

    words: str
    numbers: tuple[int, ...]
    readings: tuple[tuple[int, ...], ...] = ()


def is_approval(parts: Sequence[Claimed]) -> bool:
    """Whether a message of these parts only says yes or no to calls that wait, and so is no turn of its own."""
    return bool(parts) and all(isinstance(part, Approval) for part in parts)


def begins_turn(message: Message | Draft) -> bool:
    """Whether a person says something here: words or files, and not only yes or no to calls that wait."""
    return message.role == "user" and not is_approval(message.parts)


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
