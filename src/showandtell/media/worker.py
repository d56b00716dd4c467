"""Child processes that each answer one question at a time, a line of JSON each way; killed when one takes too long.

Plain pipes and a queue: it works from any thread, with or without an event loop, and starts anew after a fork.
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
from typing import Any

#: One line of answer: the text of twenty pages is far below it.
ANSWER_LIMIT = 8 << 20
#: How long a question waits until a child is free to take it.
PATIENCE = 30.0


class ChildFailed(Exception):
    """The child gave no answer; the text says why, to follow the name of a file."""


class ChildLate(ChildFailed):
    """It took too long, which another time it may not."""


@dataclass(eq=False)
class MediaWorker:
    """A command and, once something was asked, its running process. One thread at a time may ask."""

    command: tuple[str, ...]
    process: subprocess.Popen[bytes] | None = None

    def ask(self, request: Mapping[str, object], seconds: float) -> Any:
        """Send a request and wait for its answer, at most so many seconds; raises `ChildFailed` otherwise."""
        process = self.process = start_child(self.command, self.process)
        try:
            return exchange(process, json.dumps({**request, "seconds": seconds}), seconds)
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        """End the child, if there is one; the next question starts another."""
        process, self.process = self.process, None
        if process is not None:
            end_child(process)

    def forget(self) -> None:
        """After a fork the child is the parent's alone: let go of its pipes."""
        process, self.process = self.process, None
        if process is not None:
            close_pipes(process)
            process.returncode = 0  # else Popen would warn of, and wait for, a process that isn't ours


class WorkerPool:
    """At most `size` workers of one command. Another one is started when those that run are busy."""

    def __init__(self, command: tuple[str, ...], size: int, patience: float = PATIENCE) -> None:
        self.patience = patience
        self.workers = tuple(MediaWorker(command) for _ in range(size))
        self.free = line_up(self.workers)

    def ask(self, request: Mapping[str, object], seconds: float) -> Any:
        """The answer of the next free worker, which is awaited for `patience` seconds; raises `ChildFailed`."""
        try:
            worker = self.free.get(timeout=self.patience)
        except queue.Empty:
            raise ChildLate(f"could not be looked at in time ({self.patience:g} s)") from None
        try:
            return worker.ask(request, seconds)
        finally:
            self.free.put(worker)

    def stop(self) -> None:
        """End all children; the next question starts one again."""
        for worker in self.workers:
            worker.stop()

    def forget(self) -> None:
        """After a fork the children are the parent's; a thread that holds one of them isn't there to give it back."""
        for worker in self.workers:
            worker.forget()
        self.free = line_up(self.workers)


def line_up(workers: tuple[MediaWorker, ...]) -> queue.LifoQueue[MediaWorker]:
    """Those that are free; the one that came back last, which is warm, goes first."""
    line = queue.LifoQueue[MediaWorker]()
    for worker in reversed(workers):
        line.put(worker)
    return line


def start_child(command: tuple[str, ...], running: subprocess.Popen[bytes] | None) -> subprocess.Popen[bytes]:
    """The process that runs already, else a new one with a minimal environment: no key of ours goes there."""
    if running is not None and running.poll() is None:
        return running
    if running is not None:
        close_pipes(running)
    return subprocess.Popen(  # noqa: S603 - the command is a constant of the gate
        command,
        bufsize=0,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=list_environment(),
    )


def list_environment() -> dict[str, str]:
    """Where to find modules, and few threads: each one's arena counts against the address space."""
    return {
        "PATH": os.defpath,
        "LANG": "C.UTF-8",
        "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
        "MALLOC_ARENA_MAX": "2",
        "OMP_NUM_THREADS": "2",
        "OPENBLAS_NUM_THREADS": "1",
    }


def exchange(process: subprocess.Popen[bytes], request: str, seconds: float) -> Any:
    """One line out, one line in."""
    assert process.stdin is not None  # noqa: S101 - pipes were asked for
    try:
        process.stdin.write(request.encode() + b"\n")
    except BrokenPipeError:
        raise ChildFailed("stopped the decoder before it began") from None
    return json.loads(read_line(process, seconds))


def read_line(process: subprocess.Popen[bytes], seconds: float) -> bytes:
    """What the child writes up to a line's end."""
    assert process.stdout is not None  # noqa: S101 - pipes were asked for
    line, until = bytearray(), time.monotonic() + seconds
    with selectors.DefaultSelector() as selector:
        selector.register(process.stdout, selectors.EVENT_READ)
        while not line.endswith(b"\n"):
            if not selector.select(max(0.0, until - time.monotonic())):
                raise ChildLate(f"could not be decoded within {seconds:g} s")
            chunk = os.read(process.stdout.fileno(), 1 << 16)
            if not chunk or len(line) > ANSWER_LIMIT:
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
