"""Temporary folders for requests, and what their disk errors become."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from showandtell.errors import BadInput
from showandtell.storage.blobs.disk import storage_error

TEMPORARY_FOLDER = Path("the folder for temporary files")


@asynccontextmanager
async def temporary_folder() -> AsyncGenerator[Path]:
    """A folder that is deleted at the end. Raises `StorageFull` or `StorageFailed` if there can be none."""
    with storage_errors():
        folder = await asyncio.to_thread(TemporaryDirectory, prefix="showandtell-")
    try:
        yield Path(folder.name)
    finally:
        await asyncio.to_thread(folder.cleanup)


@contextmanager
def storage_errors() -> Generator[None]:
    """Raise `StorageFull` or `StorageFailed` for disk errors: they are not the client's fault, and show no path."""
    try:
        yield
    except (BadInput, OSError) as error:
        cause = error if isinstance(error, OSError) else error.__cause__
        if not isinstance(cause, OSError):
            raise
        raise storage_error(cause, TEMPORARY_FOLDER) from error
