"""What people name on the command line, found and checked: tools in a module, files, a folder, a conversation."""

from __future__ import annotations

import importlib
import os
import shlex
import sys
import traceback
from collections.abc import Callable, Iterable
from pathlib import Path
from types import ModuleType
from typing import Any, TypeAlias, cast

import msgspec

from showandtell.agent.tools import Tool, as_tool, by_name
from showandtell.core.messages.file import File
from showandtell.core.messages.messages import Draft, History
from showandtell.core.messages.parts import ToolCall
from showandtell.errors import UsageError
from showandtell.storage.files import conversation_file

Named: TypeAlias = Callable[..., Any] | Tool


def import_tools(name: str) -> list[Tool]:
    """The tools at MODULE:NAME, a function, a Tool, or a list of them; the current folder counts."""
    module, _, attribute = name.partition(":")
    if not (module and attribute):
        raise UsageError(f"--tools {name}: write MODULE:NAME, as in mytools:TOOLS")
    loaded = import_module(module)
    if not hasattr(loaded, attribute):
        raise UsageError(f"--tools {name}: {module} has no {attribute}; write MODULE:NAME")
    found = as_list(name, getattr(loaded, attribute))
    try:
        return [one for one in by_name(found).values() if one.spec]
    except Exception as error:  # a schema can fail in as many ways as there are annotations
        told = str(error).partition("\n")[0]
        raise UsageError(f"--tools {name}: {type(error).__name__}: {told}") from error


def as_list(name: str, value: object) -> list[Named]:
    """One tool or many, as a list."""
    found: list[object] = list(cast("Iterable[object]", value)) if isinstance(value, list | tuple | set) else [value]
    for one in found:
        if not callable(one):
            what = "a module" if isinstance(one, ModuleType) else f"a {type(one).__name__}"
            raise UsageError(f"--tools {name} is {what}: it must be a function, a Tool, or a list of them")
    return cast("list[Named]", found)


def import_module(name: str) -> ModuleType:
    """A module of the current folder or of the environment; whatever it raises is told with its file and line."""
    sys.path.insert(0, str(Path.cwd()))
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is not None and f"{name}.".startswith(f"{error.name}."):
            raise UsageError(f"--tools: there is no module {error.name!r} here; write MODULE:NAME") from error
        raise UsageError(f"--tools: {whereabouts(error)}") from error
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # a module may raise anything, and end the program with sys.exit
        raise UsageError(f"--tools: {whereabouts(error)}") from error


def whereabouts(error: BaseException) -> str:
    """An error with the file and line that it is about: the innermost of the current folder, else the innermost."""
    if isinstance(error, SyntaxError) and error.filename:
        return f"{shortened(error.filename)}:{error.lineno}: {type(error).__name__}: {error.msg}"
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if Path(frame.filename).is_relative_to(Path.cwd())] or frames
    return f"{shortened(ours[-1].filename)}:{ours[-1].lineno}: {type(error).__name__}: {error}"


def shortened(file: str) -> str:
    """A path from the current folder, if it lies in there."""
    path = Path(file)
    return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else file


def existing(path: Path, what: str = "") -> Path:
    """A file that must be there, and be one that can be read."""
    try:
        if path.is_dir():
            raise UsageError(f"{what}{path} is a folder: name a file in it")
        path.stat()
    except FileNotFoundError:
        raise UsageError(f"{what}there is no file {path}") from None
    except (OSError, ValueError) as error:
        told = getattr(error, "strerror", None) or error
        raise UsageError(f"{what}{path} can't be read: {told}") from None
    if not os.access(path, os.R_OK):
        raise UsageError(f"{what}{path} can't be read: it is not allowed to you")
    return path


def split_paths(text: str) -> list[Path]:
    """The paths that a person typed or dropped: quoted or backslash-escaped, `~` for home, several with spaces."""
    if Path(text).expanduser().is_file():
        return [Path(text).expanduser()]
    try:
        words = shlex.split(text)
    except ValueError:  # a quote without its end is part of the name
        words = [text]
    return [Path(word).expanduser() for word in words]


def begins(path: Path, sign: bytes) -> bool:
    """Whether the JSON in a file begins with this sign."""
    with path.open("rb") as stream:
        return stream.read(256).lstrip(b"\xef\xbb\xbf \t\r\n").startswith(sign)


def is_conversation(path: Path) -> bool:
    """Whether a file is one of ours, or means to be: then it is read as one, and what is wrong with it is told.

    That is a JSON object with `version` and `messages`; with the ending .json also one of them, and broken JSON.
    """
    named = path.suffix.lower() == ".json"
    if not named and not begins(path, b"{"):
        return False
    data = path.read_bytes()
    try:
        value: object = msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return named
    if not isinstance(value, dict):
        return False
    keys = cast("dict[str, object]", value)
    return {"version", "messages"} <= keys.keys() or (named and ("messages" in keys or keys.get("version") == 1))


def conversation(paths: list[Path]) -> History | None:
    """The conversation that a lone path names, if it is one."""
    return conversation_file.load(paths[0]) if len(paths) == 1 and is_conversation(existing(paths[0])) else None


def brought_by_user(paths: Iterable[Path]) -> History:
    """A conversation in which the user brings these files."""
    return History([Draft("user", tuple(File.from_path(existing(path)) for path in paths))])


def brought_by_tool(paths: Iterable[Path]) -> History:
    """The same for a tool."""
    files = tuple(File.from_path(existing(path)) for path in paths)
    call = ToolCall("call_1", "tool", "{}")
    return History((Draft("user"), Draft("assistant", (call,)), Draft("tool", files, call.call_id, call.tool)))


def merged(builtin: Iterable[Named], named: Iterable[Tool]) -> list[Tool]:
    """Both, where a named tool replaces a built-in of its name."""
    return list(({one.name: one for one in map(as_tool, builtin)} | {one.name: one for one in named}).values())
