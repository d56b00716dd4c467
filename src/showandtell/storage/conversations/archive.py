"""The zip file of an exported conversation: `conversation.json` and `files/`. Written atomically, read as untrusted."""

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

from msgspec import DecodeError, Struct
from msgspec.json import Decoder, encode

from showandtell.config.atomic_file import written_atomically
from showandtell.core.messages.attachments import Attachment, Facts
from showandtell.core.messages.blobs import Blobs
from showandtell.errors import BadConversation, BadInput, StorageFailed
from showandtell.storage.blobs.zstd import is_compressible

RECORDS, FILES = "conversation.json", "files"
#: Says of which conversation an archive was made. Programs that don't know the entry ignore it.
SOURCE, MAX_SOURCE_SIZE, SOURCE_ID = "source.json", 1024, re.compile(r"conv_[A-Za-z0-9_-]{1,100}", re.ASCII)
#: The folder of a zip file of several conversations, and the bytes before the name of its first entry.
BACKUP_FOLDER, HEADER_SIZE = "conversations", 30
#: The rows of a person's export. It is the first entry if the person has no conversations.
ACCOUNT = "account.json"
#: Valid names of files in the archive.
NAME = re.compile(r"files/[0-9]{1,10}(\.[A-Za-z0-9]{1,16})?", re.ASCII)
#: Maximum size of `conversation.json` in bytes.
MAX_RECORDS_SIZE = 256 * 1024 * 1024
#: An archive may expand to this many times its size plus a constant: plain text compresses to a fifth, bombs to a
#: thousandth.
MAX_EXPANSION, EXTRA_SIZE = 100, 256 * 1024 * 1024
CHUNK_SIZE = 1024 * 1024
#: The first bytes of a zip file, complete or truncated.
ZIP = (b"PK\x03\x04", b"PK\x05\x06")
METHODS = frozenset({zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED})
#: What `zipfile` raises for damaged, encrypted or unsupported archives.
DAMAGED = (zipfile.BadZipFile, zlib.error, lzma.LZMAError, struct.error, EOFError, ValueError, RuntimeError, KeyError)


class Source(Struct):
    """The conversation that an archive was made of."""

    id: str


decode_source = Decoder(Source).decode


def path_of(file: Attachment) -> str:
    """A file's path in the archive: its number, and the extension of its name if that is safe."""
    ending = PurePosixPath(file.name).suffix
    named = f"{FILES}/{file.number}{ending}"
    return named if NAME.fullmatch(named) else f"{FILES}/{file.number}"


