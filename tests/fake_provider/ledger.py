"""The record of each request, for tests to assert on: without keys, and with hashes instead of file bytes."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

from msgspec import Struct

from showandtell.inspector.request import ModelRequest, files_of

#: Headers with credentials.
SECRET = frozenset(
    {"authorization", "x-api-key", "x-goog-api-key", "api-key", "x-amz-security-token", "cookie", "proxy-authorization"}
)


class FileEntry(Struct, frozen=True):
    """A file of a request. `sha256` is empty if only a reference came."""

    place: str
    media_type: str
    sha256: str
    label: str


class LedgerEntry(Struct, frozen=True):
    """A request and the status of its response. `size` and `sha256` are those of the body.

    `sent` are the files in the body, `seen` those that the model got.
    """

    host: str
    path: str
    headers: Mapping[str, str]
    sha256: str
    size: int
    status: int
    model: str = ""
    sent: tuple[FileEntry, ...] = ()
    seen: tuple[FileEntry, ...] = ()
    fault: str = ""


def redact(headers: Mapping[str, str]) -> dict[str, str]:
    """The headers without credentials."""
    return {name: "***" if name in SECRET else value for name, value in headers.items()}


def list_files(request: ModelRequest | None) -> tuple[FileEntry, ...]:
    """The files of a request, in the order of the body."""
    if request is None:
        return ()
    return tuple(
        FileEntry(
            file.place,
            file.media_type,
            hashlib.sha256(file.data).hexdigest() if file.data is not None else "",
            file.label,
        )
        for turn in request.turns
        for file in files_of(turn)
    )
