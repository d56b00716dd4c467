"""Deletes files of conversations: their bytes and what was made from them. Numbers and names stay, with a note."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct, structs
from sqlalchemy import Connection, bindparam, or_, select, update

from showandtell.core.messages.attachments import Attachment
from showandtell.storage.blobs.base import BlobStore
from showandtell.storage.conversations.access import check_id, check_user, not_found
from showandtell.storage.conversations.statements import UPDATE_ATTACHMENT, UPDATE_VERSION
from showandtell.storage.database.database import SLOW_SECONDS, Database
from showandtell.storage.database.garbage_collection import Collected, Key, collect_now
from showandtell.storage.database.quotas import without_bytes
from showandtell.storage.database.rows import read_all, read_attachments, row_of_file
from showandtell.storage.database.tables import attachments, conversations

DELETED = "was deleted by the user"
#: The columns of a file that its deletion changes.
CHANGED = ("sha256", "address", "state", "record", "media_type", "size")
#: Attachments per query.
BATCH = 500

IS_OWN = attachments.c.owner == bindparam("who")
IS_NAMED = attachments.c.id.in_(bindparam("ids", expanding=True))
SELECT_NAMED = select(attachments.c.id, attachments.c.sha256).where(IS_OWN, IS_NAMED)
#: Files to delete: those with these ids, and all with these bytes.
SELECT_PLACES = select(attachments.c.conversation_id, attachments.c.id).where(
    IS_OWN,
    or_(IS_NAMED, attachments.c.sha256.in_(bindparam("hashes", expanding=True))),
    attachments.c.state != "deleted",
)
SELECT_RECORDS = select(attachments.c.conversation_id, attachments.c.record).where(IS_NAMED)
UPDATE_VERSIONS = (
    update(conversations)
    .where(conversations.c.id == bindparam("conversation"))
    .values(version=conversations.c.version + 1)
)


class DeletedFiles(Struct, frozen=True):
    """What is left of files, and the keys of their bytes, which are left to `collect_now`."""

    files: tuple[Attachment, ...]
    keys: tuple[Key, ...]


def delete_in(connection: Connection, owner: str, conversation_id: str, file_id: str) -> tuple[int, DeletedFiles]:
    """Delete a file of a conversation in a transaction, and return the conversation's version. Needs no turn.

    Raises `NotFound` if the conversation was deleted.
    """
    version = connection.execute(UPDATE_VERSION, {"conversation": conversation_id}).scalar_one_or_none()
    if version is None:
        raise not_found(conversation_id)
    return version, delete_records(connection, owner, [file_id])


def delete_records(connection: Connection, owner: str, ids: Sequence[str]) -> DeletedFiles:
    """Replace files by what is left of them. The versions of their conversations have to change before."""
    left: list[Attachment] = []
    keys: list[Key] = []
    for start in range(0, len(ids), BATCH):
        found = connection.execute(SELECT_RECORDS, {"ids": ids[start : start + BATCH]}).all()
        files = read_all(read_attachments, found, 1)
        deleted = [structs.replace(without_bytes(file, DELETED), state="deleted") for file in files]
        rows = [row_of_file(file, row[0], owner) for row, file in zip(found, deleted, strict=True)]
        if rows:
            connection.execute(
                UPDATE_ATTACHMENT, [{"file": row["id"], **{name: row[name] for name in CHANGED}} for row in rows]
            )
        left += deleted
        keys += [(owner, file.facts.sha256) for file in files if file.facts is not None]
    return DeletedFiles(tuple(left), tuple(keys))


async def delete_everywhere(database: Database, blobs: BlobStore, owner: str, ids: Sequence[str]) -> Collected:
    """Delete an owner's files, and equal ones, in all of the owner's conversations: all of them, or none.

    Files that are deleted already stay so. Raises `NotFound` for the first id that is no file of the owner.
    """
    wanted = list(dict.fromkeys(map(check_id, ids)))
    parameters = {"who": check_user(owner), "ids": wanted}

    def transaction(connection: Connection) -> Sequence[Key]:
        found = {row[0]: row[1] for row in connection.execute(SELECT_NAMED, parameters)}
        if missing := [id for id in wanted if id not in found]:  # noqa: A001 - it is one
            raise not_found(missing[0])
        hashes = sorted({sha256 for sha256 in found.values() if sha256 is not None})
        places = connection.execute(SELECT_PLACES, {**parameters, "hashes": hashes}).all()
        # In a fixed order, so that transactions can't deadlock.
        if versions := [{"conversation": id} for id in sorted({row[0] for row in places})]:  # noqa: A001 - it is one
            connection.execute(UPDATE_VERSIONS, versions)
        return delete_records(connection, owner, [row[1] for row in places]).keys

    return await collect_now(database, blobs, await database.write(transaction, within=SLOW_SECONDS))
