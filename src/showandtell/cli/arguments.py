"""Arguments of the command line, looked up and checked: tools in a module, files, folders, conversations."""

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

from showandtell.agent.tools import Tool, as_tool
from showandtell.agent.toolsets import Toolset, is_toolset, split_tools
from showandtell.core.messages.file import File
from showandtell.core.messages.message import Draft, History
from showandtell.core.messages.parts import ToolCall
from showandtell.errors import UsageError
from showandtell.storage.files import conversation_file

Named: TypeAlias = Callable[..., Any] | Tool | Toolset


def import_tools(name: str) -> list[Tool | Toolset]:
    """The tools at MODULE:NAME, a function, a Tool, a Toolset, or a list of them, also from the current folder."""
    values = as_list(name, import_named("--tools", name, "mytools:TOOLS"))
    try:
        tools, toolsets = split_tools(values)
        return [*(tool for tool in tools.values() if tool.spec), *toolsets]
    except Exception as error:  # annotations can make a schema fail in many ways
        reason = str(error).partition("\n")[0]
        raise UsageError(f"--tools {name}: {type(error).__name__}: {reason}") from error


def import_function(option: str, name: str) -> Callable[..., Any]:
    """The function at MODULE:NAME."""
    function = import_named(option, name, "mytools:function")
    if not callable(function):
        raise UsageError(f"{option} {name} is a {type(function).__name__}: it must be a function")
    return function


def import_named(option: str, name: str, example: str) -> Any:
    """What MODULE:NAME names, in the current folder, or in that of FOLDER/MODULE:NAME. Errors name the option."""
    path, _, attribute = name.rpartition(":")
    folder, _, module = path.rpartition("/")
    if not (module and attribute):
        raise UsageError(f"{option} {name}: write MODULE:NAME, such as {example}")
    loaded = import_module(option, module, Path(folder).expanduser() if folder else Path.cwd())
    if not hasattr(loaded, attribute):
        raise UsageError(f"{option} {name}: {module} has no {attribute}; write MODULE:NAME")
    return getattr(loaded, attribute)


def as_list(name: str, value: object) -> list[Named]:
    """One tool or many, as a list."""
    tools: list[object] = list(cast("Iterable[object]", value)) if isinstance(value, list | tuple | set) else [value]
    for tool in tools:
        if not callable(tool) and not is_toolset(tool):
            what = "a module" if isinstance(tool, ModuleType) else f"a {type(tool).__name__}"
            raise UsageError(f"--tools {name} is {what}: it must be a function, a Tool, a Toolset, or a list of them")
    return cast("list[Named]", tools)


def import_module(option: str, name: str, folder: Path) -> ModuleType:
    """A module of a folder or of the environment. Its errors become a `UsageError` with file and line."""
    sys.path.insert(0, str(folder))
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is not None and f"{name}.".startswith(f"{error.name}."):
            raise UsageError(f"{option}: no module named {error.name!r}; write MODULE:NAME") from error
        raise UsageError(f"{option}: {whereabouts(error)}") from error
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # a module may raise anything, and end the program with sys.exit
        raise UsageError(f"{option}: {whereabouts(error)}") from error


def whereabouts(error: BaseException) -> str:
    """An error with its file and line: the innermost frame of the current folder, otherwise the innermost one."""
    if isinstance(error, SyntaxError) and error.filename:
        return f"{shortened(error.filename)}:{error.lineno}: {type(error).__name__}: {error.msg}"
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if Path(frame.filename).is_relative_to(Path.cwd())] or frames
    return f"{shortened(ours[-1].filename)}:{ours[-1].lineno}: {type(error).__name__}: {error}"


def shortened(file: str) -> str:
    """A path relative to the current folder, if it is inside."""
    path = Path(file)
    return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else file


def existing(path: Path, what: str = "") -> Path:
    """The path of an existing, readable file. Raises `UsageError`."""
    try:
        if path.is_dir():
            raise UsageError(f"{what}{path} is a folder: name a file in it")
        path.stat()
    except FileNotFoundError:
        raise UsageError(f"{what}there is no file {path}") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise UsageError(f"{what}{path} can't be read: {reason}") from None
    if not os.access(path, os.R_OK):
        raise UsageError(f"{what}{path} can't be read: permission denied")
    return path


def split_paths(text: str) -> list[Path]:
    """Paths as typed or dropped: quoted or backslash-escaped, `~` for home, several separated by spaces."""
    if Path(text).expanduser().is_file():
        return [Path(text).expanduser()]
    try:
        words = shlex.split(text)
    except ValueError:  # an unclosed quote is part of the name
        words = [text]
    return [Path(word).expanduser() for word in words]


def starts_with(path: Path, prefix: bytes) -> bool:
    """Whether the JSON in a file starts with `prefix`."""
    with path.open("rb") as stream:
        return stream.read(256).lstrip(b"\xef\xbb\xbf \t\r\n").startswith(prefix)


def is_conversation(path: Path) -> bool:
    """Whether to read a file as a conversation file, so that its mistakes are reported.

    That is a JSON object with `version` and `messages`; with the suffix .json one of them is enough, or invalid JSON.
    """
    named = path.suffix.lower() == ".json"
    if not named and not starts_with(path, b"{"):
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
    """The conversation in a single path, if it is a conversation file."""
    return conversation_file.load(paths[0]) if len(paths) == 1 and is_conversation(existing(paths[0])) else None


def files_from_user(paths: Iterable[Path]) -> History:
    """A conversation in which the user sends these files."""
    return History([Draft("user", tuple(File.from_path(existing(path)) for path in paths))])


def files_from_tool(paths: Iterable[Path]) -> History:
    """A conversation in which a tool returns these files."""
    files = tuple(File.from_path(existing(path)) for path in paths)
    call = ToolCall("call_1", "tool", "{}")
    return History((Draft("user"), Draft("assistant", (call,)), Draft("tool", files, call.call_id, call.tool)))


def merge(builtin: Iterable[Callable[..., Any] | Tool], named: Iterable[Tool | Toolset]) -> list[Tool | Toolset]:
    """Both lists; a named tool replaces a built-in tool of the same name."""
    tools, toolsets = split_tools(named)
    return [*({tool.name: tool for tool in map(as_tool, builtin)} | tools).values(), *toolsets]
