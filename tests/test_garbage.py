"""Bytes that nobody needs go, those that a message names stay, whoever collects, crashes or comes back meanwhile."""

import asyncio
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, initialize, invariant, rule
from sqlalchemy import select

from properties import examples
from showandtell.core.messages.files import Variant, Want
from showandtell.errors import BadInput, StorageFailed
from showandtell.storage.blobs.folder import Folder
from showandtell.storage.conversations.store import Store
from showandtell.storage.database.garbage_collection import NEEDLESS, PENDING, mark
from showandtell.storage.database.quotas import Quotas
from showandtell.storage.database.tables import blobs, derivations, known
from stores import Time, note, post, said, show, two_stores

pytestmark = pytest.mark.anyio
WORDS = ("one", "two", "three")
#: A time that is later than that of any file.
FAR = 4_000_000_000.0


async def hashes(store):
    return {row[0] for row in await store.database.read(select(blobs.c.sha256))}


def lying(store, owner="local"):
    return {kept.sha256 for kept in store.blobs.of(owner).listed()}


async def test_bytes_that_no_message_names_go_after_the_grace(store, clock):
    conversation = await show(store, note("kept"))
    await conversation.prove(said("", note("never named")))
    clock.now += 100
    assert (await store.collect(grace=101)).blobs == 0
    assert (await store.collect(grace=99)).blobs == 1
    kept = conversation.attachments[1].facts
    assert lying(store) == await hashes(store) == {kept.sha256}
    assert await store.fsck() == ()


async def test_what_was_made_of_a_file_stays_and_goes_with_it(store, clock):
    conversation = await show(store, note("one"))
    source = conversation.attachments[1].facts
    made = (await conversation.prove(said("", note("made of one"))))[0].facts
    upload = Want(made.sha256, "upload", "openai:k"), Variant(file_id="file-1")
    await conversation.learn({Want(source.sha256, "text"): Variant((made,)), upload[0]: upload[1]})
    clock.now += 100
    assert (await store.collect(grace=10)).blobs == 0
    gone = await store.delete_file(conversation, 1)
    assert (gone.blobs, gone.bytes, gone.uploads) == (2, source.size + made.size, (upload,))
    for table in (blobs, derivations, known):
        assert len(await store.database.read(select(table))) == 0
    assert lying(store) == set()


async def test_a_deleted_file_keeps_number_and_name_and_says_that_it_was_deleted(store):
    conversation = await show(store, note("one", "a.txt"))
    await store.delete_file(conversation, 1)
    await post(conversation, said("more", note("two", "b.txt")))
    again = await store.open(conversation.id)
    first = again.attachments[1]
    assert again.attachments == conversation.attachments
    assert (first.state, first.name, first.label, first.facts) == ("deleted", "a.txt", "text 1", None)
    assert first.problem == "was deleted by the user"
    assert again.attachments[2].state == "ready"


async def test_bytes_are_stored_once_for_each_owner_and_stay_for_the_other_file(store):
    first, second, other = [await show(store, note("same"), owner=one) for one in ("ann", "ann", "bob")]
    assert len(lying(store, "ann")) == len(lying(store, "bob")) == 1
    assert len(await store.database.read(select(blobs))) == 2
    assert (await store.delete_file(first, 1)).blobs == 0
    assert second.file(1).read() == b"same"
    assert (await store.delete(second.id, "ann")).blobs == 1
    assert other.file(1).read() == b"same"


async def test_files_without_a_row_and_copies_half_made_go_after_the_grace(store, clock):
    conversation = await show(store, note("kept"))
    for owner in ("local", "somebody unknown"):
        store.blobs.of(owner).store(note("stray").open, "stray", 100)
    store.blobs.of("local").spool(note("half").open, "half", 100)
    found = await store.fsck()
    assert [one.problem for one in found] == ["is named by no row"] * 2
    done = await store.collect(grace=0)
    assert (done.blobs, done.orphans, done.spools) == (0, 0, 0)
    clock.now = FAR
    done = await store.collect(grace=0)
    assert (done.blobs, done.orphans, done.spools) == (0, 2, 1)
    assert await store.fsck() == ()
    assert conversation.file(1).read() == b"kept"


