"""Unused bytes are deleted and those that a message names stay, whatever collects, crashes or restarts meanwhile."""

import asyncio

import pytest
from sqlalchemy import select

from showandtell.core.messages.derivations import DerivationRequest, Derivative
from showandtell.storage.database.quotas import Quotas
from showandtell.storage.database.tables import blobs, derivations, known
from support.garbage_collection_machine import LATER_THAN_ALL, WORDS, GarbageCollectionMachine, hashes, stored_hashes
from support.stores import note, post, show, two_stores, user_draft

pytestmark = pytest.mark.anyio


async def test_bytes_that_no_message_names_go_after_the_grace(store, clock):
    conversation = await show(store, note("kept"))
    await conversation.probe(user_draft("", note("never named")))
    clock.now += 100
    assert (await store.collect(grace=101)).blobs == 0
    assert (await store.collect(grace=99)).blobs == 1
    kept = conversation.attachments[1].facts
    assert stored_hashes(store) == await hashes(store) == {kept.sha256}
    assert await store.fsck() == ()


async def test_what_was_made_of_a_file_stays_and_goes_with_it(store, clock):
    conversation = await show(store, note("one"))
    source = conversation.attachments[1].facts
    made = (await conversation.probe(user_draft("", note("made of one"))))[0].facts
    upload = DerivationRequest(made.sha256, "upload", "openai:k"), Derivative(file_id="file-1")
    await conversation.learn({DerivationRequest(source.sha256, "text"): Derivative((made,)), upload[0]: upload[1]})
    clock.now += 100
    assert (await store.collect(grace=10)).blobs == 0
    gone = await store.delete_file(conversation, 1)
    assert (gone.blobs, gone.bytes, gone.uploads) == (2, source.size + made.size, (upload,))
    for table in (blobs, derivations, known):
        assert len(await store.database.read(select(table))) == 0
    assert stored_hashes(store) == set()


async def test_a_deleted_file_keeps_number_and_name_and_says_that_it_was_deleted(store):
    conversation = await show(store, note("one", "a.txt"))
    await store.delete_file(conversation, 1)
    await post(conversation, user_draft("more", note("two", "b.txt")))
    again = await store.open(conversation.id)
    first = again.attachments[1]
    assert again.attachments == conversation.attachments
    assert (first.state, first.name, first.label, first.facts) == ("deleted", "a.txt", "text 1", None)
    assert first.problem == "was deleted by the user"
    assert again.attachments[2].state == "ready"


async def test_bytes_are_stored_once_for_each_owner_and_stay_for_the_other_file(store):
    first, second, other = [await show(store, note("same"), owner=item) for item in ("ann", "ann", "bob")]
    assert len(stored_hashes(store, "ann")) == len(stored_hashes(store, "bob")) == 1
    assert len(await store.database.read(select(blobs))) == 2
    assert (await store.delete_file(first, 1)).blobs == 0
    assert second.file(1).read() == b"same"
    assert (await store.delete(second.id, "ann")).blobs == 1
    assert other.file(1).read() == b"same"


async def test_files_without_a_row_and_copies_half_made_go_after_the_grace(store, clock):
    conversation = await show(store, note("kept"))
    for owner in ("local", "somebody unknown"):
        store.blobs.for_owner(owner).store(note("stray").open, "stray", 100)
    store.blobs.for_owner("local").spool(note("half").open, "half", 100)
    found = await store.fsck()
    assert [item.problem for item in found] == ["unfinished copies: 1", *["is named by no row"] * 2]
    assert {item.kind for item in found} == {"leftover"}
    done = await store.collect(grace=0)
    assert (done.blobs, done.orphans, done.spools) == (0, 0, 0)
    clock.now = LATER_THAN_ALL
    done = await store.collect(grace=0)
    assert (done.blobs, done.orphans, done.spools) == (0, 2, 1)
    assert await store.fsck() == ()
    assert conversation.file(1).read() == b"kept"


