"""Tests know neither the settings of whoever runs them nor their keys, and leave nothing behind; stores are open to them."""

import atexit
import os
import signal
from tempfile import TemporaryDirectory

import pytest

from postgres import DATABASES

own = TemporaryDirectory(prefix="showandtell-tests-", ignore_cleanup_errors=True)
atexit.register(own.cleanup)
os.environ["XDG_CONFIG_HOME"] = f"{own.name}/config"
os.environ["XDG_DATA_HOME"] = f"{own.name}/data"
for name in [name for name in os.environ if name.startswith("SHOWANDTELL_") or name.endswith("_API_KEY")]:
    del os.environ[name]

# What nohup and a shell's background ignore, programs that the tests start would ignore, too.
signal.signal(signal.SIGHUP, signal.SIG_DFL)
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def anyio_backend():
    return "asyncio"


@pytest.fixture(params=DATABASES)
def database(request):
    """Which database: a test of stores is run on each, unless it names one (`on_sqlite`)."""
    return request.param


# What follows imports a database's client, which most tests don't need, so it does that late.


@pytest.fixture
def place(database, tmp_path):
    """Where a store lies, to open it more than once."""
    from stores import Place

    return Place(database, tmp_path)


@pytest.fixture
def clock():
    """A clock that obeys; the `store` of a test that asks for it goes by it."""
    from stores import Time

    return Time()


@pytest.fixture
async def store(place, request):
    """An open store."""
    timed = "clock" in request.fixturenames
    async with place.store(**({"terms": request.getfixturevalue("clock").terms()} if timed else {})) as store:
        yield store
