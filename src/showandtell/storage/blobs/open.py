"""Which store an address means: a folder, or S3, GCS and Azure by their URLs."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import unquote, urlsplit

from showandtell.errors import BadInput
from showandtell.storage.blobs.base import BlobStore
from showandtell.storage.blobs.folder import Folder

REMOTE = frozenset({"s3", "s3a", "gs", "az", "azure", "abfs", "abfss", "memory"})


def open_store(where: str | Path) -> BlobStore:
    """The store of an address: a path or file: URL, or s3://bucket/prefix, gs://, az://, memory:. `BadInput` otherwise.

    Remote stores take their credentials from the environment, as obstore reads it (AWS_ACCESS_KEY_ID ...).
    """
    text = str(where)
    scheme = text.partition(":")[0].lower() if isinstance(where, str) and ":" in text else ""
    if scheme in REMOTE:
        try:
            from showandtell.storage.blobs.remote import Remote  # noqa: PLC0415 - obstore is an extra
        except ImportError as error:
            raise BadInput(f"{scheme}: needs obstore: pip install 'showandtell[remote]'") from error
        return Remote.from_url(text)
    if scheme == "file":
        return Folder(Path(unquote(urlsplit(text).path)))
    if "://" in text:
        raise BadInput(f"{scheme}: is no store of files: give a path, or a URL with file:, s3:, gs: or az:")
    return Folder(Path(text).expanduser())
