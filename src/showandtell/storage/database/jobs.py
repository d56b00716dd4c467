"""Transactions of SQLite that share one commit, because each commit waits for the disk."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Engine


@dataclass(slots=True, eq=False)
class Job:
    """A transaction to run, and its result."""

    transaction: Callable[[Connection], Any]
    is_slow: bool = False
    value: Any = None
    error: BaseException | None = None
    has_begun: bool = False
    is_done: bool = False
    #: Nobody waits for it any more, so it doesn't begin.
    is_withdrawn: bool = False

    def run(self, connection: Connection) -> None:
        """Run it."""
        if not self.is_withdrawn:
            self.value = self.transaction(connection)

    def run_apart(self, connection: Connection) -> None:
        """Run it in a savepoint, so that an error rolls back only this job."""
        try:
            with connection.begin_nested():
                self.run(connection)
        except Exception as error:
            self.error = error
            if not connection.connection.in_transaction:  # SQLite rolled back everything, if the disk is full perhaps
                raise


def run_jobs(engine: Engine, jobs: Sequence[Job]) -> None:
    """Run jobs in one transaction. If one fails, nothing is stored, and all run again, each in a savepoint."""
    for job in jobs:
        job.has_begun = True  # before `run` looks whether it was withdrawn; `write` does it the other way round
    try:
        with engine.begin() as connection:
            for job in jobs:
                job.run(connection)
    except Exception:
        if len(jobs) == 1:
            raise
    else:
        return
    with engine.begin() as connection:
        for job in jobs:
            job.run_apart(connection)
