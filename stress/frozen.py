"""What the freeze tests share: users who work while a dependency is frozen, deadlines, and what a process holds.

A freeze test starts a real `serve` (`support.server_process.running`), lets a `Workload` go on, freezes a dependency
(`frozen_process` for one that is a process), and asserts with `Workload.late` and `Workload.failed` over the time of
the freeze, and with `Footprint` that memory, threads and descriptors come back. `SECONDS` is how long to freeze:
120 in `make stress`; `FROZEN_SECONDS=10` for a try.

    async with running_for_users(tmp_path) as (program, headers), Workload(program.url, [headers("ann")]) as work:
        await work.until(5)                      # each kind has succeeded 5 times
        before = Footprint.of(program.process.pid)
        with frozen_process(pid), work.during() as frozen:
            await asyncio.sleep(SECONDS)
        await work.until(5)                      # and again after the freeze
        assert not work.late(frozen, DEADLINE)
        assert not work.failed(frozen, {"health", "chat"})
        await before.returns(program.process.pid)
"""

import asyncio
import os
import re
import signal
import sys
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import aiohttp

from support.oidc_issuer import CLIENT, running_issuer
from support.server_process import running
from support.serving import chat_body, chunks_in

#: Seconds that a dependency is frozen.
SECONDS = float(os.environ.get("FROZEN_SECONDS", "120"))
#: Seconds in which every request has a response: the promise, and what a busy machine and its scheduling add.
DEADLINE = 10.0 + 2.0
#: Seconds after which a request is given up: it counts as late.
GIVE_UP = 60.0
#: Seconds in which something that a test waits for has happened.
PATIENCE = 120.0
MB = 1 << 20
#: Rates are another test's: for the option --rate of the server.
FREE = "chat=1000000/minute,uploads=1000000/minute,reads=1000000/minute,login=1000000/minute"
KINDS = ("health", "list", "chat", "upload", "download")


@dataclass(frozen=True)
class Outcome:
    """A request: when it was sent (monotonic), how long it took, its status (None: no response) and its error text.

    `problem` is the error's text, the error in a chat's stream, or the client's own exception; None means success.
    """

    kind: str
    started: float
    seconds: float
    status: int | None
    problem: str | None = None


@dataclass
class Span:
    """A part of the workload's time (monotonic), as `Workload.during` yields it."""

    start: float
    end: float = float("inf")


@dataclass
class Workload:
    """Users who send requests of all `kinds` in turn, each user one request at a time, until the context exits.

    `users` are the headers of each user, such as a bearer token; repeat one for several clients of a user. `pause` is
    in seconds, between two requests of a user. All requests are in `outcomes`. Kinds: `health` is GET /healthz, `list`
    GET /api/conversations, `chat` a new conversation with the inspector, read to its end, `upload` a PUT of fresh
    bytes, `download` the bytes of the user's first upload, which is made before the context is entered.
    """

    url: str
    users: Sequence[Mapping[str, str]]
    kinds: Sequence[str] = KINDS
    pause: float = 0.05
    file_bytes: int = 100_000
    outcomes: list[Outcome] = field(default_factory=list)

    async def __aenter__(self):
        timeout = aiohttp.ClientTimeout(total=GIVE_UP)
        jar = aiohttp.DummyCookieJar
        self._sessions = [
            aiohttp.ClientSession(self.url, headers=user, timeout=timeout, cookie_jar=jar()) for user in self.users
        ]
        self._files = [await self._first_file(session) for session in self._sessions]
        self._tasks = [asyncio.create_task(self._work(number)) for number in range(len(self.users))]
        return self

    async def __aexit__(self, *_):
        for task in self._tasks:
            task.cancel()
        results = await asyncio.gather(*self._tasks, return_exceptions=True)
        for session in self._sessions:
            await session.close()
        for result in results:
            if not isinstance(result, asyncio.CancelledError):
                raise result

    async def until(self, count, kinds=None):
        """Wait until each of these kinds has succeeded `count` times from now on."""
        start = time.monotonic()
        async with asyncio.timeout(PATIENCE):
            while True:
                succeeded = Counter(one.kind for one in self.outcomes if one.started >= start and one.problem is None)
                if all(succeeded[kind] >= count for kind in kinds or self.kinds):
                    return
                await asyncio.sleep(0.1)

    @contextmanager
    def during(self):
        """Mark a span of time, for `in_span`, `late` and `failed`."""
        span = Span(time.monotonic())
        yield span
        span.end = time.monotonic()

    def in_span(self, span, kinds=None):
        """The requests of these kinds that were sent within a span."""
        kinds = kinds or self.kinds
        return [one for one in self.outcomes if span.start <= one.started < span.end and one.kind in kinds]

    def late(self, span, deadline=DEADLINE, kinds=None):
        """The requests of a span that took longer than `deadline` seconds, or never got a response."""
        return [one for one in self.in_span(span, kinds) if one.seconds > deadline or one.status is None]

    def failed(self, span, kinds=None):
        """The requests of a span that did not succeed."""
        return [one for one in self.in_span(span, kinds) if one.problem is not None]

    def summary(self, span):
        """For each kind: how many requests, how many failed, and the median and maximum of their seconds."""
        lines = []
        for kind in self.kinds:
            found = self.in_span(span, {kind})
            times = sorted(one.seconds for one in found) or [0.0]
            statuses = dict(Counter(one.status if one.problem else "ok" for one in found))
            lines.append(f"{kind}: {len(found)} {statuses} median {times[len(times) // 2]:.3f} max {times[-1]:.3f}")
        return "\n".join(lines)

    async def _first_file(self, session):
        async with session.put("/api/attachments", params={"name": "a.bin"}, data=os.urandom(self.file_bytes)) as got:
            assert got.status == 201, await got.text()
            return (await got.json())["url"]

    async def _work(self, number):
        count = 0
        while True:
            for kind in self.kinds:
                count += 1
                await self._try(kind, number, count)
                await asyncio.sleep(self.pause)

    async def _try(self, kind, number, count):
        started, status, problem = time.monotonic(), None, None
        try:
            status, problem = await getattr(self, f"_{kind}")(self._sessions[number], number, count)
        except (aiohttp.ClientError, OSError) as error:
            problem = f"{type(error).__name__}: {error}"
        except AssertionError as error:
            problem = f"an incomplete stream: {error}"
        self.outcomes.append(Outcome(kind, started, time.monotonic() - started, status, problem))

    async def _health(self, session, *_):
        return await respond(session.get("/healthz"))

    async def _list(self, session, *_):
        return await respond(session.get("/api/conversations"))

    async def _chat(self, session, number, count):
        body = chat_body("hello", f"chat-{number}-{count}")
        async with session.post("/api/chat", json=body) as answer:
            data = await answer.read()
            if answer.status != 200:
                return answer.status, data.decode()
            errors = [chunk for chunk in chunks_in(data) if chunk["type"] == "error"]
            return 200, str(errors[0]) if errors else None

    async def _upload(self, session, *_):
        data = os.urandom(self.file_bytes)
        return await respond(session.put("/api/attachments", params={"name": "a.bin"}, data=data))

    async def _download(self, session, number, _):
        return await respond(session.get(self._files[number]))


