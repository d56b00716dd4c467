"""Runs of a server: many readers, other workers, stop from anywhere, a worker that dies, one run a conversation."""

import asyncio
from contextlib import asynccontextmanager
from time import process_time

import pytest
from msgspec import structs
from sqlalchemy import update

from showandtell.errors import Busy, LeaseLost, MissingKey, StorageFailed
from showandtell.server.runs import manager as running
from showandtell.server.runs.live_run import RunRequest
from showandtell.server.runs.manager import Runs
from showandtell.server.runs.stream_buffer import StreamBuffer
from showandtell.storage.conversations import runs as rows
from showandtell.storage.database.tables import messages
from support.postgres import each_database
from support.stores import Place, Time, post, said

pytestmark = pytest.mark.anyio
START = b"data: start\n\n"
YEAR = 365 * 24 * 3600


@pytest.fixture
def place(database, tmp_path):
    return Place(database, tmp_path)


class Speaker:
    """The work of runs, which says what a test wants it to say."""

    def __init__(self):
        self.said, self.words, self.seen = asyncio.Event(), asyncio.Queue(), []

    async def __call__(self, going):
        self.seen.append(going)
        async with going.conversation.turn:
            await post(going.conversation, said("hello"))
            going.tape.say(START)
            going.begun.set()
            while (word := await self.words.get()) is not None:
                going.tape.say(word)
            going.last = b"data: [DONE]\n\n"


@asynccontextmanager
async def workers(place, count=2):
    """As many workers on one database, each with a store of its own."""
    from contextlib import AsyncExitStack

    async with AsyncExitStack() as stack:
        found = []
        for _ in range(count):
            store = await stack.enter_async_context(place.store())
            speaker = Speaker()
            found.append((store, await stack.enter_async_context(Runs(store, speaker)), speaker))
        yield found


async def read(stream):
    return b"".join([piece async for piece in stream])


async def begin(worker, client_id=None):
    store, runs, _ = worker
    conversation = await store.create()
    row, going = await runs.begin(conversation, "local", "inspector", client_id, RunRequest())
    await going.begun.wait()
    return row, going


@each_database
async def test_every_reader_of_every_worker_gets_the_whole_stream(place):
    async with workers(place) as (one, two):
        row, _ = await begin(one)
        readers = [asyncio.create_task(read(runs.follow(row, late=True))) for _, runs, _ in (one, two, one, two)]
        for word in (b"data: a\n\n", b"data: b\n\n", None):
            one[2].words.put_nowait(word)
        assert set(await asyncio.gather(*readers)) == {START + b"data: a\n\ndata: b\n\ndata: [DONE]\n\n"}


@each_database
async def test_the_next_run_may_begin_as_soon_as_the_stream_has_ended(place):
    async with workers(place) as (one, two):
        row, going = await begin(one)
        with pytest.raises(Busy):
            await two[1].begin(going.conversation, "local", "inspector", None, RunRequest())
        one[2].words.put_nowait(None)
        await read(one[1].follow(row, late=False))
        _, again = await one[1].begin(going.conversation, "local", "inspector", None, RunRequest())
        one[2].words.put_nowait(None)
        assert again is not None


@each_database
async def test_the_same_message_twice_is_one_run(place):
    async with workers(place) as (one, two):
        row, going = await begin(one, "m1")
        same, none = await two[1].begin(going.conversation, "local", "inspector", "m1", RunRequest())
        assert (same.id, none) == (row.id, None)
        one[2].words.put_nowait(None)
        await read(one[1].follow(row, late=False))
        after, none = await two[1].begin(going.conversation, "local", "inspector", "m1", RunRequest())
        assert (after.id, after.state, none) == (row.id, "ended", None)


@each_database
async def test_a_run_is_stopped_from_any_worker(place):
    async with workers(place) as (one, two):
        row, going = await begin(one)
        await two[1].stop(row)
        await asyncio.wait_for(going.task, 60)
        assert (await rows.find(two[0].database, row.id)).state == "ended"


