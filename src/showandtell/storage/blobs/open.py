"""Opens a blob store by path or URL: a folder, S3, GCS or Azure."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import unquote, urlsplit

from showandtell.errors import BadInput
from showandtell.installation import install_command
from showandtell.storage.blobs.bounded import Bounded
from showandtell.storage.blobs.folder import Folder

REMOTE_SCHEMES = frozenset({"s3", "s3a", "gs", "az", "azure", "abfs", "abfss", "memory"})


def open_store(location: str | Path) -> Bounded:
    """Open the store at a path, file: URL, s3://bucket/prefix, gs://, az:// or memory:. Raises `BadInput` otherwise.

    Its operations have deadlines. Remote stores take their credentials from the environment, as obstore reads it
    (AWS_ACCESS_KEY_ID ...).
    """
    text = str(location)
    scheme = text.partition(":")[0].lower() if isinstance(location, str) and ":" in text else ""
    if scheme in REMOTE_SCHEMES:
        try:
            from showandtell.storage.blobs.remote import Remote  # noqa: PLC0415 - obstore is an extra
        except ImportError as error:
            raise BadInput(f"{scheme}: needs obstore: {install_command('remote')}") from error
        remote = Remote.from_url(text)
        return Bounded(remote, remote.bucket.name)
    if scheme == "file":
        return open_folder(Path(unquote(urlsplit(text).path)))
    if "://" in text:
        raise BadInput(f"{scheme}: is not a file store: use a path, or a URL with file:, s3:, gs: or az:")
    return open_folder(Path(text).expanduser())


def open_folder(path: Path) -> Bounded:
    """Open a folder of blobs."""
    return Bounded(Folder(path), str(path))
