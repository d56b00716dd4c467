"""One writer at a time: leases end, are taken over from the dead, and fence those who come back too late."""

import asyncio
import signal
import subprocess
import sys

import pytest
from sqlalchemy import select

from showandtell.errors import Busy, LeaseLost, NotFound
from showandtell.storage.database.lease import is_dead, machine, this_process
from showandtell.storage.database.tables import conversations
from support.postgres import on_sqlite
from support.stores import ELSEWHERE, Time, places, post, two_stores, user_draft, write_row

pytestmark = pytest.mark.anyio
YEAR = 365 * 24 * 3600.0


async def lease_of(store):
    columns = conversations.c.lease_holder, conversations.c.lease_token, conversations.c.lease_until
    return tuple((await store.database.read(select(*columns)))[0])


async def test_a_turn_holds_the_lease_and_gives_it_back(store, clock):
    conversation = await store.create()
    async with conversation.turn:
        holder, token, until = await lease_of(store)
        assert (holder, len(token), until) == (this_process(), 32, clock.now + 30)
    assert await lease_of(store) == (None, None, None)


async def test_who_waits_too_long_is_reported_that_somebody_answers(place, clock):
    async with two_stores(place, terms=clock.terms()) as (one, two):
        here = await one.create()
        before = clock.now
        await write_row(two, **ELSEWHERE, lease_until=clock.now + 59)
        with pytest.raises(Busy, match="try again when it has ended"):
            async with here.turn:
                pass
        assert 45 <= clock.now - before < 46
        assert (await lease_of(one))[0] == "elsewhere/1/2"


@pytest.mark.parametrize("ahead", [-1.0, -YEAR, 10 * YEAR], ids=["ended", "clock went on", "clock went back"])
async def test_a_lease_that_ended_or_cannot_be_is_taken_over(store, clock, ahead):
    conversation = await store.create()
    await write_row(store, **ELSEWHERE, lease_until=clock.now + ahead)
    await post(conversation, user_draft("mine now"))
    assert len((await store.open(conversation.id)).messages) == 1


HOLD = """
import asyncio, sys
from showandtell.storage.conversations.store import Store

async def run(url, blobs, conversation):
    async with Store(url, blobs) as store, (await store.open(conversation)).turn:
        print("held", flush=True)
        await asyncio.Event().wait()

asyncio.run(run(*sys.argv[1:4]))
"""


async def test_the_lease_of_a_killed_process_is_taken_over_at_once(place, clock):
    async with place.store() as store:
        conversation = await store.create()
        command = [sys.executable, "-c", HOLD, place.url, str(place.folder / "blobs"), conversation.id]
        with subprocess.Popen(command, stdout=subprocess.PIPE) as holder:  # noqa: ASYNC220, S603
            assert holder.stdout.readline() == b"held\n"
            assert not is_dead((await lease_of(store))[0])
            holder.send_signal(signal.SIGKILL)
    async with place.store(terms=clock.terms()) as store:
        now = clock.now
        await post(await store.open(conversation.id), user_draft("I go on"))
        assert clock.now == now


def test_a_process_is_dead_where_its_number_was_given_again():
    where, number, _ = this_process().rsplit("/", 2)
    assert not is_dead(this_process())
    assert is_dead(f"{where}/{number}/12345")
    assert is_dead(f"{machine()}/{2**22 + 1}/1")
    assert not is_dead(f"elsewhere/{2**22 + 1}/1")


async def test_an_old_writer_is_fenced_and_stores_nothing(place):
    clock, late = Time(), Time()
    async with place.store(terms=clock.terms()) as one, place.store(terms=late.terms()) as two:
        slow = await one.create()
        async with slow.turn:
            await post(slow, user_draft("one"))
            late.now += 31
            quick = await two.open(slow.id)
            async with quick.turn:
                await post(quick, user_draft("two"))
                with pytest.raises(LeaseLost, match="open it again"):
                    await post(slow, user_draft("too late"))
                await post(quick, user_draft("three"))
        assert [message.text for message in slow.messages] == ["one"]
        async with slow.turn:
            assert [message.text for message in slow.messages] == ["one", "two", "three"]
        assert await places(one) == [1, 2, 3]


async def test_the_heart_beats_and_finds_out_that_the_lease_is_lost(store, clock):
    conversation = await store.create()
    async with conversation.turn:
        await clock.idle()
        clock.now += 20
        clock.tell()
        await clock.idle()
        assert (await lease_of(store))[2] == clock.now + 30
        await write_row(store, **ELSEWHERE)
        clock.tell()
        await asyncio.wait({conversation._lease._heartbeat}, timeout=60)
        with pytest.raises(LeaseLost):
            await post(conversation, user_draft("too late"))
    assert (await lease_of(store))[:2] == tuple(ELSEWHERE.values())


@pytest.mark.parametrize("jump", [-YEAR, 10 * YEAR], ids=["a year back", "ten years ahead"])
async def test_order_is_kept_when_the_clock_jumps(store, clock, jump):
    conversation = await store.create()
    async with conversation.turn:
        await post(conversation, user_draft("one"))
        clock.now += jump
        await post(conversation, user_draft("two"))
    await post(conversation, user_draft("three"))
    again = await store.open(conversation.id)
    assert [message.text for message in again.messages] == ["one", "two", "three"]


async def test_a_turn_that_is_cancelled_while_it_waits_leaves_the_lease_to_others(place, clock):
    async with two_stores(place, terms=clock.terms()) as (one, two):
        here = await one.create()
        there = await two.open(here.id)
        async with here.turn:
            waiting = asyncio.create_task(post(there, user_draft("never")))
            await clock.moved()
            waiting.cancel()
            await asyncio.wait({waiting})
            await post(here, user_draft("one"))
        await post(there, user_draft("two"))
        assert [message.text for message in there.messages] == ["one", "two"]


@on_sqlite
async def test_a_conversation_that_was_deleted_is_not_found_by_who_waits(store):
    conversation = await store.create()
    await store.delete(conversation.id)
    with pytest.raises(NotFound):
        async with conversation.turn:
            pass
