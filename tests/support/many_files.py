"""Rows of more files than a test could send: they are listed, sorted and deleted, and have no bytes."""

import hashlib

from sqlalchemy import insert

from showandtell.core.messages.attachments import Attachment, Facts, Origin
from showandtell.core.messages.ids import new_id
from showandtell.storage.database.rows import row_of_new_file
from showandtell.storage.database.tables import attachments, blobs

#: Files of a conversation.
EACH = 50
TYPES = ("text/csv", "application/zip", "audio/wav", "text/plain")


def make_file(index):
    """A file of any of the types, names, sizes and days."""
    facts = Facts(hashlib.sha256(b"%d" % index).hexdigest(), TYPES[index % len(TYPES)], 100 + index * 7919 % 1_000_003)
    date = f"2026-{index % 12 + 1:02}-{index * 7 % 28 + 1:02}"
    return Attachment(new_id("att"), index % EACH + 1, f"file {index * 31 % 9973:04}.dat", Origin("user"), date, facts)


async def store_many_files(store, owner, count):
    """Store this many different files of an owner in conversations."""
    files, bytes_ = [], []
    for start in range(0, count, EACH):
        conversation = await store.create(owner, title=f"Conversation {start // EACH}")
        for file in map(make_file, range(start, min(start + EACH, count))):
            files.append(row_of_new_file(file, conversation.id, owner, 0.0))
            row = {"owner": owner, "sha256": file.facts.sha256, "size": file.facts.size}
            bytes_.append({**row, "state": "ready", "touched": 0.0, "pins": 0})

    def transaction(connection):
        connection.execute(insert(blobs), bytes_)
        connection.execute(insert(attachments), files)

    await store.database.write(transaction, within=60)
