"""Keys of providers that were given on the page, who is an administrator, and the settings of one conversation."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "showandtell_0003"
down_revision = "showandtell_0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the table and the columns. People from before are no administrators until they sign in again."""
    op.create_table(
        "showandtell_provider_keys",
        sa.Column("owner", sa.Text(), nullable=False),
        sa.Column("provider", sa.Text(), nullable=False),
        sa.Column("encrypted", sa.Text(), nullable=False),
        sa.Column("changed", sa.Double[float](), nullable=False),
        sa.PrimaryKeyConstraint("owner", "provider", name="pk_showandtell_provider_keys"),
    )
    op.add_column("showandtell_users", sa.Column("is_admin", sa.Integer()))
    op.add_column("showandtell_conversations", sa.Column("settings", sa.Text()))
