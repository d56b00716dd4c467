"""The page in a browser, and a conversation of 500 messages and 200 pictures, from the browser and by its GET.

A conversation of 1,000 messages and 400 pictures is scrolled through by wheel, 600 pixels every 40 ms, and used, too:
text is typed, the list of models and a picture are opened. An answer to an input is the frame after it, in whole steps
of 8 ms, as browsers tell it.

The server is the command `serve` with SQLite, the browser chromium on the same machine, which draws in software; each
round is a fresh one. Bytes are those of all responses with their headers, as the browser's network log has them. The
conversation's answers are English prose of 390 characters each, and its last 200 questions have a picture. Its GET is
the API's, with a cookie; its cost is that of the server's process. The page asks for the 100 newest messages first,
with all files (`?newest=100`). The floor reads the same records with sqlite3, decodes, encodes and compresses them with
msgspec and zstd, without an HTTP server. There are no peers: the libraries that we compare with have no page.
"""

from __future__ import annotations

import asyncio
import io
import json
import os
import socket
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path

import msgspec
from PIL import Image

from figures import FLOOR, Figure, rounds, save
from processes import processor_seconds
from showandtell.core.messages.file import File
from showandtell.core.messages.message import Draft
from showandtell.core.messages.parts import Text
from showandtell.storage.blobs.zstd import zstd_module
from showandtell.storage.conversations.store import Store

ROOT = Path(__file__).parent.parent
TOKEN = "a-token-for-the-bench"  # noqa: S105 - it opens nothing
MESSAGES, PICTURES = 500, 200
MORE_MESSAGES, MORE_PICTURES = 1000, 400
#: Characters of an answer, how often something is done in a round, and rounds.
LENGTH, TIMES, ROUNDS = 390, 10, 15
CODINGS = "gzip, deflate, br, zstd"
SELECTS = (
    "SELECT record, step, created FROM showandtell_messages WHERE conversation_id = ? ORDER BY seq",
    "SELECT record, state, number FROM showandtell_attachments WHERE conversation_id = ?",
)


def prose() -> Iterator[str]:
    """Pieces of the prose of our own documents, without end."""
    lines = [line for path in sorted((ROOT / "docs").glob("*.md")) for line in path.read_text().splitlines()]
    text = " ".join(line for line in lines if line[:1].isalpha())
    while True:
        yield from (text[start : start + LENGTH] for start in range(0, len(text) - LENGTH, LENGTH))


def draw(at: int) -> bytes:
    """A picture unlike the others: 640 x 480, in bands."""
    image = Image.new("RGB", (640, 480), (at * 7 % 256, at * 13 % 256, at * 29 % 256))
    image.paste((250, 250, 250), (at % 300, at % 200, at % 300 + 120, at % 200 + 90))
    buffer = io.BytesIO()
    image.save(buffer, "PNG")
    return buffer.getvalue()


