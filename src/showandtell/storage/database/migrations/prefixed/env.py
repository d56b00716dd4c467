"""What alembic runs: the revisions of today's tables."""

from __future__ import annotations

from showandtell.storage.database.migrations.environment import run

run("showandtell_version")
