"""A small internet on loopback: names with public addresses, real servers behind them, and a count of the requests.

Every connection, allowed or not, ends at these servers, so each request that passes the guard is recorded.
"""

import asyncio
import socket
from contextlib import asynccontextmanager
from ssl import PROTOCOL_TLS_CLIENT, PROTOCOL_TLS_SERVER, SSLContext

import trustme

from showandtell.network.fetch_request import Dialer

#: Host names and their addresses. Those from `inside.test` on must be refused.
NAMES = {
    "pictures.test": ["93.184.216.34"],
    "files.pictures.test": ["93.184.216.35"],
    "xn--mnchen-3ya.test": ["93.184.216.36"],
    "both.test": ["2606:4700::1111", "93.184.216.37"],
    "six.test": ["2606:4700::2222"],
    "translated.test": ["64:ff9b::5db8:d822"],
    "other.test": ["151.101.1.69"],
    "storage.googleapis.com": ["142.250.1.1"],
    "inside.test": ["10.1.2.3"],
    "localhost": ["::1", "127.0.0.1"],
    "metadata.google.internal": ["169.254.169.254"],
    "mixed.test": ["93.184.216.34", "10.0.0.1"],
    "mixed-six.test": ["93.184.216.34", "fd00:ec2::254"],
    "mixed-late.test": [*(f"93.184.216.{number}" for number in range(1, 30)), "127.0.0.1"],
    "mapped.test": ["::ffff:169.254.169.254"],
    "translated-inside.test": ["64:ff9b::a9fe:a9fe"],
    "sixtofour.test": ["2002:7f00:1::"],
    "azure.test": ["168.63.129.16"],
    "nothing.test": [],
    "nonsense.test": ["not an address"],
    "zone.test": ["fe80::1%1"],
}


async def resolve(host, port):
    """The addresses of a name above; other hosts are only parsed as addresses, without DNS."""
    if host.removesuffix(".") in NAMES:
        return NAMES[host.removesuffix(".")]
    return [info[4][0] for info in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_NUMERICHOST)]


def page(body=b"hello", *headers, status=b"200 OK"):
    """An HTTP response with its length."""
    lines = [b"HTTP/1.1 " + status, b"Content-Length: %d" % len(body), *headers]
    return b"\r\n".join(lines) + b"\r\n\r\n" + body


def redirect(location, status=b"302 Found"):
    """A redirect."""
    return page(b"secret body", b"Location: " + location.encode(), b"Set-Cookie: session=c00kie", status=status)


class Web:
    """Servers with `answers` by path. `dialled`: the addresses of all sockets; `connections`: a count; `hits`: request heads."""

    def __init__(self, answers, resolver=resolve):
        self.answers, self.resolver = answers, resolver
        self.hits, self.dialled, self.connections, self.tasks = [], [], 0, set()

    async def serve(self, reader, writer):
        self.connections += 1
        self.tasks.add(asyncio.current_task())
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode()
            self.hits.append(head)
            answer = self.answers.get(head.split()[1].partition("?")[0], page())
            await answer(writer) if callable(answer) else writer.write(answer)  # pyright: ignore[reportGeneralTypeIssues] - answers are coroutines
            await writer.drain()
        except (asyncio.IncompleteReadError, asyncio.CancelledError, ConnectionError):
            pass
        finally:
            writer.close()

    def sockets(self, info):
        """A socket that records its destination and connects to the servers here."""
        web = self

        class RedirectedSocket(socket.socket):
            def connect(self, address):
                web.dialled.append(address[:2])
                here = ("127.0.0.1", web.ports["http" if address[1] == 80 else "https"])
                super().connect((f"::ffff:{here[0]}", here[1]) if self.family == socket.AF_INET6 else here)

        return RedirectedSocket(*info[:3])


class Certificates:
    """Our own certificate authority, a client context that trusts it, and a certificate for all names here."""

    def __init__(self):
        authority = trustme.CA()
        self.theirs = SSLContext(PROTOCOL_TLS_SERVER)
        known = [name for name in NAMES if name.endswith((".test", ".googleapis.com"))]
        authority.issue_cert(*known, "93.184.216.34", "2606:4700::1111").configure_cert(self.theirs)
        self.ours = SSLContext(PROTOCOL_TLS_CLIENT)
        authority.configure_trust(self.ours)


@asynccontextmanager
async def serving(web, certificates):
    """Start the servers of a web; yields the `Dialer` that connects to them."""
    secure = await asyncio.start_server(web.serve, "127.0.0.1", 0, ssl=certificates.theirs)
    plain = await asyncio.start_server(web.serve, "127.0.0.1", 0)
    web.ports = {"https": secure.sockets[0].getsockname()[1], "http": plain.sockets[0].getsockname()[1]}
    try:
        yield Dialer(web.resolver, web.sockets, certificates.ours)
    finally:
        secure.close()
        plain.close()
        for task in web.tasks:
            task.cancel()
        await asyncio.gather(*web.tasks, return_exceptions=True)
        web.tasks.clear()
