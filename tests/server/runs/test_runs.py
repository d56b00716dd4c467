"""Runs: many readers, several workers, stops from any of them, takeovers, one run per conversation."""

import asyncio
from contextlib import asynccontextmanager, suppress
from time import process_time

import pytest
from msgspec import structs
from sqlalchemy import update

from showandtell.errors import Busy, LeaseLost, MissingKey, StorageFailed
from showandtell.server.runs import manager as running
from showandtell.server.runs import orphans, takeover
from showandtell.server.runs.live_run import RunRequest
from showandtell.server.runs.manager import Runs
from showandtell.server.runs.stream_buffer import StreamBuffer, StreamInterrupted
from showandtell.storage.conversations import runs as rows
from showandtell.storage.database.tables import messages
from showandtell.storage.uncancelled import shielded
from support.postgres import each_database
from support.stores import Place, Time, add_run, post, user_draft

pytestmark = pytest.mark.anyio
START = b"data: start\n\n"
YEAR = 365 * 24 * 3600


@pytest.fixture
def place(database, tmp_path):
    return Place(database, tmp_path)


class ScriptedJob:
    """A run job that streams the chunks of a test."""

    def __init__(self):
        self.chunks, self.seen = asyncio.Queue(), []

    async def __call__(self, live):
        self.seen.append(live)
        async with live.conversation.turn:
            await post(live.conversation, user_draft("hello"))
            live.buffer.write(START)
            live.started.set()
            while (chunk := await self.chunks.get()) is not None:
                live.buffer.write(chunk)
            live.final_chunk = b"data: [DONE]\n\n"


@asynccontextmanager
async def workers(place, count=2):
    """Workers on one database, each with its own store, as (store, runs, job)."""
    from contextlib import AsyncExitStack

    async with AsyncExitStack() as stack:
        started = []
        for _ in range(count):
            store = await stack.enter_async_context(place.store())
            job = ScriptedJob()
            started.append((store, await stack.enter_async_context(Runs(store, job)), job))
        yield started


async def read(stream):
    """All chunks up to the end of a stream, or until it breaks off."""
    output = b""
    with suppress(StreamInterrupted):
        async for chunk in stream:
            output += chunk
    return output


async def start(worker, client_id=None):
    store, runs, _ = worker
    conversation = await store.create()
    live = await runs.start(conversation, "local", "inspector", client_id, RunRequest())
    await live.started.wait()
    return live.row, live


@each_database
async def test_every_reader_of_every_worker_gets_the_complete_stream(place):
    async with workers(place) as (one, two):
        row, _ = await start(one)
        readers = [asyncio.create_task(read(runs.follow(row, late=True))) for _, runs, _ in (one, two, one, two)]
        for word in (b"data: a\n\n", b"data: b\n\n", None):
            one[2].chunks.put_nowait(word)
        assert set(await asyncio.gather(*readers)) == {START + b"data: a\n\ndata: b\n\ndata: [DONE]\n\n"}


@each_database
async def test_the_next_run_may_start_as_soon_as_the_stream_has_ended(place):
    async with workers(place) as (one, two):
        row, live = await start(one)
        with pytest.raises(Busy):
            await two[1].start(live.conversation, "local", "inspector", None, RunRequest())
        one[2].chunks.put_nowait(None)
        await read(one[1].follow(row, late=False))
        again = await one[1].start(live.conversation, "local", "inspector", None, RunRequest())
        one[2].chunks.put_nowait(None)
        assert again is not None


@each_database
async def test_a_message_sent_twice_is_one_run(place):
    async with workers(place) as (one, two):
        row, live = await start(one, "m1")
        for _ in ("running", "ended"):
            with pytest.raises(rows.RunRefused):
                await two[1].start(live.conversation, "local", "inspector", "m1", RunRequest())
            one[2].chunks.put_nowait(None)
            await read(one[1].follow(row, late=False))


