"""HTTP by aiohttp: request bodies are streamed, and errors get plain messages.

Client errors are never chained: some contain the request's headers and so the key.
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
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit
from weakref import WeakSet

import aiohttp
from yarl import URL

from showandtell.core.wire.http import HttpRequest, HttpResponse
from showandtell.errors import BadAnswer, BadInput, CannotRender, ProviderError, ShowAndTellError
from showandtell.network.environment import proxy_for, tls_context
from showandtell.network.timeouts import Timeouts
from showandtell.version import VERSION

if TYPE_CHECKING:
    from ssl import SSLContext

    from showandtell.network.address_guard import AddressGuard

#: How long to wait for the end of a fully read response, so that its connection can be reused.
LINGER_SECONDS = 0.05


class LenientSocket(socket.socket):
    """A socket that drops data its peer no longer accepts, so that a response sent earlier can still be read.

    A host may reject a request (413, 401) and close the connection before the body is sent. A failed write would end
    the connection with that response unread; the reader notices the end by itself, after the last byte of the response.
    """

    def send(self, data: Any, flags: int = 0, /) -> int:
        """Send the data, or drop it if the connection is broken."""
        try:
            return super().send(data, flags)
        except (BrokenPipeError, ConnectionResetError):
            return memoryview(data).nbytes

    def sendmsg(self, buffers: Iterable[Any], *more: Any) -> int:
        """Like `send`, for several buffers."""
        chunks = list(buffers)
        try:
            return super().sendmsg(chunks, *more)
        except (BrokenPipeError, ConnectionResetError):
            return sum(memoryview(chunk).nbytes for chunk in chunks)


def make_socket(address: tuple[Any, ...]) -> socket.socket:
    """Create a socket for an address: its family, type and protocol; the rest is not needed."""
    return LenientSocket(*address[:3])


class RequestBody:
    """A request body as it is sent: each chunk has a time limit, and an error of its source is recorded."""

    def __init__(self, request: HttpRequest, idle: float) -> None:
        self.chunks = request.body()
        self.remaining = request.size
        self.is_sent = not request.size
        self.idle = idle
        self.error: Exception | None = None
        self.deadline: asyncio.Timeout | None = None
        self.transport: asyncio.BaseTransport | None = None

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self

    async def __anext__(self) -> bytes:
        self.extend_deadline(self.idle)
        try:
            chunk = await anext(self.chunks, None)
            self.remaining -= len(chunk or b"")
            # The client truncates a body that is too long, and waits forever for one that is too short.
            if self.remaining < 0 or (chunk is None and self.remaining):
                raise CannotRender(f"a body is {abs(self.remaining)} bytes off its content-length")  # noqa: TRY301 - recorded below
        except Exception as error:
            self.error = error
            raise
        if chunk is None:
            self.is_sent = True  # the wait for the response starts, and interim responses don't extend it
            raise StopAsyncIteration
        return chunk

    def extend_deadline(self, seconds: float) -> None:
        """Give the host this long for the next chunk or the head of its response, to a hundredth."""
        if self.deadline is not None:
            deadline, current = asyncio.get_running_loop().time() + seconds, self.deadline.when()
            if current is None or abs(deadline - current) > seconds / 100:
                self.deadline.reschedule(deadline)

    async def close(self) -> None:
        """Close the source, and the files behind it."""
        close: Callable[[], Awaitable[None]] | None = getattr(self.chunks, "aclose", None)
        if close is not None:
            with suppress(RuntimeError):  # being read: it ends with the reading task
                await close()


#: The body of the request that is being sent.
CURRENT_BODY: ContextVar[RequestBody] = ContextVar("upload")


class Connector(aiohttp.TCPConnector):
    """Gives each request body its connection. The client's own way to close one waits for unsent data."""

    @cached_property
    def used(self) -> WeakSet[object]:
        """Connections that carried a request."""
        return WeakSet()

    async def connect(
        self,
        req: aiohttp.ClientRequest,
        traces: list[Any],
        timeout: aiohttp.ClientTimeout,  # noqa: ASYNC109 - aiohttp's signature
    ) -> aiohttp.connector.Connection:
        """Open or reuse a connection."""
        connection = await super().connect(req, traces, timeout)
        # Data that arrived on an idle connection would be read as the next response, and aiohttp's pool doesn't check.
        # New connections are exempt: a host that speaks first would be reconnected to forever.
        while (protocol := connection.protocol) is not None and protocol in self.used and protocol.should_close:
            connection.close()
            connection = await super().connect(req, traces, timeout)
        self.used.add(connection.protocol)
        body = CURRENT_BODY.get()
        body.transport = connection.transport
        body.extend_deadline(body.idle)
        return connection


