"""One worker: uvicorn over a socket that listens, from its start until a signal ends it."""

from __future__ import annotations

import asyncio
import logging
import signal
import socket
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress

import uvicorn
from fastapi import FastAPI

from showandtell.errors import ShowAndTellError, StorageFailed
from showandtell.server.middleware.h11_timeouts import Connection
from showandtell.server.state import Server

#: How long a connection without a request is kept, in seconds; a proxy's own should be shorter.
KEEP_ALIVE = 65
#: How long runs may take to end by themselves when the worker ends, and then requests, in seconds.
RUNS_END, REQUESTS_END = 2.0, 1
#: How often a worker that ends looks whether its runs have, in seconds.
LOOK = 0.05
#: The most bytes of a request's line and headers.
MOST_HEAD = 64 * 1024


class Worker(uvicorn.Server):
    """A server that says when it answers, and lets readers go before it ends: another worker tells them the rest."""

    def __init__(self, settings: uvicorn.Config, app: FastAPI, tell: Callable[[Server], None]) -> None:
        super().__init__(settings)
        self._app, self._tell = app, tell

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """As uvicorn's, and then `tell`."""
        await super().startup(sockets)
        if self.started:
            self._tell(self._app.state.server)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Take nothing new, let runs end for a moment, leave those that don't, and then end as uvicorn does."""
        for one in self.servers:
            one.close()
        runs, loop = self._app.state.server.runs, asyncio.get_running_loop()
        until = loop.time() + RUNS_END
        while runs.going and loop.time() < until and not self.force_exit:  # noqa: ASYNC110 - nobody tells of their end
            await asyncio.sleep(LOOK)
        with suppress(StorageFailed):
            await runs.leave_all()
        await super().shutdown(sockets)


def run(app: FastAPI, listening: socket.socket, tell: Callable[[Server], None], proxies: str) -> None:
    """Serve until a signal ends it; `tell` is called once it answers. `proxies` are those whose word on clients counts.

    Raises what of ours kept it from starting, and `SystemExit` after a signal.
    """
    server = Worker(configure(app, proxies), app, tell)
    with closing_with_the_terminal(server) as closed, untold(app):
        try:
            server.run(sockets=[listening])
            if closed:
                leave(closed[0], None)
        except SystemExit as ended:
            if server.started:
                raise
            failed: ShowAndTellError | None = getattr(app.state, "failed", None)
            raise (failed or SystemExit(1)) from ended


def configure(app: FastAPI, proxies: str) -> uvicorn.Config:
    """What uvicorn is told."""
    return uvicorn.Config(
        app,
        http=Connection,
        access_log=False,
        log_config=None,
        lifespan="on",
        timeout_keep_alive=KEEP_ALIVE,
        timeout_graceful_shutdown=REQUESTS_END,
        server_header=False,
        h11_max_incomplete_event_size=MOST_HEAD,
        forwarded_allow_ips=proxies,
    )


@contextmanager
def closing_with_the_terminal(server: uvicorn.Server) -> Generator[list[int]]:
    """A closed terminal ends it as SIGTERM does, where that isn't ignored; gives the signal that came, in a list."""
    before, came = signal.getsignal(signal.SIGHUP), list[int]()

    def close(number: int, _: object) -> None:
        came.append(number)
        server.should_exit = True

    if before is not signal.SIG_IGN:
        signal.signal(signal.SIGHUP, close)
    try:
        yield came
    finally:
        signal.signal(signal.SIGHUP, before)


@contextmanager
def untold(app: FastAPI) -> Generator[None]:
    """An error of ours that keeps it from starting is told by whoever called, in one line and without a traceback."""
    log = logging.getLogger("uvicorn.error")

    def unknown(_: logging.LogRecord) -> bool:
        return getattr(app.state, "failed", None) is None

    log.addFilter(unknown)
    try:
        yield
    finally:
        log.removeFilter(unknown)


def leave(number: int, _: object) -> None:
    """End after a signal as after an exit, so that temporary files are removed."""
    sys.exit(128 + number)
