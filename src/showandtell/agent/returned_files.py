"""Files that a tool returns: those of the conversation keep their numbers, and addresses may be fetched."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeAlias

from showandtell.agent.context import Files
from showandtell.agent.loader import Fetch
from showandtell.core.collect.base64_text import for_audience
from showandtell.core.collect.nodes import Link
from showandtell.core.collect.tool_result import ToolResult
from showandtell.core.messages.attachments import Facts
from showandtell.core.messages.file import File, Reader
from showandtell.core.messages.parts import Json, Shown, Text, unfetched
from showandtell.core.planning.conversions import MAX_FETCHED_BYTES
from showandtell.errors import BadFile

Collected: TypeAlias = Text | Json | File | Shown


#: Maximum number of addresses of one result that are fetched, all at once.
MAX_LINKS = 8


async def fetch_links(result: ToolResult, fetch: Fetch | None) -> ToolResult:
    """Replace `https:` addresses in content blocks by their files. An address that can't be fetched stays text."""
    links = {at: link for at, link in result.links.items() if link.audience != "user" and link.address[:6] == "https:"}
    if fetch is None or not links:
        return result
    async with asyncio.TaskGroup() as group:
        tasks = {at: group.create_task(fetch_link(links[at], fetch)) for at in list(links)[:MAX_LINKS]}
    parts = [tasks[at].result() if at in tasks else part for at, part in enumerate(result.parts)]
    return ToolResult(*parts, is_error=result.is_error, metadata=result.metadata)


async def fetch_link(link: Link, fetch: Fetch) -> File | Text:
    """The file at an address, or its text with the reason."""
    try:
        with TemporaryDirectory(prefix="showandtell-") as folder:
            file = await fetch(link.address, Path(folder), MAX_FETCHED_BYTES)
            data = await asyncio.to_thread(file.read)
    except BadFile as error:
        return Text(unfetched(link.name, link.address, f"{error.name} {error.problem}"), link.audience)
    fetched = File.from_bytes(data, file.media_type or link.media_type, file.name)
    return for_audience(fetched, link.audience)


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