def abort(transport: asyncio.BaseTransport | None) -> None:
    """Close a connection immediately and discard what it buffers."""
    if isinstance(transport, asyncio.WriteTransport):
        # Up to Python 3.11.2, a TLS connection that has ended no longer has a transport to close.
        with suppress(AttributeError):
            transport.abort()


class Session:
    """A connection pool for one event loop."""

    def __init__(self, timeouts: Timeouts, environ: Mapping[str, str], guard: AddressGuard | None = None) -> None:
        self.timeouts, self.environ, self._guard = timeouts, environ, guard
        self.client = aiohttp.ClientSession(
            connector=Connector(limit=0, socket_factory=make_socket) if guard is None else guarded_connector(guard),
            cookie_jar=aiohttp.DummyCookieJar(),
            timeout=aiohttp.ClientTimeout(timeouts.total, sock_connect=timeouts.connect, sock_read=timeouts.idle),
            headers={"user-agent": f"showandtell/{VERSION}", "accept-encoding": "identity"},
        )

    @cached_property
    def tls(self) -> SSLContext:
        """The TLS context from the environment, created once."""
        return tls_context(self.environ)

    async def close(self) -> None:
        """Close every connection."""
        await self.client.close()

    @asynccontextmanager
    async def send(self, request: HttpRequest) -> AsyncGenerator[HttpResponse]:
        """Send a request. `Transport.send` lists the errors."""
        host = urlsplit(request.url).netloc
        body = RequestBody(request, self.timeouts.idle)
        try:
            response = await self.start(request, body, host)
            try:
                refuse_redirect(response, host)
                headers = {name.lower(): as_text(value) for name, value in response.headers.items()}
                yield HttpResponse(response.status, headers, read_body(response, host, self.timeouts))
                if not body.remaining:
                    await linger(response)
                    response.release()
            finally:
                abort(response.connection and response.connection.transport)
                response.close()
        finally:
            await body.close()

    async def start(self, request: HttpRequest, body: RequestBody, host: str) -> aiohttp.ClientResponse:
        """Send the request and wait for the head of the response."""
        proxy = proxy_for(request.url, self.environ) if self._guard is None else None  # which would resolve again
        failure: Exception
        CURRENT_BODY.set(body)
        try:
            async with asyncio.timeout(None) as body.deadline:
                response = await self.client.request(
                    request.method,
                    # Percent-encoding in a path may be signed, so it must not be normalized.
                    URL(request.url, encoded=True),
                    data=body if request.size else None,
                    headers={**request.headers, "content-length": str(request.size)},
                    proxy=proxy,
                    ssl=self.tls if any(url.startswith("https:") for url in (request.url, proxy or "")) else True,
                    allow_redirects=False,
                )
                body.transport = None
                return response
        except (aiohttp.ClientError, OSError, ValueError) as error:
            timed_out = body.deadline is not None and body.deadline.expired()
            cause = aiohttp.SocketTimeoutError() if timed_out and body.is_sent else error
            failure = body.error or explain(cause, host, proxy, self.timeouts, stalled=timed_out)
        finally:
            body.deadline = None
            abort(body.transport)
        raise failure


def guarded_connector(guard: AddressGuard) -> Connector:
    """Connections to the addresses that a guard allows."""
    from showandtell.network.guarded_connections import GuardedResolver, GuardedSockets  # noqa: PLC0415 - seldom needed

    return Connector(
        limit=0,
        resolver=GuardedResolver(guard),
        socket_factory=GuardedSockets(guard, make_socket),
        use_dns_cache=False,
    )


async def read_body(response: aiohttp.ClientResponse, host: str, timeouts: Timeouts) -> AsyncGenerator[bytes]:
    """The response body as it arrives. Raises `OSError` if the connection breaks."""
    try:
        async for data in response.content.iter_any():
            yield data
    except (aiohttp.ClientError, OSError) as error:
        failure = explain(error, host, None, timeouts)
    else:
        return
    raise failure


