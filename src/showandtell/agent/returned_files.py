"""Numbers of files that a tool returns: files of the conversation keep theirs, new files can't claim one."""

from __future__ import annotations

from dataclasses import replace
from hashlib import sha256
from typing import TypeAlias

from showandtell.agent.context import Files
from showandtell.core.collect.tool_result import ToolResult
from showandtell.core.messages.attachments import Facts
from showandtell.core.messages.file import File, Reader
from showandtell.core.messages.parts import Json, Shown, Text

Collected: TypeAlias = Text | Json | File | Shown


def resolve_files(result: ToolResult, files: Files) -> ToolResult:
    """Replace files of the conversation by references to them. Raises `BadInput` for unknown numbers."""
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
    attachment = files.attachments.get(file.number)
    is_stored = (
        attachment is not None and attachment.facts is not None and _is(file, files.get(file.number), attachment.facts)
    )
    return files.show(file.number) if is_stored else replace(file, number=None)


def _is(file: File, stored: File, facts: Facts) -> bool:
    """Whether a file is the stored one. An isolated tool returns it as a copy of its bytes."""
    if file.source == stored.source:
        return True
    is_copy = isinstance(file.source, Reader) and file.source.size == facts.size
    return is_copy and sha256(file.read()).hexdigest() == facts.sha256
