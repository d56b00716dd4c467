"""Runs of `Agent` with a tool and the model of `model_answers`, in this process."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from itertools import cycle
from time import process_time

from model_answers import ASKED, answers
from showandtell import Agent, RunLimits
from showandtell.testing import FakeConnection, HttpRequest, HttpResponse

MODEL = "anthropic:claude-sonnet-4-5"
JSON = {"content-type": "application/json"}


async def body(data: bytes) -> AsyncIterator[bytes]:
    """The body of a response."""
    yield data


def make_agent(steps: int, *tools: Callable[..., object], reads: bool = False) -> Agent:
    """An agent whose model calls the first tool in each step but the last. With `reads`, it reads its requests."""
    bodies = cycle(answers(steps))

    @asynccontextmanager
    async def send(request: HttpRequest) -> AsyncIterator[HttpResponse]:
        if reads:
            assert sum([len(piece) async for piece in request.body()]) == request.size
        yield HttpResponse(200, JSON, body(next(bodies)))

    return Agent(MODEL, tools, limits=RunLimits(steps=10_000), connection=FakeConnection(send=send))


def run(steps: int, *tools: Callable[..., object], reads: bool = False) -> float:
    """The CPU milliseconds of a run in this process, which decodes nothing."""
    agent = make_agent(steps, *tools, reads=reads)
    start = process_time()
    done = asyncio.run(agent.run(ASKED).finish())
    spent = (process_time() - start) * 1000
    assert done.text == "Nothing changed.", done.error
    return spent


def step(tool: Callable[..., object], counts: tuple[int, int], *, reads: bool = False) -> float:
    """What each step of a long run costs more than those of a short one."""
    short, long = counts
    begin = run(short, tool, reads=reads)
    return (run(long, tool, reads=reads) - begin) / (long - short)
