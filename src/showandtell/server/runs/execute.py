"""Execute a run: an agent responds, and its events go into the run's buffer as the UI message stream."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias, TypeVar, cast

from msgspec.structs import replace

from showandtell.agent.agent import Agent, Run
from showandtell.agent.provide import Scope
from showandtell.core.events.replay import StepSummary, replay
from showandtell.core.events.turns import Turn, last_turn, turns
from showandtell.core.events.types import ErrorEvent, Event, Finish, Status
from showandtell.core.messages.file_json import FileLinks, Link
from showandtell.core.messages.message import starts_turn
from showandtell.core.messages.parts import is_approval
from showandtell.core.planning.values import records_of
from showandtell.core.ui_stream.ui_stream import AnswerContext, UiStream, answer_id
from showandtell.errors import NotFound, ShowAndTellError, StorageFailed, UnsupportedFile
from showandtell.media.turns import Caller, caller
from showandtell.server.answers import public_message
from showandtell.server.runs.agents import Agents
from showandtell.server.runs.live_run import LiveRun
from showandtell.server.runs.private_parts import without_private
from showandtell.server.runs.stream_addresses import StreamAddresses
from showandtell.storage.conversations.memory_conversation import waiting_calls
from showandtell.storage.conversations.preferences import read_preferences
from showandtell.storage.conversations.runs import RunEnd, RunRow
from showandtell.storage.conversations.store import Store
from showandtell.storage.conversations.stored_conversation import StoredConversation
from showandtell.storage.uncancelled import shielded

log = logging.getLogger(__name__)

Ending = TypeVar("Ending", ErrorEvent, Finish)

#: Seconds that a program's `deps` may take.
DEPS_SECONDS = 30.0

#: Called when a run starts; returns a function that gets each event of the run, the `Finish` last.
Watcher: TypeAlias = Callable[[LiveRun], Callable[[Event], None]]


class RunExecutor:
    """Executes runs with the agents of a server; `watchers` see every event. `deps` is that of `Config`."""

    def __init__(
        self,
        store: Store,
        agents: Agents,
        addresses: StreamAddresses,
        watchers: Sequence[Watcher] = (),
        deps: Callable[[str], object] | None = None,
    ) -> None:
        self._store, self._agents, self._addresses = store, agents, addresses
        self._watchers, self._deps = watchers, deps

    async def __call__(self, live: LiveRun) -> None:
        """Execute one run to its end."""
        caller.set(Caller(live.row.user_id))  # a run of another worker has no request
        settings = live.row.settings
        if settings is None:  # an older version stored it
            preferences = await read_preferences(self._store.database, live.row.user_id)
            settings = self._agents.new_settings(live.row.model, preferences.instructions)
        agent = await self._agents.get(live.row.model, settings, live.row.user_id)
        async with Scope() as scope:
            # From the user whose run it is: one that is taken over, or continues after an approval, has no request.
            await self._execute(live, agent, await self._open_deps(scope, agent, live.row.user_id))

    async def _open_deps(self, scope: Scope, agent: Agent, user_id: str) -> object:
        if self._deps is None:
            return agent.deps
        try:
            async with asyncio.timeout(DEPS_SECONDS):
                return await scope.open(self._deps, user_id)
        except TimeoutError as error:
            raise ShowAndTellError(f"the tools' dependencies were not there after {DEPS_SECONDS:g} s") from error

    async def _execute(self, live: LiveRun, agent: Agent, deps: object) -> None:
        conversation, request = live.conversation, live.request
        # New messages are stored in one transaction with their branch point: a crash leaves both or neither.
        branch_point = request.branch_point if request.drafts else None
        run = Run(agent, request.drafts, conversation, branch_point, deps=deps)
        leading = None if request.drafts else request.branch_point
        try:
            if leading is not None:
                await conversation.lead(leading.message_id)
            await self._report(live, run)
        except BaseException:
            if leading is not None and not (live.has_started or live.is_abandoned):  # nothing was stored
                await shielded(conversation.lead(live.row.before))
            raise
        finally:
            await run.cancel()

    async def _report(self, live: LiveRun, run: Run) -> None:
        """Run the agent, and pass its events to the reporter and to all watchers."""
        # A new question has no earlier part of an answer.
        summaries = {} if live.request.has_question else await live.conversation.step_summaries()
        reporter = RunReporter(live, run, summaries, self._store.terms.clock, self._addresses.mark)
        watching = [receiver for watch in self._watchers if (receiver := watch(live)) is not ignore]
        events = EventFanOut([reporter.report, *watching])
        try:
            await run.pour(events.send)
        finally:
            live.error = run.error if run.has_begun else None
            events.end()


@dataclass(slots=True)
class EventFanOut:
    """Passes every event to all receivers. Errors of the first one propagate; any other is removed when it fails."""

    receivers: list[Callable[[Event], None]]
    _is_finished: bool = False

    def send(self, event: Event) -> None:
        """Pass an event to all receivers."""
        self._is_finished = self._is_finished or isinstance(event, Finish)
        self.receivers[0](event)
        for receiver in self.receivers[1:]:
            try:
                receiver(event)
            except Exception:
                log.exception("a watcher failed: the run continues without it")
                self.receivers.remove(receiver)

    def end(self) -> None:
        """Send the watchers a `Finish` if the run sent none, as when another worker takes it over."""
        if not self._is_finished:
            del self.receivers[:1]
            self.receivers.insert(0, ignore)
            self.send(Finish("incomplete", "left"))


def ignore(_: Event) -> None:
    """Discard an event."""


@dataclass(slots=True)
class RunReporter:
    """Writes a run's events into its buffer, each as one chunk. The last one waits until it is stored."""

    live: LiveRun
    run: Run
    summaries: Mapping[str, StepSummary]
    clock: Callable[[], float]
    link: Link
    _stream: UiStream | None = None
    _ended_at: float | None = None
    _message: str = ""

    def report(self, event: Event) -> None:
        """Write an event, unless the question isn't stored yet or another worker has taken the run over."""
        live = self.live
        if live.is_abandoned:
            return
        if self._stream is None:
            has_question = any(not is_approval(draft.parts) for draft in live.request.drafts)
            if has_question and not any(map(starts_turn, self.run.messages)):
                return  # belongs to the previous response; if nothing follows, the client gets an error, not a stream
            self._stream = self._start_stream()
        if isinstance(event, Finish):
            self._finish(self._stream, event)
        elif data := self._stream.feed(self._redact(event) if isinstance(event, ErrorEvent) else event):
            live.buffer.write(data)

    def _finish(self, stream: UiStream, event: Finish) -> None:
        """Note the end of the stream; readers get it once it is stored."""
        live, event, self._ended_at = self.live, self._redact(event), self.clock()
        live.end = RunEnd(event.status, event.reason, self._ended_at)
        live.final_chunk = stream.feed(event)
        live.failed_chunk = lambda message: stream.feed(Finish("error", message, event.usage))

    def _redact(self, event: Ending) -> Ending:
        """Return the event without storage details from its error text: those go to the log alone.

        A `Finish` after refused files gets the reason, because a page finds only that after a reload.
        """
        error = self.run.error
        if isinstance(error, UnsupportedFile) and isinstance(event, Finish):
            return replace(event, reason=str(error))
        if not isinstance(error, StorageFailed):
            return event
        self._message = self._message or public_message(error)
        return (
            replace(event, text=self._message)
            if isinstance(event, ErrorEvent)
            else replace(event, reason=self._message)
        )

    def _start_stream(self) -> UiStream:
        """Start the stream. Late readers also get the part of the response that was stored before this run."""
        live, new_ids = self.live, {message.id for message in self.run.messages}
        new = last_turn(live.conversation.messages) if live.request.has_question else None
        turn = new or find_turn(live.conversation, None)
        earlier = [message for message in turn.answer if message.id not in new_ids or is_approval(message.parts)]
        model = self.run.agent.target.name
        stream = UiStream(
            answer_context(live.conversation, live.row, turn, self.link, clock=lambda: self._ended_at, model=model)
        )
        live.row = replace(live.row, message_id=turn.message_id)
        start = stream.start()
        opening = stream.replay(replay(earlier, live.conversation.attachments, self.summaries, before=turn.before))
        if opening:
            live.buffer.opening = start + opening
        live.buffer.write(start)
        live.started.set()
        return stream


