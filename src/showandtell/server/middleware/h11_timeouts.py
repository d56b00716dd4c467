"""uvicorn's HTTP/1.1 connection with timeouts for request heads and for clients that don't read.

uvicorn waits indefinitely for the first head, for the rest of a partial one, and for a client to take a response. How
responses are written is in `h11_writes`.
"""

from __future__ import annotations

import asyncio
import fcntl
import socket
import struct
import termios
from contextlib import suppress
from typing import Final

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle

from showandtell.server.middleware.h11_writes import CONNECTION, DirectBody, GatheredWrites, PlainHeads

#: Seconds until a head has to be complete, from the opening of the connection or the first byte of a later request.
HEAD_TIMEOUT: Final = 30.0
#: Maximum bytes of a request's line and headers.
MAX_HEAD: Final = 64 * 1024
#: Seconds that a client may take nothing of a response that waits for it.
READ_TIMEOUT: Final = 60.0
#: Bytes of a response that the kernel holds unsent; with more, a client that doesn't read would occupy megabytes.
MAX_UNSENT: Final = 128 * 1024


class Connection(H11Protocol):
    """Closes itself if no complete head arrives in time, even if bytes keep arriving. For uvicorn's option `http`.

    This includes a body that still arrives after its response was sent. No timer runs while a request is handled, but
    one for a client that takes nothing of its response: a download, an event stream or any other. Bytes that it takes,
    however few, restart the time.
    """

    head_timeout = HEAD_TIMEOUT
    read_timeout = READ_TIMEOUT
    _timer: asyncio.TimerHandle | None = None
    _read_timer: asyncio.TimerHandle | None = None
    #: The last request, and the body of its response if that may be written directly.
    _known: RequestResponseCycle | None = None
    _body: DirectBody | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start the timer for the first head, and limit what a client that doesn't read occupies."""
        self._writes = GatheredWrites(transport)
        super().connection_made(self._writes)
        self.conn = PlainHeads(h11.SERVER, self.config.h11_max_incomplete_event_size or MAX_HEAD)
        transport.set_write_buffer_limits(high=0)  # also reports the rest of a response that nothing follows
        limit_unsent(transport)
        self._update_timer()

    def data_received(self, data: bytes) -> None:
        """Process received bytes; the timer keeps running until a request is complete."""
        super().data_received(data)
        self._update_timer()

    def handle_events(self) -> None:
        """Let a response cut its connection, since a body that breaks off must not look complete, or write directly."""
        super().handle_events()
        if self.cycle is not self._known:
            self._known, scope = self.cycle, self.cycle.scope
            has_chunks = scope["http_version"] == "1.1" and scope["method"] != "HEAD"
            self._body = DirectBody(self.cycle, self._writes) if has_chunks else None
            scope.setdefault("extensions", {})[CONNECTION] = {"cut": self.transport.abort, "body": self._body}

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the timers, and a stream that is being written."""
        self._cancel_timer()
        self._cancel_read_timer()
        super().connection_lost(exc)
        if self._body is not None:
            self._body.end()

    def pause_writing(self) -> None:
        """Start the timer for a client that doesn't read."""
        super().pause_writing()
        self._watch_reader(waiting_bytes(self.transport))

    def resume_writing(self) -> None:
        """Stop that timer: the client has taken everything."""
        self._cancel_read_timer()
        super().resume_writing()

    def _watch_reader(self, waiting: int) -> None:
        self._read_timer = self.loop.call_later(self.read_timeout, self._check_reader, waiting)

    def _check_reader(self, before: int) -> None:
        waiting = waiting_bytes(self.transport)
        if waiting < before:
            self._watch_reader(waiting)
        else:
            self._read_timer = None
            self.transport.abort()  # closing would wait until the client takes the rest

    def _cancel_read_timer(self) -> None:
        if self._read_timer is not None:
            self._read_timer.cancel()
            self._read_timer = None

    def _update_timer(self) -> None:
        is_idle: bool = self.cycle is None or self.cycle.response_complete  # pyright: ignore[reportUnnecessaryComparison]
        if not is_idle:
            self._cancel_timer()
        elif self._timer is None:
            self._timer = self.loop.call_later(self.head_timeout, self.transport.close)

    def _cancel_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


def limit_unsent(transport: asyncio.BaseTransport) -> None:
    """Limit the bytes that the kernel accepts beyond those on their way to the client, where it can (Linux, macOS)."""
    connection: socket.socket | None = transport.get_extra_info("socket")
    option: int | None = getattr(socket, "TCP_NOTSENT_LOWAT", None)
    if connection is not None and option is not None:
        with suppress(OSError):
            connection.setsockopt(socket.IPPROTO_TCP, option, MAX_UNSENT)


def waiting_bytes(transport: asyncio.Transport) -> int:
    """The bytes of a response that its client has not taken, in our buffer and, where it can be asked, the kernel's."""
    waiting, connection = transport.get_write_buffer_size(), transport.get_extra_info("socket")
    if connection is not None:
        with suppress(OSError):
            queued = fcntl.ioctl(connection.fileno(), termios.TIOCOUTQ, bytes(4))
            waiting += struct.unpack("i", queued)[0]
    return waiting
