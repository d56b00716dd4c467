"""The planner: turns a stored conversation into entries and receipts. It reads no file and never waits."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from functools import partial

from showandtell.core.capabilities.cells import Target
from showandtell.core.messages.attachments import Facts
from showandtell.core.messages.derivations import DerivationRequest, Derivations
from showandtell.core.planning.cache_marks import mark_prefixes
from showandtell.core.planning.containers import in_container
from showandtell.core.planning.eviction import advance_eviction
from showandtell.core.planning.framing import frame
from showandtell.core.planning.incremental import EMPTY, CachedPlan, PlanCache
from showandtell.core.planning.placement import EarlierUses, Placement, place
from showandtell.core.planning.values import Plan, Policy, Receipt, View
from showandtell.errors import UnsupportedFile


def plan(
    view: View,
    target: Target,
    known: Derivations,
    policy: Policy,
    *,
    cache: PlanCache | None = None,
    scale: float = 1.0,
) -> Plan:
    """Decide where every file goes. Add what `wants` names to `known` and plan again, until `wants` is empty.

    Pass the same `cache` at each step of a conversation: the plan is the same, but only new messages are planned.
    `scale` is how many tokens the model has counted for one that was estimated. A new one affects what leaves next.
    """
    cached = EMPTY if cache is None else cache.find(view, target, known, policy)
    eviction = advance_eviction(cached.eviction, cached.rest(view), target, known, policy, scale=scale)
    if not eviction.shows_as(cached.eviction):
        cached = EMPTY
    rest = cached.rest(view)
    earlier = EarlierUses(cached.counts, cached.in_view)
    visibilities = eviction.visibilities(cached.use_count)
    placements = in_container(place(rest, target, known, policy, visibilities, earlier=earlier), target, known, policy)
    wants = frozenset(placement.pending for placement in placements if placement.pending)
    if wants:
        return Plan((), (), wants)
    last = cached.entries[-1] if cached.entries else None
    entries = (*cached.entries[:-1], *frame(rest, placements, target, policy, last))
    receipts = {**cached.receipts, **make_receipts(placements)}
    refused = any(placement.delivery == "refused" for placement in placements)
    # `View.answering` only affects what is refused, so a plan without refusals holds for any later view.
    if cache is not None and not refused and view.messages and view.messages[-1].role != "assistant":
        shown = {placement.attachment.number: placement for placement in placements}
        newest = CachedPlan(
            policy=policy,
            known=dict(known),
            messages=view.messages,
            files={**cached.files, **{number: placement.attachment for number, placement in shown.items()}},
            sources=cached.sources.union(*map(sources_of, placements)),
            counts={**cached.counts, **{number: placement.nth for number, placement in shown.items()}},
            in_view=cached.in_view | eviction.numbers_in_view(cached.use_count),
            eviction=eviction,
            entries=entries,
            receipts=receipts,
        )
        cache.store(target, newest)
    marks = mark_prefixes(entries, target, policy)
    sorted_receipts = tuple(receipts[number] for number in sorted(receipts))
    return Plan(entries, sorted_receipts, wants, marks, eviction.tokens(policy))


def sources_of(placement: Placement) -> set[str]:
    """The hashes of a file and of what is sent of it: what is learned about any of them may change the placement."""
    file = placement.attachment
    return {source.sha256 for source in (file.facts, file.address, *placement.files) if source is not None}


def make_receipts(placements: Sequence[Placement]) -> dict[int, Receipt]:
    """Receipts by file number. For a file that is shown twice, its newest use counts."""
    newest = {placement.attachment.number: placement for placement in placements}
    return {number: make_receipt(placement) for number, placement in newest.items()}


def make_receipt(placement: Placement) -> Receipt:
    """The receipt of one placement."""
    file, derivative = placement.attachment, placement.derivative
    text = derivative.text if derivative and derivative.text is not None else ""
    size = sum(source.size for source in placement.files if isinstance(source, Facts)) + len(text.encode())
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
        converted=derivative is not None,
        reason=reason,
        cell=placement.cell,
        bytes=size,
        variant=derivative,
        view=placement.view if derivative is not None else None,
        external_id=file.external_id,
    )


def raise_refused(plan: Plan, target: Target) -> None:
    """Raise `UnsupportedFile` that names all refused files, if there are any."""
    refused = [receipt for receipt in plan.receipts if receipt.delivery == "refused"]
    if refused:
        files = [(f"{receipt.label} ({receipt.name})", receipt.reason) for receipt in refused]
        raise UnsupportedFile(target.name, files)


def inline_files(plan: Plan, view: View) -> list[Facts]:
    """The stored files whose bytes a plan sends inline."""
    files: list[Facts] = []
    for receipt in plan.receipts:
        is_inline = receipt.cell is not None and receipt.cell.form == "inline"
        if receipt.place == "answer" or (receipt.place is not None and is_inline):
            facts = view.attachments[receipt.number].facts
            files += receipt.variant.files if receipt.variant is not None else [facts] if facts else []
    return files


LoadDerivations = Callable[[Iterable[DerivationRequest]], Awaitable[Derivations]]


async def call_here(work: Callable[[], Plan]) -> Plan:
    """Plan in the thread of the event loop."""
    return work()


async def prepare(
    view: View,
    target: Target,
    known: Derivations,
    load: LoadDerivations,
    policy: Policy,
    *,
    cache: PlanCache | None = None,
    scale: float = 1.0,
    call: Callable[[Callable[[], Plan]], Awaitable[Plan]] = call_here,
) -> tuple[Plan, Derivations]:
    """Plan and load what the plan wants until it wants nothing. Returns the plan and all known derivations.

    `call` runs the planner, in another thread perhaps.
    """
    while True:
        planned = await call(partial(plan, view, target, known, policy, cache=cache, scale=scale))
        if not planned.wants:
            return planned, known
        known = {**known, **await load(planned.wants)}
