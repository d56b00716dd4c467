"""A GET request to an untrusted URL: resolves the host once, checks every address, and connects only to those.

Used by `fetch` only. No proxy (it would resolve again), cookies, netrc, keys or redirects. Client errors are never
chained or quoted, since they contain addresses.
"""

from __future__ import annotations

import asyncio
import os
import re
import socket
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from functools import cache
from ipaddress import ip_address
from ssl import SSLContext
from typing import Any, TypeAlias

import aiohttp
from aiohttp.abc import AbstractResolver, ResolveResult
from yarl import URL

from showandtell.errors import BadFile
from showandtell.network.environment import tls_context
from showandtell.network.public_addresses import Address, parse_public
from showandtell.version import VERSION

#: Returns the addresses of a host and port as text.
Resolver: TypeAlias = Callable[[str, int], Awaitable[Sequence[str]]]
#: Creates a socket for an address: family, type, protocol, canonical name and the address itself.
SocketFactory: TypeAlias = Callable[[tuple[Any, ...]], socket.socket]

MAX_URL = 8192
#: At most this many of a host's addresses are tried, so that one request can't cause many.
MAX_ADDRESSES = 8
#: Maximum size of a response header in bytes, and maximum number of headers.
MAX_HEADER_SIZE, MAX_HEADERS = 8190, 128
#: The characters of a URL in RFC 3986. Such a URL is sent unchanged, since it may be signed.
URL_CHARACTERS = re.compile(r"[A-Za-z0-9\-._~:/?#\[\]@!$&'()*+,;=%]*")
FORBIDDEN = re.compile(r"[\x00-\x1f\x7f\\]")
#: A DNS name or an address. Percent signs and zones are not valid in the host of a public URL.
HOST = re.compile(r"[a-z0-9._-]{1,253}|[0-9a-f:.]{2,45}")
NO_ADDRESS = (
    "has no public address",
    "check the spelling; the program allows a host inside a network by FetchPolicy(private_hosts=…)",
)


@dataclass(frozen=True, slots=True)
class FetchedResponse:
    """A response: status, headers by lower-case name, and the body as it arrives."""

    status: int
    headers: Mapping[str, str]
    chunks: AsyncIterator[bytes]


def read_url(text: str, base: URL | None = None) -> URL:
    """Parse a web address with a plain host and drop its fragment. Raises `BadFile`, which shows only the host."""
    text = text.strip(" ")
    try:
        if len(text) > MAX_URL or FORBIDDEN.search(text):
            raise ValueError  # noqa: TRY301 - handled like the parser's own error
        url = URL(text, encoded=URL_CHARACTERS.fullmatch(text) is not None)
        url = (base.join(url) if base else url).with_fragment(None)
        host = (url.raw_host or "").lower().removesuffix(".")
        if not url.scheme:
            raise ValueError  # noqa: TRY301 - as above
    except ValueError:
        raise BadFile("the address", "is no usable URL", "write it as https://host/path") from None
    if url.scheme not in {"http", "https"}:
        raise BadFile("the address", f"has the scheme {url.scheme[:20]!r}", "use https")
    if not HOST.fullmatch(host):
        raise BadFile("the address", "has no usable host", "write it as https://host/path")
    if "@" in url.raw_authority:
        raise BadFile(host, "is given with a user name or password", "leave them out of the address")
    return url if url.raw_host == host else url.with_host(host)


async def resolve_host(host: str, port: int) -> list[str]:
    """Resolve with the system's resolver. Raises `OSError` or `ValueError` if the host has no address."""
    results = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return [str(info[4][0]) for info in results]


def open_socket(info: tuple[Any, ...]) -> socket.socket:
    """Create a plain socket."""
    return socket.socket(*info[:3])


@cache
def default_tls() -> SSLContext:
    """The TLS context from the environment, created once."""
    return tls_context(os.environ)


@dataclass(frozen=True, slots=True)
class Dialer:
    """How requests are sent: the resolver, the socket factory and the TLS context."""

    resolver: Resolver = resolve_host
    socket_factory: SocketFactory = open_socket
    tls: SSLContext | None = None


