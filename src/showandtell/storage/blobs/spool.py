"""What a folder of blobs stands on: where bytes are spooled, how they get their names, what is known of its files."""

from __future__ import annotations

import contextlib
import hashlib
import os
import secrets
import tempfile
from collections.abc import Callable, Iterable, Iterator
from itertools import chain, islice
from pathlib import Path
from typing import BinaryIO

from showandtell.storage.blobs.base import PIECE, Spooled, TooLarge
from showandtell.storage.blobs.bounded_dict import LruDict
from showandtell.storage.blobs.disk import Stamp, entries, link, stamp, storing, sync

#: Files of fewer pieces are hashed before anything is written.
HELD = 3
#: So many files are remembered as read and whole; of more, the first are read again when they are met again.
MOST_SOUND = 20_000


class HashingReader:
    """The pieces of a source, hashed as they are read; the piece that goes beyond `most` bytes raises `TooLarge`."""

    def __init__(self, source: BinaryIO, name: str, most: int) -> None:
        self._source, self._name, self._most = source, name, most
        self._digest = hashlib.sha256()
        self.size = 0

    def __iter__(self) -> Iterator[bytes]:
        return self

    def __next__(self) -> bytes:
        piece = self._source.read(PIECE)
        if not piece:
            raise StopIteration
        self.size += len(piece)
        if self.size > self._most:
            raise TooLarge(self._name, self._most)
        self._digest.update(piece)
        return piece

    @property
    def sha256(self) -> str:
        """The hash of what was read so far, in hex."""
        return self._digest.hexdigest()


class SpoolDirectory:
    """One folder on a disk and its spool, shared by the parts of all owners.

    `sound` has the stamps of files that were found to be what their names say, `settled` of those whose names are on
    the disk besides.
    """

    def __init__(self, path: Path, *, durable: bool) -> None:
        self.path, self.durable = path, durable
        self.spools = path / "spool"
        self.sound, self.settled = LruDict[Path, Stamp](MOST_SOUND), LruDict[Path, Stamp](MOST_SOUND)
        self._made: set[Path] = set()

    def make(self, folder: Path) -> None:
        """Make a folder, and be sure once that its name is on the disk: another process may have made it just now."""
        if folder in self._made and folder.is_dir():
            return
        if folder != self.path:
            self.make(folder.parent)
        folder.mkdir(0o700, parents=True, exist_ok=True)
        if self.durable:
            with contextlib.suppress(PermissionError):  # the folder above ours may be somebody else's
                sync(folder.parent)
        self._made.add(folder)

    def new_spool(self) -> tuple[int, Path]:
        """A new file to write to: its handle and path."""
        with storing(self.path):
            self.make(self.spools)
            handle, path = tempfile.mkstemp(dir=self.spools)
            return handle, Path(path)

    def spool(self, intake: HashingReader, blob: Callable[[str], Path]) -> Spooled:
        """Copy a source in. A small one whose blob is here (`blob` says where) is not written again, only lent."""
        first = list(islice(intake, HELD))
        known = self.lend(blob(intake.sha256)) if len(first) < HELD and self.has(blob(intake.sha256)) else None
        path = known or self.write_out(chain(first, intake))
        return Spooled(path, intake.sha256, intake.size)

    def write_out(self, pieces: Iterable[bytes | memoryview]) -> Path:
        """Write pieces to a new spool; gives its path."""
        handle, path = self.new_spool()
        try:
            try:
                for piece in pieces:
                    self.write(handle, piece)
            finally:
                with storing(self.path):
                    os.close(handle)
        except BaseException:
            with contextlib.suppress(OSError):  # what stays is cleared away later
                path.unlink(missing_ok=True)
            raise
        return path

    def lend(self, blob: Path) -> Path | None:
        """Another name for a blob, which stays when the blob goes; None where it is gone or can't have one."""
        lent = self.spools / f"lent-{secrets.token_hex(8)}"
        try:
            os.link(blob, lent)
        except OSError:
            return None
        return lent

    def write(self, handle: int, piece: bytes | memoryview) -> None:
        """Write all of it."""
        left = memoryview(piece)
        with storing(self.path):
            while left:
                left = left[os.write(handle, left) :]

    def name(self, source: Path, target: Path) -> None:
        """Bytes first, then the name: a name that is there has all of its bytes."""
        source.chmod(0o400)  # a tool may be given its path, and what was proved must stay what is sent
        as_it_is = stamp(source)
        if self.durable:
            sync(source)
        try:
            link(source, target)
        except FileExistsError:
            source.replace(target)
        self.settle(target, as_it_is)
        self.sound.add(target, as_it_is)

    def settle(self, target: Path, as_it_is: Stamp) -> None:
        """Be sure that a name is on the disk."""
        if self.durable:
            sync(target.parent)
        self.settled.add(target, as_it_is)

    def has(self, blob: Path) -> bool:
        """Whether a whole blob is on the disk under its name, as far as a stat can tell."""
        with contextlib.suppress(OSError):
            return self.settled.get(blob) == stamp(blob)
        return False

    def distrust(self, blob: Path) -> None:
        """What was found out about a file holds no more."""
        self.sound.drop(blob)
        self.settled.drop(blob)

    def clear(self, before: float) -> int:
        """Remove what was spooled and left, untouched since `before`; gives how many."""
        count = 0
        for entry in entries(self.spools):
            with storing(self.path), contextlib.suppress(FileNotFoundError):
                if entry.stat().st_ctime < before:  # not mtime: what is lent has that of its blob
                    Path(entry.path).unlink()
                    count += 1
        return count
