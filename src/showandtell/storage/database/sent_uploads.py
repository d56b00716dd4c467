"""Removes uploads once a message has their files."""

from __future__ import annotations

from collections.abc import Iterable

from sqlalchemy import Connection, bindparam, delete, select

from showandtell.core.messages.attachments import Attachment
from showandtell.errors import BadInput
from showandtell.storage.database.tables import attachments, uploads

DELETE_SENT = (
    delete(uploads)
    .where(uploads.c.owner == bindparam("user"), uploads.c.id.in_(bindparam("ids", expanding=True)))
    .returning(uploads.c.id)
)
SELECT_TAKEN = select(attachments.c.id).where(attachments.c.id.in_(bindparam("ids", expanding=True)))


def mark_sent(connection: Connection, user: str, files: Iterable[Attachment]) -> None:
    """Delete the uploads among a message's files. Raises `BadInput` if another message has one of them."""
    ids = {file.id for file in files}
    if not ids:
        return
    ids -= {row[0] for row in connection.execute(DELETE_SENT, {"user": user, "ids": sorted(ids)})}
    if ids and connection.execute(SELECT_TAKEN, {"ids": sorted(ids)}).first() is not None:
        raise BadInput("a file of this message was sent in another message meanwhile: add it again")
