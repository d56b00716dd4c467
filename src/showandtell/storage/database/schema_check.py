"""Compares the tables of an opened database with those of this version, so that a wrong one fails at the start."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from typing import Any, Final

from sqlalchemy import Dialect, Table, UniqueConstraint, text
from sqlalchemy.sql import Executable

from showandtell.errors import BadInput
from showandtell.storage.database.tables import HEAD, metadata

#: Each column as (table, column, type, whether it is required).
SELECT_SQLITE: Final = text(
    'SELECT m.name, p.name, p.type, p."notnull" FROM sqlite_master m JOIN pragma_table_info(m.name) p'
    " WHERE m.type = 'table'"
)
SELECT_POSTGRESQL: Final = text(
    "SELECT CAST(c.relname AS text), CAST(a.attname AS text), format_type(a.atttypid, a.atttypmod), a.attnotnull"
    " FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped"
    " WHERE c.relkind IN ('r', 'p') AND pg_table_is_visible(c.oid)"
)
#: Each column of each key, reference and index: (table, what it is, its name, the column's place in it, the column,
#: what it refers to). Only the names of indexes count: SQLite doesn't know the others.
SELECT_KEYS_SQLITE: Final = text(
    "SELECT m.name, 'primary key', '', p.pk, p.name, '' FROM sqlite_master m JOIN pragma_table_info(m.name) p"
    " WHERE m.type = 'table' AND p.pk > 0"
    """ UNION ALL SELECT m.name, 'reference', CAST(f.id AS text), f.seq, f."from", f."table" || '.' || f."to" || ' '"""
    " || f.on_delete FROM sqlite_master m JOIN pragma_foreign_key_list(m.name) f WHERE m.type = 'table'"
    """ UNION ALL SELECT m.name, CASE WHEN l."unique" THEN 'unique' ELSE '' END"""
    " || CASE WHEN l.partial THEN ' partial' ELSE '' END || CASE l.origin WHEN 'c' THEN ' index' ELSE '' END,"
    " l.name, i.seqno, i.name, ''"
    " FROM sqlite_master m JOIN pragma_index_list(m.name) l JOIN pragma_index_info(l.name) i"
    " WHERE m.type = 'table' AND l.origin <> 'pk'"
)
SELECT_KEYS_POSTGRESQL: Final = text(
    "SELECT CAST(t.relname AS text),"
    " CASE c.contype WHEN 'p' THEN 'primary key' WHEN 'u' THEN 'unique' ELSE 'reference' END,"
    " CAST(c.conname AS text), k.place, CAST(a.attname AS text),"
    " CASE c.contype WHEN 'f' THEN concat(r.relname, '.', b.attname, ' ', CASE c.confdeltype WHEN 'c' THEN 'CASCADE'"
    " WHEN 'a' THEN 'NO ACTION' ELSE 'another action' END) ELSE '' END"
    " FROM pg_constraint c JOIN pg_class t ON t.oid = c.conrelid"
    " CROSS JOIN LATERAL unnest(c.conkey, c.confkey) WITH ORDINALITY AS k(own, other, place)"
    " JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum = k.own LEFT JOIN pg_class r ON r.oid = c.confrelid"
    " LEFT JOIN pg_attribute b ON b.attrelid = r.oid AND b.attnum = k.other"
    " WHERE c.contype IN ('p', 'u', 'f') AND pg_table_is_visible(t.oid)"
    " UNION ALL SELECT CAST(t.relname AS text), CASE WHEN x.indisunique THEN 'unique' ELSE '' END"
    " || CASE WHEN x.indpred IS NULL THEN '' ELSE ' partial' END || ' index', CAST(i.relname AS text), k.place,"
    " coalesce(CAST(a.attname AS text), ''), ''"
    " FROM pg_index x JOIN pg_class i ON i.oid = x.indexrelid JOIN pg_class t ON t.oid = x.indrelid"
    " CROSS JOIN LATERAL unnest(CAST(x.indkey AS smallint[])) WITH ORDINALITY AS k(own, place)"
    " LEFT JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum = k.own"
    " WHERE pg_table_is_visible(t.oid) AND NOT EXISTS (SELECT 1 FROM pg_constraint c WHERE c.conindid = i.oid)"
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
    is_sqlite = dialect.name == "sqlite"
    columns = await read(SELECT_SQLITE if is_sqlite else SELECT_POSTGRESQL)
    keys = await read(SELECT_KEYS_SQLITE if is_sqlite else SELECT_KEYS_POSTGRESQL)
    problem = next(differences(columns, dialect), None) or next(key_differences(keys), None)
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
    for name, column, kind, required in rows:
        tables[name][column] = describe(kind, required)
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


def key_differences(rows: Iterable[Sequence[Any]]) -> Iterator[str]:
    """What is missing, unknown or different in the keys, references and indexes; further indexes don't matter."""
    columns: defaultdict[tuple[str, str, str], list[tuple[int, str]]] = defaultdict(list)
    for table, kind, name, place, column, other in rows:
        columns[table, kind.strip(), name].append((place, f"{column} to {other}" if other else column))
    found: defaultdict[str, set[str]] = defaultdict(set)
    for (table, kind, name), places in columns.items():
        own_name = f" {name}" if kind.endswith("index") else ""
        found[table].add(f"{kind}{own_name} ({', '.join(column for _, column in sorted(places))})")
    for table in metadata.sorted_tables:
        expected = {*expected_keys(table)}
        for key in sorted(expected - found[table.name]):
            yield f"table {table.name} has no {key}"
        for key in sorted(found[table.name] - expected):
            if " index " not in key and not key.startswith("index "):
                yield f"table {table.name} has an unknown {key}"


def expected_keys(table: Table) -> Iterator[str]:
    """The keys, references and indexes of a table, in words."""
    yield f"primary key ({', '.join(table.primary_key.columns.keys())})"
    for key in table.foreign_key_constraints:
        action = key.ondelete or "NO ACTION"
        pairs = (f"{item.parent.name} to {item.target_fullname} {action}" for item in key.elements)
        yield f"reference ({', '.join(pairs)})"
    for constraint in table.constraints:
        if isinstance(constraint, UniqueConstraint):
            yield f"unique ({', '.join(constraint.columns.keys())})"
    for index in table.indexes:
        is_partial = index.dialect_options["sqlite"]["where"] is not None
        kind = f"{'unique ' if index.unique else ''}{'partial ' if is_partial else ''}index"
        yield f"{kind} {index.name} ({', '.join(index.columns.keys())})"


def describe(kind: str, required: object) -> str:
    """A column's type, and whether it is required."""
    return f"{kind.lower()} not null" if required else kind.lower()
