"""`Agent` is a model with its tools. `Run` is one answer to one message, awaited or read event by event."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Callable, Collection, Generator, Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar, Unpack, overload
from weakref import WeakKeyDictionary

from showandtell.agent.run_result import OutputT, RunResult, finish_early
from showandtell.checking.checked import checked
from showandtell.core.display.displayed import Displayed
from showandtell.errors import BadInput, UnsupportedFile
from showandtell.lazy import LazyModule

if TYPE_CHECKING:
    import asyncio
    from pathlib import Path

    from typing_extensions import TypeForm

    from showandtell.agent import engine
    from showandtell.agent.settings import Connection, FilePolicy, ModelSettings, Overrides, RunArguments, RunLimits
    from showandtell.agent.toolsets import AnyTool
    from showandtell.core.events.types import Event
    from showandtell.core.messages.file import File
    from showandtell.core.messages.message import BranchPoint, Draft
    from showandtell.providers.exchange import Exchange
    from showandtell.providers.retry import RetryPolicy
    from showandtell.storage.conversations.protocol import Conversation
else:
    asyncio, engine = LazyModule("asyncio"), LazyModule("showandtell.agent.engine")

#: The module that has the names of annotations that are imported for type checkers alone.
ANNOTATIONS = "showandtell.agent.annotations"
#: None, without a type: a type checker would take None as the output type of an agent without one.
ANY_OUTPUT: Any = None
#: The output type of one run that has its own.
T = TypeVar("T")


@checked
class Agent(Generic[OutputT]):
    """A model with tools. Every file that a tool returns is shown to the model.

    `async with agent:` keeps connections and toolsets open between runs. Otherwise each run opens its own.

    >>> from showandtell import Agent
    >>> def weather(city: str) -> str:
    ...     "Tell the weather."
    ...     return f"It rains in {city}."
    >>> agent = Agent("inspector", tools=[weather])
    >>> "It rains in Oslo." in agent.run_sync("/weather city=Oslo").text
    True

    Args:
        model (str): `provider:model`, or `inspector` for the embedded model, which needs no key.
        tools (Iterable[AnyTool]): functions, tools made with `@tool`, toolsets, hosted tools. Default: none.
        instructions (str): the system prompt. Default: empty.
        model_settings (ModelSettings | None): temperature, tokens, tool choice, reasoning, streaming.
            Default: the provider's own.
        limits (RunLimits | None): steps, tokens and seconds of a run. Default: 20 steps.
        retry (RetryPolicy | None): retries while the provider is busy. Default: 4 within 120 seconds.
        file_policy (FilePolicy | None): how files reach the model. Default: converted if necessary, sent as bytes,
            nothing fetched.
        output_type (type | Mapping | None): what `run.output` is: a pydantic model, dataclass, TypedDict, a union,
            `list[...]` or any other type that pydantic can read from JSON, or a JSON schema. Default: the text.
        deps (object): the program's value for tools and the providers of their dependencies: `context.deps`.
        connection (Connection | None): how to reach the provider. Default: by environment variables.

    Raises:
        UnknownModel: no such provider or model.
        BadInput: settings that the model's API doesn't support, two tools with one name, or an `output_type` without
            a JSON schema.
    """

    def __init__(
        self,
        model: str,
        tools: Iterable[AnyTool] = (),
        instructions: str = "",
        *,
        model_settings: ModelSettings | Mapping[str, Any] | None = None,
        limits: RunLimits | Mapping[str, Any] | None = None,
        retry: RetryPolicy | Mapping[str, Any] | None = None,
        file_policy: FilePolicy | Mapping[str, Any] | None = None,
        output_type: TypeForm[OutputT] | Mapping[str, Any] | None = ANY_OUTPUT,
        deps: object = None,
        connection: Connection | Mapping[str, Any] | None = None,
    ) -> None:
        settings = engine.settings_of(engine.ModelSettings, model_settings)
        files = engine.settings_of(engine.FilePolicy, file_policy)
        connection = engine.settings_of(engine.Connection, connection)
        tools, hosted = engine.split_by_runner(tools)
        target = engine.find_target(model, files.overrides)
        self.target = engine.with_account(target, connection, citations=settings.citations)
        self.transport = connection.transport or engine.Transport()
        self.tools, self.toolsets = engine.split_tools(tools)
        self.retry = engine.settings_of(engine.RetryPolicy, retry)
        self.deps, self._uses = deps, list[engine.OpenToolsets]()
        describer = engine.describer_of(files, connection, self.target, self.transport, self.retry)
        self.max_file_bytes, self.sharing = files.max_file_bytes, engine.sharing_of(files, describer)
        output, limits = engine.read_output_type(output_type), engine.settings_of(engine.RunLimits, limits)
        self.configured = engine.AgentSettings(
            settings, instructions, output, limits, files, self.target, self.sharing, hosted
        )
        self.settings = self.configured.with_tools(self.tools, has_all=not self.toolsets)
        self._exchange: Exchange | None = None
        # Closures and partials, so that no field of the agent holds a key.
        self._connect = lambda: connection.open(self.target, self.transport)
        self.change = partial(  # makes an agent like this one with other values of some arguments
            Agent,
            model=model,
            tools=(*self.tools.values(), *self.toolsets, *hosted),
            instructions=instructions,
            model_settings=settings,
            limits=limits,
            retry=self.retry,
            file_policy=files,
            output_type=output_type,
            deps=deps,
            connection=engine.replace(connection, transport=self.transport),
        )
        self.memories: WeakKeyDictionary[Conversation, engine.Memory] = WeakKeyDictionary()

    @classmethod
    def from_config(cls, file: str | Path | None = None, **arguments: Any) -> Agent[Any]:
        """An agent with the settings of variables and files, each replaced as a whole by one of `arguments`."""
        return cls(**engine.arguments_of(engine.read_configuration(file).settings, arguments))

    def __repr__(self) -> str:
        """The model and the tools by name; no key and no instructions."""
        names = [*self.tools, *(type(toolset).__name__ for toolset in self.toolsets)]
        return f"<Agent of {self.target.name} with {engine.short(', '.join(names)) or 'no tools'}>"

    @property
    def exchange(self) -> Exchange:
        """The way to the provider. Raises `MissingKey`, which names the variable to set, or `BadInput`."""
        if self._exchange is None:
            self._exchange = self._connect()
        return self._exchange

    async def __aenter__(self) -> Self:
        await self.transport.__aenter__()
        self._uses.append(await engine.OpenToolsets(self.toolsets).__aenter__())
        return self

    async def __aexit__(self, *error: object) -> None:
        await self._uses.pop().__aexit__(*error)
        await self.transport.__aexit__(*error)

    def conversation(self) -> engine.MemoryConversation:
        """Create an empty conversation in memory, for use by several runs."""
        return engine.MemoryConversation(engine.FileCache(max_file_bytes=self.max_file_bytes))

    async def delete_uploads(
        self, conversation: Conversation, numbers: Collection[int] | None = None
    ) -> tuple[str, ...]:
        """Delete a conversation's uploads from their providers; only those of the files in `numbers`, if given.

        Returns one text for each upload that could not be deleted, with the reason.
        """
        async with self.transport:
            return await engine.drop_uploads(
                conversation, self.target, lambda: self.exchange, self.retry, numbers=numbers
            )

    @overload
    def run(
        self, text: object = None, *, output_type: TypeForm[T] | Mapping[str, Any], **more: Unpack[RunArguments]
    ) -> Run[T]: ...

    @overload
    def run(self, text: object = None, **more: Unpack[RunArguments]) -> Run[OutputT]: ...

    def run(
        self,
        text: object = None,
        *,
        files: Iterable[File] = (),
        conversation: Conversation | None = None,
        approvals: Mapping[str, bool] | None = None,
        deps: object = None,
        **overrides: Unpack[Overrides],
    ) -> Run[Any]:
        """Create a run: `await` it for its result, or iterate over it for its events.

        Args:
            text (object): the user's message: text, or any value that a tool could return. Without `text`, `files` and
                `approvals`, the run continues from the end of the conversation, for example after a crash.
            files (Iterable[File]): the user's files, in order.
            conversation (Conversation | None): the conversation to continue. Default: a new one.
            approvals (Mapping[str, bool] | None): answers to waiting calls, by call id. True runs the call.
            deps (object): the `context.deps` of this run. Default: those of the agent.
            overrides (Overrides): `model`, `tools`, `instructions`, `model_settings`, `limits` or `output_type` of this
                run, in place of the agent's.

        Raises:
            UnknownModel: no such provider or model.
            BadInput: there is nothing to answer, or an element of `files` is not a `File`.
        """
        drafts = engine.new_drafts(text, files, approvals)
        if not drafts and not (conversation and conversation.messages):
            raise BadInput("there is nothing to answer: say something, or give files")
        agent = self.change(**overrides) if overrides else self
        return Run(agent, drafts, conversation or self.conversation(), deps=self.deps if deps is None else deps)

    @overload
    def run_sync(
        self, text: object = None, *, output_type: TypeForm[T] | Mapping[str, Any], **more: Unpack[RunArguments]
    ) -> Run[T]: ...

    @overload
    def run_sync(self, text: object = None, **more: Unpack[RunArguments]) -> Run[OutputT]: ...

    def run_sync(
        self,
        text: object = None,
        *,
        files: Iterable[File] = (),
        conversation: Conversation | None = None,
        approvals: Mapping[str, bool] | None = None,
        deps: object = None,
        **overrides: Unpack[Overrides],
    ) -> Run[Any]:
        """Run to the end, for programs without an event loop. Raises `BadInput` if one is running."""
        with contextlib.suppress(RuntimeError):
            asyncio.get_running_loop()
            raise BadInput("an event loop is running here, as in a notebook: write `await agent.run(...)`")
        run = self.run(text, files=files, conversation=conversation, approvals=approvals, deps=deps, **overrides)
        return asyncio.run(run.finish())


@checked
class Run(RunResult[OutputT], Displayed):
    """One run of an agent. Await it, or iterate over its events, once. Then its properties are final.

    Before that there is nothing to read. Python warns about a run that nobody awaits (`RuntimeWarning`).

    >>> from showandtell import Agent
    >>> run = Agent("inspector").run_sync("hello")
    >>> run.status, run.reason, run.files, run.error
    ('complete', None, [], None)

    Attributes:
        conversation: the conversation that the run's messages are stored in.

    Args:
        agent (Agent): the agent to run; `Agent.run` creates runs.
        drafts (Sequence[Draft]): messages to store first.
        conversation (Conversation): the conversation to continue.
        behind (BranchPoint | None): the message to continue from, for a new branch. It takes effect with the first
            stored message. Default: the end of the current branch.
        deps (object): the `context.deps` of its tools.

    Raises:
        BadInput: the run has been awaited or iterated over before, or a result is read before that.
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
        super().__init__(conversation, agent.target.name)
        self.agent, self.deps = agent, deps
        self._drafts, self._behind = drafts, behind
        self._task: asyncio.Task[None] | None = None
        self._unread = engine.UnreadEvents()

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
        unread = self._unread
        task = self._start_task(unread.add)
        task.add_done_callback(lambda _: unread.add(None))
        try:
            while (event := await unread.take()) is not None:
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

    async def cancel(self) -> None:
        """Stop the run and close every open call. The conversation can be used again afterwards."""
        self._is_left = True
        if self._task is not None and not self._task.done():
            self._task.cancel()
            await asyncio.wait({self._task})

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
            drain=self._unread.drain,
            retry=agent.retry,
            sharing=agent.sharing,
            deps=self.deps,
            answer=engine.Answer(form, self.file) if (form := agent.settings.form) else None,
        )

    def _blocks(self) -> Iterable[engine.Block]:
        if not self.has_begun:
            return (engine.Words("this run has not begun: await it", ""),)
        return engine.answer_blocks(self, has_finished=self._has_finished)
