"""Decodes lists of a client's JSON that may have too many items: a small body has room for millions."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar, TypeVar

import msgspec
from msgspec import Raw, Struct

from showandtell.errors import BadInput

T = TypeVar("T")


class TooMany(ValueError):
    """A list has too many items."""


class Item(Struct, frozen=True):
    """An item of a list. Decoding stops at the first one that is too many. Bodies are decoded one at a time."""

    room: ClassVar[list[int]] = [0]

    def __post_init__(self) -> None:
        self.room[0] -= 1
        if self.room[0] < 0:
            raise TooMany("too many items")


def decode_bounded(decode: Callable[[bytes | Raw], T], data: bytes | Raw, room: int, whole: str, items: str) -> T:
    """Decode a list of `Item`s, or what has one. Raises `BadInput` if it has more than `room`, and `DecodeError`."""
    Item.room[0] = room
    try:
        return decode(data)
    except msgspec.ValidationError as error:
        if isinstance(error.__cause__, TooMany):
            raise BadInput(f"the {whole} has more than {room} {items}: send fewer") from None
        raise
