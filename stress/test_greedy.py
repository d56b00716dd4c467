"""A user who starts as much as they can, beside twenty others who work as usual: the others hardly notice."""

import asyncio
import json
import os
import sys
import time
from collections import Counter, defaultdict
from contextlib import asynccontextmanager
from pathlib import Path
from statistics import quantiles

import pytest

from support import fixtures
from support.many_users import ask, serving_users
from support.serving import chat_body

pytestmark = pytest.mark.anyio
OTHERS = 20
#: Seconds of each of the two parts.
SECONDS = float(os.environ.get("GREEDY_SECONDS", "25"))
#: Seconds before the first part, in which decoders start.
WARMING = 8.0
#: Seconds between two requests of a user.
PAUSE = 2.0
#: Seconds in which any request of the others has an answer, on a machine with other work.
DEADLINE = 20.0
PATH = "/api/attachments"


class Timings:
    """Seconds by kind of request, and the statuses of those that failed."""

    def __init__(self):
        self.started, self.seconds, self.failed = time.monotonic(), defaultdict(list), Counter()

    async def take(self, kind, request):
        started = time.monotonic()
        status, body = await request
        self.seconds[kind].append(time.monotonic() - started)
        if status >= 300:
            self.failed[kind, status, body[:150]] += 1
        return body

    def p95(self, kind):
        return quantiles(self.seconds[kind], n=20)[-1]


async def work(client, number, timings):
    """A user as usual: a picture and its thumbnail, a question, a short text."""
    count = 0
    while True:
        count += 1
        picture = fixtures.jpeg(600 + number, 400 + count, (number, int(timings.started) % 256, 90))
        uploaded = await timings.take("upload", ask(client, "PUT", PATH, params={"name": "a.jpg"}, data=picture))
        await asyncio.sleep(PAUSE)
        path = f"{PATH}/{json.loads(uploaded)['id']}/thumbnail"
        await timings.take("thumbnail", ask(client, "GET", path))
        await asyncio.sleep(PAUSE)
        chat = f"chat {timings.started} {count}"
        await timings.take("chat", ask(client, "POST", "/api/chat", json=chat_body("hello", chat)))
        await asyncio.sleep(PAUSE)
        await timings.take("upload", ask(client, "PUT", PATH, params={"name": "a.txt"}, data=os.urandom(40).hex()))
        await asyncio.sleep(PAUSE)


@asynccontextmanager
async def being_greedy(program, client, folder):
    """Run `greedy.py` meanwhile, in a process of its own; prints what it got, which must be something of each kind."""
    file = folder / "big.pdf"
    await asyncio.to_thread(file.write_bytes, await asyncio.to_thread(fixtures.blank_pdf, 200_000))
    token = client.headers["authorization"].removeprefix("Bearer ")
    process = await asyncio.create_subprocess_exec(
        *("nice", "-n", "5"),  # it makes load on the same machine; with more it would be too slow to be greedy
        *(sys.executable, str(Path(__file__).with_name("greedy.py")), program.url, token, str(file)),
        env={**os.environ, "PYTHONPATH": "tests"},
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    try:
        yield
    finally:
        output, _ = await asyncio.wait_for(process.communicate(b""), 60)
        print(f"the greedy user's: {output.decode().strip()}")  # noqa: T201
    assert {name.partition(" ")[0] for name in json.loads(output)} == {"chat", "convert", "upload"}


async def measure(clients, seconds):
    """The timings of users who work for some seconds."""
    timings = Timings()
    tasks = [asyncio.create_task(work(client, number, timings)) for number, client in enumerate(clients)]
    await asyncio.wait(tasks, timeout=seconds, return_when=asyncio.FIRST_EXCEPTION)
    for task in tasks:
        task.cancel()
    for result in await asyncio.gather(*tasks, return_exceptions=True):
        if not isinstance(result, asyncio.CancelledError):
            raise result
    return timings


async def test_a_greedy_user_hardly_slows_twenty_others(tmp_path):
    async with serving_users(tmp_path, ["greedy", *(f"user {number}" for number in range(OTHERS))]) as (program, users):
        greedy, *others = users
        await measure(others, WARMING)
        without = await measure(others, SECONDS)
        async with being_greedy(program, greedy, tmp_path):
            beside = await measure(others, SECONDS)
    for kind in ("thumbnail", "chat", "upload"):
        before, after = without.p95(kind), beside.p95(kind)
        counts = len(without.seconds[kind]), len(beside.seconds[kind])
        print(f"{kind}: p95 {before:.3f} s alone, {after:.3f} s beside, x {after / before:.2f}, {counts} requests")  # noqa: T201
        assert max(beside.seconds[kind]) < DEADLINE
    assert (without.failed, beside.failed) == (Counter(), Counter())
