"""How users keep their conversations in order: titles, pins, tags and the archive."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from msgspec import UNSET, Struct, UnsetType, structs
from sqlalchemy import Connection, bindparam, delete, func, insert, select, update

from showandtell.core.messages.conversation_settings import ConversationSettings, check_temperature
from showandtell.core.messages.message import Details
from showandtell.errors import BadInput
from showandtell.storage.conversations.access import allowed, check_id, check_user, not_found, select_by_id
from showandtell.storage.conversations.conversation_settings import encode_settings, read_or_default
from showandtell.storage.database.database import Database
from showandtell.storage.database.tables import conversations, tags
from showandtell.storage.files.file_cache import strip_invisible

#: The settings of a conversation for which nothing was set.
NOTHING = ConversationSettings()
#: Maximum length of a title, of a tag, tags of a conversation, and pinned conversations of a user.
MAX_TITLE, MAX_TAG, MAX_TAGS, MAX_PINS = 200, 40, 20, 100
#: An owner's conversation, locked until the transaction ends.
SELECT_OWNED = select_by_id("conv", "owner").with_for_update()
SELECT_ORDER = select(conversations.c.title, conversations.c.pinned, conversations.c.archived).where(
    conversations.c.id == bindparam("id")
)
SELECT_DETAILS = select(
    conversations.c.owner,
    conversations.c.title,
    conversations.c.created,
    conversations.c.changed,
    conversations.c.pinned,
    conversations.c.archived,
    conversations.c.settings,
).where(conversations.c.id == bindparam("id"), allowed("reader"))
SELECT_TAGS = select(tags.c.tag).where(tags.c.conversation_id == bindparam("id")).order_by(tags.c.tag)
SELECT_PIN_COUNT = select(func.count()).where(
    conversations.c.owner == bindparam("user"),
    conversations.c.pinned.is_not(None),
    conversations.c.id != bindparam("id"),
)
SELECT_ALL_TAGS = (
    select(tags.c.tag, func.count())
    .join(conversations, conversations.c.id == tags.c.conversation_id)
    .where(conversations.c.owner == bindparam("user"))
    .group_by(tags.c.tag)
    .order_by(tags.c.tag)
)


class Order(Struct, frozen=True):
    """What the owner set for a conversation."""

    title: str
    pinned: bool
    archived: bool
    tags: tuple[str, ...]


class Tag(Struct, frozen=True):
    """A tag, and the number of conversations that have it."""

    name: str
    conversations: int


async def organize(
    database: Database,
    id: str,  # noqa: A002 - it is one
    owner: str,
    now: float,
    *,
    title: str | UnsetType = UNSET,
    pinned: bool | UnsetType = UNSET,
    archived: bool | UnsetType = UNSET,
    tags: Sequence[str] | UnsetType = UNSET,
) -> Order:
    """Change what is given, in one transaction, and return all of it as stored. `now` is in epoch seconds.

    Raises `NotFound`, or `BadInput` for an invalid title or tag, too many tags or too many pins.
    """
    changes: dict[str, object] = {}
    if title is not UNSET:
        changes["title"] = clean_title(title)
    new_tags = tags if tags is UNSET else clean_tags(tags)
    if pinned is not UNSET:
        changes["pinned"] = now if pinned else None
    if archived is not UNSET:
        changes["archived"] = now if archived else None
    parameters = {"id": check_id(id), "user": check_user(owner)}

    def transaction(connection: Connection) -> Order:
        if connection.execute(SELECT_OWNED, parameters).first() is None:
            raise not_found(id)
        if pinned is True and connection.execute(SELECT_PIN_COUNT, parameters).scalar_one() >= MAX_PINS:
            raise BadInput(f"{MAX_PINS} conversations are pinned: unpin one of them first")
        if changes:
            connection.execute(update(conversations).where(conversations.c.id == id).values(changes))
        if new_tags is not UNSET:
            store_tags(connection, id, new_tags)
        title, is_pinned, is_archived = connection.execute(SELECT_ORDER, {"id": id}).one()
        stored = tuple(connection.execute(SELECT_TAGS, {"id": id}).scalars())
        return Order(title, is_pinned is not None, is_archived is not None, stored)

    return await database.write(transaction)


async def read_details(database: Database, id: str, user: str) -> Details:  # noqa: A002 - it is one
    """What an export keeps of a conversation beside its messages.

    Pin, archive, tags and settings are for its owner alone.
    """
    parameters = {"id": check_id(id), "user": check_user(user)}
    rows = await database.read(SELECT_DETAILS, **parameters)
    if not rows:
        raise not_found(id)
    owner, title, created, changed, pinned, archived, record = rows[0]
    shared = Details(title, datetime.fromtimestamp(created, UTC), datetime.fromtimestamp(changed, UTC))
    if owner != user:
        return shared
    names = tuple(name for (name,) in await database.read(SELECT_TAGS, id=id))
    is_pinned, is_archived, settings = pinned is not None, archived is not None, read_or_default(record).settings
    return structs.replace(
        shared, pinned=is_pinned, archived=is_archived, tags=names, settings=settings if settings != NOTHING else None
    )


def detail_values(details: Details, now: float) -> dict[str, object]:
    """The columns of an imported conversation's details. Times in the future become `now`, in epoch seconds.

    Raises `BadInput` for an invalid title, or a temperature that no API takes.
    """
    if details.settings is not None:
        check_temperature(details.settings.temperature)
    changed = seconds_of(details.changed, now)
    values: dict[str, object] = {
        "created": min(seconds_of(details.created, changed), changed),
        "changed": changed,
        "pinned": now if details.pinned else None,
        "archived": now if details.archived else None,
        "settings": encode_settings(details.settings or NOTHING),
    }
    return values | {"title": clean_title(details.title)} if details.title else values


def seconds_of(moment: datetime | None, latest: float) -> float:
    """A moment in epoch seconds, at most `latest`."""
    return latest if moment is None else min(max(moment.timestamp(), 0.0), latest)


def store_tags(connection: Connection, id: str, names: Sequence[str]) -> None:  # noqa: A002 - it is one
    """Replace the tags of a conversation."""
    connection.execute(delete(tags).where(tags.c.conversation_id == id))
    if names:
        connection.execute(insert(tags), [{"conversation_id": id, "tag": name} for name in names])


async def list_tags(database: Database, owner: str) -> tuple[Tag, ...]:
    """The tags of an owner's conversations, by name."""
    return tuple(Tag(*row) for row in await database.read(SELECT_ALL_TAGS, user=check_user(owner)))


def clean_title(title: str) -> str:
    """The title on one line. Raises `BadInput` if it is empty or too long."""
    title = strip_invisible(" ".join(title.split()))
    if not 1 <= len(title) <= MAX_TITLE:
        raise BadInput(f"a title of {len(title)} characters can't be stored: use 1 to {MAX_TITLE}")
    return title


def clean_tags(names: Sequence[str]) -> list[str]:
    """The distinct tags as they are stored. Raises `BadInput`."""
    cleaned = [*dict.fromkeys(map(check_tag, names))]
    if len(cleaned) > MAX_TAGS:
        raise BadInput(f"a conversation can't have {len(cleaned)} tags: use at most {MAX_TAGS}")
    return cleaned


def check_tag(name: str) -> str:
    """A tag on one line. Raises `BadInput` if it is empty or too long."""
    name = strip_invisible(" ".join(name.split()))
    if not 1 <= len(name) <= MAX_TAG:
        raise BadInput(f"a tag of {len(name)} characters can't be stored: use 1 to {MAX_TAG}")
    return name