async def respond(request):
    """The status of a response that is read to its end, and the text of an error."""
    async with request as answer:
        data = await answer.read()
        return answer.status, None if answer.status < 400 else data.decode(errors="replace")


def report(*lines):
    """Print figures for docs/reliability.md; `pytest -rP` shows them."""
    sys.stdout.write("\n".join(map(str, lines)) + "\n")


@dataclass(frozen=True)
class Footprint:
    """What a process holds: resident memory in bytes, threads, and open file descriptors."""

    memory: int
    threads: int
    descriptors: int

    @classmethod
    def of(cls, pid):
        """What a process holds now."""
        status = Path(f"/proc/{pid}/status").read_text()
        kilobytes, threads = (int(re.search(rf"{name}:\s+(\d+)", status)[1]) for name in ("VmRSS", "Threads"))
        return cls(kilobytes * 1024, threads, len(os.listdir(f"/proc/{pid}/fd")))  # noqa: PTH208

    def holds(self, other, *, memory=64 * MB, threads=16, descriptors=16):
        """Whether a later footprint is at most this one and these allowances: warm pools stay, leaks grow."""
        return (
            other.memory <= self.memory + memory
            and other.threads <= self.threads + threads
            and other.descriptors <= self.descriptors + descriptors
        )

    async def returns(self, pid, seconds=PATIENCE, **allowances):
        """Wait until a process holds no more than this and the allowances of `holds`; returns what it holds then."""
        end = time.monotonic() + seconds
        while not self.holds(now := Footprint.of(pid), **allowances):
            assert time.monotonic() < end, f"it held {self}, and holds {now}"
            await asyncio.sleep(0.5)
        return now


@contextmanager
def frozen_process(pid):
    """Stop a process inside the context: its connections stay up, and nothing answers."""
    os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGCONT)


@asynccontextmanager
async def sampled(pid, every: float = 0.5):
    """Yield a list that gets the footprint of a process every so many seconds."""
    samples: list[Footprint] = [Footprint.of(pid)]

    async def watch():
        while True:
            await asyncio.sleep(every)
            samples.append(Footprint.of(pid))

    task = asyncio.create_task(watch())
    try:
        yield samples
    finally:
        task.cancel()
        await asyncio.wait({task})


@asynccontextmanager
async def running_for_users(folder, *arguments, **environ):
    """A real `serve` with accounts; yields its program and a function that makes the headers of a user by name."""
    async with running_issuer() as issuer:
        accounts = {"ISSUER": issuer.url, "CLIENT_ID": CLIENT, "AUDIENCE": CLIENT}
        environ |= {f"SHOWANDTELL_OIDC_{name}": value for name, value in accounts.items()}

        def headers(name):
            now = time.time()
            return {"authorization": f"Bearer {issuer.token(sub=name, iat=now - 10, exp=now + 3600)}"}

        async with running(folder, "--rate", FREE, *arguments, **environ) as program:
            yield program, headers