async def test_fsck_names_what_is_missing_short_or_changed_and_the_files_that_need_it(place):
    async with place.store() as store:
        conversation = await show(store, *(note(words) for words in ("gone", "short", "flipped", "whole")), owner="ann")
        files = {attachment.facts.sha256: attachment for attachment in conversation.attachments.values()}
        ours = store.blobs.for_owner("ann")
        by_number = {item.number: ours.inner.blob(sha256) for sha256, item in files.items()}
        by_number[1].unlink()
        for number, data in ((2, b"sho"), (3, b"fl!pped")):
            by_number[number].chmod(0o600)
            by_number[number].write_bytes(data)
    async with place.store() as store:
        found = {files[item.sha256].number: item for item in await store.fsck("ann")}
        assert {number: item.problem for number, item in found.items()} == {
            1: "is missing",
            2: "has 3 of 5 bytes",
            3: "no longer matches its hash",
        }
        assert found[1].files == (conversation.attachments[1].id,)
        assert await store.fsck("bob") == ()


async def test_a_message_whose_bytes_were_cleared_away_is_stored_with_that_problem(store, clock):
    conversation = await store.create()
    draft = user_draft("look", note("late"))
    proved = await conversation.probe(draft)
    clock.now += 100
    await store.collect(grace=10)
    await conversation.record(draft, proved)
    late = (await store.open(conversation.id)).attachments[1]
    assert late == conversation.attachments[1]
    assert (late.facts, late.name) == (None, "note.txt")
    assert "add the file again" in late.problem


async def test_collecting_while_others_store_the_same_bytes_loses_none(place):
    async def write(store, conversation, rounds):
        for turn in range(rounds):
            await post(conversation, user_draft("look", *(note(words) for words in WORDS)))
            if turn % 3 == 2:
                for number in conversation.attachments:
                    await store.delete_file(conversation, number)

    async def clean(store, writing):
        while not writing.done():
            await store.collect(grace=-60)
            await asyncio.sleep(0)

    async with two_stores(place) as (one, two):
        conversations = [await one.create(), await one.create(), await two.create()]
        writing = asyncio.gather(*(write(one, each, 7) for each in conversations))
        await asyncio.gather(writing, clean(two, writing))
        await write(one, conversations[0], 1)  # in peace, so that some are needed for certain
        needed = {file.facts.sha256 for each in conversations for file in each.attachments.values() if file.facts}
        assert [found for found in await one.fsck() if found.files] == []
        assert stored_hashes(one) >= needed
        assert needed


async def test_bytes_that_another_process_has_deleted_are_stored_again(place):
    async with two_stores(place) as (one, two):
        conversation = await one.create()
        for _ in range(3):
            await post(conversation, user_draft("look", note("again")))
        for number in (1, 2, 3):
            await two.delete_file(await two.open(conversation.id), number)
        await post(conversation, user_draft("look", note("again")))
        assert [file.state for file in conversation.attachments.values()] == ["deleted"] * 3 + ["ready"]
        assert conversation.file(4).read() == b"again"


async def test_quotas_are_kept_and_say_how_much_there_is(place):
    async def problems(store, *notes):
        conversation = await show(store, *notes)
        return [attachment.problem for attachment in conversation.attachments.values()]

    big = [note("x" * 60 + str(number)) for number in range(3)]
    async with place.store(quotas=Quotas(file=50)) as store:
        assert "is larger than 50 bytes" in (await problems(store, big[0]))[0]
    async with place.store(quotas=Quotas(conversation=130)) as store:
        received = await problems(store, *big)
        assert [problem is None for problem in received].count(False) == 1
        assert "the files of this conversation have 122 bytes of the 130 bytes" in "".join(filter(None, received))
        assert await problems(store, big[0], big[0], big[0]) == [None] * 3
    async with place.store(quotas=Quotas(owner=180)) as store:
        assert await problems(store, *big[:2]) == [None, None]
        received = await problems(store, note("y" * 61))
        assert "all your files have 122 bytes of the 180 bytes that they may have" in received[0]
        assert "delete files or conversations" in received[0]


test_referenced_bytes_are_never_deleted = GarbageCollectionMachine.TestCase
