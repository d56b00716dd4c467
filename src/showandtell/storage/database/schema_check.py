"""Compares the tables of an opened database with those of this version, so that a wrong one fails at the start."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from typing import Any, Final

from sqlalchemy import Dialect, text
from sqlalchemy.sql import Executable

from showandtell.errors import BadInput
from showandtell.storage.database.tables import HEAD, metadata

#: Each column as (table, column, type, whether it is required); an index as its name and three empty values.
SELECT_SQLITE: Final = text(
    'SELECT m.name, p.name, p.type, p."notnull" FROM sqlite_master m JOIN pragma_table_info(m.name) p'
    " WHERE m.type = 'table' UNION ALL SELECT name, '', '', 0 FROM sqlite_master WHERE type = 'index'"
)
SELECT_POSTGRESQL: Final = text(
    "SELECT CAST(c.relname AS text), CAST(a.attname AS text), format_type(a.atttypid, a.atttypmod), a.attnotnull"
    " FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped"
    " WHERE c.relkind IN ('r', 'p') AND pg_table_is_visible(c.oid)"
    " UNION ALL SELECT CAST(relname AS text), '', '', false FROM pg_class WHERE relkind = 'i'"
    " AND pg_table_is_visible(oid)"
)
#: Whether there is a table of revisions, as one row or none.
HAS_REVISIONS_SQLITE: Final = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'alembic_version'"
HAS_REVISIONS_POSTGRESQL: Final = "SELECT 1 WHERE to_regclass('alembic_version') IS NOT NULL"
SELECT_REVISIONS: Final = "SELECT version_num FROM alembic_version"
WHAT_TO_DO: Final = "open it with the version that made it, or restore a backup of a released version"


async def check_schema(read: Callable[[Executable], Awaitable[Sequence[Any]]], dialect: Dialect, name: str) -> None:
    """Raise `BadInput` if the tables of the database `name` are not those of this version.

    Other tables and further indexes are ignored: they may belong to others.
    """
    rows = await read(SELECT_SQLITE if dialect.name == "sqlite" else SELECT_POSTGRESQL)
    problem = next(differences(rows, dialect), None)
    if problem is not None:
        raise unreleased(name, problem)


def unreleased(name: str, problem: str) -> BadInput:
    """The error for a database that no release has made."""
    return BadInput(f"the database {name} was made by an unreleased version of showandtell ({problem}): {WHAT_TO_DO}")


def unknown_revision(name: str, revisions: Iterable[str]) -> BadInput:
    """The error for a database of a revision that this version doesn't have."""
    newest = max(revisions, default="")
    if newest.isdigit() and len(newest) == len(HEAD) and newest > HEAD:
        return BadInput(
            f"the database {name} was written by a newer version of showandtell (revision {newest}, here {HEAD}):"
            " update showandtell, or restore the backup from before the update"
        )
    return unreleased(name, f"its revision {newest[:40]!r} is unknown")


def check_revision(name: str, revisions: Sequence[str]) -> str | None:
    """What is wrong if a database in use has no revision. Raises `BadInput` if it has that of another version."""
    if not revisions:
        return "its tables are missing: it was emptied, or nothing was ever stored in it"
    if [*revisions] == [HEAD]:
        return None
    newest = max(revisions)
    if newest.isdigit() and len(newest) == len(HEAD) and newest < HEAD:
        raise BadInput(
            f"the database {name} was written by an older version of showandtell (revision {newest}, here {HEAD}):"
            " start the server, which updates it, then run showandtell fsck again"
        )
    raise unknown_revision(name, revisions)


def differences(rows: Iterable[Sequence[Any]], dialect: Dialect) -> Iterator[str]:
    """What is missing, unknown or different in the tables."""
    tables: defaultdict[str, dict[str, str]] = defaultdict(dict)
    indexes: set[str] = set()
    for name, column, kind, required in rows:
        if column:
            tables[name][column] = describe(kind, required)
        else:
            indexes.add(name)
    for table in metadata.sorted_tables:
        found = tables[table.name]
        if not found:
            yield f"there is no table {table.name}"
            continue
        expected = {item.name: describe(item.type.compile(dialect), not item.nullable) for item in table.columns}
        for column in {**expected, **found}:
            if column not in found:
                yield f"table {table.name} has no column {column}"
            elif column not in expected:
                yield f"table {table.name} has an unknown column {column}"
            elif found[column] != expected[column]:
                yield f"{table.name}.{column} is {found[column]} instead of {expected[column]}"
        yield from (f"there is no index {index.name}" for index in table.indexes if index.name not in indexes)


def describe(kind: str, required: object) -> str:
    """A column's type, and whether it is required."""
    return f"{kind.lower()} not null" if required else kind.lower()
