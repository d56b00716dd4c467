"""Imports what settings name as MODULE:NAME, or as the name under which a package has tools."""

from __future__ import annotations

import importlib
import sys
import traceback
from collections.abc import Callable, Iterable
from pathlib import Path
from types import ModuleType
from typing import Any, cast

from showandtell.agent.tools import Tool
from showandtell.agent.toolsets import AnyTool, Toolset, is_toolset, split_tools
from showandtell.checking.shown import class_name
from showandtell.core.wire.hosted_tools import HostedTool, split_hosted
from showandtell.errors import BadInput
from showandtell.plugins import list_plugins, load_plugin, suggestion

#: Entry points of packages with tools: each names what MODULE:NAME may name.
TOOLS = "showandtell.tools"


def import_tools(setting: str, name: str) -> list[Tool | Toolset | HostedTool]:
    """The tools at MODULE:NAME: a function, a Tool, a Toolset, a hosted tool, or a list of them. Raises `BadInput`.

    A name without a colon is that of an entry point of an installed package. `setting` is the name in errors.
    """
    found = import_named(setting, name, "mytools:TOOLS") if ":" in name else find_tools(setting, name)
    values = as_list(setting, name, found)
    try:
        own, hosted = split_hosted(values)
        tools, toolsets = split_tools(own)
        return [*(tool for tool in tools.values() if tool.spec), *toolsets, *hosted]
    except Exception as error:  # annotations can make a schema fail in many ways
        reason = str(error).partition("\n")[0]
        raise BadInput(f"{setting} {name}: {type(error).__name__}: {reason}") from error


def find_tools(setting: str, name: str) -> object:
    """The tools that an installed package has under a name. Raises `BadInput`."""
    found = load_plugin(TOOLS, name)
    if found is None:
        names = list_plugins(TOOLS)
        if name in names:
            raise BadInput(f"{setting} {name}: the package that has these tools can't be loaded; a warning says why")
        known = f" Packages have: {', '.join(names)}." if names else ""
        hint = suggestion(name, names) or known
        raise BadInput(
            f"{setting} {name}: no installed package has tools of this name; write MODULE:NAME for others.{hint}"
        )
    return found


def import_function(setting: str, name: str) -> Callable[..., Any]:
    """The function at MODULE:NAME. Raises `BadInput`."""
    function: object = import_named(setting, name, "mytools:function")
    if not callable(function):
        raise BadInput(f"{setting} {name} is {class_name(function)}: it must be a function")
    return function


def import_named(setting: str, name: str, example: str) -> Any:
    """What MODULE:NAME names, in the current folder, or in that of FOLDER/MODULE:NAME. Raises `BadInput`."""
    path, _, attribute = name.rpartition(":")
    folder, _, module = path.rpartition("/")
    if not (module and attribute):
        raise BadInput(f"{setting} {name}: write MODULE:NAME, such as {example}")
    loaded = import_module(setting, module, Path(folder).expanduser() if folder else Path.cwd())
    if not hasattr(loaded, attribute):
        raise BadInput(f"{setting} {name}: {module} has no {attribute}; write MODULE:NAME")
    return getattr(loaded, attribute)


def as_list(setting: str, name: str, value: object) -> list[AnyTool]:
    """One tool or many, as a list."""
    tools: list[object] = list(cast("Iterable[object]", value)) if isinstance(value, list | tuple | set) else [value]
    for tool in tools:
        if not callable(tool) and not is_toolset(tool) and not isinstance(tool, HostedTool):
            what = "a module" if isinstance(tool, ModuleType) else class_name(tool)
            raise BadInput(f"{setting} {name} is {what}: it must be a function, a Tool, a Toolset, or a list of them")
    return cast("list[AnyTool]", tools)


def import_module(setting: str, name: str, folder: Path) -> ModuleType:
    """A module of a folder or of the environment. Its errors become a `BadInput` with file and line."""
    sys.path.insert(0, str(folder))
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is not None and f"{name}.".startswith(f"{error.name}."):
            raise BadInput(f"{setting}: no module named {error.name!r}; write MODULE:NAME") from error
        raise BadInput(f"{setting}: {whereabouts(error)}") from error
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # a module may raise anything, and end the program with sys.exit
        raise BadInput(f"{setting}: {whereabouts(error)}") from error


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
