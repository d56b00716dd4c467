"""Which user may do what: the full matrix, and the errors for things that are missing or belong to others."""

import pytest

from showandtell.core.messages.ids import new_id
from showandtell.errors import BadInput, NotFound
from showandtell.storage.conversations.access import resolve
from support.postgres import on_sqlite
from support.stores import check_not_found, note, post, user_draft

pytestmark = pytest.mark.anyio
#: Who has which right, as the product should say it.
MAY = {
    "owner": {"reader", "writer", "owner"},
    "writer": {"reader", "writer"},
    "reader": {"reader"},
    "stranger": set(),
}


async def share_out(store):
    """A conversation of `owner` with a file, shared with `writer` and `reader`."""
    conversation = await store.create("owner")
    message = await post(conversation, user_draft("look", note("one")))
    await store.share(conversation.id, "owner", "writer", "writer")
    await store.share(conversation.id, "owner", "reader", "reader")
    return conversation, (conversation.id, message.id, conversation.attachments[1].id)


async def is_allowed(work):
    try:
        await work
    except NotFound:
        return False
    return True


async def test_every_user_has_the_rights_of_the_matrix_and_no_other(store):
    conversation, ids = await share_out(store)
    for user, rights in MAY.items():
        for right in ("reader", "writer", "owner"):
            expected = right in rights
            for id_ in ids:
                assert await is_allowed(resolve(store.database, id_, user, right)) is expected, (user, right)
            assert await is_allowed(store.open(conversation.id, user, right)) is expected
    assert [item.id for item in await store.list("owner")] == [conversation.id]
    assert await store.list("writer") == await store.list("stranger") == ()


async def test_a_reader_can_change_nothing(store):
    conversation, _ = await share_out(store)
    seen = await store.open(conversation.id, "reader", "reader")
    assert seen.file(1).read() == b"one"
    await check_not_found(
        seen.record(user_draft("mine"), ()),
        seen.probe(user_draft("mine", note("mine"))),
        seen.lead(None),
        seen.delete_file(1, store.blobs),
        store.delete_file(seen, 1),
        store.delete(conversation.id, "reader"),
        store.share(conversation.id, "reader", "stranger", "reader"),
    )
    again = await store.open(conversation.id, "owner")
    assert (len(again.messages), again.attachments[1].state) == (1, "ready")
    assert await store.fsck() == ()


async def test_a_writer_writes_for_the_owner_and_cannot_delete_or_share(store):
    conversation, _ = await share_out(store)
    theirs = await store.open(conversation.id, "writer")
    await post(theirs, user_draft("and this", note("two")))
    assert theirs.owner == "owner"
    await check_not_found(
        store.delete_file(theirs, 1),
        store.delete(conversation.id, "writer"),
        store.share(conversation.id, "writer", "stranger", "reader"),
    )
    assert (await store.open(conversation.id, "owner")).file(2).read() == b"two"


async def test_a_share_that_is_taken_back_ends_with_the_next_turn(store):
    conversation, _ = await share_out(store)
    theirs = await store.open(conversation.id, "writer")
    await store.share(conversation.id, "owner", "writer", None)
    with pytest.raises(NotFound):
        await post(theirs, user_draft("still here?"))
    with pytest.raises(NotFound):
        await store.open(conversation.id, "writer", "reader")
    with pytest.raises(BadInput, match="can't be given"):
        await store.share(conversation.id, "owner", "writer", "owner")


async def test_what_is_not_yours_is_not_found_in_the_same_words_as_what_is_not_there(store):
    async def words(work, one):
        with pytest.raises(NotFound) as received:
            await work
        return str(received.value).replace(one, "ID")

    conversation, ids = await share_out(store)
    for foreign, prefix in zip(ids, ("conv", "msg", "att"), strict=True):
        missing = new_id(prefix)
        one = await words(resolve(store.database, foreign, "stranger"), foreign)
        assert one == await words(resolve(store.database, missing, "stranger"), missing)
    missing = new_id("conv")
    for ask in (store.open, store.delete):
        one = await words(ask(conversation.id, "stranger"), conversation.id)
        assert one == await words(ask(missing, "stranger"), missing)


STRANGE = ["", "_", "conv_", "msg_", "att_x' OR '1'='1", "x" * 10_000, "conv_" + "\ud800" * 22, "att_\0", "att_%"]


@pytest.mark.parametrize("strange", STRANGE, ids=range(len(STRANGE)))
@on_sqlite
async def test_strange_ids_are_not_found(store, strange):
    await share_out(store)
    with pytest.raises(NotFound):
        await resolve(store.database, strange, "owner", "reader")
