"""Atomic file writes: a concurrent reader gets the old file or the new one, never a partial one."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO


@contextmanager
def written_atomically(path: Path) -> Generator[IO[bytes]]:
    """A temporary file that replaces `path`, synced to disk, when the block ends without an error.

    If `path` is a link, its target is replaced. Raises `OSError`.
    """
    target = path.resolve()
    handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name[:80]}-")
    try:
        with os.fdopen(handle, "wb") as sink:
            yield sink
            sink.flush()
            os.fsync(sink.fileno())
        Path(temporary).replace(target)
    except BaseException:
        with suppress(OSError):
            Path(temporary).unlink()
        raise
