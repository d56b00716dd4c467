"""Presets: named settings that a user can give to conversations."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "showandtell_0005"
down_revision = "showandtell_0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the table."""
    op.create_table(
        "showandtell_presets",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("owner", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("record", sa.Text(), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_showandtell_presets"),
        sa.UniqueConstraint("owner", "name", name="uq_showandtell_presets_owner_name"),
    )
