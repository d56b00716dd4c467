"""Opens paths given by tools and users: regular files only, optionally only inside a folder."""

from __future__ import annotations

import os
import shutil
import stat
from contextlib import suppress
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, BinaryIO

from showandtell.errors import BadFile, BadInput

if TYPE_CHECKING:
    from showandtell.core.messages.file import File


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


def size_of(path: Path, within: Path | None = None) -> int:
    """The size of a regular file in bytes. Raises `BadFile`."""
    try:
        with open_regular(path, within) as stream:
            return os.fstat(stream.fileno()).st_size
    except OSError as error:
        raise BadFile(path.name, f"can't be read ({error.strerror})", "check that it exists") from None


def save(file: File, path: Path) -> Path:
    """Write a file's bytes to a path, or into a folder under the last part of its name. Raises `BadInput`."""
    target = path / (PurePath(file.name or "").name or "file") if path.is_dir() else path
    part = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        opened = file.open()
    except OSError as error:
        raise BadFile(file.name or "the file", f"can't be read ({error.strerror})", "check that it exists") from None
    with opened as source:
        try:
            with part.open("xb") as sink:
                shutil.copyfileobj(source, sink)
            part.replace(target)
        except OSError as error:
            raise BadInput(f"{target} can't be written: {error.strerror}") from None
        finally:
            part.unlink(missing_ok=True)
    return target


def check_opened(handle: int, path: Path, within: Path | None) -> None:
    """Raise `BadFile` unless the open file is regular and inside `within`. A parent may have become a link since."""
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        raise BadFile(path.name, "is no regular file", "name a file, not a folder, pipe or device")
    if within is None:
        return
    with suppress(FileNotFoundError):  # no /proc on this system
        if not Path(f"/proc/self/fd/{handle}").readlink().is_relative_to(within):
            raise outside_error(path)
