"""One tool call: prepare, execute, finalize. Whatever goes wrong becomes an error result, and the loop goes on."""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import logging
import secrets
import threading
from collections.abc import Callable, Mapping
from typing import Any

from showandtell.agent.context import Context
from showandtell.agent.isolate import run_isolated
from showandtell.agent.tools import Tool
from showandtell.collect import ToolResult
from showandtell.content import ToolCall
from showandtell.errors import BadInput, BadValue, ToolError

log = logging.getLogger("showandtell.tools")


class Refused(Exception):
    """A call that can't be made, with the words for the model."""


async def execute(call: ToolCall, tools: Mapping[str, Tool], context: Context) -> ToolResult:
    """Run one call to its result. Raises nothing but the caller's own cancellation."""
    try:
        tool, arguments = prepare(call, tools, context)
        value = await asyncio.wait_for(start(tool, arguments), tool.timeout)
        return value if isinstance(value, ToolResult) else ToolResult(value)
    except Refused as error:
        return failed(str(error))
    except ToolError as error:
        return failed(str(error))
    except TimeoutError:
        context.cancelled.set()
        return failed(f"{call.tool} did not finish in time and was stopped")
    except BadInput as error:
        return failed(
            f"{call.tool} returned something that can't be shown: {error}" if _is_value(error) else str(error)
        )
    except asyncio.CancelledError:
        task = asyncio.current_task()
        if task is not None and task.cancelling():
            context.cancelled.set()
            raise
        return failed(f"{call.tool} cancelled itself")
    except BaseException as error:  # noqa: BLE001 - sys.exit in a tool must not end the program
        return failed(redact(call, error))


def failed(text: str) -> ToolResult:
    """An error result in words."""
    return ToolResult(text, is_error=True)


def redact(call: ToolCall, error: BaseException) -> str:
    """The error's type and a log id for the model; the whole goes to the log."""
    log_id = secrets.token_hex(4)
    log.error("tool %s failed (log id %s)", call.tool, log_id, exc_info=error)
    return f"{call.tool} failed with {type(error).__name__} (log id {log_id})"


def prepare(call: ToolCall, tools: Mapping[str, Tool], context: Context) -> tuple[Tool, dict[str, Any]]:
    """The tool and its checked arguments; raises `Refused` with words that let the model do better."""
    tool = tools.get(call.tool)
    if tool is None:
        raise Refused(f"there is no tool {call.tool!r}; there are: {', '.join(sorted(tools)) or 'none'}")
    from pydantic import ValidationError  # noqa: PLC0415 - late, with the first call
    from pydantic_core import from_json  # noqa: PLC0415

    try:
        arguments = from_json(call.arguments or "{}", allow_inf_nan=False)
    except ValueError as error:
        raise Refused(f"the arguments of {call.tool} are not valid JSON: {error}") from error
    if not isinstance(arguments, dict):
        raise Refused(f"the arguments of {call.tool} must be a JSON object")
    try:
        return tool, tool.bind(arguments, context)
    except ValidationError as error:
        wrong = "; ".join(f"{'.'.join(map(str, one['loc'])) or 'arguments'}: {one['msg']}" for one in error.errors())
        raise Refused(f"the arguments of {call.tool} don't fit: {wrong}") from error
    except BadInput as error:
        raise Refused(str(error)) from error


async def start(tool: Tool, arguments: dict[str, Any]) -> Any:
    """Run the function where it can be stopped: as a task, in a daemon thread, or in a process of its own."""
    if tool.isolate:
        return await run_isolated(tool.run, arguments)
    if inspect.iscoroutinefunction(tool.run):
        return await guard(tool.run, arguments)
    return await in_thread(tool.run, arguments)


async def guard(function: Callable[..., Any], arguments: dict[str, Any]) -> Any:
    """Keep `sys.exit` of an async tool from ending the event loop."""
    try:
        return await function(**arguments)
    except (SystemExit, KeyboardInterrupt) as error:
        raise RuntimeError(f"the tool raised {type(error).__name__}") from error


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
            done.set_exception(error if isinstance(error, Exception) else RuntimeError(type(error).__name__))

    def work() -> None:
        try:
            value, error = function(**arguments), None
        except BaseException as raised:  # noqa: BLE001 - whatever it is belongs to the caller
            value, error = None, raised
        with contextlib.suppress(RuntimeError):  # the loop has closed: nobody waits any more
            loop.call_soon_threadsafe(settle, value, error)

    threading.Thread(target=work, name="showandtell-tool", daemon=True).start()
    return await done


def _is_value(error: BadInput) -> bool:
    return isinstance(error, BadValue)
