"""A `File` is a claim: a file as the program provides it, with its declared type and name.

Once it is stored and probed, it becomes a `Shown`. Stored messages only hold `Shown`.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from pkgutil import resolve_name
from typing import Any, BinaryIO, ClassVar, Literal, TypeAlias, TypedDict
from urllib.parse import urlsplit

from showandtell.checking.checked import Checked, checked
from showandtell.core.display.displayed import Displayed
from showandtell.core.display.layout import Block
from showandtell.core.messages.metadata import check_id, dump_metadata, load_metadata
from showandtell.errors import BadFile, BadInput

#: The module that opens paths. It is outside of `core`, which does no I/O, and is loaded when a path is opened.
PATHS = "showandtell.storage.files.paths:"
#: Makes the picture of a file, outside of `core`, too.
DISPLAY = "showandtell.storage.files.display:file_blocks"


#: What the schema of a tool's parameter for a file says.
FILE_NUMBER = "the number of a file of this conversation"

#: Who may see a file or read a text, in MCP's words: the user, the assistant (the model), or both.
Audience: TypeAlias = Literal["both", "user", "assistant"]

#: A program's own data about a file.
Metadata: TypeAlias = Mapping[str, object] | None

#: The fields that describe a file and go wherever it goes. The others are its bytes, and its place in a conversation.
DETAILS = (
    "media_type",
    "name",
    "description",
    "id",
    "audience",
    "shared_by",
    "in_context",
    "metadata",
    "convert",
)

URI_SCHEMES = frozenset({"https", "http", "gs", "s3", "openai", "anthropic", "google", "xai", "mistral"})


@dataclass(frozen=True, slots=True)
class Uri:
    """An address that a provider opens itself: https, http, gs, s3, or `provider:file_id`."""

    value: str


@dataclass(frozen=True, slots=True)
class Reader:
    """Bytes that are opened once, when the message is sent; `size` is their exact number, None if it isn't known.

    With `is_stored` they were counted here; else the size is the program's word.
    """

    open: Callable[[], BinaryIO]
    size: int | None
    is_stored: bool = field(default=False, compare=False)


@dataclass(frozen=True, slots=True)
class EncodedText:
    """Opens text that this program has encoded itself: it is UTF-8 by construction, so nobody needs to probe it."""

    data: bytes

    def __call__(self) -> BinaryIO:
        """Open the bytes."""
        return io.BytesIO(self.data)


class Details(TypedDict):
    """What every constructor of a file takes."""

    description: str | None
    audience: Audience
    id: str | None
    metadata: Metadata
    convert: bool


@checked
@dataclass(frozen=True, slots=True)
class File(Checked, Displayed):
    """A file as the program provides it. Its type is declared, and verified once the file is stored.

    >>> from showandtell import File
    >>> file = File.from_bytes(b"a,b", "text/csv", "table.csv")
    >>> file.name, file.media_type
    ('table.csv', 'text/csv')

    Args:
        description: words about it for the model, on one line.
        audience: "user" keeps the bytes, name and description from the model; "assistant" keeps the file out of the
            page.
        id: the program's own id. It is stored and never sent.
        metadata: the program's own JSON, of at most 32,000 characters. It is stored and never sent.
        convert: False sends the file to a model as it is or not at all.
        within: the folder that a path may not leave, checked now and when it is opened.
        in_context: False keeps the content out of requests: the model gets the name, and reads it with `get_document`.
        number: only for files of an existing conversation.
        date: a day in ISO 8601, only for files of an existing conversation.
        upload_id: only for files that were uploaded before their message.
        shared_by: only for files from another person's conversation: that person's name.
        made_by: only for files that a tool of the provider made: its name and the id of the call.
        lifted: only for files for the user alone that their owner has shown to the model, for one message.
    """

    WANTED: ClassVar = "a File: make one with File.from_path or File.from_bytes"

    source: bytes | Path | Uri | Reader
    media_type: str | None = None
    name: str | None = None
    description: str | None = None
    number: int | None = None
    within: Path | None = None
    date: str | None = None
    id: str | None = None
    audience: Audience = "both"
    shared_by: str | None = None
    in_context: bool = True
    metadata: Metadata = field(default=None, hash=False)
    convert: bool = True
    upload_id: str | None = None
    made_by: tuple[str, str] | None = None
    lifted: bool = False

    def __post_init__(self) -> None:
        Checked.__post_init__(self)
        if self.id is not None:
            check_id(self.id)
        if self.metadata is not None:
            copied = load_metadata(dump_metadata(self.metadata))
            if not isinstance(copied, dict):
                raise BadInput(f"metadata of a file is a dict, not {type(self.metadata).__name__}")
            object.__setattr__(self, "metadata", copied)

    def __repr__(self) -> str:
        """The name, type and number, without the bytes."""
        known = (self.name, self.media_type, None if self.number is None else f"number {self.number}")
        size = f"{len(self.source):,} bytes" if isinstance(self.source, bytes) else None
        return f"<File {', '.join(one for one in (*known, size) if one) or 'without a name'}>"

    @classmethod
    def from_bytes(
        cls,
        data: bytes,
        media_type: str | None = None,
        name: str | None = None,
        description: str | None = None,
        *,
        audience: Audience = "both",
        id: str | None = None,  # noqa: A002 - it is one
        metadata: Metadata = None,
        convert: bool = True,
    ) -> File:
        """Create a file from bytes. Without a `media_type`, their signature decides the type."""
        details = Details(description=description, audience=audience, id=id, metadata=metadata, convert=convert)
        return cls(bytes(data), media_type, name, **details)

    @classmethod
    def from_path(
        cls,
        path: str | Path,
        media_type: str | None = None,
        name: str | None = None,
        *,
        within: str | Path | None = None,
        description: str | None = None,
        audience: Audience = "both",
        id: str | None = None,  # noqa: A002 - it is one
        metadata: Metadata = None,
        convert: bool = True,
    ) -> File:
        """Create a file from a path, which is read when the message is sent.

        Raises `BadFile` if the path leaves the folder `within`. Symlinks are followed before the check, and the check
        is repeated when the file is opened. Pipes and devices are rejected then.
        """
        path = Path(path)
        details = Details(description=description, audience=audience, id=id, metadata=metadata, convert=convert)
        if within is None:
            return cls(path, media_type, name or path.name, **details)
        folder = Path(within).resolve()
        inside: Path = resolve_name(f"{PATHS}resolve_within")(path, folder)
        return cls(inside, media_type, name or inside.name, within=folder, **details)

    @classmethod
    def from_uri(
        cls,
        uri: str,
        media_type: str | None = None,
        name: str | None = None,
        description: str | None = None,
        *,
        audience: Audience = "both",
        id: str | None = None,  # noqa: A002 - it is one
        metadata: Metadata = None,
        convert: bool = True,
    ) -> File:
        """Create a file that the provider opens: `https:`, `gs:`, `s3:`, or a provider's file id as `openai:file-abc`.

        `https:`, `http:` and `gs:` are fetched here instead if the provider doesn't open them and `FetchPolicy` allows
        it. Only for the program's own code: an address in a value of a model, a tool or a client never becomes one.
        """
        try:
            parts = urlsplit(uri)
        except ValueError as error:
            raise BadFile(uri[:80], f"is not a valid URI ({error})", "check its syntax") from None
        if parts.scheme not in URI_SCHEMES:
            raise BadFile(uri[:80], f"has the scheme {parts.scheme!r}", f"use one of {', '.join(sorted(URI_SCHEMES))}")
        details = Details(description=description, audience=audience, id=id, metadata=metadata, convert=convert)
        return cls(Uri(uri), media_type, name or Path(parts.path).name or uri, **details)

    @classmethod
    def from_reader(
        cls,
        open: Callable[[], BinaryIO],  # noqa: A002 - it is what it does
        size: int | None,
        media_type: str,
        name: str | None = None,
        *,
        description: str | None = None,
        audience: Audience = "both",
        id: str | None = None,  # noqa: A002 - it is one
        metadata: Metadata = None,
        convert: bool = True,
    ) -> File:
        """Create a file of `size` bytes (None: unknown) from what `open()` returns.

        It is called once, when the message is sent.
        """
        details = Details(description=description, audience=audience, id=id, metadata=metadata, convert=convert)
        return cls(Reader(open, size), media_type, name, **details)

    @classmethod
    def __get_pydantic_core_schema__(cls, source: object, handler: object) -> Any:
        """As a tool's parameter, a `File` is a number for the model; the tool gets the file with that number."""
        from pydantic_core import core_schema  # noqa: PLC0415 - only pydantic calls this, so it is installed

        def by_number(number: int, info: Any) -> File:
            return info.context["file"](number)

        number = core_schema.with_info_after_validator_function(by_number, core_schema.int_schema(ge=1))
        number["metadata"] = {"pydantic_js_updates": {"description": FILE_NUMBER}}

        def accept_file(value: Any, validate: Any) -> Any:
            return value if isinstance(value, cls) else validate(value)

        file_or_number = core_schema.no_info_wrap_validator_function(accept_file, number)
        return core_schema.json_or_python_schema(json_schema=number, python_schema=file_or_number)

    def _blocks(self) -> Iterable[Block]:
        return resolve_name(DISPLAY)(self)

    def open(self) -> BinaryIO:
        """Open the bytes for reading. Raises `BadFile` for a URI, and for a path that isn't a file in its folder."""
        match self.source:
            case bytes() as data:
                return io.BytesIO(data)
            case Path() as path:
                return resolve_name(f"{PATHS}open_regular")(path, self.within)
            case Reader() as reader:
                return reader.open()
            case Uri() as uri:
                raise BadFile(self.name or uri.value, "is an address, its bytes are not here", "download it first")

    @property
    def size(self) -> int | None:
        """The number of bytes; None for a reader of the program's own and for an address, which tell it later.

        Raises `BadFile` for a path that isn't a file in its folder.
        """
        match self.source:
            case bytes() as data:
                return len(data)
            case Path() as path:
                return resolve_name(f"{PATHS}size_of")(path, self.within)
            case Reader(size=size, is_stored=is_stored):
                return size if is_stored else None
            case Uri():
                return None

    def save(self, path: str | Path) -> Path:
        """Write the bytes to a file, or into a folder under the file's name, and return where they are.

        A file that exists is replaced once all bytes are written. Raises `BadFile` for an address, and `BadInput` if
        the path can't be written.
        """
        return resolve_name(f"{PATHS}save")(self, Path(path))

    def read(self) -> bytes:
        """Return all bytes."""
        with self.open() as stream:
            return stream.read()


def details_of(holder: object) -> dict[str, Any]:
    """The fields of `DETAILS` by name, of a file or of anything with the same fields."""
    return {name: getattr(holder, name) for name in DETAILS}


def missing_file(problem: str, media_type: str, name: str | None = None) -> File:
    """A file of a model's answer without bytes. It gets a number, and everybody sees the problem."""
    error = BadFile(name or "the file", problem, "ask the model to make it again")

    def fail() -> BinaryIO:
        raise error

    return File(Reader(fail, 0), media_type, name)
