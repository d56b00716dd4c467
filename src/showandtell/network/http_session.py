"""HTTP by aiohttp, which no other module imports: bodies go out in pieces, and what goes wrong is told in plain words.

Errors of the client are never chained: some hold the request's headers, and with them the key.
"""

from __future__ import annotations

import asyncio
import errno
import os
import socket
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterable, Mapping
from contextlib import asynccontextmanager, suppress
from contextvars import ContextVar
from functools import cached_property
from importlib.metadata import version
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit
from weakref import WeakSet

import aiohttp
from yarl import URL

from showandtell.core.wire.http import HttpRequest, HttpResponse
from showandtell.errors import BadAnswer, BadInput, CannotRender, ProviderError, ShowAndTellError
from showandtell.network.environment import proxy_for, trusted
from showandtell.network.timeouts import Timeouts

if TYPE_CHECKING:
    from ssl import SSLContext

#: The seconds that an answer's end may still take, once all that counts of it was read, to keep its connection.
LINGER = 0.05


class PatientSocket(socket.socket):
    """A socket that drops what its peer no longer takes, so that an answer which came before is still read.

    A host may refuse a request (413, 401) and hang up before the body is through. A write that fails would end the
    connection with that answer unread; the reader learns of the end by itself, behind the answer's last byte.
    """

    def send(self, data: Any, flags: int = 0, /) -> int:
        """Send, or seem to."""
        try:
            return super().send(data, flags)
        except (BrokenPipeError, ConnectionResetError):
            return memoryview(data).nbytes

    def sendmsg(self, buffers: Iterable[Any], *more: Any) -> int:
        """The same for several pieces."""
        pieces = list(buffers)
        try:
            return super().sendmsg(pieces, *more)
        except (BrokenPipeError, ConnectionResetError):
            return sum(memoryview(piece).nbytes for piece in pieces)


def make_socket(address: tuple[Any, ...]) -> socket.socket:
    """A socket for one address of a host: its family, kind and protocol, and more that sockets don't need."""
    return PatientSocket(*address[:3])


class RequestBody:
    """A request's bytes as the host takes them: each piece has its time, and what goes wrong in them is kept."""

    def __init__(self, request: HttpRequest, idle: float) -> None:
        self.pieces = request.body()
        self.left = request.size
        self.is_through = not request.size
        self.idle = idle
        self.error: Exception | None = None
        self.deadline: asyncio.Timeout | None = None
        self.carrier: asyncio.BaseTransport | None = None

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self

    async def __anext__(self) -> bytes:
        self.wait(self.idle)
        try:
            piece = await anext(self.pieces, None)
            self.left -= len(piece or b"")
            # The client cuts off what exceeds the declared length, and waits for ever for what is missing.
            if self.left < 0 or (piece is None and self.left):
                raise CannotRender(f"a body is {abs(self.left)} bytes off its content-length")  # noqa: TRY301 - kept below
        except Exception as error:
            self.error = error
            raise
        if piece is None:
            self.is_through = True  # and the wait for the answer's head begins, which no "I am busy" makes longer
            raise StopAsyncIteration
        return piece

    def wait(self, seconds: float) -> None:
        """Let the host take so long for the next piece, or for the head of its answer."""
        if self.deadline is not None:
            self.deadline.reschedule(asyncio.get_running_loop().time() + seconds)

    async def close(self) -> None:
        """Give up what wasn't asked for, and the files behind it."""
        close: Callable[[], Awaitable[None]] | None = getattr(self.pieces, "aclose", None)
        if close is not None:
            with suppress(RuntimeError):  # it is just being read, and ends with the task that reads it
                await close()


#: What the request that is just being sent holds.
UPLOAD: ContextVar[RequestBody] = ContextVar("upload")