async def test_fsck_names_what_is_missing_short_or_changed_and_the_files_that_need_it(place):
    async with place.store() as store:
        conversation = await show(store, *(note(words) for words in ("gone", "short", "flipped", "whole")), owner="ann")
        files = {one.facts.sha256: one for one in conversation.attachments.values()}
        ours = store.blobs.of("ann")
        by_number = {one.number: ours.blob(sha256) for sha256, one in files.items()}
        by_number[1].unlink()
        for number, data in ((2, b"sho"), (3, b"fl!pped")):
            by_number[number].chmod(0o600)
            by_number[number].write_bytes(data)
    async with place.store() as store:
        found = {files[one.sha256].number: one for one in await store.fsck("ann")}
        assert {number: one.problem for number, one in found.items()} == {
            1: "is missing",
            2: "has 3 of 5 bytes",
            3: "no longer matches its hash",
        }
        assert found[1].files == (conversation.attachments[1].id,)
        assert await store.fsck("bob") == ()


async def test_a_message_whose_bytes_were_cleared_away_is_stored_with_that_problem(store, clock):
    conversation = await store.create()
    draft = said("look", note("late"))
    proved = await conversation.prove(draft)
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
            await post(conversation, said("look", *(note(words) for words in WORDS)))
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
        assert lying(one) >= needed
        assert needed


async def test_bytes_that_another_process_has_deleted_are_stored_again(place):
    async with two_stores(place) as (one, two):
        conversation = await one.create()
        for _ in range(3):
            await post(conversation, said("look", note("again")))
        for number in (1, 2, 3):
            await two.delete_file(await two.open(conversation.id), number)
        await post(conversation, said("look", note("again")))
        assert [file.state for file in conversation.attachments.values()] == ["deleted"] * 3 + ["ready"]
        assert conversation.file(4).read() == b"again"


async def test_quotas_are_kept_and_say_how_much_there_is(place):
    async def problems(store, *notes):
        conversation = await show(store, *notes)
        return [one.problem for one in conversation.attachments.values()]

    big = [note("x" * 60 + str(number)) for number in range(3)]
    async with place.store(quotas=Quotas(file=50)) as store:
        assert "is larger than 50 bytes" in (await problems(store, big[0]))[0]
    async with place.store(quotas=Quotas(conversation=130)) as store:
        told = await problems(store, *big)
        assert [problem is None for problem in told].count(False) == 1
        assert "the files of this conversation have 122 bytes of the 130 bytes" in "".join(filter(None, told))
        assert await problems(store, big[0], big[0], big[0]) == [None] * 3
    async with place.store(quotas=Quotas(owner=180)) as store:
        assert await problems(store, *big[:2]) == [None, None]
        told = await problems(store, note("y" * 61))
        assert "all your files have 122 bytes of the 180 bytes that they may have" in told[0]
        assert "delete files or conversations" in told[0]


class Fragile(Folder):
    """A folder whose program may be killed right after a blob was deleted."""

    breaks = False

    def at(self, key):
        part = Fragile(super().at(key).path, ground=self._ground)
        part.breaks = self.breaks
        return part

    def delete(self, sha256):
        super().delete(sha256)
        if self.breaks:
            raise StorageFailed("killed")


