"""Fetches files that a provider's own tools made, by id, with the key of the request that made them.

Failures are returned as `Failed` and never end a run: the file then has a number and a problem.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import msgspec

from showandtell.core.capabilities.cells import Target
from showandtell.core.events.types import RemoteFile
from showandtell.core.messages.derivations import Failed
from showandtell.core.planning.labels import format_size
from showandtell.core.wire.stream import DECODE_ERRORS
from showandtell.errors import ProviderError
from showandtell.providers.uploads import FILES_APIS, FilesAccess, UploadRequest, deliver, join_headers

#: An id: nothing that a path could be changed with.
ID = re.compile(r"[A-Za-z0-9_-]{1,200}")
#: Maximum seconds of one download.
MAX_SECONDS = 120.0


class _Metadata(msgspec.Struct, frozen=True):
    """anthropic 2.12: `FileMetadata`."""

    filename: str | None = None
    mime_type: str | None = None


@dataclass(frozen=True, slots=True)
class Downloads:
    """Where a provider gives files: the path of the bytes, and that of name and type if it has one.

    is_input: whether the same id may stand for the file in a request.
    """

    content: Callable[[RemoteFile], str]
    metadata: Callable[[RemoteFile], str] | None = None
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    is_input: bool = False


@dataclass(frozen=True, slots=True)
class Downloaded:
    """The bytes of a file, and the name and type that the provider gives it."""

    data: bytes
    media_type: str | None = None
    name: str | None = None


def _openai_path(remote: RemoteFile) -> str:
    place = f"/containers/{remote.container_id}" if remote.container_id else ""
    return f"{place}/files/{remote.file_id}/content"


#: By vendor: anthropic 2.12 (`files.download`, `files.retrieve_metadata`), openai 3.54 (`containers.files.content`,
#: `files.content`), docs.x.ai, and google-genai 3.4 (`files.download`).
DOWNLOADS: dict[str, Downloads] = {
    "anthropic": Downloads(
        lambda remote: f"/v1/files/{remote.file_id}/content",
        lambda remote: f"/v1/files/{remote.file_id}",
        FILES_APIS["anthropic"].headers,
        is_input=True,
    ),
    "openai": Downloads(_openai_path),
    "azure": Downloads(_openai_path),
    "xai": Downloads(_openai_path),
    "google": Downloads(lambda remote: f"/v1beta/files/{remote.file_id}:download?alt=media"),
}


async def download(access: FilesAccess, target: Target, remote: RemoteFile, limit: int) -> Downloaded | Failed:
    """Fetch a file of at most `limit` bytes from a target's vendor."""
    api = DOWNLOADS.get(target.vendor)
    if api is None:
        return Failed(f"{target.vendor} has no way to fetch it")
    if not (ID.fullmatch(remote.file_id) and ID.fullmatch(remote.container_id or "-")):
        return Failed("its id is not valid")
    try:
        async with asyncio.timeout(MAX_SECONDS):
            return await _fetch(access, api, remote, limit)
    except TimeoutError:
        return Failed(f"{target.vendor} didn't send it within {MAX_SECONDS:g} s")
    except ProviderError as error:
        return Failed(f"{target.vendor} doesn't give it: {str(error)[:300]}")


async def _fetch(access: FilesAccess, api: Downloads, remote: RemoteFile, limit: int) -> Downloaded | Failed:
    base = access.exchange.base
    headers = join_headers(api.headers, access.exchange)
    named = _Metadata()
    if api.metadata is not None:
        _, raw = await deliver(access, UploadRequest(base + api.metadata(remote), headers, method="GET"))
        named = _read_metadata(raw)
    request = UploadRequest(base + api.content(remote), headers, method="GET")
    _, data = await deliver(access, request, limit + 1)
    if len(data) > limit:
        return Failed(f"it is larger than {format_size(limit)}")
    return Downloaded(data, named.mime_type, named.filename)


def _read_metadata(raw: bytes) -> _Metadata:
    try:
        return msgspec.json.decode(raw, type=_Metadata)
    except DECODE_ERRORS:
        return _Metadata()
