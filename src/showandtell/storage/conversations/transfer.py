"""Exports a conversation to a zip file and imports it: the records of docs/conversation.md, and the file bytes."""

from __future__ import annotations

import asyncio
import datetime as dt
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path

from msgspec import UNSET, Struct, structs
from sqlalchemy import Connection, insert

from showandtell.checking.checked import checked
from showandtell.core.collect.sanitize import clean
from showandtell.core.messages.attachments import Address, Attachment, ProbedFile, find_attachment
from showandtell.core.messages.conversation_file import MAX_PROBLEM, FileRecord, dump, problem_of
from showandtell.core.messages.file import File, details_of
from showandtell.core.messages.ids import new_id
from showandtell.core.messages.message import Details, History, Message, starts_turn, without_user_texts
from showandtell.core.messages.tool_pairs import check_tool_pairs
from showandtell.errors import BadConversation, BadInput
from showandtell.storage.blobs.threads import run_long_job
from showandtell.storage.conversations.access import check_user
from showandtell.storage.conversations.archive import FILES, path_of, unpacked, write_archive
from showandtell.storage.conversations.keys import check_new_key, insert_key
from showandtell.storage.conversations.organizing import clean_tags, detail_values, store_tags
from showandtell.storage.conversations.protocol import Conversation
from showandtell.storage.conversations.store import Store
from showandtell.storage.conversations.stored_conversation import StoredConversation, title_of
from showandtell.storage.database.database import SLOW_SECONDS
from showandtell.storage.database.quotas import Account, admit, reference_from_threads
from showandtell.storage.database.rows import row_of, row_of_new_file
from showandtell.storage.database.tables import attachments, conversations, messages
from showandtell.storage.files.conversation_file import load
from showandtell.storage.files.file_cache import FileCache
from showandtell.storage.files.numbering import AcceptedMessage, Register
from showandtell.storage.files.proofs import probe_all, refusal_of

#: In place of the bytes of a file for the user alone, for others than the owner.
FOR_OWNER = "is for the owner of the conversation alone: ask the owner for it"
#: Rows per insert.
BATCH = 500
ADDRESS_PROBLEM = (
    "is an address, which only its provider can open: import it with addresses=True, or add the file itself"
)


@checked
async def export_conversation(
    conversation: Conversation, path: str | Path, *, author: str | None = None, metadata: bool = True
) -> None:
    """Write a conversation, with all branches and files, to a zip file, atomically.

    Files without bytes are exported with their problem. Receipts, usage and uploads are not exported. `author` is the
    display name for people's messages without one. Without `metadata`, the program's own ids and metadata are left out.
    A stored conversation is exported with its title and times, and to its owner with its pin, archive, tags and what is
    for the user alone; of such a file, others get its number and type.
    Raises `BadInput` if `path` can't be written.

    >>> import asyncio, tempfile
    >>> from pathlib import Path
    >>> from showandtell import Agent, export_conversation
    >>> run = Agent("inspector").run_sync("hello")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     asyncio.run(export_conversation(run.conversation, Path(folder) / "talk.zip"))
    ...     [path.name for path in Path(folder).iterdir()]
    ['talk.zip']
    """
    messages = await conversation.everything()
    if author is not None:
        messages = [
            structs.replace(message, author=message.author or author) if starts_turn(message) else message
            for message in messages
        ]
    details = None
    if isinstance(conversation, StoredConversation):
        await conversation.refresh()  # after reading the messages, so that all of their files are loaded
        details = await conversation.read_details()
    head = conversation.head
    if messages and head is not None and all(message.id != head for message in messages):
        head = messages[-1].id  # newer messages were stored meanwhile
    files = dict(conversation.attachments)
    problems = await conversation.check([file.facts for file in files.values() if file.facts is not None])
    broken = {number for number, file in files.items() if file.facts is not None and file.facts in problems}

    others = isinstance(conversation, StoredConversation) and not conversation.is_owner
    private = {number for number, file in files.items() if others and file.is_private}
    if others:
        messages = [without_user_texts(message) for message in messages]

    def record(number: int) -> FileRecord:
        file = find_attachment(conversation.attachments, number)
        if number in private:
            return FileRecord(number=number, audience="user", media_type=file.media_type, problem=FOR_OWNER)
        own = {} if metadata else {"external_id": UNSET, "metadata_json": UNSET}
        return record_of(structs.replace(file, **own), broken=number in broken)

    if not metadata:
        messages = [structs.replace(message, metadata_json=UNSET) for message in messages]
    data = dump(messages, record, head, details)
    intact = [file for number, file in sorted(files.items()) if number not in broken | private]
    source = await source_of(conversation)
    await run_long_job(write_archive, Path(path), data, source, intact, conversation.blobs)


