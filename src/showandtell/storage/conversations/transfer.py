"""A conversation with its files as one zip file, and back: the records of docs/conversation.md, and the bytes."""

from __future__ import annotations

import asyncio
import datetime as dt
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path

from msgspec import Struct, structs
from sqlalchemy import Connection, insert

from showandtell.core.collect.sanitize import clean
from showandtell.core.messages.attachments import Address, Attachment, Proved, find
from showandtell.core.messages.conversation_file import MOST_PROBLEM, FileRecord, dump, problem_of
from showandtell.core.messages.file import File
from showandtell.core.messages.ids import new_id
from showandtell.core.messages.messages import History
from showandtell.core.messages.tool_pairs import check
from showandtell.errors import BadConversation
from showandtell.storage.conversations.access import check_user
from showandtell.storage.conversations.archive import FILES, path_of, unpacked, write_archive
from showandtell.storage.conversations.memory_conversation import MemoryConversation
from showandtell.storage.conversations.store import Store
from showandtell.storage.conversations.stored_conversation import StoredConversation, title_of
from showandtell.storage.database.quotas import Account, admit, reference_from_threads
from showandtell.storage.database.rows import row_of, row_of_file
from showandtell.storage.database.tables import attachments, conversations, messages
from showandtell.storage.files.conversation_file import load
from showandtell.storage.files.file_cache import FileCache
from showandtell.storage.files.numbering import AcceptedMessage, Register
from showandtell.storage.files.proofs import prove_all

#: So many rows are written at a time.
SOME = 500
ADDRESS = "is an address, which only its provider can open: import it with addresses=True, or add the file itself"


async def export_conversation(conversation: MemoryConversation, path: str | Path) -> None:
    """Write a conversation, all its branches and files, to a zip file; it is there whole, or not at all.

    A file without bytes is in it with its problem. Receipts, usage and what was uploaded are not. Raises `BadInput`
    where `path` can't be written.
    """
    messages = await conversation.everything()
    if isinstance(conversation, StoredConversation):
        await conversation.refresh()  # after the messages were read, so that each of their files is known
    head = conversation.head
    if messages and head is not None and all(one.id != head for one in messages):
        head = messages[-1].id  # more was said since they were read
    files = dict(conversation.attachments)
    wrong = await conversation.check([one.facts for one in files.values() if one.facts is not None])
    broken = {number for number, one in files.items() if one.facts is not None and one.facts in wrong}

    def record(number: int) -> FileRecord:
        return record_of(find(conversation.attachments, number), broken=number in broken)

    data = dump(messages, record, head)
    kept = [one for number, one in sorted(files.items()) if number not in broken]
    await asyncio.to_thread(write_archive, Path(path), data, kept, conversation.blobs)


def record_of(file: Attachment, *, broken: bool = False) -> FileRecord:
    """A file as the archive's records name it, with what it claimed to be: its bytes will be proved again."""
    found = FileRecord(media_type=file.claimed, name=file.name, description=file.description, number=file.number)
    with suppress(ValueError):  # a program may have given a date that is none
        found.date = dt.date.fromisoformat(file.date)
    if file.facts is not None and not broken:
        found.path = path_of(file)
    elif file.address is not None:
        found.uri = uri_of(file.address)
    else:
        found.problem = (file.problem or "its bytes are not here")[:MOST_PROBLEM]
        found.media_type = file.media_type if file.facts is not None else file.claimed
    return found


def uri_of(address: Address) -> str:
    """An address as `File.from_uri` takes it."""
    return address.value if address.form == "url" else f"{address.vendor}:{address.value}"


