"""A conversation with its files as one zip file, and back: the records of docs/conversation.md, and the bytes."""

from __future__ import annotations

import asyncio
import datetime as dt
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path

from msgspec import structs

from showandtell.attachments.ingest import claims, clean
from showandtell.content import Draft, File, History
from showandtell.errors import BadConversation, ShowAndTellError
from showandtell.files import Address, Attachment, Proved, find
from showandtell.history.archive import FILES, path_of, unpacked, write_archive
from showandtell.history.garbage import collect_now
from showandtell.history.memory import MemoryConversation
from showandtell.history.store import Store
from showandtell.history.stored import StoredConversation
from showandtell.records import MOST_PROBLEM, FileRecord, check, dump, load, problem_of


async def export_conversation(conversation: MemoryConversation, path: str | Path) -> None:
    """Write a conversation, all its branches and files, to a zip file; it is there whole, or not at all.

    A file without bytes is in it with its problem. Receipts, usage and what was uploaded are not. Raises `BadInput`
    where `path` can't be written.
    """
    head, messages = conversation.head, await conversation.everything()
    if isinstance(conversation, StoredConversation):
        await conversation.refresh()  # after the messages were read, so that each of their files is known
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
    return address.value if address.form == "url" else f"{address.house}:{address.value}"


async def import_conversation(
    store: Store, path: str | Path, owner: str = "local", read: Callable[[Path], History] = load
) -> StoredConversation:
    """Store what a zip file or a conversation file holds as a new conversation; whole, or not at all.

    Files keep their numbers and dates. `read` makes a history of a file of another form. Raises `BadConversation`.
    """
    with ExitStack() as stack:
        file = await asyncio.to_thread(stack.enter_context, unpacked(Path(path), store.quotas.file))
        history = await asyncio.to_thread(read, file)
        check(history, strict=False)
        if file != Path(path):
            check_files(history)
        conversation = await store.create(owner)
        stored = note_stored(conversation)
        try:
            async with conversation.turn:
                await take(conversation, history)
        except BaseException:
            with suppress(ShowAndTellError):  # the first error is the one to tell
                await store.delete(conversation.id, owner)
                await collect_now(store.database, store.blobs, [(owner, sha256) for sha256 in stored])
            raise
        return conversation


def check_files(history: History) -> None:
    """Raise `BadConversation` where a file of an archive is not in it, before anything is stored."""
    for index, draft in enumerate(history):
        for one in claims(draft):
            if isinstance(one.source, Path) and not one.source.is_file():
                raise BadConversation(
                    f"messages[{index}]: the archive holds no {FILES}/{one.source.name}: export it again"
                )


def note_stored(conversation: StoredConversation) -> set[str]:
    """The hashes of all bytes that this conversation will store, as it stores them."""
    stored: set[str] = set()
    pin = conversation.pin

    def note(sha256: str, size: int) -> None:
        stored.add(sha256)
        pin(sha256, size)

    conversation.shelf.pin = note
    return stored


async def take(conversation: StoredConversation, history: History) -> None:
    """Store every message behind its parent, and go on where the history does."""
    ids: list[str] = []
    for index, draft in enumerate(map(clean, history)):
        parent = index - 1 if history.parents is None else history.parents[index]
        before = ids[parent] if parent is not None and parent >= 0 else None
        if before != conversation.head:
            await conversation.lead(before)
        try:
            ids.append((await conversation.record(draft, await prove(conversation, draft))).id)
        except BadConversation as error:
            raise BadConversation(f"messages[{index}]: {error}") from error
    if history.head is not None:
        await conversation.lead(ids[history.head] if history.head >= 0 else None)


async def prove(conversation: StoredConversation, draft: Draft) -> Sequence[Proved]:
    """Prove a draft's files; those that had a problem where they come from keep it, word for word."""
    files: Iterable[File] = claims(draft)
    proved = await conversation.prove(draft)
    return [
        one if (problem := problem_of(file)) is None else structs.replace(one, problem=problem)
        for file, one in zip(files, proved, strict=True)
    ]
