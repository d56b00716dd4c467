"""One complete vision check: every kind of file on every route, with one finding for each."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from random import Random

from msgspec.structs import replace

from showandtell.core.capabilities.cells import Target
from showandtell.errors import BadInput
from showandtell.verify.ask import ModelUnderTest, Route, Trial, ask_about
from showandtell.verify.judge import Finding, judge, make_finding
from showandtell.verify.probes import KINDS, Make, ProbeKind, make_probe, new_seed

#: Uploads come first: if the model sees them, one is sent as a decoy on the other routes.
ROUTES: tuple[Route, ...] = ("upload", "relocated", "tool result")
#: Number of tries before a route counts as blind, since one wrong answer must not hide files for good.
TRIES = 2


async def verify(
    model: ModelUnderTest, kinds: Sequence[ProbeKind] = KINDS, *, make: Make = make_probe, seed: str | None = None
) -> AsyncGenerator[Finding]:
    """Try each kind on each route, one request at a time. The same `seed` makes the same files.

    Raises `ProviderError` if no request can succeed: no access, no credit, or no connection.
    """
    random = Random(seed or new_seed())  # noqa: S311 - the seed itself is from a secure source
    for kind in kinds:
        try:
            await asyncio.to_thread(make, kind, Random(0))  # noqa: S311 - only checks whether it can be made
        except BadInput as error:
            yield skip(model.target, kind, str(error))
            continue
        is_seen = False
        for route in ROUTES:
            finding = await try_route(model, kind, route, make, random, beside=is_seen)
            is_seen = is_seen or finding.outcome in {"seen", "text only"}
            yield finding


async def try_route(
    model: ModelUnderTest, kind: ProbeKind, route: Route, make: Make, random: Random, *, beside: bool
) -> Finding:
    """Ask about a new file. A blind answer gets a second try. With `beside`, the user uploads a decoy, too."""
    for tries_left in reversed(range(TRIES)):
        trial = Trial(route, kind, await asyncio.to_thread(make, kind, random))
        if beside and route != "upload":
            trial = replace(trial, decoy=await asyncio.to_thread(make, kind, random))
        finding = judge(model.target, trial, await ask_about(model, trial))
        if finding.outcome != "blind" or not tries_left:
            return finding
    raise AssertionError("TRIES must be at least 1")


def skip(target: Target, kind: ProbeKind, reason: str) -> Finding:
    """The finding for a kind that this machine can't make."""
    return make_finding(target, "upload", kind, "skipped", reason)
