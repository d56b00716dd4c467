"""A process for each request, forked ahead of it from one that has everything imported, and ended after its answer.

The parent treats answers as bytes that it doesn't look into, and keeps none: the next fork has a copy of its memory.
The kernel has no limit for the threads of a process or for the sum of the files that it writes, so the parent looks
every tenth of a second.
"""

from __future__ import annotations

import contextlib
import gc
import os
import select
import signal
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn, TypeAlias

from showandtell.media.sandbox import die_with

#: Made in the fork before its request comes; it turns the request into the response.
Handler: TypeAlias = Callable[[bytes], bytes]

#: More than the parent of all accepts, so that it is the one that says so.
ANSWER_LIMIT = 9 << 20
WRITTEN_LIMIT, FILES_LIMIT = 320 << 20, 256
THREADS_LIMIT = 64
#: Seconds between looks at what a fork uses up.
WATCH_SECONDS = 0.1
BLOCK = 512


@dataclass(frozen=True)
class Fork:
    """A process that waits for its only request, and the pipes to it."""

    pid: int
    requests: int
    answers: int

    def pass_on(self, output: int, buffer: bytearray, seconds: float, folder: str | None) -> bool | None:
        """Write the answer to `output` up to the end of a line, as long as the fork stays within its limits.

        It is killed before the last part, so that nobody meets a file that it still writes to. True if the answer is
        whole, False if it is not, None if there is none at all.
        """
        passed = 0
        for size in self.read_parts(buffer, time.monotonic() + seconds, folder):
            end = buffer.find(b"\n", 0, size) + 1  # nothing is copied
            if end:
                has_many_threads = self.has_many_threads()
                self.kill()
                if has_many_threads or exceeds_limits(folder):
                    break
            write_all(output, memoryview(buffer)[: end or size])
            passed += size
            if end:
                return True
            if passed >= ANSWER_LIMIT:
                break
        self.kill()
        return False if passed else None

    def read_parts(self, buffer: bytearray, deadline: float, folder: str | None) -> Iterator[int]:
        """Read parts of the answer until its end, the deadline, or until the fork exceeds its limits: their sizes.

        Each is wiped after its use, and only as many bytes as it has: forks have copies of the pages that were touched.
        """
        poll = select.poll()
        poll.register(self.answers, select.POLLIN)
        poll.register(0, 0)  # the parent's end of standard input: only that it was closed is reported
        looked = 0.0
        while (now := time.monotonic()) < deadline:
            if now - looked >= WATCH_SECONDS:  # also while an answer trickles in
                if self.has_many_threads() or exceeds_limits(folder):
                    return
                looked = now
            ready = [descriptor for descriptor, _ in poll.poll(WATCH_SECONDS * 1000)]
            size = os.readv(self.answers, [buffer]) if self.answers in ready else 0
            if size:
                try:
                    yield size
                finally:
                    buffer[:size] = bytes(size)
            elif ready:
                return

    def has_many_threads(self) -> bool:
        """Whether it has more threads than allowed, where the system tells it."""
        try:
            return Path(f"/proc/{self.pid}/task").stat().st_nlink - 2 > THREADS_LIMIT
        except OSError:
            return False

    def kill(self) -> None:
        """Kill the process, if it still runs, and all that it started. `reap` must follow."""
        with contextlib.suppress(ProcessLookupError, PermissionError):  # macOS: a process that has ended
            os.killpg(self.pid, signal.SIGKILL)
        os.kill(self.pid, signal.SIGKILL)  # it may have no group of its own yet

    def reap(self) -> None:
        """Wait for the end of a killed process, and close the pipes."""
        os.close(self.requests)
        os.close(self.answers)
        os.waitpid(self.pid, 0)

    def stop(self) -> None:
        """Kill and reap."""
        self.kill()
        self.reap()


def start_fork(prepare: Callable[[], Handler]) -> Fork:
    """Fork a process that prepares itself, then waits for its request. This process must have one thread."""
    request_end, requests = os.pipe()
    answers, answer_end = os.pipe()
    gc.freeze()  # otherwise a collection in the fork copies the memory of all objects
    parent = os.getpid()
    pid = os.fork()
    if pid == 0:
        os.dup2(request_end, 0)
        os.dup2(answer_end, 1)
        run_fork(parent, prepare)
    os.close(request_end)
    os.close(answer_end)
    return Fork(pid, requests, answers)


def run_fork(parent: int, prepare: Callable[[], Handler]) -> NoReturn:
    """Answer one request and end. Nothing but the two pipes is open, and nothing of the parent's runs at the end."""
    try:
        os.closerange(3, os.sysconf("SC_OPEN_MAX"))
        os.setpgid(0, 0)  # not a session: with autogroups its nice value would count for nothing
        die_with(parent)
        handle = prepare()
        line = read_line()
        if line:
            write_all(1, handle(line))
    finally:
        os._exit(0)


def read_line() -> bytes:
    """The request; empty if none will come."""
    line = bytearray()
    while not line.endswith(b"\n"):
        chunk = os.read(0, 1 << 16)
        if not chunk:
            return b""
        line += chunk
    return bytes(line)


def write_all(descriptor: int, data: bytes | memoryview) -> None:
    """Write to a pipe that takes only so much at once."""
    remaining = memoryview(data)
    while remaining:
        remaining = remaining[os.write(descriptor, remaining) :]


def exceeds_limits(folder: str | None) -> bool:
    """Whether there are more files or bytes in a folder than a conversion may write."""
    if folder is None:
        return False
    files = written = 0
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            status = entry.stat(follow_symlinks=False)
            files, written = files + 1, written + max(status.st_size, status.st_blocks * BLOCK)
            if files > FILES_LIMIT or written > WRITTEN_LIMIT:
                return True
    return False
