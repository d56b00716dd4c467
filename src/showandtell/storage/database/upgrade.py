"""Makes or migrates the tables of a database, in one transaction: it is done as a whole, or nothing was changed."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import Connection, text
from sqlalchemy.exc import OperationalError, ProgrammingError
from sqlalchemy.schema import CreateSchema

from showandtell.errors import BadInput, Busy
from showandtell.storage.database import migrations
from showandtell.storage.database.migrations import carry_over
from showandtell.storage.database.schema_check import (
    SELECT_REVISIONS,
    Found,
    in_the_way,
    is_current,
    is_newer,
    select_columns,
    select_keys,
    too_new,
    unknown_old_revision,
    unreleased,
)
from showandtell.storage.database.tables import HEAD, metadata, revisions

if TYPE_CHECKING:
    from alembic.config import Config

#: The advisory lock on PostgreSQL that serializes migrations.
MIGRATION_LOCK: Final = 0x73686F77
#: The scripts of the revisions without a prefix, and of those with one.
OLD_SCRIPTS: Final = Path(migrations.__file__).parent
SCRIPTS: Final = OLD_SCRIPTS / "prefixed"
#: A run whose worker has written a heartbeat within these seconds is alive. Its clock may be another machine's.
FRESH_SECONDS: Final = 15.0
MAX_CLOCK_SKEW: Final = 3600.0
SELECT_FRESH: Final = text("SELECT count(*) FROM runs WHERE state = 'running' AND beat > :after AND beat < :before")
#: What databases say about a name that is taken, and one that is missing.
TAKEN: Final = re.compile("already exists")
MISSING: Final = re.compile("does not exist|no such (table|index|column)")


def upgrade(connection: Connection, name: str, schema: str | None = None) -> None:
    """Make the tables, or bring them to the newest revision. Runs in the connection's transaction.

    Raises `BadInput` if tables of others, or of an unreleased version, have our names, and `Busy` while a server of an
    older version uses tables that are to be renamed.
    """
    if connection.dialect.name != "sqlite":
        connection.execute(text("SET LOCAL lock_timeout = 0"))
        connection.execute(text(f"SELECT pg_advisory_xact_lock({MIGRATION_LOCK})"))
        if schema is not None:
            use_schema(connection, schema)
    try:
        migrate(connection, name, Found(connection.execute(select_columns(connection.dialect, schema))))
    except (OperationalError, ProgrammingError) as error:
        words = " ".join(str(error.orig).partition("\n")[0].split())[:200]
        if TAKEN.search(words):
            raise in_the_way(name, words) from error
        if MISSING.search(words):
            raise unreleased(name, words) from error
        raise
    check(connection, name, schema)


def use_schema(connection: Connection, schema: str) -> None:
    """Make a schema unless it exists, and find tables in it for the rest of the transaction."""
    if not connection.dialect.has_schema(connection, schema):
        connection.execute(CreateSchema(schema, if_not_exists=True))
    connection.execute(text(set_search_path(connection.dialect.identifier_preparer.quote_identifier(schema))))


def set_search_path(quoted: str) -> str:
    """The statement that finds tables in a schema until the transaction ends."""
    return f"SET LOCAL search_path TO {quoted}"


def migrate(connection: Connection, name: str, found: Found) -> None:
    """Run the revisions that are missing in a database with these tables."""
    if found.has_version:
        revision = read_revision(connection, name, found)
        if is_current([revision]):
            return
    elif made := sorted({table.name for table in metadata.sorted_tables} & found.columns.keys()):
        raise in_the_way(name, f"there is {made[0]}, but no {revisions.name}, so it was not made by showandtell")
    elif found.is_old:
        carry(connection, name, found)
    run_alembic(SCRIPTS, "head", connection=connection)


def read_revision(connection: Connection, name: str, found: Found) -> str:
    """The revision of a database. Raises `BadInput` if it has none of ours."""
    if [*found.columns[revisions.name]] != [revisions.c.version_num.name]:
        raise in_the_way(name, f"{revisions.name} has other columns than that of showandtell")
    rows = [str(row) for row in connection.scalars(SELECT_REVISIONS)]
    if len(rows) != 1:
        raise in_the_way(name, f"{revisions.name} has {len(rows)} rows instead of one")
    (revision,) = rows
    if revision not in known_revisions() and not is_newer(revision):
        raise unreleased(name, f"its revision {revision[:40]!r} is unknown")
    return revision


def find_revision(connection: Connection, name: str, schema: str | None) -> str | None:
    """The revision of a database of this or another version; None without tables of ours. Raises `BadInput`."""
    found = Found(connection.execute(select_columns(connection.dialect, schema)))
    if found.is_old:
        if schema is not None:
            use_schema(connection, schema)
        return connection.scalar(text(carry_over.SELECT_REVISION))
    return read_revision(connection, name, found) if found.has_version else None


def known_revisions() -> list[str]:
    """The revisions of this version, the newest first."""
    from alembic.script import ScriptDirectory  # noqa: PLC0415 - slow to import, and seldom needed

    script = ScriptDirectory.from_config(make_config(SCRIPTS))
    return [revision.revision for revision in script.walk_revisions()]


def carry(connection: Connection, name: str, found: Found) -> None:
    """Bring the tables of an older version to its last revision, then rename them."""
    old = [str(row) for row in connection.scalars(text(carry_over.SELECT_REVISION))]
    if len(old) != 1 or old[0] not in carry_over.OLD_REVISIONS:
        raise unknown_old_revision(name, old)
    if (problem := next(carry_over.differences(found.columns, old[0]), None)) is not None:
        raise unreleased(name, problem)
    if "runs" in found.columns:
        refuse_while_running(connection, name)
    run_alembic(OLD_SCRIPTS, carry_over.OLD_REVISIONS[-1], connection=connection)
    for statement in carry_over.statements(connection.dialect.name):
        connection.execute(text(statement))
    run_alembic(SCRIPTS, carry_over.FIRST, connection=connection, stamp=True)


def refuse_while_running(connection: Connection, name: str) -> None:
    """Raise `Busy` while a worker of an older version runs something: it would lose its tables."""
    if connection.dialect.name != "sqlite":
        connection.execute(text("LOCK TABLE runs IN ACCESS EXCLUSIVE MODE"))
    now = time.time()
    times = {"after": now - FRESH_SECONDS, "before": now + MAX_CLOCK_SKEW}
    if connection.scalar(SELECT_FRESH, times):
        raise Busy(
            f"the database {name} is used by a server of an older version, and its tables get new names: stop all"
            f" servers, then start again (a server that was killed counts for {FRESH_SECONDS:g} s)"
        )


def check(connection: Connection, name: str, schema: str | None) -> None:
    """Raise `BadInput`, so that nothing is stored, if the tables are not those of the revision."""
    found = Found(connection.execute(select_columns(connection.dialect, schema)))
    rows = connection.execute(select_keys(connection.dialect, schema))
    refuse_others(name, found, rows, [str(row) for row in connection.scalars(SELECT_REVISIONS)], connection.dialect)


def refuse_others(name: str, found: Found, keys: Any, revision: Sequence[str], dialect: Any) -> None:
    """Raise `BadInput` if tables are not those of their revision, or of a newer one that this version can use."""
    newer = is_newer(revision[0])
    if (problem := found.problem(keys, dialect, newer=newer)) is not None:
        raise too_new(name, revision[0], problem) if newer else unreleased(name, problem)


def write_sql(dialect: str, since: str | None = None, schema: str | None = None) -> str:
    """The statements that bring a database from a revision, or from nothing, to the newest one.

    Raises `BadInput` for an unknown revision.
    """
    known = (*carry_over.OLD_REVISIONS, *known_revisions())
    if since is not None and since not in known:
        raise BadInput(f"unknown revision {since!r:.40}: use one of {', '.join(sorted(known))}")
    output = StringIO()
    output.write("BEGIN;\n\n")
    if schema is not None:
        quoted = '"' + schema.replace('"', '""') + '"'
        output.write(f"CREATE SCHEMA IF NOT EXISTS {quoted};\n\n{set_search_path(quoted)};\n\n")
    if since in carry_over.OLD_REVISIONS:
        last = carry_over.OLD_REVISIONS[-1]
        if since != last:
            run_alembic(OLD_SCRIPTS, f"{since}:{last}", dialect=dialect, output=output)
        output.writelines(f"{statement};\n\n" for statement in carry_over.statements(dialect))
        run_alembic(SCRIPTS, carry_over.FIRST, dialect=dialect, output=output, stamp=True)
        since = carry_over.FIRST
    if since != HEAD:
        run_alembic(SCRIPTS, HEAD if since is None else f"{since}:{HEAD}", dialect=dialect, output=output)
    output.write("COMMIT;\n")
    return output.getvalue()


def run_alembic(
    scripts: Path,
    revision: str,
    *,
    connection: Connection | None = None,
    dialect: str | None = None,
    output: StringIO | None = None,
    stamp: bool = False,
) -> None:
    """Upgrade to a revision through a connection, or write the SQL to `output`. `stamp` only stores the revision."""
    from alembic import command  # noqa: PLC0415 - slow to import, and seldom needed

    config = make_config(scripts, output)
    config.attributes.update(connection=connection, dialect=dialect)
    (command.stamp if stamp else command.upgrade)(config, revision, sql=output is not None)


def make_config(scripts: Path, output: StringIO | None = None) -> Config:
    """Alembic's settings for a folder of scripts."""
    from alembic.config import Config  # noqa: PLC0415 - slow to import, and seldom needed

    config = Config(output_buffer=output)
    config.set_main_option("script_location", str(scripts).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    return config
