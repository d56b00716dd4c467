"""All conversations of an owner in one zip file, which holds the exported file of each. It is made while it is sent.

Each inner file can be imported by itself. The outer one isn't compressed, because they are.
"""

from __future__ import annotations

import asyncio
import io
import re
import shutil
import zipfile
from collections.abc import AsyncGenerator, AsyncIterable, Callable, Generator
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

from msgspec import Struct

from showandtell.errors import BadConversation, BadInput, NotFound
from showandtell.storage.conversations.archive import ACCOUNT, BACKUP_FOLDER, CHUNK_SIZE, DAMAGED, is_suspicious
from showandtell.storage.conversations.sharing import default_author
from showandtell.storage.conversations.store import Store
from showandtell.storage.conversations.summaries import MAX_LISTED, Summary
from showandtell.storage.conversations.transfer import export_conversation

#: The name of an inner file: its position in the list, and what can be kept of the title.
NAME = re.compile(rf"{BACKUP_FOLDER}/[0-9]{{4,9}}( [^/\\]{{1,60}})?\.zip")
#: The files that were not sent yet, in a person's export.
UPLOAD = re.compile(r"uploads/[0-9]{4,9}(\.[A-Za-z0-9]{1,16})?", re.ASCII)
UNSAFE = re.compile(r"[^\w.,()-]+")
#: Maximum length of the title in the name of an inner file.
MAX_TITLE = 60

#: Called with the number of conversations that are done, and of all.
Report = Callable[[int, int], None]


class Outbox(io.RawIOBase):
    """What was written since the last `take`."""

    def __init__(self) -> None:
        super().__init__()
        self._data = bytearray()

    def writable(self) -> bool:
        """It is."""
        return True

    def write(self, data: bytes, /) -> int:  # pyright: ignore[reportIncompatibleMethodOverride] - zipfile gives bytes
        """Add to the data."""
        self._data += data
        return len(data)

    def take(self) -> bytes:
        """Return the data, and empty the outbox."""
        data, self._data = self._data, bytearray()
        return bytes(data)


async def back_up(
    store: Store,
    owner: str = "local",
    *,
    metadata: bool = True,
    report: Report | None = None,
    more: Callable[[zipfile.ZipFile], AsyncIterable[None]] | None = None,
) -> AsyncGenerator[bytes]:
    """Yield the zip file of an owner's conversations, from the one that changed last to the oldest.

    Conversations that are deleted meanwhile are left out. `metadata` is as in `export_conversation`. `more` adds other
    entries behind them: what it has written is sent whenever it yields.
    """
    listed = await list_all(store, owner)
    outbox = Outbox()
    with zipfile.ZipFile(outbox, "w") as archive:
        for number, summary in enumerate(listed, 1):
            with TemporaryDirectory(prefix="showandtell-export-") as folder, suppress(NotFound):
                path = Path(folder) / "conversation.zip"
                conversation = await store.open(summary.id, owner, "owner")
                author = await default_author(store.database, conversation)
                await export_conversation(conversation, path, author=author, metadata=metadata)
                with path.open("rb") as source, archive.open(name_of(number, summary), "w", force_zip64=True) as entry:
                    while chunk := await asyncio.to_thread(source.read, CHUNK_SIZE):
                        entry.write(chunk)
                        yield outbox.take()
            if report is not None:
                report(number, len(listed))
        if more is not None:
            async for _ in more(archive):
                yield outbox.take()
    yield outbox.take()


async def list_all(store: Store, owner: str) -> list[Summary]:
    """All conversations of an owner."""
    page = await store.list(owner, limit=MAX_LISTED)
    found = [*page]
    while len(page) == MAX_LISTED:
        page = await store.list(owner, limit=MAX_LISTED, before=page[-1].id)
        found += page
    return found


def name_of(number: int, summary: Summary) -> str:
    """The path of a conversation in the zip file."""
    title = UNSAFE.sub(" ", summary.title)[:MAX_TITLE].strip()
    return f"{BACKUP_FOLDER}/{number:04} {title}.zip" if title else f"{BACKUP_FOLDER}/{number:04}.zip"


class InnerFile(Struct, frozen=True):
    """A temporary copy of an inner file. `number` counts from 1 to `count`."""

    name: str
    path: Path
    number: int
    count: int


def exports_in(path: Path) -> Generator[InnerFile]:
    """Yield a copy of each inner file, from the oldest conversation to the newest. It is gone when the next one comes.

    Raises `BadConversation` if there is anything else, or if the file is damaged.
    """
    with TemporaryDirectory(prefix="showandtell-") as folder:
        copy = Path(folder) / "conversation.zip"
        try:
            with zipfile.ZipFile(path) as archive:
                for entry in archive.infolist():
                    check_entry(entry, path.name)
                entries = [entry for entry in archive.infolist()[::-1] if NAME.fullmatch(entry.filename)]
                for number, entry in enumerate(entries, 1):
                    with archive.open(entry) as source, copy.open("wb") as sink:
                        shutil.copyfileobj(source, sink, CHUNK_SIZE)
                    yield InnerFile(entry.filename, copy, number, len(entries))
        except BadInput:
            raise
        except DAMAGED as error:
            raise BadConversation(f"{path.name} is damaged ({error}): export it again") from error


def check_entry(entry: zipfile.ZipInfo, name: str) -> None:
    """Raise `BadConversation` for an entry that no export has."""
    is_conversation = NAME.fullmatch(entry.filename) is not None and not entry.compress_type
    is_other = entry.filename == ACCOUNT or UPLOAD.fullmatch(entry.filename) is not None
    if is_suspicious(entry) or not (is_conversation or is_other):
        raise BadConversation(
            f"{name} contains {entry.filename[:80]!r}, which exports never contain: it is damaged, or was not made here"
        )
