"""Imports a conversation once: what is here already is recognized, and only the messages that are missing are added.

An archive is of a conversation that is here if it names its id, or the id of the conversation of which that is a copy,
and if their messages agree (see `fingerprints`). An owner's conversations alone are looked at: for anybody else it is a
copy. Archives without an id, and other files, are recognized by their own hash and by when the conversation began.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path

from msgspec import Struct
from sqlalchemy import Connection, bindparam, delete, or_, select

from showandtell.core.messages.attachments import Attachment
from showandtell.core.messages.file import File
from showandtell.core.messages.fingerprints import fingerprint_all
from showandtell.core.messages.message import History, Message, starts_turn
from showandtell.errors import BadConversation, LeaseLost, NotFound
from showandtell.storage.blobs.base import hash_file
from showandtell.storage.conversations.access import check_user
from showandtell.storage.conversations.archive import is_archive, read_source, unpacked
from showandtell.storage.conversations.keys import IMPORT, KeyTaken, insert_key
from showandtell.storage.conversations.store import Store
from showandtell.storage.conversations.stored_conversation import StoredConversation
from showandtell.storage.conversations.transfer import Checked, insert_all, probe_files, read_checked, store_copy
from showandtell.storage.database.database import SLOW_SECONDS
from showandtell.storage.database.lease import LOST, UPDATE_HELD, Lease
from showandtell.storage.database.quotas import Account, admit, reference_from_threads
from showandtell.storage.database.tables import aliases, conversations
from showandtell.storage.files.conversation_file import load
from showandtell.storage.files.numbering import AcceptedMessage, Register

#: Half of the milliseconds in which two conversations of an owner are taken to begin at the same moment.
SAME_MOMENT = 0.0005
#: An owner's conversations that an archive may be of, the surest first.
SELECT_BY_KEYS = select(aliases.c.conversation_id).where(
    aliases.c.owner == bindparam("who"), aliases.c.alias.in_([bindparam("first"), bindparam("last")])
)
SELECT_OWN = select(conversations.c.id).where(
    conversations.c.owner == bindparam("who"),
    or_(
        conversations.c.id == bindparam("source"),
        conversations.c.created.between(bindparam("since"), bindparam("until")),
    ),
)
DELETE_KEYS = delete(aliases).where(
    aliases.c.owner == bindparam("who"),
    aliases.c.alias.in_(bindparam("keys", expanding=True)),
    aliases.c.conversation_id.in_(bindparam("others", expanding=True)),
)
UPDATE_ADDED = UPDATE_HELD.values(
    next_seq=conversations.c.next_seq + bindparam("count"),
    version=conversations.c.version + 1,
    head=bindparam("new_head"),
    changed=bindparam("now"),
).returning(conversations.c.next_seq)


class Imported(Struct, frozen=True):
    """An imported conversation: whether it is new here, and how many of its messages were added and were here."""

    conversation: StoredConversation
    is_new: bool
    added: int
    known: int


class Archive(Struct, frozen=True):
    """A file to import: its content, the fingerprint of each message, and what it may be recognized by."""

    checked: Checked
    fingerprints: Sequence[str]
    sha256: str
    source: str | None

    @property
    def keys(self) -> list[str]:
        """The keys under which its conversation is found again."""
        return [f"{IMPORT}{each}" for each in (self.sha256, self.source) if each is not None]

    @property
    def period(self) -> tuple[float, float]:
        """When its conversation began, in epoch seconds; never, if it says of which conversation it is."""
        details = self.checked.history.details
        if self.source is not None or details is None or details.created is None:
            return 1.0, 0.0
        return details.created.timestamp() - SAME_MOMENT, details.created.timestamp() + SAME_MOMENT

    def parent(self, index: int) -> int | None:
        """The index of the message before one."""
        parents = self.checked.history.parents
        return (index - 1 if index else None) if parents is None else parents[index]


class Missing(Struct, frozen=True):
    """The indexes of messages that a conversation lacks, and the ids of those that it has, by index."""

    indexes: list[int]
    ids: dict[int, str]


async def import_once(
    store: Store,
    path: Path,
    owner: str = "local",
    max_total: int | None = None,
    read: Callable[[Path], History] = load,
) -> Imported:
    """Import a conversation, or add to the one that is here what it lacks: completely, or nothing.

    `read` and `max_total` are as in `import_conversation`. Raises `BadConversation`, and `Busy` if messages are to be
    added while an answer runs.
    """
    account = Account(check_user(owner), store.quotas, store.terms.clock)
    with ExitStack() as stack:
        unpacking = unpacked(path, store.quotas.file, max_total)
        file = await asyncio.to_thread(stack.enter_context, unpacking)
        archive = await asyncio.to_thread(read_archive, path, file, read)
        while True:
            others = await find_candidates(store, owner, archive)
            for candidate in others:
                with suppress(NotFound):  # deleted meanwhile
                    conversation = await store.open(candidate, owner, "owner")
                    if (found := await Merge(store, account, archive, conversation).run()) is not None:
                        return found
            with suppress(KeyTaken):  # another program imports it at the same time
                conversation = await store_copy(store, account, archive.checked, insert_keys(account, archive, others))
                return Imported(conversation, is_new=True, added=len(archive.fingerprints), known=0)


def read_archive(path: Path, file: Path, read: Callable[[Path], History]) -> Archive:
    """Read a file that is unpacked as `file`. Raises `BadConversation`."""
    with path.open("rb") as opened:
        sha256 = hashlib.file_digest(opened, "sha256").hexdigest()
    checked = read_checked(file, read, packed=file != path)
    fingerprints = fingerprint_all([item.message for item in checked.accepted])
    return Archive(checked, fingerprints, sha256, read_source(path) if is_archive(path) else None)


async def find_candidates(store: Store, owner: str, archive: Archive) -> list[str]:
    """The ids of the conversations of which a file may be."""
    by_keys = await store.database.read(SELECT_BY_KEYS, who=owner, first=archive.keys[0], last=archive.keys[-1])
    since, until = archive.period
    own = await store.database.read(SELECT_OWN, who=owner, source=archive.source or "", since=since, until=until)
    return list(dict.fromkeys(row[0] for row in (*own, *by_keys)))


def insert_keys(account: Account, archive: Archive, others: Collection[str]) -> Callable[[Connection, str], None]:
    """A function that stores by what a new conversation is found again. `others` didn't match, and lose these keys."""

    def insert_all_keys(connection: Connection, conversation_id: str) -> None:
        connection.execute(DELETE_KEYS, {"who": account.owner, "keys": archive.keys, "others": [*others]})
        for key in archive.keys:
            insert_key(connection, account.owner, key, conversation_id)

    return insert_all_keys


