"""The loop of a run: decide the next action, perform it, store the outcome."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import TypeAlias

from showandtell.agent.accept_results import Ready, not_stored
from showandtell.agent.answer import Answer, check_answer, with_tool_choice
from showandtell.agent.decide import UNKNOWN, AskModel, CheckAnswer, Close, Done, LoopLimits, RunTools, Wait, decide
from showandtell.agent.execute import error_result
from showandtell.agent.listed_tools import ListedTools
from showandtell.agent.loader import Loader, Sharing
from showandtell.agent.made_files import MadeFiles
from showandtell.agent.memory import MANY, Memory
from showandtell.agent.model_knowledge import ModelKnowledge
from showandtell.agent.plan_request import RequestPlanner
from showandtell.agent.provider_uploads import forget_failed
from showandtell.agent.recovery import Recovery
from showandtell.agent.sources import locate_sources
from showandtell.agent.summarize import SHARE, Summarizer
from showandtell.agent.tool_calls import ToolCalls
from showandtell.agent.tools import Tool
from showandtell.agent.turn_state import TurnState
from showandtell.core.capabilities.cells import Target
from showandtell.core.collect.sanitize import clean
from showandtell.core.collect.tool_result import result_draft
from showandtell.core.events.accumulate import Accumulator, CallIds
from showandtell.core.events.replay import UNDECIDED, file_event, tool_output
from showandtell.core.events.types import (
    ApprovalNeeded,
    BlockRead,
    ErrorEvent,
    Event,
    FileMade,
    Finish,
    ReceiptEvent,
    StepFinish,
    StepStart,
    Usage,
)
from showandtell.core.messages.attachments import Attachment, ProbedFile
from showandtell.core.messages.message import Draft, Message, Stop
from showandtell.core.messages.parts import Summary, ToolCall, is_approval
from showandtell.core.planning.left_out import as_ranges, left_out_before, stored_cut
from showandtell.core.planning.plan import raise_refused
from showandtell.core.planning.receipts import new_receipts
from showandtell.core.planning.step_record import Step
from showandtell.core.planning.values import Plan, Policy, Receipt, View
from showandtell.core.wire.options import Options
from showandtell.core.wire.request import Request, compose
from showandtell.errors import FileChanged, ProviderError, ShowAndTellError, StorageFailed, UnsupportedFile
from showandtell.providers.exchange import Exchange
from showandtell.providers.retry import RetryPolicy, ask_with_retries
from showandtell.providers.uploads import with_file_headers
from showandtell.storage.conversations.protocol import Conversation
from showandtell.storage.uncancelled import run_to_completion, shielded

Emit: TypeAlias = Callable[[Event], None]

CANCELLED = "the run was cancelled, so this call was not finished"
WENT_ON = "the user went on before this call was run"
#: Maximum number of requests in one step. Each retry leaves out or uploads again at least one file.
MAX_FILE_RETRIES = 8


async def no_wait() -> None:
    """The default of `Loop.drain`: don't wait for readers."""