async def linger(response: aiohttp.ClientResponse) -> None:
    """Wait briefly for the end of a response, so that its connection can be reused."""
    with suppress(aiohttp.ClientError, OSError):
        async with asyncio.timeout(LINGER_SECONDS):
            while response.connection is not None and await response.content.readany():
                pass


def refuse_redirect(response: aiohttp.ClientResponse, host: str) -> None:
    """Raise `ProviderError` for a redirect: keys and conversations go only to the configured host."""
    if 300 <= response.status < 400:
        target = redirect_target(as_text(response.headers.get("location", "")))
        raise ProviderError(f"{host} redirects to {target or 'nowhere'}, which is not followed", response.status)


def redirect_target(location: str) -> str:
    """The target of a redirect without its query; empty if invalid."""
    try:
        parts = urlsplit(location)
    except ValueError:
        return ""
    return f"{parts.scheme}://{parts.hostname}{parts.path}" if parts.hostname else parts.path


def as_text(value: str) -> str:
    """A header value that is valid in JSON: aiohttp decodes invalid UTF-8 as lone surrogates."""
    return value.encode(errors="surrogateescape").decode(errors="replace")


def explain(error: Exception, host: str, proxy: str | None, timeouts: Timeouts, *, stalled: bool = False) -> Exception:
    """The exception to raise for a client error, without any header in its message.

    `ConnectionError` and `TimeoutError` are worth a retry; a plain `OSError` (DNS, certificate, proxy) is not.
    """
    match error:
        case ShowAndTellError():
            return error
        case TimeoutError():
            return TimeoutError(errno.ETIMEDOUT, describe_timeout(error, host, timeouts, stalled=stalled))
        case aiohttp.ClientConnectorCertificateError():
            detail = getattr(error.certificate_error, "verify_message", "") or "it can't be verified"
            advice = "set SSL_CERT_FILE to trust other authorities"
            return OSError(errno.EPROTO, f"the certificate of {host} is not trusted: {detail}; {advice}")
        case aiohttp.ClientSSLError():
            return OSError(errno.EPROTO, f"{host} doesn't speak TLS as expected")
        case aiohttp.ClientProxyConnectionError():
            return ConnectionError(errno.EHOSTUNREACH, f"the proxy {netloc_of(proxy)} can't be reached")
        case aiohttp.ClientHttpProxyError():
            return OSError(errno.EPROTO, f"the proxy {netloc_of(proxy)} responded with {error.status}")
        case aiohttp.ClientConnectorDNSError():
            return OSError(errno.EADDRNOTAVAIL, f"unknown host {host}")
        case aiohttp.ClientConnectorError():
            kind = ConnectionRefusedError if error.errno == errno.ECONNREFUSED else ConnectionError
            return kind(error.errno or errno.EHOSTUNREACH, f"no connection to {host}: {describe_errno(error.errno)}")
        case aiohttp.ClientResponseError():
            return BadAnswer(f"{host} doesn't speak HTTP")
        case ValueError():  # an invalid host name or header value
            return BadInput(f"a request to {host} can't be sent: its URL or a header contains invalid characters")
        case _:
            return ConnectionResetError(errno.ECONNRESET, f"{host} broke the connection")


def describe_timeout(error: TimeoutError, host: str, timeouts: Timeouts, *, stalled: bool) -> str:
    """Which timeout expired."""
    match error:
        case aiohttp.ConnectionTimeoutError():
            return f"no connection to {host} in {timeouts.connect:g} s"
        case aiohttp.SocketTimeoutError():
            return f"{host} sent nothing for {timeouts.idle:g} s"
        case _ if stalled:
            return f"{host} read nothing of the request for {timeouts.idle:g} s"
        case _:
            return f"the response from {host} took longer than {timeouts.total:g} s"


def describe_errno(code: int | None) -> str:
    """The system's message for an error number."""
    return os.strerror(code) if code else "none of its addresses responds"


def netloc_of(proxy: str | None) -> str:
    """A proxy's host and port, without credentials."""
    return urlsplit(proxy or "").netloc.rpartition("@")[2]
