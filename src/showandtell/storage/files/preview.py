"""Small pictures of files that are shown to people for a moment and not stored, such as a tool's first draft."""

from __future__ import annotations

from showandtell.core.messages.derivations import DerivationRequest, Derivative
from showandtell.core.messages.file import File
from showandtell.errors import ShowAndTellError
from showandtell.storage.blobs.threads import run_in_thread
from showandtell.storage.files.convert import convert_in_turn
from showandtell.storage.files.file_cache import FileCache

THUMBNAIL = "thumbnail"


async def make_preview(file: File) -> File | None:
    """A small picture of a file, at most 320 pixels wide and high; None for a file that has none or can't be read."""
    cache = FileCache()
    try:
        facts = (await run_in_thread(cache.probe, file)).facts
        if facts is None:
            return None
        request = DerivationRequest(facts.sha256, THUMBNAIL)
        result = (await convert_in_turn([request], cache))[request]
        if not isinstance(result, Derivative) or not result.files:
            return None
        small = result.files[0]
        return File.from_bytes(await run_in_thread(cache.blobs.read, small), small.media_type)
    except ShowAndTellError:  # the disk of temporary files is full: the tool works on without a preview
        return None
