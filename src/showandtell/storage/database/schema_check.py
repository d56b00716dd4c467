"""Compares the tables of an opened database with those of this version, so that a wrong one fails at the start.

A database is a store of ours only if its version row and its tables are: others may have tables of any name in it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

from sqlalchemy import Dialect, Table, TextClause, UniqueConstraint, select, text

from showandtell.errors import BadInput
from showandtell.storage.database.migrations import carry_over
from showandtell.storage.database.tables import HEAD, PREFIX, metadata, revisions

#: Which tables of PostgreSQL are meant: those of a schema that was named, or those that are found without a name.
OF_SCHEMA: Final = "c.relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = :schema)"
VISIBLE: Final = "pg_table_is_visible(c.oid)"
#: Each column as (table, column, type, whether it is required), and whether the database fills it in.
SELECT_SQLITE: Final = text(
    'SELECT m.name, p.name, p.type, p."notnull", p.dflt_value IS NOT NULL'
    " FROM sqlite_master m JOIN pragma_table_info(m.name) p WHERE m.type = 'table'"
)
SELECT_POSTGRESQL: Final = (
    "SELECT CAST(c.relname AS text), CAST(a.attname AS text), format_type(a.atttypid, a.atttypmod), a.attnotnull,"
    " a.atthasdef OR a.attidentity <> ''"
    " FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped"
    " WHERE c.relkind IN ('r', 'p') AND (c.relname ^@ '{prefix}' OR c.relname IN ({names})) AND {place}"
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
SELECT_KEYS_POSTGRESQL: Final = (
    "SELECT CAST(c.relname AS text),"
    " CASE o.contype WHEN 'p' THEN 'primary key' WHEN 'u' THEN 'unique' ELSE 'reference' END,"
    " CAST(o.conname AS text), k.place, CAST(a.attname AS text),"
    " CASE o.contype WHEN 'f' THEN concat(r.relname, '.', b.attname, ' ', CASE o.confdeltype WHEN 'c' THEN 'CASCADE'"
    " WHEN 'a' THEN 'NO ACTION' ELSE 'another action' END) ELSE '' END"
    " FROM pg_constraint o JOIN pg_class c ON c.oid = o.conrelid"
    " CROSS JOIN LATERAL unnest(o.conkey, o.confkey) WITH ORDINALITY AS k(own, other, place)"
    " JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = k.own LEFT JOIN pg_class r ON r.oid = o.confrelid"
    " LEFT JOIN pg_attribute b ON b.attrelid = r.oid AND b.attnum = k.other"
    " WHERE o.contype IN ('p', 'u', 'f') AND c.relname ^@ '{prefix}' AND {place}"
    " UNION ALL SELECT CAST(c.relname AS text), CASE WHEN x.indisunique THEN 'unique' ELSE '' END"
    " || CASE WHEN x.indpred IS NULL THEN '' ELSE ' partial' END || ' index', CAST(i.relname AS text), k.place,"
    " coalesce(CAST(a.attname AS text), ''), ''"
    " FROM pg_index x JOIN pg_class i ON i.oid = x.indexrelid JOIN pg_class c ON c.oid = x.indrelid"
    " CROSS JOIN LATERAL unnest(CAST(x.indkey AS smallint[])) WITH ORDINALITY AS k(own, place)"
    " LEFT JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = k.own"
    " WHERE c.relname ^@ '{prefix}' AND {place} AND NOT EXISTS (SELECT 1 FROM pg_constraint o WHERE o.conindid = i.oid)"
)
SELECT_REVISIONS: Final = select(revisions.c.version_num)
WHAT_TO_DO: Final = "open it with the version that made it, or restore a backup of a released version"
ELSEWHERE: Final = "use another database, or a schema of its own (PostgreSQL)"


def select_columns(dialect: Dialect, schema: str | None) -> TextClause:
    """The query for the columns of our tables, of those that older versions made, and of the tables of revisions."""
    return SELECT_SQLITE if dialect.name == "sqlite" else _of_schema(SELECT_POSTGRESQL, schema)


def select_keys(dialect: Dialect, schema: str | None) -> TextClause:
    """The query for the keys, references and indexes of our tables."""
    return SELECT_KEYS_SQLITE if dialect.name == "sqlite" else _of_schema(SELECT_KEYS_POSTGRESQL, schema)


def _of_schema(query: str, schema: str | None) -> TextClause:
    names = ", ".join(f"'{name}'" for name in (*carry_over.TABLES, carry_over.OLD_VERSION_TABLE))
    statement = text(query.format(prefix=PREFIX, names=names, place=VISIBLE if schema is None else OF_SCHEMA))
    return statement if schema is None else statement.bindparams(schema=schema)


class Found:
    """The tables of a database. `columns` has the description of each column by table and name."""

    def __init__(self, rows: Iterable[Sequence[Any]]) -> None:
        self.columns: defaultdict[str, dict[str, str]] = defaultdict(dict)
        #: Columns that need a value from the caller that inserts a row.
        self.needed: set[tuple[str, str]] = set()
        for table, column, kind, required, has_default in rows:
            self.columns[table][column] = describe(kind, required)
            if required and not has_default:
                self.needed.add((table, column))

    @property
    def has_version(self) -> bool:
        """Whether there is a table of revisions of ours."""
        return revisions.name in self.columns

    @property
    def is_old(self) -> bool:
        """Whether these are tables of ours from before they had a prefix."""
        return not self.has_version and carry_over.is_ours(self.columns)

    def problem(self, keys: Iterable[Sequence[Any]], dialect: Dialect, *, newer: bool = False) -> str | None:
        """What is missing, unknown or different in the tables; in a `newer` revision columns may be added."""
        return next(differences(self, dialect, newer=newer), None) or next(key_differences(keys), None)


def is_current(found: Sequence[str]) -> bool:
    """Whether these are the revisions of a database that needs no migration: this version's, or a newer one."""
    return len(found) == 1 and (found[0] == HEAD or is_newer(found[0]))


