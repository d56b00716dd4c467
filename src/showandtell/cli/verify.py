"""`showandtell verify`: runs a vision check in the terminal, and stores verdicts in the user's overrides on request."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, aclosing
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, BinaryIO, TextIO, cast

import msgspec
import typer

from showandtell.cli import verify_report
from showandtell.cli.options import AsJsonLines
from showandtell.cli.verify_all import ALL_JUDGED, NONE_JUDGED, SOME_FAILED, verify_all
from showandtell.config.user_settings import check_overrides_writable, save_overrides
from showandtell.core.capabilities.cells import Capability, Target
from showandtell.core.capabilities.overrides import serialize
from showandtell.core.capabilities.resolve import resolve
from showandtell.errors import BadInput, UsageError
from showandtell.providers.connect import connect, locate
from showandtell.providers.exchange import Exchange
from showandtell.verify.all_models import MODEL_SECONDS, find_candidates
from showandtell.verify.ask import ModelUnderTest
from showandtell.verify.hosts import find_other_host
from showandtell.verify.judge import Finding, capabilities_from
from showandtell.verify.probes import KINDS, ProbeKind, new_seed
from showandtell.verify.record import Head, read_recording, record, replay
from showandtell.verify.run import ROUTES
from showandtell.verify.run import verify as verify_routes


def verify(
    model: Annotated[str, typer.Argument(help="provider:model, or inspector; none with --all")] = "",
    kind: Annotated[
        str, typer.Option("--kind", help="image, document, audio, video, comma-separated; default: all")
    ] = "",
    record: Annotated[Path | None, typer.Option("--record", help="save requests and responses, without keys")] = None,
    replay: Annotated[Path | None, typer.Option("--replay", help="use a recording instead of a model")] = None,
    save: Annotated[bool, typer.Option("--save", help="store the verdicts in your settings, for later plans")] = False,
    json: AsJsonLines = False,
    every: Annotated[
        bool, typer.Option("--all", help="a model of each row of the table whose provider has a key, and save")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="with --all: begin without a question")] = False,
    again: Annotated[bool, typer.Option("--again", help="with --all: models that were checked lately, too")] = False,
    seconds: Annotated[
        float, typer.Option("--seconds", help="with --all: give a model up after this time")
    ] = MODEL_SECONDS,
) -> None:
    """Check what a model really sees, with a few requests per kind of file; --save uses the verdicts from then on."""
    if every == bool(model):
        raise UsageError("verify takes a model, or --all for a model of each row whose provider has a key")
    if not every:
        raise typer.Exit(run(model, kinds(kind), record, replay, save=save, json=json))
    if record is not None or replay is not None:
        raise UsageError("--record and --replay are for one model, not for --all")
    found = find_candidates(os.environ)
    raise typer.Exit(
        verify_all(found, kinds(kind), again=again, yes=yes, json=json, environ=os.environ, limit=lambda _: seconds)
    )


def kinds(text: str) -> tuple[ProbeKind, ...]:
    """The kinds in a comma-separated list; all kinds if it is empty."""
    named = dict.fromkeys(word.strip() for word in text.split(",") if word.strip())
    wrong = [word for word in named if word not in KINDS]
    if wrong:
        raise UsageError(f"--kind {wrong[0]}: choose from {', '.join(KINDS)}")
    return tuple(cast("ProbeKind", word) for word in named) or KINDS


def run(
    model: str,
    chosen: Sequence[ProbeKind],
    recording: Path | None = None,
    replayed: Path | None = None,
    *,
    save: bool,
    json: bool,
    environ: Mapping[str, str] = os.environ,
) -> int:
    """Check a model, or replay a recording, print the verdicts, and store them on request. Returns the exit status."""
    if recording is not None and replayed is not None:
        raise UsageError("--record and --replay: a recording is not recorded again")
    target, exchange, head = connect_model(model, environ) if replayed is None else open_replay(model, replayed)
    if save:
        check_overrides_writable(environ)
    if not json:
        echo(*verify_report.head(target, len(chosen) * len(ROUTES), head.host))
    with ExitStack() as stack:
        if recording is not None:
            out = stack.enter_context(open_recording(recording))
            exchange = recorded(exchange, out, head)
        findings = asyncio.run(watch(ModelUnderTest(target, exchange), chosen, head.seed, json=json))
    cells = capabilities_from(target, findings, head.date, head.host)
    if not json:
        echo(*verify_report.conclude(target, cells, findings))
    path = store(cells, target, environ) if save and cells else None
    if not json:
        echo(verify_report.format_end(target, path, head.host if cells else None))
    if not cells:
        return NONE_JUDGED
    return SOME_FAILED if any(finding.outcome == "failed" for finding in findings) else ALL_JUDGED


def connect_model(model: str, environ: Mapping[str, str]) -> tuple[Target, Exchange, Head]:
    """A model, the connection to its host, and the head of a new recording."""
    target = locate(resolve(model), environ)
    exchange = connect(target, environ=environ)
    today = datetime.now(UTC).date().isoformat()
    return target, exchange, Head(target.name, new_seed(), today, find_other_host(target, exchange.base))


def open_replay(model: str, path: Path) -> tuple[Target, Exchange, Head]:
    """A recording in place of a connection; verdicts have its date. Raises `BadInput` if it is of another model."""
    head, _ = read_recording(path)
    target = resolve(model)
    if target.name != head.model:
        raise BadInput(f"--replay: {path} is of {head.model}, not of {target.name}")
    return target, Exchange(replay(path), "http://recording", {}), head


async def watch(model: ModelUnderTest, chosen: Sequence[ProbeKind], seed: str, *, json: bool) -> list[Finding]:
    """All findings, each printed as soon as it is known."""
    findings: list[Finding] = []
    async with aclosing(verify_routes(model, chosen, seed=seed)) as results:
        async for finding in results:
            findings.append(finding)
            echo(msgspec.json.encode(finding).decode() if json else verify_report.format_finding(finding))
    return findings


def open_recording(path: Path) -> BinaryIO:
    """A new file for a recording. Raises `BadInput` if it exists or can't be written."""
    try:
        return path.open("xb")
    except OSError as error:
        raise BadInput(f"--record: {path} can't be written: {error.strerror}") from None


def recorded(exchange: Exchange, out: BinaryIO, head: Head) -> Exchange:
    """An exchange that is recorded to `out`."""
    return replace(exchange, send=record(exchange.send, out, head))


def store(cells: Sequence[Capability], target: Target, environ: Mapping[str, str]) -> Path:
    """Store the verdicts; if the file can no longer be written, print them, because they cost money."""
    try:
        return save_overrides(cells, target.name, environ)
    except BadInput:
        echo("this would have been written:", serialize({target.name: cells}), out=sys.stderr)
        raise


def echo(*lines: str, out: TextIO | None = None) -> None:
    """Print lines and flush, because a check takes a while."""
    sink = out or sys.stdout
    for line in lines:
        sink.write(line + "\n")
    sink.flush()