async def source_of(conversation: Conversation) -> str:
    """The id of the conversation that this one is a copy of, if it was imported; else its own."""
    if not isinstance(conversation, StoredConversation):
        return conversation.id
    return await conversation.read_source() or conversation.id


def record_of(file: Attachment, *, broken: bool = False) -> FileRecord:
    """A file's record in the archive. It has the claimed type, because the bytes are probed again on import."""
    record = FileRecord(number=file.number, **details_of(file.as_file(b"")))
    record.audience, record.lifted = file.audience, file.lifted is True
    with suppress(ValueError):  # a caller may have given an invalid date
        record.date = dt.date.fromisoformat(file.date)
    if file.facts is not None and not broken:
        record.path = path_of(file)
    elif file.address is not None:
        record.uri = uri_of(file.address)
    else:
        record.problem = (file.problem or "its bytes are not here")[:MAX_PROBLEM]
        record.media_type = file.media_type if file.facts is not None else file.claimed
    return record


def uri_of(address: Address) -> str:
    """An address as `File.from_uri` accepts it."""
    return address.value if address.form == "url" else f"{address.vendor}:{address.value}"


@checked
async def import_conversation(
    store: Store,
    path: str | Path,
    owner: str = "local",
    read: Callable[[Path], History] = load,
    *,
    addresses: bool = False,
    key: str | None = None,
    max_total: int | None = None,
) -> StoredConversation:
    """Store a zip file or a conversation file as a new conversation, completely or not at all.

    Files keep their numbers and dates, a conversation its title, times, pin, archive and tags. `read` parses other file
    formats. With `addresses`, files that only a provider can open (URLs, ids of uploads) are kept: the provider opens
    them with your account, so use it only for trusted files. Without it, they get a problem. `key` is as in
    `Store.create`, `max_total` the maximum number of bytes that a zip file may unpack to. Raises `BadConversation`.

    >>> import asyncio, tempfile
    >>> from pathlib import Path
    >>> from showandtell import Agent, Store, export_conversation, import_conversation
    >>> run = Agent("inspector").run_sync("hello")
    >>> async def transfer(folder: Path) -> int:
    ...     await export_conversation(run.conversation, folder / "talk.zip")
    ...     async with Store.at(folder / "store") as store:
    ...         conversation = await import_conversation(store, folder / "talk.zip")
    ...         return len(conversation.messages)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     asyncio.run(transfer(Path(folder)))
    2
    """
    if key is not None:
        check_new_key(key)
    account = Account(check_user(owner), store.quotas, store.terms.clock)

    def more(connection: Connection, conversation_id: str) -> None:
        if key is not None:
            insert_key(connection, owner, key, conversation_id)

    with ExitStack() as stack:
        unpacking = unpacked(Path(path), store.quotas.file, max_total)
        file = await asyncio.to_thread(stack.enter_context, unpacking)
        checked = await asyncio.to_thread(read_checked, file, read, packed=file != Path(path))
        return await store_copy(store, account, checked, more, addresses=addresses)


async def store_copy(
    store: Store,
    account: Account,
    checked: Checked,
    more: Callable[[Connection, str], None],
    *,
    addresses: bool = False,
) -> StoredConversation:
    """Store a history as a new conversation. `more` stores something else about its id in the same transaction."""
    conversation_id, owner = new_id("conv"), account.owner
    file_cache = store.file_cache(owner, reference_from_threads(store.database, account))
    proved = [await probe_files(file_cache, files, addresses=addresses) for files in checked.claims]
    accepted = await asyncio.to_thread(lambda: [*Register().accept_all(checked.history, proved, refers=True)])

    def transaction(connection: Connection) -> None:
        store_messages(connection, conversation_id, account, accepted, checked.history)
        more(connection, conversation_id)

    await store.database.write(transaction, within=SLOW_SECONDS)
    return await store.open(conversation_id, owner, "owner")


