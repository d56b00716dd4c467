"""One tool call: prepare, execute, finalize. Whatever goes wrong becomes an error result, and the loop goes on."""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import logging
import secrets
import threading
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from typing import TYPE_CHECKING, Any

from showandtell.agent.context import RunContext
from showandtell.agent.isolate import Raised, run_isolated
from showandtell.agent.returned_files import settle_files
from showandtell.agent.tools import Tool
from showandtell.core.collect.values import ToolResult
from showandtell.core.messages.parts import ToolCall
from showandtell.errors import BadInput, ToolError

if TYPE_CHECKING:
    from pydantic import ValidationError

log = logging.getLogger("showandtell.tools")

#: Seconds that a cancelled async tool has to clean up.
GRACE = 1.0
#: Wrong arguments that a model is told of.
MOST_ERRORS = 8


class CallRefused(Exception):
    """A call that can't be made, with the words for the model."""


class Overdue(Exception):
    """A call that took too long."""


async def execute(call: ToolCall, tools: Mapping[str, Tool], context: RunContext) -> ToolResult:
    """Run one call to its result. Raises nothing but the caller's own cancellation."""
    try:
        tool, arguments = prepare(call, tools, context)
        value = await bounded(start(tool, arguments), tool.timeout)
        return show(call, value, context)
    except (CallRefused, ToolError, BadInput) as error:
        return failed(str(error))
    except Overdue:
        context.cancelled.set()
        return failed(overdue(tools[call.tool]))
    except asyncio.CancelledError:
        task = asyncio.current_task()
        if task is not None and task.cancelling():
            context.cancelled.set()
            raise
        return failed(f"{call.tool} cancelled itself")
    except BaseException as error:  # noqa: BLE001 - sys.exit in a tool must not end the program
        return failed(redact(call, error))


def show(call: ToolCall, value: object, context: RunContext) -> ToolResult:
    """What a tool returned, as its result; raises `CallRefused` for what can't be shown."""
    try:
        return settle_files(value if isinstance(value, ToolResult) else ToolResult(value), context.files)
    except BadInput as error:
        raise CallRefused(f"{call.tool} returned something that can't be shown: {error}") from error


def overdue(tool: Tool) -> str:
    """What is said of a call that took too long: a thread can't be stopped, the rest can."""
    stopped = tool.isolate or inspect.iscoroutinefunction(tool.run)
    end = "was stopped" if stopped else "was given up, not stopped: it may still be running"
    return f"{tool.name} did not finish in time: after {tool.timeout:g} s it {end}"


def failed(text: str) -> ToolResult:
    """An error result in words."""
    return ToolResult(text, is_error=True)


def redact(call: ToolCall, error: BaseException) -> str:
    """The error's type and a log id for the model; the whole goes to the log."""
    log_id = secrets.token_hex(4)
    kind, told = (error.kind, error.told) if isinstance(error, Raised) else (type(error).__name__, "")
    log.error("tool %s failed (log id %s) %s", call.tool, log_id, told, exc_info=None if told else error)
    return f"{call.tool} failed with {kind} (log id {log_id})"


def prepare(call: ToolCall, tools: Mapping[str, Tool], context: RunContext) -> tuple[Tool, dict[str, Any]]:
    """The tool and its checked arguments; raises `CallRefused` with words that let the model do better."""
    tool = tools.get(call.tool)
    if tool is None:
        raise CallRefused(f"there is no tool {call.tool!r}; there are: {', '.join(sorted(tools)) or 'none'}")
    from pydantic import ValidationError  # noqa: PLC0415 - late, with the first call
    from pydantic_core import from_json  # noqa: PLC0415

    try:
        arguments = from_json(call.arguments or "{}", allow_inf_nan=False)
    except ValueError as error:
        raise CallRefused(f"the arguments of {call.tool} are not valid JSON: {error}") from error
    if not isinstance(arguments, dict):
        raise CallRefused(f"the arguments of {call.tool} must be a JSON object")
    try:
        bound = tool.bind(arguments, context)
        inspect.signature(tool.run).bind(**bound)
    except ValidationError as error:
        raise CallRefused(f"the arguments of {call.tool} don't fit: {spell_errors(error)}") from error
    except TypeError as error:
        raise CallRefused(f"the arguments of {call.tool} don't fit: {error}") from error
    return tool, bound


def spell_errors(error: ValidationError) -> str:
    """The first wrong arguments, by name."""
    wrong = [f"{'.'.join(map(str, one['loc'])) or 'arguments'}: {one['msg']}" for one in error.errors()]
    return "; ".join([*wrong[:MOST_ERRORS], *([f"and {len(wrong) - MOST_ERRORS} more"] if wrong[MOST_ERRORS:] else [])])


async def bounded(work: Coroutine[Any, Any, Any], seconds: float) -> Any:
    """The outcome of some work, or `Overdue`. Work that ignores its cancellation is left behind after a moment."""
    task = asyncio.ensure_future(work)
    task.add_done_callback(lambda done: done.cancelled() or done.exception())  # else asyncio logs what came too late
    try:
        await asyncio.wait({task}, timeout=seconds)
        if not task.done():
            raise Overdue
        return task.result()
    finally:
        if not task.done():
            task.cancel()
            await asyncio.wait({task}, timeout=GRACE)


async def start(tool: Tool, arguments: dict[str, Any]) -> Any:
    """Run the function where it can be stopped: as a task, in a daemon thread, or in a process of its own."""
    if tool.isolate:
        return await run_isolated(tool.run, arguments)
    if inspect.iscoroutinefunction(tool.run):
        return await guard(tool.run(**arguments))
    value = await in_thread(tool.run, arguments)
    return await guard(value) if inspect.isawaitable(value) else value


async def guard(work: Awaitable[Any]) -> Any:
    """Keep `sys.exit` of an async tool from ending the event loop."""
    try:
        return await work
    except (SystemExit, KeyboardInterrupt) as error:
        raise Raised.of(error) from error


async def in_thread(function: Callable[..., Any], arguments: dict[str, Any]) -> Any:
    """Run a sync tool in a daemon thread of ours; when it is given up, its late result is dropped."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[Any] = loop.create_future()

    def settle(value: Any, error: BaseException | None) -> None:
        if done.done():
            return
        if error is None:
            done.set_result(value)
        else:
            done.set_exception(error if can_pass(error) else Raised.of(error))

    def work() -> None:
        try:
            value, error = function(**arguments), None
        except BaseException as raised:  # noqa: BLE001 - whatever it is belongs to the caller
            value, error = None, raised
        with contextlib.suppress(RuntimeError):  # the loop has closed: nobody waits any more
            loop.call_soon_threadsafe(settle, value, error)

    threading.Thread(target=work, name="showandtell-tool", daemon=True).start()
    return await done


def can_pass(error: BaseException) -> bool:
    """Whether a future can carry it: one may not hold a StopIteration, and others would end the event loop."""
    return isinstance(error, Exception) and not isinstance(error, StopIteration)