async def import_conversation(
    store: Store,
    path: str | Path,
    owner: str = "local",
    read: Callable[[Path], History] = load,
    *,
    addresses: bool = False,
) -> StoredConversation:
    """Store what a zip file or a conversation file holds as a new conversation; whole, or not at all.

    Files keep their numbers and dates. `read` makes a history of a file of another form. With `addresses`, files that
    only a provider can open (URLs, ids of uploads) stay such: it would open them with your account, so trust who wrote
    them; without, they have that for their problem. Raises `BadConversation`.
    """
    account, fresh = Account(check_user(owner), store.quotas, store.terms.clock), new_id("conv")
    file_cache = store.file_cache(owner, reference_from_threads(store.database, account))
    with ExitStack() as stack:
        file = await asyncio.to_thread(stack.enter_context, unpacked(Path(path), store.quotas.file))
        checked = await asyncio.to_thread(read_checked, file, read, packed=file != Path(path))
        proved = [await prove(file_cache, files, addresses=addresses) for files in checked.claims]
    accepted = await asyncio.to_thread(lambda: [*Register().accept_all(checked.history, proved, refers=True)])
    await store.database.write(lambda connection: write(connection, fresh, account, accepted, checked.history.head))
    return await store.open(fresh, owner, "owner")


class Checked(Struct, frozen=True):
    """A history that can be stored, and the files of each of its messages."""

    history: History
    claims: list[tuple[File, ...]]


def read_checked(file: Path, read: Callable[[Path], History], *, packed: bool) -> Checked:
    """Read a conversation file. Raises `BadConversation` for all that is wrong with it, before anything is stored."""
    found = read(file)
    history = History(map(clean, found), found.instructions, found.parents, found.head)
    check(history, strict=False)
    files = [draft.claims for draft in history]
    if packed:
        check_files(files)
    unproved = [[Proved(one.name or "") for one in those] for those in files]
    for _ in Register().accept_all(history, unproved):  # numbers that contradict each other
        pass
    return Checked(history, files)


def check_files(claims: Sequence[Sequence[File]]) -> None:
    """Raise `BadConversation` where a file of an archive is not in it."""
    for index, files in enumerate(claims):
        for one in files:
            if isinstance(one.source, Path) and not one.source.is_file():
                raise BadConversation(
                    f"messages[{index}]: the archive holds no {FILES}/{one.source.name}: export it again"
                )


async def prove(file_cache: FileCache, files: Sequence[File], *, addresses: bool) -> list[Proved]:
    """Prove a message's files; those that had a problem where they come from keep it, word for word."""
    proved = await prove_all(file_cache, files) if files else []
    return [judge(file, one, addresses=addresses) for file, one in zip(files, proved, strict=True)]


def judge(file: File, proved: Proved, *, addresses: bool) -> Proved:
    """A proved file with the problem that it brings along, or has here."""
    if proved.address is not None and not addresses:
        return Proved(proved.name, problem=ADDRESS)
    problem = problem_of(file)
    return proved if problem is None else structs.replace(proved, problem=problem)


def write(
    connection: Connection, fresh: str, account: Account, said: Sequence[AcceptedMessage], head: int | None
) -> None:
    """Store a whole conversation, in one transaction: nobody sees a part of it, and no crash leaves one."""
    now, all_messages = account.clock(), [one.message for one in said]
    last = len(said) - 1 if head is None else head
    titles = (title_of(one) for one in all_messages if one.role == "user")
    row = {
        "id": fresh,
        "owner": account.owner,
        "title": next(filter(None, titles), ""),
        "head": all_messages[last].id if last >= 0 else None,
        "next_seq": len(said),
        "version": 1,
        "created": now,
        "changed": now,
    }
    connection.execute(insert(conversations), row)
    files = admit(connection, account, {}, [file for one in said for file in one.attachments])
    for start in range(0, len(said), SOME):
        some = enumerate(all_messages[start : start + SOME], start + 1)
        connection.execute(insert(messages), [row_of(message, fresh, seq, now) for seq, message in some])
    for start in range(0, len(files), SOME):
        some_files = files[start : start + SOME]
        connection.execute(insert(attachments), [row_of_file(one, fresh, account.owner) for one in some_files])
