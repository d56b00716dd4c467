"""Files that were uploaded before the message they belong to: kept, counted and found by id, until one claims them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import msgspec
from msgspec import Struct, structs
from sqlalchemy import Connection, bindparam, delete, insert, select

from showandtell.core.media_types.claims import name_ending, read_claim, respell
from showandtell.core.messages.attachments import Attachment, Facts, Origin, Proved
from showandtell.core.messages.file import File, Reader
from showandtell.core.messages.ids import new_id
from showandtell.core.messages.parts import Shown
from showandtell.errors import BadFile
from showandtell.storage.blobs.base import BlobStore, UploadWriter
from showandtell.storage.conversations.access import check_id, not_found, resolve
from showandtell.storage.database.database import Database
from showandtell.storage.database.garbage_collection import Collected, collect_now
from showandtell.storage.database.quotas import CLEANED, reserve
from showandtell.storage.database.rows import serialize
from showandtell.storage.database.tables import attachments, uploads
from showandtell.storage.files.sources import StoredSource


class Upload(Struct, frozen=True):
    """A stored and proved file of no message yet; `created` is in epoch seconds, `claimed` what it was said to be."""

    id: str
    owner: str
    created: float
    name: str
    facts: Facts
    claimed: str | None = None
    corrected: str | None = None

    @property
    def attachment(self) -> Attachment:
        """What it would be in a conversation, without a number."""
        date = datetime.fromtimestamp(self.created, UTC).date().isoformat()
        one = Attachment(self.id, 0, self.name, Origin("user"), date, self.facts)
        return structs.replace(one, corrected=self.corrected, claimed=self.claimed)


class AttachedFile(Struct, frozen=True):
    """A file of a conversation; `owner` is the conversation's, whose blobs hold its bytes."""

    attachment: Attachment
    owner: str
    conversation_id: str

    @property
    def id(self) -> str:
        """The file's id."""
        return self.attachment.id


MINE = (uploads.c.id == bindparam("id"), uploads.c.owner == bindparam("user"))
SELECT_UPLOAD = select(uploads.c.record).where(*MINE)
DELETE_UPLOAD = delete(uploads).where(*MINE).returning(uploads.c.sha256)
SELECT_ATTACHMENT = select(attachments.c.record).where(attachments.c.id == bindparam("id"))

read_upload = msgspec.json.Decoder(Upload).decode
read_attachment = msgspec.json.Decoder(Attachment).decode


@dataclass(frozen=True, slots=True)
class Uploads:
    """The uploads of a user. Whoever names what isn't theirs gets `NotFound`, as for what isn't there."""

    database: Database
    blobs: BlobStore
    user: str
    prove: Callable[[str, File], Awaitable[Proved]]
    clock: Callable[[], float]
    max_file_bytes: int

    def receive(self, name: str) -> UploadWriter:
        """Begin a file that arrives in pieces. It blocks."""
        return self.blobs.of(self.user).receive(name, self.max_file_bytes)

    async def add(self, file: File) -> Upload:
        """Store and prove a file. Raises `BadFile` for one that can't be taken, of which nothing stays."""
        proved = await self.prove(self.user, file)
        if proved.facts is None:
            problem, _, advice = (proved.problem or "is an address: add the file itself").rpartition(": ")
            raise BadFile(proved.name or "the file", problem, advice)
        now, claimed = self.clock(), respell(file.media_type)
        name = proved.name or f"file{name_ending(proved.facts.media_type)}"
        upload = Upload(new_id("att"), self.user, now, name, proved.facts, claimed, proved.corrected)
        await self.database.write(lambda connection: keep(connection, upload, now))
        return upload

    async def find(self, id: str) -> Upload | AttachedFile:  # noqa: A002 - it is one
        """An upload of this user, or a file of a conversation that they may read."""
        rows = await self.database.read(SELECT_UPLOAD, id=check_id(id), user=self.user)
        if rows:
            return read_upload(rows[0][0])
        if not id.startswith("att_"):
            raise not_found(id)
        conversation_id, owner = await resolve(self.database, id, self.user)
        records = await self.database.read(SELECT_ATTACHMENT, id=id)
        if not records:  # deleted in between
            raise not_found(id)
        return AttachedFile(read_attachment(records[0][0]), owner, conversation_id)

    async def drop(self, id: str) -> Collected:  # noqa: A002 - it is one
        """Delete an upload of this user, and its bytes where nothing else needs them."""
        mine = {"id": check_id(id), "user": self.user}
        row = await self.database.write(lambda connection: connection.execute(DELETE_UPLOAD, mine).first())
        if row is None:
            raise not_found(id)
        return await collect_now(self.database, self.blobs, [(self.user, row[0])])

    async def claim(self, id: str, conversation_id: str) -> File | Shown:  # noqa: A002 - it is one
        """What a message of this user's in a conversation names by an id.

        An upload becomes a file with its id, which no message can have a second time. A file of the same conversation
        is shown again by its number; one of another gets a new number and id here. No bytes are read. Raises `BadFile`
        for a file whose bytes are not there any more.
        """
        found = await self.find(id)
        if isinstance(found, Upload):
            return self._file(found.owner, found.facts, found.name, found.claimed, found.corrected, id=id)
        one = found.attachment
        if found.conversation_id == conversation_id:
            return Shown(one.number, one.id)
        if one.facts is None or one.state != "ready":
            raise BadFile(one.name, f"has no bytes here ({one.problem or 'it is an address'})", "add the file itself")
        return self._file(found.owner, one.facts, one.name, one.claimed, one.corrected, description=one.description)

    def _file(
        self,
        owner: str,
        facts: Facts,
        name: str,
        claimed: str | None,
        corrected: str | None,
        *,
        description: str | None = None,
        id: str | None = None,  # noqa: A002 - it is one
    ) -> File:
        stored = StoredSource(self.blobs.of(owner), facts, read_claim(claimed, name), corrected)
        return File(Reader(stored, facts.size), claimed, name, description, id=id)


def keep(connection: Connection, upload: Upload, now: float) -> None:
    """Store an upload, whose bytes are there. Raises `BadFile` where they were cleared away meanwhile."""
    if not reserve(connection, upload.owner, {upload.facts.sha256: 1}, now):
        raise BadFile(upload.name, *CLEANED.split(": "))
    connection.execute(insert(uploads), row_of_upload(upload))


def row_of_upload(one: Upload) -> dict[str, Any]:
    """The row of an upload."""
    return {
        "id": one.id,
        "owner": one.owner,
        "sha256": one.facts.sha256,
        "created": one.created,
        "record": serialize(one),
    }
