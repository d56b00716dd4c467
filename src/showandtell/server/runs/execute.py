"""The work of a run: an agent answers, and what happens is told on the run's tape as the UI message stream."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias, cast

from msgspec.structs import replace

from showandtell.agent.agent import Run
from showandtell.core.events.replay import StepSummary, replay
from showandtell.core.events.turns import Turn, turns
from showandtell.core.events.types import ErrorEvent, Event, Finish, Status
from showandtell.core.messages.messages import begins_turn
from showandtell.core.messages.parts import is_approval
from showandtell.core.ui_stream.stream import AnswerContext, UiStream, answer_id
from showandtell.errors import NotFound, StorageFailed, UnsupportedFile
from showandtell.server.answers import told_of
from showandtell.server.runs.agents import Agents
from showandtell.server.runs.live_run import LiveRun
from showandtell.server.schemas import Showing
from showandtell.storage.conversations.memory_conversation import waiting_calls
from showandtell.storage.conversations.preferences import read_preferences
from showandtell.storage.conversations.runs import RunEnd, RunRow
from showandtell.storage.conversations.store import Store
from showandtell.storage.conversations.stored_conversation import StoredConversation
from showandtell.storage.uncancelled import shielded

log = logging.getLogger(__name__)

#: Gives, for a run that begins, what is told every event of it, the `Finish` last.
Watch: TypeAlias = Callable[[LiveRun], Callable[[Event], None]]


class RunExecutor:
    """Answers with the agents of a server; `watching` see what happens."""

    def __init__(self, store: Store, agents: Agents, watching: Sequence[Watch] = ()) -> None:
        self._store, self._agents, self._watching = store, agents, watching

    async def __call__(self, going: LiveRun) -> None:
        """One run, to its end."""
        conversation, asked = going.conversation, going.asked
        instructions = asked.instructions
        if instructions is None:
            instructions = (await read_preferences(self._store.database, going.row.user_id)).instructions
        agent = self._agents.of(going.row.model, instructions)
        # What is said anew is stored together with where: a crash leaves both or neither.
        run = Run(agent, asked.drafts, conversation, asked.lead if asked.drafts else None)
        if asked.lead is None or asked.drafts:
            await self._tell(going, run)
            return
        try:
            await conversation.lead(asked.lead.message_id)
            await self._tell(going, run)
        except BaseException:
            if not (going.has_said or going.is_left):  # it has never been: the answer before stands again
                await shielded(conversation.lead(going.row.before))
            raise

    async def _tell(self, going: LiveRun, run: Run) -> None:
        """The run itself, told to all who watch it."""
        telling = RunReporter(going, run, await going.conversation.told(), self._store.terms.clock)
        watched = EventFanOut([telling.take, *(watch(going) for watch in self._watching)])
        try:
            await run.pour(watched.take)
        finally:
            going.error = run.error
            watched.end()


@dataclass(slots=True)
class EventFanOut:
    """Gives every event of a run to all who watch it. The first one tells it; of the others, who fails is left out."""

    takers: list[Callable[[Event], None]]
    _is_over: bool = False

    def take(self, event: Event) -> None:
        """Give it to all."""
        self._is_over = self._is_over or isinstance(event, Finish)
        self.takers[0](event)
        for taker in self.takers[1:]:
            try:
                taker(event)
            except Exception:
                log.exception("a run goes on unwatched")
                self.takers.remove(taker)

    def end(self) -> None:
        """Tell those who watch that it is over here, where the run itself didn't: another worker goes on with it."""
        if not self._is_over:
            del self.takers[:1]
            self.takers.insert(0, ignore)
            self.take(Finish("incomplete", "left"))


def ignore(_: Event) -> None:
    """Do nothing with an event."""


