"""zstd compression of blobs, streamed in both directions."""

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
from showandtell.installation import ADVICE
from showandtell.storage.blobs.base import HASH_MISMATCH, Damaged

SUFFIX = ".zst"
#: zstd's default: text shrinks to a third at some 300 MB/s.
LEVEL = 3
#: Where zstd lives: in Python 3.14 and later, otherwise in the backport.
MODULES = ("compression.zstd", "backports.zstd")
#: Audio types without compression of their own.
UNCOMPRESSED_AUDIO = frozenset({"audio/wav", "audio/aiff", "audio/x-aiff", "audio/basic", "audio/l16"})


def is_compressible(media_type: str) -> bool:
    """Whether a type is worth compressing: text, JSON, SVG, WAV."""
    return kind_of(media_type) == "text" or media_type in UNCOMPRESSED_AUDIO


def zstd_module() -> ModuleType | None:
    """The zstd module, imported on first use; None if it is not installed."""
    return _import_first(MODULES)


@functools.cache
def _import_first(names: tuple[str, ...]) -> ModuleType | None:
    """The first module that can be imported. Cached, because a failed import searches every folder."""
    for name in names:
        try:
            return importlib.import_module(name)
        except ImportError:
            continue
    return None


def compress_chunks(chunks: Iterable[memoryview], facts: Facts) -> Iterator[bytes]:
    """Compress a blob in chunks. Raises `Damaged` at the end if the input doesn't match the hash of `facts`."""
    module = _require_zstd()
    parameter = module.CompressionParameter
    compressor = module.ZstdCompressor(options={parameter.compression_level: LEVEL, parameter.checksum_flag: 1})
    digest = hashlib.sha256()
    for chunk in chunks:
        digest.update(chunk)
        yield compressor.compress(chunk)
    if digest.hexdigest() != facts.sha256:
        raise Damaged(facts, HASH_MISMATCH)
    yield compressor.flush()


class DecompressingReader(io.RawIOBase):
    """The original bytes of a compressed blob. Raises `Damaged` if truncated, corrupt or not `facts.size` long."""

    def __init__(self, module: ModuleType, compressed: BinaryIO, facts: Facts) -> None:
        self._compressed, self._facts, self._size = compressed, facts, facts.size
        self._zstd_errors: tuple[type[Exception], ...] = (module.ZstdError, EOFError)
        self._source: Any = module.ZstdFile(compressed)

    def readable(self) -> bool:
        """Always true."""
        return True

    def seekable(self) -> bool:
        """Whether the compressed file is seekable."""
        return bool(self._source.seekable())

    def readinto(self, buffer: Any, /) -> int:
        """Read the next bytes. Raises `Damaged` if the length is wrong."""
        try:
            count = cast("int", self._source.readinto(buffer))
        except self._zstd_errors as error:
            raise Damaged(self._facts, HASH_MISMATCH) from error
        position = cast("int", self._source.tell())
        if position > self._size or (not count and len(buffer) and position < self._size):
            raise Damaged(self._facts, HASH_MISMATCH)
        return count

    def seek(self, offset: int, whence: int = io.SEEK_SET, /) -> int:
        """Change the position. Seeking back decompresses from the start again."""
        if whence == io.SEEK_END:
            offset, whence = self._size + offset, io.SEEK_SET
        return cast("int", self._source.seek(offset, whence))

    def tell(self) -> int:
        """The position in the original bytes."""
        return cast("int", self._source.tell())

    def close(self) -> None:
        """Close this reader and the compressed file."""
        if not self.closed:
            self._source.close()
            self._compressed.close()
        super().close()


def decompress(compressed: BinaryIO, facts: Facts) -> io.BufferedReader:
    """Open a compressed blob for reading its original bytes."""
    try:
        return io.BufferedReader(DecompressingReader(_require_zstd(), compressed, facts))
    except BaseException:
        compressed.close()
        raise


def _require_zstd() -> ModuleType:
    module = zstd_module()
    if module is None:
        raise StorageFailed(f"a stored file is compressed, but zstd, of showandtell[history], is missing: {ADVICE}")
    return module
