"""What the clients of the soak do: turns of conversations, some of which fail, and what each client received."""

from __future__ import annotations

import asyncio
import hashlib
import json
import random
from collections import Counter
from contextlib import suppress
from typing import Final
from urllib.parse import urlsplit

import aiohttp

from load import picture
from served.turns import Talk, Turn, end_of, note, plan, text_of
from servers import TOKEN

#: Seconds until a connection that was lost is tried again; the longest of a turn.
PAUSE, TIMEOUT = 0.2, 150.0
#: Shares of the turns that have an image, are answered again, are read by two clients.
PICTURES, AGAIN, FOLLOWS = 0.25, 0.1, 0.1
LOST: Final = (aiohttp.ClientError, OSError)


class Clients:
    """All who talk: over `session`, which changes when the server rests. `share` of everything goes wrong."""

    def __init__(self, url: str, share: float) -> None:
        self.url, self.share = url, share
        self.session: aiohttp.ClientSession
        self.talks: list[Talk] = []
        self.files: dict[str, str] = {}
        self.done: Counter[str] = Counter()
        self.wrong: list[str] = []
        self.going: set[int] = set()

    async def talk(self, name: str, until: float) -> None:
        """One conversation after the other until the loop's clock says so much."""
        chance = random.Random(name)  # noqa: S311 - the same soak each time
        clock = asyncio.get_running_loop().time
        while clock() < until:
            talk = Talk(f"soak {name} {len(self.talks)}")
            self.talks.append(talk)
            for _ in range(chance.randint(3, 10)):
                turn = plan(chance, self.share)
                self.done[f"fault: {turn.fault}"] += turn.fault != "none"
                try:
                    async with asyncio.timeout(TIMEOUT):
                        await self.take(talk, turn, chance)
                except (TimeoutError, AssertionError) as error:
                    self.wrong.append(f"{talk.id or talk.alias}, {turn.text}: {error or 'no end'}")
                    break
                if clock() > until:
                    break

    def kill(self) -> None:
        """Note that the server was killed just now: turns that go on may end so."""
        self.done["SIGKILL of the server"] += 1
        for talk in self.talks:
            for turn in talk.turns:
                turn.was_killed = turn.was_killed or turn.number in self.going

    async def take(self, talk: Talk, turn: Turn, chance: random.Random) -> None:
        """One turn, with all that belongs to it."""
        if chance.random() < PICTURES:
            turn.files.append(await self.upload(picture(), is_cut=chance.random() < self.share))
        talk.turns.append(turn)
        if chance.random() < self.share:
            await self.cut("POST", "/api/chat", json.dumps(talk.body(turn, again=False)).encode(), 0.7)
        await self.hear(talk, turn, follow=chance.random() < FOLLOWS)
        if chance.random() < AGAIN:
            self.done["answered again"] += 1
            await self.hear(talk, turn, again=True)

    async def upload(self, data: bytes, *, is_cut: bool) -> str:
        """Upload a picture until it is acknowledged; gives its id."""
        if is_cut:
            await self.cut("PUT", "/api/attachments?name=cut.png", data, 0.5)
        while True:
            with suppress(*LOST):
                async with self.session.put("/api/attachments?name=noise.png", data=data) as answer:
                    if answer.status == 201:
                        file = (await answer.json())["id"]
                        self.files[file] = hashlib.sha256(data).hexdigest()
                        return file
                    self.refused("upload", answer.status, await answer.text())
            await asyncio.sleep(PAUSE)

    async def hash_of(self, file: str) -> str:
        """The SHA-256 of a file as it is downloaded."""
        async with self.session.get(f"/api/attachments/{file}/content") as answer:
            return hashlib.sha256(await answer.read()).hexdigest()

    async def cut(self, method: str, path: str, body: bytes, part: float) -> None:
        """Send a part of a request, and hang up."""
        self.done[f"fault: {method} cut"] += 1
        there = urlsplit(self.url)
        with suppress(OSError):
            _, writer = await asyncio.open_connection(there.hostname, there.port)
            head = f"{method} {path} HTTP/1.1\r\nhost: {there.netloc}\r\nauthorization: Bearer {TOKEN}\r\n"
            kind = "application/json" if method == "POST" else "image/png"
            writer.write(f"{head}content-type: {kind}\r\ncontent-length: {len(body)}\r\n\r\n".encode())
            writer.write(body[: int(len(body) * part)])
            await writer.drain()
            await asyncio.sleep(PAUSE)
            writer.transport.abort()

    def refused(self, what: str, status: int, why: str) -> None:
        """Note a request that ought to have been taken."""
        self.wrong.append(f"{what}: {status} {why[:200]}")

    async def hear(self, talk: Talk, turn: Turn, *, again: bool = False, follow: bool = False) -> None:
        """Ask, and read the answer to its end over as many connections as it takes."""
        over = asyncio.Event()
        beside = [asyncio.create_task(self.stop(talk, turn, over))] if turn.stop is not None else []
        beside += [asyncio.create_task(self.follow(talk, turn, over))] if follow else []
        self.going.add(turn.number)
        try:
            is_asked = False
            while not over.is_set():
                try:
                    is_over = await self.connect(talk, turn, again=again, is_asked=is_asked)
                except LOST:
                    self.done["connections lost"] += 1
                    is_over = False
                is_asked = bool(turn.answer_id)  # and else it may not have been taken: it is sent once more
                if is_over:
                    over.set()
                else:
                    await asyncio.sleep(PAUSE)
        finally:
            self.going.discard(turn.number)
            over.set()
            for item in beside:
                await item

    async def connect(self, talk: Talk, turn: Turn, *, again: bool, is_asked: bool) -> bool:
        """Ask, or reconnect to an earlier question. Returns whether the answer's end was received."""
        if is_asked:
            request = self.session.get(f"/api/chat/{talk.alias}/stream")
        else:
            request = self.session.post("/api/chat", json=talk.body(turn, again=again))
        async with request as answer:
            if answer.status == 204:
                return await self.load(talk, turn)
            if answer.status != 200:
                self.refused(f"chat, {turn.text}", answer.status, await answer.text())
                return False
            talk.id = answer.headers["x-conversation-id"]
            return await self.listen(answer, turn, leave=True)

    async def load(self, talk: Talk, turn: Turn) -> bool:
        """Load the conversation, which has no active run any more, and check how its last answer ended."""
        async with self.session.get(f"/api/conversations/{talk.id}") as answer:
            assert answer.status == 200, f"loading it: {answer.status}"
            received = await answer.json()
        if received["running"]:
            return False
        last = received["messages"][-1]
        assert last["id"] == turn.answer_id, f"ends with {last['id']}, not {turn.answer_id}"
        note(turn, last["metadata"]["run_id"], end_of(last["metadata"], text_of(last)))
        return True

    async def stop(self, talk: Talk, turn: Turn, over: asyncio.Event) -> None:
        """Stop the answer, and again if it continues: a server that is killed may never have handled the request."""
        after, self.done["stopped"] = turn.stop, self.done["stopped"] + 1
        while not over.is_set():
            with suppress(TimeoutError):
                await asyncio.wait_for(over.wait(), after)
            if turn.answer_id and not over.is_set():
                with suppress(*LOST):
                    async with self.session.post(f"/api/chat/{talk.alias}/stop") as answer:
                        if answer.status != 204:
                            self.refused("stop", answer.status, await answer.text())
            after = 3.0

    async def follow(self, talk: Talk, turn: Turn, over: asyncio.Event) -> None:
        """Read the answer besides who asked."""
        with suppress(TimeoutError):
            await asyncio.wait_for(over.wait(), 0.5)
        if turn.answer_id and not over.is_set():
            self.done["followed"] += 1
            with suppress(*LOST):
                async with self.session.get(f"/api/chat/{talk.alias}/stream") as answer:
                    if answer.status == 200:
                        await self.listen(answer, turn, leave=False)

    async def listen(self, answer: aiohttp.ClientResponse, turn: Turn, *, leave: bool) -> bool:
        """Read a stream; gives whether it came to an end."""
        run, steps, heard = "", [""], 0
        async for line in answer.content:
            chunk = json.loads(line[6:]) if line.startswith(b"data: {") else {"type": ""}
            match chunk["type"]:
                case "start":
                    run, steps = chunk["messageMetadata"]["run_id"], [""]
                    assert turn.answer_id in {"", chunk["messageId"]}, f"{chunk['messageId']} is not {turn.answer_id}"
                    turn.answer_id = chunk["messageId"]
                case "start-step":
                    steps.append("")
                case "reset-step":
                    steps[-1] = ""
                case "text-delta":
                    steps[-1], heard = steps[-1] + chunk["delta"], heard + 1
                    if leave and turn.leaves is not None and heard >= turn.leaves:
                        self.leave(answer, turn)
                        return False
                case "finish":
                    note(turn, run, end_of(chunk["messageMetadata"], "".join(steps)))
                    return True
                case _:
                    pass
        return False

    def leave(self, answer: aiohttp.ClientResponse, turn: Turn) -> None:
        """Leave in mid-stream, once."""
        turn.leaves = None
        self.done["fault: reader gone" if turn.is_abrupt else "left and came back"] += 1
        if turn.is_abrupt and answer.connection is not None and answer.connection.transport is not None:
            answer.connection.transport.abort()
        answer.close()
