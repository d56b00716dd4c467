"""Columns and indexes to list files by name and by the moment when they were added, and equal ones once."""

from __future__ import annotations

import json
from typing import Any

import sqlalchemy as sa
from alembic import context, op

revision = "showandtell_0006"
down_revision = "showandtell_0005"
branch_labels = None
depends_on = None

FILES = "showandtell_attachments"
#: Characters of a name.
LENGTH = 100
#: Rows per query.
BATCH = 500
SELECT_RECORDS = sa.text(f"SELECT id, record FROM {FILES} WHERE id > :last ORDER BY id LIMIT {BATCH}")  # noqa: S608
UPDATE_FILE = sa.text(f"UPDATE {FILES} SET name = :name, added = date WHERE id = :id")  # noqa: S608
#: The same for statements that are printed: they know no capitals but those of the database.
FILL_SQLITE = f"""UPDATE {FILES} SET
    name = substr(lower(json_extract(replace(record, '\\u0000', '\\u0020'), '$.name')), 1, {LENGTH}),
    added = date"""  # noqa: S608
FILL_POSTGRESQL = f"""UPDATE {FILES} SET
    name = substr(lower(CAST(replace(record, '\\u0000', '\\u0020') AS json) ->> 'name'), 1, {LENGTH}),
    added = date"""  # noqa: S608


def upgrade() -> None:
    """Add the columns and indexes. Files from before were added on the day of their date."""
    op.add_column(FILES, sa.Column("name", sa.Text()))
    op.add_column(FILES, sa.Column("added", sa.Text()))
    if not context.is_offline_mode():
        fill_columns(op.get_bind())
    elif context.get_context().dialect.name == "sqlite":
        op.execute(FILL_SQLITE)
    else:
        op.execute(FILL_POSTGRESQL)
    op.create_index(f"ix_{FILES}_equal", FILES, ["owner", "sha256", "added", "conversation_id", "number"])
    op.create_index(f"ix_{FILES}_newest", FILES, ["owner", "added", "conversation_id", "number"])
    op.create_index(f"ix_{FILES}_owner_name_id", FILES, ["owner", "name", "id"])
    op.drop_index(f"ix_{FILES}_owner_sha256", FILES)
    op.drop_index(f"ix_{FILES}_owner_date_conversation_id_number", FILES)


def fill_columns(connection: sa.Connection) -> None:
    """Fill the new columns of all files."""
    last = ""
    while rows := connection.execute(SELECT_RECORDS, {"last": last}).all():
        connection.execute(UPDATE_FILE, [{"id": row[0], "name": name_in(json.loads(row[1]))} for row in rows])
        last = rows[-1][0]


def name_in(file: dict[str, Any]) -> str:
    """The name of a file's record in lower case, without what PostgreSQL's text type can't hold."""
    name = str(file.get("name") or "")
    return name.lower().replace("\0", " ").encode(errors="replace").decode()[:LENGTH]
