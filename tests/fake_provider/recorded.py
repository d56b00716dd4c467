"""Recorded rejections that the inspector's readers don't give, since they hang on more than the request.

Most of docs/providers.md's recorded 400s are the readers' own. What is here is what the world adds: a web server that
forbids robots, a server that was started without eyes, a file that a decoder doesn't take.
"""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import urlsplit

from msgspec import Struct

from showandtell.inspector.request import ModelRequest, ReceivedFile, Refusal, files_of

from .blindness import Kind, kind_of

#: Hosts whose robots.txt forbids everything: a reserved name, so that none of them exists.
ROBOTS = "robots.invalid"


class Rejection(Struct, frozen=True):
    """A refusal in recorded words, where `when` finds a file that it is about; no houses: all of them."""

    name: str
    when: Callable[[ModelRequest], ReceivedFile | None]
    refuse: Callable[[ReceivedFile], Refusal]
    houses: frozenset[str] = frozenset()


def check_recorded(asked: ModelRequest, house: str, rejections: tuple[Rejection, ...]) -> None:
    """Raise `Refusal` for the first that fits."""
    for one in rejections:
        if (not one.houses or house in one.houses) and (found := one.when(asked)) is not None:
            raise one.refuse(found)


def _first(asked: ModelRequest, fits: Callable[[ReceivedFile], bool]) -> ReceivedFile | None:
    return next((seen for turn in asked.turns for seen in files_of(turn) if fits(seen)), None)


def _forbids_robots(seen: ReceivedFile) -> bool:
    return (urlsplit(seen.reference).hostname or "").endswith(ROBOTS)


#: What always counts.
RECORDED = (
    Rejection(
        "vertex-robots",
        lambda asked: _first(asked, _forbids_robots),
        lambda _: Refusal(
            "Cannot fetch content from the provided URL. Please ensure the URL is valid and accessible by Vertex AI. "
            "Vertex AI respects robots.txt rules, so confirm the URL is allowed to be crawled. "
            "Status: URL_ROBOTED-ROBOTED_DENIED"
        ),
        frozenset({"vertex"}),
    ),
)
#: What a test chooses: a llama.cpp that was started without --mmproj (its #13566; the words are recorded there).
WITHOUT_EYES = Rejection(
    "llamacpp-without-mmproj",
    lambda asked: _first(asked, lambda seen: kind_of(seen.media_type) == "image"),
    lambda _: Refusal("image input is not supported by this server", status=500, kind="server_error"),
    frozenset({"llamacpp"}),
)


def reject_files(*kinds: Kind, house: str = "", words: str = "Could not process image", status: int = 400) -> Rejection:
    """Refuse the first file of these kinds (of any where none is named), with its place before the words."""

    def refuse(seen: ReceivedFile) -> Refusal:
        return Refusal(f"{seen.position}: {words}", status=status, parameter=seen.position)

    def fits(seen: ReceivedFile) -> bool:
        return not kinds or kind_of(seen.media_type) in kinds

    return Rejection(f"files of {house or 'all'}", lambda asked: _first(asked, fits), refuse, frozenset({house} - {""}))
