"""Tools in a process of their own: one that crashes or hangs is killed, and the program goes on."""

from __future__ import annotations

import asyncio
import inspect
import multiprocessing
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any

from showandtell.errors import ToolError


async def run_isolated(function: Callable[..., Any], arguments: dict[str, Any]) -> Any:
    """Run an importable function in a new process and kill it when this task is cancelled.

    Arguments and result are pickled, so a `Context` can't be passed.
    """
    spawn = multiprocessing.get_context("spawn")
    ours, theirs = spawn.Pipe(duplex=False)
    process = spawn.Process(target=_work, args=(theirs, function, arguments), daemon=True)
    process.start()
    theirs.close()
    try:
        return await _answer(ours, process.pid)
    finally:
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


def _work(theirs: Connection, function: Callable[..., Any], arguments: dict[str, Any]) -> None:
    try:
        value = asyncio.run(function(**arguments)) if inspect.iscoroutinefunction(function) else function(**arguments)
        theirs.send((value, None))
    except ToolError as error:
        theirs.send((None, error))
    except Exception as error:  # noqa: BLE001 - told to the parent, by type: any exception may not pickle
        theirs.send((None, RuntimeError(type(error).__name__)))
