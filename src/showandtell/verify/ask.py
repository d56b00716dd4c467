"""Asks the real model about a file that is sent on one route: as an upload, after a tool's result, or inside it."""

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
from showandtell.core.messages.message import Draft, Stop
from showandtell.core.messages.parts import Text, ToolCall
from showandtell.core.planning.values import Policy
from showandtell.core.wire.options import Options, ToolSpec
from showandtell.core.wire.request import Request, compose
from showandtell.errors import BadInput, CannotRender, ProviderError, ProviderUnavailable
from showandtell.providers.exchange import Exchange
from showandtell.providers.retry import RetryPolicy, ask_with_retries, is_out_of_credit
from showandtell.verify.probes import Probe, ProbeKind

#: How a file reaches the model: as the user's upload, as a tool's file after its result, or inside the result.
Route: TypeAlias = Literal["upload", "relocated", "tool result"]
PLACES: dict[Route, Place] = {"upload": "user", "relocated": "user", "tool result": "tool_result"}

CALL = "eye_test_1"
TOOL = ToolSpec("show_file", "Shows a file.", '{"type":"object","properties":{},"additionalProperties":false}')
#: The prompt lists everything that a file may contain, so that the model has no reason to withhold anything.
CODE_WORDS_PROMPT = (
    "A file may hold code words: written in its pixels, in the text of its pages (a PDF may have one in its text layer "
    "and another one in a picture), or spoken. Give every code word letter by letter as you found it, without "
    "guessing; write none where you can't see, read or hear the file."
)
UPLOAD_PROMPT = (
    f"This is a test of your eyes and ears. {CODE_WORDS_PROMPT} Answer in two lines: 'mine: ' with the code words of "
    "the file that I uploaded, and 'shapes: ' with how many coloured discs it shows."
)
TOOL_PROMPT = (
    f"This is a test of your eyes and ears. Call show_file once, then answer. {CODE_WORDS_PROMPT} Answer in three "
    "lines: 'tool: ' with the code words of the file that the tool showed, 'mine: ' with those of files that I "
    "uploaded myself, and 'shapes: ' with how many coloured discs the tool's file shows."
)
#: Statuses that don't show whether the file is the reason. The request is then repeated without the file.
UNCLEAR_STATUSES = frozenset({400, 404, 413, 415, 422, 500, 501})
#: The key itself is refused, for any model.
UNAUTHORIZED = 401


class ModelReply(Struct, frozen=True):
    """The outcome of one request: an answer (`stop` is set), or the provider's text in `refused` or `failed`.

    `unrendered` is the reason why the API has no form for the request.
    """

    text: str = ""
    stop: Stop | None = None
    usage: Usage = Usage()
    seconds: float = 0.0
    refused: str = ""
    failed: str = ""
    unrendered: str = ""


class Trial(Struct, frozen=True):
    """One file on one route. A `decoy` is uploaded by the user in addition to the tool's file."""

    route: Route
    kind: ProbeKind
    probe: Probe
    decoy: Probe | None = None

    @property
    def files(self) -> tuple[Probe, ...]:
        """The probe, and the decoy if there is one."""
        return (self.probe, self.decoy) if self.decoy else (self.probe,)


class ModelUnderTest(Struct, frozen=True):
    """A model under test: its target, the exchange with its host, and the clock that times its replies in seconds."""

    target: Target
    exchange: Exchange
    retry: RetryPolicy = RetryPolicy()
    clock: Callable[[], float] = time.monotonic


async def ask_about(model: ModelUnderTest, trial: Trial) -> ModelReply:
    """Ask about a file. Raises `ProviderError` if no request can succeed: no access, no credit, or no connection."""
    try:
        request = await asyncio.to_thread(render_trial, model.target, trial)
    except CannotRender as error:
        return ModelReply(unrendered=str(error))
    except BadInput as error:
        return ModelReply(failed=str(error))
    started = model.clock()
    try:
        reply = await receive(model, request)
    except ProviderError as error:
        if error.status in {401, 403} or is_out_of_credit(error) or is_out_of_reach(error):
            raise
        is_refusal = await is_refused(model, trial.route, request, error)
        reply = ModelReply(refused=error.text) if is_refusal else ModelReply(failed=error.text)
    return replace(reply, seconds=model.clock() - started)


