"""Puts files of the conversation into the container where code of the provider runs, by their uploads' ids."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import replace

from showandtell.core.capabilities.cells import Target
from showandtell.core.messages.derivations import DerivationRequest, Derivations, Derivative, Failed
from showandtell.core.planning.placement import UPLOAD, Placement
from showandtell.core.planning.values import Policy


def in_container(
    placements: Iterable[Placement], target: Target, known: Derivations, policy: Policy
) -> tuple[Placement, ...]:
    """The placements with the id of each file that code may read, at its first use. Missing uploads are requested.

    A file that the model can't see is not refused if code has it.
    """
    if not policy.container or target.dialect.container is None:
        return tuple(placements)
    return tuple(_in_container(placement, target, known) for placement in placements)


def _in_container(placement: Placement, target: Target, known: Derivations) -> Placement:
    file = placement.attachment
    may_be_read = file.facts is not None and file.problem is None and file.audience != "user"
    if file.facts is None or not may_be_read or (placement.nth > 1 and placement.delivery != "refused"):
        return placement
    request = DerivationRequest(file.facts.sha256, UPLOAD, target.upload_scope)
    match known.get(request):
        case Derivative(file_id=str() as file_id):
            delivery = "noted" if placement.delivery == "refused" else placement.delivery
            return replace(placement, container_id=file_id, delivery=delivery)
        case Failed(reason=reason):
            return replace(placement, reason=f"{placement.reason}; code of the provider can't read it: {reason}")
        case _:
            return replace(placement, pending=placement.pending or request)
