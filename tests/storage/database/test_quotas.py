"""Bytes between their proof and their message: others' deletions leave them alone, and quotas count them for a while."""

import asyncio

import pytest
from sqlalchemy import event, select

from showandtell.core.messages.derivations import DerivationRequest, Derivative, Failed
from showandtell.core.messages.file import File
from showandtell.errors import QuotaExceeded
from showandtell.storage.database.quotas import REFERENCE_SECONDS, Quotas
from showandtell.storage.database.tables import blobs, known
from support.postgres import postgresql_if_thorough
from support.stores import note, post, show, user_draft

pytestmark = pytest.mark.anyio
#: Texts of 60 characters each.
SIXTY = [f"{number:060}" for number in range(3)]


async def conversions(store):
    return [row[0] for row in await store.database.read(select(known.c.recipe))]


async def test_bytes_that_are_about_to_be_named_outlive_the_deletion_of_others(store):
    first, second = await store.create(), await store.create()
    await post(first, user_draft("look", note("same")))
    draft = user_draft("look", note("same"))
    proved = await second.probe(draft)
    assert (await store.delete(first.id)).blobs == 0
    await second.record(draft, proved)
    assert second.file(1).read() == b"same"
    assert (await store.delete(second.id)).blobs == 1


async def test_bytes_that_were_given_up_are_deleted_at_once_after_they_were_collected_for(store, clock):
    conversation = await show(store, note("same"))
    await conversation.probe(user_draft("given up", note("same")))
    clock.now += 100
    assert (await store.collect(grace=50)).blobs == 0
    assert (await store.delete_file(conversation, 1)).blobs == 1


async def test_a_deletion_that_left_pinned_bytes_is_finished_by_collecting(store, clock):
    conversation = await show(store, note("same"))
    await conversation.probe(user_draft("given up", note("same")))
    assert (await store.delete_file(conversation, 1)).blobs == 0
    clock.now += 100
    assert (await store.collect(grace=50)).blobs == 1


async def test_what_is_learnt_of_a_file_that_was_deleted_meanwhile_is_not_kept(store):
    conversation = await show(store, note("a secret"))
    sha256 = conversation.attachments[1].facts.sha256
    made = (await conversation.probe(user_draft("", note("made of it"))))[0].facts
    upload = DerivationRequest(sha256, "upload", "openai:k"), Derivative(file_id="file-1")
    words = {
        DerivationRequest(sha256, "text"): Derivative(text="a secret"),
        DerivationRequest(sha256, "image"): Derivative((made,)),
    }
    await store.delete_file(conversation, 1)
    await conversation.learn({**words, DerivationRequest(sha256, "pages"): Failed("a secret"), upload[0]: upload[1]})
    assert await conversions(store) == ["upload"]
    assert (await store.collect(grace=-60)).uploads == (upload,)
    assert await conversions(store) == []


async def test_what_is_learnt_of_an_address_is_kept_for_as_long_as_it_is_there(store):
    conversation = await show(store, File.from_uri("https://e.com/a.png"))
    want = DerivationRequest(conversation.attachments[1].address.sha256, "original/user", "openai:x")
    await conversation.learn({want: Failed("not taken")})
    await store.collect(grace=0)
    assert (await store.open(conversation.id)).known() == {want: Failed("not taken")}
    await store.delete(conversation.id)
    await store.collect(grace=0)
    assert await conversions(store) == []


async def test_of_many_files_at_once_as_many_are_let_in_as_the_owner_has_room_for(place):
    async with place.store(quotas=Quotas(owner=350)) as store:
        conversations = [await store.create() for _ in range(8)]
        drafts = [user_draft("look", note(f"{number:0100}")) for number in range(8)]
        await asyncio.gather(*map(post, conversations, drafts))
        files = [conversation.attachments[1] for conversation in conversations]
        assert sum(file.facts.size for file in files if file.facts) == 300
        assert sum("all your files have 300 bytes" in (file.problem or "") for file in files) == 5


async def test_files_that_a_conversation_gets_count_together(place):
    async with place.store(quotas=Quotas(conversation=150)) as store:
        conversation = await store.create()
        files = [file.facts for file in await conversation.probe(user_draft("", *map(note, SIXTY)))]
        await conversation.check_quotas(files[:2])
        with pytest.raises(QuotaExceeded, match="has 180 bytes"):
            await conversation.check_quotas(files)


async def test_bytes_that_no_message_named_count_against_the_quota_for_an_hour(place, clock):
    async with place.store(terms=clock.terms(), quotas=Quotas(owner=150)) as store:
        conversation = await store.create()
        await conversation.probe(user_draft("given up", note(f"{1:0100}")))
        clock.now += REFERENCE_SECONDS - 1
        await post(conversation, user_draft("look", note(f"{2:0100}")))
        clock.now += 2
        await post(conversation, user_draft("look", note(f"{3:0100}")))
        assert [attachment.facts is not None for attachment in conversation.attachments.values()] == [False, True]


@postgresql_if_thorough
async def test_many_files_are_deleted_in_few_transactions(store):
    conversation = await show(store, *(note(f"number {number}") for number in range(150)))
    begun = []
    event.listen(store.database.engine, "begin", begun.append)
    gone = await store.delete(conversation.id)
    assert (gone.blobs, gone.bytes) == (150, 10 * 8 + 90 * 9 + 50 * 10)
    assert [*await store.database.read(select(blobs))] == []
    assert 0 < len(begun) < 10
