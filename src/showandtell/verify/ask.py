"""Asks the real model about a file that is forced through one cell: as an upload, behind a tool's result, or in it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from contextlib import aclosing
from typing import Literal, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from showandtell.agent.media_errors import is_about_files
from showandtell.agent.render import ingest, plan_now
from showandtell.core.capabilities.cells import Capability, Place, Target
from showandtell.core.events.accumulate import Accumulator
from showandtell.core.events.types import Usage
from showandtell.core.messages.file import File
from showandtell.core.messages.messages import Draft, Stop
from showandtell.core.messages.parts import Text, ToolCall
from showandtell.core.planning.values import Policy
from showandtell.core.wire.options import Options, ToolSpec
from showandtell.core.wire.request import Request, compose
from showandtell.errors import BadInput, CannotRender, ProviderError, ProviderUnavailable
from showandtell.providers.exchange import Exchange
from showandtell.providers.retry import RetryPolicy, persist
from showandtell.verify.probes import Probe, Sort

#: The ways of a file to the model: the user's own upload, a tool's file after its result, and one in the result itself.
Route: TypeAlias = Literal["upload", "relocated", "tool result"]
PLACES: dict[Route, Place] = {"upload": "user", "relocated": "user", "tool result": "tool_result"}

CALL = "eye_test_1"
TOOL = ToolSpec("show_file", "Shows a file.", '{"type":"object","properties":{},"additionalProperties":false}')
#: The question says everything that may be in a file, so that a model has no reason to hold anything back.
HIDDEN = (
    "A file may hold code words: written in its pixels, in the text of its pages (a PDF may have one in its text layer "
    "and another one in a picture), or spoken. Give every code word letter by letter as you found it, without "
    "guessing; write none where you can't see, read or hear the file."
)
UPLOADED = f"This is a test of your eyes and ears. {HIDDEN} Answer in two lines: 'mine: ' with the code words of the \
file that I uploaded, and 'shapes: ' with how many coloured discs it shows."
SHOWN = f"This is a test of your eyes and ears. Call show_file once, then answer. {HIDDEN} Answer in three lines: \
'tool: ' with the code words of the file that the tool showed, 'mine: ' with those of files that I uploaded myself, \
and 'shapes: ' with how many coloured discs the tool's file shows."
#: What an answer may be about that refuses a request for more than its files: it is asked without the file, too.
DOUBTFUL = frozenset({400, 404, 413, 415, 422, 500, 501})


class Heard(Struct, frozen=True):
    """What became of one request: an answer (`stop` is set), or else `refused` or `failed` in the provider's words."""

    text: str = ""
    stop: Stop | None = None
    usage: Usage = Usage()
    seconds: float = 0.0
    refused: str = ""
    failed: str = ""
    unwritten: str = ""


class Trial(Struct, frozen=True):
    """One file on one route, with a `decoy` where the user is to have uploaded a file beside the tool's."""

    route: Route
    sort: Sort
    probe: Probe
    decoy: Probe | None = None

    @property
    def files(self) -> tuple[Probe, ...]:
        """The files of the conversation."""
        return (self.probe, self.decoy) if self.decoy else (self.probe,)


class Line(Struct, frozen=True):
    """A model that can be asked: its target, the way to its host, and the clock that its answers are timed by."""

    target: Target
    exchange: Exchange
    retry: RetryPolicy = RetryPolicy()
    clock: Callable[[], float] = time.monotonic


async def ask_about(line: Line, trial: Trial) -> Heard:
    """Ask about a file. Raises `ProviderError` where the model can't be asked at all: no right to, or no connection."""
    try:
        request = await asyncio.to_thread(write, line.target, trial)
    except CannotRender as error:
        return Heard(unwritten=str(error))
    except BadInput as error:
        return Heard(failed=str(error))
    started = line.clock()
    try:
        heard = await listen(line, request)
    except ProviderError as error:
        if error.status in {401, 403} or is_out_of_reach(error):
            raise
        is_refusal = await is_refused(line, trial.route, error)
        heard = Heard(refused=error.text) if is_refusal else Heard(failed=error.text)
    return replace(heard, seconds=line.clock() - started)


def is_out_of_reach(error: ProviderError) -> bool:
    """Whether there was no connection, also when asked again: the next request won't fare better."""
    return isinstance(error, ProviderUnavailable) and (
        isinstance(error.__cause__, OSError)
        or (isinstance(error.__cause__, ProviderError) and isinstance(error.__cause__.__cause__, OSError))
    )


def write(target: Target, trial: Trial) -> Request:
    """The request whose plan has the file at its place. Raises `CannotRender` where the api has no form for that."""
    forced = replace(target, cells=force(trial))
    conversation = ingest(converse(trial.route, trial.probe, trial.decoy))
    plan = plan_now(conversation, forced, Policy())
    receipt = plan.receipts[-1]  # the probe comes last, behind what the user uploaded
    if receipt.place != PLACES[trial.route]:
        raise BadInput(f"the file can't be sent: {receipt.reason}")
    return compose(plan, forced, say_options(trial.route), {}, conversation.blobs)


def force(trial: Trial) -> tuple[Capability, ...]:
    """Cells that leave a file no other way: those of its place, and the user's for the decoy."""
    places = dict.fromkeys((PLACES[trial.route], PLACES["upload"]))
    types = tuple(dict.fromkeys(probe.media_type for probe in trial.files))
    return tuple(Capability(place, trial.sort, types, "inline", "sees", "eye test", "") for place in places)


def say_options(route: Route) -> Options:
    """The tool is declared where it was called, and may not be called again."""
    if route == "upload":
        return Options(stream=True)
    return Options(tools=(TOOL,), tool_choice="none", stream=True)


def converse(route: Route, probe: Probe | None, decoy: Probe | None = None) -> list[Draft]:
    """The conversation up to the model's answer; without a probe, the same words alone."""
    file = [claim(probe)] if probe else [Text("There is no file this time.")]
    own = [claim(decoy)] if decoy else []
    if route == "upload":
        return [Draft("user", (Text(UPLOADED), *file, *own))]
    call = ToolCall(CALL, TOOL.name, "{}")
    return [
        Draft("user", (Text(SHOWN), *own)),
        Draft("assistant", (call,), stop="tool_calls"),
        Draft("tool", tuple(file), CALL, TOOL.name),
    ]


def claim(probe: Probe) -> File:
    """The probe as a file that somebody hands in."""
    return File.from_bytes(probe.data, probe.media_type, probe.name)


async def is_refused(line: Line, route: Route, error: ProviderError) -> bool:
    """Whether the file was the reason: an answer says so, or the same words without a file are answered."""
    if is_about_files(error):
        return True
    if error.status not in DOUBTFUL:
        return False
    bare = ingest(converse(route, None))
    plan = plan_now(bare, line.target, Policy())
    try:
        heard = await listen(line, compose(plan, line.target, say_options(route), {}, bare.blobs))
    except ProviderError:
        return False
    return heard.stop is not None


async def listen(line: Line, request: Request) -> Heard:
    """Send, and gather the whole answer. Raises `ProviderError`."""
    fold = Accumulator(line.target.signer)
    async with aclosing(persist(line.exchange, request, line.retry, lambda _: None)) as batches:
        async for batch in batches:
            fold.add(batch)
    if fold.stop == "error":
        return Heard(failed=fold.detail or "the provider failed")
    words = "".join(part.text for part in fold.draft().parts if isinstance(part, Text))
    return Heard(words, fold.stop, fold.usage)
