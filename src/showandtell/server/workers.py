"""Run several workers on one socket: start them, replace those that die, stop them together.

Each worker is a spawned process. Workers share nothing but the socket, the database and the files. One more process,
the spare, has imported the server and waits to replace a worker that dies: imports take seconds on a busy machine.
"""

from __future__ import annotations

import importlib
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
from typing import Generic, TypeVar

from msgspec import Struct

from showandtell.errors import ShowAndTellError, UsageError
from showandtell.server.process import exit_after, exit_on_signal
from showandtell.server.runs.siblings import report_death

log = logging.getLogger(__name__)

SPAWN = multiprocessing.get_context("spawn")
STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
#: Seconds before a worker that does not stop is killed: a little after it should have exited by itself.
STOP_TIMEOUT = 3.5
#: Seconds before the end of a killed worker is no longer waited for: a disk that hangs can keep it.
KILL_TIMEOUT = 0.1
#: A worker that dies later than this many seconds after its start is replaced at once.
STABLE_SECONDS = 5.0
#: Seconds before another worker is replaced: at first, and at most. The delay doubles each time.
MIN_RESTART_DELAY, MAX_RESTART_DELAY = 0.2, 30.0
#: Orders of the parent: serve, and look after the runs of a worker that has died.
SERVE, ADOPT = "serve", "adopt"
#: What a worker imports before it serves; of another database or model it may miss some.
SERVER = (
    "showandtell.server.app",
    "showandtell.server.process",
    "showandtell.server.observability.logs",
    "showandtell.inspector.send",
    "sqlalchemy.dialects.sqlite.pysqlite",
    "sqlalchemy.dialects.postgresql.psycopg",
    "psycopg",
)

Ready = TypeVar("Ready")
#: The function that a worker runs. It gets the socket, and a callback to report that it accepts requests.
Target = Callable[[socket.socket, Callable[[Ready], None]], None]


class StartRefused(Struct, frozen=True):
    """Why a worker could not start. `is_usage`: because of its options."""

    text: str
    is_usage: bool = False


class WorkerProcess(Generic[Ready]):
    """A process that imports the server, and serves once the parent orders it to."""

    def __init__(self, target: Target[Ready], listener: socket.socket) -> None:
        #: The pipe of the worker's reports, and the pipe of our orders, whose end tells it that this process is gone.
        self.reports, worker_reports = SPAWN.Pipe(duplex=False)
        worker_orders, self._orders = SPAWN.Pipe(duplex=False)
        os.set_blocking(self._orders.fileno(), False)
        self.process = SPAWN.Process(target=run_worker, args=(target, listener, worker_reports, worker_orders))
        with sigint_blocked():
            self.process.start()
        worker_reports.close()
        worker_orders.close()
        #: When it reported that it accepts requests.
        self.ready_at: float | None = None
        self.refusal = ""

    def order(self, order: str) -> None:
        """Send an order. Has no effect on a process that is dead, or hasn't read thousands of them."""
        with suppress(OSError):
            self._orders.send(order)

    def read_report(self) -> Ready | StartRefused | None:
        """Return the worker's unread report, if any."""
        report: Ready | StartRefused | None = None
        with suppress(EOFError, OSError):
            while self.reports.poll():
                report = self.reports.recv()
        if isinstance(report, StartRefused):
            self.refusal = report.text
        elif report is not None:
            self.ready_at = time.monotonic()
        return report

    @property
    def is_stable(self) -> bool:
        """Whether it has served for a while."""
        return self.ready_at is not None and time.monotonic() - self.ready_at > STABLE_SECONDS

    def reap(self) -> str:
        """Clean up after a worker that has ended. Returns why it ended."""
        self.process.join(KILL_TIMEOUT)
        self.reports.close()
        self._orders.close()
        return self.refusal or f"status {self.process.exitcode}"


@dataclass(slots=True)
class WorkerSlot(Generic[Ready]):
    """The slot of one worker: its current process, and when to replace it."""

    worker: WorkerProcess[Ready] | None = None
    delay: float = 0.0
    restart_at: float = 0.0

    def schedule_restart(self, *, was_stable: bool) -> None:
        """Schedule the next worker: at once after a stable one, else after a delay that doubles."""
        self.delay = 0.0 if was_stable else min(max(self.delay * 2, MIN_RESTART_DELAY), MAX_RESTART_DELAY)
        self.restart_at = time.monotonic() + self.delay


