"""What a compound file holds ([MS-CFB]), by the names in its root: Word 97, Excel 97, PowerPoint 97 and others."""

from __future__ import annotations

from collections.abc import Callable, Iterator

Peek = Callable[[int, int], bytes]

#: An Office file with a password, whose zip is one encrypted stream ([MS-OFFCRYPTO] 2.3.4); it has no type of its own.
ENCRYPTED = "application/x-encrypted-package"
#: Media type by the name of a stream. The first one in this order decides: a workbook may hold what a document does.
STREAMS = {
    "EncryptedPackage": ENCRYPTED,
    "WordDocument": "application/msword",
    "PowerPoint Document": "application/vnd.ms-powerpoint",
    "Workbook": "application/vnd.ms-excel",
    "Book": "application/vnd.ms-excel",
    "VisioDocument": "application/vnd.visio",
    "__properties_version1.0": "application/vnd.ms-outlook",
}
#: Sectors of the directory that are read; programs write the root's streams first.
MAX_SECTORS = 256
FREE, ENTRY = 0xFFFFFFFF, 128


def detect_compound(peek: Peek, _size: int) -> str | None:
    """The media type of a compound file; None if it is damaged or holds something else."""
    names = set(list_root(read_directory(peek)))
    return next((media_type for name, media_type in STREAMS.items() if name in names), None)


def read_directory(peek: Peek) -> bytes:
    """The directory, as far as its chain of sectors is whole."""
    head = peek(0, 512)
    if head[30:32] not in {b"\x09\0", b"\x0c\0"}:
        return b""
    sector_size = 1 << head[30]
    chunks, sector = list[bytes](), number(head, 48)
    while len(chunks) < MAX_SECTORS and len(chunk := peek((sector + 1) * sector_size, sector_size)) == sector_size:
        chunks.append(chunk)
        # The header has the numbers of the first 109 sectors of the table, which has a number for each sector.
        table, index = divmod(sector, sector_size // 4)
        if table >= 109:
            break
        sector = number(peek((number(head, 76 + 4 * table) + 1) * sector_size + 4 * index, 4), 0)
    return b"".join(chunks)


def list_root(directory: bytes) -> Iterator[str]:
    """The names in the root storage, a tree whose nodes are entries; each is visited once, however they refer."""
    waiting, seen = [number(directory, 76)], set[int]()
    while waiting:
        index = waiting.pop()
        entry = directory[index * ENTRY : (index + 1) * ENTRY]
        if index in seen or len(entry) < ENTRY:
            continue
        seen.add(index)
        yield entry[: max(0, (number(entry, 64) & 0xFFFF) - 2)][:64].decode("utf-16-le", "replace")
        waiting += [number(entry, 68), number(entry, 72)]


def number(data: bytes, offset: int) -> int:
    """The 32-bit number at an offset; that of no sector outside of the data."""
    return int.from_bytes(data[offset : offset + 4], "little") if offset + 4 <= len(data) else FREE