def is_newer(revision: str) -> bool:
    """Whether a revision is one of ours that this version doesn't have yet."""
    number = revision.removeprefix(PREFIX)
    return revision == PREFIX + number and len(revision) == len(HEAD) and number.isdigit() and revision > HEAD


def unreleased(name: str, problem: str) -> BadInput:
    """The error for a database that no release has made."""
    return BadInput(f"the database {name} was made by an unreleased version of showandtell ({problem}): {WHAT_TO_DO}")


def too_new(name: str, revision: str, problem: str) -> BadInput:
    """The error for a database of a newer version that this one can't use beside it."""
    return BadInput(
        f"the database {name} was written by a newer version of showandtell (revision {revision}, here {HEAD};"
        f" {problem}): update showandtell, or restore the backup from before the update"
    )


def in_the_way(name: str, problem: str) -> BadInput:
    """The error for a table with a name of ours that is not ours, or that was not made to the end."""
    return BadInput(
        f"the database {name} has a table that is in the way ({problem}): nothing was changed. Rename or remove it if"
        f" it isn't needed, or {ELSEWHERE}"
    )


def unknown_old_revision(name: str, found: Sequence[str]) -> BadInput:
    """The error for tables without a prefix whose revision is none of ours."""
    newest = max(found, default="")
    if newest.isdigit() and len(newest) == len(carry_over.OLD_REVISIONS[-1]) and newest > carry_over.OLD_REVISIONS[-1]:
        return too_new(name, newest, "its tables have no prefix")
    return unreleased(name, f"its revision {newest[:40]!r} in {carry_over.OLD_VERSION_TABLE} is unknown")


def check_revision(name: str, found: Sequence[str], *, is_old: bool) -> str | None:
    """What is wrong if a database in use has no revision. Raises `BadInput` if it has that of another version."""
    if is_old or (len(found) == 1 and found[0].startswith(PREFIX) and found[0] < HEAD):
        raise BadInput(
            f"the database {name} was written by an older version of showandtell: start the server, which updates it,"
            " then run showandtell fsck again"
        )
    if not found:
        return "its tables are missing: it was emptied, or nothing was ever stored in it"
    if not is_current(found):
        raise unreleased(name, f"its revision {max(found)[:40]!r} is unknown")
    return None


def differences(tables: Found, dialect: Dialect, *, newer: bool = False) -> Iterator[str]:
    """What is missing, unknown or different in the columns. Newer revisions may have added some that may be empty."""
    for table in metadata.sorted_tables:
        found = tables.columns[table.name]
        if not found:
            yield f"there is no table {table.name}"
            continue
        expected = {item.name: describe(item.type.compile(dialect), not item.nullable) for item in table.columns}
        for column in {**expected, **found}:
            if column not in found:
                yield f"table {table.name} has no column {column}"
            elif column not in expected:
                if newer and (table.name, column) not in tables.needed:
                    continue
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
