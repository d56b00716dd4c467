"""A hypothesis state machine for garbage collection: whatever is referenced is never deleted."""

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
#: Seconds; a time after that of any file.
LATER_THAN_ALL = 4_000_000_000.0


async def hashes(store):
    """The hashes of all rows of the table of blobs."""
    return {row[0] for row in await store.database.read(select(blobs.c.sha256))}


def stored_hashes(store, owner="local"):
    """The hashes of all stored blobs."""
    return {blob.sha256 for blob in store.blobs.for_owner(owner).list_blobs()}


class CrashingFolder(Folder):
    """A folder whose process can crash right after it deleted a blob."""

    crashes = False

    def at(self, key):
        part = CrashingFolder(super().for_key(key).path, spools=self._spools)
        part.crashes = self.crashes
        return part

    def delete(self, sha256):
        super().delete(sha256)
        if self.crashes:
            raise StorageFailed("killed")


class GarbageCollectionMachine(RuleBasedStateMachine):
    """Upload, probe, record, convert, delete, collect and crash in any order."""

    probes, conversations, uploads, claims = (
        Bundle("probes"),
        Bundle("conversations"),
        Bundle("uploads"),
        Bundle("claims"),
    )

    def __init__(self):
        super().__init__()
        self.events = asyncio.new_event_loop()
        self.folder = tempfile.TemporaryDirectory()
        self.alive, self.pending = {}, {}

    def do(self, coroutine):
        return self.events.run_until_complete(coroutine)

    @initialize(target=conversations)
    def open(self):
        self.do(self._open())
        return self.do(self._create())

    async def _open(self):
        self.clock = Time()
        self.store = Store.at(Path(self.folder.name), terms=self.clock.terms())
        self.store.blobs = CrashingFolder(self.store.blobs.inner.path, durable=False)
        await self.store.__aenter__()

    @rule(target=conversations)
    def create(self):
        return self.do(self._create())

    async def _create(self):
        conversation = await self.store.create()
        self.alive[conversation.id] = conversation
        return conversation.id

    @rule(target=probes, conversation_id=conversations, words=st.sampled_from(WORDS), between=st.booleans())
    def probe(self, conversation_id, words, between):
        if conversation_id not in self.alive:
            return None
        conversation, draft = self.alive[conversation_id], user_draft("look", note(words))
        if between:
            conversation.file_cache.reference = self._reference_and_collect(conversation)
        probed = self.do(conversation.probe(draft))
        conversation.file_cache.reference = conversation.reference
        self._expire()
        return conversation_id, draft, probed

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

    @rule(target=claims, upload=uploads, conversation_id=conversations)
    def claim(self, upload, conversation_id):
        if upload not in self.pending or conversation_id not in self.alive:
            return None
        return conversation_id, user_draft("look", self.do(self.store.uploads().claim(upload, conversation_id)))

    @rule(target=probes, claim=consumes(claims))
    def probe_claim(self, claim):
        if claim is None or claim[0] not in self.alive:
            return None
        return *claim, self.do(self.alive[claim[0]].probe(claim[1]))

    @rule(upload=consumes(uploads))
    def drop(self, upload):
        if self.pending.pop(upload, None) is not None:
            self.do(self.store.uploads().delete(upload))

    @rule(probe=consumes(probes))
    def record(self, probe):
        if probe is not None and probe[0] in self.alive:
            try:
                message = self.do(self.alive[probe[0]].record(*probe[1:]))
            except BadInput as error:
                assert "was sent in another one" in str(error)  # noqa: PT017 - any other error is a defect
            else:
                for shown in message.showings:
                    self.pending.pop(shown.attachment_id, None)

    @rule(conversation_id=conversations, words=st.sampled_from(WORDS))
    def convert(self, conversation_id, words):
        files = (
            [attachment.facts for attachment in self.alive[conversation_id].attachments.values() if attachment.facts]
            if conversation_id in self.alive
            else []
        )
        if files:
            made = self.do(self.alive[conversation_id].probe(user_draft("", note(f"made with {words}"))))
            self.do(
                self.alive[conversation_id].learn(
                    {DerivationRequest(files[-1].sha256, words): Derivative((made[0].facts,))}
                )
            )

    @rule(conversation_id=conversations, number=st.integers(1, 3))
    def delete_file(self, conversation_id, number):
        if conversation_id in self.alive and number in self.alive[conversation_id].attachments:
            self.do(self.store.delete_file(self.alive[conversation_id], number))

    @rule(conversation_id=consumes(conversations))
    def delete(self, conversation_id):
        if self.alive.pop(conversation_id, None) is not None:
            self.do(self.store.delete(conversation_id))

    @rule(seconds=st.sampled_from([-30.0, 1.0, 50.0, UPLOAD_SECONDS]))
    def wait(self, seconds):
        self.clock.now += seconds

    @rule(grace=st.sampled_from([0.0, 10.0, 100.0]), crashes=st.booleans())
    def collect(self, grace, crashes):
        self.store.blobs.crashes = crashes
        try:
            self.do(self.store.collect(grace))
        except StorageFailed:
            assert crashes
        self.store.blobs.crashes = False
        self._expire()

    def _expire(self):
        """Stop expecting uploads that are old enough to be collected."""
        before = self.clock.now - UPLOAD_SECONDS
        self.pending = {item.id: item for item in self.pending.values() if item.created >= before}

    @rule()
    def mark_and_crash(self):
        self.do(mark(self.store.database, SELECT_UNREFERENCED))

    @invariant()
    def files_of_conversations_are_stored(self):
        for conversation in self.alive.values():
            for attachment in conversation.attachments.values():
                assert attachment.facts is None or self.store.blobs.for_owner("local").read(attachment.facts)

    @invariant()
    def pending_uploads_are_stored(self):
        for item in self.pending.values():
            assert self.do(self.store.uploads().find(item.id)) == item
            assert self.store.blobs.for_owner("local").read(item.facts)

    def teardown(self):
        try:
            self.do(self._check_final_state())
        finally:
            self.do(self.store.__aexit__())
            self.events.run_until_complete(self.events.shutdown_default_executor())
            self.events.close()
            self.folder.cleanup()

    async def _check_final_state(self):
        self.clock.now = LATER_THAN_ALL
        await self.store.collect(grace=1)
        rows = await hashes(self.store)
        assert stored_hashes(self.store) == rows
        opened = [await self.store.open(item) for item in self.alive]
        referenced = {file.facts.sha256 for item in opened for file in item.attachments.values() if file.facts}
        derived = {row[0] for row in await self.store.database.read(select(derivations.c.sha256))}
        assert referenced <= rows <= referenced | derived


GarbageCollectionMachine.TestCase.settings = examples(8, suppress=HealthCheck, stateful_step_count=25)
