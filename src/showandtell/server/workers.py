"""Several workers on one socket: started one after the other, begun anew where one dies, and ended together.

Each is a process of its own, which imports everything itself: nothing is shared but the socket, the database and the
files.
"""

from __future__ import annotations

import logging
import multiprocessing
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Generic, TypeVar

from msgspec import Struct

from showandtell.errors import ShowAndTellError, UsageError
from showandtell.server.process import leave

log = logging.getLogger(__name__)

SPAWN = multiprocessing.get_context("spawn")
ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
#: How long workers may take to end, in seconds: what takes longer is killed.
PATIENCE = 8.0
#: Before a worker that died is begun anew, seconds are waited: the first time, and at most.
FIRST_PAUSE, LONGEST_PAUSE = 0.1, 30.0
#: A worker that has lived so long, in seconds, has not died of how it began.
LONG = 60.0

Told = TypeVar("Told")
#: What a worker does: it gets the socket, and calls what it is given once it answers.
Work = Callable[[socket.socket, Callable[[Told], None]], None]


class StartRefused(Struct, frozen=True):
    """Why a worker could not begin; `is_usage`: it was told something that can't be followed."""

    text: str
    is_usage: bool = False


@dataclass(slots=True)
class WorkerSlot(Generic[Told]):
    """The place of one worker: who holds it now, and when it is filled again."""

    process: BaseProcess | None = None
    #: What the worker says; and what it hears the end of when we are gone.
    says: Connection | None = None
    hears: Connection | None = None
    since: float = 0.0
    pause: float = FIRST_PAUSE
    due: float | None = None

    def fill(self, work: Work[Told], listening: socket.socket) -> None:
        """Start a worker here."""
        self.says, its_voice = SPAWN.Pipe(duplex=False)
        its_ear, self.hears = SPAWN.Pipe(duplex=False)
        self.process = SPAWN.Process(target=begin, args=(work, listening, its_voice, its_ear))
        with deaf_to_the_keyboard():
            self.process.start()
        its_voice.close()
        its_ear.close()
        self.since, self.due = time.monotonic(), None

    def last_words(self) -> Told | StartRefused | None:
        """What the worker has said last, if that wasn't heard before."""
        said: Told | StartRefused | None = None
        with suppress(EOFError, OSError):
            while self.says is not None and self.says.poll():
                said = self.says.recv()
        return said

    def clear(self) -> int | None:
        """Take leave of a worker that has ended; gives its exit status."""
        if self.process is None:
            return None
        self.process.join()
        status = self.process.exitcode
        for end in (self.says, self.hears):
            if end is not None:
                end.close()
        self.process = None
        return status

    def await_next(self) -> None:
        """Note when the next worker comes: the later, the sooner the last one died."""
        now = time.monotonic()
        self.pause = FIRST_PAUSE if now - self.since > LONG else min(self.pause * 2, LONGEST_PAUSE)
        self.due = now + self.pause


def begin(work: Work[Told], listening: socket.socket, voice: Connection, ear: Connection) -> None:
    """What a worker's process does."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, leave)
    threading.Thread(target=end_with, args=(ear,), daemon=True).start()
    try:
        work(listening, voice.send)
    except (ShowAndTellError, UsageError) as error:
        for number in (signal.SIGTERM, signal.SIGHUP):  # who hears the error sends one, and this process ends anyway
            signal.signal(number, signal.SIG_IGN)
        voice.send(StartRefused(str(error), isinstance(error, UsageError)))
        sys.exit(1)


@contextmanager
def deaf_to_the_keyboard() -> Generator[None]:
    """Who is started here never gets Ctrl-C, which a terminal sends to all at once: we tell them to end."""
    resource_tracker.ensure_running()  # which would undo this if it were started in between
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def end_with(ear: Connection) -> None:
    """End this process when the one that started it is gone."""
    with suppress(EOFError, OSError):
        ear.recv()
    os.kill(os.getpid(), signal.SIGTERM)


@dataclass(slots=True)
class Workers(Generic[Told]):
    """All workers. `tell` gets what the first one says once it answers."""

    work: Work[Told]
    listening: socket.socket
    count: int
    tell: Callable[[Told], None]
    posts: list[WorkerSlot[Told]] = field(default_factory=list["WorkerSlot[Told]"])
    signalled: int | None = None

    def run(self) -> int:
        """Work until a signal ends it; gives the signal. Raises what the first worker says where it can't begin."""
        with self._hearing() as bell:
            try:
                self._start_first(bell)
                while self.signalled is None:
                    self._fill()
                    wait([bell, *self._sentinels()], self._patience())
                    self._look()
            finally:
                self._end()
        return self.signalled

    @contextmanager
    def _hearing(self) -> Generator[Connection]:
        """Signals ring a bell here; those that are ignored stay so."""
        bell, rope = SPAWN.Pipe(duplex=False)

        def ring(number: int, _: object) -> None:
            self.signalled = self.signalled or number
            rope.send_bytes(b"!")

        before = {one: signal.getsignal(one) for one in ENDING}
        for one, heed in before.items():
            if heed is not signal.SIG_IGN:
                signal.signal(one, ring)
        try:
            yield bell
        finally:
            for one, heed in before.items():
                signal.signal(one, heed)
            bell.close()
            rope.close()

    def _start_first(self, bell: Connection) -> None:
        """One goes before: it makes the tables where there are none, and where it can't work no other could."""
        self.posts = [WorkerSlot[Told]() for _ in range(self.count)]
        first = self.posts[0]
        first.fill(self.work, self.listening)
        if first.says is None or first.process is None:
            raise AssertionError(first)
        wait([bell, first.says, first.process.sentinel])
        if self.signalled is not None:
            return
        match first.last_words():
            case StartRefused(text, is_usage):
                raise UsageError(text) if is_usage else ShowAndTellError(text)
            case None:
                raise ShowAndTellError("the first worker ended before it could work: the lines above say why")
            case told:
                self.tell(told)

    def _fill(self) -> None:
        now = time.monotonic()
        for post in self.posts:
            if post.process is None and (post.due is None or post.due <= now):
                post.fill(self.work, self.listening)

    def _look(self) -> None:
        """Take leave of those who died."""
        for post in self.posts:
            if post.process is not None and not post.process.is_alive():
                number, said, status = post.process.pid, post.last_words(), post.clear()
                why = said.text if isinstance(said, StartRefused) else f"status {status}"
                if self.signalled is None:
                    post.await_next()
                    log.error("worker %s ended (%s): another takes its place", number, why)

    def _patience(self) -> float | None:
        due = [post.due for post in self.posts if post.process is None and post.due is not None]
        return max(0.0, min(due) - time.monotonic()) if due else None

    def _sentinels(self) -> Sequence[int]:
        return [post.process.sentinel for post in self.posts if post.process is not None]

    def _end(self) -> None:
        """Ask all to end, and kill who doesn't."""
        for post in self.posts:
            if post.process is not None:
                post.process.terminate()
        until = time.monotonic() + PATIENCE
        for post in self.posts:
            if post.process is not None:
                post.process.join(max(0.0, until - time.monotonic()))
                if post.process.is_alive():
                    log.error("worker %s does not end: it is killed", post.process.pid)
                    post.process.kill()
                post.clear()
