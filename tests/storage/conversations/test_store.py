"""Conversations in a database: what comes back after a restart, one sequence without gaps, branches."""

import base64

import pytest
from sqlalchemy import event, select

from showandtell import Agent
from showandtell.core.collect.entry import collect
from showandtell.core.messages.derivations import DerivationRequest, Derivative, Failed
from showandtell.core.messages.file import File
from showandtell.core.messages.message import Draft
from showandtell.core.messages.parts import Text, ToolCall
from showandtell.errors import BadInput, LeaseLost, NotFound, StorageFailed
from showandtell.storage.conversations.store import Store
from showandtell.storage.database.tables import messages
from support.concurrent_writers import check_order, write_concurrently
from support.fixtures import png
from support.stores import CALL, note, post, show, two_stores, user_draft

pytestmark = pytest.mark.anyio
PICTURE = png(16, 9)


STRANGE = ToolCall("call\0 1", "draw\0\n", "{}")


async def test_what_was_learnt_comes_back_and_can_be_forgotten(store):
    first = await show(store, note("one"), owner="ann")
    source = first.attachments[1].facts
    made = await first.probe(user_draft("", note("made of it")))
    gone = DerivationRequest(source.sha256, "upload", "openai:k")
    news = {
        DerivationRequest(source.sha256, "text"): Derivative((made[0].facts,), scale=0.5),
        DerivationRequest(made[0].facts.sha256, "original/user", "gpt"): Failed("refused", "HTTP 400"),
        gone: Derivative(file_id="file-1", expires=5.0),
    }
    await first.learn(news)
    assert (await store.open(first.id, "ann")).known() == news
    first.remember({DerivationRequest(source.sha256, "audio"): Failed("for now")})
    await first.refresh()
    assert first.known() == {**news, DerivationRequest(source.sha256, "audio"): Failed("for now")}
    await first.forget([gone, DerivationRequest(source.sha256, "audio")])
    del news[gone]
    assert (await store.open(first.id, "ann")).known() == first.known() == news
    second = await store.create("ann")
    await post(second, user_draft("the same file", note("one")))
    assert (await store.open(second.id, "ann")).known() == news
    other = await store.create("bob")
    await post(other, user_draft("somebody else's", note("one")))
    assert (await store.open(other.id, "bob")).known() == {}


async def test_a_call_that_was_about_to_run_is_remembered_until_its_result_is_stored(store):
    conversation = await store.create()
    await post(conversation, user_draft("draw"))
    await post(conversation, Draft("assistant", (CALL,), stop="tool_calls"))
    await conversation.start_calls([CALL])
    await conversation.start_calls([CALL, STRANGE])
    again = await store.open(conversation.id)
    assert again.view().started == {CALL.call_id, STRANGE.call_id}
    await post(again, Draft("tool", (Text("done"),), STRANGE.call_id, "draw"))
    await post(again, Draft("tool", (Text("done"),), CALL.call_id, "draw"))
    assert (await store.open(conversation.id)).view().started == again.view().started == frozenset()


async def test_two_processes_post_without_a_gap_a_loss_or_a_double(place):
    check_order(100, *await write_concurrently(place, 100))


async def test_a_turn_begins_with_what_another_process_has_written(place):
    async with two_stores(place) as (one, two):
        here = await one.create()
        there = await two.open(here.id)
        await post(there, user_draft("from there", note("one")))
        assert here.messages == []
        async with here.turn:
            assert here.view() == there.view()
        await post(here, user_draft("from here", note("two")))
        assert [*here.attachments] == [1, 2]


@pytest.mark.smoke
async def test_no_bytes_and_no_base64_of_a_file_reach_the_database(tmp_path):
    async with Store.at(tmp_path) as store:
        conversation = await show(store, *(File.from_bytes(PICTURE, name=f"{n}.png") for n in range(3)))
        words = "data:image/png;base64," + base64.b64encode(PICTURE).decode()
        await post(conversation, Draft("user", tuple(collect(words))))
    stored = b"".join(path.read_bytes() for path in tmp_path.glob("showandtell.db*"))
    assert b"msg_" in stored
    assert PICTURE[8:40] not in stored
    assert base64.b64encode(PICTURE)[:40] not in stored
    assert base64.b64encode(PICTURE[1:])[:40] not in stored
    assert PICTURE.hex()[:40].encode() not in stored


async def test_a_branch_leads_on_from_its_own_messages_alone(store):
    one, other = await store.create("ann"), await store.create("bob")
    theirs = await post(other, user_draft("mine"))
    with pytest.raises(NotFound):
        await one.lead(theirs.id)
    second = await store.create("ann")
    mine = await post(second, user_draft("also mine"))
    with pytest.raises(BadInput, match="this conversation has no message"):
        await one.lead(mine.id)


async def test_an_agent_goes_on_after_a_restart(place):
    def draw() -> File:
        """Draw a picture."""
        return File.from_bytes(PICTURE, name="drawn.png")

    async with place.store() as store:
        conversation = await store.create("ann")
        await Agent("inspector", tools=[draw]).run("/draw", conversation=conversation)
    async with place.store() as store:
        again = await store.open(conversation.id, "ann")
        assert again.view() == conversation.view()
        assert again.receipts == conversation.receipts
        assert [*again.receipts] == [1]
        assert again.receipts[1].place is not None
        run = await Agent("inspector", tools=[draw]).run("/draw", conversation=again)
        assert (run.status, [*again.attachments]) == ("complete", [1, 2])


async def test_conversations_are_listed_by_their_last_change_and_deleted(store, clock):
    made = []
    for words in ("the first\n one", "word " * 40, "third"):
        clock.now += 1
        made.append(await store.create("ann"))
        await post(made[-1], user_draft(words, note(words)))
    await store.create("bob", "of bob")
    found = await store.list("ann")
    assert [item.id for item in found] == [item.id for item in reversed(made)]
    assert [item.title for item in found] == ["third", " ".join(["word"] * 11) + "…", "the first one"]
    assert {(item.messages, item.files) for item in found} == {(1, 1)}
    assert [item.id for item in await store.list("ann", limit=1, before=made[2].id)] == [made[1].id]
    assert (await store.delete(made[2].id, "ann")).blobs == 1
    assert (await store.newest("ann")).id == made[1].id
    assert (await store.newest("nobody")) is None
    with pytest.raises(NotFound):
        await store.open(made[2].id, "ann")


async def test_a_writer_whose_conversation_is_deleted_stores_nothing_more(place):
    async with two_stores(place) as (one, two):
        conversation = await one.create()
        async with conversation.turn:
            await two.delete(conversation.id)
            with pytest.raises(LeaseLost):
                await post(conversation, user_draft("into nothing", note("one")))
        assert conversation.messages == []
        assert await one.database.read(select(messages)) in ((), [])


async def test_a_message_that_cannot_be_stored_leaves_nothing_behind(store):
    conversation = await store.create()

    def fail(_connection, _cursor, statement, *_):
        if statement.startswith("INSERT INTO showandtell_attachments"):
            raise StorageFailed("the power went")

    event.listen(store.database.engine, "before_cursor_execute", fail)
    with pytest.raises(StorageFailed):
        await post(conversation, user_draft("look", note("one")))
    event.remove(store.database.engine, "before_cursor_execute", fail)
    again = await store.open(conversation.id)
    assert again.view() == conversation.view()
    assert (again.messages, again.attachments) == ([], {})
    await post(conversation, user_draft("again", note("one")))
    assert (await store.database.read(select(messages.c.seq)))[0][0] == 1
