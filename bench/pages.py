"""Pages of a PDF as pictures, over HTTP: drawn when they are first shown, and shown again.

CPU time of the server's processes for a request, and the time that its client waits. The document has scanned pages
(A4 at 150 dots per inch); each round asks for a page that nobody has seen, then for the same page ten times. The floor
draws a page by pypdfium2 and encodes it by Pillow, in a process without a server, limits or storage; PyMuPDF does the
same. Neither keeps pages, so that a page again costs them as much as the first time.
"""

from __future__ import annotations

import asyncio
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import aiohttp

from figures import FLOOR, Figure, rounds, save
from own_server import HEADERS, own_server
from processes import install, peer, tree_seconds
from sample_files import MIB, write

PACKAGES = ("pypdfium2==5.15.2", "pymupdf==2.0", "pillow==13.0.0")
ROUNDS, AGAIN = 11, 10
#: Milliseconds of a page that is shown again.
GOAL = 8


class Pages:
    """A document at a server, whose pages are asked for one after the other."""

    def __init__(self, url: str, process: int, document: Path) -> None:
        self.process, self.number, self.waited = process, 0, list[float]()
        self.loop = asyncio.new_event_loop()
        self.session = self.loop.run_until_complete(self.open(url))
        self.id = self.loop.run_until_complete(self.upload(document.read_bytes()))

    async def open(self, url: str) -> aiohttp.ClientSession:
        """A client, within the loop."""
        return aiohttp.ClientSession(url, headers=HEADERS)

    async def upload(self, document: bytes) -> str:
        """Its id at the server."""
        async with self.session.put("/api/attachments?name=scan.pdf", data=document) as answer:
            return (await answer.json())["id"]

    async def get(self, count: int) -> float:
        """CPU milliseconds of the server for the page, `count` times."""
        begun, start = tree_seconds(self.process), time.perf_counter()
        for _ in range(count):
            async with self.session.get(f"/api/attachments/{self.id}/pages/{self.number}") as answer:
                assert answer.status == 200, await answer.text()
                assert len(await answer.read()) > 1000
        self.waited.append((time.perf_counter() - start) * 1000 / count)
        return (tree_seconds(self.process) - begun) * 1000 / count

    def first(self) -> float:
        """The next page."""
        self.number += 1
        return self.loop.run_until_complete(self.get(1))

    def again(self) -> float:
        """The same page again."""
        return self.loop.run_until_complete(self.get(AGAIN))

    def close(self) -> None:
        """Disconnect."""
        self.loop.run_until_complete(self.session.close())
        self.loop.close()


def figures(folder: Path) -> Iterator[Figure]:
    """First and again, CPU time and wall time."""
    python, document = install("pages", *PACKAGES), write(folder, "PDF", 8 * MIB)
    arguments = (str(document), str(ROUNDS + 1))
    with (
        own_server(folder / "data") as (url, process),
        peer(python, "draw_page", "pypdfium2", *arguments) as floor,
        peer(python, "draw_page", "pymupdf", *arguments) as other,
    ):
        pages = Pages(url, process, document)
        names = {"floor": floor, f"PyMuPDF {other.version}": other}
        costs = rounds(ROUNDS, first=pages.first, **names)
        first, waited = costs.pop("first"), pages.waited[1:]
        peers = {FLOOR: costs.pop("floor"), **costs}
        yield Figure("a page of a PDF, first", "ms", first, peers)
        yield Figure("a page of a PDF, first", "ms, wall", waited)
        pages.waited.clear()
        again = rounds(ROUNDS, ours=pages.again, **names)
        ours = again.pop("ours")
        beside = {FLOOR: again.pop("floor"), **again}
        yield Figure("a page of a PDF, again", "ms", ours, beside, goal=GOAL, before="210 to 260")
        yield Figure("a page of a PDF, again", "ms, wall", pages.waited[1:], goal=GOAL, before="210 to 260")
        pages.close()


def main() -> None:
    """Print the table."""
    with tempfile.TemporaryDirectory() as folder:
        save(__doc__ or "", list(figures(Path(folder))))


if __name__ == "__main__":
    main()