class PinnedResolver(AbstractResolver):
    """Resolves every name to the addresses that were checked."""

    def __init__(self, addresses: Sequence[Address]) -> None:
        self.addresses = addresses

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        """Return the addresses without a lookup."""
        del family  # each address has its own
        return [
            ResolveResult(
                hostname=host,
                host=str(address),
                port=port,
                family=socket.AF_INET if address.version == 4 else socket.AF_INET6,
                proto=socket.IPPROTO_TCP,
                flags=socket.AI_NUMERICHOST,
            )
            for address in self.addresses
        ]

    async def close(self) -> None:
        """Does nothing."""


def guarded_sockets(socket_factory: SocketFactory, addresses: Sequence[Address]) -> SocketFactory:
    """A socket factory that refuses any other address, however the client parses the URL."""

    def make(info: tuple[Any, ...]) -> socket.socket:
        if ip_address(info[4][0]) not in addresses:
            raise OSError("an address that was not checked")
        return socket_factory(info)

    return make


async def find_addresses(url: URL, resolver: Resolver, *, private: bool = False) -> tuple[Address, ...]:
    """Resolve the host once. Raises the same `BadFile` for unknown and for non-public hosts, unless `private` is set.

    So the error reveals nothing about names inside a network.
    """
    host = url.raw_host or ""
    try:
        found = await resolver(host, url.port or 0)
        addresses = tuple(map(ip_address, dict.fromkeys(found))) if private else parse_public(found)
    except (OSError, ValueError):
        addresses = ()
    if not addresses:
        raise BadFile(host, *NO_ADDRESS)
    return addresses[:MAX_ADDRESSES]


@asynccontextmanager
async def get(
    url: URL, dialer: Dialer, *, private: bool = False, headers: Mapping[str, str] | None = None
) -> AsyncGenerator[FetchedResponse]:
    """GET a URL without following redirects. Raises `BadFile`, also from the body. The caller sets the time limit.

    `private` allows hosts that are not on the public internet.
    """
    host = url.raw_host or ""
    addresses = await find_addresses(url, dialer.resolver, private=private)
    async with AsyncExitStack() as stack:
        try:
            client = await stack.enter_async_context(_client(addresses, dialer))
            response = await stack.enter_async_context(client.get(url, headers=headers, allow_redirects=False))
        except (aiohttp.ClientError, OSError, ValueError) as error:
            failure = BadFile(host, *explain(error))
        else:
            headers = {name.lower(): _as_text(value) for name, value in response.headers.items()}
            yield FetchedResponse(response.status, headers, _read(response, host))
            return
    raise failure


def _client(addresses: Sequence[Address], dialer: Dialer) -> aiohttp.ClientSession:
    connector = aiohttp.TCPConnector(
        resolver=PinnedResolver(addresses),
        socket_factory=guarded_sockets(dialer.socket_factory, addresses),
        ssl=dialer.tls or default_tls(),
        use_dns_cache=False,
        force_close=True,
    )
    return aiohttp.ClientSession(
        connector=connector,
        cookie_jar=aiohttp.DummyCookieJar(),
        timeout=aiohttp.ClientTimeout(total=None, sock_connect=None),
        headers={
            "user-agent": f"showandtell/{VERSION}",
            "accept": "*/*",
            "accept-encoding": "identity",
        },
        auto_decompress=False,
        trust_env=False,
        max_line_size=MAX_HEADER_SIZE,
        max_field_size=MAX_HEADER_SIZE,
        max_headers=MAX_HEADERS,
    )


async def _read(response: aiohttp.ClientResponse, host: str) -> AsyncGenerator[bytes]:
    try:
        async for chunk in response.content.iter_any():
            yield chunk
    except (aiohttp.ClientError, OSError) as error:
        failure = BadFile(host, *explain(error))
    else:
        return
    raise failure


def _as_text(value: str) -> str:
    return value.encode(errors="surrogateescape").decode(errors="replace")


def explain(error: Exception) -> tuple[str, str]:
    """Problem and advice for an error, without addresses, headers or content."""
    match error:
        case aiohttp.ClientConnectorCertificateError():
            return "has a certificate that is not trusted", "ask its owner to renew it, or use another address"
        case aiohttp.ClientSSLError():
            return "doesn't speak TLS as expected", "check the address and its port"
        case aiohttp.ClientConnectorError():
            return "can't be reached", "check the address, or try again later"
        case aiohttp.InvalidURL():
            return "is an address in a spelling that isn't used", "write it as four numbers with dots"
        case aiohttp.ClientResponseError() | ValueError():
            return "doesn't answer as HTTP does", "check the address and its port"
        case _:
            return "broke off", "try again, or download the file and add it"
