"""Child processes that each handle one request at a time, a line of JSON each way. One that takes too long is killed.

It uses only pipes and a queue: it works from any thread, with or without an event loop, and starts again after a fork.
"""

from __future__ import annotations

import json
import os
import queue
import selectors
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

#: Maximum bytes of a response; the text of twenty pages stays far below.
RESPONSE_LIMIT = 8 << 20
#: Seconds that a request waits for a free child.
QUEUE_TIMEOUT = 30.0


class ChildFailed(Exception):
    """The child did not respond. The message says why, as text that follows the name of a file."""


class ChildLate(ChildFailed):
    """The child took too long; another attempt may succeed."""


@dataclass(eq=False)
class MediaWorker:
    """A command and, after the first request, its running process. Only one thread at a time may use it."""

    command: tuple[str, ...]
    process: subprocess.Popen[bytes] | None = None

    def ask(self, request: Mapping[str, object], seconds: float) -> Any:
        """Send a request and wait at most `seconds` for its response; raises `ChildFailed` otherwise."""
        process = self.process = start_child(self.command, self.process)
        try:
            return exchange(process, json.dumps({**request, "seconds": seconds}), seconds)
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        """End the child if it runs; the next request starts another."""
        process, self.process = self.process, None
        if process is not None:
            end_child(process)

    def forget(self) -> None:
        """Let go of the pipes after a fork: the child belongs to the parent."""
        process, self.process = self.process, None
        if process is not None:
            close_pipes(process)
            process.returncode = 0  # otherwise Popen warns of, and waits for, a process that isn't ours


class WorkerPool:
    """At most `size` workers of one command. Another one is started if all running ones are busy."""

    def __init__(self, command: tuple[str, ...], size: int, timeout: float = QUEUE_TIMEOUT) -> None:
        self.timeout = timeout
        self.workers = tuple(MediaWorker(command) for _ in range(size))
        self.free = make_queue(self.workers)

    def ask(self, request: Mapping[str, object], seconds: float) -> Any:
        """The response of the next free worker, which may take `timeout` seconds to get; raises `ChildFailed`."""
        try:
            worker = self.free.get(timeout=self.timeout)
        except queue.Empty:
            raise ChildLate(f"could not be looked at in time ({self.timeout:g} s)") from None
        try:
            return worker.ask(request, seconds)
        finally:
            self.free.put(worker)

    def stop(self) -> None:
        """End all children; the next request starts one again."""
        for worker in self.workers:
            worker.stop()

    def forget(self) -> None:
        """Let go of the children after a fork, with a new queue: threads that hold some of them no longer exist."""
        for worker in self.workers:
            worker.forget()
        self.free = make_queue(self.workers)


def make_queue(workers: tuple[MediaWorker, ...]) -> queue.LifoQueue[MediaWorker]:
    """A queue of free workers. The one returned last goes first: its process already runs."""
    free = queue.LifoQueue[MediaWorker]()
    for worker in reversed(workers):
        free.put(worker)
    return free


def start_child(command: tuple[str, ...], running: subprocess.Popen[bytes] | None) -> subprocess.Popen[bytes]:
    """The process if it runs, otherwise a new one. Its environment is minimal, so that no API key gets there."""
    if running is not None and running.poll() is None:
        return running
    if running is not None:
        close_pipes(running)
    return subprocess.Popen(  # noqa: S603 - the command is a constant in gate.py
        command,
        bufsize=0,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=list_environment(),
    )


def list_environment() -> dict[str, str]:
    """The module path and few threads: the arena of each thread counts against the address space."""
    return {
        "PATH": os.defpath,
        "LANG": "C.UTF-8",
        "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
        "MALLOC_ARENA_MAX": "2",
        "OMP_NUM_THREADS": "2",
        "OPENBLAS_NUM_THREADS": "1",
    }


def exchange(process: subprocess.Popen[bytes], request: str, seconds: float) -> Any:
    """Write one line and read one line; an answer that is no JSON object counts as a death."""
    assert process.stdin is not None  # noqa: S101 - Popen was called with pipes
    try:
        process.stdin.write(request.encode() + b"\n")
    except BrokenPipeError:
        raise ChildFailed("stopped the decoder before it began") from None
    try:
        response: Any = json.loads(read_line(process, seconds))
    except (ValueError, RecursionError):
        response = None
    if not isinstance(response, dict):
        raise ChildFailed("stopped the decoder")
    return cast("Any", response)


def read_line(process: subprocess.Popen[bytes], seconds: float) -> bytes:
    """Read from the child up to the end of a line."""
    assert process.stdout is not None  # noqa: S101 - Popen was called with pipes
    line, deadline = bytearray(), time.monotonic() + seconds
    with selectors.DefaultSelector() as selector:
        selector.register(process.stdout, selectors.EVENT_READ)
        while not line.endswith(b"\n"):
            if not selector.select(max(0.0, deadline - time.monotonic())):
                raise ChildLate(f"could not be decoded within {seconds:g} s")
            chunk = os.read(process.stdout.fileno(), 1 << 16)
            if not chunk or len(line) > RESPONSE_LIMIT:
                raise ChildFailed("stopped the decoder")
            line += chunk
    return bytes(line)


def close_pipes(process: subprocess.Popen[bytes]) -> None:
    """Close our ends."""
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            pipe.close()


def end_child(process: subprocess.Popen[bytes]) -> None:
    """Kill and reap."""
    process.kill()
    process.wait()
    close_pipes(process)
