"""Child processes that each handle one request at a time, a line of JSON each way. One that takes too long is killed.

It uses only pipes and locks: it works from any thread, with or without an event loop, and starts again after a fork.
"""

from __future__ import annotations

import json
import os
import selectors
import subprocess
import sys
import threading
import time
from collections.abc import Generator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

import msgspec
from msgspec import Raw

from showandtell.media.turns import Budget, Turns

#: Maximum bytes of a response; the text of twenty pages stays far below.
RESPONSE_LIMIT = 8 << 20
#: Seconds that a request waits for a free child.
QUEUE_TIMEOUT = 30.0
#: Seconds after which a process without work is ended.
IDLE_SECONDS = 30.0
#: Seconds that a killed process may take to end.
KILL_SECONDS = 5.0


class ChildFailed(Exception):
    """The child did not respond. The message says why, as text that follows the name of a file."""


class ChildLate(ChildFailed):
    """The child took too long; another attempt may succeed."""


@dataclass(eq=False)
class MediaWorker:
    """A command and, after the first request, its running process. Only one thread at a time may use it."""

    command: tuple[str, ...]
    nice: int = 0
    process: subprocess.Popen[bytes] | None = None
    #: When it was last used, in seconds of the monotonic clock.
    used: float = 0.0

    def ask(self, request: Mapping[str, object], seconds: float, kind: Any = dict[str, Any]) -> Any:
        """Send a request and wait at most `seconds` for its response of the type `kind`; otherwise `ChildFailed`."""
        process = self.process = start_child(self.command, self.process, self.nice)
        try:
            return exchange(process, json.dumps({**request, "seconds": seconds}), seconds, kind)
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
    """At most `size` workers of one command, which owners take in turn. Another one is started if all are busy.

    A process that had nothing to do for `idle` seconds is ended. `nice` lowers the priority of the processes.
    `budget` counts the seconds that they work for an owner.
    """

    def __init__(
        self,
        command: tuple[str, ...],
        size: int,
        timeout: float = QUEUE_TIMEOUT,
        *,
        nice: int = 0,
        idle: float = IDLE_SECONDS,
        budget: Budget | None = None,
    ) -> None:
        self.timeout, self.idle, self.budget = timeout, idle, budget or Budget()
        self.workers = tuple(MediaWorker(command, nice) for _ in range(size))
        self.reset()

    def reset(self) -> None:
        """Make all workers free, with locks that nobody holds."""
        self.turns = Turns("files", len(self.workers))
        #: The one returned last is at the end, and goes first: its process runs.
        self.free = [*reversed(self.workers)]
        self._lock = threading.Lock()
        self._timer: threading.Timer | None = None

    def ask(self, request: Mapping[str, object], seconds: float, owner: str = "", kind: Any = dict[str, Any]) -> Any:
        """The response of a worker, of the type `kind`. Raises `ChildFailed`.

        Raises `TooBusy` if none is free within `timeout` seconds, or if the owner has used its budget.
        """
        self.budget.check(owner)
        with self.turns.taken(owner, self.timeout):
            return self.ask_now(request, seconds, owner, kind)

    def ask_now(
        self, request: Mapping[str, object], seconds: float, owner: str = "", kind: Any = dict[str, Any]
    ) -> Any:
        """Like `ask`, for a caller that has a turn."""
        self.budget.check(owner)
        with self.free_worker() as worker:
            started = time.monotonic()
            try:
                return worker.ask(request, seconds, kind)
            finally:
                self.budget.charge(owner, time.monotonic() - started)

    @contextmanager
    def free_worker(self) -> Generator[MediaWorker]:
        """A free worker. The caller has a turn, so there is one."""
        with self._lock:
            worker = self.free.pop()
        try:
            yield worker
        finally:
            with self._lock:
                worker.used = time.monotonic()
                self.free.append(worker)
                self._watch()

    def _watch(self) -> None:
        """End processes later if they are idle then."""
        ends = [worker.used + self.idle for worker in self.free if worker.process]
        if self._timer is None and ends:
            self._timer = threading.Timer(max(0.0, min(ends) - time.monotonic()), self._end_idle)
            self._timer.daemon = True
            self._timer.start()

    def _end_idle(self) -> None:
        with self._lock:
            self._timer = None
            for worker in self.free:
                if time.monotonic() - worker.used >= self.idle:
                    worker.stop()
            self._watch()

    def stop(self) -> None:
        """End all processes; the next request starts one again."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        for worker in self.workers:
            worker.stop()

    def forget(self) -> None:
        """Let go of the processes after a fork: threads that hold some of them no longer exist."""
        for worker in self.workers:
            worker.forget()
        self.reset()


def start_child(
    command: tuple[str, ...], running: subprocess.Popen[bytes] | None, nice: int = 0
) -> subprocess.Popen[bytes]:
    """The process if it runs, otherwise a new one. Its environment is minimal, so that no API key gets there."""
    if running is not None and running.poll() is None:
        return running
    if running is not None:
        close_pipes(running)
    process = subprocess.Popen(  # noqa: S603 - the command is a constant in gate.py
        command,
        bufsize=0,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=list_environment(),
    )
    with suppress(OSError):  # it died, and the first request says so
        os.setpriority(os.PRIO_PROCESS, process.pid, nice)
    return process


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


def exchange(process: subprocess.Popen[bytes], request: str, seconds: float, kind: Any) -> Any:
    """Write one line and read one line. A process that is frozen takes neither, so both have one deadline.

    An answer that is no JSON of the type `kind` counts as a death.
    """
    deadline = time.monotonic() + seconds
    try:
        write_line(process, request.encode() + b"\n", deadline)
        return decode(read_line(process, deadline), kind)
    except TimeoutError:
        raise ChildLate(f"could not be decoded within {seconds:g} s") from None


def decode(text: bytes | Raw, kind: Any) -> Any:
    """A value of the type `kind`. Raises `ChildFailed` for any other text, of which nothing is built."""
    try:
        return msgspec.json.decode(text, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise ChildFailed("stopped the decoder") from None


def write_line(process: subprocess.Popen[bytes], line: bytes, deadline: float) -> None:
    """Write to the child. Raises `TimeoutError`: a pipe that nobody reads takes 64 KiB."""
    assert process.stdin is not None  # noqa: S101 - Popen was called with pipes
    os.set_blocking(process.stdin.fileno(), False)
    with selectors.DefaultSelector() as selector:
        selector.register(process.stdin, selectors.EVENT_WRITE)
        while line:
            wait_for_pipe(selector, deadline)
            try:
                line = line[os.write(process.stdin.fileno(), line) :]
            except BrokenPipeError:
                raise ChildFailed("stopped the decoder before it began") from None


def read_line(process: subprocess.Popen[bytes], deadline: float) -> bytes:
    """Read from the child up to the end of a line. Raises `TimeoutError`."""
    assert process.stdout is not None  # noqa: S101 - Popen was called with pipes
    line = bytearray()
    with selectors.DefaultSelector() as selector:
        selector.register(process.stdout, selectors.EVENT_READ)
        while not line.endswith(b"\n"):
            wait_for_pipe(selector, deadline)
            chunk = os.read(process.stdout.fileno(), 1 << 16)
            if not chunk or len(line) > RESPONSE_LIMIT:
                raise ChildFailed("stopped the decoder")
            line += chunk
    return bytes(line)


def wait_for_pipe(selector: selectors.BaseSelector, deadline: float) -> None:
    """Wait for a pipe. Raises `TimeoutError` at the deadline."""
    if not selector.select(max(0.0, deadline - time.monotonic())):
        raise TimeoutError


def close_pipes(process: subprocess.Popen[bytes]) -> None:
    """Close our ends."""
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            pipe.close()


def end_child(process: subprocess.Popen[bytes]) -> None:
    """Kill and reap. A process that waits for a disk ends later, and is reaped then."""
    process.kill()
    with suppress(subprocess.TimeoutExpired):
        process.wait(KILL_SECONDS)
    close_pipes(process)
