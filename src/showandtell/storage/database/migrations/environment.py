"""What alembic runs for either list of revisions: in a transaction that was begun by us, or as SQL to print."""

from __future__ import annotations

from alembic import context


def run(version_table: str) -> None:
    """Run the revisions, and store the last one's id in `version_table`."""
    attributes = context.config.attributes
    if context.is_offline_mode():
        context.configure(dialect_name=attributes["dialect"], version_table=version_table, transactional_ddl=False)
    else:
        # On SQLite, too: the transaction was begun by us, not by its driver.
        context.configure(connection=attributes["connection"], version_table=version_table, transactional_ddl=True)
    with context.begin_transaction():
        context.run_migrations()
