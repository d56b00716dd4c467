"""A real server, and a PostgreSQL all of whose processes are stopped while users work."""

import asyncio
import contextlib
import time
from pathlib import Path

import pytest
from frozen import DEADLINE, FREE, SECONDS, Footprint, Workload, frozen_process

from support.postgres import ready_database, server
from support.server_process import running

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(SECONDS + 600)]
USERS = 20
#: Seconds after a signal by which the server has ended.
STOP = 4.0


def processes():
    """The postmaster of the tests' PostgreSQL and its children, the ones it has started until now."""
    postmaster = server().get_pid()
    return [postmaster, *map(int, Path(f"/proc/{postmaster}/task/{postmaster}/children").read_text().split())]


@contextlib.contextmanager
def frozen_database():
    """Nothing that belongs to PostgreSQL runs inside the context."""
    with contextlib.ExitStack() as stack:
        for pid in processes():
            with contextlib.suppress(ProcessLookupError):
                stack.enter_context(frozen_process(pid))
        yield


async def test_requests_fail_in_time_while_the_database_is_frozen_and_work_again_after(tmp_path):
    url = ready_database("postgresql", tmp_path)
    async with running(tmp_path, "--database", url, "--rate", FREE) as program:
        user = {"authorization": f"Bearer {program.token}"}
        async with Workload(program.url, [user] * USERS) as work:
            await work.until(USERS)
            before = Footprint.of(program.process.pid)
            with frozen_database(), work.during() as frozen:
                await asyncio.sleep(SECONDS)
                longest = Footprint.of(program.process.pid)
            await work.until(USERS)
        print(f"\n{work.summary(frozen)}\n{before}\n{longest}")  # noqa: T201 - the figures
        assert not work.late(frozen, DEADLINE)
        assert not work.failed(frozen, {"health"})
        assert {one.status for one in work.failed(frozen)} <= {200, 503}
        await before.returns(program.process.pid)


async def test_a_signal_ends_the_server_while_its_database_is_frozen(tmp_path):
    url = ready_database("postgresql", tmp_path)
    seconds = float("inf")
    async with running(tmp_path, "--database", url, "--rate", FREE) as program:
        user = {"authorization": f"Bearer {program.token}"}
        with contextlib.suppress(Exception):  # its users lose their connections
            async with Workload(program.url, [user] * USERS) as work:
                await work.until(1)
                with frozen_database():
                    await asyncio.sleep(1)
                    started = time.monotonic()
                    await program.end()
                    seconds = time.monotonic() - started
    assert seconds < STOP
