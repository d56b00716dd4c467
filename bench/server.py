"""What the chat server costs, from the provider's bytes to the browser's: processor time of the server's own process.

Everything is real but the model: the provider is another process on 127.0.0.1, the readers are this one. `floor` is
Starlette that streams ready bytes. `each event` are many long answers at once; `a run besides` are short ones. The
LiteLLM proxy, which stores nothing, is measured beside where `make stress` has installed it (stress/.envs/litellm).
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import time
from collections import deque
from collections.abc import AsyncIterator, Generator, Sequence
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from statistics import median
from typing import IO, Any

import aiohttp

from cases import table, verdict

HERE = Path(__file__).parent
PROXY = HERE.parent / "stress/.envs/litellm/bin/litellm"
STREAMS, WORDS, SHORT, RUNS = 50, 2000, 10, 200
ROUNDS = 5
TOKEN = "bench-token-bench-token"  # noqa: S105 - of a server that lives for this bench
TICKS = os.sysconf("SC_CLK_TCK")
#: Goals: microseconds an event, milliseconds a run, milliseconds to the first byte, bytes an idle stream.
EVENT, RUN, FIRST, IDLE = 8.0, 1.0, 30.0, 100_000


@contextmanager
def started(
    *command: str,
    say: str = r"(http://[\d.:]+)",
    program: str = sys.executable,
    log: IO[str] | None = None,
    **environ: str,
) -> Generator[tuple[str, int]]:
    """A process that says where it listens; gives that, and its number. `log` takes what it says besides."""
    own, whole = {**os.environ, **environ}, [program, *command] if program else [*command]
    with subprocess.Popen(
        whole, stdout=subprocess.PIPE, stderr=log if program else subprocess.STDOUT, text=True, env=own
    ) as process:
        try:
            assert process.stdout is not None
            found = next(filter(None, (re.search(say, line) for line in process.stdout)))
            threading.Thread(target=deque, args=(process.stdout, 0), daemon=True).start()  # or it would wait for us
            yield found[1], process.pid
        finally:
            process.terminate()
            process.wait()


def seconds(process: int) -> float:
    """Processor time that a process has taken."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def resident(process: int) -> int:
    """Bytes of memory that a process holds."""
    return int(Path(f"/proc/{process}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@asynccontextmanager
async def client(url: str) -> AsyncIterator[aiohttp.ClientSession]:
    """Readers without a bound on their number."""
    connector = aiohttp.TCPConnector(limit=0)
    headers = {"authorization": f"Bearer {TOKEN}"}
    async with aiohttp.ClientSession(url, connector=connector, headers=headers, timeout=aiohttp.ClientTimeout()) as one:
        yield one


def asks_proxy(words: int, every: float, chat: str) -> dict[str, Any]:
    """The same for the proxy."""
    del chat
    said = [{"role": "user", "content": f"words={words} every={every}"}]
    return {"model": "bench", "stream": True, "messages": said}


def asks(words: int, every: float, chat: str) -> dict[str, Any]:
    """The body of a request for so many words."""
    said = [{"type": "text", "text": f"words={words} every={every}"}]
    return {"id": chat, "messages": [{"id": chat, "role": "user", "parts": said}], "words": words}


NUMBERS = iter(range(10**9))


async def read(session: aiohttp.ClientSession, words: int, path: str = "/api/chat") -> float:
    """Read an answer whole; gives the seconds to its first byte."""
    begun = time.perf_counter()
    body = (asks if path == "/api/chat" else asks_proxy)(words, 0, f"bench {next(NUMBERS)}")
    async with session.post(path, json=body) as answer:
        assert answer.status == 200, await answer.text()
        first, size = 0.0, 0
        async for piece in answer.content.iter_any():
            first = first or time.perf_counter() - begun
            size += len(piece)
        assert size > words * 50, size
    return first


async def cost(url: str, process: int, streams: int, words: int, path: str = "/api/chat") -> float:
    """Processor seconds of one round: the least of some, for what else goes on can only add to it."""
    async with client(url) as session:
        await asyncio.gather(*(read(session, words, path) for _ in range(streams)))
        costs: list[float] = []
        for _ in range(ROUNDS):
            before = seconds(process)
            await asyncio.gather(*(read(session, words, path) for _ in range(streams)))
            costs.append(seconds(process) - before)
    return min(costs)


async def each(url: str, process: int) -> tuple[float, float]:
    """Microseconds an event at many streams, and milliseconds a run besides its events."""
    long = await cost(url, process, STREAMS, WORDS)
    short = await cost(url, process, RUNS, SHORT)
    event = (long / STREAMS - short / RUNS) / (WORDS - SHORT)
    return event * 1e6, (short / RUNS - event * SHORT) * 1e3


def proxy(provider: str, folder: str) -> Any:
    """A LiteLLM proxy before the same provider."""
    settings = {"model": "anthropic/claude-sonnet-4-5", "api_base": provider, "api_key": "none"}
    config = Path(folder, "config.yaml")
    config.write_text(json.dumps({"model_list": [{"model_name": "bench", "litellm_params": settings}]}))
    local = ("MODEL_COST_MAP", "ANTHROPIC_BETA_HEADERS", "BLOG_POSTS", "POLICY_TEMPLATES", "AUTOROUTER_PRESETS")
    environ = dict.fromkeys((f"LITELLM_LOCAL_{name}" for name in local), "True")
    environ |= {"LITELLM_MASTER_KEY": TOKEN, "LITELLM_TELEMETRY_DISABLED": "True", "NO_PROXY": "127.0.0.1"}
    command = (str(PROXY), "--config", str(config), "--host", "127.0.0.1", "--port", "0")
    return started(*command, say=r"running on (http://127\.0\.0\.1:\d+)", program="", **environ)


async def each_of_proxy(provider: str, folder: str) -> float:
    """Microseconds an event of the proxy, at a tenth of the events: it takes that much longer."""
    with proxy(provider, folder) as (url, process):
        path, words = "/v1/chat/completions", WORDS // 10
        return await cost(url, process, STREAMS, words, path) / STREAMS / words * 1e6


async def first_byte(url: str) -> float:
    """Milliseconds from a POST to its first byte, one after the other; the provider answers at once."""
    async with client(url) as session:
        return median([await read(session, SHORT) for _ in range(30)]) * 1e3


async def idle(url: str, process: int, readers: int, runs: int) -> float:
    """Bytes that a stream takes on which nothing comes: many readers of some runs that wait for their provider."""
    async with client(url) as session:
        chats = [f"idle {next(NUMBERS)}" for _ in range(runs)]
        answers = [await session.post("/api/chat", json=asks(100, 3600, chat)) for chat in chats]
        await asyncio.sleep(2)
        before = resident(process)
        followers = [await session.get(f"/api/chat/{chats[at % runs]}/stream") for at in range(readers)]
        await asyncio.sleep(2)
        taken = resident(process) - before
        for chat in chats:
            await (await session.post(f"/api/chat/{chat}/stop")).read()
        for one in (*answers, *followers):
            one.close()
    return taken / readers


def ours(folder: str, provider: str, port: int = 0, log: IO[str] | None = None) -> Any:
    """Our server, whose model is the provider of this bench."""
    return started(
        *("-m", "showandtell", "serve", "--port", str(port), "--data", folder),
        *("--model", "anthropic:claude-sonnet-4-5"),
        log=log,
        SHOWANDTELL_TOKEN=TOKEN,
        SHOWANDTELL_RATE="chat=1000000/second,reads=1000000/second",
        ANTHROPIC_BASE_URL=provider,
        ANTHROPIC_API_KEY="none",
    )


async def measure() -> list[Sequence[object]]:
    """All figures, in one run."""
    with tempfile.TemporaryDirectory() as folder, started(str(HERE / "served/provider.py")) as (provider, _):
        with started(str(HERE / "served/bare.py")) as (url, process):
            floor, floor_run = await each(url, process)
        with ours(folder, provider) as (url, process):
            event, run = await each(url, process)
            first = await first_byte(url)
            grown = resident(process)
            held = await idle(url, process, 2000, 20)
        peer = await each_of_proxy(provider, folder) if PROXY.exists() else None
    beside = "" if peer is None else f"{peer:.0f} ({peer / event:.0f} x)"
    return [
        ["each event, µs of CPU, 50 streams", f"{floor:.2f}", f"{event:.2f}", verdict(event, EVENT), beside],
        ["a run besides, ms of CPU", f"{floor_run:.2f}", f"{run:.2f}", verdict(run, RUN), ""],
        ["first byte, ms", "", f"{first:.1f}", verdict(first, FIRST), ""],
        ["an idle stream, kB", "", f"{held / 1000:.1f}", verdict(held, IDLE), ""],
        ["memory of the server before those, MB", "", f"{grown / 1e6:.0f}", "", ""],
    ]


def main() -> None:
    """Print the table."""
    print(table(["", "floor", "ours", "goal", "LiteLLM"], asyncio.run(measure())))


if __name__ == "__main__":
    main()
