"""Files that are written whole or not at all: whoever reads one meanwhile gets the old one or the new one."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO


@contextmanager
def written_atomically(path: Path) -> Generator[IO[bytes]]:
    """A file beside `path` to write to, which takes its place, and is on the disk, when the block ends well.

    A link stays one: what it leads to is replaced. Raises `OSError`.
    """
    target = path.resolve()
    handle, spooled = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name[:80]}-")
    try:
        with os.fdopen(handle, "wb") as sink:
            yield sink
            sink.flush()
            os.fsync(sink.fileno())
        Path(spooled).replace(target)
    except BaseException:
        with suppress(OSError):
            Path(spooled).unlink()
        raise