@each_database
async def test_a_worker_that_ends_leaves_its_runs_to_another_which_tells_them_anew(place, monkeypatch):
    monkeypatch.setattr(running, "GRACE", 0)
    async with workers(place, 1) as (two,):
        async with workers(place, 1) as (one,):
            row, _ = await begin(one)
            reader = asyncio.create_task(read(two[1].follow(row, late=True)))
            await one[1].store_now()
        await two[1].look_for_orphans()
        assert await asyncio.wait_for(reader, 60) in (b"", START)  # it ends without its end
        taken = await rows.find_running(two[0].database, row.conversation_id)
        assert (taken.worker, taken.tries) == (two[1].worker, 1)
        two[2].words.put_nowait(None)
        assert (await read(two[1].follow(taken, late=True))).endswith(b"[DONE]\n\n")


@each_database
async def test_what_is_left_in_the_midst_of_a_run_stores_nothing_more(place):
    async with place.store() as store:
        conversation = await store.create()
        async with conversation.turn:
            await conversation.leave()
            with pytest.raises(LeaseLost):
                await post(conversation, said("too late"))
        assert (await store.open(conversation.id)).messages == []


@each_database
async def test_a_run_in_which_nothing_was_stored_is_forgotten_with_its_worker(place):
    async with workers(place, 1) as (one,):
        conversation = await one[0].create()
        dead = rows.RunRow(
            "run_1", conversation.id, "local", "m1", None, None, "inspector", "running", 0, "w@x/1/2", 0.0, 0, 0.0, None
        )
        await rows.begin(one[0].database, dead)
        await one[1].look_for_orphans()
        assert await rows.find(one[0].database, "run_1") is None


async def test_a_reader_that_comes_late_hears_the_opening_in_place_of_the_start():
    tape = StreamBuffer(b"data: all that was before\n\n")
    for piece in (START, b"data: a\n\n"):
        tape.say(piece)
    tape.end()
    assert await read(tape.follow()) == START + b"data: a\n\n"
    assert await read(tape.follow(late=True)) == b"data: all that was before\n\ndata: a\n\n"


async def test_silent_streams_get_a_sign_of_life_and_no_reader_holds_up_another():
    tape = StreamBuffer()
    slow, fast = tape.follow(), tape.follow()
    tape.say(START)
    assert [await anext(slow), await anext(fast)] == [START, START]
    waiting = asyncio.create_task(anext(fast))
    await asyncio.sleep(0)
    tape.beat()
    assert await waiting == b":\n\n"
    for number in range(3):
        tape.say(b"%d" % number)
    assert await anext(fast) == b"012" == await anext(slow)


def row_of(conversation, **known):
    """A run as another worker has stored it."""
    row = rows.RunRow(
        "run_1", conversation.id, "local", "m1", None, None, "inspector", "running", 0, "w@x/1/2", 0.0, 0, 0.0, None
    )
    return structs.replace(row, **known)


@each_database
async def test_a_worker_that_ends_while_the_database_is_away_stores_nothing_as_cancelled(place, monkeypatch):
    monkeypatch.setattr(running, "GRACE", 0)
    async with workers(place, 1) as (two,):
        async with workers(place, 1) as (one,):
            row, _ = await begin(one)
            write = one[0].database.write
            monkeypatch.setattr(one[0].database, "write", away)
        monkeypatch.setattr(one[0].database, "write", write)
        left = await rows.find(two[0].database, row.id)
        assert (left.state, left.status) == ("running", None)
        assert len((await two[0].open(row.conversation_id)).messages) == 1


async def away(_):
    """A write that finds no database."""
    raise StorageFailed("the database is away: try again")


@each_database
async def test_a_run_is_told_to_stop_once_however_often_it_is_asked(place):
    async with workers(place, 1) as (one,):
        row, going = await begin(one)
        cancelled = []
        going.task.cancel = lambda: cancelled.append(1)
        await rows.ask_to_stop(one[0].database, row.id)
        for _ in range(3):
            await one[1].store_now()
            await one[1].stop(row)
        assert cancelled == [1]
        one[2].words.put_nowait(None)
        await going.task


