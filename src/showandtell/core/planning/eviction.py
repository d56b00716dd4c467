"""The first pass: which uses of files are in view. Old ones leave in large steps, so the start of the prompt is stable.

A pure function over all messages in order, whose text is counted, too. The first file in view only moves forward. If a
new group doesn't fit, older files leave until the rest fits half of what the text leaves of a request. Files of the
group itself leave only if they must.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from showandtell.core.capabilities.cells import Target
from showandtell.core.messages.derivations import Derivations
from showandtell.core.messages.message import Message
from showandtell.core.planning.conversions import UNLIMITED
from showandtell.core.planning.labels import format_size
from showandtell.core.planning.placement import Visibility
from showandtell.core.planning.sizes import message_size
from showandtell.core.planning.values import Policy, View
from showandtell.core.planning.weights import NOTHING, Use, Weight, add, optimistic_uses, text_weight, weigh

#: Bytes of a request that nothing else counts: cache marks, and options that change from step to step.
RESERVE = 2048


class RequestBudget(Struct, frozen=True):
    """What files may take of one request. Beyond `few_images` images, none may be large."""

    bytes: float
    images: float
    documents: float
    files: float
    few_images: float

    def without(self, size: int) -> RequestBudget:
        """What is left beside text of `size` bytes."""
        return replace(self, bytes=self.bytes - size)

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
    """What one request to a target may hold besides its head."""
    budget = target.budget
    return RequestBudget(
        UNLIMITED if budget.bytes is None else budget.bytes - policy.head_bytes - RESERVE,
        UNLIMITED if budget.images is None else budget.images,
        UNLIMITED if budget.documents is None else budget.documents,
        UNLIMITED if policy.max_in_context is None else policy.max_in_context,
        UNLIMITED if budget.few_images is None else budget.few_images,
    )


def describe_limit(full: RequestBudget, load: Weight, target: Target, policy: Policy) -> str:
    """Which limit a load exceeds, as text."""
    size, images, documents, files, large = load
    budget, request = target.budget, f"one request to {target.name} holds"
    if files > full.files:
        return f"max_in_context is {policy.max_in_context}"
    if images > full.images:
        return f"{request} {budget.images} images"
    if documents > full.documents:
        return f"{request} {budget.documents} documents"
    if large and images > full.few_images:
        return f"{request} {budget.few_images} images if one has more than {budget.many_side} pixels a side"
    alone = ", and the text alone exceeds that" if full.bytes < 0 else ""
    return f"{request} {format_size(budget.bytes or size)} with its text{alone}"


class EvictionState(Struct, frozen=True):
    """State after some messages.

    uses: all uses of files. start: the first use that may be in view. load: the cost of those in view.
    text: the bytes of all messages without files, if the target limits them.
    left_out: uses from `start` on that came together with too many others, with the bytes of the text that is sent
        instead; None: nothing is.
    limit: the limit that the last eviction was for.
    """

    uses: tuple[Use, ...] = ()
    start: int = 0
    load: Weight = NOTHING
    text: int = 0
    left_out: Mapping[int, int | None] = {}
    limit: str = ""

    def visibilities(self, first: int) -> list[Visibility]:
        """The visibility of each use from `first` on."""
        return [self._visibility(index) for index in range(first, len(self.uses))]

    def numbers_in_view(self, first: int) -> set[int]:
        """The numbers of the files that uses from `first` on bring into view."""
        indexes = range(max(first, self.start), len(self.uses))
        return {self.uses[index].number for index in indexes if index not in self.left_out}

    def _visibility(self, index: int) -> Visibility:
        if index >= self.start and index not in self.left_out:
            return Visibility(too_large=self.uses[index].too_large)
        return Visibility(in_view=False, limit=self.limit, text_only=self.left_out.get(index) is not None)


def first_in_view(view: View, target: Target, policy: Policy, known: Derivations | None = None) -> int:
    """The index of the first use in view, counting all uses of the conversation in order from 0."""
    return advance_eviction(EvictionState(), view, target, known or {}, policy).start


def advance_eviction(
    state: EvictionState, view: View, target: Target, known: Derivations, policy: Policy
) -> EvictionState:
    """Count the messages of a view, which follow those in `state`."""
    budget = request_budget(target, policy)
    uses, start, load, left_out, limit = list(state.uses), state.start, state.load, state.left_out, state.limit
    text, is_limited = state.text, target.budget.bytes is not None
    for group in groups(view):
        if is_limited:
            text += sum(message_size(message, view.attachments, target) for message in group)
        full, begin = budget.without(text), len(uses)
        shown = [use for message in group for use in optimistic_uses(message, view)]
        uses += (weigh(use, target, known, policy, full.bytes) for use in shown)
        load = add(load, added_load(uses, begin, start, left_out))
        if full.holds(load):
            continue
        limit = describe_limit(full, load, target, policy)
        start, load = evict(uses, start, begin, left_out, full.half)
        left_out = {index: size for index, size in left_out.items() if index >= start}
        if start == begin and not full.holds(load):
            texts = (text_weight(use, target, known, policy) for use in reversed(shown))
            load, left_out = leave_out(uses, begin, full, texts)
    return EvictionState(tuple(uses), start, load, text, left_out, limit)


def groups(view: View) -> Iterator[list[Message]]:
    """The messages whose files come together: one message, or an assistant's with all results of its step."""
    group: list[Message] = []
    for message in view.messages:
        if message.role != "tool" and group:
            yield group
            group = []
        group.append(message)
    yield group


