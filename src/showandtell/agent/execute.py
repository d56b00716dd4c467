"""Runs one tool call: prepare, execute, finalize. Every failure becomes an error result, and the loop continues."""

from __future__ import annotations

import asyncio
import inspect
import logging
import secrets
from collections.abc import AsyncGenerator, Awaitable, Coroutine, Mapping
from contextlib import aclosing
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import msgspec

from showandtell.agent.call_thread import CallThread
from showandtell.agent.context import RunContext
from showandtell.agent.isolate import Raised, run_isolated
from showandtell.agent.loader import Fetch
from showandtell.agent.provide import Dependencies, Scope
from showandtell.agent.returned_files import fetch_links, resolve_files
from showandtell.agent.tools import Tool
from showandtell.core.collect.quick import is_quick
from showandtell.core.collect.tool_result import ToolResult
from showandtell.core.messages.file import File
from showandtell.core.messages.parts import ToolCall
from showandtell.errors import BadInput, BadValue, ToolError

if TYPE_CHECKING:
    from pydantic import ValidationError

log = logging.getLogger("showandtell.tools")

#: Seconds for a cancelled async tool to clean up.
GRACE = 1.0
#: Maximum number of wrong arguments in an error text.
MAX_ERRORS = 8
#: Maximum length of a text that a generator yields as progress.
MAX_NOTE = 200


class CallRefused(Exception):
    """A call that can't run. Its text is for the model."""


class CallTimeout(Exception):
    """A call that exceeded its tool's timeout."""


async def execute(
    call: ToolCall, tools: Mapping[str, Tool], context: RunContext, fetch: Fetch | None = None
) -> ToolResult:
    """Run one call and return its result. Raises only `CancelledError`, if the caller itself is cancelled.

    `fetch` fetches the files whose addresses a tool returns. Without it, they stay text.
    """
    try:
        tool, arguments = prepare(call, tools, context)
        result = await run_with_timeout(call_tool(tool, arguments, context), tool.timeout)
        return await complete(call, result, context, fetch)
    except BadValue as error:  # the tool has built its `ToolResult` itself
        return error_result(str(refuse(call.tool, error)))
    except (CallRefused, ToolError, BadInput) as error:
        return error_result(str(error))
    except CallTimeout:
        context.cancelled.set()
        return error_result(format_timeout(tools[call.tool]))
    except asyncio.CancelledError:
        task = asyncio.current_task()
        if task is not None and task.cancelling():
            context.cancelled.set()
            raise
        return error_result(f"{call.tool} cancelled itself")
    except BaseException as error:  # noqa: BLE001 - sys.exit in a tool must not end the program
        return error_result(redact(call, error))


async def complete(call: ToolCall, result: ToolResult, context: RunContext, fetch: Fetch | None) -> ToolResult:
    """A result with its files. Raises `CallRefused` if one of them can't be shown to a model."""
    try:
        return resolve_files(await fetch_links(result, fetch), context.files)
    except BadInput as error:
        raise refuse(call.tool, error) from error


def refuse(tool: str, error: BadInput) -> CallRefused:
    """The error for a value that can't be shown to a model, which the log tells the developer."""
    log.warning("tool %s returned something that can't be shown: %s", tool, error)
    return CallRefused(f"{tool} returned something that can't be shown: {error}")


def format_timeout(tool: Tool) -> str:
    """The error text of a call that timed out. A sync tool's thread can't be stopped."""
    stopped = tool.isolate or is_async(tool)
    end = "was stopped" if stopped else "was given up, not stopped: it may still be running"
    return f"{tool.name} did not finish in time: after {tool.timeout:g} s it {end}"


def error_result(text: str) -> ToolResult:
    """A result that reports an error to the model."""
    return ToolResult(text, is_error=True)


def redact(call: ToolCall, error: BaseException) -> str:
    """The error text for the model: the error's class and a log id. The details go to the log only."""
    log_id = secrets.token_hex(4)
    kind, details = (error.kind, error.details) if isinstance(error, Raised) else (type(error).__name__, "")
    log.error("tool %s failed (log id %s) %s", call.tool, log_id, details, exc_info=None if details else error)
    return f"{call.tool} failed with {kind} (log id {log_id})"


