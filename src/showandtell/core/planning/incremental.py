"""What one step's plan leaves to the next, so that a run of many steps plans each of them for what is new alone.

Nothing here is ever invalidated: what was settled is used where it equals the start of the new conversation, and only
where the assistant speaks next, for then no later message can change what stands before.
"""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping
from typing import TypeAlias

from msgspec import Struct

from showandtell.core.capabilities.cells import Target
from showandtell.core.messages.attachments import Attachment
from showandtell.core.messages.derivations import DerivationRequest, Derivations, Derivative, Failed
from showandtell.core.messages.messages import Message
from showandtell.core.planning.eviction import EvictionState
from showandtell.core.planning.values import Entry, Policy, Receipt, View


class PlanCache(Struct, frozen=True):
    """A planned conversation behind which the assistant speaks, and in which nothing was refused.

    `nths` says how often each number was shown in it, `in_sight` which of them are in view.
    """

    policy: Policy = Policy()
    known: Mapping[DerivationRequest, Derivative | Failed] = {}
    messages: tuple[Message, ...] = ()
    files: Mapping[int, Attachment] = {}
    nths: Mapping[int, int] = {}
    in_sight: frozenset[int] = frozenset()
    front: EvictionState = EvictionState()
    entries: tuple[Entry, ...] = ()
    receipts: Mapping[int, Receipt] = {}

    def begins(self, view: View, known: Derivations, policy: Policy) -> bool:
        """Whether a view goes on where this one ends, all else being equal."""
        done = len(self.messages)
        return (
            view.messages[:done] == self.messages
            and (len(view.messages) == done or view.messages[done].role == "assistant")
            and policy == self.policy
            and self.known.items() <= known.items()
            and self.hashes.isdisjoint(want.sha256 for want in known.keys() - self.known.keys())
            and self.files.items() <= view.attachments.items()
        )

    @property
    def hashes(self) -> frozenset[str]:
        """The bytes that it shows: news of any others change nothing in it."""
        found = (file.facts or file.address for file in self.files.values())
        return frozenset(one.sha256 for one in found if one)

    @property
    def count(self) -> int:
        """How many showings it has."""
        return len(self.front.weights)

    def rest(self, view: View) -> View:
        """What a view has behind this one."""
        return View(view.messages[len(self.messages) :], view.attachments, view.answering, view.begun)


#: The newest plan for each target. Whoever asks for plans step by step keeps it.
PlanCaches: TypeAlias = MutableMapping[Target, PlanCache]
NOTHING = PlanCache()


def cached_plan(view: View, target: Target, known: Derivations, policy: Policy, kept: PlanCaches) -> PlanCache:
    """What is settled of a view; nothing where something before has changed."""
    found = kept.get(target, NOTHING)
    return found if found.begins(view, known, policy) else NOTHING
