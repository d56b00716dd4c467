"""Opens a blob store by path or URL: a folder, S3, GCS, Azure, or a store of a package."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import unquote, urlsplit

from showandtell.errors import BadInput
from showandtell.installation import install_command
from showandtell.plugins import suggestion
from showandtell.storage.blobs.bounded import Bounded
from showandtell.storage.blobs.folder import Folder
from showandtell.storage.blobs.object_store import REGISTRY, REMOTE_SCHEMES, ObjectStore, open_package
from showandtell.storage.blobs.remote import Remote


def open_store(location: str | Path) -> Bounded:
    """Open the store at a path, file: URL, s3://bucket/prefix, gs://, az:// or memory:, or a package's own scheme.

    Raises `BadInput` for anything else. Its operations have deadlines. S3, GCS and Azure take their credentials
    from the environment, as obstore reads it (AWS_ACCESS_KEY_ID ...).
    """
    text = str(location)
    scheme = text.partition(":")[0].lower() if isinstance(location, str) and ":" in text else ""
    if scheme in REMOTE_SCHEMES:
        try:
            from showandtell.storage.blobs.bucket import open_bucket  # noqa: PLC0415 - obstore is an extra
        except ImportError as error:
            raise BadInput(f"{scheme}: needs obstore: {install_command('remote')}") from error
        return open_objects(open_bucket(text))
    if scheme == "file":
        return open_folder(Path(unquote(urlsplit(text).path)))
    if "://" in text:
        if (known := REGISTRY.find(scheme)) is None:
            packages = REGISTRY.all()
            others = "".join(f", {name}:" for name in packages)
            hint = suggestion(scheme, ("file", *REMOTE_SCHEMES, *packages))
            known = f"use a path, or a URL with file:, s3:, gs: or az:{others}"
            raise BadInput(f"{scheme}: is not a file store: {known}.{hint}")
        return open_objects(open_package(known, text))
    return open_folder(Path(text).expanduser())


def open_objects(store: ObjectStore) -> Bounded:
    """Blobs as objects of a store, with a local cache."""
    return Bounded(Remote(store), store.name)


def open_folder(path: Path) -> Bounded:
    """Open a folder of blobs."""
    return Bounded(Folder(path), str(path))
