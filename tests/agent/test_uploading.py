"""Files that are uploaded before their message: one claims them, once; until then they are kept, counted, and expire."""

import asyncio

import pytest
from sqlalchemy import select

from showandtell.core.messages.file import File, Reader
from showandtell.core.messages.ids import new_id
from showandtell.core.messages.parts import Shown
from showandtell.errors import BadFile, BadInput, NotFound
from showandtell.storage.blobs.base import TooLarge
from showandtell.storage.conversations.store import Store
from showandtell.storage.database.garbage_collection import UPLOAD_SECONDS
from showandtell.storage.database.quotas import Quotas
from showandtell.storage.database.tables import blobs, uploads
from showandtell.storage.files.sources import SpooledSource, StoredSource
from support.fixtures import png
from support.garbage_collection_machine import stored_hashes
from support.postgres import on_sqlite
from support.stores import check_not_found, note, post, show, user_draft

pytestmark = pytest.mark.anyio
HOUR = 3600.0


async def count(store, table):
    return len(await store.database.read(select(table)))


async def send(store, user, conversation, *ids, words="look"):
    """What the chat does with a message's ids."""
    files = [await store.uploads(user).claim(id_, conversation.id) for id_ in ids]
    return await post(conversation, user_draft(words, *files))


async def test_an_upload_becomes_the_file_of_its_message_with_its_id_and_its_proof(store):
    upload = await store.uploads().add(File.from_bytes(png(3, 2), "image/jpeg", "a.jpg"))
    conversation = await store.create()
    await send(store, "local", conversation, upload.id)
    one = (await store.open(conversation.id)).attachments[1]
    assert (one.id, one.name, one.facts, one.state) == (upload.id, "a.jpg", upload.facts, "ready")
    assert (one.media_type, one.facts.pixels, one.corrected, one.claimed) == (
        "image/png",
        (3, 2),
        "image/jpeg",
        "image/jpeg",
    )
    assert await count(store, uploads) == 0
    assert (await store.collect(grace=-60)).blobs == 0
    assert conversation.file(1).read() == png(3, 2)


async def test_claimed_bytes_are_neither_read_nor_hashed_nor_copied_again(store, monkeypatch):
    upload = await store.uploads().add(note("x" * 5000))
    conversation = await store.create()
    claimed = await store.uploads().claim(upload.id, conversation.id)

    def refuse(*_, **__):
        raise AssertionError

    for name in ("open", "spool", "commit", "check", "_open"):
        monkeypatch.setattr(type(conversation.blobs.inner), name, refuse)
    await post(conversation, user_draft("look", claimed))
    assert conversation.attachments[1].facts == upload.facts


async def test_a_file_of_the_conversation_is_shown_again_and_one_of_another_gets_a_new_number(store):
    first, second = await show(store, note("one"), note("two")), await show(store, note("three"))
    two = first.attachments[2]
    assert await store.uploads().claim(two.id, first.id) == Shown(2, two.id)
    await send(store, "local", second, two.id)
    again = second.attachments[2]
    assert (again.facts, again.name) == (two.facts, two.name)
    assert again.id != two.id


async def test_a_file_keeps_the_ids_and_metadata_of_the_program_only_among_a_persons_own_conversations(store):
    file = File.from_bytes(b"one", name="note.txt", id="row 7", metadata={"row": 7}, convert=False)
    theirs = await show(store, file, owner="ann")
    await store.share(theirs.id, "ann", "bob", "reader")
    for user, own in (("ann", ("row 7", {"row": 7})), ("bob", (None, None))):
        conversation = await store.create(user)
        await send(store, user, conversation, theirs.attachments[1].id)
        again = conversation.file(1)
        assert ((again.id, again.metadata), again.convert) == (own, False)


