"""Where a person's own settings and data lie, and what the settings say: the verdicts of eye tests."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from showandtell.config.atomic_file import written_atomically
from showandtell.core.capabilities.cells import Capability, Target
from showandtell.core.capabilities.overrides import merge_overrides, read_all, select
from showandtell.core.capabilities.resolve import resolve
from showandtell.errors import BadInput

VARIABLE = "SHOWANDTELL_OVERRIDES"
DATA = "SHOWANDTELL_DATA"
NAME = "overrides.json"


def overrides_path(environ: Mapping[str, str] = os.environ) -> Path:
    """`$SHOWANDTELL_OVERRIDES`, else `overrides.json` in the person's folder of settings."""
    if named := environ.get(VARIABLE, "").strip():
        return Path(named).expanduser()
    return config_folder(environ) / NAME


def config_folder(environ: Mapping[str, str], platform: str = sys.platform) -> Path:
    """`$XDG_CONFIG_HOME/showandtell` (an absolute path, else it doesn't count), or the platform's own place."""
    if (xdg := environ.get("XDG_CONFIG_HOME", "").strip()) and Path(xdg).is_absolute():
        return Path(xdg) / "showandtell"
    home = Path(environ["HOME"]) if environ.get("HOME") else Path.home()
    settings = home / "Library" / "Application Support" if platform == "darwin" else home / ".config"
    return settings / "showandtell"


def data_folder(environ: Mapping[str, str] = os.environ, platform: str = sys.platform) -> Path:
    """Where conversations are kept: `$SHOWANDTELL_DATA`, `$XDG_DATA_HOME/showandtell`, or the platform's own place."""
    if named := environ.get(DATA, "").strip():
        return Path(named).expanduser()
    if (xdg := environ.get("XDG_DATA_HOME", "").strip()) and Path(xdg).is_absolute():
        return Path(xdg) / "showandtell"
    home = Path(environ["HOME"]) if environ.get("HOME") else Path.home()
    data = home / "Library" / "Application Support" if platform == "darwin" else home / ".local" / "share"
    return data / "showandtell"


def user_overrides(model: str, environ: Mapping[str, str] = os.environ) -> tuple[Capability, ...]:
    """The person's own cells for `provider:model`; none where there is no file. `BadInput` names a broken one."""
    found = all_overrides(environ)
    return select(found, resolve(model).name) if found else ()


def find_target(model: str, overrides: Sequence[Capability] | None = None) -> Target:
    """`resolve` with the given cells before the table's; None: those that the person's own eye tests have taught."""
    return resolve(model, user_overrides(model) if overrides is None else overrides)


def all_overrides(environ: Mapping[str, str] = os.environ) -> dict[str, tuple[Capability, ...]]:
    """All of the file, by globs on `provider:model`; empty where there is none. `BadInput` names a broken one."""
    path = overrides_path(environ)
    text = read_if_there(path)
    if text is None:
        return {}
    try:
        return read_all(text)
    except BadInput as error:
        raise BadInput(f"{path}: {error}") from error


def save_overrides(cells: Sequence[Capability], model: str, environ: Mapping[str, str] = os.environ) -> Path:
    """Put what was learnt of a model into the file, whole or not at all; gives its path. `BadInput` names it."""
    path = overrides_path(environ)
    try:
        merged = merge_overrides(read_if_there(path), cells, model)
    except BadInput as error:
        raise BadInput(f"{path}: {error}") from error
    write_whole(path, merged.encode())
    return path


def try_overrides(environ: Mapping[str, str] = os.environ) -> None:
    """Find out whether the file can be read and written, before anything is paid for. `BadInput` names it."""
    path = overrides_path(environ)
    all_overrides(environ)
    try:
        target = path.resolve()
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=target.parent, prefix=f".{target.name}-"):
            pass
    except OSError as error:
        raise BadInput(f"{path} can't be written: {error.strerror or error}") from None


def read_if_there(path: Path) -> bytes | None:
    """A file's bytes; None where there is none. `BadInput` where it can't be read."""
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise BadInput(f"{path} can't be read: {getattr(error, 'strerror', None) or error}") from None


def write_whole(path: Path, data: bytes) -> None:
    """Write a file whole, or not at all; its folder is made. `BadInput` names it."""
    try:
        path.resolve().parent.mkdir(parents=True, exist_ok=True)
        with written_atomically(path) as sink:
            sink.write(data)
    except OSError as error:
        raise BadInput(f"{path} can't be written: {error.strerror or error}") from None
