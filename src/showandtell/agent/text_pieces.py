"""Reads a long UTF-8 file in pieces, by character, and searches it, without reading all of it for each piece.

An index of where each chunk begins is built once for each content. It also gives the number of characters.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import BinaryIO

from msgspec import Struct

from showandtell.storage.blobs.bounded_dict import LruDict

#: Bytes that are decoded at a time. A search holds the interpreter for one chunk.
CHUNK_SIZE = 256 * 1024
#: Characters before and after a match.
CONTEXT = 120


class Index(Struct, frozen=True):
    """Where each chunk begins, in bytes and in characters. The last entry of both is the end of the text."""

    bytes: Sequence[int]
    characters: Sequence[int]

    @property
    def total(self) -> int:
        """The number of characters."""
        return self.characters[-1]


#: The indexes of recent files by sha256.
INDEXES = LruDict[str, Index](256)


class Match(Struct, frozen=True):
    """One place where a text occurs: its position in characters, and the text around it on one line."""

    at: int
    excerpt: str


@dataclass(frozen=True, slots=True)
class TextPieces:
    """A UTF-8 text that `open` opens. Its methods block: call them in a thread. Invalid bytes become U+FFFD."""

    open: Callable[[], BinaryIO]
    index: Index

    @classmethod
    def of(cls, open: Callable[[], BinaryIO], sha256: str | None = None) -> TextPieces:  # noqa: A002 - it is what it does
        """The pieces of a text, with the index of its content if one was built before."""
        index = INDEXES.get(sha256) if sha256 is not None else None
        if index is None:
            with open() as stream:
                index = build_index(stream)
            if sha256 is not None:
                INDEXES.add(sha256, index)
        return cls(open, index)

    def read(self, start: int, length: int) -> str:
        """Up to `length` characters from position `start` on."""
        end = min(start + length, self.index.total)
        if start >= end:
            return ""
        first = bisect_right(self.index.characters, start) - 1
        last = bisect_right(self.index.characters, end - 1) - 1
        with self.open() as stream:
            stream.seek(self.index.bytes[first])
            text = "".join(self._chunks(stream, first, last + 1))
        return text[start - self.index.characters[first] : end - self.index.characters[first]]

    def _chunks(self, stream: BinaryIO, first: int, end: int) -> Iterator[str]:
        """The text of these chunks. The stream is at the start of the first."""
        for at in range(first, end):
            yield decode(stream.read(self.index.bytes[at + 1] - self.index.bytes[at]))

    def search(self, query: str, start: int, max_count: int) -> tuple[list[Match], int]:
        """The first places from position `start` on where a text occurs, in any case, and the number of all of them."""
        positions: list[int] = []
        count = 0
        for position in self._find(query, start):
            count += 1
            if len(positions) < max_count:
                positions.append(position)
        return [self._match(position, len(query)) for position in positions], count

    def _find(self, query: str, start: int) -> Iterator[int]:
        """The positions where a text occurs, without overlaps."""
        first = min(bisect_right(self.index.characters, start) - 1, len(self.index.characters) - 2)
        if first < 0:
            return
        low, kept, next_free = fold(query), "", start
        with self.open() as stream:
            stream.seek(self.index.bytes[first])
            for at, chunk in enumerate(self._chunks(stream, first, len(self.index.bytes) - 1), first):
                text = kept + fold(chunk)
                offset = self.index.characters[at] - len(kept)
                found = text.find(low, max(next_free - offset, 0))
                while found >= 0:
                    yield offset + found
                    next_free = offset + found + len(low)
                    found = text.find(low, next_free - offset)
                kept = text[len(text) - len(low) + 1 :] if len(low) > 1 else ""

    def _match(self, position: int, length: int) -> Match:
        start = max(position - CONTEXT, 0)
        return Match(position, " ".join(self.read(start, position - start + length + CONTEXT).split()))


def build_index(stream: BinaryIO) -> Index:
    """Read a text once, and note where its chunks begin. No chunk begins within a character."""
    starts, characters = [0], [0]
    rest = b""
    while data := stream.read(CHUNK_SIZE):
        chunk = rest + data
        end = last_character(chunk)
        rest = chunk[end:]
        if end:
            starts.append(starts[-1] + end)
            characters.append(characters[-1] + len(decode(chunk[:end])))
    if rest:
        starts.append(starts[-1] + len(rest))
        characters.append(characters[-1] + len(decode(rest)))
    return Index(starts, characters)


def last_character(chunk: bytes) -> int:
    """Where the last character of a chunk begins, which may be incomplete; the end if it is plain ASCII."""
    if chunk.isascii():
        return len(chunk)
    for at in range(len(chunk) - 1, max(len(chunk) - 5, -1), -1):
        if chunk[at] & 0xC0 != 0x80:
            return at
    return len(chunk)


def decode(chunk: bytes) -> str:
    """The text of a chunk."""
    return chunk.decode("utf-8", "replace")


def fold(text: str) -> str:
    """The text in lower case, character by character, so that positions stay the same."""
    low = text.lower()
    if len(low) != len(text):
        low = "".join(lower if len(lower := one.lower()) == 1 else one for one in text)
    return (
        low if low.isascii() else low.replace("\u03c2", "\u03c3")
    )  # two sigmas: which of them `lower` gives depends on what follows
