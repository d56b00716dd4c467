"""The first pass: which uses of files are in view. Old ones leave in large steps, so the start of the prompt is stable.

A pure function over all uses in order. It counts original sizes, so conversions don't affect it, and the first file in
view only moves forward. If a new group doesn't fit, older files leave until the rest fits half the budget. Files of the
group itself leave only as far as necessary.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from msgspec import Struct

from showandtell.core.capabilities.cells import Capability, Place, Target
from showandtell.core.messages.attachments import Address, Attachment, Facts
from showandtell.core.messages.message import Message
from showandtell.core.planning.conversions import (
    UNLIMITED,
    base64_length,
    bytes_for_files,
    is_usable,
    max_load,
    shape_problem,
)
from showandtell.core.planning.values import Policy, View

BOTH_PLACES: tuple[Place, ...] = ("tool_result", "user")

#: What uses of files cost: base64 bytes, images, documents, files, and large images.
Weight = tuple[int, int, int, int, int]
NOTHING: Weight = (0, 0, 0, 0, 0)


class RequestBudget(Struct, frozen=True):
    """What one request may hold. Beyond `few_images` images, none may be large."""

    bytes: float
    images: float
    documents: float
    files: float
    few_images: float

    @property
    def half(self) -> RequestBudget:
        """What stays in view after an eviction."""
        return RequestBudget(self.bytes / 2, self.images / 2, self.documents / 2, self.files / 2, self.few_images / 2)

    def holds(self, load: Weight) -> bool:
        """Whether a load fits."""
        size, images, documents, files, large = load
        return (
            size <= self.bytes
            and images <= self.images
            and documents <= self.documents
            and files <= self.files
            and (images <= self.few_images or not large)
        )


def request_budget(target: Target, policy: Policy) -> RequestBudget:
    """What one request to a target may hold."""
    budget = target.budget
    return RequestBudget(
        bytes_for_files(target),
        UNLIMITED if budget.images is None else budget.images,
        UNLIMITED if budget.documents is None else budget.documents,
        UNLIMITED if policy.max_in_context is None else policy.max_in_context,
        UNLIMITED if budget.few_images is None else budget.few_images,
    )


def weigh(file: Attachment, target: Target, policy: Policy) -> Weight:
    """The maximum cost of a file, as it is or converted. A file that isn't sent in any form costs nothing."""
    source = file.facts or (file.address if policy.fetch else None)
    return NOTHING if source is None or file.audience == "user" else weigh_source(source, target)


@lru_cache(maxsize=4096)
def weigh_source(file: Facts | Address, target: Target) -> Weight:
    """The maximum cost of stored bytes, or of the bytes at an address."""
    if isinstance(file, Facts) and any(fits_inline(cell, file, target) for cell in target.cells):
        side = target.budget.many_side
        large = side is not None and file.pixels is not None and max(file.pixels) > side
        return (base64_length(file.size), int(file.kind == "image"), int(file.kind == "document"), 1, int(large))
    load = max_load(file, target, BOTH_PLACES)
    return (base64_length(load.bytes), load.images, load.documents, 1, 0) if load.bytes else NOTHING


def fits_inline(cell: Capability, file: Facts, target: Target) -> bool:
    """Whether a cell accepts a file as it is."""
    return (
        cell.form == "inline"
        and cell.takes(file.media_type)
        and is_usable(cell)
        and (cell.limits.bytes is None or file.size <= cell.limits.bytes)
        and base64_length(file.size) <= bytes_for_files(target)
        and shape_problem(cell.limits, file) is None
    )


class EvictionState(Struct, frozen=True):
    """State after some uses of files.

    weights: the cost of each use. start: the first use in view. load: the cost of those in view.
    crowded: uses from `crowded` to `start` came together with the first in view, and didn't all fit.
    """

    weights: tuple[Weight, ...] = ()
    start: int = 0
    load: Weight = NOTHING
    crowded: int = 0


def first_in_view(view: View, target: Target, policy: Policy) -> int:
    """The index of the first use in view, counting all uses of the conversation in order from 0."""
    return advance_eviction(EvictionState(), view, target, policy).start


def advance_eviction(eviction: EvictionState, view: View, target: Target, policy: Policy) -> EvictionState:
    """Count the uses of a view, which follow those in `eviction`."""
    full = request_budget(target, policy)
    half = full.half
    weights, start, load, crowded = list(eviction.weights), eviction.start, eviction.load, eviction.crowded
    for group in groups(view, target, policy):
        begin = len(weights)
        for weight in group:
            weights.append(weight)
            load = _add(load, weight)
        if full.holds(load):
            continue
        while start < begin and not half.holds(load):
            load = _add(load, weights[start], -1)
            start += 1
        crowded = start
        while start < len(weights) and not full.holds(load):
            load = _add(load, weights[start], -1)
            start += 1
    return EvictionState(tuple(weights), start, load, crowded)


def groups(view: View, target: Target, policy: Policy) -> Iterator[list[Weight]]:
    """The weights of uses that come together: those of one message, or of all results of one step."""
    group: list[Weight] = []
    for message in view.messages:
        if message.role != "tool":
            yield group
            group = []
        group += [weigh(view.attachments[number], target, policy) for number in uses_in(message)]
    yield group


def uses_in(message: Message) -> tuple[int, ...]:
    """The files that a message may show: its own, and those that its text refers to."""
    return (*(shown.number for shown in message.showings), *message.recalled)


def _add(load: Weight, weight: Weight, sign: int = 1) -> Weight:
    return (
        load[0] + sign * weight[0],
        load[1] + sign * weight[1],
        load[2] + sign * weight[2],
        load[3] + sign * weight[3],
        load[4] + sign * weight[4],
    )
