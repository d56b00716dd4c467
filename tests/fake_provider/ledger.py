"""What the stand-in notes of each request, for tests to assert on: no key, and no bytes of files but their hashes."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

from msgspec import Struct

from showandtell.inspector.request import ModelRequest, files_of

#: Headers that hold a key, or something as good.
SECRET = frozenset(
    {"authorization", "x-api-key", "x-goog-api-key", "api-key", "x-amz-security-token", "cookie", "proxy-authorization"}
)


class Sight(Struct, frozen=True):
    """A file that reached the model: `sha256` is empty where only a reference came."""

    place: str
    media_type: str
    sha256: str
    label: str


class Received(Struct, frozen=True):
    """A request and the status of its answer; `size` and `sha256` are the body's, `fault` is what was done to it.

    `seen` are the files that the model was given, `asked` those that the body held: blindness is the difference.
    """

    house: str
    path: str
    headers: Mapping[str, str]
    sha256: str
    size: int
    status: int
    model: str = ""
    asked: tuple[Sight, ...] = ()
    seen: tuple[Sight, ...] = ()
    fault: str = ""


def redact(headers: Mapping[str, str]) -> dict[str, str]:
    """Headers without their keys."""
    return {name: "***" if name in SECRET else value for name, value in headers.items()}


def list_sights(asked: ModelRequest | None) -> tuple[Sight, ...]:
    """Every file of a request, in the order of its body."""
    if asked is None:
        return ()
    return tuple(
        Sight(
            seen.place,
            seen.media_type,
            hashlib.sha256(seen.data).hexdigest() if seen.data is not None else "",
            seen.label,
        )
        for turn in asked.turns
        for seen in files_of(turn)
    )
