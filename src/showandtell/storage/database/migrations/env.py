"""What alembic runs: the revisions, in the transaction of a connection that is handed in by `database.migrate`."""

from __future__ import annotations

from alembic import context

from showandtell.storage.database.tables import metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    transactional_ddl=True,  # on SQLite, too: the transaction was begun by us, not by its driver
)
with context.begin_transaction():
    context.run_migrations()
