"""The compressed form of a blob: written in one pass, read as the original bytes, never whole in memory."""

from __future__ import annotations

import functools
import hashlib
import importlib
import io
from collections.abc import Iterable, Iterator
from types import ModuleType
from typing import Any, BinaryIO, cast

from showandtell.core.media_types.kinds import kind_of
from showandtell.core.messages.attachments import Facts
from showandtell.errors import StorageFailed
from showandtell.storage.blobs.base import WRONG, Damaged

ENDING = ".zst"
#: zstd's own default: text shrinks to a third at some 300 MB/s.
LEVEL = 3
#: Where zstd is found: in Python 3.14 and later, else in the package that brings it to older ones.
HOMES = ("compression.zstd", "backports.zstd")
#: Sound without compression of its own.
PLAIN_SOUND = frozenset({"audio/wav", "audio/aiff", "audio/x-aiff", "audio/basic", "audio/l16"})


def pays(media_type: str) -> bool:
    """Whether a type is written plainly, so that compressing it is worth a try: text, JSON, SVG, WAV."""
    return kind_of(media_type) == "text" or media_type in PLAIN_SOUND


def zstd() -> ModuleType | None:
    """The zstd module, imported at first need; None where there is none."""
    return _find(HOMES)


@functools.cache
def _find(homes: tuple[str, ...]) -> ModuleType | None:
    """The first of these modules; what isn't there is searched for in every folder, so it is done once."""
    for home in homes:
        try:
            return importlib.import_module(home)
        except ImportError:
            continue
    return None


def pack(pieces: Iterable[memoryview], of: Facts) -> Iterator[bytes]:
    """The compressed form of a blob, in pieces; `Damaged` at the end where the original bytes aren't `of`'s."""
    module = _needed()
    knob = module.CompressionParameter
    compressor = module.ZstdCompressor(options={knob.compression_level: LEVEL, knob.checksum_flag: 1})
    digest = hashlib.sha256()
    for piece in pieces:
        digest.update(piece)
        yield compressor.compress(piece)
    if digest.hexdigest() != of.sha256:
        raise Damaged(of, WRONG)
    yield compressor.flush()


class Unpacked(io.RawIOBase):
    """The original bytes of a compressed blob. More or fewer than `of.size`, or torn ones, raise `Damaged`."""

    def __init__(self, packed: BinaryIO, of: Facts) -> None:
        module = _needed()
        self._packed, self._of, self._size = packed, of, of.size
        self._torn: tuple[type[Exception], ...] = (module.ZstdError, EOFError)
        self._source: Any = module.ZstdFile(packed)

    def readable(self) -> bool:
        """Tell that it can be read."""
        return True

    def seekable(self) -> bool:
        """Tell whether it can start again: where the compressed form can."""
        return bool(self._source.seekable())

    def readinto(self, buffer: Any, /) -> int:
        """Read on, and refuse what is not the original's length."""
        try:
            count = cast("int", self._source.readinto(buffer))
        except self._torn as error:
            raise Damaged(self._of, WRONG) from error
        here = cast("int", self._source.tell())
        if here > self._size or (not count and len(buffer) and here < self._size):
            raise Damaged(self._of, WRONG)
        return count

    def seek(self, offset: int, whence: int = io.SEEK_SET, /) -> int:
        """Go to a place; back means to unpack anew from the beginning."""
        if whence == io.SEEK_END:
            offset, whence = self._size + offset, io.SEEK_SET
        return cast("int", self._source.seek(offset, whence))

    def tell(self) -> int:
        """Say where it is in the original bytes."""
        return cast("int", self._source.tell())

    def close(self) -> None:
        """Close it, and the compressed form."""
        if not self.closed:
            self._source.close()
            self._packed.close()
        super().close()


def unpack(packed: BinaryIO, of: Facts) -> io.BufferedReader:
    """Read a compressed blob as its original bytes."""
    try:
        return io.BufferedReader(Unpacked(packed, of))
    except BaseException:
        packed.close()
        raise


def _needed() -> ModuleType:
    module = zstd()
    if module is None:
        raise StorageFailed("a stored file is compressed and zstd is not installed: pip install 'showandtell[history]'")
    return module
