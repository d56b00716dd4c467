"""Files uploaded before the message they belong to: stored and found by id until a message uses them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

import msgspec
from msgspec import Struct, structs
from sqlalchemy import Connection, bindparam, delete, insert, select

from showandtell.core.media_types.claims import normalize_claim, suffix_of
from showandtell.core.media_types.converters import claim_of
from showandtell.core.messages.attachments import Attachment, Facts, Origin, ProbedFile
from showandtell.core.messages.file import File, Reader
from showandtell.core.messages.ids import new_id
from showandtell.core.messages.parts import Shown
from showandtell.errors import BadFile, BadInput
from showandtell.storage.blobs.base import BlobStore, UploadWriter
from showandtell.storage.conversations.access import check_id, not_found, resolve
from showandtell.storage.conversations.users import UNNAMED, name_of
from showandtell.storage.database.database import Database
from showandtell.storage.database.garbage_collection import Collected, collect_now
from showandtell.storage.database.quotas import DELETED_MEANWHILE, reserve
from showandtell.storage.database.rows import serialize
from showandtell.storage.database.tables import attachments, uploads
from showandtell.storage.files.proofs import refusal_of
from showandtell.storage.files.sources import StoredSource


class Upload(Struct, frozen=True):
    """A stored file of no message yet. `created` is in epoch seconds; `claimed` is the media type the client gave."""

    id: str
    owner: str
    created: float
    name: str
    facts: Facts
    claimed: str | None = None
    corrected: str | None = None

    @property
    def attachment(self) -> Attachment:
        """The upload as an attachment without a number."""
        date = datetime.fromtimestamp(self.created, UTC).date().isoformat()
        attachment = Attachment(self.id, 0, self.name, Origin("user"), date, self.facts)
        return structs.replace(attachment, corrected=self.corrected, claimed=self.claimed)


class AttachedFile(Struct, frozen=True):
    """A file of a conversation. `owner` is the conversation's, whose blobs hold the bytes."""

    attachment: Attachment
    owner: str
    conversation_id: str

    @property
    def id(self) -> str:
        """The file's id."""
        return self.attachment.id


IS_OWN = (uploads.c.id == bindparam("id"), uploads.c.owner == bindparam("user"))
SELECT_UPLOAD = select(uploads.c.record).where(*IS_OWN)
DELETE_UPLOAD = delete(uploads).where(*IS_OWN).returning(uploads.c.sha256)
SELECT_ATTACHMENT = select(attachments.c.record).where(attachments.c.id == bindparam("id"))

read_upload = msgspec.json.Decoder(Upload).decode
read_attachment = msgspec.json.Decoder(Attachment).decode


@dataclass(frozen=True, slots=True)
class Uploads:
    """The uploads of a user. Ids of other users raise `NotFound`, like ids that don't exist."""

    database: Database
    blobs: BlobStore
    user: str
    probe: Callable[[str, File], Awaitable[ProbedFile]]
    clock: Callable[[], float]
    max_file_bytes: int

    def receive(self, name: str) -> UploadWriter:
        """Start a file that arrives in chunks. Blocks."""
        return self.blobs.for_owner(self.user).receive(name, self.max_file_bytes)

    async def add(self, file: File) -> Upload:
        """Store and probe a file. Raises `BadFile`, and stores nothing, if it is refused."""
        proved = await self.probe(self.user, file)
        if proved.facts is None:
            raise refusal_of(proved)
        now, claimed = self.clock(), normalize_claim(file.media_type)
        name = proved.name or f"file{suffix_of(proved.facts.media_type)}"
        upload = Upload(new_id("att"), self.user, now, name, proved.facts, claimed, proved.corrected)
        await self.database.write(lambda connection: store_upload(connection, upload, now))
        return upload

    async def find(self, id: str) -> Upload | AttachedFile:  # noqa: A002 - it is one
        """An upload of this user, or a file of a conversation that they may read.

        A file for the user alone is for the conversation's owner.
        """
        rows = await self.database.read(SELECT_UPLOAD, id=check_id(id), user=self.user)
        if rows:
            return read_upload(rows[0][0])
        if not id.startswith("att_"):
            raise not_found(id)
        conversation_id, owner = await resolve(self.database, id, self.user)
        records = await self.database.read(SELECT_ATTACHMENT, id=id)
        file = AttachedFile(read_attachment(records[0][0]), owner, conversation_id) if records else None
        if file is None or (file.attachment.is_private and owner != self.user):  # deleted, or the owner's alone
            raise not_found(id)
        return file

    async def delete(self, id: str) -> Collected:  # noqa: A002 - it is one
        """Delete an upload of this user, and its bytes unless they are used elsewhere."""
        parameters = {"id": check_id(id), "user": self.user}
        row = await self.database.write(lambda connection: connection.execute(DELETE_UPLOAD, parameters).first())
        if row is None:
            raise not_found(id)
        return await collect_now(self.database, self.blobs, [(self.user, row[0])])

    async def claim(self, id: str, conversation_id: str, *, lift: bool = False) -> File | Shown:  # noqa: A002 - it is one
        """The file that a message of this user refers to by an id.

        An upload becomes a file with that id, which only one message can have. A file of the same conversation is shown
        again by its number; one of another conversation gets a new number and id, and says if another person shared it.
        With `lift`, its owner shows the model a file for the user alone with this message, as a new file.
        No bytes are read. Raises `BadFile` if the file's bytes no longer exist, and `BadInput` for a file that can't be
        lifted.
        """
        match = await self.find(id)
        attachment = match.attachment
        if isinstance(match, Upload):
            return replace(self._file(match.owner, attachment, match.facts), upload_id=id)
        if lift and attachment.as_file(b"").audience != "user":
            raise BadInput(f"{attachment.name} is not for the user alone: attach it without `lift`")
        if match.conversation_id == conversation_id and not lift:
            return Shown(attachment.number, attachment.id)
        if attachment.facts is None or attachment.state != "ready":
            raise BadFile(
                attachment.name,
                f"has no bytes here ({attachment.problem or 'it is an address'})",
                "add the file itself",
            )
        file = self._file(match.owner, attachment, attachment.facts)
        if match.owner == self.user:
            return replace(file, lifted=True) if lift else file
        shared_by = await name_of(self.database, match.owner) or UNNAMED
        return replace(file, shared_by=shared_by, id=None, metadata=None)

    def _file(self, owner: str, attachment: Attachment, facts: Facts) -> File:
        claim = claim_of(attachment.claimed, attachment.name)
        stored = StoredSource(self.blobs.for_owner(owner), facts, claim, attachment.corrected)
        return attachment.as_file(Reader(stored, facts.size))


def store_upload(connection: Connection, upload: Upload, now: float) -> None:
    """Store an upload. Raises `BadFile` if its bytes were deleted meanwhile."""
    if not reserve(connection, upload.owner, {upload.facts.sha256: 1}, now):
        raise BadFile(upload.name, *DELETED_MEANWHILE.split(": "))
    connection.execute(insert(uploads), row_of_upload(upload))


def row_of_upload(upload: Upload) -> dict[str, Any]:
    """The columns of table `uploads`."""
    return {
        "id": upload.id,
        "owner": upload.owner,
        "sha256": upload.facts.sha256,
        "created": upload.created,
        "record": serialize(upload),
    }
