"""Runs tools in separate processes, so that a tool that crashes or hangs doesn't take the program down."""

from __future__ import annotations

import asyncio
import importlib
import inspect
import multiprocessing
import traceback
from collections.abc import Callable
from functools import reduce
from multiprocessing.connection import Connection
from typing import Any, TypeAlias

from showandtell.agent.tools import Tool
from showandtell.errors import BadInput, BadValue, ToolError

#: A function as it is sent to another process: module and name, or a picklable callable.
Reference: TypeAlias = tuple[str, str] | Callable[..., Any]


class Raised(Exception):
    """Stands in for an exception that can't be raised here: `kind` is its class name, `details` its traceback."""

    def __init__(self, kind: str, details: str) -> None:
        super().__init__(kind, details)
        self.kind, self.details = kind, details

    @classmethod
    def of(cls, error: BaseException) -> Raised:
        """Wrap an exception."""
        return cls(type(error).__name__, "".join(traceback.format_exception(error)))


async def run_isolated(function: Callable[..., Any], arguments: dict[str, Any]) -> Any:
    """Run an importable function in a new process. The process is killed if this task is cancelled.

    Arguments and result are pickled, so a `RunContext` can't be passed.
    """
    spawn = multiprocessing.get_context("spawn")
    receiver, sender = spawn.Pipe(duplex=False)
    process = spawn.Process(target=_run_child, args=(sender, _reference(function), arguments), daemon=True)
    try:
        with sender:
            process.start()
        return await _receive(receiver, process.pid)
    finally:
        if process.pid is not None:
            process.kill()
            process.join()
        receiver.close()


async def _receive(receiver: Connection, pid: int | None) -> Any:
    loop = asyncio.get_running_loop()
    readable = asyncio.Event()
    loop.add_reader(receiver.fileno(), readable.set)
    try:
        await readable.wait()
    finally:
        loop.remove_reader(receiver.fileno())
    try:
        value, error = receiver.recv()
    except EOFError as closed:
        raise RuntimeError(f"process {pid} of the tool ended without an answer") from closed
    if error is not None:
        raise error
    return value


def _reference(function: Callable[..., Any]) -> Reference:
    """Functions are sent by name, since pickle fails for a function whose name `@tool` has rebound."""
    return (function.__module__, function.__qualname__) if inspect.isfunction(function) else function


def _find(reference: Reference) -> Callable[..., Any]:
    if callable(reference):
        return reference
    module, name = reference
    value: Any = reduce(getattr, name.split("."), importlib.import_module(module))
    return value.run if isinstance(value, Tool) else value


def _run_child(sender: Connection, reference: Reference, arguments: dict[str, Any]) -> None:
    try:
        value = _find(reference)(**arguments)
        sender.send((asyncio.run(_wait(value)) if inspect.isawaitable(value) else value, None))
    except ToolError as error:
        sender.send((None, ToolError(str(error))))
    except BadInput as error:
        sender.send((None, (BadValue if isinstance(error, BadValue) else BadInput)(str(error))))
    except BaseException as error:  # noqa: BLE001 - sent as text, since not every exception can be pickled
        sender.send((None, Raised.of(error)))


async def _wait(value: Any) -> Any:
    return await value
