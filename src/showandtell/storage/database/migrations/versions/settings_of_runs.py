"""What a run was started with, so that it continues with that wherever it continues."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the column. Runs from before have none."""
    op.add_column("runs", sa.Column("settings", sa.Text()))
