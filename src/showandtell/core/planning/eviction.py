"""The first pass: which uses of files are in view. Old ones leave in large steps, so the start of the prompt is stable.

A pure function over all messages in order, whose text is counted, too. Bytes, tokens and numbers of files are limits of
one decision. The first file in view only moves forward. If a new group doesn't fit, older files leave until the rest
fits half of what the text leaves of a request: tools' files before users', and those of the newest user message, which
its text may name, only if they must. So do files of the group itself.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain

from msgspec import Struct
from msgspec.structs import replace

from showandtell.core.capabilities.cells import Target
from showandtell.core.messages.derivations import Derivations
from showandtell.core.messages.message import Message, starts_turn
from showandtell.core.planning.conversions import UNLIMITED
from showandtell.core.planning.labels import format_size
from showandtell.core.planning.sizes import message_size
from showandtell.core.planning.token_estimates import text_tokens
from showandtell.core.planning.uses import Visibility
from showandtell.core.planning.values import Policy, View
from showandtell.core.planning.weights import NOTHING, Use, Weight, add, optimistic_uses, text_only, text_weight, weigh

#: Bytes of a request that nothing else counts: cache marks, and options that change from step to step.
RESERVE = 2048
#: The part of `context_share` that files may take even if text takes the rest, so that they still leave in large steps.
MIN_SHARE = 0.25
#: The part of the window that files of one step may take with the text: they are new, so the share doesn't limit them.
NEWEST_SHARE = 0.9


class RequestBudget(Struct, frozen=True):
    """What files may take of one request. Beyond `few_images` images, none may be large.

    min_tokens: what files may take of the tokens, however long the text is.
    """

    bytes: float
    images: float
    documents: float
    files: float
    few_images: float
    tokens: float
    min_tokens: float

    def without(self, size: int) -> RequestBudget:
        """What is left beside text of `size` bytes."""
        tokens = max(self.tokens - text_tokens(size), self.min_tokens)
        return replace(self, bytes=self.bytes - size, tokens=tokens)

    @property
    def half(self) -> RequestBudget:
        """What stays in view after an eviction."""
        return replace(
            self,
            bytes=self.bytes / 2,
            images=self.images / 2,
            documents=self.documents / 2,
            files=self.files / 2,
            tokens=self.tokens / 2,
        )

    def holds(self, load: Weight) -> bool:
        """Whether a load fits."""
        size, images, documents, files, large, tokens = load
        return (
            size <= self.bytes
            and images <= self.images
            and documents <= self.documents
            and files <= self.files
            and tokens <= self.tokens
            and (images <= self.few_images or not large)
        )


def request_budget(target: Target, policy: Policy, scale: float = 1.0) -> RequestBudget:
    """What one request to a target may hold besides its head.

    `scale` is how many tokens the model counts for one that is estimated.
    """
    budget, share = target.budget, policy.context_share
    held = UNLIMITED if target.window is None or share is None else target.window.tokens * share / scale
    return RequestBudget(
        UNLIMITED if budget.bytes is None else budget.bytes - policy.head_bytes - RESERVE,
        UNLIMITED if budget.images is None else budget.images,
        UNLIMITED if budget.documents is None else budget.documents,
        UNLIMITED if policy.max_in_context is None else policy.max_in_context,
        UNLIMITED if budget.few_images is None else budget.few_images,
        held - text_tokens(policy.head_bytes),
        held * MIN_SHARE,
    )


def with_share(policy: Policy) -> Policy:
    """The policy for the files of one step, which may take more of the window than older ones leave."""
    return replace(policy, context_share=max(policy.context_share or 0, NEWEST_SHARE))


def describe_limit(full: RequestBudget, load: Weight, target: Target, policy: Policy) -> str:
    """Which limit a load exceeds, as text."""
    size, images, documents, files, large, tokens = load
    budget, request = target.budget, f"one request to {target.name} holds"
    if files > full.files:
        return f"max_in_context is {policy.max_in_context}"
    if images > full.images:
        return f"{request} {budget.images} images"
    if documents > full.documents:
        return f"{request} {budget.documents} documents"
    if large and images > full.few_images:
        return f"{request} {budget.few_images} images if one has more than {budget.many_side} pixels a side"
    if tokens > full.tokens and target.window is not None:
        held = f"{target.window.tokens:,} tokens of {target.name}"
        return f"context_share is {policy.context_share:g} of the {held}, its text included"
    alone = ", and the text alone exceeds that" if full.bytes < 0 else ""
    return f"{request} {format_size(budget.bytes or size)} with its text{alone}"


class EvictionState(Struct, frozen=True):
    """State after some messages.

    uses: all uses of files. start: the first use that may be in view. kept: earlier uses that are.
    turn: the first use that belongs to the newest user message, or comes after it. newest: the first of the last group.
    load: the cost of those in view. text: the bytes of all messages without files.
    left_out: uses from `start` on that came together with too many others, with the bytes of the text that is sent
        instead; None: nothing is.
    limit: the limit that the last eviction was for.
    """

    uses: tuple[Use, ...] = ()
    start: int = 0
    kept: frozenset[int] = frozenset()
    turn: int = 0
    newest: int = 0
    load: Weight = NOTHING
    text: int = 0
    left_out: Mapping[int, int | None] = {}
    limit: str = ""

    def visibilities(self, first: int, end: int) -> list[Visibility]:
        """The visibility of each use from `first` up to `end`."""
        return [self._visibility(index) for index in range(first, end)]

    def numbers_in_view(self, first: int, end: int) -> frozenset[int]:
        """The numbers of the files that uses from `first` up to `end` bring into view."""
        indexes = (*self.kept, *range(max(first, self.start), end))
        return frozenset(self.uses[at].number for at in indexes if first <= at < end and at not in self.left_out)

    def changes(self, other: EvictionState) -> range | None:
        """Where uses that both have are in view, or not, in one alone; None if nowhere."""
        if (self.start, self.kept, self.limit) == (other.start, other.kept, other.limit):
            return None
        first = min((other.start, *(self.kept ^ other.kept))) if self.limit == other.limit else 0
        shared = range(first, len(other.uses))
        changed = [at for at in shared if self._visibility(at) != other._visibility(at)]
        return range(changed[0], changed[-1] + 1) if changed else None

    def tokens(self, policy: Policy) -> int:
        """The estimated tokens of the request."""
        return text_tokens(policy.head_bytes + self.text) + self.load[5]

    def _visibility(self, index: int) -> Visibility:
        if (index >= self.start or index in self.kept) and index not in self.left_out:
            return Visibility(too_large=self.uses[index].too_large)
        return Visibility(in_view=False, limit=self.limit, text_only=self.left_out.get(index) is not None)


def first_in_view(view: View, target: Target, policy: Policy, known: Derivations | None = None) -> int:
    """The index of the first use from which on all are in view, counting those of the conversation in order from 0."""
    return advance_eviction(EvictionState(), view, target, known or {}, policy).start


def advance_eviction(
    state: EvictionState, view: View, target: Target, known: Derivations, policy: Policy, *, scale: float = 1.0
) -> EvictionState:
    """Count the messages of a view, which follow those in `state`. `scale` is as in `request_budget`."""
    budget = request_budget(target, policy, scale)
    widest = budget if policy.context_share is None else request_budget(target, with_share(policy), scale)
    uses, start, kept, load, left_out = list(state.uses), state.start, state.kept, state.load, state.left_out
    turn, newest, text, limit = state.turn, state.newest, state.text, state.limit
    for group in groups(view):
        text += sum(message_size(message, view.attachments, target) for message in group)
        full, begin, is_turn = budget.without(text), len(uses), bool(group) and starts_turn(group[0])
        newest = begin if group else newest
        turn = begin if is_turn else turn
        shown = [use for message in group for use in optimistic_uses(message, view)]
        uses += (weigh(use, target, known, policy, full.bytes) for use in shown)
        load = add(load, added_load(uses, begin, chain(kept, range(start, begin)), left_out))
        if full.holds(load):
            continue
        limit = describe_limit(full, load, target, policy)
        largest = replace(full, tokens=UNLIMITED if is_turn else widest.without(text).tokens)
        start, kept = evict(
            EvictionState(tuple(uses), start, kept, turn, newest, left_out=left_out), full.half, largest
        )
        left_out = {index: size for index, size in left_out.items() if index >= start}
        load = load_of(uses, (*kept, *range(start, len(uses))), left_out)
        if start == begin and not kept and not largest.holds(load):
            texts = (text_weight(use, target, known, policy) for use in reversed(shown))
            load, left_out = leave_out(uses, begin, largest, texts)
    return EvictionState(tuple(uses), start, kept, turn, newest, load, text, left_out, limit)


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


def added_load(uses: Sequence[Use], begin: int, earlier: Iterable[int], left_out: Mapping[int, int | None]) -> Weight:
    """What the uses from `begin` on add. Those that recall files count only if the file isn't in view."""
    recalls = any(use.recalled for use in uses[begin:])
    seen = {uses[index].number for index in earlier if index not in left_out} if recalls else set[int]()
    load = NOTHING
    for use in uses[begin:]:
        if not (use.recalled and use.number in seen):
            load = add(load, use.weight)
        seen.add(use.number)
    return load