@each_database
async def test_a_run_is_stopped_from_any_worker(place):
    async with workers(place) as (one, two):
        row, live = await start(one)
        await two[1].stop(row)
        await asyncio.wait_for(live.task, 60)
        assert (await rows.find(two[0].database, row.id)).state == "ended"


@each_database
async def test_a_stopping_worker_releases_its_runs_to_another(place, monkeypatch):
    monkeypatch.setattr(running, "GRACE", 0)
    async with workers(place, 1) as (two,):
        async with workers(place, 1) as (one,):
            row, _ = await start(one)
            reader = asyncio.create_task(read(two[1].follow(row, late=True)))
            await one[1].store_now()
        await two[1].adopt_orphans()
        output = (await asyncio.wait_for(reader, 60)).replace(orphans.WORKER_LOST, b"")
        assert output in (b"", START)  # the stream breaks off before its end
        taken = await rows.find_running(two[0].database, row.conversation_id)
        assert (taken.worker, taken.tries) == (two[1].worker, 1)
        two[2].chunks.put_nowait(None)
        assert (await read(two[1].follow(taken, late=True))).endswith(b"[DONE]\n\n")


@each_database
async def test_an_abandoned_turn_stores_nothing_more(place):
    async with place.store() as store:
        conversation = await store.create()
        async with conversation.turn:
            await conversation.abandon()
            with pytest.raises(LeaseLost):
                await post(conversation, user_draft("too late"))
        assert (await store.open(conversation.id)).messages == []


@each_database
async def test_an_orphan_that_stored_nothing_is_deleted(place):
    async with workers(place, 1) as (one,):
        conversation = await one[0].create()
        dead = rows.RunRow(
            "run_1", conversation.id, "local", "m1", None, None, "inspector", "running", 0, "w@x/1/2", 0.0, 0, 0.0, None
        )
        await add_run(one[0].database, dead)
        await one[1].adopt_orphans()
        assert await rows.find(one[0].database, "run_1") is None


async def test_a_late_reader_gets_the_opening_in_place_of_the_start():
    buffer = StreamBuffer(b"data: all that was before\n\n")
    for piece in (START, b"data: a\n\n"):
        buffer.write(piece)
    buffer.finish()
    assert await read(buffer.follow()) == START + b"data: a\n\n"
    assert await read(buffer.follow(late=True)) == b"data: all that was before\n\ndata: a\n\n"


async def test_idle_streams_get_a_heartbeat_and_readers_do_not_block_each_other():
    buffer = StreamBuffer()
    slow, fast = buffer.follow(), buffer.follow()
    buffer.write(START)
    assert [await anext(slow), await anext(fast)] == [START, START]
    waiting = asyncio.create_task(anext(fast))
    await asyncio.sleep(0)
    buffer.heartbeat()
    assert await waiting == b":\n\n"
    for number in range(3):
        buffer.write(b"%d" % number)
    assert await anext(fast) == b"012" == await anext(slow)


def row_of(conversation, **known):
    """A run as another worker stored it."""
    row = rows.RunRow(
        "run_1", conversation.id, "local", "m1", None, None, "inspector", "running", 0, "w@x/1/2", 0.0, 0, 0.0, None
    )
    return structs.replace(row, **known)


@each_database
async def test_a_worker_stopping_during_an_outage_stores_no_cancellation(place, monkeypatch):
    monkeypatch.setattr(running, "GRACE", 0)
    async with workers(place, 1) as (two,):
        async with workers(place, 1) as (one,):
            row, _ = await start(one)
            write = one[0].database.write
            monkeypatch.setattr(one[0].database, "write", away)
        monkeypatch.setattr(one[0].database, "write", write)
        left = await rows.find(two[0].database, row.id)
        assert (left.state, left.status) == ("running", None)
        assert len((await two[0].open(row.conversation_id)).messages) == 1


async def away(_):
    """A write without a database."""
    raise StorageFailed("the database is away: try again")


