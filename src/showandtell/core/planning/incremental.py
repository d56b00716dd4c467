"""What `plan()` remembers between steps, so that a later step only plans new messages.

Nothing here is ever invalidated. A cached plan is used only if its messages equal the start of the conversation, and
the next message is the assistant's: then no later message can change what comes before.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from msgspec import Struct

from showandtell.core.capabilities.cells import Target
from showandtell.core.messages.attachments import Attachment
from showandtell.core.messages.derivations import DerivationRequest, Derivations, Derivative, Failed
from showandtell.core.messages.message import Message
from showandtell.core.planning.eviction import EvictionState
from showandtell.core.planning.values import Entry, Policy, Receipt, View


class CachedPlan(Struct, frozen=True):
    """The plan of the start of a conversation, up to where the assistant speaks next. Nothing in it was refused.

    policy, known, messages, files: what it was planned from; `files` are the files that `messages` show, by number.
    sources: hashes of the files and of what they were converted to. counts: how often each file was shown.
    in_view: the numbers of the files in view.
    eviction: what each use costs, and which are in view. entries, receipts: the result.
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
        return len(self.eviction.uses)

    def rest(self, view: View) -> View:
        """The part of a view that follows this plan."""
        return View(view.messages[len(self.messages) :], view.attachments, view.answering, view.started)


EMPTY = CachedPlan()


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