async def fill(folder: Path, messages: int, pictures: int) -> str:
    """Store a conversation in a folder; gives its id."""
    answers = prose()
    async with Store.at(folder) as store:
        conversation = await store.create("local")
        for at in range(messages // 2):
            has_picture = at >= messages // 2 - pictures
            files = (File.from_bytes(draw(at), name=f"picture {at}.png"),) if has_picture else ()
            for draft in (
                Draft("user", (*files, Text(f"What is there in picture {at + 1}?"))),
                Draft("assistant", (Text(next(answers)),), stop="end"),
            ):
                await conversation.record(draft, await conversation.probe(draft))
        return conversation.id


class Server:
    """The command `serve` over a folder, and a client with a cookie."""

    def __init__(self, process: int, port: int) -> None:
        self.process, self.url = process, f"http://127.0.0.1:{port}"
        self._connection = HTTPConnection("127.0.0.1", port)
        self._cookie = ""
        self._cookie = self.get(f"/?token={TOKEN}")[0]["set-cookie"].partition(";")[0]

    def get(self, path: str) -> tuple[dict[str, str], bytes]:
        """A response's headers and its body as it was sent."""
        self._connection.request("GET", path, headers={"cookie": self._cookie, "accept-encoding": CODINGS})
        response = self._connection.getresponse()
        return {name.lower(): value for name, value in response.getheaders()}, response.read()

    def cost_of(self, path: str) -> Callable[[], float]:
        """What measures the CPU milliseconds of the server for a request of a path."""
        return lambda: cost_in(self.process, lambda: self.get(path))


def cost_in(process: int, work: Callable[[], object]) -> float:
    """The CPU milliseconds of a process for some work, as the mean of several times."""
    start = processor_seconds(process)
    for _ in range(TIMES):
        work()
    return (processor_seconds(process) - start) * 1000 / TIMES


@contextmanager
def serving(folder: Path) -> Generator[Server]:
    """A server over a folder, as its users start it."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "showandtell", "serve", "--port", str(port), "--data", str(folder)]
    environ = {**os.environ, "SHOWANDTELL_TOKEN": TOKEN, "SHOWANDTELL_RATE": "reads=999999/minute"}
    with subprocess.Popen(command, env=environ, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        process.stdout.readline()
        try:
            yield Server(process.pid, port)
        finally:
            process.terminate()


def floor_of(folder: Path, conversation: str) -> Callable[[], float]:
    """What measures the CPU milliseconds of the floor."""
    module = zstd_module()
    assert module is not None

    def work() -> None:
        database = sqlite3.connect(folder / "showandtell.db")
        tables = [database.execute(query, (conversation,)).fetchall() for query in SELECTS]
        database.close()
        records = [[msgspec.json.decode(row[0]) for row in rows] for rows in tables]
        module.compress(msgspec.json.encode(records))

    return lambda: cost_in(os.getpid(), work)


def browse(url: str, *conversations: str) -> dict[str, list[float]]:
    """What the browser measured in each round."""
    asked = [sys.executable, "hatch_build.py", "--node"]
    node = subprocess.run(asked, cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()
    command = [Path(node) / "node", ROOT / "web" / "tests" / "benchmark.mjs", url, TOKEN, *conversations]
    return json.loads(subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout)


def main() -> None:
    """Measure, print and keep the figures."""
    with tempfile.TemporaryDirectory(prefix="showandtell-bench-") as name:
        folder = Path(name)
        conversation = asyncio.run(fill(folder, MESSAGES, PICTURES))
        longer = asyncio.run(fill(folder, MORE_MESSAGES, MORE_PICTURES))
        with serving(folder) as server:
            whole = f"/api/conversations/{conversation}"
            newest = f"{whole}?newest=100"
            sizes = {path: [len(server.get(path)[1]) / 1000] for path in (whole, newest)}
            costs = rounds(
                ROUNDS,
                whole=server.cost_of(whole),
                newest=server.cost_of(newest),
                floor=floor_of(folder, conversation),
            )
            seen = browse(server.url, conversation, longer)
    floor = {FLOOR: costs["floor"]}
    longest = "a conversation of 1,000 messages and 400 pictures"
    long = "a conversation of 500 messages and 200 pictures"
    save(
        __doc__ or "",
        [
            Figure("first load of the page, over the wire", "kB", seen["bytes"], goal=85, before="292"),
            Figure("load of the page again, over the wire", "kB", seen["again"]),
            Figure("first paint of the page", "ms wall", seen["paint"], goal=500, before="208"),
            Figure(f"{long}: its newest messages are visible", "ms wall", seen["opened"], goal=1000, before="388"),
            Figure(f"{long}: longest task while it opens", "ms wall", seen["blocked"]),
            Figure("scrolling through all of it, a frame (p95)", "ms wall", seen["p95"], goal=34, before="17"),
            Figure(f"{longest}: longest answer to an input", "ms wall", seen["answered"], goal=50),
            Figure(f"{longest}: layout shift, opened, scrolled and used", "score", seen["moved"], goal=0.02),
            Figure(f"GET of {long}, as the page does it", "kB", sizes[newest], goal=60, before="527"),
            Figure(f"GET of {long}, as the page does it", "ms CPU", costs["newest"], floor, goal=15, before="51"),
            Figure(f"GET of {long}, all of it", "kB", sizes[whole], before="527"),
            Figure(f"GET of {long}, all of it", "ms CPU", costs["whole"], floor, before="51"),
        ],
    )


if __name__ == "__main__":
    main()