@each_database
async def test_a_run_is_cancelled_once_however_often_it_is_stopped(place):
    async with workers(place, 1) as (one,):
        row, live = await start(one)
        cancelled = []
        live.task.cancel = lambda: cancelled.append(1)
        await rows.request_stop(one[0].database, row.id)
        for _ in range(3):
            await one[1].store_now()
            await one[1].stop(row)
        assert cancelled == [1]
        one[2].chunks.put_nowait(None)
        await live.task


@each_database
async def test_an_orphan_whose_user_may_no_longer_write_ends(place):
    async with workers(place, 1) as (one,):
        conversation = await one[0].create("owner")
        await post(conversation, user_draft("hello"))
        await add_run(one[0].database, row_of(conversation, user_id="guest"))
        await one[1].adopt_orphans()
        assert (await rows.find(one[0].database, "run_1")).state == "ended"
        assert await rows.find_running(one[0].database, conversation.id) is None


async def test_a_clock_jump_takes_no_run_from_a_live_worker(tmp_path):
    time = Time()
    place = Place("sqlite", tmp_path)
    async with (
        place.store(terms=time.terms()) as store,
        Runs(store, ScriptedJob()) as one,
        Runs(store, ScriptedJob()) as two,
    ):
        live = await one.start(await store.create(), "local", "inspector", None, RunRequest())
        await live.wait_started()
        for year in (-YEAR, 2 * YEAR, -YEAR):
            time.now += year
            for _ in range(5):
                await two.adopt_orphans()
                await one.store_now()
        assert (await rows.find(store.database, live.row.id)).worker == one.worker


@each_database
async def test_a_worker_resumes_a_run_that_it_lost_track_of(place, monkeypatch):
    monkeypatch.setattr(orphans, "SILENT_SECONDS", 0)
    async with workers(place, 1) as (one,):
        conversation = await one[0].create()
        await post(conversation, user_draft("hello"))
        await add_run(one[0].database, row_of(conversation, worker=one[1].worker, beat=1.0))
        await one[1].adopt_orphans()
        taken = await rows.find(one[0].database, "run_1")
        assert (taken.tries, one[1].live_count) == (1, 1)
        one[2].chunks.put_nowait(None)
        await until_idle(one[1])


async def until_idle(runs):
    while runs.live_count:  # noqa: ASYNC110 - it ends by itself
        await asyncio.sleep(0.01)


@each_database
async def test_deleting_a_conversation_ends_its_run_and_disconnects_readers(place):
    async with workers(place) as (one, two):
        row, live = await start(one)
        readers = [asyncio.create_task(read(runs.follow(row, late=True))) for _, runs, _ in (one, two)]
        await one[1].store_now()
        await one[0].delete(row.conversation_id)
        live.buffer.write(b"data: more\n\n")
        await one[1].store_now()
        await asyncio.wait_for(asyncio.gather(live.task, *readers), 60)
        assert (one[1].live_count, one[1].readers, two[1].readers) == (0, 0, 0)


async def test_a_stream_of_twenty_megabytes_takes_linear_time(tmp_path):
    async with workers(Place("sqlite", tmp_path), 1) as (one,):
        row, live = await start(one)
        reader = asyncio.create_task(read(one[1].follow(row, late=False)))
        begun = process_time()
        for number in range(20_000):
            live.buffer.write(b"data: %d %s\n\n" % (number, b"x" * 1000))
            if number % 500 == 0:
                await asyncio.sleep(0)
                await one[1].store_now()
        one[2].chunks.put_nowait(None)
        assert len(await reader) > 20_000_000
        assert process_time() - begun < 2