class Keeping(RuleBasedStateMachine):
    """Store, upload, prove, record, convert, delete, collect, crash, in any order: what is named is there."""

    proofs, talks, uploads, claims = Bundle("proofs"), Bundle("talks"), Bundle("uploads"), Bundle("claims")

    def __init__(self):
        super().__init__()
        self.events = asyncio.new_event_loop()
        self.there = tempfile.TemporaryDirectory()
        self.alive, self.pending = {}, {}

    def do(self, work):
        return self.events.run_until_complete(work)

    @initialize(target=talks)
    def open(self):
        self.do(self._open())
        return self.do(self._create())

    async def _open(self):
        self.clock = Time()
        self.store = Store.at(Path(self.there.name), terms=self.clock.terms())
        self.store.blobs = Fragile(self.store.blobs.path, durable=False)
        await self.store.__aenter__()

    @rule(target=talks)
    def create(self):
        return self.do(self._create())

    async def _create(self):
        conversation = await self.store.create()
        self.alive[conversation.id] = conversation
        return conversation.id

    @rule(target=proofs, talk=talks, words=st.sampled_from(WORDS), between=st.booleans())
    def prove(self, talk, words, between):
        if talk not in self.alive:
            return None
        conversation, draft = self.alive[talk], said("look", note(words))
        if between:
            conversation.shelf.pin = self._pin_and_collect(conversation)
        proved = self.do(conversation.prove(draft))
        conversation.shelf.pin = conversation.pin
        self._expire()
        return talk, draft, proved

    def _pin_and_collect(self, conversation):
        def pin(sha256, size):
            conversation.pin(sha256, size)
            asyncio.run_coroutine_threadsafe(self.store.collect(grace=-5), self.events).result()

        return pin

    @rule(target=uploads, words=st.sampled_from(WORDS))
    def upload(self, words):
        upload = self.do(self.store.uploads().add(note(words)))
        self.pending[upload.id] = upload
        return upload.id

    @rule(target=claims, upload=uploads, talk=talks)
    def claim(self, upload, talk):
        if upload not in self.pending or talk not in self.alive:
            return None
        return talk, said("look", self.do(self.store.uploads().claim(upload, talk)))

    @rule(target=proofs, claim=consumes(claims))
    def prove_claim(self, claim):
        if claim is None or claim[0] not in self.alive:
            return None
        return *claim, self.do(self.alive[claim[0]].prove(claim[1]))

    @rule(upload=consumes(uploads))
    def drop(self, upload):
        if self.pending.pop(upload, None) is not None:
            self.do(self.store.uploads().drop(upload))

    @rule(proof=consumes(proofs))
    def record(self, proof):
        if proof is not None and proof[0] in self.alive:
            try:
                message = self.do(self.alive[proof[0]].record(*proof[1:]))
            except BadInput as error:
                assert "was sent in another one" in str(error)  # noqa: PT017 - any other one is wrong
            else:
                for shown in message.showings:
                    self.pending.pop(shown.attachment_id, None)

    @rule(talk=talks, words=st.sampled_from(WORDS))
    def convert(self, talk, words):
        files = [one.facts for one in self.alive[talk].attachments.values() if one.facts] if talk in self.alive else []
        if files:
            made = self.do(self.alive[talk].prove(said("", note(f"made with {words}"))))
            self.do(self.alive[talk].learn({Want(files[-1].sha256, words): Variant((made[0].facts,))}))

    @rule(talk=talks, number=st.integers(1, 3))
    def delete_file(self, talk, number):
        if talk in self.alive and number in self.alive[talk].attachments:
            self.do(self.store.delete_file(self.alive[talk], number))

    @rule(talk=consumes(talks))
    def delete(self, talk):
        if self.alive.pop(talk, None) is not None:
            self.do(self.store.delete(talk))

    @rule(seconds=st.sampled_from([-30.0, 1.0, 50.0, PENDING]))
    def wait(self, seconds):
        self.clock.now += seconds

    @rule(grace=st.sampled_from([0.0, 10.0, 100.0]), breaks=st.booleans())
    def collect(self, grace, breaks):
        self.store.blobs.breaks = breaks
        try:
            self.do(self.store.collect(grace))
        except StorageFailed:
            assert breaks
        self.store.blobs.breaks = False
        self._expire()

    def _expire(self):
        """What was uploaded long before the last collection may be gone."""
        before = self.clock.now - PENDING
        self.pending = {one.id: one for one in self.pending.values() if one.created >= before}

    @rule()
    def mark_and_die(self):
        self.do(mark(self.store.database, NEEDLESS))

    @invariant()
    def what_is_named_is_there(self):
        for conversation in self.alive.values():
            for one in conversation.attachments.values():
                assert one.facts is None or self.store.blobs.of("local").read(one.facts)

    @invariant()
    def what_was_uploaded_is_there(self):
        for one in self.pending.values():
            assert self.do(self.store.uploads().find(one.id)) == one
            assert self.store.blobs.of("local").read(one.facts)

    def teardown(self):
        try:
            self.do(self._check_what_is_left())
        finally:
            self.do(self.store.__aexit__())
            self.events.run_until_complete(self.events.shutdown_default_executor())
            self.events.close()
            self.there.cleanup()

    async def _check_what_is_left(self):
        self.clock.now = FAR
        await self.store.collect(grace=1)
        rows = await hashes(self.store)
        assert lying(self.store) == rows
        opened = [await self.store.open(one) for one in self.alive]
        named = {file.facts.sha256 for one in opened for file in one.attachments.values() if file.facts}
        made = {row[0] for row in await self.store.database.read(select(derivations.c.sha256))}
        assert named <= rows <= named | made


Keeping.TestCase.settings = examples(8, suppress=HealthCheck, stateful_step_count=25)
test_no_bytes_that_a_message_or_an_upload_names_are_ever_deleted = Keeping.TestCase
