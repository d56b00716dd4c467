"""Carries the tables of the last revision without a prefix over to names with one. Frozen, as those revisions are.

A database counts as an older one of ours only if it has our tables: `alembic_version` is the name that every program
with alembic uses by default, and its ids may look like ours. Nothing here is imported from modules that change.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final, NamedTuple

#: The revisions without a prefix, and the one that carries over.
OLD_REVISIONS: Final = ("0001", "0002", "0003", "0004")
#: The revision with a prefix that has the same tables.
FIRST: Final = "showandtell_0001"
PREFIX: Final = "showandtell_"
OLD_VERSION_TABLE: Final = "alembic_version"
SELECT_REVISION: Final = "SELECT version_num FROM alembic_version"


class Old(NamedTuple):
    """A table without a prefix: the revision that made it, its columns, the names of its constraints, its indexes."""

    revision: str
    columns: str
    constraints: str
    indexes: Mapping[str, str] = {}


TABLES: Final[Mapping[str, Old]] = {
    "conversations": Old(
        "0001",
        "id owner title head next_seq version created changed lease_holder lease_token lease_until",
        "pk_conversations",
        {"ix_conversations_owner_changed": "owner, changed"},
    ),
    "messages": Old(
        "0001",
        "conversation_id seq id parent_id created record step",
        "pk_messages fk_messages_conversation_id uq_messages_conversation_id_seq",
    ),
    "blobs": Old("0001", "owner sha256 size state touched pins", "pk_blobs"),
    "attachments": Old(
        "0001",
        "id conversation_id owner number sha256 address state record",
        "pk_attachments fk_attachments_conversation_id fk_attachments_owner uq_attachments_conversation_id_number",
        {"ix_attachments_owner_sha256": "owner, sha256", "ix_attachments_owner_address": "owner, address"},
    ),
    "derivations": Old(
        "0001",
        "owner sha256 source recipe",
        "pk_derivations fk_derivations_owner fk_derivations_source",
        {"ix_derivations_owner_source": "owner, source"},
    ),
    "known": Old("0001", "owner sha256 recipe at record", "pk_known"),
    "intents": Old("0001", "conversation_id call_id started", "pk_intents fk_intents_conversation_id"),
    "shares": Old("0001", "conversation_id user_id access", "pk_shares fk_shares_conversation_id"),
    "aliases": Old(
        "0002",
        "owner alias conversation_id",
        "pk_aliases fk_aliases_conversation_id",
        {"ix_aliases_conversation_id": "conversation_id"},
    ),
    "uploads": Old(
        "0002",
        "id owner sha256 created record",
        "pk_uploads fk_uploads_owner",
        {"ix_uploads_owner_sha256": "owner, sha256", "ix_uploads_created": "created"},
    ),
    "runs": Old(
        "0002",
        "id conversation_id user_id client_id message_id before model state stop worker beat tries created ended"
        " status reason",
        "pk_runs fk_runs_conversation_id uq_runs_conversation_id_client_id",
        {"ix_runs_ended": "ended", "ix_runs_running": "conversation_id"},
    ),
    "run_log": Old("0002", "run_id seq data", "pk_run_log fk_run_log_run_id"),
    "preferences": Old("0002", "owner record", "pk_preferences"),
    "users": Old("0003", "id name seen", "pk_users"),
    "sessions": Old(
        "0003",
        "id user_id created seen ended issuer_session refresh_token confirmed_until",
        "pk_sessions",
        {
            "ix_sessions_user_id": "user_id",
            "ix_sessions_issuer_session": "issuer_session",
            "ix_sessions_seen": "seen",
        },
    ),
    "login_codes": Old("0003", "sha256 created until", "pk_login_codes"),
    "server_settings": Old("0003", "name value", "pk_server_settings"),
}
#: Columns that later revisions added.
ADDED: Final = {("runs", "settings"): "0004"}
#: What makes an index more than one of columns.
PARTIAL: Final = {"ix_runs_running": ("UNIQUE INDEX", " WHERE state = 'running'")}


def expected(table: str, revision: str) -> set[str]:
    """The columns of a table at a revision; empty if the revision doesn't have it."""
    old = TABLES[table]
    added = {column for (name, column), since in ADDED.items() if name == table and since <= revision}
    return {*old.columns.split(), *added} if old.revision <= revision else set()


def is_ours(columns: Mapping[str, Iterable[str]]) -> bool:
    """Whether most tables of the first revision are there, column by column. `columns` are those of all tables.

    A table or two may be another program's, and one of ours may have been changed.
    """
    first = [table for table, old in TABLES.items() if old.revision == "0001"]
    return 2 * sum({*columns.get(table, ())} == expected(table, "0001") for table in first) > len(first)


def differences(columns: Mapping[str, Iterable[str]], revision: str) -> Iterator[str]:
    """What is missing, unknown or different in the tables of a revision."""
    for table in TABLES:
        wanted, found = expected(table, revision), {*columns.get(table, ())}
        if wanted and not found:
            yield f"there is no table {table}"
        elif wanted:
            yield from (f"table {table} has no column {column}" for column in sorted(wanted - found))
            yield from (f"table {table} has an unknown column {column}" for column in sorted(found - wanted))


def statements(dialect: str) -> Iterator[str]:
    """The statements that rename the tables of revision 0004, their constraints and their indexes.

    SQLite can't rename an index, so it is made again, and keeps the names of constraints, which nothing reads.
    """
    for table in TABLES:
        yield f'ALTER TABLE "{table}" RENAME TO "{PREFIX}{table}"'
    for table, old in TABLES.items():
        if dialect != "sqlite":
            for name in old.constraints.split():
                yield f'ALTER TABLE "{PREFIX}{table}" RENAME CONSTRAINT "{name}" TO "{renamed(name, table)}"'
        for name, columns in old.indexes.items():
            if dialect == "sqlite":
                kind, condition = PARTIAL.get(name, ("INDEX", ""))
                yield f'DROP INDEX "{name}"'
                yield f'CREATE {kind} "{renamed(name, table)}" ON "{PREFIX}{table}" ({columns}){condition}'
            else:
                yield f'ALTER INDEX "{name}" RENAME TO "{renamed(name, table)}"'
    yield f'DROP TABLE "{OLD_VERSION_TABLE}"'


def renamed(name: str, table: str) -> str:
    """The name of a constraint or an index of a table that has a prefix."""
    return name.replace(f"_{table}", f"_{PREFIX}{table}", 1)
