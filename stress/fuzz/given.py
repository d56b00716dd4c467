"""What the targets draw from an input: the payload lies at its front, and choices are drawn from its end, a byte each."""

from itertools import pairwise

import atheris
from atheris import FuzzedDataProvider


def seed(payload: bytes, *choices: int) -> bytes:
    """The input of which this payload and these choices, in their order, are drawn."""
    return payload + bytes(reversed(choices))


def choose(given: FuzzedDataProvider, count: int) -> int:
    """A number below `count`, which is at most 256."""
    return given.ConsumeIntInRange(0, count - 1)


def read_rest(given: FuzzedDataProvider) -> bytes:
    """The payload; nothing can be drawn behind it."""
    return given.ConsumeBytes(atheris.ALL_REMAINING)


def cut(data: bytes, places: bytes) -> list[bytes]:
    """The same bytes in pieces, some of them empty; each two bytes of `places` say where one is cut."""
    drawn = [int.from_bytes(places[at : at + 2]) % (len(data) + 1) for at in range(0, len(places), 2)]
    return [data[start:end] for start, end in pairwise([0, *sorted(drawn), len(data)])]


def each_byte(data: bytes) -> list[bytes]:
    """Pieces of one byte, where there aren't many."""
    return [data[at : at + 1] for at in range(len(data))] if len(data) <= 300 else [data]


def draw_places(given: FuzzedDataProvider) -> bytes:
    """Where to cut: up to seven places."""
    return bytes(choose(given, 256) for _ in range(2 * choose(given, 8)))
