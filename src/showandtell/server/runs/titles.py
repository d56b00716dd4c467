"""Gives new conversations titles by their models, for users who want that. The answer never waits for it.

Each conversation is tried once, after its first answer, by the worker that executed it. A title that was changed
meanwhile stays, and so does one that was made of the first message if the model has none.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from functools import partial
from itertools import islice
from typing import Self, TypeAlias

from showandtell.agent.suggest_title import suggest_title
from showandtell.core.events.turns import Turn, turns
from showandtell.core.events.types import Event, Finish, Usage
from showandtell.core.messages.message import starts_turn
from showandtell.errors import ShowAndTellError
from showandtell.server.answers import public_message
from showandtell.server.runs.agents import Agents
from showandtell.server.runs.execute import ignore
from showandtell.server.runs.live_run import LiveRun
from showandtell.server.runs.manager import CLOSE_SECONDS, wait_briefly
from showandtell.storage.conversations.preferences import read_preferences
from showandtell.storage.conversations.titles import is_generated, replace_generated, title_of
from showandtell.storage.database.database import Database

log = logging.getLogger(__name__)

#: Seconds that a model may take for a title.
TITLE_SECONDS = 30.0
#: Titles that a worker asks for at once. Conversations beyond that keep theirs.
MAX_AT_ONCE = 16

#: The name of the tasks.
TASK = "title"
#: Counts the tokens of a title, which belong to no answer.
UsageCounter: TypeAlias = Callable[[LiveRun, Usage], None]


class Titles:
    """The titles that this worker asks for, within `async with`. `watch` is a `Watcher` of all runs."""

    def __init__(self, database: Database, agents: Agents, counters: Sequence[UsageCounter] = ()) -> None:
        self._database, self._agents, self._counters = database, agents, counters
        self._tasks: set[asyncio.Task[None]] = set()
        self._is_open = False

    async def __aenter__(self) -> Self:
        self._is_open = True
        return self

    async def __aexit__(self, *_: object) -> None:
        self._is_open = False
        for task in self._tasks:
            task.cancel()
        await wait_briefly({*self._tasks}, CLOSE_SECONDS)

    def watch(self, live: LiveRun) -> Callable[[Event], None]:
        """What to call with each event of a run, whose end starts the request for a title."""
        questions = len([*islice(filter(starts_turn, live.conversation.messages), 2)])
        if live.request.branch_point is None and questions + live.request.has_question > 1:
            return ignore

        def receive(event: Event) -> None:
            if isinstance(event, Finish) and event.status in {"complete", "incomplete"}:
                live.when_ended(partial(self._start, live))

        return receive

    def _start(self, live: LiveRun) -> None:
        """Begin with the conversation as the run has left it: the next message may follow at once."""
        turn, *others = turns([*live.conversation.messages])
        if self._is_open and len(self._tasks) < MAX_AT_ONCE and not others:
            task = asyncio.create_task(self._attempt(live, turn), name=TASK)
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _attempt(self, live: LiveRun, turn: Turn) -> None:
        """Give a conversation a title. Whatever prevents that is logged, without the texts of the conversation."""
        try:
            async with asyncio.timeout(TITLE_SECONDS):
                await self._give(live, turn)
        except TimeoutError:
            log.info("no title: the model took longer than %g s", TITLE_SECONDS)
        except ShowAndTellError as error:
            log.info("no title: %s", public_message(error))
        except Exception:
            log.exception("no title")

    async def _give(self, live: LiveRun, turn: Turn) -> None:
        row, conversation = live.row, live.conversation
        if conversation.owner != row.user_id or row.settings is None or turn.message is None:
            return
        made = title_of(turn.message)
        if not (await read_preferences(self._database, row.user_id)).titles:
            return
        if not await is_generated(self._database, row.conversation_id, made):
            return
        agent = await self._agents.get(row.model, row.settings, row.user_id)
        title = await suggest_title(agent, conversation, turn, partial(self._count, live))
        if title and title != made:
            await replace_generated(self._database, row.conversation_id, made, title)

    def _count(self, live: LiveRun, usage: Usage) -> None:
        tokens = {"input_tokens": usage.input_tokens, "output_tokens": usage.output_tokens}
        log.info("title asked for", extra={"fields": {"model": live.row.model, **tokens}})
        for count in self._counters:
            count(live, usage)
