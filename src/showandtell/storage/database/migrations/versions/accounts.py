"""Who uses a server: people's names, their sessions in browsers, one-time codes, and the server's own settings."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create the tables."""
    create_users()
    create_sessions()
    create_login_codes()
    create_server_settings()


def create_users() -> None:
    """People who have signed in, and the names that others see."""
    op.create_table(
        "users",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("seen", sa.Double[float](), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_users"),
    )


def create_sessions() -> None:
    """Sessions in browsers, ended ones included."""
    op.create_table(
        "sessions",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("user_id", sa.Text(), nullable=False),
        sa.Column("created", sa.Double[float](), nullable=False),
        sa.Column("seen", sa.Double[float](), nullable=False),
        sa.Column("ended", sa.Double[float]()),
        sa.Column("issuer_session", sa.Text()),
        sa.Column("refresh_token", sa.Text()),
        sa.Column("confirmed_until", sa.Double[float]()),
        sa.PrimaryKeyConstraint("id", name="pk_sessions"),
    )
    op.create_index("ix_sessions_user_id", "sessions", ["user_id"])
    op.create_index("ix_sessions_issuer_session", "sessions", ["issuer_session"])
    op.create_index("ix_sessions_seen", "sessions", ["seen"])


def create_login_codes() -> None:
    """Codes that sign in once."""
    op.create_table(
        "login_codes",
        sa.Column("sha256", sa.Text(), nullable=False),
        sa.Column("created", sa.Double[float](), nullable=False),
        sa.Column("until", sa.Double[float]()),
        sa.PrimaryKeyConstraint("sha256", name="pk_login_codes"),
    )


def create_server_settings() -> None:
    """Settings that all workers share and that commands may change, such as the token's generation."""
    op.create_table(
        "server_settings",
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("value", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("name", name="pk_server_settings"),
    )
