"""Tools that come with the library: `read_file` of one folder, `chart`, `view_file` and `list_files`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from showandtell.agent.context import Context
from showandtell.agent.tools import Tool, as_tool
from showandtell.collect import ToolResult
from showandtell.content import File, Shown
from showandtell.errors import ToolError
from showandtell.files import kind_of
from showandtell.media import gate

MAX_BARS = 60


def read_file_in(folder: str | Path) -> Tool:
    """The tool `read_file` for one folder. Nothing outside is read: `..` and symlinks that lead out are refused."""
    root = Path(folder).resolve()

    def read_file(path: str, return_original: bool = True) -> ToolResult:
        """Read a file of the folder and show it. With return_original=false its text is given instead."""
        file = File.from_path(path, within=root)
        if not isinstance(file.source, Path) or not file.source.is_file():
            raise ToolError(f"there is no file {path!r}; there are: {', '.join(_names(root)) or 'none'}")
        return ToolResult(file) if return_original else ToolResult(_text(file.source))

    return as_tool(read_file)


def _names(root: Path, most: int = 20) -> list[str]:
    return [path.name for path in sorted(root.iterdir()) if path.is_file() and path.name[0] not in "._"][:most]


def _text(path: Path) -> str:
    proof = gate.prove(path, claimed=None, name=path.name)
    if kind_of(proof.media_type) not in {"text", "document"}:
        raise ToolError(f"{path.name} is {proof.media_type} and has no text: ask with return_original=true")
    text = gate.describe(path, proof.media_type).get("text")
    if not text:
        raise ToolError(f"{path.name} has no text in it: ask with return_original=true to see it")
    return str(text)


def chart(title: str, values: list[float], labels: list[str] | None = None) -> ToolResult:
    """Draw a bar chart of some numbers and show it as a picture."""
    if not 1 <= len(values) <= MAX_BARS:
        raise ToolError(f"a chart takes 1 to {MAX_BARS} values, not {len(values)}")
    picture = gate.draw_chart(title, values, labels or [])
    spread = {"bars": len(values), "smallest": min(values), "largest": max(values)}
    return ToolResult(f"The chart {title!r}:", File.from_bytes(picture, "image/png", "chart.png"), spread)


def view_file(number: int, context: Context) -> Shown:
    """Show a file of this conversation again, by its number ("image 5" is number 5)."""
    return context.files.show(number)


def list_files(context: Context) -> list[dict[str, object]]:
    """List the files of this conversation: number, kind, name, type, size and who brought each."""
    return [
        {
            "number": file.number,
            "kind": file.kind,
            "name": file.name,
            "media_type": file.media_type,
            "size": file.facts.size if file.facts else None,
            "origin": str(file.origin),
            **({"problem": file.problem} if file.problem else {}),
        }
        for file in context.files
    ]


def builtin_tools(folder: str | Path) -> list[Callable[..., Any] | Tool]:
    """All of them, with `read_file` serving this folder and nothing else."""
    return [read_file_in(folder), chart, view_file, list_files]