@dataclass(slots=True)
class RunReporter:
    """Tells one run: everything that one turn of the event loop brings goes onto the tape as one piece."""

    going: LiveRun
    run: Run
    told: Mapping[str, StepSummary]
    clock: Callable[[], float]
    _stream: UiStream | None = None
    _ended: float | None = None
    _waiting: list[bytes] = field(default_factory=list[bytes])
    _words: str = ""

    def take(self, event: Event) -> None:
        """Tell an event. Nothing is told before the message that is answered is stored, or after others took over."""
        going = self.going
        if going.is_left:
            return
        if self._stream is None:
            says = any(not is_approval(one.parts) for one in going.asked.drafts)
            if says and not any(map(begins_turn, self.run.messages)):
                return  # it belongs to the answer before; where nothing follows, the client gets an error, no stream
            self._stream = self._begin()
        event = self._hushed(event)
        if isinstance(event, Finish):
            self._ended = self.clock()
            going.over = RunEnd(event.status, event.reason, self._ended)
        data = self._stream.take(event)
        if isinstance(event, Finish):
            going.last = b"".join((*self._waiting, data))
            self._waiting.clear()
        elif data:
            if not self._waiting:
                asyncio.get_running_loop().call_soon(self._flush)
            self._waiting.append(data)

    def _hushed(self, event: Event) -> Event:
        """The same event, but for what an error says of where things are kept: that stands in the log alone.

        Why files were refused is told with the end, which is what a page finds after a reload.
        """
        error = self.run.error
        if isinstance(error, UnsupportedFile) and isinstance(event, Finish):
            return replace(event, reason=str(error))
        if not isinstance(error, StorageFailed) or not isinstance(event, ErrorEvent | Finish):
            return event
        self._words = self._words or told_of(error)
        return replace(event, text=self._words) if isinstance(event, ErrorEvent) else replace(event, reason=self._words)

    def _flush(self) -> None:
        if self._waiting and not self.going.is_left:
            self.going.tape.say(b"".join(self._waiting))
        self._waiting.clear()

    def _begin(self) -> UiStream:
        """The stream's start, for who asked; for who comes later with all that is stored of this answer already."""
        going, fresh = self.going, {one.id for one in self.run.messages}
        turn = find_turn(going.conversation, None)
        earlier = [one for one in turn.answer if one.id not in fresh or is_approval(one.parts)]
        asked = self.run.agent.target.name
        stream = UiStream(answer_of(going.conversation, going.row, turn, lambda: self._ended, asked))
        going.row = replace(going.row, message_id=turn.message_id)
        start, opening = (
            stream.start(),
            stream.look_back(replay(earlier, going.conversation.attachments, self.told, before=turn.before)),
        )
        if opening:
            going.tape.opening = start + opening
        going.tape.say(start)
        going.begun.set()
        return stream


def find_turn(conversation: StoredConversation, message_id: str | None) -> Turn:
    """The turn of a message of the branch that is talked on, or the last one. Raises `NotFound`."""
    found = [one for one in turns(conversation.messages) if one.said and message_id in {None, one.said.id}]
    if not found:
        raise NotFound("there is no such message in what is talked on: load the conversation again")
    return found[-1]


def answer_of(
    conversation: StoredConversation, row: RunRow, turn: Turn, clock: Callable[[], object], asked: str
) -> AnswerContext:
    """What the answer of a run is told with; `asked` is the model's full name, as it is stored with each step."""
    return AnswerContext(
        id=answer_id(turn.message_id),
        start={"conversation_id": conversation.id, "run_id": row.id, "model": row.model, "created": row.created},
        files=conversation.attachments,
        show=Showing(conversation.id),
        model=asked,
        now=clock,
        receipts={number: receipt.record() for number, receipt in conversation.receipts.items()},
        messages=lambda: conversation.messages,
    )


async def replay_run(conversation: StoredConversation, row: RunRow, last: RunRow) -> bytes:
    """The stream of an answer from what is stored: `row` is the run that began it, `last` the one that ended it.

    Raises `NotFound` where another branch has it.
    """
    turn, told = find_turn(conversation, row.message_id), await conversation.told()
    return await asyncio.to_thread(lambda: b"".join(replay_pieces(conversation, turn, told, row, last)))


def replay_pieces(
    conversation: StoredConversation, turn: Turn, told: Mapping[str, StepSummary], row: RunRow, last: RunRow
) -> Iterator[bytes]:
    """The pieces of `replay_run`."""
    waiting = [one.call_id for one in waiting_calls(turn.answer)] if last.status == "waiting" else ()
    stream = UiStream(answer_of(conversation, row, turn, lambda: last.ended, row.model))
    yield stream.start()
    yield stream.look_back(replay(turn.answer, conversation.attachments, told, before=turn.before, waiting=waiting))
    yield stream.take(Finish(cast("Status", last.status or "complete"), last.reason))
