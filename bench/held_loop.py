"""How long the event loop is held.

A message to a conversation of 10,000 messages and 2,000 pictures: the longest wall time in which the event loop could
do nothing else, in a program with `Agent`, where a task looks every millisecond, and in the chat server, where another
client asks for `/api/me` again and again and its longest wait counts. The floor is the same message to a conversation
without any history. Work in other threads counts as far as it holds the interpreter's lock: up to 5 ms at a time.
"""

from __future__ import annotations

import asyncio
import contextlib
import tempfile
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import aiohttp

from figures import FLOOR, Figure, save
from model_answers import ASKED, TOOL
from own_loop import make_agent
from sample_files import photo, saved
from servers import HERE, asks, client, ours, started
from showandtell import (
    Agent,
    Draft,
    File,
    History,
    Store,
    Text,
    ToolCall,
    export_conversation,
    import_conversation,
)

if TYPE_CHECKING:
    from showandtell.storage.conversations.memory_conversation import MemoryConversation

TURNS, PICTURES, ROUNDS = 2500, 2000, 5
GOAL = 10.0


def history() -> Iterator[Draft]:
    """Turns of four messages, most of them with a picture."""
    for at in range(TURNS):
        call = ToolCall(f"toolu_{at:05}", TOOL, f'{{"page": {at}}}')
        picture = [File.from_bytes(saved(photo(12, 9, at), "PNG"), name=f"page {at}.png")] if at < PICTURES else []
        yield Draft("user", (Text(f"Draw the page of day {at}, and tell me what changed."),))
        yield Draft("assistant", (call,), stop="tool_calls")
        yield Draft("tool", (Text("It is drawn."), *picture), call.call_id, TOOL)
        yield Draft("assistant", (Text("A little more rain than the day before."),), stop="end")


@asynccontextmanager
async def watched(waits: list[float], url: aiohttp.ClientSession | None = None) -> AsyncIterator[None]:
    """Note how long a task, or a small request to a server, waits meanwhile."""

    async def watch() -> None:
        while True:
            start = time.perf_counter()
            if url is None:
                await asyncio.sleep(0.001)
            else:
                async with url.get("/api/me") as answer:
                    await answer.read()
            waits.append((time.perf_counter() - start) * 1000)

    task = asyncio.create_task(watch())
    await asyncio.sleep(0.05)
    waits.clear()
    yield
    task.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await task


def draw(page: int) -> str:
    """Draw a page."""
    return f"Page {page} is drawn."


async def through_agent(agent: Agent, conversation: MemoryConversation) -> float:
    """The longest wait during a run of two steps."""
    waits: list[float] = []
    async with watched(waits):
        done = await agent.run(ASKED, conversation=conversation)
    assert done.status == "complete", done.error
    return max(waits)


async def of_agent(conversation: MemoryConversation) -> list[Figure]:
    """Runs in a program: the first one of an agent, and later ones."""
    first: list[float] = []
    later: list[float] = []
    floor: list[float] = []
    await through_agent(make_agent(2, draw), make_agent(2, draw).conversation())
    for _ in range(ROUNDS):
        agent = make_agent(2, draw)
        floor.append(await through_agent(agent, agent.conversation()))
        first.append(await through_agent(agent, conversation))
        later.append(await through_agent(agent, conversation))
    return [
        Figure("`Agent`, the first run of an agent", "ms, wall", first, {FLOOR: floor}, goal=GOAL, before="200"),
        Figure("`Agent`, a later run", "ms, wall", later, {FLOOR: floor}, goal=GOAL),
    ]


async def through_server(session: aiohttp.ClientSession, chat: str, number: int) -> float:
    """The longest wait for `/api/me` during a message."""
    waits: list[float] = []
    body = asks(10, 0, chat)
    body["messages"][0]["id"] = f"{chat} {number}"
    async with watched(waits, session), session.post("/api/chat", json=body) as answer:
        assert answer.status == 200, await answer.text()
        await answer.read()
    return max(waits)


async def of_server(packed: Path) -> list[Figure]:
    """Messages to a server: the first one of a worker, and later ones."""
    first: list[float] = []
    later: list[float] = []
    floor: list[float] = []
    with tempfile.TemporaryDirectory() as folder, started(str(HERE / "served/provider.py")) as (provider, _):
        async with Store.at(folder) as store:
            chat = (await import_conversation(store, packed)).id
        for at in range(ROUNDS):
            with ours(folder, provider) as (url, _):
                async with client(url) as session:
                    await through_server(session, f"warm up {at}", 0)
                    floor.append(await through_server(session, f"short {at}", 1))
                    first.append(await through_server(session, chat, 2 * at))
                    later.append(await through_server(session, chat, 2 * at + 1))
    return [
        Figure("the chat server, a worker's first message", "ms, wall", first, {FLOOR: floor}, goal=GOAL, before="200"),
        Figure("the chat server, a later message", "ms, wall", later, {FLOOR: floor}, goal=GOAL),
    ]


async def measure() -> list[Figure]:
    """Both."""
    conversation = make_agent(1, draw).conversation()
    conversation.ingest_now(History(history()))
    with tempfile.TemporaryDirectory() as folder:
        packed = Path(folder, "long.zip")
        await export_conversation(conversation, packed)
        return [*await of_agent(conversation), *await of_server(packed)]


if __name__ == "__main__":
    save(__doc__ or "", asyncio.run(measure()))
