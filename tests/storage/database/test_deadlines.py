"""Calls to a database that hangs: each ends in time, nothing else waits for it, and it is used again once it answers."""

import asyncio
import sqlite3
import threading
import time
from concurrent.futures import wait
from contextlib import asynccontextmanager

import pytest
from sqlalchemy import insert, select, text

from showandtell.errors import StorageFailed
from showandtell.storage.database.calls import NoAnswer, Timeouts
from showandtell.storage.database.database import Database
from showandtell.storage.database.tables import preferences
from support.freezing import freezing_proxy
from support.postgres import ready_database

pytestmark = pytest.mark.anyio
QUICK = Timeouts(call=1.0, doubt=0.2, probe=0.3, pause=0.1)
#: Seconds; only what hangs takes longer, even on a busy machine.
TIMEOUT = 30
SELECT_ONE = text("SELECT 1")


def put(owner):
    """A transaction that stores one row."""
    return lambda connection: connection.execute(insert(preferences).values(owner=owner, record="{}"))


async def owners(database):
    return {row[0] for row in await database.read(select(preferences.c.owner))}


async def until(found):
    async with asyncio.timeout(TIMEOUT):
        while not await found():  # noqa: ASYNC110 - the database makes it true
            await asyncio.sleep(0.02)


async def opens(database):
    """Whether it opens; on a busy machine it may need longer than a test's quick timeouts."""
    try:
        await database.open()
    except NoAnswer:
        return False
    return True


@asynccontextmanager
async def postgres(folder, timeouts=QUICK):
    """A database behind a proxy that can freeze it."""
    with freezing_proxy(ready_database("postgresql", folder), folder) as proxy:
        database = Database(proxy.url, timeouts)
        await until(lambda: opens(database))
        try:
            yield database, proxy
        finally:
            await asyncio.wait_for(database.close(), TIMEOUT)


async def fails(calls):
    """How long many calls at once take, each of which must fail because the database doesn't answer."""
    started = time.monotonic()
    async with asyncio.timeout(TIMEOUT):
        for error in await asyncio.gather(*calls, return_exceptions=True):
            assert isinstance(error, NoAnswer), error
            assert "does not answer" in str(error)
    return time.monotonic() - started


@pytest.mark.parametrize("calls", [1, 100])
async def test_all_calls_to_a_database_that_hangs_fail_in_time(calls, tmp_path):
    async with postgres(tmp_path) as (database, proxy):
        await database.read(SELECT_ONE)
        proxy.freeze()
        await fails(database.read(SELECT_ONE) for _ in range(calls))
        await fails(database.write(put(f"user {n}")) for n in range(calls))


async def test_a_database_that_never_answers_a_connection_fails_in_time(tmp_path):
    with freezing_proxy(ready_database("postgresql", tmp_path), tmp_path) as proxy:
        proxy.freeze()
        database = Database(proxy.url, QUICK)
        with pytest.raises(StorageFailed, match="does not answer"):
            await asyncio.wait_for(database.open(), TIMEOUT)


async def test_while_it_is_known_to_hang_calls_fail_without_waiting(tmp_path):
    async with postgres(tmp_path) as (database, proxy):
        proxy.freeze()
        await fails([database.read(SELECT_ONE)])
        before = proxy.connections
        assert await fails(database.write(put("ann")) for _ in range(1000)) < QUICK.call
        assert proxy.connections <= before + 20  # of probes


async def test_a_database_that_answers_again_is_used_again(tmp_path):
    async with postgres(tmp_path) as (database, proxy):
        proxy.freeze()
        await fails(database.read(SELECT_ONE) for _ in range(50))
        proxy.thaw()
        await until(lambda: reads(database))
        await database.write(put("ann"))
        assert await owners(database) == {"ann"}


async def test_connections_that_hang_before_they_are_ready_do_not_keep_it_from_being_used_again(tmp_path):
    async with postgres(tmp_path) as (database, proxy):
        proxy.swallow()
        await fails(database.read(SELECT_ONE) for _ in range(20))
        await fails([database.write(put("ann"))])
        proxy.fail_over()
        await until(lambda: reads(database))


async def test_threads_that_cannot_be_freed_are_replaced(tmp_path):
    async with postgres(tmp_path) as (database, _):
        go, calls = threading.Event(), database._writing
        stuck = [calls.run(go.wait, TIMEOUT) for _ in range(15)]
        await asyncio.gather(*stuck, return_exceptions=True)
        await until(lambda: reads(database))
        await until(lambda: asyncio.sleep(0, len(calls._hanging) == 15))
        go.set()
        await until(lambda: asyncio.sleep(0, not calls._hanging))


async def test_cancelled_reads_that_hang_do_not_keep_it_from_being_used_again(tmp_path):
    async with postgres(tmp_path, Timeouts(call=2.0, doubt=1.0, probe=0.3, pause=0.1)) as (database, proxy):
        await database.read(SELECT_ONE)
        proxy.swallow()
        tasks = [asyncio.create_task(database.read(SELECT_ONE)) for _ in range(15)]
        await until(lambda: asyncio.sleep(0, proxy.swallowed >= 15))
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        proxy.fail_over()
        await until(lambda: reads(database))


