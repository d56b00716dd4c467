"""What a tool reports while it works: progress at once, previews as small pictures that are made one at a time."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from msgspec.structs import replace

from showandtell.core.events.types import ToolProgress
from showandtell.core.messages.file import File
from showandtell.storage.files.preview import make_preview

#: Seconds between two previews of a call. Of more, only the newest is shown.
INTERVAL = 0.5


class ProgressReports:
    """Emits the progress of one call. Everything happens in the event loop's thread."""

    def __init__(self, emit: Callable[[ToolProgress], None]) -> None:
        self._emit = emit
        self._last: ToolProgress | None = None
        self._preview: File | None = None
        self._task: asyncio.Task[None] | None = None
        self._is_closed = False

    def report(self, progress: ToolProgress) -> None:
        """Emit progress now if it is new, and again with its preview as soon as that is made."""
        if self._is_closed:
            return
        before, self._last = self._last, replace(progress, preview=None)
        if self._last != before:
            self._emit(self._last)
        if progress.preview is not None:
            self._preview = progress.preview
            self._task = self._task or asyncio.create_task(self._make_previews())

    async def _make_previews(self) -> None:
        while (file := self._preview) is not None:
            self._preview = None
            picture = await make_preview(file)
            if picture is not None and self._last is not None:
                self._emit(replace(self._last, preview=picture))
            await asyncio.sleep(INTERVAL)
        self._task = None

    def close(self) -> None:
        """Drop what is not made yet, and what a tool reports after its end."""
        self._is_closed = True
        if self._task is not None:
            self._task.cancel()
