"""A `File` is a claim: what somebody hands in, with what it is said to be.

It becomes a `Shown` by being stored and proved, and only a `Shown` can stand in a message.
"""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from pkgutil import resolve_name
from typing import Any, BinaryIO
from urllib.parse import urlsplit

from showandtell.errors import BadFile

#: What opens paths: it lies outside of `core`, which does no I/O, and is loaded when a path is opened.
PATHS = "showandtell.storage.files.paths:"


URI_SCHEMES = frozenset({"https", "gs", "s3", "openai", "anthropic", "google", "xai", "mistral"})


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
        inside: Path = resolve_name(f"{PATHS}resolve_within")(path, folder)
        return cls(inside, media_type, name or inside.name, within=folder)

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
                return resolve_name(f"{PATHS}open_regular")(path, self.within)
            case Reader() as reader:
                return reader.open()
            case Uri() as uri:
                raise BadFile(self.name or uri.value, "is an address, its bytes are not here", "download it first")

    def read(self) -> bytes:
        """All bytes at once."""
        with self.open() as stream:
            return stream.read()
