"""The chunks of a request's body as they are sent, with the bytes of its files in between."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from typing import cast

from showandtell.core.messages.attachments import Facts
from showandtell.core.messages.blobs import BlobReader
from showandtell.core.wire.request import CHUNK_SIZE

#: Bytes that are read without waiting before others may use the event loop.
TURN_BYTES = 1 << 20


async def read_body(
    segments: Sequence[bytes | Facts], blobs: BlobReader | None, encode: Callable[[memoryview], bytes]
) -> AsyncGenerator[bytes]:
    """Yield the chunks of a body; without files, `blobs` may be None. Raises `FileChanged`."""
    files = [segment for segment in segments if not isinstance(segment, bytes)]
    reader = blobs.reader(files) if blobs is not None and files else None
    buffer = memoryview(bytearray(min(CHUNK_SIZE, max((facts.size for facts in files), default=0))))
    at_once, is_waiting = 0, False
    try:
        for segment in segments:
            if isinstance(segment, bytes) or reader is None:
                yield cast("bytes", segment)
                continue
            left = segment.size
            while left:
                chunk = buffer[:left]
                left -= len(chunk)
                count = reader.read_cached(chunk)
                if count < len(chunk):
                    # A thread opens files, and reads what isn't in memory: their disk or bucket may be slow.
                    is_waiting = True
                    await asyncio.to_thread(reader.readinto, chunk[count:])
                    at_once, is_waiting = 0, False
                elif (at_once := at_once + count) >= TURN_BYTES:
                    await asyncio.sleep(0)
                    at_once = 0
                yield encode(chunk)
    finally:
        if reader is not None:
            closing = asyncio.get_running_loop().run_in_executor(None, reader.close)
            if not is_waiting:  # a cancelled run doesn't wait for a disk that hangs
                await asyncio.shield(closing)