def is_out_of_reach(error: ProviderError) -> bool:
    """Whether the connection failed, also after retries, so that the next request will fail, too."""
    return isinstance(error, ProviderUnavailable) and (
        isinstance(error.__cause__, OSError)
        or (isinstance(error.__cause__, ProviderError) and isinstance(error.__cause__.__cause__, OSError))
    )


def render_trial(target: Target, trial: Trial) -> Request:
    """The request with the file in the trial's place. Raises `CannotRender` if the API has no form for it."""
    forced = replace(target, cells=force(trial))
    conversation = ingest(make_conversation(trial.route, trial.probe, trial.decoy))
    plan = plan_now(conversation, forced, Policy())
    receipt = plan.receipts[-1]  # the probe comes last, after the user's upload
    if receipt.place != PLACES[trial.route]:
        raise BadInput(f"the file can't be sent: {receipt.reason}")
    return compose(plan, forced, options_for(trial.route), conversation.blobs)


def force(trial: Trial) -> tuple[Capability, ...]:
    """Capabilities that allow only the trial's place, and for the decoy a user message."""
    places = dict.fromkeys((PLACES[trial.route], PLACES["upload"]))
    types = tuple(dict.fromkeys(probe.media_type for probe in trial.files))
    return tuple(Capability(place, trial.kind, types, "inline", "sees", "eye test", "") for place in places)


def options_for(route: Route) -> Options:
    """Options that declare the tool, if it was called, and forbid further calls."""
    if route == "upload":
        return Options(stream=True)
    return Options(tools=(TOOL,), tool_choice="none", stream=True)


def make_conversation(route: Route, probe: Probe | None, decoy: Probe | None = None) -> list[Draft]:
    """The conversation up to the model's answer. Without a probe, the text alone."""
    tool_files = [as_file(probe)] if probe else [Text("There is no file this time.")]
    own_files = [as_file(decoy)] if decoy else []
    if route == "upload":
        return [Draft("user", (Text(UPLOAD_PROMPT), *tool_files, *own_files))]
    call = ToolCall(CALL, TOOL.name, "{}")
    return [
        Draft("user", (Text(TOOL_PROMPT), *own_files)),
        Draft("assistant", (call,), stop="tool_calls"),
        Draft("tool", tuple(tool_files), CALL, TOOL.name),
    ]


def as_file(probe: Probe) -> File:
    """The probe as a file to attach."""
    return File.from_bytes(probe.data, probe.media_type, probe.name)


async def is_refused(model: ModelUnderTest, route: Route, request: Request, error: ProviderError) -> bool:
    """Whether the file is the reason for an error: its text says so, or the request succeeds without the file."""
    if is_about_files(error, request):
        return True
    if error.status not in UNCLEAR_STATUSES:
        return False
    conversation = ingest(make_conversation(route, None))
    plan = plan_now(conversation, model.target, Policy())
    try:
        reply = await receive(model, compose(plan, model.target, options_for(route), conversation.blobs))
    except ProviderError:
        return False
    return reply.stop is not None


async def is_available(model: ModelUnderTest) -> str:
    """Why a model doesn't answer a request without a file; empty if it does.

    Raises `ProviderError` if no request to its host can succeed: the key is refused, the account is out of credit, or
    there is no connection.
    """
    conversation = ingest(make_conversation("upload", None))
    plan = plan_now(conversation, model.target, Policy())
    try:
        reply = await receive(model, compose(plan, model.target, options_for("upload"), conversation.blobs))
    except ProviderError as error:
        if error.status == UNAUTHORIZED or is_out_of_credit(error) or is_out_of_reach(error):
            raise
        return error.text
    return reply.failed


async def receive(model: ModelUnderTest, request: Request) -> ModelReply:
    """Send a request and read the complete answer. Raises `ProviderError`."""
    accumulator = Accumulator(model.target.signer)
    async with aclosing(ask_with_retries(model.exchange, request, model.retry, lambda _: None)) as batches:
        async for batch in batches:
            accumulator.add(batch)
    if accumulator.stop == "error":
        return ModelReply(failed=accumulator.detail or "the provider failed")
    return ModelReply(accumulator.draft().text, accumulator.stop, accumulator.usage)