async def test_threads_that_waited_for_it_come_back_while_it_hangs(tmp_path):
    async with postgres(tmp_path) as (database, proxy):
        proxy.freeze()
        reads = asyncio.gather(*(database.read(SELECT_ONE) for _ in range(100)), return_exceptions=True)
        await asyncio.sleep(0)
        threads = [call.future for call in database._writing._open]
        await reads
        assert len(threads) == 100
        await asyncio.to_thread(wait, threads, TIMEOUT)
        assert all(future.done() for future in threads)


async def test_a_write_that_had_not_begun_is_never_stored(tmp_path):
    async with postgres(tmp_path) as (database, proxy):
        proxy.freeze()
        await fails(database.write(put(f"user {n}")) for n in range(100))
        proxy.thaw()
        await until(lambda: answers(database))
        # What had begun may be stored; each used a connection of its own.
        assert len(await owners(database)) <= 15


async def reads(database):
    try:
        return await database.read(SELECT_ONE)
    except NoAnswer:
        return None


async def answers(database):
    try:
        await database.check()
    except NoAnswer:
        return False
    return True


async def test_a_slow_statement_ends_alone(tmp_path):
    async with postgres(tmp_path) as (database, _):
        slow = asyncio.create_task(database.read(text("SELECT pg_sleep(60)")))
        while not slow.done():
            await database.read(SELECT_ONE)
            await asyncio.sleep(0.01)
        with pytest.raises(NoAnswer, match="took longer than 1 s"):
            await slow
        assert await database.read(SELECT_ONE)


async def test_the_server_itself_ends_a_statement_that_nobody_waits_for(tmp_path):
    async with postgres(tmp_path) as (database, _):
        rows = await database.read(text("SELECT name, setting::int FROM pg_settings WHERE name LIKE '%timeout'"))
        limits = dict(map(tuple, rows))
        assert 0 < limits["lock_timeout"] < limits["statement_timeout"] < 1000 * Timeouts().call
        assert limits["idle_in_transaction_session_timeout"] > 0


async def test_a_call_may_be_given_more_time(tmp_path):
    async with postgres(tmp_path) as (database, _):
        await database.read(text("SELECT pg_sleep(1.5)"), TIMEOUT)
        await database.write(lambda connection: connection.execute(text("SELECT pg_sleep(1.5)")), within=TIMEOUT)


async def test_a_database_that_hangs_can_be_closed(tmp_path):
    async with postgres(tmp_path) as (database, proxy):
        calls = [asyncio.create_task(database.read(SELECT_ONE)) for _ in range(3)]
        proxy.freeze()
        await asyncio.wait_for(database.close(), TIMEOUT)
        await asyncio.gather(*calls, return_exceptions=True)


async def test_a_writer_that_hangs_on_sqlite_lets_readers_read_and_others_fail_in_time(tmp_path):
    database, go = Database(ready_database("sqlite", tmp_path), QUICK), threading.Event()
    await database.open()
    stuck = asyncio.create_task(database.write(lambda _: go.wait(TIMEOUT)))
    await fails(database.write(put(f"user {n}")) for n in range(20))
    assert await owners(database) == set()
    go.set()
    with pytest.raises(NoAnswer):
        await stuck
    await until(lambda: answers(database))
    await database.write(put("ann"))
    assert await owners(database) == {"ann"}
    await database.close()


async def test_a_slow_call_on_sqlite_has_its_own_time(tmp_path):
    database, begun, go = Database(ready_database("sqlite", tmp_path), QUICK), threading.Event(), threading.Event()
    await database.open()
    slow = asyncio.create_task(database.write(lambda _: begun.set() or go.wait(TIMEOUT), within=TIMEOUT))
    await until(lambda: asyncio.sleep(0, begun.is_set()))
    with pytest.raises(NoAnswer, match="took longer than 1 s") as raised:
        await database.write(put("ann"))
    assert not raised.value.may_be_stored
    await database.check()
    go.set()
    assert await slow
    assert await owners(database) == set()
    await database.close()


async def test_a_write_that_ran_in_the_transaction_of_another_may_be_stored(tmp_path):
    database, begin, go = Database(ready_database("sqlite", tmp_path), QUICK), threading.Event(), threading.Event()
    await database.open()
    works = [lambda _: begin.wait(TIMEOUT), put("ann"), lambda _: go.wait(TIMEOUT)]
    writes = [asyncio.create_task(database.write(work)) for work in works]
    await asyncio.sleep(0)
    begin.set()
    _, error, _ = await asyncio.gather(*writes, return_exceptions=True)
    assert isinstance(error, NoAnswer)
    assert error.may_be_stored
    go.set()
    await until(lambda: owners(database))
    await database.close()


async def test_a_write_whose_connection_is_lost_may_be_stored(tmp_path):
    def lose(connection):
        put("ann")(connection)
        database._in_use.cut(threading.get_ident())

    async with postgres(tmp_path) as (database, _):
        with pytest.raises(StorageFailed, match="does not answer") as raised:
            await database.write(lose)
        assert raised.value.may_be_stored


async def test_another_process_that_keeps_the_lock_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr("showandtell.storage.database.connect.PRAGMAS", ("PRAGMA busy_timeout=100",))
    url = ready_database("sqlite", tmp_path)
    database, other = Database(url), sqlite3.connect(f"{tmp_path}/test.db", isolation_level=None)
    await database.open()
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(StorageFailed, match="locked"):
        await database.write(put("ann"))
    other.execute("ROLLBACK")
    await database.write(put("ann"))
    await database.close()
    other.close()
