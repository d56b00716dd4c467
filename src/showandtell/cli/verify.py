"""`showandtell verify`: runs an eye test in the terminal, and keeps what it proved in the person's own file."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, aclosing
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO, TextIO, cast

import msgspec

from showandtell.cli import verify_report
from showandtell.config.user_settings import save_overrides, try_overrides
from showandtell.core.capabilities.cells import Capability, Target
from showandtell.core.capabilities.overrides import spell
from showandtell.core.capabilities.resolve import resolve
from showandtell.errors import BadInput, UsageError
from showandtell.providers.exchange import Exchange
from showandtell.providers.rows import connect, locate
from showandtell.verify.ask import Line
from showandtell.verify.hosts import find_stranger
from showandtell.verify.judge import Finding, learn
from showandtell.verify.probes import SORTS, Sort, new_seed
from showandtell.verify.record import Head, read_recording, record, replay
from showandtell.verify.run import ROUTES, verify

#: Exit status: every route that can be tried gave a verdict; none did; some failed.
DONE, NOTHING, SOME = 0, 1, 3


def kinds(text: str) -> tuple[Sort, ...]:
    """The kinds named on the command line, commas between; all of them where none is."""
    named = dict.fromkeys(word.strip() for word in text.split(",") if word.strip())
    wrong = [word for word in named if word not in SORTS]
    if wrong:
        raise UsageError(f"--kind {wrong[0]}: write some of {', '.join(SORTS)}")
    return tuple(cast("Sort", word) for word in named) or SORTS


def run(
    model: str,
    sorts: Sequence[Sort],
    recording: Path | None = None,
    replayed: Path | None = None,
    *,
    write: bool | None,
    json: bool,
    environ: Mapping[str, str] = os.environ,
) -> int:
    """Test a model, or replay a recording, tell of it, and keep the verdicts; gives the exit status.

    write: None keeps them where the provider itself was asked: whoever answers in its place may see less, or more.
    """
    if recording is not None and replayed is not None:
        raise UsageError("--record and --replay: a recording is not recorded again")
    target, exchange, head = open_line(model, environ) if replayed is None else reopen_line(model, replayed)
    keeps = not head.host if write is None else write
    if keeps:
        try_overrides(environ)
    if not json:
        say(*verify_report.head(target, len(sorts) * len(ROUTES), head.host))
    with ExitStack() as stack:
        if recording is not None:
            out = stack.enter_context(open_recording(recording))
            exchange = recorded(exchange, out, head)
        findings = asyncio.run(watch(Line(target, exchange), sorts, head.seed, json=json))
    cells = learn(target, findings, head.date, head.host)
    if not json:
        say(*verify_report.conclude(target, cells, findings))
    path = save(cells, target, environ) if keeps and cells else None
    withheld = head.host if write is None and cells else ""
    if not json or withheld:
        say(verify_report.tell_end(target, path, withheld), out=sys.stderr if json else sys.stdout)
    if not cells:
        return NOTHING
    return SOME if any(finding.outcome == "failed" for finding in findings) else DONE


def open_line(model: str, environ: Mapping[str, str]) -> tuple[Target, Exchange, Head]:
    """A model, the way to its host, and what is tested today."""
    target = locate(resolve(model), environ)
    exchange = connect(target, environ=environ)
    today = datetime.now(UTC).date().isoformat()
    return target, exchange, Head(target.name, new_seed(), today, find_stranger(target, exchange.base))


def reopen_line(model: str, path: Path) -> tuple[Target, Exchange, Head]:
    """The same from a recording: no key is needed, and verdicts have its day. Raises `BadInput` for another model."""
    head, _ = read_recording(path)
    target = resolve(model)
    if target.name != head.model:
        raise BadInput(f"--replay: {path} is of {head.model}, not of {target.name}")
    return target, Exchange(replay(path), "http://recording", {}), head


async def watch(line: Line, sorts: Sequence[Sort], seed: str, *, json: bool) -> list[Finding]:
    """Every finding, told as it comes."""
    findings: list[Finding] = []
    async with aclosing(verify(line, sorts, seed=seed)) as found:
        async for finding in found:
            findings.append(finding)
            say(msgspec.json.encode(finding).decode() if json else verify_report.spell(finding))
    return findings


def open_recording(path: Path) -> BinaryIO:
    """A new file for a recording; one that is there already stays. Raises `BadInput`."""
    try:
        return path.open("xb")
    except OSError as error:
        raise BadInput(f"--record: {path} can't be written: {error.strerror}") from None


def recorded(exchange: Exchange, out: BinaryIO, head: Head) -> Exchange:
    """The same exchange, kept as it goes."""
    return replace(exchange, send=record(exchange.send, out, head))


def save(cells: Sequence[Capability], target: Target, environ: Mapping[str, str]) -> Path:
    """Keep what was paid for; where the file can't be written any more, it is said instead, to be kept by hand."""
    try:
        return save_overrides(cells, target.name, environ)
    except BadInput:
        say("this would have been written:", spell({target.name: cells}), out=sys.stderr)
        raise


def say(*lines: str, out: TextIO | None = None) -> None:
    """Lines, at once: a test takes a while."""
    sink = out or sys.stdout
    for line in lines:
        sink.write(line + "\n")
    sink.flush()
