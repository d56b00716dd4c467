"""One request to a URL from outside: the host is resolved once, every address is checked, and those alone are dialled.

`fetch` alone uses it. There is no proxy (it would resolve anew), no cookie, no netrc, no key, and no redirect here.
Errors of the client are never chained or quoted: they name addresses.
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
from importlib.metadata import version
from ipaddress import ip_address
from ssl import SSLContext
from typing import Any, TypeAlias

import aiohttp
from aiohttp.abc import AbstractResolver, ResolveResult
from yarl import URL

from showandtell.errors import BadFile
from showandtell.network.environment import trusted
from showandtell.network.public_addresses import Address, read_public

#: Gives the addresses of a host and port, as text.
Resolver: TypeAlias = Callable[[str, int], Awaitable[Sequence[str]]]
#: Gives a socket for one address: its family, kind, protocol, a name, and the address itself.
Sockets: TypeAlias = Callable[[tuple[Any, ...]], socket.socket]

MOST_URL = 8192
#: A host with more addresses is dialled at these only, lest one request become many.
MOST_ADDRESSES = 8
#: The most bytes of one header, and the most headers of an answer.
MOST_HEADER, MOST_HEADERS = 8190, 128
#: What RFC 3986 lets a URL be written with. Such a one is sent as it is spelt: it may be signed.
SPELT = re.compile(r"[A-Za-z0-9\-._~:/?#\[\]@!$&'()*+,;=%]*")
UNUSABLE = re.compile(r"[\x00-\x1f\x7f\\]")
#: A name in DNS or an address. A percent sign or a zone has no place in the host of a public URL.
HOST = re.compile(r"[a-z0-9._-]{1,253}|[0-9a-f:.]{2,45}")
NO_ADDRESS = ("has no public address", "check the spelling; hosts inside a network are not fetched")


@dataclass(frozen=True, slots=True)
class FetchedResponse:
    """What a host says: the status, headers by lower-case name, and the body in pieces as they come."""

    status: int
    headers: Mapping[str, str]
    pieces: AsyncIterator[bytes]


def read_url(text: str, base: URL | None = None) -> URL:
    """A web address with a plain host, without fragment. Raises `BadFile` that repeats nothing else of it."""
    text = text.strip(" ")
    try:
        if len(text) > MOST_URL or UNUSABLE.search(text):
            raise ValueError  # noqa: TRY301 - the client's parser says no in the same way
        url = URL(text, encoded=SPELT.fullmatch(text) is not None)
        url = (base.join(url) if base else url).with_fragment(None)
        host = (url.raw_host or "").lower().removesuffix(".")
        if not url.scheme:
            raise ValueError  # noqa: TRY301 - the same
    except ValueError:
        raise BadFile("the address", "is no usable URL", "write it as https://host/path") from None
    if url.scheme not in {"http", "https"}:
        raise BadFile("the address", f"has the scheme {url.scheme[:20]!r}", "use https")
    if not HOST.fullmatch(host):
        raise BadFile("the address", "has no usable host", "write it as https://host/path")
    if "@" in url.raw_authority:
        raise BadFile(host, "is given with a user name or password", "leave them out of the address")
    return url if url.raw_host == host else url.with_host(host)


async def look_up(host: str, port: int) -> list[str]:
    """What the system's resolver says. Raises `OSError` or `ValueError` for what has no address."""
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return [str(info[4][0]) for info in found]


def open_socket(info: tuple[Any, ...]) -> socket.socket:
    """A plain socket."""
    return socket.socket(*info[:3])


@cache
def believed() -> SSLContext:
    """Whose certificates count, as the environment of this program says: read once."""
    return trusted(os.environ)


@dataclass(frozen=True, slots=True)
class Line:
    """How a request goes out: who resolves names, who opens sockets, whose certificates are believed."""

    resolver: Resolver = look_up
    sockets: Sockets = open_socket
    tls: SSLContext | None = None


class Pinned(AbstractResolver):
    """The addresses that were checked, whatever the name."""

    def __init__(self, addresses: Sequence[Address]) -> None:
        self.addresses = addresses

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        """Give them; nothing is asked."""
        del family  # each says its own
        return [
            ResolveResult(
                hostname=host,
                host=str(one),
                port=port,
                family=socket.AF_INET if one.version == 4 else socket.AF_INET6,
                proto=socket.IPPROTO_TCP,
                flags=socket.AI_NUMERICHOST,
            )
            for one in self.addresses
        ]

    async def close(self) -> None:
        """Nothing is held."""


def guarded(sockets: Sockets, addresses: Sequence[Address]) -> Sockets:
    """Sockets for these addresses and no other, whatever the client makes of a URL."""

    def make(info: tuple[Any, ...]) -> socket.socket:
        if ip_address(info[4][0]) not in addresses:
            raise OSError("an address that was not checked")
        return sockets(info)

    return make


async def find(url: URL, resolver: Resolver) -> tuple[Address, ...]:
    """Resolve the host once. Raises `BadFile` in the same words for none and for one that isn't public.

    Whoever asks so learns nothing about the names inside a network.
    """
    host = url.raw_host or ""
    try:
        addresses = read_public(await resolver(host, url.port or 0))
    except (OSError, ValueError):
        addresses = ()
    if not addresses:
        raise BadFile(host, *NO_ADDRESS)
    return addresses[:MOST_ADDRESSES]


@asynccontextmanager
async def ask(url: URL, line: Line) -> AsyncGenerator[FetchedResponse]:
    """GET one URL; its redirects are answers like others. Raises `BadFile`, its pieces too. The caller keeps time."""
    host = url.raw_host or ""
    addresses = await find(url, line.resolver)
    async with AsyncExitStack() as open_things:
        try:
            client = await open_things.enter_async_context(_client(addresses, line))
            response = await open_things.enter_async_context(client.get(url, allow_redirects=False))
        except (aiohttp.ClientError, OSError, ValueError) as error:
            failure = BadFile(host, *explain(error))
        else:
            headers = {name.lower(): _as_text(value) for name, value in response.headers.items()}
            yield FetchedResponse(response.status, headers, _read(response, host))
            return
    raise failure


def _client(addresses: Sequence[Address], line: Line) -> aiohttp.ClientSession:
    connector = aiohttp.TCPConnector(
        resolver=Pinned(addresses),
        socket_factory=guarded(line.sockets, addresses),
        ssl=line.tls or believed(),
        use_dns_cache=False,
        force_close=True,
    )
    return aiohttp.ClientSession(
        connector=connector,
        cookie_jar=aiohttp.DummyCookieJar(),
        timeout=aiohttp.ClientTimeout(total=None, sock_connect=None),
        headers={
            "user-agent": f"showandtell/{version('showandtell')}",
            "accept": "*/*",
            "accept-encoding": "identity",
        },
        auto_decompress=False,
        trust_env=False,
        max_line_size=MOST_HEADER,
        max_field_size=MOST_HEADER,
        max_headers=MOST_HEADERS,
    )


async def _read(response: aiohttp.ClientResponse, host: str) -> AsyncGenerator[bytes]:
    try:
        async for piece in response.content.iter_any():
            yield piece
    except (aiohttp.ClientError, OSError) as error:
        failure = BadFile(host, *explain(error))
    else:
        return
    raise failure


def _as_text(value: str) -> str:
    return value.encode(errors="surrogateescape").decode(errors="replace")


def explain(error: Exception) -> tuple[str, str]:
    """What went wrong and what to do, without an address, a header or a byte of what came."""
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