@dataclass(frozen=True, slots=True)
class Merge:
    """An archive, and a conversation of the account that may be the same one."""

    store: Store
    account: Account
    archive: Archive
    conversation: StoredConversation

    async def run(self) -> Imported | None:
        """Add what the conversation lacks; None if it is another one. Raises `Busy` and `NotFound`."""
        missing = await self.find_missing()
        if missing is not None and missing.indexes:
            lease = Lease(self.store.database, self.conversation.id, self.store.terms)
            await lease.acquire(lambda _: None)
            try:
                missing = await self._add_with(lease)
            finally:
                await lease.release()
            await self.conversation.refresh()
        if missing is None:
            return None
        return Imported(self.conversation, is_new=False, added=len(missing.indexes), known=len(missing.ids))

    async def find_missing(self) -> Missing | None:
        """What the conversation lacks; None if it is another one, or if its numbers mean other files."""
        stored, files = await self.conversation.everything(), self.conversation.attachments
        has_own_bytes = not self.store.strip_location
        return await asyncio.to_thread(compare, self.archive, stored, files, hashes=has_own_bytes)

    async def _add_with(self, lease: Lease) -> Missing | None:
        """Look again what is missing, and store it in one transaction. None if it doesn't fit."""
        await self.conversation.refresh()
        missing = await self.find_missing()
        if missing is None or not missing.indexes:
            return missing
        ids, register = dict(missing.ids), Register(self.conversation.attachments.values())
        try:
            added = [await self._accept(index, register, ids) for index in missing.indexes]
        except BadConversation:  # a number is taken
            return None
        conversation, new_head = self.conversation, self._new_head(ids)
        files = [file for item in added for file in item.attachments]
        values: dict[str, object] = {
            "conversation": conversation.id,
            "token": lease.token,
            "count": len(added),
            "new_head": new_head,
        }
        values |= {"now": self.account.clock()}

        def transaction(connection: Connection) -> None:
            row = connection.execute(UPDATE_ADDED, values).first()
            if row is None:
                raise LeaseLost(LOST)
            admitted = admit(connection, self.account, conversation.attachments, files)
            numbered = enumerate((item.message for item in added), row[0] - len(added) + 1)
            insert_all(connection, conversation.id, self.account, numbered, admitted)

        await self.store.database.write(transaction, within=SLOW_SECONDS)
        return missing

    async def _accept(self, index: int, register: Register, ids: dict[int, str]) -> AcceptedMessage:
        """Store the files of a missing message, and number them. Notes its id. Raises `BadConversation`."""
        draft, parent = self.archive.checked.history[index], self.archive.parent(index)
        reference = reference_from_threads(self.store.database, self.account)
        file_cache = self.store.file_cache(self.account.owner, reference)
        proved = await probe_files(file_cache, self.archive.checked.claims[index], addresses=False)
        parent_id = None if parent is None else ids[parent]
        accepted = register.accept(draft, proved, parent_id, refers=starts_turn(draft))
        if numbers_of(accepted) != numbers_of(self.archive.checked.accepted[index]):
            raise BadConversation(f"messages[{index}] has files without numbers, which get others here")
        register.commit(accepted)
        ids[index] = accepted.message.id
        return accepted

    def _new_head(self, ids: Mapping[int, str]) -> str | None:
        """The end of the archive's branch if that comes after the current message; else this one. `ids` by index."""
        head, current = self.archive.checked.history.head, self.conversation.head
        last = index = len(ids) - 1 if head is None else head if head >= 0 else None
        while index is not None and last is not None:
            index = self.archive.parent(index)
            if (None if index is None else ids[index]) == current:
                return ids[last]
        return current