@dataclass
class Loop:
    """One run over one conversation.

    `emit` is called with every event, in the event loop's thread. `drain` is awaited after each read from the network
    and waits for slow readers. `messages` and `files` are those that this run has stored, `receipts` those of its last
    step by number, `planned` all of its last plan, `unstored` those that no message has yet, `interrupted` the ids of
    calls that an earlier run never finished, `detail` why the last answer ended.
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
    deps: object = None
    answer: Answer | None = None
    toolsets: ListedTools | None = None
    usage: Usage = field(default_factory=Usage)
    messages: list[Message] = field(default_factory=list[Message])
    files: list[Attachment] = field(default_factory=list[Attachment])
    receipts: dict[int, Receipt] = field(default_factory=dict[int, Receipt])
    planned: tuple[Receipt, ...] = ()
    unstored: dict[int, Receipt] = field(default_factory=dict[int, Receipt])
    error: Exception | None = None
    metadata: dict[str, object] = field(default_factory=dict[str, object])
    numbers: set[int] = field(default_factory=set[int])
    interrupted: frozenset[str] = frozenset()
    detail: str = ""
    turn: TurnState = field(default_factory=TurnState)

    @cached_property
    def knowledge(self) -> ModelKnowledge:
        """What is known about the model; `target` is without what the model is known not to take."""
        return ModelKnowledge(self.target, self.connect)

    @cached_property
    def planner(self) -> RequestPlanner:
        """Plans the requests."""
        return RequestPlanner(self.memory)

    async def run(self, drafts: Sequence[Draft]) -> None:
        """Store the drafts, then run steps until the run ends. The last event is always a `Finish`."""
        end = Done("error")
        try:
            await self.list_tools()
            await self.load_state()
            for draft in drafts:
                if not is_approval(draft.parts):
                    await self.finish_open_calls(answered=any(is_approval(other.parts) for other in drafts))
                await self.store(draft, await self.conversation.probe(draft))
            end = await self.run_steps_in_time()
        except asyncio.CancelledError:
            end = Done("incomplete", "cancelled")
            await self.close(CANCELLED)
            raise
        except UnsupportedFile as error:
            end = await self.fail(error, Done("refused", "file"))
        except ShowAndTellError as error:
            end = await self.fail(error, Done("error", error.text if isinstance(error, ProviderError) else str(error)))
        except Exception as error:
            end = await self.fail(error, Done("error", type(error).__name__))
            raise
        finally:
            self.emit(Finish(end.status, end.reason, self.usage))

    async def list_tools(self) -> None:
        """Use the tools that toolsets have now."""
        if self.toolsets is not None and (now := await self.toolsets.changed_settings()) is not None:
            self.tools, self.options, self.limits, self.policy = now.tools, now.options, now.limits, now.policy
            self.answer = self.answer and now.form and replace(self.answer, form=now.form)

    async def load_state(self) -> None:
        """Read the conversation's state once; the run keeps it up to date from then on."""
        self.receipts = dict(self.conversation.receipts)
        self.numbers = set(self.conversation.attachments)
        await self.conversation.check(())
        await forget_failed(self.conversation)
        view = self.conversation.view()
        await self.memory.restore(view)
        self.interrupted = view.started

    async def fail(self, error: Exception, end: Done) -> Done:
        """Emit an error and close the open calls, unless storage itself failed."""
        self.error = error
        message = str(error) if isinstance(error, ShowAndTellError) else "the program itself failed"
        self.emit(ErrorEvent(type(error).__name__, message))
        if not isinstance(error, StorageFailed):
            await self.close(f"the run ended with an error, so this call was not run: {type(error).__name__}")
        return end

    async def finish_open_calls(self, *, answered: bool) -> None:
        """Give open calls a result before the next user message: run calls that were just approved, close the rest."""
        action = decide(self.conversation.view(), self.limits)
        if answered and isinstance(action, RunTools):
            await self.run_tools(action.calls, dict(action.denied))
            action = decide(self.conversation.view(), self.limits)
        if isinstance(action, Wait):
            await self.close(UNDECIDED, [call for call in action.calls if call in self.open_calls()])
        await self.close(WENT_ON)

    async def run_steps_in_time(self) -> Done:
        """Run the steps within the time limit."""
        timeout = asyncio.timeout(self.limits.seconds)
        try:
            async with timeout:
                return await self.run_steps()
        except TimeoutError:
            if not timeout.expired():
                raise
            reason = f"limit reached: the run may take {self.limits.seconds:g} s"
            await self.close(f"{reason}, so this call was not finished")
            return Done("incomplete", "budget")

    async def run_steps(self) -> Done:
        """Perform the actions that `decide` returns, until the run ends."""
        while True:
            await self.list_tools()
            view = self.conversation.view()
            self.turn = self.turn.follow(view, self.limits.answer_tool)
            match decide(view, self.limits, self.used_tokens, self.turn):
                case AskModel() as ask:
                    await self.ask_model(ask)
                case RunTools(calls, denied):
                    await self.run_tools(calls, dict(denied))
                case Close(calls, why):
                    await self.close(why, calls)
                case CheckAnswer() as check:
                    if isinstance(checked := check_answer(check, self.answer), Done):
                        return checked.named(self.detail)
                    await self.store(checked, ())
                case Wait(calls):
                    for call in calls:
                        self.emit(ApprovalNeeded(call.call_id, call.tool, call.arguments))
                    return Done("waiting", "approval")
                case end:
                    return end.named(self.detail)

    @property
    def loader(self) -> Loader:
        """Makes conversions, uploads and links."""
        return Loader(self.conversation, self.target, self.connect, self.retry, self.sharing, self.spend)

    def spend(self, usage: Usage) -> None:
        """Count the tokens of a request that is no step."""
        self.usage += usage

    @property
    def used_tokens(self) -> int:
        """Input and output tokens of this run so far."""
        return self.usage.input_tokens + self.usage.output_tokens

    async def ask_model(self, ask: AskModel) -> None:
        """Call the model. If the provider refuses the request because of its files, retry without them."""
        self.emit(StepStart(ask.step))
        fit, on_full = self.memory.fit, self.limits.on_full
        recovery = Recovery(self.conversation, self.knowledge, fit, on_full, self.summarize)
        recovery.probes_early = bool(self.policy.describer)
        stored = len(self.messages)
        await self.knowledge.ask_host(file.kind for file in self.conversation.attachments.values())
        for _ in range(MAX_FILE_RETRIES):
            self.target = recovery.target
            plan = await self.planner.plan(self.loader, self.policy, recovery.failures)
            if await recovery.make_room(plan, self.target, self.policy.head_bytes):
                continue
            await self.emit_receipts(ask.step, plan)
            raise_refused(plan, self.target)
            recovery.check(plan)
            request = await self.memory.compose(plan, partial(self.compose, plan, ask))
            try:
                await self.receive(ask.step, request)
            except FileChanged:  # since it was checked
                self.planner.forget()
            except ProviderError as error:
                if len(self.messages) > stored:  # its answer had begun, and is stored
                    raise
                self.emit(await recovery.learn_from(error, request))
            else:
                await recovery.succeed(request)
                return
        raise ProviderError("the provider refuses the request for its files again and again", 400)

    async def summarize(self, view: View, index: int) -> bool:
        """Store a summary of the messages before one, made by the model; False if it makes none."""
        fit, options, left_out = self.memory.fit, self.options, left_out_before(view, index)
        summarizer = Summarizer(self.conversation, self.target, options, self.connect, self.retry, self.emit)
        try:
            text = await summarizer.sum_up(fit.to_sum_up(view, left_out), fit.room(self.target, SHARE))
        finally:
            self.usage += summarizer.usage
        if text:
            await self.store(Draft("user", (Summary(text, as_ranges(left_out)),)), ())
            fit.cut = stored_cut(self.conversation.view())
        return bool(text)

    def compose(self, plan: Plan, ask: AskModel) -> Request:
        """Compose the request of a step."""
        options = with_tool_choice(self.options, ask, self.answer)
        return compose(plan, self.target, options, self.conversation.blobs, self.memory.fragments)

    async def receive(self, step: int, request: Request) -> None:
        """Send the request and store the answer. Raises `ProviderError` after it has stored a partial answer."""
        ids, accumulator = CallIds(self.memory.known.call_ids), Accumulator(self.target.signer, self.target.base_url)
        early: Stop | None = "error"
        stream = self.answer.stream() if self.answer else None
        try:
            responses = ask_with_retries(with_file_headers(self.connect(), request), request, self.retry, self.emit)
            async with aclosing(responses) as batches:
                async for batch in batches:
                    events = locate_sources(ids.rename(batch), request)
                    accumulator.add(events)
                    for event in events:
                        if not isinstance(event, (FileMade, BlockRead)):
                            self.emit(event)
                        if stream and (delta := stream.follow(event)):
                            self.emit(delta)
                    await self.drain()
            early = None
        except asyncio.CancelledError:
            early = "cancelled"
            raise
        finally:
            await self.store_answer(step, accumulator, early)
        self.detail = accumulator.detail
        self.memory.fit.measure(request.plan, accumulator.usage)
        if accumulator.stop == "error":
            raise ProviderError(accumulator.detail or "the provider failed")

    async def store_answer(self, step: int, accumulator: Accumulator, early: Stop | None) -> None:
        """Store the model's message. `early` is the reason why the stream was left before its end, if it was."""
        draft = clean(accumulator.draft() if early is None else replace(accumulator.draft(), stop=early))
        self.usage += accumulator.usage
        if not draft.parts and early is not None:
            return
        made = MadeFiles(self.loader.files_access, self.target)
        probed: Sequence[ProbedFile] = not_stored(draft)
        try:
            draft = await made.fetch(draft)
            probed = not_stored(draft)
            probed = await self.conversation.probe(draft) if probed else ()
            await made.learn(self.conversation)
        except asyncio.CancelledError:
            draft = replace(draft, stop="cancelled")
            raise
        finally:
            receipts, self.unstored = tuple(self.unstored.values()), {}
            summary = Step(accumulator.usage, receipts, self.target.name, accumulator.annotations())
            await self.store(
                draft, probed, summary, StepFinish(step, draft.stop or "cut", accumulator.usage, summary.asides)
            )

    async def emit_receipts(self, step: int, plan: Plan) -> None:
        """Emit the receipts that are new or changed since the last step, and let others run meanwhile."""
        for count, receipt in enumerate(new_receipts(plan.receipts, self.planned), 1):
            if not count % MANY:
                await asyncio.sleep(0)
            if self.receipts.get(receipt.number) != receipt:
                self.receipts[receipt.number] = self.unstored[receipt.number] = receipt
                self.emit(ReceiptEvent(step, receipt.record()))
        self.planned = plan.receipts

    async def run_tools(self, calls: Sequence[ToolCall], denied: Mapping[ToolCall, str]) -> None:
        """Run calls concurrently. Their results are stored, numbered and emitted in call order."""
        await shielded(self.conversation.start_calls(calls))
        step = ToolCalls(
            self.conversation,
            self.tools,
            self.limits,
            self.answer,
            self.deps,
            self.loader.convert,
            self.sharing.fetch_linked,
            self.emit,
            self.metadata,
        )
        tasks = [asyncio.create_task(step.run(call, denied.get(call))) for call in [*calls, *denied]]
        try:
            while tasks:
                await asyncio.wait({tasks[0]})  # `await tasks[0]` would pass the run's cancellation to a finished tool
                await self.store(*tasks.pop(0).result())
        finally:
            await self.stop_tools(tasks)

    async def stop_tools(self, tasks: Sequence[asyncio.Task[Ready]]) -> None:
        """Cancel running tools. A tool that has finished by then keeps its result."""
        for task in tasks:
            task.cancel()
        for ready in await asyncio.gather(*tasks, return_exceptions=True):
            if not isinstance(ready, BaseException):
                await self.store(*ready)

    async def store(
        self, draft: Draft, probed: Sequence[ProbedFile], step: Step | None = None, end: StepFinish | None = None
    ) -> None:
        """Number and store a message, then emit its new files and `end`. Storing is never cut short by cancellation."""
        cancelled, message = await run_to_completion(self.conversation.record(draft, probed, step))
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
        """Give calls (by default all open ones) an error result, so that the history can be used again."""
        for call in self.open_calls() if calls is None else calls:
            is_interrupted = call.call_id in self.interrupted and call.tool not in self.limits.idempotent
            await self.store(result_draft(call, error_result(UNKNOWN if is_interrupted else why)), ())

    def open_calls(self) -> list[ToolCall]:
        """The calls without a result, in order."""
        self.memory.known.follow(self.conversation.view().messages)
        return [*self.memory.known.open_calls.values()]
