"""Steps of a store whose garbage is collected."""

import asyncio
import tempfile
from pathlib import Path

from hypothesis import HealthCheck
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, initialize, invariant, rule
from sqlalchemy import select

from showandtell.core.messages.derivations import DerivationRequest, Derivative
from showandtell.errors import BadInput, StorageFailed
from showandtell.storage.blobs.folder import Folder
from showandtell.storage.conversations.store import Store
from showandtell.storage.database.garbage_collection import SELECT_UNREFERENCED, UPLOAD_SECONDS, mark
from showandtell.storage.database.tables import blobs, derivations
from support.properties import examples
from support.stores import Time, note, user_draft

WORDS = ("one", "two", "three")
#: A time that is later than that of any file.
FAR = 4_000_000_000.0


async def hashes(store):
    """The hashes of all rows."""
    return {row[0] for row in await store.database.read(select(blobs.c.sha256))}


def lying(store, owner="local"):
    """The hashes of all stored bytes."""
    return {kept.sha256 for kept in store.blobs.for_owner(owner).list_blobs()}


class Fragile(Folder):
    """A folder whose program may be killed right after a blob was deleted."""

    breaks = False

    def at(self, key):
        part = Fragile(super().for_key(key).path, spools=self._spools)
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
        conversation, draft = self.alive[talk], user_draft("look", note(words))
        if between:
            conversation.file_cache.reference = self._reference_and_collect(conversation)
        proved = self.do(conversation.probe(draft))
        conversation.file_cache.reference = conversation.reference
        self._expire()
        return talk, draft, proved

    def _reference_and_collect(self, conversation):
        def reference(sha256, size):
            conversation.reference(sha256, size)
            asyncio.run_coroutine_threadsafe(self.store.collect(grace=-5), self.events).result()

        return reference

    @rule(target=uploads, words=st.sampled_from(WORDS))
    def upload(self, words):
        upload = self.do(self.store.uploads().add(note(words)))
        self.pending[upload.id] = upload
        return upload.id

    @rule(target=claims, upload=uploads, talk=talks)
    def claim(self, upload, talk):
        if upload not in self.pending or talk not in self.alive:
            return None
        return talk, user_draft("look", self.do(self.store.uploads().claim(upload, talk)))

    @rule(target=proofs, claim=consumes(claims))
    def prove_claim(self, claim):
        if claim is None or claim[0] not in self.alive:
            return None
        return *claim, self.do(self.alive[claim[0]].probe(claim[1]))

    @rule(upload=consumes(uploads))
    def drop(self, upload):
        if self.pending.pop(upload, None) is not None:
            self.do(self.store.uploads().delete(upload))

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
        files = (
            [attachment.facts for attachment in self.alive[talk].attachments.values() if attachment.facts]
            if talk in self.alive
            else []
        )
        if files:
            made = self.do(self.alive[talk].probe(user_draft("", note(f"made with {words}"))))
            self.do(self.alive[talk].learn({DerivationRequest(files[-1].sha256, words): Derivative((made[0].facts,))}))

    @rule(talk=talks, number=st.integers(1, 3))
    def delete_file(self, talk, number):
        if talk in self.alive and number in self.alive[talk].attachments:
            self.do(self.store.delete_file(self.alive[talk], number))

    @rule(talk=consumes(talks))
    def delete(self, talk):
        if self.alive.pop(talk, None) is not None:
            self.do(self.store.delete(talk))

    @rule(seconds=st.sampled_from([-30.0, 1.0, 50.0, UPLOAD_SECONDS]))
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
        before = self.clock.now - UPLOAD_SECONDS
        self.pending = {item.id: item for item in self.pending.values() if item.created >= before}

    @rule()
    def mark_and_die(self):
        self.do(mark(self.store.database, SELECT_UNREFERENCED))

    @invariant()
    def what_is_named_is_there(self):
        for conversation in self.alive.values():
            for attachment in conversation.attachments.values():
                assert attachment.facts is None or self.store.blobs.for_owner("local").read(attachment.facts)

    @invariant()
    def what_was_uploaded_is_there(self):
        for item in self.pending.values():
            assert self.do(self.store.uploads().find(item.id)) == item
            assert self.store.blobs.for_owner("local").read(item.facts)

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
        opened = [await self.store.open(item) for item in self.alive]
        named = {file.facts.sha256 for item in opened for file in item.attachments.values() if file.facts}
        made = {row[0] for row in await self.store.database.read(select(derivations.c.sha256))}
        assert named <= rows <= named | made


Keeping.TestCase.settings = examples(8, suppress=HealthCheck, stateful_step_count=25)
