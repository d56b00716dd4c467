"""Inserts that change the row that is there already."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import Connection, Table
from sqlalchemy.dialects import sqlite

from showandtell.lazy import LazyModule

if TYPE_CHECKING:
    from sqlalchemy.dialects import postgresql
else:
    postgresql = LazyModule("sqlalchemy.dialects.postgresql")


def upsert(connection: Connection, table: Table) -> sqlite.Insert | postgresql.Insert:
    """An insert with `ON CONFLICT`, in the dialect of this database."""
    return upsert_in(connection.dialect.name, table)


def upsert_in(dialect: str, table: Table) -> sqlite.Insert | postgresql.Insert:
    """An insert with `ON CONFLICT`, in a dialect by name."""
    return (sqlite.insert if dialect == "sqlite" else postgresql.insert)(table)
