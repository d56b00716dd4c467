"""The first tables."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create every table."""
    create_conversations()
    create_messages()
    create_blobs()
    create_attachments()
    create_derivations()
    create_known()
    create_intents()
    create_shares()


def create_conversations() -> None:
    """Conversations, and who writes to them."""
    op.create_table(
        "conversations",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("owner", sa.Text(), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("head", sa.Text()),
        sa.Column("next_seq", sa.Integer(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("created", sa.Double[float](), nullable=False),
        sa.Column("changed", sa.Double[float](), nullable=False),
        sa.Column("lease_holder", sa.Text()),
        sa.Column("lease_token", sa.Text()),
        sa.Column("lease_until", sa.Double[float]()),
        sa.PrimaryKeyConstraint("id", name="pk_conversations"),
    )
    op.create_index("ix_conversations_owner_changed", "conversations", ["owner", "changed"])


def create_messages() -> None:
    """Messages, in all branches."""
    op.create_table(
        "messages",
        sa.Column("conversation_id", sa.Text(), nullable=False),
        sa.Column("seq", sa.Integer(), nullable=False),
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("parent_id", sa.Text()),
        sa.Column("created", sa.Double[float](), nullable=False),
        sa.Column("record", sa.Text(), nullable=False),
        sa.Column("step", sa.Text()),
        sa.PrimaryKeyConstraint("id", name="pk_messages"),
        of_conversation("messages"),
        sa.UniqueConstraint("conversation_id", "seq", name="uq_messages_conversation_id_seq"),
    )


def create_blobs() -> None:
    """Which bytes are stored, for whom."""
    op.create_table(
        "blobs",
        sa.Column("owner", sa.Text(), nullable=False),
        sa.Column("sha256", sa.Text(), nullable=False),
        sa.Column("size", sa.BigInteger(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("touched", sa.Double[float](), nullable=False),
        sa.Column("pins", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("owner", "sha256", name="pk_blobs"),
    )


def create_attachments() -> None:
    """The files of conversations."""
    op.create_table(
        "attachments",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("conversation_id", sa.Text(), nullable=False),
        sa.Column("owner", sa.Text(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("sha256", sa.Text()),
        sa.Column("address", sa.Text()),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("record", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_attachments"),
        of_conversation("attachments"),
        of_blob("sha256", "fk_attachments_owner"),
        sa.UniqueConstraint("conversation_id", "number", name="uq_attachments_conversation_id_number"),
    )
    op.create_index("ix_attachments_owner_sha256", "attachments", ["owner", "sha256"])
    op.create_index("ix_attachments_owner_address", "attachments", ["owner", "address"])


def create_derivations() -> None:
    """Which blobs were converted from which."""
    op.create_table(
        "derivations",
        sa.Column("owner", sa.Text(), nullable=False),
        sa.Column("sha256", sa.Text(), nullable=False),
        sa.Column("source", sa.Text(), nullable=False),
        sa.Column("recipe", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("owner", "sha256", "source", "recipe", name="pk_derivations"),
        of_blob("sha256", "fk_derivations_owner"),
        of_blob("source", "fk_derivations_source", ondelete="CASCADE"),
    )
    op.create_index("ix_derivations_owner_source", "derivations", ["owner", "source"])


def create_known() -> None:
    """Conversions, uploads and rejections."""
    op.create_table(
        "known",
        sa.Column("owner", sa.Text(), nullable=False),
        sa.Column("sha256", sa.Text(), nullable=False),
        sa.Column("recipe", sa.Text(), nullable=False),
        sa.Column("at", sa.Text(), nullable=False),
        sa.Column("record", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("owner", "sha256", "recipe", "at", name="pk_known"),
    )


def create_intents() -> None:
    """Calls that were about to run."""
    op.create_table(
        "intents",
        sa.Column("conversation_id", sa.Text(), nullable=False),
        sa.Column("call_id", sa.Text(), nullable=False),
        sa.Column("started", sa.Double[float](), nullable=False),
        sa.PrimaryKeyConstraint("conversation_id", "call_id", name="pk_intents"),
        of_conversation("intents"),
    )


def create_shares() -> None:
    """Who else may read or write."""
    op.create_table(
        "shares",
        sa.Column("conversation_id", sa.Text(), nullable=False),
        sa.Column("user_id", sa.Text(), nullable=False),
        sa.Column("access", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("conversation_id", "user_id", name="pk_shares"),
        of_conversation("shares"),
    )


def of_conversation(table: str) -> sa.ForeignKeyConstraint:
    """Rows that go with their conversation."""
    return sa.ForeignKeyConstraint(
        ["conversation_id"], ["conversations.id"], name=f"fk_{table}_conversation_id", ondelete="CASCADE"
    )


def of_blob(column: str, name: str, ondelete: str | None = None) -> sa.ForeignKeyConstraint:
    """Rows that name a blob of their owner."""
    return sa.ForeignKeyConstraint(["owner", column], ["blobs.owner", "blobs.sha256"], name=name, ondelete=ondelete)
