"""Run several workers on one socket: start them, replace those that die, stop them together.

Each worker is a spawned process. Workers share nothing but the socket, the database and the files.
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
from showandtell.server.process import exit_on_signal

log = logging.getLogger(__name__)

SPAWN = multiprocessing.get_context("spawn")
STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
#: Seconds before a worker that does not stop is killed.
STOP_TIMEOUT = 8.0
#: Seconds before a dead worker is replaced: at first, and at most. The delay doubles each time.
MIN_RESTART_DELAY, MAX_RESTART_DELAY = 0.1, 30.0
#: Seconds after which a worker counts as stable: its death resets the delay.
STABLE_SECONDS = 60.0

Ready = TypeVar("Ready")
#: The function that a worker runs. It gets the socket, and a callback to report that it accepts requests.
Target = Callable[[socket.socket, Callable[[Ready], None]], None]


class StartRefused(Struct, frozen=True):
    """Why a worker could not start. `is_usage`: because of its options."""

    text: str
    is_usage: bool = False


@dataclass(slots=True)
class WorkerSlot(Generic[Ready]):
    """The slot of one worker: its current process, and when to replace it."""

    process: BaseProcess | None = None
    #: The pipe of the worker's reports, and the pipe whose end tells it that this process is gone.
    reports: Connection | None = None
    lifeline: Connection | None = None
    started_at: float = 0.0
    delay: float = MIN_RESTART_DELAY
    restart_at: float | None = None

    def start(self, target: Target[Ready], listener: socket.socket) -> None:
        """Start a worker in this slot."""
        self.reports, worker_reports = SPAWN.Pipe(duplex=False)
        worker_lifeline, self.lifeline = SPAWN.Pipe(duplex=False)
        self.process = SPAWN.Process(target=run_worker, args=(target, listener, worker_reports, worker_lifeline))
        with sigint_blocked():
            self.process.start()
        worker_reports.close()
        worker_lifeline.close()
        self.started_at, self.restart_at = time.monotonic(), None

    def last_report(self) -> Ready | StartRefused | None:
        """Return the worker's last unread report, if any."""
        report: Ready | StartRefused | None = None
        with suppress(EOFError, OSError):
            while self.reports is not None and self.reports.poll():
                report = self.reports.recv()
        return report

    def reap(self) -> int | None:
        """Clean up after a worker that has ended. Returns its exit status."""
        if self.process is None:
            return None
        self.process.join()
        status = self.process.exitcode
        for end in (self.reports, self.lifeline):
            if end is not None:
                end.close()
        self.process = None
        return status

    def schedule_restart(self) -> None:
        """Schedule the next worker. The delay doubles unless the last worker was stable."""
        now = time.monotonic()
        self.delay = (
            MIN_RESTART_DELAY if now - self.started_at > STABLE_SECONDS else min(self.delay * 2, MAX_RESTART_DELAY)
        )
        self.restart_at = now + self.delay


def run_worker(target: Target[Ready], listener: socket.socket, reports: Connection, lifeline: Connection) -> None:
    """The main function of a worker's process."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, exit_on_signal)
    threading.Thread(target=exit_with_parent, args=(lifeline,), daemon=True).start()
    try:
        target(listener, reports.send)
    except (ShowAndTellError, UsageError) as error:
        for number in (
            signal.SIGTERM,
            signal.SIGHUP,
        ):  # the parent sends one after the report, and this process exits anyway
            signal.signal(number, signal.SIG_IGN)
        reports.send(StartRefused(str(error), isinstance(error, UsageError)))
        sys.exit(1)


@contextmanager
def sigint_blocked() -> Generator[None]:
    """Child processes never receive Ctrl-C, which a terminal sends to all processes: the parent stops them."""
    resource_tracker.ensure_running()  # started later, it would unblock the signal
    previous = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, previous)


def exit_with_parent(lifeline: Connection) -> None:
    """Stop this process when its parent is gone."""
    with suppress(EOFError, OSError):
        lifeline.recv()
    os.kill(os.getpid(), signal.SIGTERM)


@dataclass(slots=True)
class Workers(Generic[Ready]):
    """All workers. `on_started` gets the report of the first one."""

    target: Target[Ready]
    listener: socket.socket
    count: int
    on_started: Callable[[Ready], None]
    slots: list[WorkerSlot[Ready]] = field(default_factory=list["WorkerSlot[Ready]"])
    received_signal: int | None = None

    def run(self) -> int:
        """Run until a signal, and return it. Raises the error of the first worker if that can't start."""
        with self._signal_pipe() as signals:
            try:
                self._start_first(signals)
                while self.received_signal is None:
                    self._start_due()
                    wait([signals, *self._sentinels()], self._timeout())
                    self._replace_dead()
            finally:
                self._stop()
        return self.received_signal

    @contextmanager
    def _signal_pipe(self) -> Generator[Connection]:
        """Yield a pipe that gets a byte for each stop signal. Ignored signals stay ignored."""
        receiver, sender = SPAWN.Pipe(duplex=False)

        def on_signal(number: int, _: object) -> None:
            self.received_signal = self.received_signal or number
            sender.send_bytes(b"!")

        previous = {number: signal.getsignal(number) for number in STOP_SIGNALS}
        for number, handler in previous.items():
            if handler is not signal.SIG_IGN:
                signal.signal(number, on_signal)
        try:
            yield receiver
        finally:
            for number, handler in previous.items():
                signal.signal(number, handler)
            receiver.close()
            sender.close()

    def _start_first(self, signals: Connection) -> None:
        """Start one worker before the others: it creates missing tables, and if it can't start, none can."""
        self.slots = [WorkerSlot[Ready]() for _ in range(self.count)]
        first = self.slots[0]
        first.start(self.target, self.listener)
        if first.reports is None or first.process is None:
            raise AssertionError(first)
        wait([signals, first.reports, first.process.sentinel])
        if self.received_signal is not None:
            return
        match first.last_report():
            case StartRefused(text, is_usage):
                raise UsageError(text) if is_usage else ShowAndTellError(text)
            case None:
                raise ShowAndTellError("the first worker ended before it started: see the lines above")
            case report:
                self.on_started(report)

    def _start_due(self) -> None:
        now = time.monotonic()
        for slot in self.slots:
            if slot.process is None and (slot.restart_at is None or slot.restart_at <= now):
                slot.start(self.target, self.listener)

    def _replace_dead(self) -> None:
        """Schedule replacements of dead workers."""
        for slot in self.slots:
            if slot.process is not None and not slot.process.is_alive():
                pid, report, status = slot.process.pid, slot.last_report(), slot.reap()
                why = report.text if isinstance(report, StartRefused) else f"status {status}"
                if self.received_signal is None:
                    slot.schedule_restart()
                    log.error("worker %s ended (%s): starting another", pid, why)

    def _timeout(self) -> float | None:
        due = [slot.restart_at for slot in self.slots if slot.process is None and slot.restart_at is not None]
        return max(0.0, min(due) - time.monotonic()) if due else None

    def _sentinels(self) -> Sequence[int]:
        return [slot.process.sentinel for slot in self.slots if slot.process is not None]

    def _stop(self) -> None:
        """Terminate all workers, and kill those that do not stop."""
        for slot in self.slots:
            if slot.process is not None:
                slot.process.terminate()
        deadline = time.monotonic() + STOP_TIMEOUT
        for slot in self.slots:
            if slot.process is not None:
                slot.process.join(max(0.0, deadline - time.monotonic()))
                if slot.process.is_alive():
                    log.error("worker %s did not stop: killing it", slot.process.pid)
                    slot.process.kill()
                slot.reap()
