"""How a connection writes responses: what is written in one turn of the event loop leaves together.

A stream writes its body past the middleware, which has nothing to add to it once the head was sent.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import TYPE_CHECKING, Any, Final, overload

import h11
from starlette.types import Scope

if TYPE_CHECKING:
    from uvicorn.protocols.http.h11_impl import RequestResponseCycle

#: The headers that say where a response ends, and whether the connection does.
FRAMING: Final = frozenset({b"content-length", b"transfer-encoding", b"connection"})
#: Bytes that are written without waiting for more.
MAX_GATHERED: Final = 64 * 1024
#: The ASGI extension with what a response may do with its connection: `cut` it, and write a `body` to it.
CONNECTION: Final = "showandtell.connection"


class PlainHeads(h11.Connection):
    """Writes the head of a response as it is, but for the headers that h11 has to see.

    All were validated when the response was made. h11 would validate them twice more to set those about its end.
    """

    @overload
    def send(self, event: h11.ConnectionClosed) -> None: ...
    @overload
    def send(self, event: h11.Event) -> bytes | None: ...
    def send(self, event: h11.Event) -> bytes | None:
        """Return the bytes of an event."""
        if not isinstance(event, h11.Response):
            return super().send(event)
        headers = [*event.headers]
        seen = [item for item in headers if item[0] in FRAMING]
        others = [b"%b: %b\r\n" % item for item in headers if item[0] not in FRAMING]
        head = super().send(h11.Response(status_code=event.status_code, headers=seen, reason=event.reason)) or b""
        return b"".join([head.removesuffix(b"\r\n"), *others, b"\r\n"])


class GatheredWrites(asyncio.Transport):
    """A transport that joins what is written until the event loop turns: a head, a body and its end."""

    def __init__(self, transport: asyncio.Transport) -> None:
        super().__init__()
        self._transport, self._loop = transport, asyncio.get_running_loop()
        self._pieces: list[bytes | bytearray | memoryview] = []
        self._size = 0

    def write(self, data: bytes | bytearray | memoryview) -> None:
        """Write soon."""
        if not data:
            return
        if not self._pieces:
            self._loop.call_soon(self.flush)
        self._pieces.append(data)
        self._size += len(data)
        if self._size >= MAX_GATHERED:
            self.flush()

    def flush(self) -> None:
        """Write now."""
        pieces, self._pieces, self._size = self._pieces, [], 0
        if pieces:
            self._transport.write(pieces[0] if len(pieces) == 1 else b"".join(pieces))

    def get_write_buffer_size(self) -> int:
        """The bytes that the kernel has not taken."""
        return self._size + self._transport.get_write_buffer_size()

    def close(self) -> None:
        """Close once everything is written."""
        self.flush()
        self._transport.close()

    def abort(self) -> None:
        """Close at once."""
        self._pieces.clear()
        self._transport.abort()

    def is_closing(self) -> bool:
        """Whether it is closing or closed."""
        return self._transport.is_closing()

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        """What is known about the connection."""
        return self._transport.get_extra_info(name, default)

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        """When to pause the writing."""
        self._transport.set_write_buffer_limits(high, low)

    def pause_reading(self) -> None:
        """Receive nothing."""
        self._transport.pause_reading()

    def resume_reading(self) -> None:
        """Receive again."""
        self._transport.resume_reading()


class DirectBody:
    """Writes the body of one response in chunks (RFC 9112, 7.1), between its head and its end, which go by `send`."""

    def __init__(self, cycle: RequestResponseCycle, transport: GatheredWrites) -> None:
        self._cycle, self._transport = cycle, transport
        self._task: asyncio.Task[Any] | None = None
        self.sent = 0

    async def pour(self, chunks: AsyncGenerator[bytes]) -> None:
        """Write chunks, none of them empty, each once the client has taken the earlier ones, until the client leaves.

        Raises the errors of `chunks`.
        """
        cycle = self._cycle
        self._task = task = asyncio.current_task()
        try:
            async with aclosing(chunks):
                async for data in chunks:
                    if cycle.flow.write_paused and not cycle.disconnected:
                        await cycle.flow.drain()
                    if cycle.disconnected:
                        break
                    self._transport.write(b"%x\r\n%b\r\n" % (len(data), data))
                    self._transport.flush()  # it may be a while until there is more
                    self.sent += len(data)
        except asyncio.CancelledError:
            if not cycle.disconnected or task is None or task.uncancel():
                raise
        finally:
            self._task = None

    def end(self) -> None:
        """End `pour`, because the client is gone."""
        if self._task is not None:
            self._task.cancel()


def direct_body(scope: Scope) -> DirectBody | None:
    """What writes the body of a response directly, if its connection is one of ours and can."""
    return scope.get("extensions", {}).get(CONNECTION, {}).get("body")
