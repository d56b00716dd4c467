"""Files that a tool hands back: those of the conversation keep their number, new ones can't take one."""

from __future__ import annotations

from dataclasses import replace
from hashlib import sha256
from typing import TypeAlias

from showandtell.agent.context import Files
from showandtell.core.collect.values import ToolResult
from showandtell.core.messages.attachments import Facts
from showandtell.core.messages.file import File, Reader
from showandtell.core.messages.parts import Json, Shown, Text

Collected: TypeAlias = Text | Json | File | Shown


def settle_files(result: ToolResult, files: Files) -> ToolResult:
    """The same result with every file either one of the conversation, or new. Raises `BadInput` for unknown numbers."""
    if not result.files:
        return result
    parts = [_part(part, files) for part in result.parts]
    return ToolResult(*parts, is_error=result.is_error, metadata=result.metadata)


def _part(part: Collected, files: Files) -> Collected:
    match part:
        case File() | Shown():
            return _file(part, files)
        case Json() if part.files:
            return Json(part.text, tuple((pointer, _file(file, files)) for pointer, file in part.files))
        case _:
            return part


def _file(file: File | Shown, files: Files) -> File | Shown:
    if isinstance(file, Shown):
        return Shown(file.number, files.show(file.number).attachment_id, file.view)
    if file.number is None:
        return file
    known = files.attachments.get(file.number)
    same = known is not None and known.facts is not None and _is(file, files.get(file.number), known.facts)
    return files.show(file.number) if same else replace(file, number=None)


def _is(file: File, stored: File, facts: Facts) -> bool:
    """Whether a file is a stored one; from a tool's own process it comes back as a copy of its bytes."""
    if file.source == stored.source:
        return True
    copied = isinstance(file.source, Reader) and file.source.size == facts.size
    return copied and sha256(file.read()).hexdigest() == facts.sha256
