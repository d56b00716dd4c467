"""The user's settings and data folders, and the capability overrides stored there."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from showandtell.config.atomic_file import written_atomically
from showandtell.config.private_folder import make_private_folder
from showandtell.core.capabilities.cells import Capability, Target
from showandtell.core.capabilities.overrides import merge_overrides, read_all, select
from showandtell.core.capabilities.resolve import resolve
from showandtell.errors import BadInput

OVERRIDES_VARIABLE = "SHOWANDTELL_OVERRIDES"
DATA_VARIABLE = "SHOWANDTELL_DATA"
OVERRIDES_FILE = "overrides.json"


def overrides_path(environ: Mapping[str, str] = os.environ) -> Path:
    """`$SHOWANDTELL_OVERRIDES`, or `overrides.json` in the user's config folder."""
    if named := environ.get(OVERRIDES_VARIABLE, "").strip():
        return Path(named).expanduser()
    return config_folder(environ) / OVERRIDES_FILE


def config_folder(environ: Mapping[str, str], platform: str = sys.platform) -> Path:
    """`$XDG_CONFIG_HOME/showandtell` if that is absolute, otherwise the platform's default."""
    if (xdg := environ.get("XDG_CONFIG_HOME", "").strip()) and Path(xdg).is_absolute():
        return Path(xdg) / "showandtell"
    home = Path(environ["HOME"]) if environ.get("HOME") else Path.home()
    settings = home / "Library" / "Application Support" if platform == "darwin" else home / ".config"
    return settings / "showandtell"


def data_folder(environ: Mapping[str, str] = os.environ, platform: str = sys.platform) -> Path:
    """Where conversations are stored: `$SHOWANDTELL_DATA`, `$XDG_DATA_HOME/showandtell` or the platform's default."""
    if named := environ.get(DATA_VARIABLE, "").strip():
        return Path(named).expanduser()
    if (xdg := environ.get("XDG_DATA_HOME", "").strip()) and Path(xdg).is_absolute():
        return Path(xdg) / "showandtell"
    home = Path(environ["HOME"]) if environ.get("HOME") else Path.home()
    data = home / "Library" / "Application Support" if platform == "darwin" else home / ".local" / "share"
    return data / "showandtell"


def state_folder(environ: Mapping[str, str] = os.environ, platform: str = sys.platform) -> Path:
    """Where programs keep what they can find out again: `$XDG_STATE_HOME/showandtell` or the platform's default."""
    if (xdg := environ.get("XDG_STATE_HOME", "").strip()) and Path(xdg).is_absolute():
        return Path(xdg) / "showandtell"
    home = Path(environ["HOME"]) if environ.get("HOME") else Path.home()
    state = home / "Library" / "Application Support" if platform == "darwin" else home / ".local" / "state"
    return state / "showandtell"


def user_overrides(model: str, environ: Mapping[str, str] = os.environ) -> tuple[Capability, ...]:
    """The user's overrides for `provider:model`; empty without a file. Raises `BadInput` if the file is invalid."""
    overrides = read_overrides(environ)
    return select(overrides, resolve(model).name) if overrides else ()


def find_target(model: str, overrides: Sequence[Capability] | None = None) -> Target:
    """`resolve` with `overrides` applied before the table. None means the user's own, from vision checks."""
    return resolve(model, user_overrides(model) if overrides is None else overrides)


def read_overrides(environ: Mapping[str, str] = os.environ) -> dict[str, tuple[Capability, ...]]:
    """All of the user's overrides by glob on `provider:model`; empty without a file. Raises `BadInput` if invalid."""
    path = overrides_path(environ)
    text = read_optional(path)
    if text is None:
        return {}
    try:
        return read_all(text)
    except BadInput as error:
        raise BadInput(f"{path}: {error}") from error


def save_overrides(cells: Sequence[Capability], model: str, environ: Mapping[str, str] = os.environ) -> Path:
    """Merge the capabilities of a model into the file, atomically. Returns its path. Raises `BadInput`."""
    path = overrides_path(environ)
    try:
        merged = merge_overrides(read_optional(path), cells, model)
    except BadInput as error:
        raise BadInput(f"{path}: {error}") from error
    write_atomically(path, merged.encode())
    return path


def check_overrides_writable(environ: Mapping[str, str] = os.environ) -> None:
    """Raise `BadInput` unless the file can be read and written. Called before paid requests."""
    path = overrides_path(environ)
    read_overrides(environ)
    try:
        target = path.resolve()
        make_private_folder(target.parent)
        with tempfile.NamedTemporaryFile(dir=target.parent, prefix=f".{target.name}-"):
            pass
    except OSError as error:
        raise BadInput(f"{path} can't be written: {error.strerror or error}") from None


def read_optional(path: Path, max_bytes: int | None = None) -> bytes | None:
    """A file's bytes, or None if it doesn't exist. Raises `BadInput` if it can't be read, or is larger."""
    try:
        with path.open("rb") as file:
            data = file.read() if max_bytes is None else file.read(max_bytes + 1)
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise BadInput(f"{path} can't be read: {getattr(error, 'strerror', None) or error}") from None
    if max_bytes is not None and len(data) > max_bytes:
        raise BadInput(f"{path} is larger than {max_bytes} bytes")
    return data


def write_atomically(path: Path, data: bytes) -> None:
    """Write a file atomically and create its folder. Raises `BadInput`."""
    try:
        make_private_folder(path.resolve().parent)
        with written_atomically(path) as sink:
            sink.write(data)
    except OSError as error:
        raise BadInput(f"{path} can't be written: {error.strerror or error}") from None