@each_database
async def test_a_run_whose_user_may_no_longer_write_ends_with_its_worker(place):
    async with workers(place, 1) as (one,):
        conversation = await one[0].create("owner")
        await post(conversation, said("hello"))
        await rows.begin(one[0].database, row_of(conversation, user_id="guest"))
        await one[1].look_for_orphans()
        assert (await rows.find(one[0].database, "run_1")).state == "ended"
        assert await rows.find_running(one[0].database, conversation.id) is None


async def test_a_clock_that_jumps_takes_no_run_from_a_worker_that_lives(tmp_path):
    time = Time()
    place = Place("sqlite", tmp_path)
    async with place.store(terms=time.terms()) as store, Runs(store, Speaker()) as one, Runs(store, Speaker()) as two:
        row, going = await one.begin(await store.create(), "local", "inspector", None, RunRequest())
        await going.begin()
        for year in (-YEAR, 2 * YEAR, -YEAR):
            time.now += year
            for _ in range(5):
                await two.look_for_orphans()
                await one.store_now()
        assert (await rows.find(store.database, row.id)).worker == one.worker


@each_database
async def test_a_run_that_its_own_worker_has_lost_sight_of_is_gone_on_with(place):
    async with workers(place, 1) as (one,):
        conversation = await one[0].create()
        await post(conversation, said("hello"))
        await rows.begin(one[0].database, row_of(conversation, worker=one[1].worker, beat=1.0))
        for _ in range(4):
            await one[1].look_for_orphans()
        taken = await rows.find(one[0].database, "run_1")
        assert (taken.tries, one[1].going) == (1, 1)
        one[2].words.put_nowait(None)
        await until_idle(one[1])


async def until_idle(runs):
    while runs.going:  # noqa: ASYNC110 - it ends by itself
        await asyncio.sleep(0.01)


@each_database
async def test_a_conversation_that_is_deleted_ends_its_run_and_lets_its_readers_go(place):
    async with workers(place) as (one, two):
        row, going = await begin(one)
        readers = [asyncio.create_task(read(runs.follow(row, late=True))) for _, runs, _ in (one, two)]
        await one[1].store_now()
        await one[0].delete(row.conversation_id)
        going.tape.say(b"data: more\n\n")
        await one[1].store_now()
        await asyncio.wait_for(asyncio.gather(going.task, *readers), 60)
        assert (one[1].going, one[1].readers, two[1].readers) == (0, 0, 0)


async def test_twenty_megabytes_are_told_and_stored_in_time_that_grows_with_them(tmp_path):
    async with workers(Place("sqlite", tmp_path), 1) as (one,):
        row, going = await begin(one)
        reader = asyncio.create_task(read(one[1].follow(row, late=False)))
        begun = process_time()
        for number in range(20_000):
            going.tape.say(b"data: %d %s\n\n" % (number, b"x" * 1000))
            if number % 500 == 0:
                await asyncio.sleep(0)
                await one[1].store_now()
        one[2].words.put_nowait(None)
        assert len(await reader) > 20_000_000
        assert process_time() - begun < 2


async def test_readers_here_wait_for_no_write(tmp_path, monkeypatch):
    async with workers(Place("sqlite", tmp_path), 1) as (one,):
        row, going = await begin(one)
        go, write = asyncio.Event(), one[0].database.write

        async def slow(work):
            await go.wait()
            return await write(work)

        monkeypatch.setattr(one[0].database, "write", slow)
        storing = asyncio.create_task(one[1].store_now())
        reader = one[1].follow(row, late=False)
        for word in (b"data: a\n\n", b"data: b\n\n"):
            going.tape.say(word)
            assert (await anext(reader)).endswith(word)
        await reader.aclose()
        assert (going.tape.readers, storing.done()) == (0, False)
        go.set()
        await storing
        one[2].words.put_nowait(None)
        await going.task


