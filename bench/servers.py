"""Servers of the benches, each in a process of its own: ours, the least that would do, and others that stream answers.

Only the model is fake: the provider is another process on 127.0.0.1.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import AsyncIterator, Generator, Sequence
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import IO, Any

import aiohttp

from processes import install

HERE = Path(__file__).parent
TOKEN = "bench-token-bench-token"  # noqa: S105 - of a server that lives for this bench


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
    message = {"id": chat, "role": "user", "parts": output}
    return {"id": chat, "messages": [message], "trigger": "submit-message", "words": words}


NUMBERS = iter(range(10**9))


async def read(session: aiohttp.ClientSession, words: int, path: str = "/api/chat", every: float = 0) -> float:
    """Read a complete answer, with a pause between two words. Returns the seconds to its first byte."""
    begun = time.perf_counter()
    body = (asks if path == "/api/chat" else asks_proxy)(words, every, f"bench {next(NUMBERS)}")
    async with session.post(path, json=body) as answer:
        assert answer.status == 200, await answer.text()
        first, size = 0.0, 0
        async for piece in answer.content.iter_any():
            first = first or time.perf_counter() - begun
            size += len(piece)
        assert size > words * 50, size
    return first


def ours(
    folder: str,
    provider: str,
    *,
    port: int = 0,
    log: IO[str] | None = None,
    counts: str | None = None,
    options: Sequence[str] = (),
) -> Any:
    """Start the chat server with the benchmark's provider as model. `counts`: where it serves its counts."""
    program = (str(HERE / "counting.py"),) if counts else ("-m", "showandtell")
    return started(
        *(*program, "serve", "--port", str(port), "--data", folder),
        *("--model", "anthropic:claude-sonnet-4-5", *options),
        log=log,
        SHOWANDTELL_TOKEN=TOKEN,
        SHOWANDTELL_RATE=",".join(f"{group}=1000000/second" for group in ("chat", "reads", "uploads")),
        COUNTS=counts or "",
        **reaching(provider),
    )


def bare(folder: str, provider: str) -> Any:
    """Start a server that does the least for an answer, see `served/bare.py`."""
    return started(str(HERE / "served/bare.py"), f"{folder}/bare.db", **reaching(provider))


def relay(_: str, provider: str) -> Any:
    """Start a bare relay, see `served/relay.py`."""
    return started(str(HERE / "served/relay.py"), **reaching(provider))


def proxy(folder: str, provider: str) -> Any:
    """Start the proxy of LiteLLM, which stores nothing."""
    python = install("litellm_proxy", "--no-deps", "-r", str(HERE.parent / "stress/litellm.txt"))
    settings = {"model": "anthropic/claude-sonnet-4-5", "api_base": provider, "api_key": "none"}
    config = Path(folder, "config.yaml")
    config.write_text(json.dumps({"model_list": [{"model_name": "bench", "litellm_params": settings}]}))
    local = ("MODEL_COST_MAP", "ANTHROPIC_BETA_HEADERS", "BLOG_POSTS", "POLICY_TEMPLATES", "AUTOROUTER_PRESETS")
    environ = dict.fromkeys((f"LITELLM_LOCAL_{name}" for name in local), "True")
    environ |= {"LITELLM_MASTER_KEY": TOKEN, "LITELLM_TELEMETRY_DISABLED": "True", "NO_PROXY": "127.0.0.1"}
    command = (str(python.with_name("litellm")), "--config", str(config), "--host", "127.0.0.1", "--port", "0")
    return started(*command, say=r"running on (http://127\.0\.0\.1:\d+)", program="", **environ)


def pydantic_ai(_: str, provider: str) -> Any:
    """Start pydantic-ai behind its adapter for the AI SDK, which stores nothing."""
    python = install("pydantic_ai_server", "pydantic-ai-slim[anthropic]==2.68.0", "starlette", "uvicorn")
    return started(str(HERE / "served/pydantic_ai_server.py"), program=str(python), **reaching(provider))


def reaching(provider: str) -> dict[str, str]:
    """The environment variables that lead to the provider."""
    return {"ANTHROPIC_BASE_URL": provider, "ANTHROPIC_API_KEY": "none", "NO_PROXY": "127.0.0.1"}
