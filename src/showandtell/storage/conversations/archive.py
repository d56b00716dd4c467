"""The zip file of an exported conversation: `conversation.json` and `files/`, written whole, and read with distrust."""

from __future__ import annotations

import errno
import lzma
import re
import shutil
import stat
import struct
import tempfile
import zipfile
import zlib
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import IO

from showandtell.config.atomic_file import written_atomically
from showandtell.core.messages.attachments import Attachment, Facts
from showandtell.core.messages.blobs import Blobs
from showandtell.errors import BadConversation, BadInput, StorageFailed
from showandtell.storage.blobs.zstd import pays

RECORDS, FILES = "conversation.json", "files"
#: What a file may be called in the archive.
NAME = re.compile(r"files/[0-9]{1,10}(\.[A-Za-z0-9]{1,16})?", re.ASCII)
#: The most that `conversation.json` may have.
MOST_RECORDS = 256 * 1024 * 1024
#: All of an archive may come to so many times its own size, and this besides: plain words shrink to a fifth, bombs to
#: a thousandth.
GROWTH, BESIDES = 100, 256 * 1024 * 1024
PIECE = 1024 * 1024
#: How a file begins that is a zip file, whole or torn.
ZIP = (b"PK\x03\x04", b"PK\x05\x06")
METHODS = frozenset({zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED})
#: What `zipfile` raises for archives that are damaged, encrypted, or of another kind.
DAMAGED = (zipfile.BadZipFile, zlib.error, lzma.LZMAError, struct.error, EOFError, ValueError, RuntimeError, KeyError)


def path_of(file: Attachment) -> str:
    """Where a file lies in the archive: by its number, and the ending of its name where that is a plain one."""
    ending = PurePosixPath(file.name).suffix
    named = f"{FILES}/{file.number}{ending}"
    return named if NAME.fullmatch(named) else f"{FILES}/{file.number}"


def write_archive(path: Path, data: bytes, files: Iterable[Attachment], blobs: Blobs) -> None:
    """Write the archive whole, or not at all. Raises `BadInput` where that can't be."""
    try:
        with written_atomically(path) as sink, zipfile.ZipFile(sink, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr(RECORDS, data)
            for file in files:
                if file.facts is not None:
                    add(archive, path_of(file), file.facts, blobs)
    except OSError as error:
        raise BadInput(f"{path} can't be written ({error.strerror or error}): name another place") from error


def add(archive: zipfile.ZipFile, name: str, facts: Facts, blobs: Blobs) -> None:
    """Add the bytes of a file; pictures and their like are small already."""
    entry = zipfile.ZipInfo(name)
    entry.compress_type = zipfile.ZIP_DEFLATED if pays(facts.media_type) else zipfile.ZIP_STORED
    entry.external_attr = (stat.S_IFREG | 0o600) << 16
    entry.file_size = facts.size  # so that one beyond 4 GB is written as such
    with blobs.open(facts) as source, archive.open(entry, "w") as sink:
        shutil.copyfileobj(source, sink, PIECE)


def is_archive(path: Path) -> bool:
    """Whether a file begins as a zip file does."""
    try:
        with path.open("rb") as source:
            return source.read(4) in ZIP
    except OSError as error:
        raise BadConversation(f"{path.name} can't be read: {error.strerror or error}") from error


@contextmanager
def unpacked(path: Path, most: int | None) -> Generator[Path]:
    """The conversation file of an archive, its files beside it, while it is needed; any other file as it is.

    `most` is what one file may have. Raises `BadConversation` for an archive that isn't one of ours.
    """
    if not is_archive(path):
        yield path
        return
    with tempfile.TemporaryDirectory(prefix="showandtell-") as folder:
        try:
            unpack(path, Path(folder), most)
        except OSError as error:
            if error.errno == errno.EINVAL:  # its directory points before the file's start
                raise BadConversation(f"{path.name} is damaged ({error.strerror}): export it again") from error
            raise StorageFailed(
                f"{path.name} can't be unpacked ({error.strerror or error}): free some space"
            ) from error
        yield Path(folder) / RECORDS


def unpack(path: Path, folder: Path, most: int | None) -> None:
    """Take out what belongs into an archive of ours, bounded by what is really in it."""
    (folder / FILES).mkdir()
    room = path.stat().st_size * GROWTH + BESIDES
    try:
        with zipfile.ZipFile(path) as archive:
            for entry in wanted(archive, path.name):
                bound = MOST_RECORDS if entry.filename == RECORDS else most
                with archive.open(entry) as source, (folder / entry.filename).open("xb") as sink:
                    size = copy(source, sink, room if bound is None else min(room, bound))
                if size is None and bound is not None and bound < room:
                    raise BadConversation(f"{entry.filename} has more than {bound} bytes: raise the limit of one file")
                room -= room if size is None else size
                if room <= 0:
                    raise BadConversation(f"{path.name} holds far more than its size says: it is no export")
    except BadInput:
        raise
    except DAMAGED as error:
        raise BadConversation(f"{path.name} is damaged ({error}): export it again") from error


def wanted(archive: zipfile.ZipFile, name: str) -> list[zipfile.ZipInfo]:
    """The entries that are taken out. Raises `BadConversation` for what no export holds."""
    found: dict[str, zipfile.ZipInfo] = {}
    for entry in archive.infolist():
        if is_strange(entry) or entry.filename in found:
            raise BadConversation(f"{name} holds {entry.filename[:80]!r}, which no export does: don't trust it")
        if entry.filename == RECORDS or NAME.fullmatch(entry.filename):
            found[entry.filename] = entry
    if RECORDS not in found:
        raise BadConversation(f"{name} holds no {RECORDS}: name a file that was exported")
    return list(found.values())


def is_strange(entry: zipfile.ZipInfo) -> bool:
    """Whether an entry leads outside, is no plain file or folder, or is packed in a way of its own."""
    kind = stat.S_IFMT(entry.external_attr >> 16)
    path = PurePosixPath(entry.orig_filename.replace("\\", "/"))
    outside = path.is_absolute() or ".." in path.parts or ":" in path.parts[0] if path.parts else True
    return outside or kind not in {0, stat.S_IFREG, stat.S_IFDIR} or entry.compress_type not in METHODS


def copy(source: IO[bytes], sink: IO[bytes], most: int) -> int | None:
    """Copy what is there; gives how many bytes that were, None where they are more than `most`."""
    size = 0
    while piece := source.read(min(PIECE, most - size + 1)):
        size += len(piece)
        if size > most:
            return None
        sink.write(piece)
    return size
