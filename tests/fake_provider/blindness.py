"""Models that don't see a file, although the status is 200: recorded cases, and others that a test adds.

The model gets the request without those files. Their labels stay, their bytes and tokens are removed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Literal, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from showandtell.inspector.gemini.write import count_modalities
from showandtell.inspector.request import ModelRequest, ReceivedFile, RequestTurn, Result, TextPart

from .frames import Event, find, put

Kind: TypeAlias = Literal["image", "document", "audio", "video"]
KINDS: tuple[Kind, ...] = ("image", "document", "audio", "video")
#: "bytes": any file; "reference": a URL or file id; "words": base64 in the text of a result.
Shape: TypeAlias = Literal["bytes", "reference", "words"]
BASE64 = re.compile(r"[A-Za-z0-9+/_-]{200,}={0,2}")
USAGE = ("usageMetadata", "promptTokensDetails")


class Blindness(Struct, frozen=True):
    """What is not seen: files of these kinds and places, at these hosts, by matching models. Empty matches all."""

    name: str
    hosts: frozenset[str] = frozenset()
    places: frozenset[str] = frozenset()
    kinds: frozenset[str] = frozenset()
    models: str = ""
    shape: Shape = "bytes"


def blind(
    *, kinds: Sequence[Kind] = (), places: Sequence[str] = (), host: str = "", models: str = "", name: str = "planted"
) -> Blindness:
    """Make a blindness. `places` are "tool_result" and "user". Without an argument it applies to all."""
    hosts = frozenset({host} - {""})
    return Blindness(name, hosts, frozenset(places), frozenset(kinds), models)


#: Three recorded cases with status 200.
RECORDED_BLINDNESS = {
    blindness.name: blindness
    for blindness in (
        Blindness(
            "gemini-api-file-data-in-parts", frozenset({"google"}), frozenset({"tool_result"}), shape="reference"
        ),
        Blindness(
            "bedrock-claude-pdf-in-result",
            frozenset({"bedrock"}),
            frozenset({"tool_result"}),
            frozenset({"document"}),
            "claude",
            # The inspector reads a PDF without citations as a reference.
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


def remove_unseen(request: ModelRequest, host: str, blindnesses: Sequence[Blindness]) -> ModelRequest:
    """The request without the files that its model doesn't see."""
    for blindness in blindnesses:
        if (not blindness.hosts or host in blindness.hosts) and re.search(blindness.models, request.model):
            request = replace(request, turns=tuple(_filter_turn(turn, blindness) for turn in request.turns))
    return request


def _filter_turn(turn: RequestTurn, blindness: Blindness) -> RequestTurn:
    parts = (_filter_result(part, blindness) if isinstance(part, Result) else part for part in turn.parts)
    return RequestTurn(turn.role, tuple(part for part in parts if not _is_unseen(part, blindness)))


def _filter_result(result: Result, blindness: Blindness) -> Result:
    strip: Callable[[TextPart | ReceivedFile], TextPart | ReceivedFile] = (
        _strip if blindness.shape == "words" else lambda part: part
    )
    return replace(result, parts=tuple(strip(part) for part in result.parts if not _is_unseen(part, blindness)))


def _strip(part: TextPart | ReceivedFile) -> TextPart | ReceivedFile:
    """The text without base64."""
    return TextPart(BASE64.sub("", part.text)) if isinstance(part, TextPart) else part


def _is_unseen(part: object, blindness: Blindness) -> bool:
    if not isinstance(part, ReceivedFile) or blindness.shape == "words":
        return False
    return (
        (blindness.shape == "bytes" or part.data is None)
        and (not blindness.places or part.place in blindness.places)
        and (not blindness.kinds or kind_of(part.media_type) in blindness.kinds)
    )


def recount(event: Event, visible: ModelRequest) -> Event:
    """Correct the token counts by modality in Gemini's response to those of what the model saw."""
    if event.data is None or find(event.data, USAGE) is None:
        return event
    counts = count_modalities(visible)
    usage = event.data["usageMetadata"]
    previous, total = usage["promptTokenCount"], sum(counts.values())
    new_usage = {
        **usage,
        "promptTokenCount": total,
        "totalTokenCount": usage["totalTokenCount"] - previous + total,
        "promptTokensDetails": [{"modality": name, "tokenCount": count} for name, count in counts.items()],
    }
    return Event(put(event.data, ("usageMetadata",), new_usage), event.name)