def load_of(uses: Sequence[Use], indexes: Iterable[int], left_out: Mapping[int, int | None]) -> Weight:
    """What these uses cost together."""
    load, seen = NOTHING, set[int]()
    for index in sorted(indexes):
        use = uses[index]
        if index in left_out:
            load = add(load, text_only(left_out[index] or 0))
            continue
        if not (use.recalled and use.number in seen):
            load = add(load, use.weight)
        seen.add(use.number)
    return load


def evict(state: EvictionState, half: RequestBudget, largest: RequestBudget) -> tuple[int, frozenset[int]]:
    """The new first use in view, and earlier ones that stay. The newest group stays whole.

    Files of users' messages stay if they fit half of `half`, so that others have room, or else those of the newest one
    if they fit `largest`. Of the other uses, as many stay as fit `half`.
    """
    uses, begin = state.uses, state.newest
    earlier = [*state.kept, *(at for at in range(state.start, begin) if at not in state.left_out)]
    asked = frozenset(at for at in earlier if uses[at].asked)
    named = frozenset(at for at in asked if at >= state.turn)

    def load(start: int, kept: frozenset[int]) -> Weight:
        return load_of(uses, kept.union(range(start, len(uses))), state.left_out)

    kept = next(
        (files for files, limit in ((asked, half.half), (named, largest)) if files and limit.holds(load(begin, files))),
        frozenset[int](),
    )
    starts = range(state.start, begin)
    start = state.start + bisect_left(starts, x=True, key=lambda start: half.holds(load(start, kept)))
    return start, frozenset(at for at in kept if at < start)


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
