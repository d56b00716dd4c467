"""The first pass: which showings are in view. Old ones leave in large steps, so that the prompt's start stays put.

A pure fold over the showings in order. It counts original sizes, so conversions can't move it; it only moves forward.
Older files make room for half a budget at once; those that come at once leave only as far as they must.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from msgspec import Struct

from showandtell.core.capabilities.cells import Capability, Place, Target
from showandtell.core.messages.attachments import Address, Attachment, Facts
from showandtell.core.messages.messages import Message
from showandtell.core.planning.conversions import ENDLESS, bytes_for_files, encoded, heaviest, misshapen, takes
from showandtell.core.planning.values import Policy, View

EVERYWHERE: tuple[Place, ...] = ("tool_result", "user")

#: What showings cost: bytes of base64, images, documents, their count, and images of many pixels.
Weight = tuple[int, int, int, int, int]
NOTHING: Weight = (0, 0, 0, 0, 0)


class RequestBudget(Struct, frozen=True):
    """What one request may hold. Beyond `few` images, none may be large."""

    bytes: float
    images: float
    documents: float
    files: float
    few: float

    @property
    def half(self) -> RequestBudget:
        """What is left in view when older files leave."""
        return RequestBudget(self.bytes / 2, self.images / 2, self.documents / 2, self.files / 2, self.few / 2)

    def holds(self, load: Weight) -> bool:
        """Whether so much fits."""
        size, images, documents, files, large = load
        return (
            size <= self.bytes
            and images <= self.images
            and documents <= self.documents
            and files <= self.files
            and (images <= self.few or not large)
        )


def request_budget(target: Target, policy: Policy) -> RequestBudget:
    """What one request to a target may hold."""
    budget = target.budget
    return RequestBudget(
        bytes_for_files(target),
        ENDLESS if budget.images is None else budget.images,
        ENDLESS if budget.documents is None else budget.documents,
        ENDLESS if policy.focus is None else policy.focus,
        ENDLESS if budget.few_images is None else budget.few_images,
    )


def weigh(file: Attachment, target: Target, policy: Policy) -> Weight:
    """What showing a file costs at most, as it is or converted; one that will not be sent in any form costs nothing."""
    whole = file.facts or (file.address if policy.fetch else None)
    return NOTHING if whole is None else weigh_bytes(whole, target)


@lru_cache(maxsize=4096)
def weigh_bytes(file: Facts | Address, target: Target) -> Weight:
    """The same of its bytes, or of those at its address."""
    if isinstance(file, Facts) and any(has_files(cell, file, target) for cell in target.cells):
        side = target.budget.many_side
        large = side is not None and file.pixels is not None and max(file.pixels) > side
        return (encoded(file.size), int(file.kind == "image"), int(file.kind == "document"), 1, int(large))
    load = heaviest(file, target, EVERYWHERE)
    return (encoded(load.bytes), load.pictures, load.documents, 1, 0) if load.bytes else NOTHING


def has_files(cell: Capability, file: Facts, target: Target) -> bool:
    """Whether a file may stand in a cell as it is."""
    return (
        cell.form == "inline"
        and cell.takes(file.media_type)
        and takes(cell)
        and (cell.limits.bytes is None or file.size <= cell.limits.bytes)
        and encoded(file.size) <= bytes_for_files(target)
        and misshapen(cell.limits, file) is None
    )


class EvictionState(Struct, frozen=True):
    """The frontier behind some showings: what each weighs, the first in view, and the weight of those in view.

    From `crowded` to `start` stand those that came with the first in view, and were too many at once.
    """

    weights: tuple[Weight, ...] = ()
    start: int = 0
    load: Weight = NOTHING
    crowded: int = 0


def first_in_view(view: View, target: Target, policy: Policy) -> int:
    """The index of the first showing in view, counting all showings of the conversation in order from 0."""
    return advance_eviction(EvictionState(), view, target, policy).start


def advance_eviction(front: EvictionState, view: View, target: Target, policy: Policy) -> EvictionState:
    """The frontier behind the showings of a view, which follow those that `front` has counted."""
    whole = request_budget(target, policy)
    half = whole.half
    weights, start, load, crowded = list(front.weights), front.start, front.load, front.crowded
    for group in groups(view, target, policy):
        begin = len(weights)
        for weight in group:
            weights.append(weight)
            load = _add(load, weight)
        if whole.holds(load):
            continue
        while start < begin and not half.holds(load):
            load = _add(load, weights[start], -1)
            start += 1
        crowded = start
        while start < len(weights) and not whole.holds(load):
            load = _add(load, weights[start], -1)
            start += 1
    return EvictionState(tuple(weights), start, load, crowded)


def groups(view: View, target: Target, policy: Policy) -> Iterator[list[Weight]]:
    """The weights of showings that come at once: those of one message, or of all results of one step."""
    group: list[Weight] = []
    for message in view.messages:
        if message.role != "tool":
            yield group
            group = []
        group += [weigh(view.attachments[number], target, policy) for number in uses_in(message)]
    yield group


def uses_in(message: Message) -> tuple[int, ...]:
    """The files that a message may show: its own, and those that its words point at."""
    return (*(shown.number for shown in message.showings), *message.recalled)


def _add(load: Weight, weight: Weight, sign: int = 1) -> Weight:
    return (
        load[0] + sign * weight[0],
        load[1] + sign * weight[1],
        load[2] + sign * weight[2],
        load[3] + sign * weight[3],
        load[4] + sign * weight[4],
    )