async def test_readers_do_not_wait_for_writes(tmp_path, monkeypatch):
    async with workers(Place("sqlite", tmp_path), 1) as (one,):
        row, live = await start(one)
        go, write = asyncio.Event(), one[0].database.write

        async def slow(work):
            await go.wait()
            return await write(work)

        monkeypatch.setattr(one[0].database, "write", slow)
        storing = asyncio.create_task(one[1].store_now())
        reader = one[1].follow(row, late=False)
        for word in (b"data: a\n\n", b"data: b\n\n"):
            live.buffer.write(word)
            assert (await anext(reader)).endswith(word)
        await reader.aclose()
        assert (live.buffer.readers, storing.done()) == (0, False)
        go.set()
        await storing
        one[2].chunks.put_nowait(None)
        await live.task


@each_database
async def test_a_run_of_an_unreadable_conversation_is_given_up_and_servers_still_start(place):
    async with place.store() as store:
        conversation, other = await store.create(), await store.create()
        for one, name in ((conversation, "run_1"), (other, "run_2")):
            await post(one, user_draft("hello"))
            await add_run(store.database, row_of(one, id=name))
        damage = update(messages).values(record="{broken").where(messages.c.conversation_id == conversation.id)
        await store.database.write(lambda connection: connection.execute(damage))
        async with Runs(store, ScriptedJob()) as runs:
            assert runs.live_count == 1
            await release_until_ended(store.database, runs, "run_1")
        assert (await rows.find(store.database, "run_1")).reason == takeover.GIVEN_UP


async def release_until_ended(database, runs, run_id):
    """Make a run an orphan and adopt it, until it has ended."""
    while (await rows.find(database, run_id)).state != "ended":
        gone = update(rows.r).where(rows.r.c.id == run_id).values(worker="w@x/1/2", beat=0.0)
        await database.write(lambda connection, gone=gone: connection.execute(gone))
        await runs.adopt_orphans()


@each_database
async def test_a_run_that_fails_right_after_a_takeover_is_stored_as_failed(place):
    async def fail(_):
        raise MissingKey("set ANTHROPIC_API_KEY")

    async with place.store() as store:
        conversation = await store.create()
        await post(conversation, user_draft("hello"))
        await add_run(store.database, row_of(conversation))
        async with Runs(store, fail) as runs:
            await until_idle(runs)
        ended = await rows.find(store.database, "run_1")
        assert (ended.state, ended.status, ended.reason) == ("ended", "error", "set ANTHROPIC_API_KEY")


@each_database
@pytest.mark.parametrize("known", [{"tries": takeover.MAX_TRIES}, {"stop": 1}])
async def test_a_run_that_is_given_up_names_its_message(place, known):
    async with workers(place, 1) as (one,):
        conversation = await one[0].create()
        await post(conversation, user_draft("hello"))
        await add_run(one[0].database, row_of(conversation, **known))
        await one[1].adopt_orphans()
        ended = await rows.find(one[0].database, "run_1")
        assert (ended.state, ended.message_id) == ("ended", conversation.head)


@each_database
async def test_an_unexpected_error_disconnects_readers_and_stops_no_background_job(place, monkeypatch):
    async with workers(place, 1) as (one,):
        row, _ = await start(one)
        reader = asyncio.create_task(read(one[1].follow(row, late=False)))
        write = rows.write_log
        monkeypatch.setattr(rows, "write_log", unexpected)
        one[2].chunks.put_nowait(None)
        assert (await asyncio.wait_for(reader, 60)).endswith(b"[DONE]\n\n")
        monkeypatch.setattr(rows, "write_log", write)
        await until_idle(one[1])  # the repeated job stores its end
        assert (await rows.find(one[0].database, row.id)).state == "ended"


async def unexpected(*_):
    raise ValueError("not one of ours")


