"""What `plan()` remembers between steps, so that a later step only plans new messages.

Nothing here is ever invalidated. A cached plan is used only if its messages equal the start of the conversation, and
the next message is the assistant's: then no later message can change what comes before. It consists of parts, which
end like that, too. When files leave the view, only the parts from the first of them on are planned again.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from msgspec import Struct
from msgspec.structs import replace

from showandtell.core.capabilities.cells import Target
from showandtell.core.messages.attachments import Attachment
from showandtell.core.messages.derivations import DerivationRequest, Derivations, Derivative, Failed
from showandtell.core.messages.message import Message
from showandtell.core.planning.eviction import EvictionState
from showandtell.core.planning.values import Entry, Policy, Receipt, View


class PlannedPart(Struct, frozen=True):
    """What some messages in a row have added to a plan.

    messages, uses, entries: how many the plan has up to its end. last: the last entry by then, which may have grown.
    counts, in_view, receipts: as in `CachedPlan`, of this part alone. recalls: whether its texts refer to files.
    """

    messages: int
    uses: int
    entries: int
    last: Entry | None
    counts: Mapping[int, int]
    in_view: frozenset[int]
    receipts: Mapping[int, Receipt]
    recalls: bool


class CachedPlan(Struct, frozen=True):
    """The plan of the start of a conversation, up to where the assistant speaks next. Nothing in it was refused.

    policy, known, messages, files: what it was planned from; `files` are the files that `messages` show, by number.
    sources: hashes of the files and of what they were converted to. counts: how often each file was shown.
    in_view: the numbers of the files in view.
    eviction: what each use costs, and which are in view. entries, receipts: the result. parts: what it consists of.
    """

    policy: Policy = Policy()
    known: Mapping[DerivationRequest, Derivative | Failed] = {}
    messages: tuple[Message, ...] = ()
    files: Mapping[int, Attachment] = {}
    sources: frozenset[str] = frozenset()
    counts: Mapping[int, int] = {}
    in_view: frozenset[int] = frozenset()
    eviction: EvictionState = EvictionState()
    entries: tuple[Entry, ...] = ()
    receipts: Mapping[int, Receipt] = {}
    parts: tuple[PlannedPart, ...] = ()

    def is_start_of(self, view: View, known: Derivations, policy: Policy) -> bool:
        """Whether a view continues this plan, with the same policy and no new facts about its files."""
        done = len(self.messages)
        return (
            view.messages[:done] == self.messages
            and (len(view.messages) == done or view.messages[done].role == "assistant")
            and policy == self.policy
            and self.known.items() <= known.items()
            and self.sources.isdisjoint(request.sha256 for request in known.keys() - self.known.keys())
            and self.files.items() <= view.attachments.items()
        )

    @property
    def use_count(self) -> int:
        """How many times a file is shown in it."""
        return self.parts[-1].uses if self.parts else 0

    def before(self, use: int) -> CachedPlan:
        """The plan of the parts before a use of a file."""
        parts = self.parts[: self._part_of(use)]
        if not parts:
            return EMPTY
        counts, in_view, receipts = merge(parts)
        end = parts[-1]
        return replace(
            self,
            messages=self.messages[: end.messages],
            counts=counts,
            in_view=in_view,
            entries=(*self.entries[: end.entries - 1], end.last) if end.last is not None else (),
            receipts=receipts,
            parts=parts,
        )

    def after(self, first: int, last: int) -> tuple[PlannedPart, ...]:
        """The parts that stay as they are if uses from `first` to `last` change: those after these, or none at all."""
        begin, at = self._part_of(first), self._part_of(last)
        end = self.parts[at]
        is_own_entry = end.last is not None and end.last is self.entries[end.entries - 1]
        return self.parts[at + 1 :] if is_own_entry and not any(part.recalls for part in self.parts[begin:]) else ()

    def followed_by(self, other: CachedPlan, parts: tuple[PlannedPart, ...]) -> CachedPlan:
        """This plan, and then the last parts of another one, which has the same messages before them."""
        start = other.parts[-len(parts) - 1].entries
        shift = len(self.entries) - start
        counts, in_view, receipts = merge((*self.parts, *parts))
        return replace(
            self,
            messages=other.messages,
            files=other.files,
            sources=self.sources | other.sources,
            counts=counts,
            in_view=in_view,
            entries=self.entries + other.entries[start:],
            receipts=receipts,
            parts=self.parts + tuple(replace(part, entries=part.entries + shift) for part in parts),
        )

    def _part_of(self, use: int) -> int:
        return bisect_right(self.parts, use, key=lambda part: part.uses)

    def rest(self, view: View) -> View:
        """The part of a view that follows this plan."""
        return View(view.messages[len(self.messages) :], view.attachments, view.answering, view.started)


EMPTY = CachedPlan()


def merge(parts: Iterable[PlannedPart]) -> tuple[dict[int, int], frozenset[int], dict[int, Receipt]]:
    """The counts, the files in view and the receipts of parts."""
    counts, in_view, receipts = dict[int, int](), set[int](), dict[int, Receipt]()
    for part in parts:
        counts |= part.counts
        in_view |= part.in_view
        receipts |= part.receipts
    return counts, frozenset(in_view), in_order(receipts)


def in_order(receipts: dict[int, Receipt]) -> dict[int, Receipt]:
    """Receipts in the order of their files' numbers."""
    numbers = list(receipts)
    ordered = sorted(numbers)
    return receipts if numbers == ordered else {number: receipts[number] for number in ordered}


@dataclass(frozen=True, slots=True)
class PlanCache:
    """What `plan()` remembers of one conversation between steps.

    plans: the newest plan for each target.
    """

    plans: dict[Target, CachedPlan] = field(default_factory=dict[Target, CachedPlan])

    def find(self, view: View, target: Target, known: Derivations, policy: Policy) -> CachedPlan:
        """The plan of the start of a view, or `EMPTY` if anything in it has changed."""
        cached = self.plans.get(target, EMPTY)
        return cached if cached.is_start_of(view, known, policy) else EMPTY

    def count(self, target: Target) -> int:
        """The number of messages that are planned for a target."""
        return len(self.plans.get(target, EMPTY).messages)

    def store(self, target: Target, plan: CachedPlan) -> None:
        """Replace the plan for a target."""
        self.plans[target] = plan
