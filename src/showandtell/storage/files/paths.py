"""Opens paths given by tools and users: regular files only, optionally only inside a folder."""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from showandtell.errors import BadFile


def resolve_within(path: Path, folder: Path) -> Path:
    """Resolve a path inside a resolved folder. Raises `BadFile` if it leads outside or loops."""
    try:
        resolved = (folder / path).resolve()
    except RuntimeError:
        raise circle_error(path) from None
    if resolved.is_symlink():  # from Python 3.13 on, a circle is left as it is
        raise circle_error(path)
    if not resolved.is_relative_to(folder):
        raise outside_error(path)
    return resolved


def circle_error(path: Path) -> BadFile:
    """The error for links that lead to each other."""
    return BadFile(path.name, "is a link that leads in a circle", "name a file inside its folder")


def outside_error(path: Path) -> BadFile:
    """The error for a path outside its folder."""
    return BadFile(path.name, "is outside the folder it may come from", "name a file inside that folder")


def open_regular(path: Path, within: Path | None = None) -> BinaryIO:
    """Open a regular file. Pipes and devices are refused, since they might block or never end."""
    if within is not None and resolve_within(path, within) != path:
        raise outside_error(path)
    # A pipe without a writer would block here.
    flags = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | (0 if within is None else os.O_NOFOLLOW)
    try:
        handle = os.open(path, flags)
    except ValueError:
        raise BadFile(ascii(path.name), "is no path", "check how it is written") from None
    try:
        check_opened(handle, path, within)
    except BaseException:
        os.close(handle)
        raise
    return os.fdopen(handle, "rb")


def check_opened(handle: int, path: Path, within: Path | None) -> None:
    """Raise `BadFile` unless the open file is regular and inside `within`. A parent may have become a link since."""
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        raise BadFile(path.name, "is no regular file", "name a file, not a folder, pipe or device")
    if within is None:
        return
    with suppress(FileNotFoundError):  # no /proc on this system
        if not Path(f"/proc/self/fd/{handle}").readlink().is_relative_to(within):
            raise outside_error(path)
