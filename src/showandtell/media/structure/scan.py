"""Reads a file forward in small pieces, to walk its structure: nothing is decoded, and little of it is in memory."""

from __future__ import annotations

import re
import zlib
from typing import BinaryIO

WINDOW = 1 << 16
#: A file in more pieces is left to its decoder, which has a process of its own: this is a tenth of a second.
MAX_PIECES = 200_000


class EndMissing(Exception):
    """The file ends before its structure does."""


class Damaged(Exception):
    """The structure contradicts itself or its checksums."""


class Unusual(Exception):
    """The structure alone doesn't tell: the decoder must."""


class Scan:
    """A file of `size` bytes, and how far it was read."""

    def __init__(self, stream: BinaryIO, size: int) -> None:
        self.size = size
        self._stream, self._pieces = stream, 0
        self._at = stream.seek(0)

    @property
    def left(self) -> int:
        """The number of bytes that follow."""
        return self.size - self._at

    def end_at(self, size: int) -> None:
        """End there, which is within the file. Raises `EndMissing` if it isn't."""
        if size > self.size:
            raise EndMissing
        self.size = size

    def take(self, count: int) -> bytes:
        """Exactly `count` bytes. Raises `EndMissing`."""
        self._pass(count)
        data = self._stream.read(count)
        if len(data) != count:
            raise EndMissing
        return data

    def skip(self, count: int) -> None:
        """Pass over bytes that must exist."""
        self._pass(count)
        self._stream.seek(count, 1)

    def read_at(self, at: int, count: int) -> bytes:
        """Bytes anywhere in the file, and go on behind them."""
        self._at = self._stream.seek(at)
        return self.take(count)

    def checksum(self, count: int, start: int) -> int:
        """The CRC-32 of the next bytes, continued from `start`."""
        while count:
            part = self.take(min(count, WINDOW))
            start = zlib.crc32(part, start)
            count -= len(part)
        return start

    def pass_blocks(self) -> bool:
        """Pass over blocks, each behind a byte with its length, up to an empty one; whether there were any."""
        length = first = self.take(1)[0]
        read, count = self._stream.read, 0
        while length:
            block = read(length + 1)
            if len(block) <= length:
                raise EndMissing
            count += 1
            if self._pieces + count > MAX_PIECES:
                raise Unusual
            self._at += length + 1
            length = block[length]
        self._pieces += count
        return first > 0

    def find(self, pattern: re.Pattern[bytes]) -> bytes:
        """The next two bytes that match a pattern of two bytes, and pass over all before them. Raises `EndMissing`."""
        last = self.take(min(2, self.left))
        while not (found := pattern.search(last)):
            part = self.take(min(WINDOW, self.left))
            if not part:
                raise EndMissing
            last = last[-1:] + part
        self._at += found.end() - len(last)
        self._stream.seek(self._at)
        return found[0]

    def _pass(self, count: int) -> None:
        self._pieces += 1
        if self._pieces > MAX_PIECES:
            raise Unusual
        if count > self.left:
            raise EndMissing
        self._at += count
