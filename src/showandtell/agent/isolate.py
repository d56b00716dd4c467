"""Tools in a process of their own: one that crashes or hangs is killed, and the program goes on."""

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
from showandtell.errors import BadInput, ToolError

#: A function as it goes to another process: by module and name, or pickled.
Reference: TypeAlias = tuple[str, str] | Callable[..., Any]


class Raised(Exception):
    """What a tool raised where it can't be raised again: `kind` is its class, `told` its traceback in words."""

    def __init__(self, kind: str, told: str) -> None:
        super().__init__(kind, told)
        self.kind, self.told = kind, told

    @classmethod
    def of(cls, error: BaseException) -> Raised:
        """The words for an error."""
        return cls(type(error).__name__, "".join(traceback.format_exception(error)))


async def run_isolated(function: Callable[..., Any], arguments: dict[str, Any]) -> Any:
    """Run an importable function in a new process and kill it when this task is cancelled.

    Arguments and result are pickled, so a `Context` can't be passed.
    """
    spawn = multiprocessing.get_context("spawn")
    ours, theirs = spawn.Pipe(duplex=False)
    process = spawn.Process(target=_work, args=(theirs, _reference(function), arguments), daemon=True)
    try:
        with theirs:
            process.start()
        return await _answer(ours, process.pid)
    finally:
        if process.pid is not None:
            process.kill()
            process.join()
        ours.close()


async def _answer(ours: Connection, pid: int | None) -> Any:
    loop = asyncio.get_running_loop()
    readable = asyncio.Event()
    loop.add_reader(ours.fileno(), readable.set)
    try:
        await readable.wait()
    finally:
        loop.remove_reader(ours.fileno())
    try:
        value, error = ours.recv()
    except EOFError as gone:
        raise RuntimeError(f"process {pid} of the tool ended without an answer") from gone
    if error is not None:
        raise error
    return value


def _reference(function: Callable[..., Any]) -> Reference:
    """A function goes by name: where @tool has taken its name, it can't be pickled."""
    return (function.__module__, function.__qualname__) if inspect.isfunction(function) else function


def _find(reference: Reference) -> Callable[..., Any]:
    if callable(reference):
        return reference
    module, name = reference
    found: Any = reduce(getattr, name.split("."), importlib.import_module(module))
    return found.run if isinstance(found, Tool) else found


def _work(theirs: Connection, reference: Reference, arguments: dict[str, Any]) -> None:
    try:
        value = _find(reference)(**arguments)
        theirs.send((asyncio.run(_wait(value)) if inspect.isawaitable(value) else value, None))
    except ToolError as error:
        theirs.send((None, ToolError(str(error))))
    except BadInput as error:
        theirs.send((None, BadInput(str(error))))
    except BaseException as error:  # noqa: BLE001 - told to the parent in words: any exception may not pickle
        theirs.send((None, Raised.of(error)))


async def _wait(value: Any) -> Any:
    return await value