async def test_an_upload_is_sent_once_in_whichever_message_comes_first(store):
    upload = await store.uploads().add(note("one"))
    conversations = [await store.create() for _ in range(4)]
    files = [await store.uploads().claim(upload.id, conversation.id) for conversation in conversations]
    drafts = [post(item, user_draft("look", file)) for item, file in zip(conversations, files, strict=True)]
    found = await asyncio.gather(*drafts, return_exceptions=True)
    failed = [item for item in found if isinstance(item, BadInput)]
    assert len(failed) == 3
    assert all("add it again" in str(item) for item in failed)
    assert [len((await store.open(conversation.id)).messages) for conversation in conversations].count(1) == 1


async def test_a_writer_sends_an_upload_of_theirs_in_a_conversation_that_belongs_to_another(store):
    conversation = await store.create("ann")
    await store.share(conversation.id, "ann", "bob", "writer")
    upload = await store.uploads("bob").add(note("from bob"))
    await send(store, "bob", await store.open(conversation.id, "bob"), upload.id)
    one = (await store.open(conversation.id, "ann")).attachments[1]
    assert (one.id, one.facts) == (upload.id, upload.facts)
    assert stored_hashes(store, "ann") == {one.facts.sha256}
    assert await count(store, uploads) == 0
    await store.collect(grace=-60)
    assert stored_hashes(store, "bob") == set()


async def test_what_is_not_yours_is_not_found_in_the_same_words(store):
    upload = await store.uploads("ann").add(note("secret"))
    conversation, mine = await show(store, note("hidden"), owner="ann"), await store.create("bob")
    theirs = store.uploads("bob")
    missing = new_id("att")
    for item in (upload.id, conversation.attachments[1].id, missing, conversation.id, "att_x", "att_" + "\0" * 22):
        await check_not_found(theirs.find(item), theirs.claim(item, mine.id), theirs.delete(item))
        with pytest.raises(NotFound) as received:
            await theirs.find(item)
        assert str(received.value).replace(repr(item[:40]), "ID") in {
            "there is no file ID: check the id",
            "there is no conversation ID: check the id",
        }
    assert (await store.uploads("ann").find(upload.id)) == upload


async def test_a_pending_upload_is_kept_for_a_day_and_then_goes_with_its_bytes(store, clock):
    upload = await store.uploads().add(note("late"))
    clock.now += UPLOAD_SECONDS - HOUR
    assert (await store.collect(grace=0)).blobs == 0
    assert (await store.uploads().find(upload.id)).facts == upload.facts
    clock.now += 2 * HOUR
    assert (await store.collect()).blobs == 1
    assert stored_hashes(store) == set()
    await check_not_found(store.uploads().find(upload.id))


async def test_deleting_the_same_bytes_elsewhere_leaves_an_upload_alone(store):
    upload = await store.uploads().add(note("same"))
    conversation = await show(store, note("same"))
    assert (await store.delete(conversation.id)).blobs == 0
    other = await store.create()
    await send(store, "local", other, upload.id)
    assert other.file(1).read() == b"same"


async def test_bytes_of_a_claim_that_is_proved_outlive_its_upload(store):
    upload, conversation = await store.uploads().add(note("held")), await store.create()
    draft = user_draft("look", await store.uploads().claim(upload.id, conversation.id))
    proved = await conversation.probe(draft)
    assert (await store.uploads().delete(upload.id)).blobs == 0
    await conversation.record(draft, proved)
    assert conversation.file(1).read() == b"held"
    assert (await store.delete_file(conversation, 1)).blobs == 1


async def test_a_claim_that_came_too_late_lets_no_older_proof_name_bytes_that_are_gone(store, clock):
    upload, conversation = await store.uploads().add(note("gone")), await store.create()
    draft = user_draft("look", note("gone"))
    proved = await conversation.probe(draft)
    claimed = await store.uploads().claim(upload.id, conversation.id)
    clock.now += 2 * UPLOAD_SECONDS
    assert (await store.collect()).blobs == 1
    (late,) = await conversation.probe(user_draft("look", claimed))
    await conversation.record(draft, proved)
    assert (late.facts, conversation.attachments[1].facts) == (None, None)
    assert await store.fsck() == ()


