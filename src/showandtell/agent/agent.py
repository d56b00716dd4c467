"""`Agent` and `Run`: a model with its tools, and one answer to one message, watched event by event or awaited."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Collection, Generator, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Self
from weakref import WeakKeyDictionary

from showandtell.agent.configure import aim, bound, fetcher, permit, read_output_type
from showandtell.agent.loader import Sharing
from showandtell.agent.loop import Loop, Memory, last_text
from showandtell.agent.provider_uploads import drop_uploads
from showandtell.agent.settings import Connection, FilePolicy, ModelSettings, RunLimits
from showandtell.agent.tools import Tool, Toolset, by_name
from showandtell.config.user_settings import find_target
from showandtell.core.collect.sanitize import clean
from showandtell.core.collect.values import collect
from showandtell.core.events.types import Event, Finish, Status, Usage
from showandtell.core.messages.file import File, Reader
from showandtell.core.messages.messages import Draft, Lead, Message
from showandtell.core.messages.parts import Approval
from showandtell.core.planning.values import Receipt
from showandtell.core.wire.options import choose
from showandtell.errors import BadInput, ShowAndTellError, UnsupportedFile
from showandtell.network.transport import Transport
from showandtell.providers.exchange import Exchange
from showandtell.providers.retry import RetryPolicy
from showandtell.storage.conversations.memory_conversation import MemoryConversation
from showandtell.storage.files.file_cache import FileCache

#: How many events may wait for their reader before the next read of the network; a read gives a few hundred at most.
MOST_WAITING = 1000


class Agent:
    """A model with tools. Every file that a tool returns is shown to the model.

    `async with agent:` keeps connections from run to run; otherwise each run opens its own.

    Args:
        model: `provider:model`, or `inspector` for the embedded model, which needs no key.
        tools: functions, or `Tool`s made of them by `@tool`. A `Toolset` is not supported yet.
        instructions: the system prompt.
        model_settings: temperature, tokens, tool choice, reasoning, streaming. Default: the provider's own.
        limits: steps, tokens and seconds of a run. Default: 20 steps.
        retry: how often a busy provider is asked again. Default: 4 times within 120 seconds.
        file_policy: how files reach the model. Default: converted if need be, sent as bytes, nothing fetched.
        output_type: a JSON schema that the answer has to follow. A type is not supported yet.
        deps: what tools get as `context.deps`. Not supported yet.
        connection: how the provider is reached. Default: by the variables of the environment.

    Raises:
        UnknownModel: no such provider or model.
        BadInput: settings that no API takes.
    """

    def __init__(
        self,
        model: str,
        tools: Iterable[Callable[..., Any] | Tool | Toolset] = (),
        instructions: str = "",
        *,
        model_settings: ModelSettings | None = None,
        limits: RunLimits | None = None,
        retry: RetryPolicy | None = None,
        file_policy: FilePolicy | None = None,
        output_type: type | Mapping[str, Any] | None = None,
        deps: object = None,
        connection: Connection | None = None,
    ) -> None:
        if deps is not None:
            raise BadInput("deps is not supported yet: give tools what they need by a closure or a method")
        settings, files = model_settings or ModelSettings(), file_policy or FilePolicy()
        way = connection or Connection()
        self.target = aim(find_target(model, files.overrides), way.client)
        self.transport = way.transport or Transport()
        self.tools = by_name(tools)
        self.options = choose(
            instructions=instructions,
            tools=[tool.spec for tool in self.tools.values()],
            tool_choice=settings.tool_choice,
            temperature=settings.temperature,
            max_tokens=settings.max_tokens,
            reasoning_effort=settings.reasoning_effort,
            schema=read_output_type(output_type),
            extra_body=settings.extra_body,
            stream=settings.stream,
        )
        self.limits = bound(self.tools, limits or RunLimits())
        self.retry = retry or RetryPolicy()
        self.max_file_bytes = files.max_file_bytes
        self.sharing = Sharing(files.url_signer, transcribe=files.transcribe, fetch=fetcher(files.fetch))
        self.policy = permit(self.tools, self.sharing, files)
        self._exchange: Exchange | None = None
        # A closure, so that no key stands in the agent's own fields.
        self._connect = lambda: way.open(self.target, self.transport)
        self.memories: WeakKeyDictionary[MemoryConversation, Memory] = WeakKeyDictionary()

    @property
    def exchange(self) -> Exchange:
        """How the provider is reached. Raises `MissingKey`, which names the variable to set, or `BadInput`."""
        if self._exchange is None:
            self._exchange = self._connect()
        return self._exchange

    async def __aenter__(self) -> Self:
        await self.transport.__aenter__()
        return self

    async def __aexit__(self, *why: object) -> None:
        await self.transport.__aexit__(*why)

    def conversation(self) -> MemoryConversation:
        """A new conversation, to be given to several runs."""
        return MemoryConversation(FileCache(max_file_bytes=self.max_file_bytes))

    async def delete_uploads(
        self, conversation: MemoryConversation, numbers: Collection[int] | None = None
    ) -> tuple[str, ...]:
        """Delete the uploads of a conversation, or of the files with these numbers, at their providers.

        Gives what is still there, and why.
        """
        async with self.transport:
            own = self.target, lambda: self.exchange, self.retry
            return await drop_uploads(conversation, *own, numbers=numbers)

    def run(
        self,
        text: object = None,
        *,
        files: Iterable[File] = (),
        conversation: MemoryConversation | None = None,
        approvals: Mapping[str, bool] | None = None,
    ) -> Run:
        """A run: `await` it for its result, or iterate over it for its events.

        Args:
            text: what the user says: words, or any value that a tool could return. Without it, and without `files` and
                `approvals`, the run goes on where the conversation ends, for example after the program died.
            files: the user's files, in order.
            conversation: the conversation to go on with. Default: a new one.
            approvals: answers to calls that wait for one, by call id: True runs the call.

        Raises:
            BadInput: there is nothing to answer, or `files` holds something else than `File`s.
        """
        drafts: list[Draft] = []
        if approvals:
            drafts.append(Draft("user", tuple(Approval(call_id, yes) for call_id, yes in approvals.items())))
        if (words := said(text, files)) is not None:
            drafts.append(words)
        if not drafts and not (conversation and conversation.messages):
            raise BadInput("there is nothing to answer: say something, or give files")
        return Run(self, drafts, conversation or self.conversation())

    def run_sync(
        self,
        text: object = None,
        *,
        files: Iterable[File] = (),
        conversation: MemoryConversation | None = None,
        approvals: Mapping[str, bool] | None = None,
    ) -> Run:
        """`await agent.run(...)` for a program without an event loop. Raises `BadInput` if one is running."""
        with contextlib.suppress(RuntimeError):
            asyncio.get_running_loop()
            raise BadInput("an event loop is running here, as in a notebook: write `await agent.run(...)`")

        async def finish() -> Run:
            return await self.run(text, files=files, conversation=conversation, approvals=approvals)

        return asyncio.run(finish())


class Run:
    """One run. Await it, or iterate over it for its events, once; then `text`, `files`, `usage`, `status` are final.

    What it says stands `behind` a message of another branch, where one is given, once any of it is stored.
    """

    def __init__(
        self, agent: Agent, drafts: Sequence[Draft], conversation: MemoryConversation, behind: Lead | None = None
    ) -> None:
        self.agent = agent
        self.conversation = conversation
        self.status: Status = "incomplete"
        self.reason: str | None = None
        self.usage = Usage()
        self._drafts, self._behind = drafts, behind
        self._loop: Loop | None = None
        self._task: asyncio.Task[None] | None = None
        self._has_finished = False
        self._queue: asyncio.Queue[Event | None] = asyncio.Queue()
        self._room = asyncio.Event()

    def __await__(self) -> Generator[Any, None, Run]:
        """Wait until the run has ended.

        Raises `UnsupportedFile` or `BadInput`, which the caller can fix; a provider's error is in `error`.
        """
        return self._finish().__await__()

    async def _finish(self) -> Run:
        async for _ in self:
            pass
        if isinstance(self.error, UnsupportedFile | BadInput):
            raise self.error
        return self

    def __aiter__(self) -> AsyncIterator[Event]:
        return self._events()

    async def _events(self) -> AsyncIterator[Event]:
        if self._task is not None:
            raise BadInput("a run is watched once: call agent.run again for another")
        queue = self._queue
        self._loop = self._start(queue.put_nowait)
        self._task = task = asyncio.create_task(self._go(self._loop))
        task.add_done_callback(lambda done: self._close(done, queue))
        try:
            while (event := await queue.get()) is not None:
                if queue.qsize() < MOST_WAITING:
                    self._room.set()
                yield event
                if isinstance(event, Finish):
                    break
        finally:
            if self._has_finished:
                await asyncio.wait({task})  # what is left is to close connections
            await self.cancel()
        if not task.cancelled():
            task.result()

    async def pour(self, emit: Callable[[Event], None]) -> None:
        """Run to the end in this task; `emit` is called with every event as it happens. Cancel the task to stop it.

        For a server, which has many readers of one run, or none: nothing waits for them.
        """
        if self._loop is not None:
            raise BadInput("a run is watched once: call agent.run again for another")
        self._loop = self._start(emit)
        try:
            await self._go(self._loop)
        except BaseException as error:
            if not self._has_finished:  # its turn never came
                is_cancelled = isinstance(error, asyncio.CancelledError)
                end = Finish("incomplete", "cancelled") if is_cancelled else Finish("error", told(error))
                self._loop.error = error if isinstance(error, Exception) else None
                self._take(end)
                emit(end)
            raise

    async def _go(self, loop: Loop) -> None:
        """The run itself, when it is this conversation's turn."""
        async with self.conversation.turn, self.agent.transport:
            if self._behind is not None:
                await self.conversation.stand_behind(self._behind)
            await loop.run(self._drafts)

    def _close(self, task: asyncio.Task[None], queue: asyncio.Queue[Event | None]) -> None:
        """End the events. A run that ended before its turn came has not said so: that is said for it."""
        if not self._has_finished:
            error = None if task.cancelled() else task.exception()
            end = Finish("incomplete", "cancelled") if error is None else Finish("error", told(error))
            self._take(end)
            queue.put_nowait(end)
        queue.put_nowait(None)

    async def _drain(self) -> None:
        """Wait while more events wait to be read than anybody needs to hold."""
        if self._queue.qsize() >= MOST_WAITING:
            self._room.clear()
            await self._room.wait()

    async def cancel(self) -> None:
        """Stop the run; every open call is closed, and the conversation can be used again."""
        if self._task is not None and not self._task.done():
            self._task.cancel()
            await asyncio.wait({self._task})

    def _take(self, event: Event) -> None:
        """Keep what a run says of its end, even where nobody reads it."""
        if isinstance(event, Finish):
            self.status, self.reason, self.usage = event.status, event.reason, event.usage
            self._has_finished = True

    def _start(self, emit: Callable[[Event], None]) -> Loop:
        agent = self.agent

        def tell(event: Event) -> None:
            self._take(event)
            emit(event)

        return Loop(
            conversation=self.conversation,
            target=agent.target,
            connect=lambda: agent.exchange,
            tools=agent.tools,
            options=agent.options,
            limits=agent.limits,
            policy=agent.policy,
            memory=agent.memories.setdefault(self.conversation, Memory()),
            emit=tell,
            drain=self._drain,
            retry=agent.retry,
            sharing=agent.sharing,
        )

    @property
    def error(self) -> Exception | None:
        """What ended the run, if an error did."""
        return self._loop.error if self._loop else None

    @property
    def receipts(self) -> tuple[Receipt, ...]:
        """What the model was given of each file, and why, as of the last step."""
        return tuple(self._loop.told.values()) if self._loop else ()

    @property
    def metadata(self) -> Mapping[str, object]:
        """What tools gave for the program alone (`ToolResult(..., metadata=...)`), by call id."""
        return self._loop.metadata if self._loop else {}

    @property
    def messages(self) -> tuple[Message, ...]:
        """The messages that this run stored."""
        return tuple(self._loop.messages) if self._loop else ()

    @property
    def text(self) -> str:
        """The words of the model's last message."""
        return last_text(self.messages)

    @property
    def files(self) -> list[File]:
        """The files that joined the conversation in this run from tools and the model, with their numbers."""
        return [
            self._lasting(self.conversation.file(one.number), one.facts.size)
            for one in (self._loop.files if self._loop else ())
            if one.facts is not None and one.origin.by != "user"
        ]

    def _lasting(self, file: File, size: int) -> File:
        """The same file, which keeps its conversation, and so its bytes, for as long as anybody holds it."""
        conversation, number = self.conversation, file.number or 0
        return replace(file, source=Reader(lambda: conversation.file(number).open(), size))


def told(error: BaseException) -> str:
    """An error in our own words, or by its class: anybody's may say what is nobody's business."""
    return str(error) if isinstance(error, ShowAndTellError) else type(error).__name__


def said(text: object, files: Iterable[File]) -> Draft | None:
    """What a person says, as a draft; None where it is nothing. Raises `BadInput` for files that are none."""
    if isinstance(files, File | str | bytes | Path):
        raise BadInput("files takes a list of File: write files=[File.from_path(...)]")
    found = tuple(files)
    for file in found:
        if not isinstance(file, File):  # pyright: ignore[reportUnnecessaryIsInstance] - callers need not be typed
            raise BadInput(f"files takes File values, not {type(file).__name__}: write File.from_path({file!r:.80})")
    fresh = (replace(file, number=None) for file in found)  # what is handed in anew gets a new number
    parts = (*(collect(text) if text is not None else ()), *fresh)
    return clean(Draft("user", parts)) if parts else None
