"""A message to a long conversation: CPU time of the server's process at turn 400, beside turn 10 of new ones.

Eight conversations of short texts grow in turn, over HTTP, and then eight new ones beside them. Each figure is the mean
of ten turns of all eight, up to turn 10 and up to turn 400, which is a round; the rounds are conversations of their
own. What the model gets grows with the conversation, and its bytes are in the figure. The first message of a worker to
a conversation of 400 turns reads it all.
"""

from __future__ import annotations

import asyncio
import tempfile

import aiohttp

from figures import FLOOR, Figure, save
from processes import processor_seconds
from servers import HERE, asks, client, ours, started

CONVERSATIONS, TURNS, ROUNDS, EVENTS = 8, 400, 3, 10
SPAN = 10


async def say(session: aiohttp.ClientSession, chat: str, turn: int) -> None:
    """Send one message, and read the answer."""
    body = asks(EVENTS, 0, chat)
    body["messages"][0]["id"] = f"{chat} {turn}"
    async with session.post("/api/chat", json=body) as answer:
        assert answer.status == 200, await answer.text()
        await answer.read()


async def talk(session: aiohttp.ClientSession, process: int, chats: list[str], turn: int) -> float:
    """The milliseconds of a message to each of these conversations."""
    before = processor_seconds(process)
    for chat in chats:
        await say(session, chat, turn)
    return (processor_seconds(process) - before) / len(chats) * 1000


async def compare(session: aiohttp.ClientSession, process: int, chats: list[str]) -> tuple[float, float]:
    """The milliseconds of a message to new conversations and to these, which grow long first; each in turn."""
    for turn in range(1, TURNS - SPAN + 1):
        await talk(session, process, chats, turn)
    fresh = [f"{chat}, fresh" for chat in chats]
    early, late = 0.0, 0.0
    for turn in range(1, SPAN + 1):
        early += await talk(session, process, fresh, turn) / SPAN
        late += await talk(session, process, chats, TURNS - SPAN + turn) / SPAN
    return early, late


async def measure() -> list[Figure]:
    """Measure warm and cold messages."""
    early: list[float] = []
    late: list[float] = []
    cold: list[float] = []
    with tempfile.TemporaryDirectory() as folder, started(str(HERE / "served/provider.py")) as (provider, _):
        for at in range(ROUNDS):
            chats = [f"round {at}, {number}" for number in range(CONVERSATIONS)]
            with ours(folder, provider) as (url, process):
                async with client(url) as session:
                    for number in range(50):
                        await say(session, f"warm up {at} {number}", 0)
                    first, last = await compare(session, process, chats)
            early.append(first)
            late.append(last)
            with ours(folder, provider) as (url, process):
                async with client(url) as session:
                    for number in range(50):
                        await say(session, f"warm up again {at} {number}", 0)
                    cold.append(await talk(session, process, chats, TURNS + 1))
    work = f"a message at turn {TURNS} of a conversation"
    return [
        Figure(
            f"{work} beside turn {SPAN} (the floor)", "ms", late, {FLOOR: early}, of="floor", goal=1.15, before="2.6"
        ),
        Figure(f"{work}, the first one of a worker", "ms", cold, goal=25),
    ]


if __name__ == "__main__":
    save(__doc__, asyncio.run(measure()))
