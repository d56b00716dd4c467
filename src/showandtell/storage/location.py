"""Where conversations are kept: a folder, or a database and a store of blobs by URL."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from showandtell.config.user_settings import data_folder
from showandtell.errors import UsageError
from showandtell.storage.files.file_cache import MAX_FILE_BYTES

if TYPE_CHECKING:
    from showandtell.storage.conversations.store import Store
    from showandtell.storage.database.lease import Terms

LIBRARIES = ("sqlalchemy", "alembic")
INSTALL = "pip install 'showandtell[history]'"
LACKING = f"conversations can't be kept here: {INSTALL}"


class StorageLocation(Struct, frozen=True):
    """Where conversations lie: a folder for all of it, or a database and a store of blobs by URL in its stead.

    `quota` is how many bytes all files that are kept may have; with `strip_location` photos lose where they were made.
    Without `keeps` it holds conversations only until the program ends.
    """

    data: Path | None = None
    database: str | None = None
    blobs: str | None = None
    max_file_bytes: int = MAX_FILE_BYTES
    quota: int | None = None
    strip_location: bool = False
    keeps: bool = True

    def store(self, terms: Terms | None = None) -> Store:
        """The store there, to be opened. `UsageError` where its libraries are missing."""
        check_libraries()
        from showandtell.storage.conversations.store import Settings, Store  # noqa: PLC0415 - the same
        from showandtell.storage.database.lease import Terms  # noqa: PLC0415 - its libraries are an extra, and large
        from showandtell.storage.database.quotas import Quotas  # noqa: PLC0415 - its libraries are an extra, and large

        settings: Settings = {
            "quotas": Quotas(file=self.max_file_bytes, owner=self.quota),
            "strip_location": self.strip_location,
            "terms": terms or Terms(),
        }
        if self.database and self.blobs and self.data is None:  # no folder is needed, so none is made
            return Store(self.database, self.blobs, **settings)
        return Store.at(self.data or data_folder(), self.database, self.blobs, **settings)

    def tell(self, store: Store) -> str:
        """The place as people are told of it: the folder, or what was named in its stead, without a password."""
        return store.database.name if self.database else str(self.data or data_folder())


def check_libraries() -> None:
    """Raise `UsageError` where nothing can be kept."""
    if not all(find_spec(name) is not None for name in LIBRARIES):
        raise UsageError(LACKING)
