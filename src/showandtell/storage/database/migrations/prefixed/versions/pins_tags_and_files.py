"""Pins, tags and the archive of conversations; and columns by which files are found, filtered and sorted."""

from __future__ import annotations

import json
from typing import Any

import sqlalchemy as sa
from alembic import context, op

revision = "showandtell_0004"
down_revision = "showandtell_0003"
branch_labels = None
depends_on = None

FILES = "showandtell_attachments"
#: Rows per query.
BATCH = 500
SELECT_RECORDS = sa.text(f"SELECT id, record FROM {FILES} WHERE id > :last ORDER BY id LIMIT {BATCH}")  # noqa: S608
UPDATE_FILE = sa.text(
    f"UPDATE {FILES} SET words = :words, media_type = :media_type, date = :date, size = :size WHERE id = :id"  # noqa: S608
)
#: The same for statements that are printed: they know no capitals but those of the database.
FILL_SQLITE = f"""UPDATE {FILES} SET
    words = lower(json_extract(file, '$.name') || ' ' || coalesce(json_extract(file, '$.description'), '')),
    media_type = coalesce(json_extract(file, '$.facts.media_type'), json_extract(file, '$.address.media_type'),
        json_extract(file, '$.claimed'), 'application/octet-stream'),
    date = json_extract(file, '$.date'),
    size = json_extract(file, '$.facts.size')
FROM (SELECT id AS file_id, replace(record, '\\u0000', '\\u0020') AS file FROM {FILES}) AS files
WHERE id = file_id"""  # noqa: S608
FILL_POSTGRESQL = f"""UPDATE {FILES} SET
    words = lower(concat(file ->> 'name', ' ', file ->> 'description')),
    media_type = coalesce(file -> 'facts' ->> 'media_type', file -> 'address' ->> 'media_type', file ->> 'claimed',
        'application/octet-stream'),
    date = file ->> 'date',
    size = CAST(file -> 'facts' ->> 'size' AS bigint)
FROM (SELECT id AS file_id, CAST(replace(record, '\\u0000', '\\u0020') AS json) AS file FROM {FILES}) AS files
WHERE id = file_id"""  # noqa: S608


def upgrade() -> None:
    """Add the tables and columns. Files from before get theirs from their records."""
    op.add_column("showandtell_conversations", sa.Column("pinned", sa.Double[float]()))
    op.add_column("showandtell_conversations", sa.Column("archived", sa.Double[float]()))
    op.create_table(
        "showandtell_tags",
        sa.Column("conversation_id", sa.Text(), nullable=False),
        sa.Column("tag", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("conversation_id", "tag", name="pk_showandtell_tags"),
        sa.ForeignKeyConstraint(
            ["conversation_id"],
            ["showandtell_conversations.id"],
            name="fk_showandtell_tags_conversation_id",
            ondelete="CASCADE",
        ),
    )
    for name in ("words", "media_type", "date"):
        op.add_column(FILES, sa.Column(name, sa.Text()))
    op.add_column(FILES, sa.Column("size", sa.BigInteger()))
    if not context.is_offline_mode():
        fill_columns(op.get_bind())
    elif context.get_context().dialect.name == "sqlite":
        op.execute(FILL_SQLITE)
    else:
        op.execute(FILL_POSTGRESQL)
    op.create_index(
        "ix_showandtell_attachments_owner_date_conversation_id_number",
        FILES,
        ["owner", "date", "conversation_id", "number"],
    )
    op.create_index("ix_showandtell_attachments_owner_size_id", FILES, ["owner", "size", "id"])


def fill_columns(connection: sa.Connection) -> None:
    """Fill the new columns of all files."""
    last = ""
    while rows := connection.execute(SELECT_RECORDS, {"last": last}).all():
        connection.execute(UPDATE_FILE, [{"id": row[0], **columns_of(json.loads(row[1]))} for row in rows])
        last = rows[-1][0]


def columns_of(file: dict[str, Any]) -> dict[str, Any]:
    """The values of the new columns from a file's record."""
    facts: dict[str, Any] = file.get("facts") or {}
    source: dict[str, Any] = facts or file.get("address") or {}
    return {
        "words": searchable(f"{file.get('name') or ''} {file.get('description') or ''}"),
        "media_type": searchable(source.get("media_type") or file.get("claimed") or "application/octet-stream"),
        "date": searchable(file.get("date") or ""),
        "size": facts.get("size"),
    }


def searchable(text: str) -> str:
    """Text in lower case, without what PostgreSQL's text type can't hold."""
    return text.lower().replace("\0", " ").encode(errors="replace").decode()
