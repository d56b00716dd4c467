"""Messages that wait until the answers before them have ended, and their files."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "showandtell_0007"
down_revision = "showandtell_0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the tables."""
    op.create_table(
        "showandtell_pending_messages",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("conversation_id", sa.Text(), nullable=False),
        sa.Column("user_id", sa.Text(), nullable=False),
        sa.Column("client_id", sa.Text(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("created", sa.Double[float](), nullable=False),
        sa.Column("sender", sa.Text()),
        sa.Column("claimed", sa.Double[float]()),
        sa.Column("problem", sa.Text()),
        sa.Column("record", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_showandtell_pending_messages"),
        sa.ForeignKeyConstraint(
            ["conversation_id"],
            ["showandtell_conversations.id"],
            name="fk_showandtell_pending_messages_conversation_id",
            ondelete="CASCADE",
        ),
        sa.UniqueConstraint(
            "conversation_id", "client_id", name="uq_showandtell_pending_messages_conversation_id_client_id"
        ),
    )
    op.create_table(
        "showandtell_pending_files",
        sa.Column("upload_id", sa.Text(), nullable=False),
        sa.Column("pending_id", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("upload_id", name="pk_showandtell_pending_files"),
        sa.ForeignKeyConstraint(
            ["upload_id"], ["showandtell_uploads.id"], name="fk_showandtell_pending_files_upload_id", ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["pending_id"],
            ["showandtell_pending_messages.id"],
            name="fk_showandtell_pending_files_pending_id",
            ondelete="CASCADE",
        ),
    )
    op.create_index("ix_showandtell_pending_files_pending_id", "showandtell_pending_files", ["pending_id"])