@each_database
async def test_a_conversation_that_cannot_be_read_keeps_no_server_from_starting_and_its_run_is_given_up(place):
    async with place.store() as store:
        conversation, other = await store.create(), await store.create()
        for one, name in ((conversation, "run_1"), (other, "run_2")):
            await post(one, said("hello"))
            await rows.begin(store.database, row_of(one, id=name))
        damage = update(messages).values(record="{broken").where(messages.c.conversation_id == conversation.id)
        await store.database.write(lambda connection: connection.execute(damage))
        async with Runs(store, Speaker()) as runs:
            assert runs.going == 1
            await release_until_ended(store.database, runs, "run_1")
        assert (await rows.find(store.database, "run_1")).reason == running.GIVEN_UP


async def release_until_ended(database, runs, run_id):
    """Look for a run whose worker is gone, as often as servers begin, until it has ended."""
    while (await rows.find(database, run_id)).state != "ended":
        gone = update(rows.r).where(rows.r.c.id == run_id).values(worker="w@x/1/2", beat=0.0)
        await database.write(lambda connection, gone=gone: connection.execute(gone))
        await runs.look_for_orphans()


@each_database
async def test_a_run_that_is_taken_over_and_fails_at_once_is_told_as_failed_and_not_forgotten(place):
    async def fail(_):
        raise MissingKey("set ANTHROPIC_API_KEY")

    async with place.store() as store:
        conversation = await store.create()
        await post(conversation, said("hello"))
        await rows.begin(store.database, row_of(conversation))
        async with Runs(store, fail) as runs:
            await until_idle(runs)
        ended = await rows.find(store.database, "run_1")
        assert (ended.state, ended.status, ended.reason) == ("ended", "error", "set ANTHROPIC_API_KEY")


@each_database
@pytest.mark.parametrize("known", [{"tries": running.MOST_TRIES}, {"stop": 1}])
async def test_a_run_that_is_given_up_names_the_message_that_it_answers(place, known):
    async with workers(place, 1) as (one,):
        conversation = await one[0].create()
        await post(conversation, said("hello"))
        await rows.begin(one[0].database, row_of(conversation, **known))
        await one[1].look_for_orphans()
        ended = await rows.find(one[0].database, "run_1")
        assert (ended.state, ended.message_id) == ("ended", conversation.head)


@each_database
async def test_an_error_that_nobody_expected_lets_readers_go_and_no_work_of_the_server_end(place, monkeypatch):
    async with workers(place, 1) as (one,):
        row, _ = await begin(one)
        reader = asyncio.create_task(read(one[1].follow(row, late=False)))
        write = rows.write_log
        monkeypatch.setattr(rows, "write_log", unexpected)
        one[2].words.put_nowait(None)
        assert (await asyncio.wait_for(reader, 60)).endswith(b"[DONE]\n\n")
        monkeypatch.setattr(rows, "write_log", write)
        await until_idle(one[1])  # what goes on again and again stores its end
        assert (await rows.find(one[0].database, row.id)).state == "ended"


async def unexpected(*_):
    raise ValueError("not one of ours")


@each_database
async def test_what_was_stored_without_anybody_hearing_so_is_stored_again_as_it_was(place, monkeypatch):
    async with workers(place) as (one, two):
        row, going = await begin(one)
        reader, write = asyncio.create_task(read(two[1].follow(row, late=False))), rows.write_log

        async def unheard(*asked):
            await write(*asked)
            raise StorageFailed("the connection broke")

        for word in (b"data: a\n\n", b"data: b\n\n"):
            monkeypatch.setattr(rows, "write_log", unheard)
            going.tape.say(word)
            with pytest.raises(StorageFailed):
                await one[1].store_now()
        monkeypatch.setattr(rows, "write_log", write)
        one[2].words.put_nowait(None)
        assert await asyncio.wait_for(reader, 60) == START + b"data: a\n\ndata: b\n\ndata: [DONE]\n\n"


@each_database
async def test_nothing_is_kept_of_a_run_elsewhere_that_nobody_reads_any_more(place):
    async with workers(place) as (one, two):
        row, _ = await begin(one)
        reader = asyncio.create_task(read(two[1].follow(row, late=True)))
        one[2].words.put_nowait(None)
        await asyncio.wait_for(reader, 60)
        await asyncio.sleep(0)
        assert (two[1]._hearing._bells, list(two[1]._echoes.tapes)) == ({}, [])
