"""Deleting files in all conversations of their owner: what goes, what stays, and what others have."""

import asyncio

import pytest
from sqlalchemy import select

from showandtell.core.messages.derivations import DerivationRequest, Derivative
from showandtell.storage.conversations.file_list import list_files, storage_use
from showandtell.storage.database.quotas import Account, Quotas
from showandtell.storage.database.tables import blobs, derivations, known
from support.garbage_collection_machine import stored_hashes
from support.postgres import postgresql_if_thorough
from support.stores import check_not_found, note, post, show, two_stores, user_draft

pytestmark = pytest.mark.anyio


def ids_of(*conversations):
    return [file.id for conversation in conversations for file in conversation.attachments.values()]


async def states(store, conversation):
    """Name and state of each file of a conversation, as they are stored."""
    again = await store.open(conversation.id, conversation.owner)
    return [(file.name, file.state) for file in again.attachments.values()]


async def used(store, owner="ann"):
    return (await storage_use(store.database, Account(owner, Quotas(owner=1000), store.terms.clock))).bytes


async def test_a_file_is_deleted_in_all_conversations_of_its_owner(store):
    one = await show(store, note("same", "first.txt"), note("other", "kept.txt"), owner="ann")
    two = await show(store, note("same", "again.txt"), owner="ann")
    bobs = await show(store, note("same", "of bob.txt"), owner="bob")
    assert (await store.delete_files([one.attachments[1].id], "ann")).blobs == 1
    assert await states(store, one) == [("first.txt", "deleted"), ("kept.txt", "ready")]
    assert await states(store, two) == [("again.txt", "deleted")]
    assert await states(store, bobs) == [("of bob.txt", "ready")]
    assert (await store.open(two.id, "ann")).attachments[1].problem == "was deleted by the user"
    assert [file.attachment.name for file in (await list_files(store.database, "ann")).files] == ["kept.txt"]
    assert (await used(store), await used(store, "bob")) == (len("other"), len("same"))


async def test_what_was_made_from_deleted_files_goes_with_them(store):
    conversation = await show(store, note("one", "a.txt"), note("two", "b.txt"))
    source = conversation.attachments[1].facts
    made = (await conversation.probe(user_draft("", note("made of one"))))[0].facts
    upload = DerivationRequest(made.sha256, "upload", "openai:k"), Derivative(file_id="file-1")
    await conversation.learn({DerivationRequest(source.sha256, "text"): Derivative((made,)), upload[0]: upload[1]})
    gone = await store.delete_files(ids_of(conversation))
    assert (gone.blobs, gone.uploads) == (3, (upload,))
    for table in (blobs, derivations, known):
        assert len(await store.database.read(select(table))) == 0
    assert stored_hashes(store) == set()


async def test_files_that_are_deleted_already_stay_so(store):
    conversation = await show(store, note("one", "a.txt"), note("two", "b.txt"))
    ids = ids_of(conversation)
    await store.delete_files(ids[:1])
    assert (await store.delete_files(ids[:1])).blobs == 0
    assert (await store.delete_files([*ids, *ids])).blobs == 1
    assert await states(store, conversation) == [("a.txt", "deleted"), ("b.txt", "deleted")]
    assert await store.fsck() == ()


async def test_all_files_are_deleted_or_none(store):
    own = await show(store, note("one", "a.txt"), owner="ann")
    bobs = await show(store, note("two", "b.txt"), owner="bob")
    await store.share(bobs.id, "bob", "ann", "writer")
    for other in (*ids_of(bobs), "att_" + "x" * 22, "att_x", own.id, ""):
        await check_not_found(store.delete_files([*ids_of(own), other], "ann"))
    assert await states(store, own) == [("a.txt", "ready")]
    assert await states(store, bobs) == [("b.txt", "ready")]


@postgresql_if_thorough
async def test_many_files_in_many_conversations_go_at_once(store):
    conversations = [
        await show(store, *(note(f"{part % 2} {number}", f"{number}.txt") for number in range(30)), owner="ann")
        for part in range(4)
    ]
    gone = await store.delete_files(ids_of(*conversations[:2]), "ann")
    assert (gone.blobs, await used(store)) == (60, 0)
    for conversation in conversations:
        assert {state for _, state in await states(store, conversation)} == {"deleted"}


async def test_deletions_of_two_processes_leave_nothing_behind(place):
    async with two_stores(place) as (one, two):
        conversations = [await show(one, note("a", "a.txt"), note("b", "b.txt"), owner="ann") for _ in range(3)]
        ids = ids_of(*conversations)
        await asyncio.gather(*(store.delete_files(some, "ann") for some in (ids, ids[::-1]) for store in (one, two)))
        assert (await used(one), stored_hashes(one, "ann")) == (0, set())
        assert await one.fsck() == ()


async def test_a_file_that_comes_back_after_its_deletion_is_stored_again(store):
    conversation = await show(store, note("same", "a.txt"))
    await store.delete_files(ids_of(conversation))
    again = await store.open(conversation.id)
    await post(again, user_draft("again", note("same", "b.txt")))
    assert await states(store, conversation) == [("a.txt", "deleted"), ("b.txt", "ready")]
    assert again.file(2).read() == b"same"
