"""The internet that the page's servers fetch from: a picture, one that arrives in two parts, and a login."""

import asyncio

from support.fake_internet import Web, page
from support.fixtures import pdf, png

PICTURE = png(40, 30)
LOGIN = page(b"<!doctype html><title>Login</title>", b"Content-Type: text/html")


class PageWeb(Web):
    """`/slow.png` begins at once, and ends when `resume` is called; `open` is the number of its downloads."""

    def __init__(self):
        self.open, self._resumed = 0, asyncio.Event()
        answers = {"/red.png": page(PICTURE), "/plan.pdf": page(pdf("Plan")), "/slow.png": self.slowly}
        super().__init__({**answers, "/photo.jpg": LOGIN})

    async def slowly(self, writer):
        whole = page(PICTURE)
        writer.write(whole[:-20])
        await writer.drain()
        self.open += 1
        waits = [asyncio.ensure_future(self._resumed.wait()), asyncio.ensure_future(writer.wait_closed())]
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
            writer.write(whole[-20:])
        finally:
            self.open -= 1
            for wait in waits:
                wait.cancel()
            await asyncio.gather(*waits, return_exceptions=True)

    async def resume(self):
        """Let the downloads that are open end."""
        self._resumed.set()
        self._resumed = asyncio.Event()
