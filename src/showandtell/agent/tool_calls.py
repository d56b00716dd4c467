"""Runs single calls of a model: with a context, and with a result that can be stored."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass, field

from showandtell.agent.accept_results import Ready, accept_result
from showandtell.agent.answer import Answer
from showandtell.agent.context import Convert, Files, RunContext
from showandtell.agent.decide import LoopLimits
from showandtell.agent.execute import error_result, execute
from showandtell.agent.loader import Fetch
from showandtell.agent.progress import ProgressReports
from showandtell.agent.tools import Tool
from showandtell.core.collect.tool_result import ToolResult
from showandtell.core.events.types import Event, ToolProgress, ToolStart
from showandtell.core.messages.parts import ToolCall
from showandtell.storage.conversations.protocol import Conversation

#: Maximum number of tools that run at a time.
MAX_CONCURRENT_TOOLS = 32


@dataclass(frozen=True, slots=True)
class ToolCalls:
    """The calls of one step. `metadata` receives that of their results, by call id."""

    conversation: Conversation
    tools: Mapping[str, Tool]
    limits: LoopLimits
    answer: Answer | None
    deps: object
    convert: Convert
    fetch: Fetch | None
    emit: Callable[[Event], None]
    metadata: dict[str, object]
    semaphore: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(MAX_CONCURRENT_TOOLS))

    async def run(self, call: ToolCall, denial: str | None) -> Ready:
        """Run one call and probe the files of its result. `denial` is the reason why a person did not allow it."""
        async with self.semaphore:
            self.emit(ToolStart(call.call_id, call.tool, call.arguments))
            result = await self.result_of(call, denial)
            if result.metadata is not None:
                self.metadata[call.call_id] = result.metadata
            can_read = "get_document" in self.tools
            return await accept_result(call, result, self.conversation, self.limits.tool_text, can_read=can_read)

    async def result_of(self, call: ToolCall, denial: str | None) -> ToolResult:
        """The result of a tool, or of the check of an answer."""
        if self.answer and call.tool == self.limits.answer_tool:
            return self.answer.check_call(call)
        if denial is not None:
            return error_result(f"the person did not allow this call{': ' + denial if denial else ''}")
        with closing(ProgressReports(self.emit)) as reports:
            return await execute(call, self.tools, self.context(call, reports), self.fetch)

    def context(self, call: ToolCall, reports: ProgressReports) -> RunContext:
        """The context that the tool gets."""
        loop, cancelled = asyncio.get_running_loop(), threading.Event()

        def emit(progress: ToolProgress) -> None:
            if not cancelled.is_set():
                loop.call_soon_threadsafe(reports.report, progress)

        conversation = self.conversation
        files = Files(conversation.attachments, conversation.file, self.convert, loop, self.limits.tool_text)
        return RunContext(conversation.owner, conversation.id, call.call_id, files, emit, cancelled, self.deps)