def uses_in(message: Message) -> tuple[int, ...]:
    """The files that a message may show: its own, and those that its text refers to."""
    return (*(shown.number for shown in message.showings), *message.recalled)


def added_load(uses: Sequence[Use], begin: int, start: int, left_out: Mapping[int, int | None]) -> Weight:
    """What the uses from `begin` on add. Those that recall files count only if the file isn't in view."""
    load = NOTHING
    for index in range(begin, len(uses)):
        use = uses[index]
        earlier = range(start, index) if use.recalled else ()
        if not any(uses[at].number == use.number and at not in left_out for at in earlier):
            load = add(load, use.weight)
    return load


def evict(
    uses: Sequence[Use], start: int, begin: int, left_out: Mapping[int, int | None], half: RequestBudget
) -> tuple[int, Weight]:
    """The new first use in view and the load from there on: of the uses before `begin`, as many as fit half."""
    first, kept, load = len(uses), NOTHING, NOTHING
    recalls: dict[int, Weight] = {}
    for index in reversed(range(start, len(uses))):
        use = uses[index]
        if index in left_out:
            load = add(load, (left_out[index] or 0, 0, 0, 0, 0))
        else:
            load = add(add(load, recalls.pop(use.number, NOTHING), -1), use.weight)
            if use.recalled:
                recalls[use.number] = use.weight
        if index < begin and not half.holds(load):
            break
        first, kept = index, load
    return first, kept


def leave_out(
    uses: Sequence[Use], begin: int, full: RequestBudget, texts: Iterator[Weight | None]
) -> tuple[Weight, dict[int, int | None]]:
    """The load of the uses from `begin` on that fit, and the others, with the bytes of their text if that fits, too.

    The newest come first. `texts` are the weights of the uses' texts in the same order.
    """
    load = NOTHING
    left_out: dict[int, int | None] = {}
    newest_first = range(len(uses) - 1, begin - 1, -1)
    for index in newest_first:
        if full.holds(more := add(load, uses[index].weight)):
            load = more
        else:
            left_out[index] = None
    for index, weight in zip(newest_first, texts, strict=True):
        if index in left_out and weight is not None and full.holds(more := add(load, weight)):
            left_out[index], load = weight[0], more
    return load, left_out