def run_worker(target: Target[Ready], listener: socket.socket, reports: Connection, orders: Connection) -> None:
    """The main function of a worker's process."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, exit_on_signal)
    may_serve = threading.Event()
    threading.Thread(target=follow_orders, args=(orders, may_serve), daemon=True).start()
    for name in SERVER:
        with suppress(ImportError):  # an extra
            importlib.import_module(name)
    may_serve.wait()
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


def follow_orders(orders: Connection, may_serve: threading.Event) -> None:
    """Follow the parent's orders, and stop this process when the parent is gone."""
    with suppress(EOFError, OSError):
        while True:
            if orders.recv() == SERVE:
                may_serve.set()
            else:
                report_death()
    os.kill(os.getpid(), signal.SIGTERM)


@dataclass(slots=True)
class Workers(Generic[Ready]):
    """All workers. `on_started` gets the report of the first one."""

    target: Target[Ready]
    listener: socket.socket
    count: int
    on_started: Callable[[Ready], None]
    slots: list[WorkerSlot[Ready]] = field(default_factory=list["WorkerSlot[Ready]"])
    spare: WorkerProcess[Ready] | None = None
    spare_at: float = 0.0
    received_signal: int | None = None

    def run(self) -> int:
        """Run until a signal, and return it. Raises the error of the first worker if that can't start."""
        with self._signal_pipe() as signals:
            try:
                self._start_first(signals)
                while self.received_signal is None:
                    self._start_due()
                    wait([signals, *self._news()], self._timeout())
                    self._read_reports()
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
        first = self.slots[0].worker = self._serving_process()
        wait([signals, first.reports, first.process.sentinel])
        if self.received_signal is not None:
            return
        match first.read_report():
            case StartRefused(text, is_usage):
                raise UsageError(text) if is_usage else ShowAndTellError(text)
            case None:
                raise ShowAndTellError("the first worker ended before it started: see the lines above")
            case report:
                self.on_started(report)

    def _serving_process(self) -> WorkerProcess[Ready]:
        """The spare, or a new process, told to serve."""
        worker, self.spare = self.spare or WorkerProcess(self.target, self.listener), None
        worker.order(SERVE)
        return worker

    def _start_due(self) -> None:
        """Start missing workers that are due, and then another spare."""
        now = time.monotonic()
        for slot in self.slots:
            if slot.worker is None and slot.restart_at <= now:
                slot.worker = self._serving_process()
        are_ready = all(slot.worker is not None and slot.worker.ready_at is not None for slot in self.slots)
        if are_ready and self.spare is None and self.spare_at <= now:
            self.spare = WorkerProcess(self.target, self.listener)

    def _read_reports(self) -> None:
        for slot in self.slots:
            if slot.worker is not None and slot.worker.ready_at is None and slot.worker.read_report() is not None:
                log.info("worker %s has started", slot.worker.process.pid)

    def _replace_dead(self) -> None:
        """Tell the others that a worker is dead, and schedule its replacement."""
        for slot in self.slots:
            worker = slot.worker
            if worker is not None and not worker.process.is_alive():
                was_stable, why, slot.worker = worker.is_stable, worker.reap(), None
                for other in self.slots:
                    if other.worker is not None:
                        other.worker.order(ADOPT)
                if self.received_signal is None:
                    slot.schedule_restart(was_stable=was_stable)
                    log.error("worker %s ended (%s): starting another", worker.process.pid, why)
        if self.spare is not None and not self.spare.process.is_alive():
            self.spare.reap()
            self.spare, self.spare_at = None, time.monotonic() + MAX_RESTART_DELAY

    def _timeout(self) -> float | None:
        due = [slot.restart_at for slot in self.slots if slot.worker is None]
        return max(0.0, min(due) - time.monotonic()) if due else None

    def _processes(self) -> list[WorkerProcess[Ready]]:
        spare = [self.spare] if self.spare is not None else []
        return [*(slot.worker for slot in self.slots if slot.worker is not None), *spare]

    def _news(self) -> Sequence[int | Connection]:
        """What to wait for: ends of processes, and reports of those that are starting."""
        starting = [slot.worker.reports for slot in self.slots if slot.worker and not slot.worker.ready_at]
        return [*(worker.process.sentinel for worker in self._processes()), *starting]

    def _stop(self) -> None:
        """Terminate all workers, and kill those that do not stop."""
        exit_after(STOP_TIMEOUT + KILL_TIMEOUT)
        for worker in self._processes():
            worker.process.terminate()
        deadline = time.monotonic() + STOP_TIMEOUT
        for worker in self._processes():
            worker.process.join(max(0.0, deadline - time.monotonic()))
            if worker.process.is_alive():
                log.error("worker %s did not stop: killing it", worker.process.pid)
                worker.process.kill()
            worker.reap()