def write_archive(path: Path, data: bytes, source: str, files: Iterable[Attachment], blobs: Blobs) -> None:
    """Write the archive atomically. `source` is the id of the conversation. Raises `BadInput` if that fails."""
    try:
        with written_atomically(path) as sink, zipfile.ZipFile(sink, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr(RECORDS, data)
            archive.writestr(SOURCE, encode(Source(source)))
            for file in files:
                if file.facts is not None:
                    add(archive, path_of(file), file.facts, blobs)
    except OSError as error:
        raise BadInput(f"{path} can't be written ({error.strerror or error}): choose another path") from error


def add(archive: zipfile.ZipFile, name: str, facts: Facts, blobs: Blobs) -> None:
    """Add the bytes of a file. Types that are compressed already, such as images, are stored as they are."""
    entry = zipfile.ZipInfo(name)
    entry.compress_type = zipfile.ZIP_DEFLATED if is_compressible(facts.media_type) else zipfile.ZIP_STORED
    entry.external_attr = (stat.S_IFREG | 0o600) << 16
    entry.file_size = facts.size  # so that zip64 is used above 4 GB
    with blobs.open(facts) as source, archive.open(entry, "w") as sink:
        shutil.copyfileobj(source, sink, CHUNK_SIZE)


def read_source(path: Path) -> str | None:
    """The id of the conversation that an archive was made of; None if it doesn't say that, as those before 0.2.1.

    It is a claim: an archive may come from anybody.
    """
    try:
        with zipfile.ZipFile(path) as archive, archive.open(SOURCE) as entry:
            source = decode_source(entry.read(MAX_SOURCE_SIZE)).id
    except (*DAMAGED, DecodeError, OSError):
        return None
    return source if SOURCE_ID.fullmatch(source) else None


def is_archive(path: Path) -> bool:
    """Whether a file starts like a zip file."""
    try:
        with path.open("rb") as source:
            return source.read(4) in ZIP
    except OSError as error:
        raise BadConversation(f"{path.name} can't be read: {error.strerror or error}") from error


def is_backup(path: Path) -> bool:
    """Whether a file starts like a zip file of conversations, also if the rest is missing."""
    if not is_archive(path):
        return False
    with path.open("rb") as source:
        begin = source.read(HEADER_SIZE + len(BACKUP_FOLDER) + 1)[HEADER_SIZE:]
    return begin.startswith((f"{BACKUP_FOLDER}/".encode(), ACCOUNT.encode()))


@contextmanager
def unpacked(path: Path, max_bytes: int | None, max_total: int | None = None) -> Generator[Path]:
    """Unpack an archive temporarily and yield its conversation file; any other file is yielded as it is.

    `max_bytes` limits a single file, `max_total` all of them. Raises `BadConversation` for an archive that isn't an
    export.
    """
    if not is_archive(path):
        yield path
        return
    with tempfile.TemporaryDirectory(prefix="showandtell-") as folder:
        try:
            unpack(path, Path(folder), max_bytes, max_total)
        except OSError as error:
            if error.errno == errno.EINVAL:  # the zip directory points before the start of the file
                raise BadConversation(f"{path.name} is damaged ({error.strerror}): export it again") from error
            raise StorageFailed(
                f"{path.name} can't be unpacked ({error.strerror or error}): free some space"
            ) from error
        yield Path(folder) / RECORDS


def unpack(path: Path, folder: Path, max_bytes: int | None, max_total: int | None = None) -> None:
    """Extract an archive. Limits apply to the bytes actually extracted, not to the declared sizes."""
    (folder / FILES).mkdir()
    remaining = path.stat().st_size * MAX_EXPANSION + EXTRA_SIZE
    if max_total is not None:
        remaining = min(remaining, max_total)
    try:
        with zipfile.ZipFile(path) as archive:
            for entry in exported_entries(archive, path.name):
                bound = MAX_RECORDS_SIZE if entry.filename == RECORDS else max_bytes
                with archive.open(entry) as source, (folder / entry.filename).open("xb") as sink:
                    size = copy(source, sink, remaining if bound is None else min(remaining, bound))
                if size is None and bound is not None and bound < remaining:
                    raise BadConversation(f"{entry.filename} has more than {bound} bytes: raise the limit of one file")
                remaining -= remaining if size is None else size
                if remaining <= 0:
                    raise BadConversation(f"{path.name} expands to far more than an export has: choose another file")
    except BadInput:
        raise
    except DAMAGED as error:
        raise BadConversation(f"{path.name} is damaged ({error}): export it again") from error


def exported_entries(archive: zipfile.ZipFile, name: str) -> list[zipfile.ZipInfo]:
    """The entries to extract. Raises `BadConversation` if there are unexpected ones."""
    entries: dict[str, zipfile.ZipInfo] = {}
    for entry in archive.infolist():
        if is_suspicious(entry) or entry.filename in entries:
            raise BadConversation(
                f"{name} contains {entry.filename[:80]!r}, which exports never contain: don't trust this file"
            )
        if entry.filename == RECORDS or NAME.fullmatch(entry.filename):
            entries[entry.filename] = entry
    if RECORDS not in entries:
        raise BadConversation(f"{name} has no {RECORDS}: choose a zip file that `showandtell export` wrote")
    return list(entries.values())


def is_suspicious(entry: zipfile.ZipInfo) -> bool:
    """Whether an entry leads outside, is not a regular file or folder, or uses an unsupported compression."""
    kind = stat.S_IFMT(entry.external_attr >> 16)
    path = PurePosixPath(entry.orig_filename.replace("\\", "/"))
    outside = path.is_absolute() or ".." in path.parts or ":" in path.parts[0] if path.parts else True
    return outside or kind not in {0, stat.S_IFREG, stat.S_IFDIR} or entry.compress_type not in METHODS


def copy(source: IO[bytes], sink: IO[bytes], max_bytes: int) -> int | None:
    """Copy a stream and return its size, or None if it exceeds `max_bytes`."""
    size = 0
    while chunk := source.read(min(CHUNK_SIZE, max_bytes - size + 1)):
        size += len(chunk)
        if size > max_bytes:
            return None
        sink.write(chunk)
    return size
