"""What alembic runs: the revisions of the first tables."""

from __future__ import annotations

from showandtell.storage.database.migrations.environment import run

run("alembic_version")
