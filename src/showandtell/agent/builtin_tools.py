"""Built-in tools: `read_file` for one folder, `chart`, and the tools of `file_tools`."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from msgspec import UNSET

from showandtell.agent.file_tools import get_document, list_files, view_file
from showandtell.agent.tools import Tool, as_tool, by_name
from showandtell.checking.checked import checked
from showandtell.core.collect.tool_result import ToolResult
from showandtell.core.media_types.kinds import kind_of
from showandtell.core.messages.conversion import text_conversion
from showandtell.core.messages.file import File
from showandtell.errors import BadFile, ToolError
from showandtell.media import gate

MAX_BARS = 60
CUT = "\n(cut here: ask with return_original=true for the rest)"
#: Maximum number of file names in one text.
MAX_NAMES = 20
#: Largest absolute value of a chart. Differences between larger values overflow.
MAX_VALUE = 1e300


def read_file_in(folder: str | Path) -> Tool:
    """Create the tool `read_file` for one folder. It refuses `..` and symlinks that lead out of the folder.

    Files and folders whose name begins with a dot are treated as missing, since they often hold keys.
    """
    root = Path(folder).resolve()

    def read_file(path: str, return_original: bool = True) -> ToolResult:
        """Read a file of the folder and show it. With return_original=false its text is given instead.

        A folder gives the names that lie in it.
        """
        found = _find(root, path)
        if found is None:
            raise ToolError(f"there is no file {path[:80]!r}; there are: {_format_names(root, root)}")
        if found.is_dir():
            return ToolResult(
                f"{found.relative_to(root).as_posix()} is a folder; in it are: {_format_names(found, root)}"
            )
        return ToolResult(File.from_path(found, within=root)) if return_original else ToolResult(_read_text(found))

    return as_tool(read_file)


def _find(root: Path, path: str) -> Path | None:
    """The visible file or folder at a path, with links resolved. Raises `BadFile` for a path outside the root."""
    try:
        file = File.from_path(path, within=root)
        found = file.source if isinstance(file.source, Path) else None
        return found if found and (found.is_file() or found.is_dir()) and not _is_hidden(found, root) else None
    except BadFile:
        raise
    except (OSError, ValueError):  # not a valid path: too long, or it holds a NUL
        return None


def _is_hidden(path: Path, root: Path) -> bool:
    return any(part.startswith(".") for part in path.relative_to(root).parts)


def _format_names(folder: Path, root: Path) -> str:
    """The readable entries of a folder as paths from the root. Folders end in a slash."""
    inside = [path for path in sorted(folder.iterdir()) if _may_be_read(path, root)]
    names = [f"{path.relative_to(root).as_posix()}{'/' * path.is_dir()}" for path in inside]
    more = [f"… and {len(names) - MAX_NAMES} more"] if len(names) > MAX_NAMES else []
    return ", ".join([*names[:MAX_NAMES], *more]) or "none"


def _may_be_read(path: Path, root: Path) -> bool:
    """Whether the path and its link target are visible and inside the root. Python's `__*` files are left out."""
    found = path.resolve()
    return (
        not path.name.startswith("__")
        and found.is_relative_to(root)
        and not _is_hidden(path, root)
        and not _is_hidden(found, root)
        and (found.is_file() or found.is_dir())
    )


def _read_text(path: Path) -> str:
    proof = gate.probe(path, claimed=None, name=path.name)
    if kind_of(proof.media_type) not in {"text", "document"}:
        raise ToolError(f"{path.name} is {proof.media_type} and has no text: ask with return_original=true")
    try:
        with TemporaryDirectory(prefix="showandtell-") as folder:
            derivative = gate.make(path, proof.media_type, text_conversion(proof.encoding or UNSET), Path(folder))
    except BadFile as error:
        raise ToolError(f"{path.name} {error.problem}: ask with return_original=true to see it") from error
    return f"{derivative.text or ''}{CUT if derivative.cut else ''}"


def chart(title: str, values: list[float], labels: list[str] | None = None) -> ToolResult:
    """Draw a bar chart of some numbers and show it as a picture."""
    if not 1 <= len(values) <= MAX_BARS:
        raise ToolError(f"a chart takes 1 to {MAX_BARS} values, not {len(values)}")
    if not all(abs(value) <= MAX_VALUE for value in values):  # also refuses NaN, for which every comparison is false
        raise ToolError(f"a chart takes numbers up to {MAX_VALUE:g}, and neither NaN nor infinity")
    picture = gate.draw_chart(title, values, labels or [])
    spread = {"bars": len(values), "smallest": min(values), "largest": max(values)}
    return ToolResult(f"The chart {title!r}:", File.from_bytes(picture, "image/png", "chart.png"), spread)


def names_in(folder: Path) -> list[str]:
    """The names of the files directly in a folder that `read_file` can read."""
    root = folder.resolve()
    return [path.name for path in sorted(root.iterdir()) if _may_be_read(path, root) and path.is_file()]


@checked
def builtin_tools(folder: str | Path) -> list[Callable[..., Any] | Tool]:
    """The library's tools: `read_file` and `chart`, and `view_file`, `get_document` and `list_files`.

    >>> from showandtell import Agent, builtin_tools
    >>> from showandtell.samples import folder
    >>> agent = Agent("inspector", builtin_tools(folder()))
    >>> sorted(agent.tools)
    ['chart', 'get_document', 'list_files', 'read_file', 'view_file']
    >>> [file.name for file in agent.run_sync("/read_file path=kiwi.jpg").files]
    ['kiwi.jpg']

    Args:
        folder (str | Path): the only folder that `read_file` reads. Links that lead out of it are refused.
    """
    return [read_file_in(folder), chart, view_file, get_document, list_files]


def build_tools(folder: Path | None, configured: Mapping[str, Tool], names: Collection[str]) -> list[Tool]:
    """The built-in tools of these names, and configured ones, which replace those of a name.

    `read_file` needs a folder.
    """
    builtin = [chart, view_file, get_document, list_files, *([read_file_in(folder)] if folder is not None else [])]
    chosen = {name: tool for name, tool in by_name(builtin).items() if name in names}
    return [*{**chosen, **configured}.values()]
