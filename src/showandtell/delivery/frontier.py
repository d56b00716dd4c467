"""The first pass: which showings are in view. Old ones leave in large steps, so that the prompt's start stays put.

A pure fold over the showings in order. It counts original sizes, so conversions can't move it; it only moves forward,
and when it must it makes room for half a budget at once.
"""

from __future__ import annotations

from functools import lru_cache

from msgspec import Struct

from showandtell.capabilities.cells import Target
from showandtell.delivery.values import Policy, View
from showandtell.files import Attachment

#: The share of a request's bytes that files may take; the rest is for words and tool schemas.
FILES_SHARE = 0.85

#: What showings cost: bytes of base64, images, documents, and their count.
Weight = tuple[int, int, int, int]
NOTHING: Weight = (0, 0, 0, 0)


@lru_cache(maxsize=4096)
def cap(target: Target, media_type: str) -> int | None:
    """The most raw bytes that a file of this type can have in any cell; 0 where none takes it, None without limit."""
    limits = [cell.limits.bytes for cell in target.cells if cell.takes(media_type)]
    if not limits:
        return 0
    known = [limit for limit in limits if limit is not None]
    return max(known) if len(known) == len(limits) else None


def weigh(file: Attachment, target: Target) -> Weight:
    """What showing a file costs at most; one that no cell takes costs nothing, for it won't be sent."""
    facts = file.facts
    if facts is None:
        return NOTHING
    most = cap(target, facts.media_type)
    if most == 0:
        return NOTHING
    size = facts.size if most is None else min(facts.size, most)
    kind = facts.kind
    return ((size + 2) // 3 * 4, int(kind == "image"), int(kind == "document"), 1)


def room(target: Target, policy: Policy) -> tuple[float, float, float, float]:
    """What one request may hold, in the order of a `Weight`."""
    budget, endless = target.budget, float("inf")
    return (
        endless if budget.bytes is None else budget.bytes * FILES_SHARE,
        endless if budget.images is None else budget.images,
        endless if budget.documents is None else budget.documents,
        endless if policy.focus is None else policy.focus,
    )


class Front(Struct, frozen=True):
    """The frontier behind some showings: what each weighs, the first in view, and the weight of those in view."""

    weights: tuple[Weight, ...] = ()
    start: int = 0
    load: Weight = NOTHING


def frontier(view: View, target: Target, policy: Policy) -> int:
    """The index of the first showing in view, counting all showings of the conversation in order from 0."""
    return advance(Front(), view, target, policy).start


def advance(front: Front, view: View, target: Target, policy: Policy) -> Front:
    """The frontier behind the showings of a view, which follow those that `front` has counted."""
    shown = [view.attachments[shown.number] for message in view.messages for shown in message.showings]
    weights = (*front.weights, *(weigh(file, target) for file in shown))
    most = room(target, policy)
    half = (most[0] / 2, most[1] / 2, most[2] / 2, most[3] / 2)
    start, load = front.start, front.load
    for end in range(len(front.weights), len(weights)):
        load = _add(load, weights[end])
        if _fits(load, most):
            continue
        while start < end and not _fits(load, half):
            load = _add(load, weights[start], -1)
            start += 1
    return Front(weights, start, load)


def _add(load: Weight, weight: Weight, sign: int = 1) -> Weight:
    return (
        load[0] + sign * weight[0],
        load[1] + sign * weight[1],
        load[2] + sign * weight[2],
        load[3] + sign * weight[3],
    )


def _fits(load: Weight, most: tuple[float, float, float, float]) -> bool:
    return load[0] <= most[0] and load[1] <= most[1] and load[2] <= most[2] and load[3] <= most[3]
