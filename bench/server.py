"""CPU time of the chat server process, from the provider's bytes to the browser's.

Only the model is fake: the provider is another process on 127.0.0.1, the readers are this one. `floor` is Starlette
streaming ready bytes. `per event` is measured with many long answers at once, `overhead per run` with short ones. The
LiteLLM proxy, which stores nothing, is also measured if `make stress` has installed it (stress/.envs/litellm).
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
#: Answers that are read at once: a user alone may have 32 runs.
AT_ONCE = 32
TOKEN = "bench-token-bench-token"  # noqa: S105 - of a server that lives for this bench
TICKS = os.sysconf("SC_CLK_TCK")
#: Goals: microseconds an event, milliseconds a run, milliseconds to the first byte, bytes an idle stream.
EVENT, RUN, FIRST, IDLE = 8.0, 1.0, 30.0, 40_000


@contextmanager
def started(
    *command: str,
    say: str = r"(http://[\d.:]+)",
    program: str = sys.executable,
    log: IO[str] | None = None,
    **environ: str,
) -> Generator[tuple[str, int]]:
    """Start a process that prints its URL. Yields URL and process id; `log` receives the rest of its output."""
    own, whole = {**os.environ, **environ}, [program, *command] if program else [*command]
    with subprocess.Popen(
        whole, stdout=subprocess.PIPE, stderr=log if program else subprocess.STDOUT, text=True, env=own
    ) as process:
        try:
            assert process.stdout is not None
            found = next(filter(None, (re.search(say, line) for line in process.stdout)))
            threading.Thread(
                target=deque, args=(process.stdout, 0), daemon=True
            ).start()  # or a full pipe would block it
            yield found[1], process.pid
        finally:
            process.terminate()
            process.wait()


def seconds(process: int) -> float:
    """CPU seconds of a process."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def resident(process: int) -> int:
    """Resident memory of a process in bytes."""
    return int(Path(f"/proc/{process}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@asynccontextmanager
async def client(url: str) -> AsyncIterator[aiohttp.ClientSession]:
    """An HTTP client without a connection limit."""
    connector = aiohttp.TCPConnector(limit=0)
    headers = {"authorization": f"Bearer {TOKEN}"}
    async with aiohttp.ClientSession(url, connector=connector, headers=headers, timeout=aiohttp.ClientTimeout()) as one:
        yield one


def asks_proxy(words: int, every: float, chat: str) -> dict[str, Any]:
    """The body of a request to the proxy."""
    del chat
    output = [{"role": "user", "content": f"words={words} every={every}"}]
    return {"model": "bench", "stream": True, "messages": output}


def asks(words: int, every: float, chat: str) -> dict[str, Any]:
    """The body of a request for a number of words."""
    output = [{"type": "text", "text": f"words={words} every={every}"}]
    return {"id": chat, "messages": [{"id": chat, "role": "user", "parts": output}], "words": words}


NUMBERS = iter(range(10**9))


async def read(session: aiohttp.ClientSession, words: int, path: str = "/api/chat") -> float:
    """Read a complete answer and return the seconds to its first byte."""
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
    """CPU seconds of a round: the minimum of several, since other load only adds to it."""
    places = asyncio.Semaphore(AT_ONCE)

    async def read_one(session: aiohttp.ClientSession) -> None:
        async with places:
            await read(session, words, path)

    async with client(url) as session:
        await asyncio.gather(*(read_one(session) for _ in range(streams)))
        costs: list[float] = []
        for _ in range(ROUNDS):
            before = seconds(process)
            await asyncio.gather(*(read_one(session) for _ in range(streams)))
            costs.append(seconds(process) - before)
    return min(costs)


async def each(url: str, process: int) -> tuple[float, float]:
    """Microseconds per event with many streams, and milliseconds of overhead per run."""
    long = await cost(url, process, STREAMS, WORDS)
    short = await cost(url, process, RUNS, SHORT)
    event = (long / STREAMS - short / RUNS) / (WORDS - SHORT)
    return event * 1e6, (short / RUNS - event * SHORT) * 1e3


def proxy(provider: str, folder: str) -> Any:
    """Start a LiteLLM proxy for the same provider."""
    settings = {"model": "anthropic/claude-sonnet-4-5", "api_base": provider, "api_key": "none"}
    config = Path(folder, "config.yaml")
    config.write_text(json.dumps({"model_list": [{"model_name": "bench", "litellm_params": settings}]}))
    local = ("MODEL_COST_MAP", "ANTHROPIC_BETA_HEADERS", "BLOG_POSTS", "POLICY_TEMPLATES", "AUTOROUTER_PRESETS")
    environ = dict.fromkeys((f"LITELLM_LOCAL_{name}" for name in local), "True")
    environ |= {"LITELLM_MASTER_KEY": TOKEN, "LITELLM_TELEMETRY_DISABLED": "True", "NO_PROXY": "127.0.0.1"}
    command = (str(PROXY), "--config", str(config), "--host", "127.0.0.1", "--port", "0")
    return started(*command, say=r"running on (http://127\.0\.0\.1:\d+)", program="", **environ)


async def each_of_proxy(provider: str, folder: str) -> float:
    """Microseconds per event of the proxy, with a tenth of the events since it takes longer."""
    with proxy(provider, folder) as (url, process):
        path, words = "/v1/chat/completions", WORDS // 10
        return await cost(url, process, STREAMS, words, path) / STREAMS / words * 1e6


async def first_byte(url: str) -> float:
    """Milliseconds from a POST to its first byte, in sequence. The provider answers immediately."""
    async with client(url) as session:
        return median([await read(session, SHORT) for _ in range(30)]) * 1e3


async def idle(url: str, process: int, readers: int, runs: int) -> float:
    """Memory per idle stream in bytes: many readers of a few runs that wait for the provider."""
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
        for answer in (*answers, *followers):
            answer.close()
    return taken / readers


def ours(folder: str, provider: str, port: int = 0, log: IO[str] | None = None) -> Any:
    """Start the chat server with the benchmark's provider as model."""
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
    """Measure all figures."""
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
        ["per event, µs of CPU, 32 streams", f"{floor:.2f}", f"{event:.2f}", verdict(event, EVENT), beside],
        ["overhead per run, ms of CPU", f"{floor_run:.2f}", f"{run:.2f}", verdict(run, RUN), ""],
        ["time to first byte, ms", "", f"{first:.1f}", verdict(first, FIRST), ""],
        ["memory per idle stream, kB", "", f"{held / 1000:.1f}", verdict(held, IDLE), ""],
        ["memory of the server before idle streams, MB", "", f"{grown / 1e6:.0f}", "", ""],
    ]


def main() -> None:
    """Print the table."""
    print(table(["", "floor", "ours", "goal", "LiteLLM"], asyncio.run(measure())))


if __name__ == "__main__":
    main()
