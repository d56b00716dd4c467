"""`showandtell verify --all`: checks a model of each row whose provider has a key, and stores the verdicts.

A model's verdicts are stored as soon as it is checked, and a model that was checked lately is left out: a run that was
interrupted continues where it ended.
"""

from __future__ import annotations

import asyncio
import sys
from collections import Counter
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping, Sequence
from contextlib import aclosing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TextIO

import msgspec
import typer

from showandtell.cli import verify_report
from showandtell.config.user_settings import check_overrides_writable, overrides_path, read_overrides, save_overrides
from showandtell.core.capabilities.cells import Capability, Target
from showandtell.core.display.words import short
from showandtell.errors import UsageError
from showandtell.providers.retry import RetryPolicy
from showandtell.verify.all_models import (
    RETRY,
    Candidate,
    Candidates,
    Estimate,
    Result,
    check_all,
    estimate,
    was_checked,
)
from showandtell.verify.hosts import find_other_host
from showandtell.verify.judge import capabilities_from
from showandtell.verify.probes import ProbeKind

#: For how many days a model that was checked isn't checked again.
FRESH_DAYS = 30
#: Exit statuses: each model that was asked has verdicts; none has; some have none.
ALL_JUDGED, NONE_JUDGED, SOME_FAILED = 0, 1, 3


def verify_all(
    candidates: Candidates,
    kinds: Sequence[ProbeKind],
    *,
    again: bool,
    yes: bool,
    json: bool,
    environ: Mapping[str, str],
    limit: Callable[[Target], float],
    retry: RetryPolicy = RETRY,
) -> int:
    """Say what will be asked, ask whether to begin, check and store. Returns the exit status."""
    check_overrides_writable(environ)
    stored = read_overrides(environ)
    since = "9999" if again else (datetime.now(UTC) - timedelta(days=FRESH_DAYS)).date().isoformat()
    names = [candidate.target.name for candidate in candidates.models]
    fresh = {name: was_checked(stored.get(name, ()), kinds, since) for name in names}
    models = [candidate for candidate in candidates.models if not fresh[candidate.target.name]]
    out = sys.stderr if json else sys.stdout
    show(out, *introduce(candidates, fresh))
    if not models:
        show(
            out,
            "nothing to check" if fresh else "nothing to check: set the key of a provider, such as ANTHROPIC_API_KEY",
        )
        return ALL_JUDGED if any(fresh.values()) else NONE_JUDGED
    show(out, *describe(estimate(models, kinds, limit=limit)), f"verdicts go to {overrides_path(environ)}")
    confirm(yes=yes)
    progress = Progress(len(models), environ, json=json)
    try:
        asyncio.run(progress.watch(check_all(models, kinds, limit=limit, retry=retry)))
    except KeyboardInterrupt:
        show(out, *progress.conclude(), "interrupted: the same command continues with the models that are left")
        raise
    show(out, *progress.conclude())
    return progress.status()


def confirm(*, yes: bool) -> None:
    """Ask whether to begin. Raises `UsageError` if nobody can answer, and `typer.Abort` for a no."""
    if yes:
        return
    if not sys.stdin.isatty():
        raise UsageError("verify --all asks before it sends paid requests: add --yes to begin at once")
    if not typer.confirm("begin?", err=True):
        raise typer.Abort


def introduce(candidates: Candidates, fresh: Mapping[str, str]) -> Iterator[str]:
    """Which providers are asked, which not and why, and what was checked lately."""
    counts = Counter(candidate.target.provider for candidate in candidates.models)
    asked = ", ".join(f"{name} ({verify_report.number(count, 'model')})" for name, count in counts.items())
    yield f"asked: {asked or 'no provider'}"
    without = [name for name, reason in candidates.left_out.items() if reason == "no key"]
    if without:
        yield f"left out, without a key: {', '.join(without)}"
    others = {name: reason for name, reason in candidates.left_out.items() if reason != "no key"}
    yield from (f"left out, {name}: {short(reason)}" for name, reason in others.items())
    done = {name: date for name, date in fresh.items() if date}
    if done:
        yield f"checked since {min(done.values())} and left out: {', '.join(done)} (--again checks them, too)"


