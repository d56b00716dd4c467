"""The stand-in for other people's SDKs, which block: it runs in a thread of its own, and keeps what each of them sent.

Both sides tell what they heard in the same words: `Heard`, from an SDK's own objects or from our events.
"""

import asyncio
import itertools
import json
import os
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, NamedTuple

import msgspec

from showandtell.content import Text
from showandtell.events.fold import Fold
from showandtell.events.types import Usage
from showandtell.inspector.mind import count_tokens
from showandtell.inspector.seen import Asked, Incoming, Reply
from showandtell.inspector.send import serve, think
from showandtell.providers.http import Answer
from showandtell.wire.answers import ANSWERS, FRAMES
from standin import KEYS, Standin

#: Bytes a read, so that no read ends where an event does.
READS = (313, 7, 1500, 64)


class Heard(NamedTuple):
    """An answer in our words: calls are (id, tool, arguments as values)."""

    text: str
    calls: tuple[tuple[str, str, Any], ...]
    stop: str
    usage: Usage

    @property
    def without_ids(self):
        """For hosts that leave ids out."""
        return self._replace(calls=tuple(call[1:] for call in self.calls))


class Said(NamedTuple):
    """An answer's own bytes and their type."""

    media_type: str
    data: bytes


class Post(NamedTuple):
    """A request as it came, and its body as values."""

    incoming: Incoming
    body: Any


class Stage:
    """A running stand-in. `reply` is what every house says; None: what the inspector thinks.

    `canned` is an answer of other bytes, which is given to whoever asks. `posts` are the requests that came.
    """

    def __init__(self) -> None:
        self.reply: Reply | None = None
        self.canned: Said | None = None
        self.posts: list[Post] = []
        self.standin = Standin(mind=self.mind, doors=[self.door])
        self.clients: dict[str, Any] = {}
        self.closing = ExitStack()

    def mind(self, asked: Asked) -> Reply:
        if self.reply is None:
            return think(asked)
        return msgspec.structs.replace(self.reply, input_tokens=count_tokens(asked))

    def door(self, method: str, incoming: Incoming) -> Answer | None:
        if method == "POST":
            self.posts.append(Post(incoming, json.loads(incoming.body)))
        if self.canned is None:
            return None
        return Answer(200, {"content-type": self.canned.media_type}, in_pieces(self.canned.data))

    def base(self, house: str) -> str:
        return self.standin.base(house)

    def client(self, name: str, make: Any) -> Any:
        """One client for all tests: making one costs more than asking it."""
        if name not in self.clients:
            self.clients[name] = make()
        return self.clients[name]

    def said(self) -> Said:
        """The bytes of the answer to the last request: the same request gets the same ones again."""
        return asyncio.run(self._say_again())

    async def _say_again(self) -> Said:
        answer = await serve(self.posts[-1].incoming, self.mind)
        assert answer.status == 200
        return Said(answer.headers["content-type"], b"".join([piece async for piece in answer.body]))

    def statuses(self) -> list[int]:
        return [one.status for one in self.standin.ledger]

    def rest(self) -> None:
        """Forget what was said, for the next test."""
        self.reply = self.canned = None
        self.posts.clear()
        self.standin.ledger.clear()


async def in_pieces(data: bytes):
    sizes, at = itertools.cycle(READS), 0
    while at < len(data):
        size = next(sizes)
        yield data[at : at + size]
        at += size


@contextmanager
def staged() -> Iterator[Stage]:
    """A stage for blocking callers."""
    stage, loop = Stage(), asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    try:
        asyncio.run_coroutine_threadsafe(stage.standin.__aenter__(), loop).result(30)
        yield stage
    finally:
        for client in stage.clients.values():
            close(client)
        asyncio.run_coroutine_threadsafe(stage.standin.__aexit__(None, None, None), loop).result(30)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(30)
        loop.close()


def close(client: Any) -> None:
    """Every SDK has its own word for the end."""
    end = getattr(client, "close", None) or client.__exit__
    end(*((None, None, None) if end.__name__ == "__exit__" else ()))


def key(house: str) -> str:
    return KEYS[house][1]


def environ(stage: Stage) -> dict[str, str]:
    """Variables that lead our own client to the stage, and no proxy in between."""
    return {**stage.standin.environ(), "NO_PROXY": "127.0.0.1", "no_proxy": "127.0.0.1", "HOME": os.environ["HOME"]}


def listen(api: str, said: Said) -> Heard:
    """What our own parser and fold make of an answer's bytes."""
    media_type = said.media_type.partition(";")[0]
    fold = Fold("witness")
    if media_type == "application/json":
        fold.add(ANSWERS[api].whole(said.data))
    else:
        parser = ANSWERS[api].stream(FRAMES[media_type]())
        for at in range(0, len(said.data), 97):
            fold.add(parser.feed(said.data[at : at + 97]))
        fold.add(parser.finish())
    return hear(fold)


def hear(fold: Fold) -> Heard:
    draft = fold.draft()
    text = "".join(part.text for part in draft.parts if isinstance(part, Text))
    calls = [part for part in draft.parts if hasattr(part, "arguments")]
    told = tuple((call.call_id, call.tool, json.loads(call.arguments)) for call in calls)
    return Heard(text, told, draft.stop, fold.usage)
