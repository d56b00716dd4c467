"""Decodes lists of a client's JSON that may have too many items: a small body has room for millions."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import ClassVar, TypeVar

import msgspec
from msgspec import Raw, Struct

from showandtell.errors import BadInput

T = TypeVar("T")


class TooMany(ValueError):
    """A list has too many items."""


class _Room(threading.local):
    """How many more items a thread may decode."""

    left = 0


class Item(Struct, frozen=True):
    """An item of a list. Decoding stops at the first one that is too many. A thread decodes one body at a time."""

    room: ClassVar[_Room] = _Room()

    def __post_init__(self) -> None:
        self.room.left -= 1
        if self.room.left < 0:
            raise TooMany("too many items")


def decode_bounded(decode: Callable[[bytes | Raw], T], data: bytes | Raw, room: int, whole: str, items: str) -> T:
    """Decode a list of `Item`s, or what has one. Raises `BadInput` if it has more than `room`, and `DecodeError`."""
    Item.room.left = room
    try:
        return decode(data)
    except msgspec.ValidationError as error:
        if isinstance(error.__cause__, TooMany):
            raise BadInput(f"the {whole} has more than {room} {items}: send fewer") from None
        raise