def compare(
    archive: Archive, stored: Sequence[Message], files: Mapping[int, Attachment], *, hashes: bool
) -> Missing | None:
    """Compare an archive with stored messages. Without `hashes`, the bytes of files may differ."""
    here = dict(zip(fingerprint_all(stored), (message.id for message in stored), strict=True))
    ids = {index: here[each] for index, each in enumerate(archive.fingerprints) if each in here}
    missing = [index for index in range(len(archive.fingerprints)) if index not in ids]
    if missing and stored and not ids:
        return None
    if any(file.number in files for index in missing for file in archive.checked.accepted[index].attachments):
        return None
    if hashes and not all(has_same_bytes(archive, index, files) for index in ids):
        return None
    return Missing(missing, ids)


def numbers_of(accepted: AcceptedMessage) -> list[int]:
    """The numbers of a message's new files."""
    return [file.number for file in accepted.attachments]


def has_same_bytes(archive: Archive, index: int, files: Mapping[int, Attachment]) -> bool:
    """Whether the files of a message that both have are equal, as far as their bytes are there."""
    claims, accepted = archive.checked.claims[index], archive.checked.accepted[index].attachments
    for claim, file in zip(claims, accepted, strict=True):
        facts = files[file.number].facts if file.number in files else None
        if facts is not None and isinstance(claim.source, (bytes, Path)) and hash_of(claim) != facts.sha256:
            return False
    return True


def hash_of(file: File) -> str:
    """The sha256 of a file's bytes as hex."""
    with file.open() as source:
        return hash_file(source)
