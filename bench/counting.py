"""Counts of what a process does that no clock disturbs: calls of Python functions, SQL statements and steps of SQLite.

Run as a program it counts for the `showandtell` command, and gives its counts to each client of the Unix socket
that `COUNTS` names.
"""

from __future__ import annotations

import os
import runpy
import sqlite3
import sqlite3.dbapi2
import sys
import threading
from collections.abc import Mapping
from itertools import count
from multiprocessing.connection import Client, Listener
from types import FrameType
from typing import Any

#: Instructions of SQLite's virtual machine for one step. https://sqlite.org/c3ref/progress_handler.html
STEP = 20


class Counter:
    """A number that threads may raise together."""

    def __init__(self) -> None:
        self._values = count()
        self.add = self._values.__next__

    @property
    def value(self) -> int:
        """How often `add` was called."""
        return int(self._values.__reduce__()[1][0])


COUNTERS: Mapping[str, Counter] = {name: Counter() for name in ("calls", "statements", "steps of SQLite")}


def start() -> None:
    """Count from now on: in this thread, in those that start later, and on connections that are opened later."""
    call, statement, step = (counter.add for counter in COUNTERS.values())

    def profile(_frame: FrameType, event: str, _argument: object) -> None:
        if event == "call":
            call()

    def connect(*arguments: Any, **named: Any) -> sqlite3.Connection:
        connection = open_database(*arguments, **named)
        connection.set_trace_callback(lambda _: statement())
        connection.set_progress_handler(lambda: step() and None, STEP)
        return connection

    open_database = sqlite3.connect
    sqlite3.connect = sqlite3.dbapi2.connect = connect
    threading.setprofile(profile)
    sys.setprofile(profile)


def counted() -> dict[str, int]:
    """The counts of this process until now."""
    return {name: counter.value for name, counter in COUNTERS.items()}


def counted_by(path: str) -> dict[str, int]:
    """The counts of another process that serves them at a Unix socket."""
    with Client(path) as connection:
        return connection.recv()


def serve(path: str) -> None:
    """Give the counts to everyone who connects."""
    with Listener(path) as listener:
        while True:
            with listener.accept() as connection:
                connection.send(counted())


if __name__ == "__main__":
    threading.Thread(target=serve, args=(os.environ["COUNTS"],), daemon=True).start()
    start()
    runpy.run_module("showandtell", run_name="__main__")