def describe(expected: Estimate) -> Iterator[str]:
    """What the check takes: requests and bytes, tokens, and time."""
    yield (
        f"{verify_report.number(expected.models, 'model')}, {expected.requests} to {expected.max_requests} requests, "
        f"about {expected.bytes / 1e6:.0f} MB to send"
    )
    yield (
        f"about {expected.tokens:,} tokens of input, up to twice as many if answers are wrong; "
        "your providers' prices apply"
    )
    yield "answers of two or three lines, but nothing limits them to that: models that think write more"
    in_all = f", {lasting(expected.seconds)} in all" if expected.seconds > expected.model_seconds else ""
    yield (
        f"at most {lasting(expected.model_seconds)} a model{in_all}, providers side by side; "
        "Ctrl-C keeps what was checked"
    )


def lasting(seconds: float) -> str:
    """A time in whole minutes, else in seconds."""
    minutes, rest = divmod(seconds, 60)
    return f"{seconds:g} seconds" if rest or minutes < 2 else f"{minutes:g} minutes"


class Progress:
    """What has come of a check so far: prints each model as it begins and ends, and stores its verdicts."""

    def __init__(self, total: int, environ: Mapping[str, str], *, json: bool) -> None:
        self.total, self.environ, self.json = total, environ, json
        self.results: list[tuple[Result, tuple[Capability, ...]]] = []
        self.path: Path | None = None

    async def watch(self, checks: AsyncGenerator[Candidate | Result]) -> None:
        """Print and store what is found."""
        async with aclosing(checks) as items:
            async for item in items:
                if isinstance(item, Result):
                    self.add(item)
                elif not self.json:
                    show(sys.stdout, f"  … {item.target.name}")

    def add(self, result: Result) -> None:
        """Store a model's verdicts, and print them. A check that was broken off has none: some routes are missing."""
        target = result.candidate.target
        today = datetime.now(UTC).date().isoformat()
        host = find_other_host(target, result.candidate.exchange.base)
        cells = capabilities_from(target, result.findings, today, host) if result.end == "checked" else ()
        self.results.append((result, cells))
        if cells:
            self.path = save_overrides(cells, target.name, self.environ)
        if self.json:
            show(sys.stdout, *(msgspec.json.encode(finding).decode() for finding in result.findings))
        else:
            show(sys.stdout, f"{len(self.results):>3}/{self.total} {target.name}: {summarize(result, cells)}")

    def conclude(self) -> Iterator[str]:
        """What differs from the table, which models have no verdicts and why, and where the verdicts are."""
        judged = [(result.candidate.target, cells) for result, cells in self.results if cells]
        verdicts = sum(len(cells) for _, cells in judged)
        yield ""
        yield (
            f"{len(judged)} of {verify_report.number(self.total, 'model')} checked, "
            f"{verify_report.number(verdicts, 'verdict')}"
        )
        changed = [
            f"  {target.name}: {line}" for target, cells in judged for line in verify_report.differences(target, cells)
        ]
        if judged:
            yield f"{len(changed)} of them differ from our table:" if changed else "all of them as in our table"
        yield from changed
        missing = [(result.candidate.target, summarize(result, ())) for result, cells in self.results if not cells]
        if missing:
            yield "no verdicts:"
            yield from (f"  {target.name}: {reason}" for target, reason in missing)
        if self.path is not None:
            yield f"written to {self.path}: used from now on"

    def status(self) -> int:
        """The exit status."""
        judged = sum(bool(cells) for _, cells in self.results)
        return ALL_JUDGED if judged == self.total else SOME_FAILED if judged else NONE_JUDGED


def summarize(result: Result, cells: Sequence[Capability]) -> str:
    """A model's result in one line."""
    if result.end != "checked":
        return short(f"{result.end}: {result.reason}")
    if not cells:
        return f"{verify_report.number(len(result.findings), 'route')}, no verdicts"
    changed = len(list(verify_report.differences(result.candidate.target, cells)))
    table = f"{changed} {'differs' if changed == 1 else 'differ'} from our table" if changed else "as in our table"
    return f"{verify_report.number(len(cells), 'verdict')}, {table}"


def show(out: TextIO, *lines: str) -> None:
    """Print lines and flush, because a check takes a while."""
    out.writelines(f"{line}\n" for line in lines)
    out.flush()
