"""What a tool returns, collected."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from showandtell.checking.checked import checked
from showandtell.core.collect.nodes import Collected, HasParts, Link
from showandtell.core.collect.surrogates import join_surrogates
from showandtell.core.messages.file import File
from showandtell.core.messages.message import Draft
from showandtell.core.messages.metadata import dump_metadata
from showandtell.core.messages.parts import Json, Shown, Text, ToolCall
from showandtell.errors import BadInput
from showandtell.lazy import LazyModule

if TYPE_CHECKING:
    from showandtell.core.collect import entry, libraries
else:  # a tool's module names the class long before it returns a value
    entry, libraries = LazyModule("showandtell.core.collect.entry"), LazyModule("showandtell.core.collect.libraries")


@checked
@dataclass(frozen=True, slots=True, init=False)
class ToolResult(HasParts):
    """What a tool returns: values of any kind, in order, an error flag, and metadata that the model never sees.

    `ToolResult("two charts", figure, {"rows": 3}, metadata=run_id)`. Results of other libraries bring their own error
    flag. A single value brings its metadata, too. `files_from` is the folder that a `file_path` of an object may lead
    into, as in `Tool`. Raises `BadValue` as `collect` does.

    >>> from showandtell import File, ToolResult
    >>> table = File.from_bytes(b"a,b", "text/csv", "table.csv")
    >>> result = ToolResult("The table:", table, {"rows": 1})
    >>> [type(part).__name__ for part in result.parts]
    ['Text', 'File', 'Json']
    """

    is_error: bool
    metadata: object = field(compare=False)
    #: Addresses in content blocks, by the position of their text in `parts`.
    links: Mapping[int, Link] = field(compare=False, repr=False)

    def __init__(
        self,
        *values: object,
        is_error: bool = False,
        metadata: object = None,
        files_from: str | Path | None = None,
    ) -> None:
        folder = None if files_from is None else Path(files_from)
        parts = [part for value in values for part in entry.collect_links(value, folder)]
        object.__setattr__(self, "links", {at: part for at, part in enumerate(parts) if isinstance(part, Link)})
        object.__setattr__(self, "parts", tuple(part.plain if isinstance(part, Link) else part for part in parts))
        outcomes = [read_outcome(value) for value in values]
        if metadata is None and len(outcomes) == 1:
            metadata = outcomes[0][1]
        object.__setattr__(self, "is_error", is_error or any(failed for failed, _ in outcomes))
        object.__setattr__(self, "metadata", metadata)

    @property
    def files(self) -> tuple[File | Shown, ...]:
        """All files in order, those inside JSON included."""
        return tuple(file for part in self.parts for file in list_files(part))

    @property
    def text(self) -> str:
        """Text and JSON, line by line. A file is a mark with its position here, a `Shown` one with its number."""
        lines: list[str] = []
        position = 0
        for part in self.parts:
            if isinstance(part, Text | Json):
                lines.append(part.text)
            for file in list_files(part):
                position += 1
                lines.append(format_file(file, position))
        return "\n".join(lines)

    @property
    def without_files(self) -> ToolResult:
        """A copy with text and JSON only. Files inside JSON become null."""
        parts = (Json(part.text) if isinstance(part, Json) else part for part in self.parts)
        texts = [part for part in parts if isinstance(part, Text | Json)]
        return ToolResult(*texts, is_error=self.is_error, metadata=self.metadata)


def read_outcome(value: object) -> tuple[bool, object]:
    """The error flag and the metadata of a value."""
    return (
        (value.is_error, value.metadata) if isinstance(value, ToolResult) else libraries.read_error_and_metadata(value)
    )


def list_files(part: Collected) -> tuple[File | Shown, ...]:
    """The files of one part."""
    match part:
        case File() | Shown():
            return (part,)
        case Json():
            return tuple(file for _, file in part.files)
        case Text():
            return ()


def format_file(file: File | Shown, position: int) -> str:
    """The mark of a file in text."""
    if isinstance(file, Shown):
        return f"[file {file.number}]"
    name = join_surrogates(file.name or file.media_type or "")
    return f"[file {position}: {name}]" if name else f"[file {position}]"


def result_draft(call: ToolCall, result: ToolResult) -> Draft:
    """A tool's result as a message before ingest, with its metadata if that is JSON, or else without it."""
    metadata = result.metadata if metadata_problem(result) is None else None
    return Draft("tool", result.parts, call.call_id, call.tool, result.is_error, metadata=metadata)


def metadata_problem(result: ToolResult) -> str | None:
    """Why the metadata of a result can't be stored. It may be any object, such as an artifact of LangChain."""
    try:
        dump_metadata(result.metadata)
    except BadInput as error:
        return str(error)
    return None
