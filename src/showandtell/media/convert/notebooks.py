"""Converts Jupyter notebooks to Markdown, only in the child: their cells in order, each with what it printed.

A picture becomes a mark, without its bytes. The fields are those of nbformat 4,
https://nbformat.readthedocs.io/en/latest/format_description.html.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct, ValidationError, convert

from showandtell.core.display.words import fenced
from showandtell.errors import BadFile

#: What a program printed in colours.
ANSI_CODES = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
#: A file within a text, as in `![plot](data:image/png;base64,…)`.
DATA_ADDRESS = re.compile(r"(data:[a-z]+/[\w.+-]+);base64,[A-Za-z0-9+/=]{64,}")
#: Representations of a result that are words already, the best one first.
MARKUP = ("text/markdown", "text/latex")


class Output(Struct, frozen=True):
    """What a cell printed, showed or raised."""

    output_type: str = ""
    text: str | list[str] = ""
    data: dict[str, object] = {}
    ename: str = ""
    evalue: str = ""


class Cell(Struct, frozen=True):
    """A cell: code, Markdown or raw text."""

    cell_type: str
    source: str | list[str] = ""
    outputs: list[Output] = []


class Named(Struct, frozen=True):
    """A language or a kernel."""

    name: str = ""
    language: str = ""


class Metadata(Struct, frozen=True):
    """What is known of a notebook as a whole."""

    language_info: Named = Named()
    kernelspec: Named = Named()


class Notebook(Struct, frozen=True):
    """A notebook."""

    cells: list[Cell]
    nbformat: int
    metadata: Metadata = Metadata()


def write_notebook(source: str, target: str) -> None:
    """Write a notebook as Markdown. Raises `BadFile` if it isn't one of nbformat 4."""
    try:
        # This parser takes what Jupyter writes: NaN, and halves of characters.
        text = write_cells(convert(json.loads(Path(source).read_bytes()), Notebook))
    except (ValidationError, ValueError, RecursionError) as error:
        problem = f"is no notebook as Jupyter saves it: {error}"
        raise BadFile("", problem, "open it in Jupyter and save it, or name it .json") from None
    Path(target).write_text(text or "(an empty notebook)", "utf-8", "replace")


def write_cells(notebook: Notebook) -> str:
    """All cells, one below the other."""
    language = notebook.metadata.language_info.name or notebook.metadata.kernelspec.language
    text = "\n\n".join(part for cell in notebook.cells for part in write_cell(cell, language))
    return DATA_ADDRESS.sub(r"\1", text)


def write_cell(cell: Cell, language: str) -> Iterator[str]:
    """A cell, and its outputs below it."""
    text = join(cell.source)
    if not text.strip():
        return
    yield code_block(text, language) if cell.cell_type == "code" else text
    for output in cell.outputs:
        if written := write_output(output):
            yield written


def write_output(output: Output) -> str:
    """An output as Markdown; empty if there is nothing to read."""
    if output.output_type == "error":
        return code_block(f"{output.ename}: {output.evalue}")
    if any(media_type.startswith("image/") for media_type in output.data):
        return "[image]"
    for media_type in MARKUP:
        if media_type in output.data:
            return read(output.data[media_type])
    if output.data and "text/plain" not in output.data:
        return f"[output as {', '.join(output.data)}]"
    return code_block(read(output.data["text/plain"]) if output.data else join(output.text))


def read(data: object) -> str:
    """One representation of a result: a text, or its lines."""
    return join(convert(data, str | list[str]))


def join(lines: str | list[str]) -> str:
    """A text that is stored as one or as a list of its lines."""
    return "".join(lines)


def code_block(text: str, language: str = "") -> str:
    """Code or what it printed, without colours; empty for blanks."""
    return fenced(ANSI_CODES.sub("", text).strip("\n"), language)
