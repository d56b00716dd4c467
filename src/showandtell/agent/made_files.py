"""Files that tools of the provider made: fetched by id before their message is stored, and given back by id later."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from hashlib import sha256

from showandtell.core.capabilities.cells import Target
from showandtell.core.events.accumulate import remote_of
from showandtell.core.events.types import RemoteFile
from showandtell.core.messages.derivations import DerivationRequest, Derivative, Failed
from showandtell.core.messages.file import File, missing_file
from showandtell.core.messages.message import Draft
from showandtell.core.messages.parts import DraftPart, HostedBlock
from showandtell.core.planning.placement import UPLOAD
from showandtell.providers.downloads import DOWNLOADS, Downloaded, download
from showandtell.providers.uploads import FilesAccess
from showandtell.storage.conversations.protocol import Conversation

#: Maximum number of files of one answer that are fetched, and of downloads at a time.
MAX_FILES, MAX_CONCURRENT = 50, 4
#: Maximum bytes of one file.
MAX_BYTES = 100_000_000


@dataclass(slots=True)
class MadeFiles:
    """Fetches the files of one answer. `access` reaches the provider; `ids` are its ids by the hash of the bytes."""

    access: Callable[[], FilesAccess]
    target: Target
    ids: dict[str, str] = field(default_factory=dict[str, str])

    async def fetch(self, draft: Draft) -> Draft:
        """Replace remote files by their bytes, or by a file with the problem. A file that came twice stays once."""
        wanted = list(dict.fromkeys(remote for _, remote in _remote_files(draft)))
        if not wanted:
            return draft
        access, semaphore = self.access(), asyncio.Semaphore(MAX_CONCURRENT)
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(self._download(access, remote, semaphore)) for remote in wanted[:MAX_FILES]]
        results = dict(zip(wanted, (task.result() for task in tasks), strict=False))
        shown = {sha256(file.read()).hexdigest() for file in _files_of_blocks(draft)}
        parts: list[DraftPart] = []
        for part in draft.parts:
            remote = remote_of(part) if isinstance(part, File) else None
            if not isinstance(part, File) or remote is None:
                parts.append(part)
            elif (file := self._file(part, remote, results.pop(remote, None), shown)) is not None:
                parts.append(file)
        return replace(draft, parts=tuple(parts))

    async def learn(self, conversation: Conversation) -> None:
        """Remember the ids of stored files, so that the provider gets these instead of bytes."""
        api = DOWNLOADS.get(self.target.vendor)
        if api is None or not api.is_input or not self.ids:
            return
        scope = self.target.upload_scope
        await conversation.learn(
            {
                DerivationRequest(digest, UPLOAD, scope): Derivative(file_id=file_id, is_own=True)
                for digest, file_id in self.ids.items()
            }
        )

    async def _download(
        self, access: FilesAccess, remote: RemoteFile, semaphore: asyncio.Semaphore
    ) -> Downloaded | Failed:
        async with semaphore:
            return await download(access, self.target, remote, MAX_BYTES)

    def _file(self, part: File, remote: RemoteFile, result: Downloaded | Failed | None, shown: set[str]) -> File | None:
        """The file in place of a remote one; None for one that the answer holds already."""
        name = part.name
        match result:
            case None:  # seen before, or one of too many
                return None if remote.file_id in self.ids.values() else _missing(part, "is one of too many files")
            case Failed(reason=reason):
                return _missing(part, f"could not be fetched: {reason}")
            case Downloaded(data, media_type, own_name):
                digest = sha256(data).hexdigest()
                self.ids[digest] = remote.file_id
                if digest in shown:
                    return None
                shown.add(digest)
                return File(data, media_type, name or own_name, made_by=part.made_by)


def _missing(part: File, problem: str) -> File:
    return replace(
        missing_file(problem, part.media_type or "application/octet-stream", part.name), made_by=part.made_by
    )


def _remote_files(draft: Draft) -> Iterator[tuple[File, RemoteFile]]:
    for part in draft.parts:
        if isinstance(part, File) and (remote := remote_of(part)) is not None:
            yield part, remote


def _files_of_blocks(draft: Draft) -> Iterator[File]:
    for part in draft.parts:
        if isinstance(part, HostedBlock):
            yield from (file for _, file in part.files if isinstance(file, File) and isinstance(file.source, bytes))