def find_turn(conversation: StoredConversation, message_id: str | None) -> Turn:
    """Return a message's turn on the current branch; None: the last turn. Raises `NotFound`."""
    matches = [turn for turn in turns(conversation.messages) if turn.message and message_id in {None, turn.message.id}]
    if not matches:
        raise NotFound("the message is not on the current branch: load the conversation again")
    return matches[-1]


def answer_context(
    conversation: StoredConversation, row: RunRow, turn: Turn, link: Link, *, clock: Callable[[], object], model: str
) -> AnswerContext:
    """The context of a run's stream. `model` is the full name that is stored with each step."""
    return AnswerContext(
        id=answer_id(turn.message_id),
        start={"conversation_id": conversation.id, "run_id": row.id, "model": row.model, "created": row.created},
        files=conversation.attachments,
        show=FileLinks(conversation.id, link),
        model=model,
        now=clock,
        earlier_receipt=records_of(conversation.receipts),
        messages=lambda: conversation.messages,
    )


async def replay_run(conversation: StoredConversation, row: RunRow, last: RunRow, link: Link) -> bytes:
    """Build the stream of a stored response: `row` is the run that started it, `last` the run that ended it.

    Raises `NotFound` if the response is on another branch.
    """
    turn, summaries = find_turn(conversation, row.message_id), await conversation.step_summaries()
    data = await asyncio.to_thread(
        lambda: b"".join(replay_chunks(conversation, turn, summaries, link, row=row, last=last))
    )
    return data if conversation.is_owner else without_private(data)


def replay_chunks(
    conversation: StoredConversation,
    turn: Turn,
    summaries: Mapping[str, StepSummary],
    link: Link,
    *,
    row: RunRow,
    last: RunRow,
) -> Iterator[bytes]:
    """Yield the chunks of `replay_run`."""
    waiting = [call.call_id for call in waiting_calls(turn.answer)] if last.status == "waiting" else ()
    stream = UiStream(answer_context(conversation, row, turn, link, clock=lambda: last.ended, model=row.model))
    yield stream.start()
    yield stream.replay(replay(turn.answer, conversation.attachments, summaries, before=turn.before, waiting=waiting))
    yield stream.feed(Finish(cast("Status", last.status or "complete"), last.reason))
