"""The commands `db upgrade`, `db current` and `db sql`, for people who run migrations themselves."""

from __future__ import annotations

import asyncio
from typing import Annotated

import typer

from showandtell.cli.configured import STORE, with_settings
from showandtell.cli.sessions import place_of
from showandtell.config.settings import Settings
from showandtell.errors import UsageError
from showandtell.storage.location import check_libraries

Since = Annotated[
    str | None, typer.Option("--from", metavar="REVISION", help="the revision of the database; default: an empty one")
]
Kind = Annotated[str, typer.Option("--dialect", help="postgresql or sqlite; default: that of --database")]

db = typer.Typer(
    name="db",
    add_completion=False,
    help="Make or migrate the tables of the database without a server.",
    no_args_is_help=True,
)


@db.command()
@with_settings(*STORE)
def upgrade(settings: Settings) -> None:
    """Make the tables, or migrate them to this version, as the first start of a server would. Prints the revision."""
    store = place_of(settings).store()

    async def open_it() -> None:
        async with store:
            pass

    asyncio.run(open_it())
    typer.echo(store.database.read_revision())


@db.command()
@with_settings("storage.data", "storage.database", "storage.schema")
def current(settings: Settings) -> None:
    """Print the revision of the tables, and change nothing. Exit status 3 if they have to be migrated first."""
    location = place_of(settings)
    if (missing := location.missing()) is not None:
        raise UsageError(f"{missing} isn't there yet: showandtell db upgrade makes it")
    from showandtell.storage.database.schema_check import is_current  # noqa: PLC0415 - its libraries are an extra

    revision = location.store().database.read_revision()
    typer.echo(revision or "no tables")
    raise typer.Exit(0 if revision is not None and is_current([revision]) else 3)


@db.command()
@with_settings("storage.database", "storage.schema")
def sql(settings: Settings, since: Since = None, dialect: Kind = "") -> None:
    """Print the statements of `db upgrade`, without asking the database. Stop all servers before they are executed."""
    check_libraries()
    from showandtell.storage.database.connect import read_url  # noqa: PLC0415 - its libraries are an extra
    from showandtell.storage.database.database import check_schema_name  # noqa: PLC0415 - the same
    from showandtell.storage.database.upgrade import write_sql  # noqa: PLC0415 - the same

    own = settings.storage
    kind = dialect or (read_url(own.database).get_backend_name() if own.database else "sqlite")
    if kind not in ("postgresql", "sqlite"):
        raise UsageError(f"--dialect {kind}: use postgresql or sqlite")
    typer.echo(write_sql(kind, since, check_schema_name(own.schema, is_sqlite=kind == "sqlite")), nl=False)
