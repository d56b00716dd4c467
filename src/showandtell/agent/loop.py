"""The loop: ask what comes next, do it, and store it. It knows a conversation, a way to send, and its tools."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import msgspec

from showandtell.agent.context import Files, RunContext
from showandtell.agent.decide import UNKNOWN, AskModel, Close, Done, LoopLimits, RunTools, Wait, choice, decide
from showandtell.agent.execute import execute, failed, redact
from showandtell.agent.loader import Loader, Sharing
from showandtell.agent.media_errors import is_about_files, listed, named_by, note, sent, unaccepted
from showandtell.agent.protocols import Conversation
from showandtell.agent.provider_uploads import by_bytes, forget_expired, forget_failed, replace_gone
from showandtell.agent.tools import Tool
from showandtell.core.capabilities.cells import Target
from showandtell.core.collect.sanitize import clean
from showandtell.core.collect.values import result_draft
from showandtell.core.events.accumulate import Accumulator, CallIds
from showandtell.core.events.replay import file_event, tool_output
from showandtell.core.events.types import (
    ApprovalNeeded,
    ErrorEvent,
    Event,
    FileMade,
    Finish,
    ReceiptEvent,
    Retry,
    StepFinish,
    StepStart,
    ToolProgress,
    ToolStart,
    Usage,
)
from showandtell.core.messages.attachments import Attachment, Proved
from showandtell.core.messages.derivations import DerivationRequest, Derivations, Failed
from showandtell.core.messages.messages import Draft, Message, Stop
from showandtell.core.messages.parts import ToolCall, is_approval
from showandtell.core.planning.incremental import PlanCache, PlanCaches
from showandtell.core.planning.plan import prepare, read_by, refuse
from showandtell.core.planning.step import Step
from showandtell.core.planning.values import Plan, Policy, Receipt
from showandtell.core.wire.options import Options
from showandtell.core.wire.request import Fragments, Request, compose
from showandtell.errors import ProviderError, RejectedFiles, ShowAndTellError, StorageFailed, UnsupportedFile
from showandtell.providers.exchange import Exchange
from showandtell.providers.retry import RetryPolicy, persist
from showandtell.providers.uploads import allow_ids
from showandtell.storage.uncancelled import run_to_completion, shielded

Emit: TypeAlias = Callable[[Event], None]
Ready: TypeAlias = tuple[Draft, Sequence[Proved]]

CANCELLED = "the run was cancelled, so this call was not finished"
NOT_STORED = "was not stored before the run ended: ask the model to make it again"
WENT_ON = "the user went on before this call was run"
#: How often a step is asked for again because of its files: each time at least one of them is left out.
HEALED = 8
#: So many tools of one step run at a time.
AT_ONCE = 32


@dataclass(frozen=True, slots=True)
class Memory:
    """What one step of a conversation leaves to the next, so that only what is new is planned and encoded."""

    fragments: Fragments = field(default_factory=dict[Any, Any])
    kept: PlanCaches = field(default_factory=dict[Target, PlanCache])


async def no_wait() -> None:
    """Nobody needs to be waited for."""


@dataclass
class Loop:
    """One run over one conversation. `emit` is called with every event, in the event loop's thread.

    `drain` waits, after each read of the network, until whoever watches has taken most of them.

    `messages` and `files` are what this run has stored, `told` the receipts as of its last step, `lost` the calls that
    another run began and never ended.
    """

    conversation: Conversation
    target: Target
    connect: Callable[[], Exchange]
    tools: Mapping[str, Tool]
    options: Options
    limits: LoopLimits
    policy: Policy
    memory: Memory
    emit: Emit
    drain: Callable[[], Awaitable[None]] = no_wait
    retry: RetryPolicy = field(default_factory=RetryPolicy)
    sharing: Sharing = field(default_factory=Sharing)
    usage: Usage = field(default_factory=Usage)
    messages: list[Message] = field(default_factory=list[Message])
    files: list[Attachment] = field(default_factory=list[Attachment])
    told: dict[int, Receipt] = field(default_factory=dict[int, Receipt])
    error: Exception | None = None
    metadata: dict[str, object] = field(default_factory=dict[str, object])
    numbers: set[int] = field(default_factory=set[int])
    call_ids: set[str] = field(default_factory=set[str])
    lost: frozenset[str] = frozenset()

    async def run(self, drafts: Sequence[Draft]) -> None:
        """Store what is said, then go on until nothing is left to do. The last event is always a `Finish`."""
        over = Done("error")
        try:
            await self.look_back()
            for draft in drafts:
                if not is_approval(draft.parts):
                    await self.settle_calls(answered=any(is_approval(one.parts) for one in drafts))
                await self.store(draft, await self.conversation.prove(draft))
            over = await self.steps_in_time()
        except asyncio.CancelledError:
            over = Done("incomplete", "cancelled")
            await self.close(CANCELLED)
            raise
        except UnsupportedFile as error:
            over = await self.fail(error, Done("refused", "file"))
        except ShowAndTellError as error:
            over = await self.fail(error, Done("error", error.text if isinstance(error, ProviderError) else str(error)))
        except Exception as error:
            over = await self.fail(error, Done("error", type(error).__name__))
            raise
        finally:
            self.emit(Finish(over.status, over.reason, self.usage))

    async def look_back(self) -> None:
        """What the conversation holds as the run begins: looked at once, and kept up to date from then on."""
        self.told = dict(self.conversation.receipts)
        self.numbers = set(self.conversation.attachments)
        await self.conversation.check(())
        await forget_failed(self.conversation)
        view = self.conversation.view()
        self.lost = view.begun
        self.call_ids = {call.call_id for message in view.messages for call in message.calls}

    async def fail(self, error: Exception, over: Done) -> Done:
        """Tell an error, and close what it left open, where it can still be stored."""
        self.error = error
        told = str(error) if isinstance(error, ShowAndTellError) else "the program itself failed"
        self.emit(ErrorEvent(type(error).__name__, told))
        if not isinstance(error, StorageFailed):
            await self.close(f"the run ended with an error, so this call was not run: {type(error).__name__}")
        return over

    async def settle_calls(self, *, answered: bool) -> None:
        """Give open calls their results before a person says more: run those that were just allowed, close the rest."""
        match decide(self.conversation.view(), self.limits):
            case RunTools(calls, denied) if answered:
                await self.run_tools(calls, dict(denied))
            case _:
                pass
        await self.close(WENT_ON)

    async def steps_in_time(self) -> Done:
        """The steps, as long as the run may last."""
        time = asyncio.timeout(self.limits.seconds)
        try:
            async with time:
                return await self.steps()
        except TimeoutError:
            if not time.expired():
                raise
            took = f"limit reached: the run may take {self.limits.seconds:g} s"
            await self.close(f"{took}, so this call was not finished")
            return Done("incomplete", "budget")

    async def steps(self) -> Done:
        """Do what `decide` says until it says that the run is over."""
        while True:
            match decide(self.conversation.view(), self.limits, self.spent):
                case AskModel() as ask:
                    await self.ask(ask)
                case RunTools(calls, denied):
                    await self.run_tools(calls, dict(denied))
                case Close(calls, why):
                    await self.close(why, calls)
                case Wait(calls):
                    for call in calls:
                        self.emit(ApprovalNeeded(call.call_id, call.tool, call.arguments))
                    return Done("waiting", "approval")
                case over:
                    return over

    @property
    def loader(self) -> Loader:
        """What makes conversions, uploads and links."""
        return Loader(self.conversation, self.target, self.connect, self.retry, self.sharing)

    @property
    def spent(self) -> int:
        """The tokens that this run has used."""
        return self.usage.input_tokens + self.usage.output_tokens

    async def ask(self, ask: AskModel) -> None:
        """One model call. Where the provider refuses it for its files, these are left out, and it is asked again.

        Those that its answer names are left out for good; where it names none, all that no accepted request held are,
        and stay so if that was the cure.
        """
        self.emit(StepStart(ask.step))
        news: dict[DerivationRequest, Failed] = {}
        lost: set[DerivationRequest] = set()
        for _ in range(HEALED):
            plan = await self.plan(news)
            self.tell(ask.step, plan)
            request = self.compose(plan, ask)
            try:
                await self.listen(ask.step, request)
            except ProviderError as error:
                if await replace_gone(error, request, self.conversation, lost):
                    self.emit(Retry(f"{error} (what is gone is uploaded anew)", 0.0))
                else:
                    news |= await self.leave_out(error, request)
            else:
                await self.conversation.learn(news)
                return
        raise ProviderError("the provider refuses the request for its files again and again", 400)

    async def leave_out(self, error: ProviderError, request: Request) -> dict[DerivationRequest, Failed]:
        """What to leave out after a refusal. Raises it where it isn't about files, and where nothing is left to do."""
        if not is_about_files(error):
            raise error
        named = named_by(error, request)
        files = named or unaccepted(request, self.conversation.receipts)
        if not files:
            raise RejectedFiles(error, listed(sent(request))) if sent(request) else error
        news = by_bytes(note(files, error, request), self.conversation.known(), self.target)
        if named:
            await self.conversation.learn(news)
        self.emit(Retry(str(error), 0.0, tuple(dict.fromkeys(placed.number for placed in files))))
        return news

    def compose(self, plan: Plan, ask: AskModel) -> Request:
        """The request of a step."""
        options = msgspec.structs.replace(self.options, tool_choice=choice(self.options.tool_choice, ask))
        return compose(plan, self.target, options, self.memory.fragments, self.conversation.blobs)

    async def listen(self, step: int, request: Request) -> None:
        """Send, parse, fold, store. Raises `ProviderError`, having kept what was said before."""
        ids, fold = CallIds(self.call_ids), Accumulator(self.target.signer)
        early: Stop | None = "error"
        try:
            asked = persist(allow_ids(self.connect(), request), request, self.retry, self.emit)
            async with aclosing(asked) as batches:
                async for batch in batches:
                    events = ids.rename(batch)
                    fold.add(events)
                    for event in events:
                        if not isinstance(event, FileMade):
                            self.emit(event)
                    await self.drain()
            early = None
        except asyncio.CancelledError:
            early = "cancelled"
            raise
        finally:
            await self.keep(step, fold, early, request.receipts)
        if fold.stop == "error":
            raise ProviderError(fold.detail or "the provider failed")

    async def keep(self, step: int, fold: Accumulator, early: Stop | None, receipts: Sequence[Receipt]) -> None:
        """Store what the model said; `early` says why its stream was left before its end."""
        draft = clean(fold.draft() if early is None else replace(fold.draft(), stop=early))
        self.usage += fold.usage
        if not draft.parts and early is not None:
            return
        proved: Sequence[Proved] = [Proved(file.name or "", problem=NOT_STORED) for file in draft.claims]
        try:
            proved = await self.conversation.prove(draft) if proved else ()
        except asyncio.CancelledError:
            draft = replace(draft, stop="cancelled")
            raise
        finally:
            said = Step(fold.usage, tuple(receipts), self.target.name, fold.asides())
            await self.store(draft, proved, said, StepFinish(step, draft.stop or "cut", fold.usage, said.asides))

    async def plan(self, news: Derivations) -> Plan:
        """What the model is given now, of files that are what they were. Raises `UnsupportedFile`."""
        if self.policy.uploads or self.policy.links:
            await forget_expired(self.conversation, self.sharing.clock())
        while True:
            known, view = self.conversation.known(), self.conversation.view()
            now = {**known, **news} if news else known
            plan, _ = await prepare(view, self.target, now, self.loader.load, self.policy, kept=self.memory.kept)
            if not await self.conversation.check(read_by(plan, view)):
                refuse(plan, self.target)
                return plan

    def tell(self, step: int, plan: Plan) -> None:
        """Emit the receipts that are new or changed since the last step."""
        for receipt in plan.receipts:
            if self.told.get(receipt.number) != receipt:
                self.told[receipt.number] = receipt
                self.emit(ReceiptEvent(step, receipt.record()))

    async def run_tools(self, calls: Sequence[ToolCall], denied: Mapping[ToolCall, str]) -> None:
        """Run calls side by side; results are stored as they finish, and numbered and told in call order."""
        places = asyncio.Semaphore(AT_ONCE)
        await shielded(self.conversation.begin(calls))
        tasks = [asyncio.create_task(self.run_tool(call, denied.get(call), places)) for call in [*calls, *denied]]
        try:
            while tasks:
                await asyncio.wait({tasks[0]})  # awaited itself, a tool that is done would take the run's cancellation
                await self.store(*tasks.pop(0).result())
        finally:
            await self.stop_tools(tasks)

    async def stop_tools(self, tasks: Sequence[asyncio.Task[Ready]]) -> None:
        """Cancel what still runs; a tool that has done its work by then keeps its result."""
        for task in tasks:
            task.cancel()
        for ready in await asyncio.gather(*tasks, return_exceptions=True):
            if not isinstance(ready, BaseException):
                await self.store(*ready)

    async def run_tool(self, call: ToolCall, no: str | None, places: asyncio.Semaphore) -> Ready:
        """One call in its place, up to the point where its result could be numbered."""
        async with places:
            self.emit(ToolStart(call.call_id, call.tool, call.arguments))
            if no is None:
                result = await execute(call, self.tools, self.context(call))
            else:
                result = failed(f"the person did not allow this call{': ' + no if no else ''}")
            if result.metadata is not None:
                self.metadata[call.call_id] = result.metadata
            draft = result_draft(call, result)
            try:
                return draft, await self.conversation.prove(draft)
            except StorageFailed:
                raise
            except asyncio.CancelledError:  # the tool has done its work, whatever becomes of its files
                return draft, [Proved(file.name or "", problem=NOT_STORED) for file in draft.claims]
            except Exception as error:  # noqa: BLE001 - a reader of the tool's own may raise anything
                return result_draft(call, failed(redact(call, error))), ()

    def context(self, call: ToolCall) -> RunContext:
        """What the tool may know."""
        running, stopped = asyncio.get_running_loop(), threading.Event()

        def emit(progress: ToolProgress) -> None:
            if not stopped.is_set():
                running.call_soon_threadsafe(self.emit, progress)

        files = Files(self.conversation.attachments, self.conversation.file, self.loader.convert, running)
        return RunContext(self.conversation.owner, self.conversation.id, call.call_id, files, emit, stopped)

    async def store(
        self, draft: Draft, proved: Sequence[Proved], step: Step | None = None, end: StepFinish | None = None
    ) -> None:
        """Number and store a message, tell of its files and its `end`; once it began, no cancellation comes between."""
        cancelled, message = await run_to_completion(self.conversation.record(draft, proved, step))
        self.messages.append(message)
        for number in dict.fromkeys(shown.number for shown in message.showings):
            if number not in self.numbers:
                self.numbers.add(number)
                self.files.append(self.conversation.attachments[number])
                self.emit(file_event(self.files[-1]))
        if message.role == "tool":
            self.emit(tool_output(message))
        if end is not None:
            self.emit(end)
        if cancelled is not None:
            raise cancelled

    async def close(self, why: str, calls: Sequence[ToolCall] | None = None) -> None:
        """Give calls (all open ones, if none are named) an error result, so that the history can be used again."""
        for call in self.open_calls() if calls is None else calls:
            unknown = call.call_id in self.lost and call.tool not in self.limits.idempotent
            await self.store(result_draft(call, failed(UNKNOWN if unknown else why)), ())

    def open_calls(self) -> list[ToolCall]:
        """Calls without a result, in order."""
        messages = self.conversation.view().messages
        answered = {message.call_id for message in messages if message.role == "tool"}
        return [call for message in messages for call in message.calls if call.call_id not in answered]


def last_text(messages: Sequence[Message]) -> str:
    """The words of the newest assistant message."""
    return next((message.text for message in reversed(messages) if message.role == "assistant"), "")
