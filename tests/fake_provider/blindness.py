"""Answers of 200 by a model that never saw the file: those that were recorded, and others that a test plants.

A blind model is given the request without those files: their labels stay, their bytes and their tokens don't.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Literal, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from showandtell.inspector.gemini.write import count_modalities
from showandtell.inspector.request import ModelRequest, ReceivedFile, RequestTurn, Result, Words

from .frames import Event, find, put

Kind: TypeAlias = Literal["image", "document", "audio", "video"]
KINDS: tuple[Kind, ...] = ("image", "document", "audio", "video")
#: "bytes": any file; "reference": one that came as an address or an id; "words": base64 in the words of a result.
Shape: TypeAlias = Literal["bytes", "reference", "words"]
BASE64 = re.compile(r"[A-Za-z0-9+/_-]{200,}={0,2}")
USAGE = ("usageMetadata", "promptTokensDetails")


class Blindness(Struct, frozen=True):
    """What is not seen: files of these kinds in these places, at these houses, by models whose names fit; empty: all."""

    name: str
    houses: frozenset[str] = frozenset()
    places: frozenset[str] = frozenset()
    kinds: frozenset[str] = frozenset()
    models: str = ""
    shape: Shape = "bytes"


def blind(
    *, kinds: Sequence[Kind] = (), places: Sequence[str] = (), house: str = "", models: str = "", name: str = "planted"
) -> Blindness:
    """Plant one: `places` are "tool_result" and "user"; what isn't named counts for all."""
    houses = frozenset({house} - {""})
    return Blindness(name, houses, frozenset(places), frozenset(kinds), models)


#: Three that were recorded with status 200, by names that say what happened.
RECORDED_BLINDNESS = {
    one.name: one
    for one in (
        Blindness(
            "gemini-api-file-data-in-parts", frozenset({"google"}), frozenset({"tool_result"}), shape="reference"
        ),
        Blindness(
            "bedrock-claude-pdf-in-result",
            frozenset({"bedrock"}),
            frozenset({"tool_result"}),
            frozenset({"document"}),
            "claude",
            # The reader marks a PDF without citations as one of which no bytes came.
            shape="reference",
        ),
        Blindness(
            "gemini-2.5-base64-in-response",
            frozenset({"google", "vertex"}),
            frozenset({"tool_result"}),
            models=r"gemini-(1|2)\.",
            shape="words",
        ),
    )
}


def kind_of(media_type: str) -> Kind:
    match media_type.partition("/")[0]:
        case "image":
            return "image"
        case "audio":
            return "audio"
        case "video":
            return "video"
        case _:
            return "document"


def look_away(asked: ModelRequest, house: str, blindnesses: Sequence[Blindness]) -> ModelRequest:
    """The request without what its model doesn't see."""
    for one in blindnesses:
        if (not one.houses or house in one.houses) and re.search(one.models, asked.model):
            asked = replace(asked, turns=tuple(_filter_turn(turn, one) for turn in asked.turns))
    return asked


def _filter_turn(turn: RequestTurn, blindness: Blindness) -> RequestTurn:
    parts = (_filter_result(part, blindness) if isinstance(part, Result) else part for part in turn.parts)
    return RequestTurn(turn.role, tuple(part for part in parts if not _is_unseen(part, blindness)))


def _filter_result(result: Result, blindness: Blindness) -> Result:
    strip: Callable[[Words | ReceivedFile], Words | ReceivedFile] = (
        _strip if blindness.shape == "words" else lambda part: part
    )
    return replace(result, parts=tuple(strip(part) for part in result.parts if not _is_unseen(part, blindness)))


def _strip(part: Words | ReceivedFile) -> Words | ReceivedFile:
    """Words without their base64."""
    return Words(BASE64.sub("", part.text)) if isinstance(part, Words) else part


def _is_unseen(part: object, blindness: Blindness) -> bool:
    if not isinstance(part, ReceivedFile) or blindness.shape == "words":
        return False
    return (
        (blindness.shape == "bytes" or part.data is None)
        and (not blindness.places or part.place in blindness.places)
        and (not blindness.kinds or kind_of(part.media_type) in blindness.kinds)
    )


def recount(event: Event, seen: ModelRequest) -> Event:
    """Gemini tells tokens by modality, so an answer tells those of what was seen."""
    if event.data is None or find(event.data, USAGE) is None:
        return event
    counts = count_modalities(seen)
    usage = event.data["usageMetadata"]
    before, now = usage["promptTokenCount"], sum(counts.values())
    told = {
        **usage,
        "promptTokenCount": now,
        "totalTokenCount": usage["totalTokenCount"] - before + now,
        "promptTokensDetails": [{"modality": name, "tokenCount": count} for name, count in counts.items()],
    }
    return Event(put(event.data, ("usageMetadata",), told), event.name)
