"""Where conversations are stored: a folder, or a database and a blob store by URL."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from showandtell.config.user_settings import data_folder
from showandtell.core.limits import MAX_FILE_BYTES
from showandtell.errors import UsageError
from showandtell.installation import install_command

if TYPE_CHECKING:
    from showandtell.storage.conversations.store import Store
    from showandtell.storage.database.lease import Terms

#: The SQLite database in a data folder.
DATABASE_NAME = "showandtell.db"
LIBRARIES = ("sqlalchemy", "alembic")


class StorageLocation(Struct, frozen=True):
    """Where conversations are stored: a folder, or the URLs of a database and a blob store.

    `quota` limits the bytes of all stored files; `strip_location` removes the location from photos. If `persistent` is
    off, conversations are kept only until the process exits. `schema` is that of the tables on PostgreSQL.
    """

    data: Path | None = None
    database: str | None = None
    blobs: str | None = None
    max_file_bytes: int = MAX_FILE_BYTES
    quota: int | None = None
    strip_location: bool = False
    persistent: bool = True
    schema: str | None = None

    def store(self, terms: Terms | None = None) -> Store:
        """The store, not opened yet. Raises `UsageError` if its libraries are not installed."""
        check_libraries()
        from showandtell.storage.conversations.store import Settings, Store  # noqa: PLC0415 - its libraries are an extra, and large
        from showandtell.storage.database.lease import Terms  # noqa: PLC0415 - its libraries are an extra, and large
        from showandtell.storage.database.quotas import Quotas  # noqa: PLC0415 - its libraries are an extra, and large

        settings: Settings = {
            "quotas": Quotas(file=self.max_file_bytes, owner=self.quota),
            "strip_location": self.strip_location,
            "terms": terms or Terms(),
            "schema": self.schema,
        }
        if self.database and self.blobs and self.data is None:  # no folder is needed, so none is created
            return Store(self.database, self.blobs, **settings)
        return Store.at(self.data or data_folder(), self.database, self.blobs, **settings)

    def missing(self) -> Path | None:
        """The folder or the file of the database, if it doesn't exist. Creates nothing."""
        check_libraries()
        from showandtell.storage.database.database import read_url  # noqa: PLC0415 - its libraries are an extra, and large

        folder = (self.data or data_folder()).expanduser()
        if self.database is None:
            file = folder / DATABASE_NAME
        elif (url := read_url(self.database)).get_backend_name() == "sqlite":
            file = Path(url.database or "")
        else:
            return None
        if self.database is None and not folder.is_dir():
            return folder
        return None if file.exists() else file

    def describe(self, store: Store) -> str:
        """The location for display: the folder or the database URL without its password."""
        return store.database.name if self.database else str(self.data or data_folder())


def check_libraries() -> None:
    """Raise `UsageError` unless the libraries for storage are installed."""
    if not all(find_spec(name) is not None for name in LIBRARIES):
        raise UsageError(f"storing conversations needs more libraries: {install_command('history')}")