async def test_fsck_names_an_upload_whose_bytes_are_gone(place):
    async with place.store() as store:
        upload = await store.uploads("ann").add(note("soon gone"))
        store.blobs.for_owner("ann").delete(upload.facts.sha256)
        for owner in ("ann", None):
            (found,) = await store.fsck(owner)
            assert (found.owner, found.problem, found.files) == ("ann", "is missing", (upload.id,))
        assert await store.fsck("bob") == ()


async def test_a_dropped_upload_takes_its_bytes_along_unless_others_have_them(store):
    first, second = [await store.uploads().add(note("same")) for _ in range(2)]
    assert (await store.uploads().delete(first.id)).blobs == 0
    assert (await store.uploads().delete(second.id)).blobs == 1
    await check_not_found(store.uploads().delete(second.id))
    assert await count(store, blobs) == 0
    assert stored_hashes(store) == set()


async def test_pending_uploads_count_against_the_quota_and_free_it_when_dropped(place):
    async with place.store(quotas=Quotas(owner=250)) as store:
        mine = store.uploads()
        kept = [await mine.add(note(f"{number:0100}")) for number in range(2)]
        with pytest.raises(BadFile, match="all your files have 200 bytes of the 250 bytes"):
            await mine.add(note("x" * 100))
        await mine.delete(kept[0].id)
        await mine.add(note("x" * 100))
        assert await count(store, uploads) == 2


async def test_a_file_that_cannot_be_taken_leaves_nothing(place):
    async with place.store(quotas=Quotas(file=50)) as store:
        for file, received in [
            (note("", "a.txt"), "a.txt is empty"),
            (note("x" * 51), "larger than 50 bytes"),
            (File.from_bytes(png(1, 1)[:30], name="a.png"), "a.png"),
            (File.from_uri("https://example.com/a.png"), "is an address"),
        ]:
            with pytest.raises(BadFile, match=received):
                await store.uploads().add(file)
        assert await count(store, uploads) == await count(store, blobs) == 0
        assert [*store.blobs.for_owner("local").list_blobs()] == []
        assert store.blobs.clear_spools(4e9) == 0


async def test_bytes_that_arrive_in_pieces_are_one_file_and_stop_at_the_limit(store):
    data = png(40, 30)
    incoming = store.blobs.for_owner("local").receive("a.png", len(data))
    for start in range(0, len(data), 7):
        incoming.write(memoryview(data)[start : start + 7])
    spooled = incoming.finish()
    upload = await store.uploads().add(File(Reader(SpooledSource(spooled), spooled.size), None, "a.png"))
    assert (upload.facts.pixels, upload.facts.size) == ((40, 30), len(data))
    assert not spooled.path.exists()
    incoming = store.blobs.for_owner("local").receive("a.png", 10)
    with pytest.raises(TooLarge, match=r"a\.png is larger than 10 bytes"):
        incoming.write(data)
    incoming.discard()
    assert store.blobs.clear_spools(4e9) == 0


@on_sqlite
async def test_a_claim_finds_its_bytes_in_a_bucket(place):
    async with Store(place.url, "memory:") as store:
        upload, conversation = await store.uploads().add(note("far away")), await store.create()
        await send(store, "local", conversation, upload.id)
        assert conversation.attachments[1].facts == upload.facts
        late = await store.uploads().add(note("soon gone"))
        claimed = await store.uploads().claim(late.id, conversation.id)
        await store.uploads().delete(late.id)
        await post(conversation, user_draft("look", claimed))
        assert conversation.attachments[2].facts is None
        assert conversation.file(1).read() == b"far away"


async def test_a_stored_file_under_another_name_is_proved_anew(store):
    conversation = await show(store, note("a,b\n1,2\n", "a.txt"))
    facts = conversation.attachments[1].facts
    source = Reader(StoredSource(conversation.blobs, facts), facts.size)
    (proved,) = await conversation.probe(user_draft("", File(source, None, "a.csv")))
    assert (facts.media_type, proved.facts.media_type) == ("text/plain", "text/csv")
