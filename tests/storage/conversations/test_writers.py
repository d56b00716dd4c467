"""Writers of a conversation: a run keeps its turn, crashed runs are taken over, revoked ones have ended."""

import asyncio
import threading

import pytest
from sqlalchemy import event, select, text

from showandtell import Agent
from showandtell.core.messages.derivations import DerivationRequest, Derivative
from showandtell.core.messages.ids import new_id
from showandtell.core.messages.message import Draft
from showandtell.errors import BadInput, Busy, NotFound, StorageFailed
from showandtell.storage.conversations.memory_conversation import MemoryConversation
from showandtell.storage.database.rows import BATCH, decode_in_thread
from showandtell.storage.database.tables import conversations
from support.postgres import DATABASES, on_sqlite, postgresql_if_thorough
from support.stores import CALL, ELSEWHERE, Place, check_not_found, note, post, show, two_stores, user_draft, write_row

pytestmark = pytest.mark.anyio


@pytest.fixture(params=["memory", *DATABASES])
async def conversation(request, tmp_path):
    """One in memory, and one in each database."""
    if request.param == "memory":
        yield MemoryConversation()
    else:
        async with Place(request.param, tmp_path).store() as store:
            yield await store.create()


async def test_what_others_say_waits_for_the_end_of_a_run(conversation):
    going = asyncio.Event()

    async def other():
        await going.wait()
        await post(conversation, user_draft("other"))

    waiting = asyncio.create_task(other())
    await asyncio.sleep(0)
    async with conversation.turn:
        going.set()
        for number in range(5):
            await post(conversation, user_draft(f"run {number}"))
    await waiting
    assert [message.text for message in conversation.messages] == [*(f"run {number}" for number in range(5)), "other"]


async def test_another_branch_is_taken_when_the_run_has_ended(conversation):
    first = await post(conversation, user_draft("first"))
    going = asyncio.Event()

    async def other():
        await going.wait()
        await conversation.lead(None)

    waiting = asyncio.create_task(other())
    await asyncio.sleep(0)
    async with conversation.turn:
        going.set()
        second = await post(conversation, user_draft("second"))
        third = await post(conversation, user_draft("third"))
    await waiting
    assert (second.parent_id, third.parent_id, conversation.messages) == (first.id, second.id, [])


async def test_what_a_run_starts_belongs_to_it_and_not_to_the_next_one(conversation):
    ended = asyncio.Event()

    async def late():
        await ended.wait()
        await post(conversation, user_draft("late"))

    async with conversation.turn:
        left = asyncio.create_task(late())
        await asyncio.create_task(post(conversation, user_draft("tool")))
    async with conversation.turn:
        ended.set()
        for number in range(3):
            await post(conversation, user_draft(f"next {number}"))
    await left
    assert [message.text for message in conversation.messages] == ["tool", "next 0", "next 1", "next 2", "late"]


async def test_a_call_that_was_running_elsewhere_is_not_run_again_by_an_object_that_was_opened_before(place):
    ran = []

    def draw(what: str) -> str:
        """Draw."""
        ran.append(what)
        return "drawn"

    async with two_stores(place) as (one, two):
        here = await one.create()
        async with here.turn:
            await post(here, user_draft("/draw what=house"))
            await post(here, Draft("assistant", (CALL,), stop="tool_calls"))
            there = await two.open(here.id)
            await here.start_calls([CALL])
            await write_row(two, lease_holder="elsewhere/1/2", lease_until=1)
            run = await Agent("inspector", tools=[draw]).run("go on", conversation=there)
        received = [message.text for message in there.messages if message.role == "tool"]
        assert (run.status, ran, len(received)) == ("complete", [], 1)
        assert "outcome" in received[0]
        assert (await one.open(here.id)).view().started == frozenset()


async def test_who_is_cancelled_twice_leaves_no_lease(store):
    conversation, held = await store.create(), asyncio.Event()

    async def hold():
        async with conversation.turn:
            held.set()
            await asyncio.Event().wait()

    task = asyncio.create_task(hold())
    await held.wait()
    for _ in range(2):
        task.cancel()
        await asyncio.sleep(0)
    await asyncio.wait({task})
    assert task.cancelled()
    assert (await store.database.read(select(conversations.c.lease_token)))[0][0] is None


async def test_a_turn_ends_though_the_database_fails_as_it_is_renewed(store, clock):
    conversation = await store.create()

    async def hold():
        async with conversation.turn:
            await asyncio.Event().wait()

    def fail(_connection, _cursor, statement, *_):
        if statement.startswith("UPDATE showandtell_conversations SET lease_until"):
            task.cancel()
            raise StorageFailed("the power went")

    task = asyncio.create_task(hold())
    await clock.idle()
    event.listen(store.database.engine, "before_cursor_execute", fail)
    clock.tell()
    await asyncio.wait({task}, timeout=60)
    assert task.cancelled()


@postgresql_if_thorough
@pytest.mark.parametrize("ahead", [40.0, 1800.0])
async def test_the_lease_of_a_machine_whose_clock_is_ahead_is_respected(store, clock, ahead):
    conversation = await store.create()
    await write_row(store, **ELSEWHERE, lease_until=clock.now + ahead + 30)
    with pytest.raises(Busy):
        await post(conversation, user_draft("mine"))


