"""Statements of every run: compiled once for each kind of database, and executed with values as both drivers take them.

What SQLAlchemy does besides, to look a statement up and to convert its values, takes longer than SQLite for a row.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias, cast

from sqlalchemy import Connection, CursorResult
from sqlalchemy.sql import Executable

#: SQL, the names of its parameters in order (None: they go by name), and the values that are part of the statement.
Compiled: TypeAlias = tuple[str, Sequence[str] | None, Mapping[str, Any]]


class Prepared:
    """A statement, or a function that makes it for a dialect by name. An insert needs a value for every column."""

    def __init__(self, statement: Executable | Callable[[str], Executable]) -> None:
        self._statement = statement
        self._compiled: dict[tuple[str, str | None], Compiled] = {}

    def execute(self, connection: Connection, *rows: Mapping[str, Any]) -> CursorResult[Any]:
        """Execute it once for each of these rows of values."""
        schema: str | None = connection.get_execution_options().get("schema_translate_map", {}).get(None)
        key = connection.dialect.name, schema
        sql, order, constants = self._compiled.get(key) or self._compiled.setdefault(key, self._compile(connection))
        values: list[Any] = [{**constants, **row} for row in rows]
        if order is not None:
            values = [tuple(row[name] for name in order) for row in values]
        return connection.exec_driver_sql(sql, values[0] if len(values) == 1 else values)

    def _compile(self, connection: Connection) -> Compiled:
        statement = self._statement(connection.dialect.name) if callable(self._statement) else self._statement
        schemas = connection.get_execution_options().get("schema_translate_map")
        compiled = cast("Any", statement).compile(
            dialect=connection.dialect, schema_translate_map=schemas, render_schema_translate=schemas is not None
        )
        constants = {name: bind.value for name, bind in compiled.binds.items() if not bind.required}
        return str(compiled), compiled.positiontup, constants
