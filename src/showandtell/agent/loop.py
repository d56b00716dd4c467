"""The loop: ask what comes next, do it, and store it. It knows a conversation, a way to send, and its tools."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import msgspec

from showandtell.agent.context import Context, Files
from showandtell.agent.decide import AskModel, Close, Limits, Over, RunTools, Wait, decide
from showandtell.agent.doors import Conversation
from showandtell.agent.execute import execute, failed, redact
from showandtell.agent.tools import Tool
from showandtell.capabilities.cells import Target
from showandtell.collect import result_draft
from showandtell.content import Draft, Json, Message, Stop, Text, ToolCall, is_approval, new_id
from showandtell.delivery.plan import prepare, refuse
from showandtell.delivery.settled import Kept, Settled
from showandtell.delivery.values import Plan, Policy, Receipt
from showandtell.errors import ProviderError, ShowAndTellError, UnsupportedFile
from showandtell.events.fold import CallIds, Fold
from showandtell.events.types import (
    ApprovalNeeded,
    ErrorEvent,
    Event,
    FileEvent,
    Finish,
    ReceiptEvent,
    StepFinish,
    StepStart,
    ToolOutput,
    ToolProgress,
    ToolStart,
    Usage,
)
from showandtell.files import Attachment, Proved
from showandtell.providers.exchange import Exchange
from showandtell.wire.body import Fragments, compose
from showandtell.wire.options import Options

Emit: TypeAlias = Callable[[Event], None]
Ready: TypeAlias = tuple[Draft, Sequence[Proved]]

CANCELLED = "the run was cancelled, so this call was not finished"
WENT_ON = "the user went on before this call was run"
#: So many tools of one step run at a time.
AT_ONCE = 32


@dataclass(frozen=True, slots=True)
class Memory:
    """What one step of a conversation leaves to the next, so that only what is new is planned and encoded."""

    fragments: Fragments = field(default_factory=dict[Any, Any])
    kept: Kept = field(default_factory=dict[Target, Settled])


@dataclass
class Loop:
    """One run over one conversation. `emit` is called with every event, in the event loop's thread.

    `messages` and `files` are what this run has stored, `told` the receipts as of its last step.
    """

    conversation: Conversation
    target: Target
    connect: Callable[[], Exchange]
    tools: Mapping[str, Tool]
    options: Options
    limits: Limits
    policy: Policy
    memory: Memory
    emit: Emit
    usage: Usage = field(default_factory=Usage)
    messages: list[Message] = field(default_factory=list[Message])
    files: list[Attachment] = field(default_factory=list[Attachment])
    told: dict[int, Receipt] = field(default_factory=dict[int, Receipt])
    error: Exception | None = None
    metadata: dict[str, object] = field(default_factory=dict[str, object])
    numbers: set[int] = field(default_factory=set[int])
    call_ids: set[str] = field(default_factory=set[str])

    async def run(self, drafts: Sequence[Draft]) -> None:
        """Store what is said, then go on until nothing is left to do. The last event is always a `Finish`."""
        over = Over("error")
        try:
            self.look_back()
            for draft in drafts:
                if not is_approval(draft.parts):
                    await self.settle_calls(answered=any(is_approval(one.parts) for one in drafts))
                self.store(draft, await self.conversation.prove(draft))
            over = await self.steps()
        except asyncio.CancelledError:
            over = Over("incomplete", "cancelled")
            self.close(CANCELLED)
            raise
        except UnsupportedFile as error:
            over = self.fail(error, Over("refused", "file"))
        except ShowAndTellError as error:
            over = self.fail(error, Over("error", error.text if isinstance(error, ProviderError) else str(error)))
        except Exception as error:
            over = self.fail(error, Over("error", type(error).__name__))
            raise
        finally:
            self.emit(Finish(over.status, over.reason, self.usage))

    def look_back(self) -> None:
        """What the conversation holds as the run begins: looked at once, and kept up to date from then on."""
        self.told = dict(self.conversation.receipts)
        self.numbers = set(self.conversation.attachments)
        self.call_ids = {call.call_id for message in self.conversation.view().messages for call in message.calls}

    def fail(self, error: Exception, over: Over) -> Over:
        """Tell an error, and close what it left open."""
        self.error = error
        told = str(error) if isinstance(error, ShowAndTellError) else "the program itself failed"
        self.emit(ErrorEvent(type(error).__name__, told))
        self.close(f"the run ended with an error, so this call was not run: {type(error).__name__}")
        return over

    async def settle_calls(self, *, answered: bool) -> None:
        """Give open calls their results before a person says more: run those that were just allowed, close the rest."""
        match decide(self.conversation.view(), self.limits):
            case RunTools(calls, denied) if answered:
                await self.run_tools(calls, dict(denied))
            case _:
                pass
        self.close(WENT_ON)

    async def steps(self) -> Over:
        """Do what `decide` says until it says that the run is over."""
        while True:
            match decide(self.conversation.view(), self.limits):
                case AskModel() as ask:
                    await self.ask(ask)
                case RunTools(calls, denied):
                    await self.run_tools(calls, dict(denied))
                case Close(calls, why):
                    self.close(why, calls)
                case Wait(calls):
                    for call in calls:
                        self.emit(ApprovalNeeded(call.call_id, call.tool, call.arguments))
                    return Over("waiting", "approval")
                case over:
                    return over

    async def ask(self, ask: AskModel) -> None:
        """One model call: plan, render, send, parse, fold, store."""
        plan = await self.plan()
        options = msgspec.structs.replace(self.options, tool_choice=choice(self.options.tool_choice, ask))
        request = compose(plan, self.target, options, self.memory.fragments, self.conversation.blobs)
        self.emit(StepStart(ask.step))
        self.tell(ask.step, plan)
        ids, fold = CallIds(self.call_ids), Fold(new_id("msg"), self.target.provider)
        early: Stop | None = "error"
        try:
            async with aclosing(self.connect().ask(request)) as batches:
                async for batch in batches:
                    events = ids.rename(batch)
                    fold.add(events)
                    for event in events:
                        self.emit(event)
            early = None
        except asyncio.CancelledError:
            early = "cancelled"
            raise
        finally:
            self.keep(ask.step, fold, early, plan.receipts)
        if fold.stop == "error":
            raise ProviderError(fold.detail or "the provider failed")

    def keep(self, step: int, fold: Fold, early: Stop | None, receipts: Sequence[Receipt]) -> None:
        """Store what the model said; `early` says why its stream was left before its end."""
        message = fold.message() if early is None else msgspec.structs.replace(fold.message(), stop=early)
        self.usage += fold.usage
        if message.parts or early is None:
            self.conversation.append(message, receipts)
            self.messages.append(message)
            self.emit(StepFinish(step, message.stop or "cut", fold.usage))

    async def plan(self) -> Plan:
        """What the model is given now; what was learnt on the way is kept. Raises `UnsupportedFile`."""
        known = self.conversation.known()
        view, load = self.conversation.view(), self.conversation.load
        plan, learnt = await prepare(view, self.target, known, load, self.policy, kept=self.memory.kept)
        if len(learnt) > len(known):
            self.conversation.learn(learnt)
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
        tasks = [asyncio.create_task(self.run_tool(call, denied.get(call), places)) for call in [*calls, *denied]]
        try:
            while tasks:
                ready = await tasks[0]
                tasks.pop(0)
                self.store(*ready)
        finally:
            await self.stop_tools(tasks)

    async def stop_tools(self, tasks: Sequence[asyncio.Task[Ready]]) -> None:
        """Cancel what still runs; a tool that has done its work by then keeps its result."""
        for task in tasks:
            task.cancel()
        for ready in await asyncio.gather(*tasks, return_exceptions=True):
            if not isinstance(ready, BaseException):
                self.store(*ready)

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
            except Exception as error:  # noqa: BLE001 - a reader of the tool's own may raise anything
                return result_draft(call, failed(redact(call, error))), ()

    def context(self, call: ToolCall) -> Context:
        """What the tool may know."""
        running, stopped = asyncio.get_running_loop(), threading.Event()

        def emit(progress: ToolProgress) -> None:
            if not stopped.is_set():
                running.call_soon_threadsafe(self.emit, progress)

        files = Files(self.conversation.attachments, self.conversation.file)
        return Context(self.conversation.owner, self.conversation.id, call.call_id, files, emit, stopped)

    def store(self, draft: Draft, proved: Sequence[Proved]) -> None:
        """Number and store a message, and tell of its files."""
        message = self.conversation.record(draft, proved)
        self.messages.append(message)
        numbers = tuple(shown.number for shown in message.showings)
        for number in dict.fromkeys(numbers):
            if number not in self.numbers:
                self.numbers.add(number)
                self.files.append(self.conversation.attachments[number])
                self.emit(file_event(self.files[-1]))
        if message.role == "tool":
            text = "\n".join(part.text for part in message.parts if isinstance(part, Text | Json))
            self.emit(ToolOutput(message.call_id or "", message.tool or "", text, numbers, message.is_error))

    def close(self, why: str, calls: Sequence[ToolCall] | None = None) -> None:
        """Give calls (all open ones, if none are named) an error result, so that the history can be used again."""
        for call in self.open_calls() if calls is None else calls:
            self.store(result_draft(call, failed(why)), ())

    def open_calls(self) -> list[ToolCall]:
        """Calls without a result, in order."""
        messages = self.conversation.view().messages
        answered = {message.call_id for message in messages if message.role == "tool"}
        return [call for message in messages for call in message.calls if call.call_id not in answered]


def choice(wanted: str, ask: AskModel) -> str:
    """The tool choice of a step: what is forced is forced once, for else the tool would run until the steps are out."""
    if ask.forbid_tools:
        return "none"
    return wanted if ask.step == 1 or wanted == "none" else "auto"


def file_event(file: Attachment) -> FileEvent:
    """What is told of a file that joined the conversation."""
    size = file.facts.size if file.facts else 0
    return FileEvent(file.number, file.id, file.name, file.kind, file.media_type, size, str(file.origin), file.problem)


def last_text(messages: Sequence[Message]) -> str:
    """The words of the newest assistant message."""
    return next((message.text for message in reversed(messages) if message.role == "assistant"), "")
