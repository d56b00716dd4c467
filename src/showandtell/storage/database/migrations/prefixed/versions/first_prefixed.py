"""The tables of the last revision without a prefix, with one. New databases begin here, older ones are brought here."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "showandtell_0001"
down_revision = None
branch_labels = None
depends_on = None

PREFIX = "showandtell_"


def upgrade() -> None:
    """Create every table."""
    create_conversations()
    create_files()
    create_runs()
    create_people()


def create_conversations() -> None:
    """Conversations and what belongs to them, but no files."""
    create(
        "conversations",
        ["id"],
        *required("id", "owner", "title"),
        *optional("head"),
        *required("next_seq", "version", kind=sa.Integer()),
        *required("created", "changed", kind=sa.Double[float]()),
        *optional("lease_holder", "lease_token"),
        *optional("lease_until", kind=sa.Double[float]()),
    )
    index("conversations", "owner", "changed")
    create(
        "messages",
        ["id"],
        *required("conversation_id"),
        *required("seq", kind=sa.Integer()),
        *required("id"),
        *optional("parent_id"),
        *required("created", kind=sa.Double[float]()),
        *required("record"),
        *optional("step"),
        of_conversation("messages"),
        unique("messages", "conversation_id", "seq"),
    )
    create(
        "intents",
        ["conversation_id", "call_id"],
        *required("conversation_id", "call_id"),
        *required("started", kind=sa.Double[float]()),
        of_conversation("intents"),
    )
    create(
        "shares",
        ["conversation_id", "user_id"],
        *required("conversation_id", "user_id", "access"),
        of_conversation("shares"),
    )
    create("aliases", ["owner", "alias"], *required("owner", "alias", "conversation_id"), of_conversation("aliases"))
    index("aliases", "conversation_id")


def create_files() -> None:
    """Files: which bytes are stored for whom, where they occur, and what is known of them."""
    create(
        "blobs",
        ["owner", "sha256"],
        *required("owner", "sha256"),
        *required("size", kind=sa.BigInteger()),
        *required("state"),
        *required("touched", kind=sa.Double[float]()),
        *required("pins", kind=sa.Integer()),
    )
    create(
        "attachments",
        ["id"],
        *required("id", "conversation_id", "owner"),
        *required("number", kind=sa.Integer()),
        *optional("sha256", "address"),
        *required("state", "record"),
        of_conversation("attachments"),
        of_blob("attachments", "owner", "sha256"),
        unique("attachments", "conversation_id", "number"),
    )
    index("attachments", "owner", "sha256")
    index("attachments", "owner", "address")
    create(
        "derivations",
        ["owner", "sha256", "source", "recipe"],
        *required("owner", "sha256", "source", "recipe"),
        of_blob("derivations", "owner", "sha256"),
        of_blob("derivations", "source", "source", ondelete="CASCADE"),
    )
    index("derivations", "owner", "source")
    create("known", ["owner", "sha256", "recipe", "at"], *required("owner", "sha256", "recipe", "at", "record"))
    create(
        "uploads",
        ["id"],
        *required("id", "owner", "sha256"),
        *required("created", kind=sa.Double[float]()),
        *required("record"),
        of_blob("uploads", "owner", "sha256"),
    )
    index("uploads", "owner", "sha256")
    index("uploads", "created")


def create_runs() -> None:
    """Runs of a server, and their output so far."""
    create(
        "runs",
        ["id"],
        *required("id", "conversation_id", "user_id"),
        *optional("client_id", "message_id", "before"),
        *required("model", "state"),
        *required("stop", kind=sa.Integer()),
        *required("worker"),
        *required("beat", kind=sa.Double[float]()),
        *required("tries", kind=sa.Integer()),
        *required("created", kind=sa.Double[float]()),
        *optional("ended", kind=sa.Double[float]()),
        *optional("status", "reason", "settings"),
        of_conversation("runs"),
        unique("runs", "conversation_id", "client_id"),
    )
    index("runs", "ended")
    running = sa.text("state = 'running'")
    op.create_index(
        f"ix_{PREFIX}runs_running",
        f"{PREFIX}runs",
        ["conversation_id"],
        unique=True,
        sqlite_where=running,
        postgresql_where=running,
    )
    create(
        "run_log",
        ["run_id", "seq"],
        *required("run_id"),
        *required("seq", kind=sa.Integer()),
        *required("data"),
        sa.ForeignKeyConstraint(
            ["run_id"], [f"{PREFIX}runs.id"], name=f"fk_{PREFIX}run_log_run_id", ondelete="CASCADE"
        ),
    )


def create_people() -> None:
    """People, their settings, sessions and one-time codes, and the server's own settings."""
    create("preferences", ["owner"], *required("owner", "record"))
    create("users", ["id"], *required("id", "name"), *required("seen", kind=sa.Double[float]()))
    create(
        "sessions",
        ["id"],
        *required("id", "user_id"),
        *required("created", "seen", kind=sa.Double[float]()),
        *optional("ended", kind=sa.Double[float]()),
        *optional("issuer_session", "refresh_token"),
        *optional("confirmed_until", kind=sa.Double[float]()),
    )
    index("sessions", "user_id")
    index("sessions", "issuer_session")
    index("sessions", "seen")
    create(
        "login_codes",
        ["sha256"],
        *required("sha256"),
        *required("created", kind=sa.Double[float]()),
        *optional("until", kind=sa.Double[float]()),
    )
    create("server_settings", ["name"], *required("name", "value"))


def create(table: str, key: list[str], *items: sa.Column[Any] | sa.Constraint) -> None:
    """Create a table with a primary key."""
    op.create_table(PREFIX + table, *items, sa.PrimaryKeyConstraint(*key, name=f"pk_{PREFIX}{table}"))


def index(table: str, *columns: str) -> None:
    """Create an index."""
    op.create_index(f"ix_{PREFIX}{table}_{'_'.join(columns)}", PREFIX + table, [*columns])


def required(*names: str, kind: Any = None) -> list[sa.Column[Any]]:
    """Columns that always have a value: text, or of another kind."""
    return [sa.Column(name, kind or sa.Text(), nullable=False) for name in names]


def optional(*names: str, kind: Any = None) -> list[sa.Column[Any]]:
    """Columns that may have no value: text, or of another kind."""
    return [sa.Column(name, kind or sa.Text()) for name in names]


def unique(table: str, *columns: str) -> sa.UniqueConstraint:
    """Columns that together occur once."""
    return sa.UniqueConstraint(*columns, name=f"uq_{PREFIX}{table}_{'_'.join(columns)}")


def of_conversation(table: str) -> sa.ForeignKeyConstraint:
    """Rows that go with their conversation."""
    return sa.ForeignKeyConstraint(
        ["conversation_id"],
        [f"{PREFIX}conversations.id"],
        name=f"fk_{PREFIX}{table}_conversation_id",
        ondelete="CASCADE",
    )


def of_blob(table: str, name: str, column: str, ondelete: str | None = None) -> sa.ForeignKeyConstraint:
    """Rows that name a blob of their owner; `name` ends that of the constraint."""
    return sa.ForeignKeyConstraint(
        ["owner", column],
        [f"{PREFIX}blobs.owner", f"{PREFIX}blobs.sha256"],
        name=f"fk_{PREFIX}{table}_{name}",
        ondelete=ondelete,
    )
