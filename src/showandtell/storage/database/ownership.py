"""Whose the rows of each table are, read from the tables: no list of tables is kept by hand.

A row belongs to the people that its marked columns name, and to those to whom a row belongs with which it is deleted.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any, cast

from sqlalchemy import (
    ColumnElement,
    CompoundSelect,
    ForeignKeyConstraint,
    Select,
    Table,
    bindparam,
    func,
    literal,
    or_,
    select,
    tuple_,
    union,
    union_all,
)

from showandtell.storage.database.tables import PREFIX, Place, metadata

#: The person whose rows a statement is about.
WHO = "who"


def short_name(table: Table) -> str:
    """The name of a table without our prefix."""
    return table.name.removeprefix(PREFIX)


def place_of(table: Table) -> Place:
    """Where an export has the rows of a table."""
    return cast("Place", table.info["place"])


def owned_directly(table: Table) -> ColumnElement[bool] | None:
    """The condition that a row names the person; None for tables whose rows name nobody."""
    conditions: list[ColumnElement[bool]] = [column == bindparam(WHO) for column in table.c if "person" in column.info]
    if table.info["person"]:
        conditions.append(literal(table.info["person"]) == bindparam(WHO))
    return or_(*conditions) if conditions else None


@cache
def belongs(table: Table) -> ColumnElement[bool] | None:
    """The condition that a row belongs to the person; None for tables of the server."""
    conditions: list[ColumnElement[bool]] = [
        tuple_(*key.columns).in_(select(*(each.column for each in key.elements)).where(of_parent))
        for key in keys_to_parents(table)
        if (of_parent := belongs(key.referred_table)) is not None
    ]
    if (directly := owned_directly(table)) is not None:
        conditions.append(directly)
    return or_(*conditions) if conditions else None


def of_person(table: Table) -> ColumnElement[bool]:
    """Like `belongs`, for a table whose rows belong to people."""
    if (condition := belongs(table)) is None:
        raise AssertionError(table.name)
    return condition


def keys_to_parents(table: Table) -> Iterator[ForeignKeyConstraint]:
    """The foreign keys to rows with which a row is deleted, but those that name the same person as the row."""
    for key in table.foreign_key_constraints:
        if key.ondelete == "CASCADE" and not any("person" in column.info for column in key.columns):
            yield key


@cache
def count_rows() -> CompoundSelect[str, int]:
    """The query for the number of a person's rows, by table."""
    counted = [
        select(literal(short_name(table)), func.count()).select_from(table).where(of_person)
        for table in metadata.sorted_tables
        if (of_person := belongs(table)) is not None
    ]
    return union_all(*counted)


@cache
def list_people() -> CompoundSelect[str]:
    """The query for the ids of all people who have a row."""
    queries: list[Select[Any]] = []
    for table in metadata.sorted_tables:
        queries += [select(column).where(column != "") for column in table.c if "person" in column.info]
        if person := table.info["person"]:
            queries.append(select(literal(person)).where(select(table).exists()))
    return union(*queries)