@pytest.mark.parametrize("database", ["postgresql"])
async def test_leases_on_postgresql_go_by_the_clock_of_the_database(place):
    fast = "CREATE FUNCTION public.clock_timestamp() RETURNS timestamptz LANGUAGE sql AS $$ SELECT '2100-01-01Z'::timestamptz $$"

    def mislead(connection):
        connection.execute(text(fast))
        name = connection.execute(text("SELECT current_database()")).scalar_one()
        connection.execute(text(f"ALTER DATABASE {name} SET search_path = public, pg_catalog"))

    async with place.store() as store:
        await store.database.write(mislead)
    async with place.store() as store:
        conversation = await store.create()
        async with conversation.turn:
            (until,) = (await store.database.read(select(conversations.c.lease_until)))[0]
    assert until == 4_102_444_800 + 30


async def test_a_conversation_leads_on_from_messages_alone(store):
    conversation = await store.create()
    first = await post(conversation, user_draft("look", note("one")))
    for strange in (conversation.attachments[1].id, conversation.id, new_id("msg"), "msg_\0", "\ud800", 5, b""):
        with pytest.raises(NotFound):
            await conversation.lead(strange)
    assert (await store.open(conversation.id)).head == conversation.head == first.id


@pytest.mark.parametrize("what", ["no head", "a circle", "no json"])
async def test_a_damaged_conversation_is_reported_as_such(store, what):
    damage = {
        "no head": "UPDATE showandtell_conversations SET head = 'msg_gone'",
        "a circle": "UPDATE showandtell_messages SET parent_id = id",
        "no json": "UPDATE showandtell_messages SET record = '{'",
    }

    conversation = await store.create()
    await post(conversation, user_draft("one"))
    await store.database.write(lambda connection: connection.execute(text(damage[what])))
    with pytest.raises(StorageFailed, match="damaged"):
        await store.open(conversation.id)


def test_many_rows_are_decoded_in_a_thread():
    assert asyncio.run(decode_in_thread(threading.get_ident, [()] * BATCH)) == threading.get_ident()
    assert asyncio.run(decode_in_thread(threading.get_ident, [()] * (BATCH + 1))) != threading.get_ident()


@postgresql_if_thorough
async def test_many_messages_come_back_in_order(store):
    conversation, posts = await store.create(), BATCH + 7
    async with conversation.turn:
        for number in range(posts):
            await conversation.record(user_draft(str(number)), ())
    again = await store.open(conversation.id)
    assert again.messages == await again.everything() == conversation.messages
    await again.lead(again.messages[2].id)
    assert [message.text for message in again.messages] == ["0", "1", "2"]


async def test_whose_share_was_taken_back_teaches_and_stores_nothing_more(store):
    conversation = await show(store, note("one"), owner="bob")
    await store.share(conversation.id, "bob", "ann", "writer")
    theirs = await store.open(conversation.id, "ann")
    want = DerivationRequest(theirs.attachments[1].facts.sha256, "text")
    await store.share(conversation.id, "bob", "ann", None)
    await check_not_found(
        theirs.learn({want: Derivative(text="poison")}),
        theirs.forget([want]),
        theirs.probe(user_draft("", note("theirs"))),
    )
    assert (await store.open(conversation.id, "bob")).known() == {}
    assert [row[0] for row in await store.database.read(text("SELECT count(*) FROM showandtell_blobs"))] == [1]


async def test_eight_who_share_at_once_share_once(store):
    conversation = await store.create("ann")
    await asyncio.gather(*(store.share(conversation.id, "ann", "bob", "reader") for _ in range(8)))
    rows = await store.database.read(text("SELECT user_id, access FROM showandtell_shares"))
    assert [tuple(row) for row in rows] == [("bob", "reader")]


STRANGE = {
    "an owner with NUL": lambda store, _one: store.create("a\0b"),
    "an owner that is no Unicode": lambda store, _one: store.create("\ud800"),
    "an owner that is no text": lambda store, _one: store.create(5),
    "a user with NUL": lambda store, item: store.open(item, "a\0b"),
    "a user that is no Unicode": lambda store, item: store.delete(item, "\ud800"),
    "a number for an id": lambda store, _one: store.open(5),
    "bytes for an id": lambda store, _one: store.delete(b""),
    "no id": lambda store, _one: store.open(None),
    "an id of no form to list from": lambda store, _one: store.list(before="\ud800"),
    "too long a list": lambda store, _one: store.list(limit=10**40),
    "a list of less than nothing": lambda store, _one: store.list(limit=-1),
    "a list of a user with NUL": lambda store, _one: store.list("\0"),
    "a share with NUL": lambda store, item: store.share(item, "local", "\0", "reader"),
    "a right that is none": lambda store, item: store.share(item, "local", "bob", "admin"),
    "a right that is none to open": lambda store, item: store.open(item, right="admin"),
}


@postgresql_if_thorough
@pytest.mark.parametrize("what", STRANGE)
async def test_strange_names_limits_and_rights_are_refused_and_change_nothing(store, what):
    conversation = await store.create()
    await store.share(conversation.id, "local", "bob", "writer")
    with pytest.raises(BadInput):
        await STRANGE[what](store, conversation.id)
    assert len(await store.list()) == 1
    assert (await store.open(conversation.id, "bob")).id == conversation.id


@on_sqlite
async def test_a_store_is_used_in_the_event_loop_that_opened_it(place):
    async with place.store() as store:
        with pytest.raises(BadInput, match="another event loop"):
            await asyncio.to_thread(lambda: asyncio.run(store.create()))
        await store.create()
    for work in (store.create(), store.list()):
        with pytest.raises(StorageFailed, match="is closed"):
            await work
