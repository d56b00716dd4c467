"""Isolates test runs: without the user's settings and keys, with the same examples each time, without leftovers."""

import gc
import os
import signal
import sys
from collections.abc import Generator

import pytest
from hypothesis import settings

from support import run_cleanup

run_cleanup.begin()
os.environ["XDG_CONFIG_HOME"] = f"{os.environ[run_cleanup.RUN]}/config"
os.environ["XDG_DATA_HOME"] = f"{os.environ[run_cleanup.RUN]}/data"
for name in [name for name in os.environ if name.startswith("SHOWANDTELL_") or name.endswith("_API_KEY")]:
    del os.environ[name]

# nohup and background shells ignore these signals, and programs started by tests would inherit that.
signal.signal(signal.SIGHUP, signal.SIG_DFL)
signal.signal(signal.SIGINT, signal.default_int_handler)

# The same examples on every machine and every day: a few while you edit, more in `make test`.
# `make stress` searches at random. Add its findings as `@example`.
settings.register_profile("few", deadline=None, derandomize=True, database=None, max_examples=10)
settings.register_profile("same", deadline=None, derandomize=True, database=None, max_examples=15)
settings.register_profile("search", deadline=None, database=None, max_examples=1000, print_blob=True)
settings.load_profile("few")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Divide the page's scenarios among the test processes, and begin with the test that takes longest.

    Scenarios wait for the browser most of the time: one process alone would take the longest for them.
    """
    processes = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    items.sort(key=lambda item: item.path.name != "test_run_cleanup.py")
    scenarios = [item for item in items if item.path.name == "test_page.py"]
    others = [item for item in items if item.path.name != "test_page.py"]
    items.clear()
    for process in range(processes):  # at another time in each
        own = share(others, process, processes)
        at = len(own) * process // processes
        items += [*own[:at], *share(scenarios, process, processes), *own[at:]]


def share(items: list[pytest.Item], number: int, count: int) -> list[pytest.Item]:
    """The items of one of `count` equal and contiguous parts."""
    start, end = (len(items) * at // count for at in (number, number + 1))
    return items[start:end]


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Exclude the tests and their imports from garbage collection: they stay until the end."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()
        gc.set_threshold(1000, 10, 100)  # the oldest generation, which lasts longest, a tenth as often


@pytest.hookimpl(wrapper=True)
def pytest_sessionfinish(session: pytest.Session) -> Generator[None]:
    """Close shared resources in each test process. The run fails if a child process outlives it."""
    yield
    if "showandtell.media.gate" in sys.modules:
        sys.modules["showandtell.media.gate"].close()
    try:
        run_cleanup.at_end.close()
    except AssertionError as error:
        print(f"\n{error}", file=sys.stderr)  # noqa: T201 - pytest's report has ended
        session.exitstatus = session.exitstatus or pytest.ExitCode.TESTS_FAILED
