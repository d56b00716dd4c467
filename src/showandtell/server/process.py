"""Run one worker: uvicorn on a listening socket, until a signal ends it."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import socket
import sys
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from queue import SimpleQueue
from types import FrameType

import uvicorn
from fastapi import FastAPI

from showandtell.errors import ShowAndTellError, StorageFailed
from showandtell.server.middleware.h11_timeouts import MAX_HEAD, Connection
from showandtell.server.state import Server

log = logging.getLogger(__name__)

#: Seconds before an idle connection is closed. A proxy's own timeout should be shorter.
KEEP_ALIVE = 65
#: Seconds that a stopping worker waits for its runs, and then for its requests.
RUNS_GRACE, REQUESTS_GRACE = 2.0, 1
#: Seconds after a signal until a worker exits, whatever hangs: a thread that waits for a disk can't be interrupted.
EXIT_SECONDS = RUNS_GRACE + REQUESTS_GRACE + 0.3
#: Seconds for the last line of the log then: its reader may hang, too.
LAST_LINE_SECONDS = 0.3
#: Seconds between checks for the end of the runs.
POLL_SECONDS = 0.05


class Worker(uvicorn.Server):
    """A uvicorn server that reports its start, and disconnects readers on shutdown: another worker serves them."""

    def __init__(self, settings: uvicorn.Config, app: FastAPI, on_started: Callable[[Server], None]) -> None:
        super().__init__(settings)
        self._app, self._on_started = app, on_started
        #: Not an `Event`: a signal that interrupts the handler of another one would wait for its lock for ever.
        self._stops: SimpleQueue[None] = SimpleQueue()
        threading.Thread(target=self._exit_in_time, name="exit", daemon=True).start()

    def _exit_in_time(self) -> None:
        self._stops.get()
        exit_after(EXIT_SECONDS)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Stop on a signal, also while the worker starts or its event loop hangs."""
        self._stops.put(None)
        super().handle_exit(sig, frame)

    def hang_up(self) -> None:
        """Stop because the terminal was closed."""
        self._stops.put(None)
        self.should_exit = True

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start, then call `on_started`."""
        await super().startup(sockets)
        if self.started:
            self._on_started(self._app.state.server)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Stop listening, wait briefly for runs, release the unfinished ones, then shut down as uvicorn does."""
        self._stops.put(None)
        for listener in self.servers:
            listener.close()
        server: Server = self._app.state.server
        runs, loop = server.runs, asyncio.get_running_loop()
        runs.leave()
        deadline = loop.time() + RUNS_GRACE
        while runs.live_count and loop.time() < deadline and not self.force_exit:  # noqa: ASYNC110 - no event
            await asyncio.sleep(POLL_SECONDS)
        with suppress(StorageFailed):
            await runs.release_all()
        await super().shutdown(sockets)


def run(app: FastAPI, listener: socket.socket, on_started: Callable[[Server], None], proxies: str) -> None:
    """Serve until a signal ends the worker. `on_started` is called once it accepts requests.

    `proxies` are the trusted proxies, comma-separated. Raises the `ShowAndTellError` that prevented the start, and
    `SystemExit` after a signal.
    """
    server = Worker(configure(app, proxies), app, on_started)
    with stop_on_hangup(server) as signals, hide_startup_errors(app):
        try:
            server.run(sockets=[listener])
            if signals:
                exit_on_signal(signals[0], None)
        except SystemExit as exit_error:
            if server.started:
                raise
            startup_error: ShowAndTellError | None = getattr(app.state, "failed", None)
            raise (startup_error or SystemExit(1)) from exit_error


def configure(app: FastAPI, proxies: str) -> uvicorn.Config:
    """Return the settings of uvicorn."""
    return uvicorn.Config(
        app,
        http=Connection,
        ws="none",  # no route of ours, and slow to import
        access_log=False,
        log_config=None,
        lifespan="on",
        timeout_keep_alive=KEEP_ALIVE,
        timeout_graceful_shutdown=REQUESTS_GRACE,
        server_header=False,
        h11_max_incomplete_event_size=MAX_HEAD,
        forwarded_allow_ips=proxies,
    )


@contextmanager
def stop_on_hangup(server: Worker) -> Generator[list[int]]:
    """Stop on SIGHUP (a closed terminal) unless it is ignored. Yields a list that gets the received signal."""
    previous, received = signal.getsignal(signal.SIGHUP), list[int]()

    def close(number: int, _: object) -> None:
        received.append(number)
        server.hang_up()

    if previous is not signal.SIG_IGN:
        signal.signal(signal.SIGHUP, close)
    try:
        yield received
    finally:
        signal.signal(signal.SIGHUP, previous)


@contextmanager
def hide_startup_errors(app: FastAPI) -> Generator[None]:
    """Hide uvicorn's traceback of an expected startup error: the caller reports it in one line."""
    log = logging.getLogger("uvicorn.error")

    def is_unexpected(_: logging.LogRecord) -> bool:
        return getattr(app.state, "failed", None) is None

    log.addFilter(is_unexpected)
    try:
        yield
    finally:
        log.removeFilter(is_unexpected)


def exit_after(seconds: float) -> None:
    """Exit this process if it still runs after `seconds`."""

    def write_last_line() -> None:
        log.warning("something did not end within %g s, the database or the disk perhaps: exiting without it", seconds)
        logging.shutdown()

    def exit_now() -> None:
        last = threading.Thread(target=write_last_line, daemon=True)
        last.start()
        last.join(LAST_LINE_SECONDS)
        os._exit(128 + signal.SIGTERM)

    timer = threading.Timer(seconds, exit_now)
    timer.daemon = True
    timer.start()


def exit_on_signal(number: int, _: object) -> None:
    """Exit on a signal with `SystemExit`, so that temporary files are removed."""
    sys.exit(128 + number)
