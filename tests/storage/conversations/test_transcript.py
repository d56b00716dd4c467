"""What people see of a conversation, read with one query."""

import pytest
from sqlalchemy import text

from showandtell.core.events.types import Usage
from showandtell.core.messages.message import Draft
from showandtell.core.messages.parts import Text
from showandtell.errors import StorageFailed
from showandtell.storage.conversations.sharing import share
from showandtell.storage.conversations.transcript import read_transcript
from showandtell.storage.conversations.users import remember
from support.stores import check_not_found, note, post, user_draft

pytestmark = pytest.mark.anyio


async def answered(store, owner="ann"):
    """A conversation with a file, an answer and another branch, and its messages."""
    conversation = await store.create(owner, "Files")
    left = await post(conversation, user_draft("another branch"))
    await conversation.lead(None)
    question = await post(conversation, user_draft("look", note("one")))
    answer = await post(conversation, Draft("assistant", (Text("a note"),), stop="end"), usage=Usage(7, 5), model="m")
    return conversation, [left, question, answer]


async def test_a_transcript_has_what_the_conversation_has(store):
    conversation, (left, question, answer) = await answered(store)
    read = await read_transcript(store.database, conversation.id, "ann")
    again = await store.open(conversation.id, "ann")
    assert (read.messages, read.everything) == (again.messages, await again.everything())
    assert [message.id for message in read.everything] == [left.id, question.id, answer.id]
    assert (read.attachments, read.view()) == (again.attachments, again.view())
    assert read.summaries == await again.step_summaries() != {}
    assert sorted(read.times) == sorted(message.id for message in read.everything)
    assert (read.overview.title, read.overview.right, read.author, read.runs) == ("Files", "owner", None, {})


async def test_others_read_a_transcript_once_it_is_shared_with_them(store):
    conversation, _ = await answered(store)
    await check_not_found(read_transcript(store.database, conversation.id, "bob"))
    for user, name in (("ann", "Ann"), ("bob", "Bob")):
        await remember(store.database, user, name, 0)
    await share(store, conversation.id, "ann", "Bob", "reader")
    read = await read_transcript(store.database, conversation.id, "bob")
    assert (read.overview.right, read.overview.shared_by, read.author) == ("reader", "Ann", "Ann")


@pytest.mark.parametrize("damage", ["conversations SET head = 'msg_gone'", "messages SET parent_id = id"])
async def test_damage_is_reported_as_such(store, damage):
    conversation, _ = await answered(store)
    await store.database.write(lambda connection: connection.execute(text(f"UPDATE showandtell_{damage}")))
    with pytest.raises(StorageFailed, match="damaged"):
        await read_transcript(store.database, conversation.id, "ann")
