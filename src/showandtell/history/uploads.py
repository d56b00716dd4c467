"""Files that were uploaded before the message they belong to: kept, counted and found by id, until one claims them."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct, structs
from sqlalchemy import Connection, bindparam, delete, insert, select

from showandtell.attachments.proving import start_proof
from showandtell.attachments.sources import Stored
from showandtell.content import File, Reader, Shown, new_id
from showandtell.errors import BadFile, BadInput
from showandtell.files import Attachment, Facts, Origin
from showandtell.history.access import check_id, not_found, resolve
from showandtell.history.garbage import Collected, collect_now
from showandtell.history.loading import spell
from showandtell.history.pinning import CLEANED, Account, hold, pin_from_threads
from showandtell.history.tables import attachments, uploads
from showandtell.media.claims import name_ending, read_claim, respell

if TYPE_CHECKING:
    from showandtell.history.store import Store


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


class Placed(Struct, frozen=True):
    """A file of a conversation; `owner` is the conversation's, whose blobs hold its bytes."""

    attachment: Attachment
    owner: str
    conversation_id: str

    @property
    def id(self) -> str:
        """The file's id."""
        return self.attachment.id


MINE = (uploads.c.id == bindparam("id"), uploads.c.owner == bindparam("user"))
FIND = select(uploads.c.record).where(*MINE)
DROP = delete(uploads).where(*MINE).returning(uploads.c.sha256)
SENT = (
    delete(uploads)
    .where(uploads.c.owner == bindparam("user"), uploads.c.id.in_(bindparam("ids", expanding=True)))
    .returning(uploads.c.id)
)
TAKEN = select(attachments.c.id).where(attachments.c.id.in_(bindparam("ids", expanding=True)))
RECORD = select(attachments.c.record).where(attachments.c.id == bindparam("id"))

read_upload = msgspec.json.Decoder(Upload).decode
read_attachment = msgspec.json.Decoder(Attachment).decode


@dataclass(frozen=True, slots=True)
class Uploads:
    """The uploads of a user. Whoever names what isn't theirs gets `NotFound`, as for what isn't there."""

    store: Store
    user: str

    async def add(self, file: File) -> Upload:
        """Store and prove a file. Raises `BadFile` for one that can't be taken, of which nothing stays."""
        store, clock = self.store, self.store.terms.clock
        shelf = store.shelf(self.user, pin_from_threads(store.database, Account(self.user, store.quotas, clock)))
        async with store.proving:
            proved = await asyncio.wrap_future(start_proof(shelf, file))
        if proved.facts is None:
            problem, _, advice = (proved.problem or "is an address: add the file itself").rpartition(": ")
            raise BadFile(proved.name or "the file", problem, advice)
        now, claimed = clock(), respell(file.media_type)
        name = proved.name or f"file{name_ending(proved.facts.media_type)}"
        upload = Upload(new_id("att"), self.user, now, name, proved.facts, claimed, proved.corrected)
        await store.database.write(lambda connection: keep(connection, upload, now))
        return upload

    async def find(self, id: str) -> Upload | Placed:  # noqa: A002 - it is one
        """An upload of this user, or a file of a conversation that they may read."""
        rows = await self.store.database.read(FIND, id=check_id(id), user=self.user)
        if rows:
            return read_upload(rows[0][0])
        if not id.startswith("att_"):
            raise not_found(id)
        conversation_id, owner = await resolve(self.store.database, id, self.user)
        records = await self.store.database.read(RECORD, id=id)
        if not records:  # deleted in between
            raise not_found(id)
        return Placed(read_attachment(records[0][0]), owner, conversation_id)

    async def drop(self, id: str) -> Collected:  # noqa: A002 - it is one
        """Delete an upload of this user, and its bytes where nothing else needs them."""
        mine = {"id": check_id(id), "user": self.user}
        row = await self.store.database.write(lambda connection: connection.execute(DROP, mine).first())
        if row is None:
            raise not_found(id)
        return await collect_now(self.store.database, self.store.blobs, [(self.user, row[0])])

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
        stored = Stored(self.store.blobs.of(owner), facts, read_claim(claimed, name), corrected)
        return File(Reader(stored, facts.size), claimed, name, description, id=id)


def keep(connection: Connection, upload: Upload, now: float) -> None:
    """Store an upload, whose bytes are there. Raises `BadFile` where they were cleared away meanwhile."""
    if not hold(connection, upload.owner, {upload.facts.sha256: 1}, now):
        raise BadFile(upload.name, *CLEANED.split(": "))
    connection.execute(insert(uploads), row_of_upload(upload))


def row_of_upload(one: Upload) -> dict[str, Any]:
    """The row of an upload."""
    return {
        "id": one.id,
        "owner": one.owner,
        "sha256": one.facts.sha256,
        "created": one.created,
        "record": spell(one),
    }


def mark_sent(connection: Connection, user: str, files: Iterable[Attachment]) -> None:
    """The uploads among the files of a message are no more: it has them. Raises `BadInput` where another has one."""
    ids = {one.id for one in files}
    if not ids:
        return
    ids -= {row[0] for row in connection.execute(SENT, {"user": user, "ids": sorted(ids)})}
    if ids and connection.execute(TAKEN, {"ids": sorted(ids)}).first() is not None:
        raise BadInput("a file of this message was sent in another one meanwhile: add it again")
