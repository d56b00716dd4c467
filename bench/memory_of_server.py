"""Memory of the server with all its processes, from its start to a minute after its first pictures.

Someone uploads a photo, a drawing and a PDF, sees their thumbnails and a page, and asks the inspector, a model without
a network, what is in them: first in general, then for the text, which OCR reads. Pages that several processes share
count once (proportional set size).
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
from collections.abc import Awaitable
from pathlib import Path

import aiohttp

from figures import Figure, save
from own_server import HEADERS, memory, own_server
from showandtell.samples import folder as samples

FILES = ("kiwi.jpg", "harbour.png", "invoice.pdf")
ROUNDS = 3
WATCH_SECONDS = 0.05
#: MB.
GOALS = {"after the first pictures": 250.0, "a minute later": 130.0}
BEFORE = {"after the first pictures": "357 to 736", "a minute later": "357 to 736"}


async def peak(process: int, work: Awaitable[None]) -> float:
    """The most memory that the processes hold during some work."""
    task, highest = asyncio.ensure_future(work), 0.0
    while not task.done():
        highest = max(highest, memory(process))
        await asyncio.wait([task], timeout=WATCH_SECONDS)
    await task
    return highest


async def upload(session: aiohttp.ClientSession, name: str) -> dict[str, str]:
    """A file's JSON."""
    data = (samples() / name).read_bytes()
    async with session.put("/api/attachments", params={"name": name}, data=data) as answer:
        assert answer.status == 201, await answer.text()
        return await answer.json()


async def look(session: aiohttp.ClientSession, files: list[dict[str, str]]) -> None:
    """Thumbnails and a page."""
    for address in [*(file["thumbnail"] for file in files), f"/api/attachments/{files[-1]['id']}/pages/1"]:
        async with session.get(address) as answer:
            assert answer.status == 200, await answer.text()
            await answer.read()


async def ask(session: aiohttp.ClientSession, chat: str, text: str, files: list[dict[str, str]]) -> None:
    """A question, to the end of its answer."""
    parts = [{"type": "data-attachment", "data": {"id": file["id"]}} for file in files]
    message = {"id": f"m-{chat}", "role": "user", "parts": [*parts, {"type": "text", "text": text}]}
    async with session.post("/api/chat", json={"id": chat, "messages": [message]}) as answer:
        assert answer.status == 200, await answer.text()
        await answer.read()


async def measure(url: str, process: int, seconds: float) -> dict[str, float]:
    """MB at each moment."""
    async with aiohttp.ClientSession(url, headers=HEADERS) as session:
        found = {"at rest": memory(process)}
        files = [await upload(session, name) for name in FILES]
        found["while thumbnails and a page are drawn, at most"] = await peak(process, look(session, files))
        found["while a question about them is answered, at most"] = await peak(
            process, ask(session, "first", "What are these?", files)
        )
        found["after the first pictures"] = memory(process)
        again = [await upload(session, name) for name in FILES]
        found["while OCR reads their text, at most"] = await peak(
            process, ask(session, "second", "What is the text in these pictures?", again)
        )
        await asyncio.sleep(seconds)
        found["a minute later"] = memory(process)
        return found


def main(seconds: float = 60) -> None:
    """Print the table."""
    values: dict[str, list[float]] = {}
    for _ in range(ROUNDS):
        with tempfile.TemporaryDirectory() as folder, own_server(Path(folder)) as (url, process):
            for moment, value in asyncio.run(measure(url, process, seconds)).items():
                values.setdefault(moment, []).append(value)
    works = {moment: f"the server's processes {moment}" for moment in values}
    save(
        __doc__ or "",
        [
            Figure(works[moment], "MB", found, goal=GOALS.get(moment), before=BEFORE.get(moment, ""))
            for moment, found in values.items()
        ],
    )


if __name__ == "__main__":
    main(*map(float, sys.argv[1:]))
