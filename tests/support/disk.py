"""A folder of the clone's own file system: that of temporary files may be memory, which knows no reads that don't wait."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from support.paths import ROOT


@contextmanager
def folder_on_disk() -> Iterator[Path]:
    """A folder that is removed in the end."""
    build = ROOT / "build"
    build.mkdir(exist_ok=True)
    with TemporaryDirectory(dir=build) as path:
        yield Path(path)
