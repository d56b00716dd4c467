"""Recorded errors that depend on more than the request, so the inspector doesn't have them.

The inspector covers most recorded 400s of docs/providers.md. The others are here: a web server that disallows robots, a
server started without an image encoder, a file that a decoder rejects.
"""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import urlsplit

from msgspec import Struct

from showandtell.inspector.request import ApiError, ModelRequest, ReceivedFile, files_of

from .blindness import Kind, kind_of

#: The domain of web servers whose robots.txt disallows everything. The name is reserved, so none of them exists.
ROBOTS = "robots.invalid"


class Rejection(Struct, frozen=True):
    """An error if `find` returns a file. Empty `hosts` means all."""

    name: str
    find: Callable[[ModelRequest], ReceivedFile | None]
    make_error: Callable[[ReceivedFile], ApiError]
    hosts: frozenset[str] = frozenset()


def check_recorded(request: ModelRequest, host: str, rejections: tuple[Rejection, ...]) -> None:
    """Raise the error of the first rejection that applies."""
    for rejection in rejections:
        if (not rejection.hosts or host in rejection.hosts) and (file := rejection.find(request)) is not None:
            raise rejection.make_error(file)


def _first(request: ModelRequest, matches: Callable[[ReceivedFile], bool]) -> ReceivedFile | None:
    return next((file for turn in request.turns for file in files_of(turn) if matches(file)), None)


def _forbids_robots(file: ReceivedFile) -> bool:
    return (urlsplit(file.reference).hostname or "").endswith(ROBOTS)


#: Always active.
RECORDED = (
    Rejection(
        "vertex-robots",
        lambda request: _first(request, _forbids_robots),
        lambda _: ApiError(
            "Cannot fetch content from the provided URL. Please ensure the URL is valid and accessible by Vertex AI. "
            "Vertex AI respects robots.txt rules, so confirm the URL is allowed to be crawled. "
            "Status: URL_ROBOTED-ROBOTED_DENIED"
        ),
        frozenset({"vertex"}),
    ),
)
#: For tests: a llama.cpp server started without --mmproj (its #13566, which has the message).
WITHOUT_MMPROJ = Rejection(
    "llamacpp-without-mmproj",
    lambda request: _first(request, lambda file: kind_of(file.media_type) == "image"),
    lambda _: ApiError("image input is not supported by this server", status=500, kind="server_error"),
    frozenset({"llamacpp"}),
)


def reject_files(
    *kinds: Kind, host: str = "", message: str = "Could not process image", status: int = 400
) -> Rejection:
    """Reject the first file of these kinds (default: any), with its position before the message."""

    def make_error(file: ReceivedFile) -> ApiError:
        return ApiError(f"{file.position}: {message}", status=status, parameter=file.position)

    def matches(file: ReceivedFile) -> bool:
        return not kinds or kind_of(file.media_type) in kinds

    return Rejection(
        f"files of {host or 'all'}", lambda request: _first(request, matches), make_error, frozenset({host} - {""})
    )
