"""A user's files in all of their conversations: their list, where each is used, and the storage that they take."""

from __future__ import annotations

from functools import cache
from typing import Any, Literal, TypeAlias

from msgspec import Struct, structs
from sqlalchemy import ColumnElement, Select, bindparam, exists, func, select, tuple_

from showandtell.core.messages.attachments import Attachment
from showandtell.storage.conversations.access import check_id, check_user
from showandtell.storage.conversations.search import EVERYTHING, FileFilter, Search
from showandtell.storage.conversations.summaries import check_limit
from showandtell.storage.database.database import Database
from showandtell.storage.database.quotas import Account, used_bytes
from showandtell.storage.database.rows import any_of, decode_in_thread, read_all, read_any, read_attachments
from showandtell.storage.database.tables import attachments, conversations

Sort: TypeAlias = Literal["newest", "oldest", "largest", "smallest", "name"]
#: Places of a file that the list names.
MAX_PLACES = 20
OTHER = attachments.alias("other")
ANCHOR = attachments.alias("anchor")


class Place(Struct, frozen=True):
    """Where a file is used."""

    conversation_id: str
    title: str
    file_id: str
    number: int


class ListedFile(Struct, frozen=True):
    """Stored bytes under their newest name and number, and the conversations that have them, the newest first."""

    attachment: Attachment
    conversation_id: str
    sha256: str
    places: tuple[Place, ...] = ()
    more_places: int = 0


class FilePage(Struct, frozen=True):
    """A page of a list. `next` is the `before` of the next page, or None."""

    files: tuple[ListedFile, ...]
    next: str | None


class StorageUse(Struct, frozen=True):
    """Bytes that a user's files take, with what was made from them; the limit, if there is one; what there is."""

    bytes: int
    limit: int | None
    files: int
    conversations: int


def age(columns: Any) -> tuple[ColumnElement[Any], ...]:
    """The order of files by the moment when they were added, and those of a moment by conversation and number."""
    return columns.added, columns.conversation_id, columns.number


def keys_of(sort: Sort, columns: Any) -> tuple[ColumnElement[Any], ...]:
    """The columns of an order. No two files have the same values."""
    match sort:
        case "newest" | "oldest":
            return age(columns)
        case "largest" | "smallest":
            return columns.size, columns.id
        case "name":
            return columns.name, columns.id


def has_bytes(columns: Any) -> tuple[ColumnElement[bool], ...]:
    """The conditions that a file is the user's and has bytes."""
    return columns.owner == bindparam("who"), columns.sha256.is_not(None)


@cache
def select_files(wanted: FileFilter, sort: Sort, *, is_first: bool) -> Select[*tuple[Any, ...]]:
    """The query for a page. Of equal bytes, the newest file that matches counts."""
    own, other = attachments.c, OTHER.c
    is_same = (other.owner == own.owner) & (other.sha256 == own.sha256)
    # Apart, because SQLite seeks by the first column of a comparison of several alone.
    is_later = other.added > own.added
    is_next = (other.added == own.added) & (tuple_(*age(other)[1:]) > tuple_(*age(own)[1:]))
    query = select(own.conversation_id, own.sha256, own.record).where(
        *has_bytes(own),
        *wanted.conditions(),
        *(~exists().where(is_same, is_newer, *wanted.conditions(other)) for is_newer in (is_later, is_next)),
    )
    is_descending = sort in {"newest", "largest"}
    keys = keys_of(sort, own)
    if not is_first:
        at, last = (
            tuple_(*keys),
            select(*keys_of(sort, ANCHOR.c)).where(
                ANCHOR.c.id == bindparam("before"), ANCHOR.c.owner == bindparam("who")
            ),
        )
        query = query.where(at < last.scalar_subquery() if is_descending else at > last.scalar_subquery())
    return query.order_by(*(key.desc() if is_descending else key.asc() for key in keys)).limit(bindparam("most"))


async def list_files(
    database: Database,
    owner: str,
    search: Search = EVERYTHING,
    *,
    sort: Sort = "newest",
    limit: int = 50,
    before: str | None = None,
) -> FilePage:
    """An owner's files with stored bytes, each of equal bytes once. `before` is the id of the last one before the page.

    Files that another person's conversation has are that person's. Raises `BadInput` unless `limit` is 1 to 10,000.
    """
    wanted = FileFilter.of(search)
    parameters: dict[str, object] = {**wanted.values(search), "who": check_user(owner), "most": check_limit(limit) + 1}
    if before is not None:
        parameters["before"] = check_id(before)
    rows = await database.read(select_files(wanted, sort, is_first=before is None), **parameters)
    decoded = await decode_in_thread(lambda: read_all(read_attachments, rows, 2), rows)
    files = [ListedFile(file, row[0], row[1]) for row, file in zip(rows, decoded, strict=True)]
    places = await find_places(database, owner, [file.sha256 for file in files[:limit]])
    page = tuple(with_places(file, places[file.sha256]) for file in files[:limit] if file.sha256 in places)
    return FilePage(page, page[-1].attachment.id if len(files) > limit and page else None)


def with_places(file: ListedFile, places: list[Place]) -> ListedFile:
    """The file with its first places, and the number of the others."""
    return structs.replace(file, places=tuple(places[:MAX_PLACES]), more_places=max(0, len(places) - MAX_PLACES))


@cache
def select_places(count: int) -> Select[*tuple[Any, ...]]:
    """The query for the files with given bytes, and the conversations that have them."""
    return (
        select(
            attachments.c.sha256,
            attachments.c.conversation_id,
            conversations.c.title,
            attachments.c.id,
            attachments.c.number,
        )
        .join(conversations, conversations.c.id == attachments.c.conversation_id)
        .where(*has_bytes(attachments.c), any_of(attachments.c.sha256, count))
        .order_by(conversations.c.changed.desc(), attachments.c.conversation_id, attachments.c.number)
    )


async def find_places(database: Database, owner: str, hashes: list[str]) -> dict[str, list[Place]]:
    """The places of an owner's bytes by hash, those in conversations that were changed last before others."""
    found: dict[str, list[Place]] = {}
    for sha256, *place in await read_any(database, select_places, hashes, who=check_user(owner)):
        found.setdefault(sha256, []).append(Place(*place))
    return found


SELECT_COUNTS = select(
    select(func.count(attachments.c.sha256.distinct())).where(*has_bytes(attachments.c)).scalar_subquery(),
    select(func.count()).where(conversations.c.owner == bindparam("who")).scalar_subquery(),
)


async def storage_use(database: Database, account: Account) -> StorageUse:
    """The storage that an owner uses."""
    files, count = (await database.read(SELECT_COUNTS, who=check_user(account.owner)))[0]
    return StorageUse(await used_bytes(database, account), account.quotas.owner, files, count)
