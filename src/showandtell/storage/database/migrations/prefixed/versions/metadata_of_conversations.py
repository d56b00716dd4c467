"""A JSON object of the program's own for each conversation."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "showandtell_0002"
down_revision = "showandtell_0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the column. Conversations from before have none."""
    op.add_column("showandtell_conversations", sa.Column("metadata", sa.Text()))
