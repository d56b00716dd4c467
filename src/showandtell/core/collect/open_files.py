"""Open files, binary or text, and uploads of web frameworks. Nothing is opened here: what a tool has opened is read."""

from __future__ import annotations

import inspect
import io
import re
from contextlib import suppress
from pathlib import PurePath
from typing import Any, cast

from showandtell.core.collect.pointer_errors import PointerError
from showandtell.core.collect.surrogates import join_surrogates
from showandtell.core.messages.file import File

#: Maximum bytes or characters that are read, however large a file says it is. Storing has a limit of its own.
MAX_READ, CHUNK = 100_000_000, 1_000_000
NAMES = ("name", "filename")
CLOSED = "a file that is closed already; return it open, without `with`, or File.from_path(path)"
ASYNC = "an async file; return what `await file.read()` gives, or File.from_path(path)"


def is_open_file(kind: type[object]) -> bool:
    """Whether objects of a class are files of `io`, or can be read and rewound like them."""
    return issubclass(kind, io.IOBase) or (hasattr(kind, "read") and hasattr(kind, "seek"))


def read_open_file(stream: Any) -> tuple[object, ...]:
    """All of an open file: a file if it has a name or a type, else its bytes or its text.

    A file of the standard library is closed then, because the tool that returned it can't. Buffers in memory and
    uploads stay open. Raises `PointerError` for files that can't be read.
    """
    content = read_content(stream)
    name = next((name for key in NAMES if (name := base_name(attribute(stream, key)))), None)
    media_type = attribute(stream, "content_type")
    media_type = media_type if isinstance(media_type, str) and media_type else None
    if name is None and media_type is None:
        return (content,)
    return (File(join_surrogates(content).encode() if isinstance(content, str) else content, media_type, name),)


def read_content(stream: Any) -> bytes | str:
    """All bytes or all text of an open file."""
    if inspect.iscoroutinefunction(attribute(stream, "read")):
        stream = attribute(stream, "file")  # as an upload of Starlette has it
        if not is_open_file(cast("type[object]", type(stream))):
            raise PointerError(ASYNC)
        return read_bounded(stream)
    try:
        return read_bounded(stream)
    finally:
        if is_closed_here(stream):
            with suppress(Exception):
                stream.close()


def is_closed_here(stream: object) -> bool:
    """Whether a file is one of the standard library that isn't in memory."""
    is_file = isinstance(stream, io.IOBase) or type(stream).__module__ == "tempfile"
    return is_file and not isinstance(stream, io.BytesIO | io.StringIO)


def read_bounded(stream: Any) -> bytes | str:
    """An open file from its start, or from where it is if it can't go back. Raises `PointerError`."""
    if attribute(stream, "closed") is True:
        raise PointerError(CLOSED)
    chunks: list[Any] = []
    size = 0
    try:
        rewind(stream)
        while size <= MAX_READ and (chunk := read_chunk(stream)):
            chunks.append(chunk)
            size += len(chunk)
        content = "".join(chunks) if chunks and isinstance(chunks[0], str) else b"".join(chunks)
    except Exception as error:
        raise PointerError(f"an open file that can't be read ({type(error).__name__}); return its bytes") from error
    if size > MAX_READ:
        raise PointerError(f"an open file of more than {MAX_READ:,} bytes; return File.from_path(path)")
    return content


def read_chunk(stream: Any) -> bytes | bytearray | str:
    """The next bytes or characters; empty at the end."""
    chunk: object = stream.read(CHUNK)
    if isinstance(chunk, bytes | bytearray | str):
        return chunk
    raise TypeError(type(chunk))


def rewind(stream: Any) -> None:
    """Go to the start of a file, unless it is a pipe or the like."""
    seekable = attribute(stream, "seekable")
    if not callable(seekable) or seekable():
        stream.seek(0)


def attribute(value: object, name: str) -> Any:
    """An attribute of an object. None if it has none, or raises another error."""
    try:
        return getattr(value, name, None)
    except Exception:  # noqa: BLE001 - a property may raise anything
        return None


def base_name(path: object) -> str | None:
    """The last segment of a path. None for the number of a file, and for names such as "<stdin>"."""
    text = path.decode(errors="replace") if isinstance(path, bytes) else path
    last = re.split(r"[/\\]", str(text))[-1] if isinstance(text, str | PurePath) else ""
    return None if last.startswith("<") else last or None
