"""What one more of each takes of the server: memory of an open answer and of a reader, and bytes in the database.

The chat is part of a program on uvicorn, with SQLite, in a process of its own. Each open answer is another user's, and
says a word a second; more readers are other tabs of twenty users. Memory is resident memory, beside that before. Bytes
in the database are those of its file, after 1,000 questions of ten words with answers of a hundred.
"""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import aiohttp

from figures import Figure, save
from processes import processor_seconds
from servers import HERE, NUMBERS, asks, client, reaching, resident, started

OPEN, READ, STORED = 800, 20, 1000
WORDS, EVERY = 100, 1.0
SETTLE, WATCHED = 5.0, 10.0


@asynccontextmanager
async def running(folder: str) -> AsyncIterator[tuple[aiohttp.ClientSession, int]]:
    """A server that has answered before, with a client of it."""
    async with AsyncExitStack() as stack:
        provider, _ = stack.enter_context(started(str(HERE / "served/provider.py")))
        url, process = stack.enter_context(started(str(HERE / "served/program.py"), folder, **reaching(provider)))
        session = await stack.enter_async_context(client(url))
        for _ in range(50):
            await answer(session, "words=100 every=0")
        yield session, process


async def answer(session: aiohttp.ClientSession, text: str, chat: str = "") -> None:
    """Ask, and read the answer to its end or until it is cancelled."""
    body = asks(WORDS, 0, chat or f"footprint {next(NUMBERS)}")
    body["messages"][0] |= {"id": f"message {next(NUMBERS)}", "parts": [{"type": "text", "text": text}]}
    async with session.post("/api/chat", json=body, headers={"x-user": chat or "ann"}) as response:
        assert response.status == 200, await response.text()
        async for _ in response.content.iter_any():
            pass


async def follow(session: aiohttp.ClientSession, chat: str) -> None:
    """Read an answer that somebody asked for."""
    async with session.get(f"/api/chat/{chat}/stream", headers={"x-user": chat}) as response:
        assert response.status == 200, await response.text()
        async for _ in response.content.iter_any():
            pass


async def open_answers() -> list[Figure]:
    """Memory and CPU time of open answers and of their readers."""
    with tempfile.TemporaryDirectory() as folder:
        async with running(folder) as (session, process):
            chats = [f"open {at}" for at in range(OPEN)]
            empty = resident(process)
            text = f"words={WORDS} every={EVERY}"
            tasks = [asyncio.create_task(answer(session, text, chat)) for chat in chats]
            answers, seconds = await held(process)
            tasks += [asyncio.create_task(follow(session, chats[at % READ])) for at in range(OPEN)]
            readers, more = await held(process)
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
    return [
        Figure("memory of an open answer with its reader", "kB", [(answers - empty) / OPEN / 1000]),
        Figure("memory of one more reader", "kB", [(readers - answers) / OPEN / 1000]),
        Figure("a word of an answer to its reader, one a second, 800 at once", "ms", [seconds * 1000 / OPEN / WATCHED]),
        Figure("the same word to one more reader", "ms", [(more - seconds) * 1000 / OPEN / WATCHED]),
    ]


async def held(process: int) -> tuple[int, float]:
    """Memory, and CPU seconds of some seconds, once everything is open."""
    await asyncio.sleep(SETTLE)
    before = processor_seconds(process)
    await asyncio.sleep(WATCHED)
    return resident(process), processor_seconds(process) - before


async def stored_answers() -> list[Figure]:
    """Bytes that questions and answers take in the database."""
    text = "words=100 every=0 and eight more words of a question"
    with tempfile.TemporaryDirectory() as folder:
        async with running(folder) as (session, _):
            before = size(folder)
            for _ in range(STORED // 50):
                await asyncio.gather(*(answer(session, text) for _ in range(50)))
            await asyncio.sleep(SETTLE)
            after = size(folder)
    return [
        Figure(
            "a question and its answer in a new conversation, in the database", "kB", [(after - before) / STORED / 1000]
        )
    ]


def size(folder: str) -> int:
    """Bytes of the database with its log."""
    return sum(path.stat().st_size for path in Path(folder).glob("showandtell.db*"))


if __name__ == "__main__":
    save(__doc__, [*asyncio.run(open_answers()), *asyncio.run(stored_answers())])
