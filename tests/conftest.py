"""Stores and clocks for tests."""

import os
import sys
from pathlib import Path
from uuid import uuid4

import pytest

from support.databases import DATABASES

#: Tests of `core`, which does no I/O, run no server and import no other library that is slow to import.
PURE = Path(__file__).parent / "core"


def pytest_collection_modifyitems(items):
    """Mark the pure tests, by their folder."""
    for item in items:
        if item.path.is_relative_to(PURE):
            item.add_marker("pure")


@pytest.fixture
def anyio_backend():
    return "asyncio"


@pytest.fixture(autouse=True)
def own_folders(monkeypatch):
    """Nothing that one test stores, or learns about a model, counts in another one, such as the model used last."""
    folder = f"{os.environ['XDG_DATA_HOME']}/{uuid4().hex}"
    monkeypatch.setenv("XDG_DATA_HOME", f"{folder}/data")
    monkeypatch.setenv("XDG_STATE_HOME", f"{folder}/state")


@pytest.fixture(autouse=True)
def no_other_owners(monkeypatch):
    """The owners of one test are not present in another one."""
    if turns := sys.modules.get("showandtell.media.turns"):
        monkeypatch.setattr(turns, "PRESENCE", turns.Presence())


@pytest.fixture(params=DATABASES)
def database(request):
    """Which database: a test of stores is run on each, unless it names one (`on_sqlite`)."""
    return request.param


# What follows imports a database's client, which most tests don't need, so it does that late.


@pytest.fixture
def place(database, tmp_path):
    """Where a store lies, to open it more than once."""
    from support.stores import Place

    return Place(database, tmp_path)


@pytest.fixture
def clock():
    """A clock that obeys; the `store` of a test that asks for it goes by it."""
    from support.stores import Time

    return Time()


@pytest.fixture
async def store(place, request):
    """An open store."""
    timed = "clock" in request.fixturenames
    async with place.store(**({"terms": request.getfixturevalue("clock").terms()} if timed else {})) as store:
        yield store