class Connector(aiohttp.TCPConnector):
    """Connections that are known to what they carry: the client's own way to close one waits for what isn't sent."""

    @cached_property
    def used(self) -> WeakSet[object]:
        """Those that carried a request."""
        return WeakSet()

    async def connect(
        self,
        req: aiohttp.ClientRequest,
        traces: list[Any],
        timeout: aiohttp.ClientTimeout,  # noqa: ASYNC109 - its own
    ) -> aiohttp.connector.Connection:
        """A new connection, or one that is used again."""
        connection = await super().connect(req, traces, timeout)
        # What came while one was idle would be taken for the next answer, and the client's pool doesn't look. One that
        # is new is let be: a host that speaks first would be connected to for ever.
        while (kept := connection.protocol) is not None and kept in self.used and kept.should_close:
            connection.close()
            connection = await super().connect(req, traces, timeout)
        self.used.add(connection.protocol)
        upload = UPLOAD.get()
        upload.carrier = connection.transport
        upload.wait(upload.idle)
        return connection


def drop(carrier: asyncio.BaseTransport | None) -> None:
    """Close a connection here and now, with all that it still holds."""
    if isinstance(carrier, asyncio.WriteTransport):
        # Of TLS that has ended already, Python up to 3.11.2 has forgotten what is to be closed.
        with suppress(AttributeError):
            carrier.abort()


class Session:
    """Connections of one event loop, kept and used again."""

    def __init__(self, timeouts: Timeouts, environ: Mapping[str, str]) -> None:
        self.timeouts, self.environ = timeouts, environ
        self.client = aiohttp.ClientSession(
            connector=Connector(limit=0, socket_factory=make_socket),
            cookie_jar=aiohttp.DummyCookieJar(),
            timeout=aiohttp.ClientTimeout(timeouts.total, sock_connect=timeouts.connect, sock_read=timeouts.idle),
            headers={"user-agent": f"showandtell/{version('showandtell')}", "accept-encoding": "identity"},
        )

    @cached_property
    def tls(self) -> SSLContext:
        """Whose certificates are believed: read once."""
        return trusted(self.environ)

    async def close(self) -> None:
        """Close every connection."""
        await self.client.close()

    @asynccontextmanager
    async def send(self, request: HttpRequest) -> AsyncGenerator[HttpResponse]:
        """One exchange; see `Transport.send` for what it raises."""
        where = urlsplit(request.url).netloc
        upload = RequestBody(request, self.timeouts.idle)
        try:
            response = await self.begin(request, upload, where)
            try:
                refuse_redirect(response, where)
                headers = {name.lower(): as_text(value) for name, value in response.headers.items()}
                yield HttpResponse(response.status, headers, read(response, where, self.timeouts))
                if not upload.left:
                    await linger(response)
                    response.release()
            finally:
                drop(response.connection and response.connection.transport)
                response.close()
        finally:
            await upload.close()

    async def begin(self, request: HttpRequest, upload: RequestBody, where: str) -> aiohttp.ClientResponse:
        """Send the request, until the head of its answer is there."""
        proxy = proxy_for(request.url, self.environ)
        failure: Exception
        UPLOAD.set(upload)
        try:
            async with asyncio.timeout(None) as upload.deadline:
                response = await self.client.request(
                    request.method,
                    # What is percent-encoded in a path was signed so, and is not to be spelt another way.
                    URL(request.url, encoded=True),
                    data=upload if request.size else None,
                    headers={**request.headers, "content-length": str(request.size)},
                    proxy=proxy,
                    ssl=self.tls if any(one.startswith("https:") for one in (request.url, proxy or "")) else True,
                    allow_redirects=False,
                )
                upload.carrier = None
                return response
        except (aiohttp.ClientError, OSError, ValueError) as error:
            late = upload.deadline is not None and upload.deadline.expired()
            told = aiohttp.SocketTimeoutError() if late and upload.is_through else error
            failure = upload.error or explain(told, where, proxy, self.timeouts, stalled=late)
        finally:
            upload.deadline = None
            drop(upload.carrier)
        raise failure


async def read(response: aiohttp.ClientResponse, where: str, timeouts: Timeouts) -> AsyncGenerator[bytes]:
    """An answer's bytes as they come. Raises `OSError` where they break off."""
    try:
        async for data in response.content.iter_any():
            yield data
    except (aiohttp.ClientError, OSError) as error:
        failure = explain(error, where, None, timeouts)
    else:
        return
    raise failure


