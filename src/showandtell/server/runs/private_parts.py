"""What is for the user alone is for the owner of the conversation: all others get its streams without it."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing

import msgspec
from msgspec import Struct

#: What a stream contains if it may have such parts.
SIGNS = (b'"data-user-text"', b'"audience":"user"', b'"withheld"', b'"lifted":true')
USER_TEXT = b'data: {"type":"data-user-text"'
#: The parts that say of a file whom it is for, and whether a model has it.
FILES = (b'data: {"type":"data-attachment"', b'data: {"type":"data-receipt"')


class _Data(Struct, frozen=True):
    audience: str = "both"
    delivery: str = ""
    lifted: bool = False


class _Part(Struct, frozen=True):
    data: _Data


_read_part = msgspec.json.Decoder(_Part).decode


async def for_reader(events: AsyncGenerator[bytes], *, is_owner: bool) -> AsyncGenerator[bytes]:
    """A stream, each item of which ends with an event, as this reader may have it."""
    async with aclosing(events):
        async for data in events:
            if kept := data if is_owner else without_private(data):
                yield kept


def without_private(data: bytes) -> bytes:
    """Events without those of texts and files for the user alone."""
    if not any(sign in data for sign in SIGNS):
        return data
    return b"\n\n".join([event for event in data.split(b"\n\n") if not is_private(event)])


def is_private(event: bytes) -> bool:
    """Whether an event is for the owner alone."""
    if not event.startswith(FILES):
        return event.startswith(USER_TEXT)
    about = _read_part(event.removeprefix(b"data: ")).data
    return about.lifted or about.audience == "user" or about.delivery == "withheld"