def prepare(call: ToolCall, tools: Mapping[str, Tool], context: RunContext) -> tuple[Tool, dict[str, Any]]:
    """The tool and its validated arguments. Raises `CallRefused` with a text that helps the model to fix the call."""
    tool = tools.get(call.tool)
    if tool is None:
        raise CallRefused(f"there is no tool {call.tool!r}; there are: {', '.join(sorted(tools)) or 'none'}")
    from pydantic import ValidationError  # noqa: PLC0415 - late, with the first call

    try:
        arguments = msgspec.json.decode(call.arguments or "{}")  # the parser of the streams that show the call
    except (ValueError, RecursionError) as error:
        raise CallRefused(f"the arguments of {call.tool} are not valid JSON: {error}") from error
    if not isinstance(arguments, dict):
        raise CallRefused(f"the arguments of {call.tool} must be a JSON object")
    try:
        bound = tool.bind(cast("dict[str, Any]", arguments), context)
    except ValidationError as error:
        raise CallRefused(f"the arguments of {call.tool} don't fit: {format_errors(error)}") from error
    except TypeError as error:
        raise CallRefused(f"the arguments of {call.tool} don't fit: {error}") from error
    return tool, bound


def format_errors(error: ValidationError, name: str = "arguments") -> str:
    """Up to 8 wrong values, by name, with the reason. `name` is that of the value as a whole."""
    wrong = [f"{'.'.join(map(str, item['loc'])) or name}: {item['msg']}" for item in error.errors()]
    return "; ".join([*wrong[:MAX_ERRORS], *([f"and {len(wrong) - MAX_ERRORS} more"] if wrong[MAX_ERRORS:] else [])])


async def run_with_timeout(coroutine: Coroutine[Any, Any, Any], seconds: float) -> Any:
    """Await a coroutine. Raises `CallTimeout`. One that ignores its cancellation is abandoned after `GRACE` seconds."""
    task = asyncio.ensure_future(coroutine)
    task.add_done_callback(lambda done: done.cancelled() or done.exception())  # or asyncio logs a late exception
    try:
        await asyncio.wait({task}, timeout=seconds)
        if not task.done():
            raise CallTimeout
        return task.result()
    finally:
        if not task.done():
            task.cancel()
            await asyncio.wait({task}, timeout=GRACE)


async def call_tool(tool: Tool, arguments: dict[str, Any], context: RunContext) -> ToolResult:
    """Call the tool's function: a coroutine in this task, any other in a daemon thread, or in a separate process.

    Its dependencies are provided before, and closed after its value was collected. Raises `CallRefused` for a value
    that can't be shown to a model.
    """
    async with Scope() as scope:
        arguments |= await Dependencies(context, scope).fill(tool.injected)
        if tool.isolate:
            value = await run_isolated(tool.run, arguments)
        elif is_async(tool):
            value = tool.run(**arguments)
        else:
            value = await scope.thread.run(tool.run, **arguments)
        if inspect.isasyncgen(value):
            value = last_of(cast("AsyncGenerator[Any]", value), context)
        value = await contain_exit(value) if inspect.isawaitable(value) else value
        try:
            return await collect_in(scope.thread, value, tool.files_from)
        except BadInput as error:
            raise refuse(tool.name, error) from error


async def collect_in(thread: CallThread, value: object, files_from: str | Path | None) -> ToolResult:
    """A tool's value as a `ToolResult`, collected in the call's thread unless that takes but a moment."""
    if isinstance(value, ToolResult):
        return value
    return ToolResult(value) if is_quick(value) else await thread.run(ToolResult, value, files_from=files_from)


def is_async(tool: Tool) -> bool:
    """Whether the tool runs in the event loop, which can cancel it."""
    return inspect.iscoroutinefunction(tool.run) or inspect.isasyncgenfunction(tool.run)


async def last_of(values: AsyncGenerator[Any], context: RunContext) -> Any:
    """The last value of an async generator. Texts, numbers from 0 to 1 and files are reported as progress."""
    done, total, note, value = 0.0, None, "", None
    async with aclosing(values):
        async for value in values:
            if isinstance(value, str):
                note = value[:MAX_NOTE]
                context.progress(done, total, note)
            elif isinstance(value, int | float) and 0 <= value <= 1:
                done, total, note = float(value), 1.0, ""
                context.progress(done, total)
            elif isinstance(value, File):
                context.progress(done, total, note, preview=value)
    return value


async def contain_exit(awaitable: Awaitable[Any]) -> Any:
    """Keep `sys.exit` of an async tool from ending the event loop."""
    try:
        return await awaitable
    except (SystemExit, KeyboardInterrupt) as error:
        raise Raised.of(error) from error
