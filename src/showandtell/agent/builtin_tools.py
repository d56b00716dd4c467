"""Tools that come with the library: `read_file` of one folder, `chart`, and those that look back at files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from showandtell.agent.file_tools import get_document, list_files, view_file
from showandtell.agent.tools import Tool, as_tool
from showandtell.core.collect.values import ToolResult
from showandtell.core.media_types.kinds import kind_of
from showandtell.core.messages.file import File
from showandtell.errors import BadFile, ToolError
from showandtell.media import gate

MAX_BARS = 60
CUT = "\n(cut here: ask with return_original=true for the rest)"
#: Names of files that are told at once.
MOST_NAMES = 20
#: Beyond it the distances on a chart have no number any more.
LARGEST = 1e300


def read_file_in(folder: str | Path) -> Tool:
    """The tool `read_file` for one folder. Nothing outside is read: `..` and symlinks that lead out are refused.

    Files and folders whose name begins with a dot count as not there: keys lie in them.
    """
    root = Path(folder).resolve()

    def read_file(path: str, return_original: bool = True) -> ToolResult:
        """Read a file of the folder and show it. With return_original=false its text is given instead.

        A folder gives the names that lie in it.
        """
        found = _find(root, path)
        if found is None:
            raise ToolError(f"there is no file {path[:80]!r}; there are: {_listed(root, root)}")
        if found.is_dir():
            return ToolResult(f"{found.relative_to(root).as_posix()} is a folder; in it are: {_listed(found, root)}")
        return ToolResult(File.from_path(found, within=root)) if return_original else ToolResult(_text(found))

    return as_tool(read_file)


def _find(root: Path, path: str) -> Path | None:
    """A visible file or folder in the folder, links followed; raises `BadFile` for what lies outside."""
    try:
        file = File.from_path(path, within=root)
        found = file.source if isinstance(file.source, Path) else None
        return found if found and (found.is_file() or found.is_dir()) and not _is_hidden(found, root) else None
    except BadFile:
        raise
    except (OSError, ValueError):  # no path at all: too long, or with a NUL in it
        return None


def _is_hidden(path: Path, root: Path) -> bool:
    return any(part.startswith(".") for part in path.relative_to(root).parts)


def _listed(folder: Path, root: Path) -> str:
    """What lies directly in a folder and may be read, as paths from the root; folders end in a slash."""
    inside = [path for path in sorted(folder.iterdir()) if _may_be_read(path, root)]
    names = [f"{path.relative_to(root).as_posix()}{'/' * path.is_dir()}" for path in inside]
    more = [f"… and {len(names) - MOST_NAMES} more"] if len(names) > MOST_NAMES else []
    return ", ".join([*names[:MOST_NAMES], *more]) or "none"


def _may_be_read(path: Path, root: Path) -> bool:
    """Whether neither the name nor what it links to is hidden or outside; Python's own files aren't worth a line."""
    found = path.resolve()
    return (
        not path.name.startswith("__")
        and found.is_relative_to(root)
        and not _is_hidden(path, root)
        and not _is_hidden(found, root)
        and (found.is_file() or found.is_dir())
    )


def _text(path: Path) -> str:
    proof = gate.prove(path, claimed=None, name=path.name)
    if kind_of(proof.media_type) not in {"text", "document"}:
        raise ToolError(f"{path.name} is {proof.media_type} and has no text: ask with return_original=true")
    try:
        with TemporaryDirectory(prefix="showandtell-") as folder:
            made = gate.make(path, proof.media_type, "text", Path(folder))
    except BadFile as error:
        raise ToolError(f"{path.name} {error.problem}: ask with return_original=true to see it") from error
    return f"{made.text or ''}{CUT if made.cut else ''}"


def chart(title: str, values: list[float], labels: list[str] | None = None) -> ToolResult:
    """Draw a bar chart of some numbers and show it as a picture."""
    if not 1 <= len(values) <= MAX_BARS:
        raise ToolError(f"a chart takes 1 to {MAX_BARS} values, not {len(values)}")
    if not all(abs(value) <= LARGEST for value in values):  # so that NaN, which no comparison holds for, is refused
        raise ToolError(f"a chart takes numbers up to {LARGEST:g}, and neither NaN nor infinity")
    picture = gate.draw_chart(title, values, labels or [])
    spread = {"bars": len(values), "smallest": min(values), "largest": max(values)}
    return ToolResult(f"The chart {title!r}:", File.from_bytes(picture, "image/png", "chart.png"), spread)


def names_in(folder: Path) -> list[str]:
    """The files that lie directly in a folder and that `read_file` of it serves."""
    root = folder.resolve()
    return [path.name for path in sorted(root.iterdir()) if _may_be_read(path, root) and path.is_file()]


def builtin_tools(folder: str | Path) -> list[Callable[..., Any] | Tool]:
    """All of them, with `read_file` serving this folder and nothing else."""
    return [read_file_in(folder), chart, view_file, get_document, list_files]
