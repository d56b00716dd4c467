"""What a chat server keeps besides: names that clients give, uploads, runs with their logs, preferences."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create the tables."""
    create_aliases()
    create_uploads()
    create_runs()
    create_preferences()


def create_aliases() -> None:
    """Clients' own names of conversations."""
    op.create_table(
        "aliases",
        sa.Column("owner", sa.Text(), nullable=False),
        sa.Column("alias", sa.Text(), nullable=False),
        sa.Column("conversation_id", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("owner", "alias", name="pk_aliases"),
        of_conversation("aliases"),
    )
    op.create_index("ix_aliases_conversation_id", "aliases", ["conversation_id"])


def create_uploads() -> None:
    """Files of no message yet."""
    op.create_table(
        "uploads",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("owner", sa.Text(), nullable=False),
        sa.Column("sha256", sa.Text(), nullable=False),
        sa.Column("created", sa.Double[float](), nullable=False),
        sa.Column("record", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_uploads"),
        sa.ForeignKeyConstraint(["owner", "sha256"], ["blobs.owner", "blobs.sha256"], name="fk_uploads_owner"),
    )
    op.create_index("ix_uploads_owner_sha256", "uploads", ["owner", "sha256"])
    op.create_index("ix_uploads_created", "uploads", ["created"])


def create_runs() -> None:
    """Runs and what they have said so far."""
    op.create_table(
        "runs",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("conversation_id", sa.Text(), nullable=False),
        sa.Column("user_id", sa.Text(), nullable=False),
        sa.Column("client_id", sa.Text()),
        sa.Column("message_id", sa.Text()),
        sa.Column("before", sa.Text()),
        sa.Column("model", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("stop", sa.Integer(), nullable=False),
        sa.Column("worker", sa.Text(), nullable=False),
        sa.Column("beat", sa.Double[float](), nullable=False),
        sa.Column("tries", sa.Integer(), nullable=False),
        sa.Column("created", sa.Double[float](), nullable=False),
        sa.Column("ended", sa.Double[float]()),
        sa.Column("status", sa.Text()),
        sa.Column("reason", sa.Text()),
        sa.PrimaryKeyConstraint("id", name="pk_runs"),
        of_conversation("runs"),
        sa.UniqueConstraint("conversation_id", "client_id", name="uq_runs_conversation_id_client_id"),
    )
    op.create_index("ix_runs_ended", "runs", ["ended"])
    running = sa.text("state = 'running'")
    op.create_index(
        "ix_runs_running", "runs", ["conversation_id"], unique=True, sqlite_where=running, postgresql_where=running
    )
    op.create_table(
        "run_log",
        sa.Column("run_id", sa.Text(), nullable=False),
        sa.Column("seq", sa.Integer(), nullable=False),
        sa.Column("data", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("run_id", "seq", name="pk_run_log"),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name="fk_run_log_run_id", ondelete="CASCADE"),
    )


def create_preferences() -> None:
    """What users have set."""
    op.create_table(
        "preferences",
        sa.Column("owner", sa.Text(), nullable=False),
        sa.Column("record", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("owner", name="pk_preferences"),
    )


def of_conversation(table: str) -> sa.ForeignKeyConstraint:
    """Rows that go with their conversation."""
    return sa.ForeignKeyConstraint(
        ["conversation_id"], ["conversations.id"], name=f"fk_{table}_conversation_id", ondelete="CASCADE"
    )
