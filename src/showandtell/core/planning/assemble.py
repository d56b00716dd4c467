"""Assembles a plan from parts: those that a cached plan has already, and those that are placed and framed now."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from showandtell.core.capabilities.cells import Target
from showandtell.core.messages.derivations import DerivationRequest, Derivations
from showandtell.core.messages.message import Message
from showandtell.core.planning.containers import in_container
from showandtell.core.planning.eviction import EvictionState, uses_in
from showandtell.core.planning.framing import frame
from showandtell.core.planning.incremental import CachedPlan, PlannedPart, in_order
from showandtell.core.planning.placement import Placement, place
from showandtell.core.planning.receipts import make_receipts
from showandtell.core.planning.uses import EarlierUses
from showandtell.core.planning.values import Policy, View

#: The least number of messages of a part of a conversation of which files have left the view, but for its last part.
PART_LENGTH = 32


@dataclass(slots=True)
class Assembly:
    """Plans parts of a view.

    `wants` are derivations that are needed first, `for_now` whether the plan holds for this turn alone.
    """

    view: View
    target: Target
    known: Derivations
    policy: Policy
    eviction: EvictionState
    wants: set[DerivationRequest] = field(default_factory=set[DerivationRequest])
    for_now: bool = False

    def evict(self, cached: CachedPlan) -> CachedPlan:
        """A cached plan in which files have left the view. Only parts with these files are planned again, if possible.

        Else the plan of what comes before them.
        """
        changed = self.eviction.changes(cached.eviction)
        if changed is None:
            return cached
        begin, stay = cached.before(changed.start), cached.after(changed.start, changed.stop - 1)
        if not stay:
            return begin
        end = cached.parts[-len(stay) - 1]
        planned = self.extend(begin, end.messages, end.uses)
        if self.wants or not planned.entries or planned.entries[-1].role != cached.entries[end.entries - 1].role:
            return begin
        return planned.followed_by(cached, stay)

    def extend(self, cached: CachedPlan, end: int, uses: int) -> CachedPlan:
        """The plan up to a message and a use of a file. If something is wanted, the cached plan."""
        begin, first = len(cached.messages), cached.use_count
        earlier = EarlierUses(cached.counts, cached.in_view)
        visibilities = self.eviction.visibilities(first, uses)
        placed, positions = place(
            self.view, self.target, self.known, self.policy, visibilities, earlier=earlier, messages=range(begin, end)
        )
        placements = in_container(placed, self.target, self.known, self.policy)
        self.wants.update(placement.pending for placement in placements if placement.pending)
        self.for_now = self.for_now or any(placement.is_for_now for placement in placements)
        return cached if self.wants else self.add(cached, placements, positions, end=end, uses=uses)

    def add(
        self, cached: CachedPlan, placements: Sequence[Placement], positions: Sequence[int], *, end: int, uses: int
    ) -> CachedPlan:
        """A plan with the messages up to `end`, whose files are placed."""
        entries, parts, messages = list(cached.entries), list(cached.parts), self.view.messages
        files, counts, receipts = dict(cached.files), dict(cached.counts), dict(cached.receipts)
        sources, in_view = set(cached.sources), set(cached.in_view)
        start, first, begin = len(cached.messages), cached.use_count, 0
        for stop in part_ends(messages, start, end) if self.eviction.limit else [end]:
            after = bisect_right(positions, stop - 1)
            own, last = placements[begin:after], entries[-1] if entries else None
            entries[-1:] = frame(View(messages[start:stop], self.view.attachments), own, self.target, self.policy, last)
            until = uses if stop == end else first + sum(len(uses_in(message)) for message in messages[start:stop])
            shown = {placement.attachment.number: placement for placement in own}
            part = PlannedPart(
                messages=stop,
                uses=until,
                entries=len(entries),
                last=entries[-1] if entries else None,
                counts={number: placement.nth for number, placement in shown.items()},
                in_view=self.eviction.numbers_in_view(first, until),
                receipts=make_receipts(own),
                recalls=any(use.recalled for use in self.eviction.uses[first:until]),
            )
            start, first, begin = stop, until, after
            parts.append(part)
            files |= {number: placement.attachment for number, placement in shown.items()}
            sources.update(*map(sources_of, own))
            counts |= part.counts
            receipts |= part.receipts
            in_view |= part.in_view
        return CachedPlan(
            messages=messages[:end],
            files=files,
            sources=frozenset(sources),
            counts=counts,
            in_view=frozenset(in_view),
            entries=tuple(entries),
            receipts=in_order(receipts),
            parts=tuple(parts),
        )


def sources_of(placement: Placement) -> set[str]:
    """The hashes of a file and of what is sent of it: what is learned about any of them may change the placement."""
    file = placement.attachment
    return {source.sha256 for source in (file.facts, file.address, *placement.files) if source is not None}


def part_ends(messages: Sequence[Message], start: int, end: int) -> Iterator[int]:
    """Where parts end: before a message of the assistant that follows another's, and at the end."""
    for at in range(start + 1, end):
        is_end = messages[at].role == "assistant" and messages[at - 1].role != "assistant"
        if is_end and at - start >= PART_LENGTH:
            yield at
            start = at
    yield end
