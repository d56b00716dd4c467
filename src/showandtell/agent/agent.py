"""`Agent` and `Run`: a model with its tools, and one answer to one message, watched event by event or awaited."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from typing import Any

import msgspec

from showandtell.agent.decide import Limits
from showandtell.agent.loop import Loop, last_text
from showandtell.agent.tools import Tool, by_name
from showandtell.attachments.shelf import MAX_FILE_BYTES, Shelf
from showandtell.capabilities.cells import Cell
from showandtell.capabilities.resolve import resolve
from showandtell.collect import collect
from showandtell.content import Approval, Draft, File, Message
from showandtell.delivery.values import Policy, Receipt
from showandtell.errors import BadInput, UnsupportedFile
from showandtell.events.types import Event, Finish, Status, Usage
from showandtell.history.memory import MemoryConversation
from showandtell.providers.exchange import Exchange
from showandtell.providers.rows import connect
from showandtell.wire.body import Fragments
from showandtell.wire.options import Effort, Options


class Agent:
    """A model with tools. Tools are functions or `Tool`s; every file they return is shown to the model.

    Settings: `strict` refuses a run when any file can't be shown; `focus` keeps at most so many files in view;
    `max_file_bytes` is the most that one file may have; `extra` are the provider's own fields of the body.
    """

    def __init__(
        self,
        model: str,
        tools: Iterable[Callable[..., Any] | Tool] = (),
        instructions: str = "",
        *,
        temperature: float | None = None,
        max_tokens: int | None = None,
        tool_choice: str = "auto",
        effort: Effort | None = None,
        schema: Mapping[str, Any] | None = None,
        extra: Mapping[str, Any] | None = None,
        max_steps: int = 20,
        strict: bool = False,
        focus: int | None = None,
        max_file_bytes: int = MAX_FILE_BYTES,
        overrides: Sequence[Cell] = (),
        exchange: Exchange | None = None,
    ) -> None:
        if max_steps < 1:
            raise BadInput("max_steps must be at least 1: it counts model calls")
        self.target = resolve(model, overrides)
        self.tools = by_name(tools)
        self.options = Options(
            instructions=instructions,
            tools=tuple(tool.spec for tool in self.tools.values()),
            tool_choice=tool_choice,
            temperature=temperature,
            max_tokens=max_tokens,
            effort=effort,
            schema=_json(schema),
            extra=_json(extra),
            stream=True,
        )
        asking = frozenset(tool.name for tool in self.tools.values() if tool.approval)
        self.limits = Limits(max_steps, asking)
        self.policy = Policy(strict=strict, focus=focus, cache=True)
        self.max_file_bytes = max_file_bytes
        self.exchange = exchange
        self.fragments: Fragments = {}

    def conversation(self) -> MemoryConversation:
        """A new conversation, to be given to several runs."""
        return MemoryConversation(Shelf(max_file_bytes=self.max_file_bytes))

    def run(
        self,
        text: object = None,
        *,
        files: Iterable[File] = (),
        conversation: MemoryConversation | None = None,
        approvals: Mapping[str, bool] | None = None,
    ) -> Run:
        """A run to watch: `async for event in agent.run("Plot 1 2 3")`. Its results are there when it ends.

        Without words, a run goes on where the conversation stands: after an approval, a cut, a cancellation.
        """
        drafts: list[Draft] = []
        if approvals:
            drafts.append(Draft("user", tuple(Approval(call_id, yes) for call_id, yes in approvals.items())))
        parts = (*(collect(text) if text is not None else ()), *files)
        if parts:
            drafts.append(Draft("user", parts))
        return Run(self, drafts, conversation or self.conversation())

    async def ask(self, text: object = None, **settings: Any) -> Run:
        """A run, awaited to its end; the arguments are those of `run`.

        Raises `UnsupportedFile` or `BadInput`, which are the caller's to mend; a provider's error is in `run.error`.
        """
        run = self.run(text, **settings)
        async for _ in run:
            pass
        if isinstance(run.error, UnsupportedFile | BadInput):
            raise run.error
        return run

    def run_sync(self, text: object = None, **settings: Any) -> Run:
        """The same for a program without an event loop."""
        return asyncio.run(self.ask(text, **settings))


class Run:
    """One run. Iterate over it once for its events; then `text`, `files`, `receipts`, `usage`, `status` are final."""

    def __init__(self, agent: Agent, drafts: Sequence[Draft], conversation: MemoryConversation) -> None:
        self.agent = agent
        self.conversation = conversation
        self.status: Status = "incomplete"
        self.reason: str | None = None
        self.usage = Usage()
        self._drafts = drafts
        self._loop: Loop | None = None
        self._begin = len(conversation.messages)
        self._known = frozenset(conversation.attachments)
        self._task: asyncio.Task[None] | None = None

    def __aiter__(self) -> AsyncIterator[Event]:
        return self._events()

    async def _events(self) -> AsyncIterator[Event]:
        if self._task is not None:
            raise BadInput("a run is watched once: call agent.run again for another")
        queue: asyncio.Queue[Event] = asyncio.Queue()
        self._loop = self._start(queue.put_nowait)
        self._task = asyncio.create_task(self._loop.run(self._drafts))
        try:
            while True:
                event = await self._next(queue)
                if isinstance(event, Finish):
                    self.status, self.reason, self.usage = event.status, event.reason, event.usage
                    await self._task
                yield event
                if isinstance(event, Finish):
                    break
        finally:
            await self.cancel()

    async def _next(self, queue: asyncio.Queue[Event]) -> Event:
        """The next event; where the task died without a `Finish`, its exception."""
        task = self._task
        getting = asyncio.ensure_future(queue.get())
        try:
            await asyncio.wait({getting, task} if task and queue.empty() else {getting}, return_when="FIRST_COMPLETED")
            if not getting.done() and task is not None and queue.empty():
                task.result()
            return await getting
        finally:
            getting.cancel()

    async def cancel(self) -> None:
        """Stop the run; every open call is closed, and the conversation can be used again."""
        if self._task is not None and not self._task.done():
            self._task.cancel()
            await asyncio.wait({self._task})

    def _start(self, emit: Callable[[Event], None]) -> Loop:
        agent = self.agent
        exchange = agent.exchange or connect(agent.target)
        return Loop(
            self.conversation, agent.target, exchange, agent.tools, agent.options, agent.limits, agent.policy,
            agent.fragments, emit,
        )  # fmt: skip

    @property
    def error(self) -> Exception | None:
        """What ended the run, if an error did."""
        return self._loop.error if self._loop else None

    @property
    def receipts(self) -> tuple[Receipt, ...]:
        """What the model was given of each file, and why, as of the last step."""
        return tuple(self._loop.told.values()) if self._loop else ()

    @property
    def messages(self) -> tuple[Message, ...]:
        """The messages that this run stored."""
        return tuple(self.conversation.messages[self._begin :])

    @property
    def text(self) -> str:
        """The words of the model's last message."""
        return last_text(self.messages)

    @property
    def files(self) -> list[File]:
        """The files that joined the conversation in this run from tools and the model, with their numbers."""
        return [
            self.conversation.file(number)
            for number, one in self.conversation.attachments.items()
            if number not in self._known and one.facts is not None and one.origin.by != "user"
        ]


def _json(value: Mapping[str, Any] | None) -> str | None:
    return None if value is None else msgspec.json.encode(value).decode()
