"""The planner: from a stored conversation to entries and receipts. It reads no byte and waits for nothing."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence

from showandtell.core.capabilities.cells import Target
from showandtell.core.messages.attachments import Facts
from showandtell.core.messages.derivations import DerivationRequest, Derivations
from showandtell.core.planning.cache_marks import mark
from showandtell.core.planning.eviction import advance_eviction
from showandtell.core.planning.framing import frame
from showandtell.core.planning.incremental import NOTHING, PlanCache, PlanCaches, cached_plan
from showandtell.core.planning.placement import EarlierUses, Placement, place
from showandtell.core.planning.values import Plan, Policy, Receipt, View
from showandtell.errors import UnsupportedFile


def plan(view: View, target: Target, known: Derivations, policy: Policy, *, kept: PlanCaches | None = None) -> Plan:
    """Say where every file goes. Ask again with what `wants` names in `known`, until it wants nothing.

    Whoever plans step after step hands in the same `kept`: then only what is new is planned, with the same result.
    """
    before = cached_plan(view, target, known, policy, kept or {})
    front = advance_eviction(before.front, before.rest(view), target, policy)
    if front.start != before.front.start:
        before = NOTHING
    rest = before.rest(view)
    past = EarlierUses(before.nths, before.in_sight)
    first, crowded = front.start - before.count, front.crowded - before.count
    placements = place(rest, target, known, policy, first, past=past, crowded=crowded)
    wants = frozenset(placement.pending for placement in placements if placement.pending)
    if wants:
        return Plan((), (), wants)
    last = before.entries[-1] if before.entries else None
    entries = (*before.entries[:-1], *frame(rest, placements, target, policy, last))
    told = {**before.receipts, **receipts(placements)}
    refused = any(one.delivery == "refused" for one in placements)
    # Which message is answered decides no more than what is refused.
    if kept is not None and not refused and view.messages and view.messages[-1].role != "assistant":
        kept[target] = PlanCache(
            policy=policy,
            known=dict(known),
            messages=view.messages,
            files={**before.files, **{one.attachment.number: one.attachment for one in placements}},
            nths={**before.nths, **{one.attachment.number: one.nth for one in placements}},
            in_sight=before.in_sight | {one.attachment.number for one in placements if one.delivery != "listed"},
            front=front,
            entries=entries,
            receipts=told,
        )
    return Plan(entries, tuple(map(told.__getitem__, sorted(told))), wants, mark(entries, target, policy))


def receipts(placements: Sequence[Placement]) -> dict[int, Receipt]:
    """One receipt for each file; of a file that is shown twice, its newest showing counts."""
    newest = {placement.attachment.number: placement for placement in placements}
    return {number: receipt(placement) for number, placement in newest.items()}


def receipt(placement: Placement) -> Receipt:
    """What is told about one placement."""
    file, variant = placement.attachment, placement.variant
    text = variant.text if variant and variant.text is not None else ""
    size = sum(sent.size for sent in placement.files if isinstance(sent, Facts)) + len(text.encode())
    reason = placement.reason
    if file.corrected:
        reason += f"; it claimed to be {file.corrected} and is {file.media_type}"
    return Receipt(
        number=file.number,
        name=file.name,
        kind=file.kind,
        media_type=file.media_type,
        origin=str(file.origin),
        place=placement.place,
        delivery=placement.delivery,
        converted=variant is not None,
        reason=reason,
        cell=placement.cell,
        bytes=size,
        variant=variant,
        view=placement.view if variant is not None else None,
    )


def refuse(plan: Plan, target: Target) -> None:
    """Raise `UnsupportedFile` with every refused file at once, if there is any."""
    refused = [one for one in plan.receipts if one.delivery == "refused"]
    if refused:
        raise UnsupportedFile(target.name, [(f"{one.label} ({one.name})", one.reason) for one in refused])


def read_by(plan: Plan, view: View) -> list[Facts]:
    """The stored files whose bytes a plan sends."""
    found: list[Facts] = []
    for receipt in plan.receipts:
        if receipt.place is not None and receipt.cell is not None and receipt.cell.form == "inline":
            facts = view.attachments[receipt.number].facts
            found += receipt.variant.files if receipt.variant is not None else [facts] if facts else []
    return found


Load = Callable[[Iterable[DerivationRequest]], Awaitable[Derivations]]


async def prepare(
    view: View, target: Target, known: Derivations, load: Load, policy: Policy, *, kept: PlanCaches | None = None
) -> tuple[Plan, Derivations]:
    """Plan, load what is wanted, and plan again until nothing is; gives the plan and what was learnt on the way."""
    while (now := plan(view, target, known, policy, kept=kept)).wants:
        known = {**known, **await load(now.wants)}
    return now, known
