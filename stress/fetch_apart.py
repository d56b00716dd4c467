"""Run in a network namespace of its own, where every address of the internet is this process: who gets fetched?

The namespace's loopback answers for 0.0.0.0/0 and ::/0. A web server listens on port 80 of all of them, and a name
server on port 53; the program's own resolver and sockets are used. Run it by `unshare --map-root-user --net --mount`;
it prints one JSON object of counts.
"""

import asyncio
import json
import socket
import struct
import subprocess
import sys
import tempfile
from ipaddress import ip_address
from pathlib import Path

from showandtell.errors import BadFile
from showandtell.network import public_addresses
from showandtell.network.fetch import FetchPolicy, fetch

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
from support.bad_urls import bad_urls
from support.fake_internet import NAMES, Web, redirect

ALLOW = FetchPolicy(fetch=True, http=True, ports=tuple(range(65536)))
ROUTES = (
    "ip link set lo up",
    "ip route add local 0.0.0.0/0 dev lo",
    "ip -6 route add local ::/0 dev lo",
)
#: The kind of question that asks for an IPv4 address; 28 asks for an IPv6 one.
A = 1
IS_PUBLIC = public_addresses.is_public


class Names(asyncio.DatagramProtocol):
    """A name server: the names of the tests, and `rebind.test`, which is public once and inside ever after; TTL 0."""

    asked = 0

    def connection_made(self, transport):
        self.transport = transport

    def datagram_received(self, data, addr):
        labels, at = [], 12
        while size := data[at]:
            labels.append(data[at + 1 : at + 1 + size].decode())
            at += size + 1
        kind = struct.unpack_from("!H", data, at + 1)[0]
        found = [packed for item in self.look_up(".".join(labels).lower(), kind) if (packed := pack(item, kind))]
        head = data[:2] + struct.pack("!HHHHH", 0x8580, 1, len(found), 0, 0) + data[12 : at + 5]
        records = (b"\xc0\x0c" + struct.pack("!HHIH", kind, 1, 0, len(item)) + item for item in found)
        self.transport.sendto(head + b"".join(records), addr)

    def look_up(self, name, kind):
        if name != "rebind.test":
            return NAMES.get(name, [])
        Names.asked += kind == A
        return ["93.184.216.34"] if Names.asked % 2 else ["127.0.0.1"]


def pack(address, kind):
    try:
        return socket.inet_pton(socket.AF_INET if kind == A else socket.AF_INET6, address)
    except OSError:
        return None


class Everywhere(Web):
    """A web that knows at which of its addresses somebody came."""

    def __init__(self, answers):
        super().__init__(answers)
        self.reached = []

    async def serve(self, reader, writer):
        self.reached.append(ip_address(writer.get_extra_info("sockname")[0]))
        await super().serve(reader, writer)


async def count(web, urls, folder):
    """How many of these were fetched, and where connections came: at public addresses or at others."""
    web.reached.clear()
    fetched = 0
    for url in urls:
        try:
            await fetch(url, folder, max_bytes=100_000, policy=ALLOW, seconds=1)
        except BadFile:
            continue
        fetched += 1
    public = sum(map(IS_PUBLIC, web.reached))
    return {"urls": len(urls), "fetched": fetched, "public": public, "inside": len(web.reached) - public}


def open_up(folder):
    """Let this namespace have every address, and a name server of its own."""
    names = folder / "resolv.conf"
    names.write_text("nameserver 127.0.0.1\noptions timeout:1 attempts:1\n")
    for line in (*ROUTES, f"mount --bind {names} /etc/resolv.conf"):
        subprocess.run(line.split(), check=True)  # noqa: S603 - the lines above


async def main(folder):
    bad = [url.replace("https:", "http:") for url in dict.fromkeys(bad_urls()) if "pictures.test" not in url]
    web = Everywhere({f"/to/{number}": redirect(url) for number, url in enumerate(bad)})
    await asyncio.get_running_loop().create_datagram_endpoint(Names, ("127.0.0.1", 53))
    for every in ("0.0.0.0", "::"):  # noqa: S104 - that is what it is for
        await asyncio.start_server(web.serve, every, 80)
    good = ("93.184.216.34", "[2606:4700::1111]", "pictures.test", "both.test", "six.test", "translated.test")
    received = {
        "good": await count(web, [f"http://{host}/x" for host in good], folder),
        "bad": await count(web, bad, folder),
        "redirected": await count(web, [f"http://pictures.test/to/{number}" for number in range(len(bad))], folder),
        "rebinding": await count(web, ["http://rebind.test/x"] * 200, folder),
    }
    public_addresses.is_public = lambda _: True
    received["without the guard"] = await count(web, bad, folder)
    sys.stdout.write(json.dumps(received))


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        open_up(Path(name))
        asyncio.run(main(Path(name)))