class Checked(Struct, frozen=True):
    """A valid history, the files of each of its messages, and these messages as they would be stored without bytes."""

    history: History
    claims: list[tuple[File, ...]]
    accepted: list[AcceptedMessage]


def read_checked(file: Path, read: Callable[[Path], History], *, packed: bool) -> Checked:
    """Read a conversation file. Raises `BadConversation` for any error in it, before anything is stored."""
    parsed = read(file)
    history = History(map(clean, parsed), parsed.instructions, parsed.parents, parsed.head, parsed.details)
    check_details(history.details)
    check_tool_pairs(history, strict=False)
    files = [draft.claims for draft in history]
    if packed:
        check_files(files)
    unproved = [[ProbedFile(one.name or "") for one in those] for those in files]
    return Checked(history, files, [*Register().accept_all(history, unproved)])  # raises for contradictory numbers


def check_details(details: Details | None) -> None:
    """Raise `BadConversation` for details that can't be stored."""
    if details is None:
        return
    try:
        detail_values(details, 0.0)
        clean_tags(details.tags)
    except BadInput as error:
        raise BadConversation(f"the details of the conversation: {error}") from error


def check_files(claims: Sequence[Sequence[File]]) -> None:
    """Raise `BadConversation` if a file of an archive is missing."""
    for index, files in enumerate(claims):
        for file in files:
            if isinstance(file.source, Path) and not file.source.is_file():
                raise BadConversation(
                    f"messages[{index}]: the archive has no {FILES}/{file.source.name}: export it again"
                )


async def probe_files(file_cache: FileCache, files: Sequence[File], *, addresses: bool) -> list[ProbedFile]:
    """Probe a message's files. Those exported with a problem keep it unchanged."""
    proved = await probe_all(file_cache, files) if files else []
    return [with_problem(file, result, addresses=addresses) for file, result in zip(files, proved, strict=True)]


def with_problem(file: File, proved: ProbedFile, *, addresses: bool) -> ProbedFile:
    """The result with the problem that the file was exported with, or has here.

    Raises `QuotaExceeded` or `DecoderBusy`, because the file could be imported later.
    """
    if proved.over_quota or proved.retry_after:
        raise refusal_of(proved)
    if proved.address is not None and not addresses:
        return ProbedFile(proved.name, problem=ADDRESS_PROBLEM)
    problem = problem_of(file)
    return proved if problem is None else structs.replace(proved, problem=problem)


def store_messages(
    connection: Connection,
    conversation_id: str,
    account: Account,
    accepted: Sequence[AcceptedMessage],
    history: History,
) -> None:
    """Store a conversation in one transaction, so that a part of it is never visible."""
    now, all_messages = account.clock(), [item.message for item in accepted]
    last = len(accepted) - 1 if history.head is None else history.head
    details = history.details or Details()
    titles = (title_of(message) for message in all_messages if message.role == "user")
    row = {
        "id": conversation_id,
        "owner": account.owner,
        "title": next(filter(None, titles), ""),
        "head": all_messages[last].id if last >= 0 else None,
        "next_seq": len(accepted),
        "version": 1,
        "created": now,
        "changed": now,
    }
    connection.execute(insert(conversations), row | detail_values(details, now))
    store_tags(connection, conversation_id, clean_tags(details.tags))
    files = admit(connection, account, {}, [file for item in accepted for file in item.attachments])
    insert_all(connection, conversation_id, account, enumerate(all_messages, 1), files)


def insert_all(
    connection: Connection,
    conversation_id: str,
    account: Account,
    numbered: Iterable[tuple[int, Message]],
    files: Sequence[Attachment],
) -> None:
    """Insert the rows of messages, each with its seq, and of admitted files."""
    now, each = account.clock(), [*numbered]
    for start in range(0, len(each), BATCH):
        batch = each[start : start + BATCH]
        connection.execute(insert(messages), [row_of(message, conversation_id, seq, now) for seq, message in batch])
    for start in range(0, len(files), BATCH):
        file_batch = files[start : start + BATCH]
        connection.execute(
            insert(attachments), [row_of_new_file(file, conversation_id, account.owner, now) for file in file_batch]
        )