@each_database
async def test_an_update_whose_commit_was_not_confirmed_is_stored_again_unchanged(place, monkeypatch):
    async with workers(place) as (one, two):
        row, live = await start(one)
        reader, write = asyncio.create_task(read(two[1].follow(row, late=False))), rows.write_log

        async def unheard(*asked):
            await write(*asked)
            raise StorageFailed("the connection broke")

        for word in (b"data: a\n\n", b"data: b\n\n"):
            monkeypatch.setattr(rows, "write_log", unheard)
            live.buffer.write(word)
            with pytest.raises(StorageFailed):
                await one[1].store_now()
        monkeypatch.setattr(rows, "write_log", write)
        one[2].chunks.put_nowait(None)
        assert await asyncio.wait_for(reader, 60) == START + b"data: a\n\ndata: b\n\ndata: [DONE]\n\n"


@each_database
async def test_nothing_of_a_remote_run_is_kept_after_its_last_reader(place):
    async with workers(place) as (one, two):
        row, _ = await start(one)
        reader = asyncio.create_task(read(two[1].follow(row, late=True)))
        one[2].chunks.put_nowait(None)
        await asyncio.wait_for(reader, 60)
        await asyncio.sleep(0)
        assert (two[1]._notifications._events, list(two[1]._remote.buffers)) == ({}, [])


@each_database
async def test_readers_of_a_lost_run_get_a_notice_and_the_stream_of_the_next_worker(place, monkeypatch):
    monkeypatch.setattr(running, "CHECK_SECONDS", 1000)
    async with workers(place) as (one, two):
        row, _ = await start(one)
        await one[1].store_now()
        reader = two[1].follow(row, late=True)
        assert await anext(reader) == START
        monkeypatch.setattr(orphans, "LOST_SECONDS", 0)
        await two[1].adopt_orphans()
        reconnected = two[1].follow(row, late=True)
        assert [await anext(reader), await anext(reconnected)] == [orphans.WORKER_LOST] * 2
        monkeypatch.setattr(orphans, "SILENT_SECONDS", 0)
        await two[1].adopt_orphans()
        two[2].chunks.put_nowait(None)
        assert await read(reconnected) == orphans.WORKER_FOUND + START + b"data: [DONE]\n\n"
        assert await read(reader) in {b"", orphans.WORKER_LOST}  # it broke off


async def test_silence_counts_from_the_first_check_and_anew_after_a_pause(tmp_path):
    async with Place("sqlite", tmp_path).store() as store:
        row = row_of(await store.create(), worker="w@elsewhere/1/2", beat=1.0)
        watch = orphans.Orphans(store.database, "mine", {}, None, None)
        for second in range(10):
            watch.observe([row], second)
            assert (watch.is_lost(row), watch.is_orphan(row)) == (second >= 3, False)
        watch.observe([row], 10)
        assert watch.is_orphan(row)
        watch.observe([row], 20)  # this worker, or the database, stood still: the other one may be alive
        assert not watch.is_lost(row)
        watch.observe([structs.replace(row, beat=2.0)], 31)
        assert not watch.is_orphan(structs.replace(row, beat=2.0))


@each_database
async def test_a_worker_stops_in_time_when_the_database_hangs(place, monkeypatch):
    monkeypatch.setattr(running, "GRACE", 0)
    hung = asyncio.Event()

    async def hang(_):
        hung.set()
        await shielded(asyncio.Event().wait())  # like a transaction in a thread, it can't be cancelled

    async with workers(place, 1) as (one,):
        row, _ = await start(one)
        reader = asyncio.create_task(read(one[1].follow(row, late=False)))
        monkeypatch.setattr(one[0].database, "write", hang)
        async with asyncio.timeout(60):
            await one[1].__aexit__(None, None, None)
        assert (await reader, hung.is_set()) == (START, True)


async def test_a_late_reader_of_a_remote_run_gets_its_opening(tmp_path):
    async with workers(Place("sqlite", tmp_path)) as (one, two):
        row, live = await start(one)
        live.buffer.opening = b"data: start and more\n\n"
        reader = asyncio.create_task(read(two[1].follow(row, late=True)))
        one[2].chunks.put_nowait(None)
        assert await asyncio.wait_for(reader, 60) == b"data: start and more\n\ndata: [DONE]\n\n"
