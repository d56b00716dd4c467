"""Blobs in a folder, each under its sha256. Bytes are spooled, hashed on the way, and renamed when they are whole."""

from __future__ import annotations

import hashlib
import io
import os
import shutil
import tempfile
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO

from showandtell.errors import BadFile, FileChanged
from showandtell.files import Facts

PIECE = 768 * 1024


class Folder:
    """A folder of blobs. Without a path it is a temporary one, removed when the folder is collected or Python ends."""

    def __init__(self, path: Path | None = None) -> None:
        if path is None:
            path = Path(tempfile.mkdtemp(prefix="showandtell-"))
            self._removed = weakref.finalize(self, shutil.rmtree, path, ignore_errors=True)
        self.path = path

    def blob(self, sha256: str) -> Path:
        """Where the blob of this hash lies."""
        return self.path / sha256[:2] / sha256

    def store(self, open_source: Callable[[], BinaryIO], name: str, most: int) -> tuple[str, int]:
        """Copy a source in; gives its sha256 and size. More than `most` bytes are not read, and raise `BadFile`."""
        handle, spooled = tempfile.mkstemp(dir=self.path)
        spool = Path(spooled)
        try:
            with open_source() as source, os.fdopen(handle, "wb") as sink:
                sha256, size = _copy(source, sink, name, most)
            self._keep(spool, sha256)
        finally:
            spool.unlink(missing_ok=True)
        return sha256, size

    def _keep(self, spool: Path, sha256: str) -> None:
        blob = self.blob(sha256)
        if not blob.exists():
            blob.parent.mkdir(exist_ok=True)
            spool.chmod(0o400)  # a tool may be given its path, and what was proved must stay what is sent
            spool.replace(blob)

    def chunks(self, of: Facts, size: int) -> Iterator[memoryview]:
        """The bytes in pieces of `size`, in one reused buffer: a piece is valid until the next is asked for."""
        buffer = memoryview(bytearray(min(size, of.size)))
        left = of.size
        with self._open(of) as source:
            while left:
                count = source.readinto(buffer)
                if not count or count > left or count < min(len(buffer), left):
                    raise FileChanged(_changed(of))
                left -= count
                yield buffer[:count]
            if source.read(1):
                raise FileChanged(_changed(of))

    def read(self, of: Facts) -> bytes:
        """The bytes at once."""
        with self._open(of) as source:
            data = source.read(of.size + 1)
        if len(data) != of.size:
            raise FileChanged(_changed(of))
        return data

    def _open(self, of: Facts) -> io.FileIO:
        try:
            return io.FileIO(self.blob(of.sha256))
        except OSError as error:
            raise FileChanged(_changed(of)) from error


def _copy(source: BinaryIO, sink: BinaryIO, name: str, most: int) -> tuple[str, int]:
    digest, size = hashlib.sha256(), 0
    while piece := source.read(PIECE):
        size += len(piece)
        if size > most:
            raise BadFile(
                name, f"is larger than {most} bytes", "send a smaller file, or raise the limit max_file_bytes"
            )
        digest.update(piece)
        sink.write(piece)
    return digest.hexdigest(), size


def _changed(of: Facts) -> str:
    return f"the stored {of.media_type} {of.sha256[:12]} is gone or no longer {of.size} bytes: add the file again"
