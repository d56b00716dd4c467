"""One eye test from beginning to end: every kind by every route, and what was found, one finding after the other."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from random import Random

from msgspec.structs import replace

from showandtell.core.capabilities.cells import Target
from showandtell.errors import BadInput
from showandtell.verify.ask import Line, Route, Trial, ask_about
from showandtell.verify.judge import Finding, find, judge
from showandtell.verify.probes import SORTS, Make, Sort, make_probe, new_seed

#: Uploads first: where they are seen, one of them lies beside the tool's file on the other routes.
ROUTES: tuple[Route, ...] = ("upload", "relocated", "tool result")
#: How often a route is tried before it is called blind: a slip of the tongue must not hide files for good.
TRIES = 2


async def verify(
    line: Line, sorts: Sequence[Sort] = SORTS, *, make: Make = make_probe, seed: str | None = None
) -> AsyncGenerator[Finding]:
    """Try each kind on each route, one request after the other; the same `seed` gives the same files.

    Raises `ProviderError` where the model can't be asked at all: no such key, no right to it.
    """
    random = Random(seed or new_seed())  # noqa: S311 - the seed is what can't be guessed
    for sort in sorts:
        try:
            await asyncio.to_thread(make, sort, Random(0))  # noqa: S311 - only to see whether it can be made
        except BadInput as error:
            yield skip(line.target, sort, str(error))
            continue
        is_seen = False
        for route in ROUTES:
            finding = await try_route(line, sort, route, make, random, beside=is_seen)
            is_seen = is_seen or finding.outcome in {"seen", "text only"}
            yield finding


async def try_route(line: Line, sort: Sort, route: Route, make: Make, random: Random, *, beside: bool) -> Finding:
    """Ask about a fresh file, with one of the user's `beside` a tool's; a blind answer is asked for once more."""
    for left in reversed(range(TRIES)):
        trial = Trial(route, sort, await asyncio.to_thread(make, sort, random))
        if beside and route != "upload":
            trial = replace(trial, decoy=await asyncio.to_thread(make, sort, random))
        finding = judge(line.target, trial, await ask_about(line, trial))
        if finding.outcome != "blind" or not left:
            return finding
    raise AssertionError("a route is tried at least once")


def skip(target: Target, sort: Sort, reason: str) -> Finding:
    """A kind that can't be tried on this machine."""
    return find(target, "upload", sort, "skipped", reason)