async def linger(response: aiohttp.ClientResponse) -> None:
    """Wait a moment for an answer's end, behind which its connection can be used again."""
    with suppress(aiohttp.ClientError, OSError):
        async with asyncio.timeout(LINGER):
            while response.connection is not None and await response.content.readany():
                pass


def refuse_redirect(response: aiohttp.ClientResponse, where: str) -> None:
    """A key and a conversation go to the host that was named, and to no other. Raises `ProviderError`."""
    if 300 <= response.status < 400:
        aim = aim_of(as_text(response.headers.get("location", "")))
        raise ProviderError(f"{where} redirects to {aim or 'nowhere'}, which is not followed", response.status)


def aim_of(location: str) -> str:
    """Where a redirect leads, without a query; nothing for what is no address."""
    try:
        goal = urlsplit(location)
    except ValueError:
        return ""
    return f"{goal.scheme}://{goal.hostname}{goal.path}" if goal.hostname else goal.path


def as_text(value: str) -> str:
    """A header's value as any JSON holds it: the client spells bytes that aren't UTF-8 as lone surrogates."""
    return value.encode(errors="surrogateescape").decode(errors="replace")


def explain(error: Exception, where: str, proxy: str | None, timeouts: Timeouts, *, stalled: bool = False) -> Exception:
    """What went wrong on the way to a host, in words without any header.

    `ConnectionError` and `TimeoutError` may pass; a plain `OSError` (a name, a certificate, a proxy's no) will not.
    """
    match error:
        case ShowAndTellError():
            return error
        case TimeoutError():
            return TimeoutError(errno.ETIMEDOUT, too_late(error, where, timeouts, stalled=stalled))
        case aiohttp.ClientConnectorCertificateError():
            told = getattr(error.certificate_error, "verify_message", "") or "it can't be verified"
            advice = "SSL_CERT_FILE names other authorities"
            return OSError(errno.EPROTO, f"the certificate of {where} is not trusted: {told}; {advice}")
        case aiohttp.ClientSSLError():
            return OSError(errno.EPROTO, f"{where} doesn't speak TLS as expected")
        case aiohttp.ClientProxyConnectionError():
            return ConnectionError(errno.EHOSTUNREACH, f"the proxy {netloc_of(proxy)} can't be reached")
        case aiohttp.ClientHttpProxyError():
            return OSError(errno.EPROTO, f"the proxy {netloc_of(proxy)} answers {error.status}")
        case aiohttp.ClientConnectorDNSError():
            return OSError(errno.EADDRNOTAVAIL, f"no host has the name {where}")
        case aiohttp.ClientConnectorError():
            kind = ConnectionRefusedError if error.errno == errno.ECONNREFUSED else ConnectionError
            return kind(error.errno or errno.EHOSTUNREACH, f"no connection to {where}: {words_of(error.errno)}")
        case aiohttp.ClientResponseError():
            return BadAnswer(f"{where} doesn't answer as HTTP does")
        case ValueError():  # of a host's name that can't be one, or a header's value
            return BadInput(f"a request to {where} can't be written: its address or a header holds what none may hold")
        case _:
            return ConnectionResetError(errno.ECONNRESET, f"{where} broke the connection")


def too_late(error: TimeoutError, where: str, timeouts: Timeouts, *, stalled: bool) -> str:
    """Which patience ended."""
    match error:
        case aiohttp.ConnectionTimeoutError():
            return f"no connection to {where} in {timeouts.connect:g} s"
        case aiohttp.SocketTimeoutError():
            return f"nothing came from {where} for {timeouts.idle:g} s"
        case _ if stalled:
            return f"{where} took nothing of the request for {timeouts.idle:g} s"
        case _:
            return f"the answer of {where} took longer than {timeouts.total:g} s"


def words_of(code: int | None) -> str:
    """The system's own words for an error number."""
    return os.strerror(code) if code else "none of its addresses answers"


def netloc_of(proxy: str | None) -> str:
    """A proxy's host and port, without its credentials."""
    return urlsplit(proxy or "").netloc.rpartition("@")[2]
