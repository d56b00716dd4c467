"""Deletes uploads from their providers, after the files that they were made from have been deleted here."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable
from typing import Final

from showandtell.agent.provider_uploads import delete_upload
from showandtell.core.messages.derivations import DerivationRequest, Derivative

log = logging.getLogger(__name__)

#: Seconds that a request waits for providers. Then they are asked in the background.
WAIT_SECONDS: Final = 3.0
#: Seconds after which an upload is left to expire.
SECONDS: Final = 60.0
#: Maximum number of concurrent requests to providers.
MAX_CONCURRENT: Final = 8


class UploadDeletions:
    """The uploads that are being deleted by this worker. What a provider keeps is logged, and expires there."""

    def __init__(self) -> None:
        self._slots = asyncio.Semaphore(MAX_CONCURRENT)
        self._tasks = set[asyncio.Task[None]]()

    async def delete(self, uploads: Iterable[tuple[DerivationRequest, Derivative]]) -> None:
        """Delete uploads. Returns before that if a provider is slow."""
        tasks = {asyncio.create_task(self._delete(made.scope or "", upload.file_id or "")) for made, upload in uploads}
        self._tasks |= tasks
        for task in tasks:
            task.add_done_callback(self._tasks.discard)
        if tasks:
            await asyncio.wait(tasks, timeout=WAIT_SECONDS)

    async def close(self) -> None:
        """Leave what is still being deleted."""
        tasks = [*self._tasks]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _delete(self, upload_scope: str, file_id: str) -> None:
        problem: str | None = f"{upload_scope} was still asked to delete {file_id}"
        try:
            async with asyncio.timeout(SECONDS), self._slots:
                problem = await delete_upload(upload_scope, file_id)
        except TimeoutError:
            pass  # the problem is logged
        finally:
            if problem is not None:
                log.warning("an upload of a deleted file stays at its provider until it expires: %s", problem)
