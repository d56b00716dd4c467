"""`Run` is one answer to one message, awaited or read event by event."""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncIterator, Callable, Generator, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Self

from showandtell.agent.run_result import OutputT, RunResult, finish_early
from showandtell.core.display.displayed import Displayed
from showandtell.errors import BadInput, UnsupportedFile
from showandtell.lazy import LazyModule

if TYPE_CHECKING:
    import asyncio

    from showandtell.agent import engine
    from showandtell.agent.agent import Agent
    from showandtell.core.events.types import Event
    from showandtell.core.messages.message import BranchPoint, Draft
    from showandtell.storage.conversations.protocol import Conversation
else:
    asyncio, engine = LazyModule("asyncio"), LazyModule("showandtell.agent.engine")

#: Number of unread events at which the run stops reading from the network. One read yields a few hundred at most.
MAX_QUEUED_EVENTS = 1000


class Run(RunResult[OutputT], Displayed):
    """One run of an agent. Await it, or iterate over its events, once. Then its properties are final.

    >>> from showandtell import Agent
    >>> run = Agent("inspector").run_sync("hello")
    >>> run.status, run.reason, run.files, run.error
    ('complete', None, [], None)

    Attributes:
        status: "complete", "incomplete", "waiting", "refused" or "error".
        reason: why a run that isn't complete ended; None for a complete one.
        usage: tokens of all steps.
        conversation: the conversation that the run's messages are stored in.

    Args:
        agent (Agent): the agent to run; `Agent.run` creates runs.
        drafts (Sequence[Draft]): messages to store first.
        conversation (Conversation): the conversation to continue.
        behind (BranchPoint | None): the message to continue from, for a new branch. It takes effect with the first
            stored message. Default: the end of the current branch.
        deps (object): the `context.deps` of its tools.

    Raises:
        BadInput: the run has been awaited or iterated over before.
    """

    def __init__(
        self,
        agent: Agent,
        drafts: Sequence[Draft],
        conversation: Conversation,
        behind: BranchPoint | None = None,
        *,
        deps: object = None,
    ) -> None:
        super().__init__(conversation)
        self.agent, self.deps = agent, deps
        self._drafts, self._behind = drafts, behind
        self._task: asyncio.Task[None] | None = None
        self._unread: deque[Event | None] = deque()
        self._has_finished, self._news, self._space = False, asyncio.Event(), asyncio.Event()

    @property
    def has_question(self) -> bool:
        """Whether it answers a new message of the user. If not, it continues an answer."""
        return any(engine.starts_turn(draft) for draft in self._drafts)

    def __await__(self) -> Generator[Any, None, Self]:
        """Wait for the end of the run.

        Raises `UnsupportedFile` or `BadInput`, which the caller can fix. A provider's error is in `error`.
        """
        return self.finish().__await__()

    async def finish(self) -> Self:
        """What `await` does, as a coroutine."""
        task = self._start_task(lambda _: None)
        try:
            await asyncio.wait({task})
        finally:
            await self.cancel()
        if not task.cancelled():
            task.result()
        if isinstance(self.error, UnsupportedFile | BadInput):
            raise self.error
        return self

    def __aiter__(self) -> AsyncIterator[Event]:
        return self._events()

    async def _events(self) -> AsyncIterator[Event]:
        unread, news, space = self._unread, self._news, self._space
        task = self._start_task(self._add)
        task.add_done_callback(lambda _: self._add(None))
        try:
            while True:
                while not unread:
                    news.clear()
                    await news.wait()
                if (event := unread.popleft()) is None:
                    break
                if len(unread) < MAX_QUEUED_EVENTS:
                    space.set()
                yield event
                if isinstance(event, engine.Finish):
                    break
        finally:
            if self._has_finished:
                await asyncio.wait({task})  # it still closes connections
            await self.cancel()
        if not task.cancelled():
            task.result()

    async def pour(self, emit: Callable[[Event], None]) -> None:
        """Run to the end in this task and call `emit` with every event. Cancel the task to stop the run.

        For a server, where a run has any number of readers and waits for none of them.
        """
        if self._loop is not None:
            raise BadInput("a run can be read only once: call agent.run again")
        self._loop = self._start(emit)
        try:
            await self._run(self._loop)
        except BaseException as error:
            if not self._has_finished:  # it never got the conversation's lock
                self._loop.error = error if isinstance(error, Exception) else None
                self._finish_early(error, emit)
            raise

    async def _run(self, loop: engine.Loop) -> None:
        """Wait for the conversation's lock, then run the loop."""
        async with self.conversation.turn, self.agent.transport, engine.OpenToolsets(self.agent.toolsets) as toolsets:
            loop.toolsets = engine.ListedTools(self.agent.tools, toolsets, self.agent.configured.with_tools)
            if self._behind is not None:
                await self.conversation.branch_from(self._behind)
            await loop.run(self._drafts)

    def _start_task(self, emit: Callable[[Event], None]) -> asyncio.Task[None]:
        """Start the run in a task of its own."""
        if self._loop is not None:
            raise BadInput("a run can be read only once: call agent.run again")

        def close(done: asyncio.Task[None]) -> None:
            if not self._has_finished:
                self._finish_early(None if done.cancelled() else done.exception(), emit)

        self._loop = self._start(emit)
        self._task = task = asyncio.create_task(self._run(self._loop))
        task.add_done_callback(close)
        return task

    def _finish_early(self, error: BaseException | None, emit: Callable[[Event], None]) -> None:
        """Emit the end of a run that ended before the loop started."""
        self._record_finish(end := finish_early(error))
        emit(end)

    def _add(self, event: Event | None) -> None:
        """Keep an event for the reader; None after the last one."""
        self._unread.append(event)
        self._news.set()

    async def _drain(self) -> None:
        """Wait until the reader has caught up."""
        if len(self._unread) >= MAX_QUEUED_EVENTS:
            self._space.clear()
            await self._space.wait()

    async def cancel(self) -> None:
        """Stop the run and close every open call. The conversation can be used again afterwards."""
        if self._task is not None and not self._task.done():
            self._task.cancel()
            await asyncio.wait({self._task})

    def _record_finish(self, event: Event) -> None:
        """Store the outcome, even if nobody reads the events."""
        if isinstance(event, engine.Finish):
            self.status, self.reason, self.usage = event.status, event.reason, event.usage
            self._has_finished = True

    def _start(self, emit: Callable[[Event], None]) -> engine.Loop:
        agent = self.agent

        def record_and_emit(event: Event) -> None:
            self._record_finish(event)
            emit(event)

        return engine.Loop(
            conversation=self.conversation,
            target=agent.target,
            connect=lambda: agent.exchange,
            tools=agent.tools,
            options=agent.settings.options,
            limits=agent.settings.limits,
            policy=agent.settings.policy,
            memory=agent.memories.setdefault(self.conversation, engine.Memory()),
            emit=record_and_emit,
            drain=self._drain,
            retry=agent.retry,
            sharing=agent.sharing,
            deps=self.deps,
            answer=engine.Answer(form, self.file) if (form := agent.settings.form) else None,
        )

    def _blocks(self) -> Iterable[engine.Block]:
        return engine.answer_blocks(self, has_finished=self._has_finished)
