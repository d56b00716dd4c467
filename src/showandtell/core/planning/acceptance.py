"""Whether a place of a target takes a file, and if not, why."""

from __future__ import annotations

from typing import TypeAlias, TypeGuard

from showandtell.core.capabilities.cells import Capability, Place, Target
from showandtell.core.messages.attachments import Address, Facts
from showandtell.core.messages.derivations import DerivationRequest, Derivations, Derivative, Failed, rejections
from showandtell.core.planning.conversions import shape_problem
from showandtell.core.planning.labels import format_size

VERDICTS = {
    "rejects": "is refused by",
    "blind": "is taken but not seen by",
    "unproven": "has never been tried with",
}
BY = {"inline": "", "url": " by URL", "file_id": " by file id"}
Source: TypeAlias = Facts | Address


def is_seen(cell: Capability | None) -> TypeGuard[Capability]:
    """Whether a file is known to be seen there."""
    return cell is not None and cell.verdict == "sees"


def find_cell(place: Place, file: Source, target: Target, known: Derivations) -> tuple[Capability | None, str]:
    """The cell that takes a file at a place, and the reason; without a cell, why it isn't taken."""
    if isinstance(file, Facts) and file.encoding:
        return None, f"its text is in {file.encoding}, and models get UTF-8"
    form = "inline" if isinstance(file, Facts) else file.form
    at = "a tool result" if place == "tool_result" else "a user message"
    cell = target.cell(place, file.media_type, form)
    if cell is None:
        return None, f"{target.name} takes no {file.media_type}{BY[form]}"
    if cell.verdict in {"blind", "rejects"} or (cell.verdict == "unproven" and place == "tool_result"):
        learned = "".join(f": {evidence}" for kind, evidence in target.learned if kind == cell.kind)
        return None, f"{file.media_type}{BY[form]} in {at} {VERDICTS[cell.verdict]} {target.name}{learned}"
    reason = limit_problem(cell, file, target)
    if reason is not None:
        return None, reason
    failed = find_rejection(place, file, target, known)
    if failed is not None:
        return None, failed.reason
    return cell, f"{target.name} takes {file.media_type} in {at}"


def find_rejection(place: Place, file: Source, target: Target, known: Derivations) -> Failed | None:
    """The rejection of a file at a place by this account's model, if there was one."""
    outcome = known.get(DerivationRequest(file.sha256, f"original/{place}", target.rejection_scope))
    return outcome if isinstance(outcome, Failed) else None


def limit_problem(cell: Capability, file: Source, target: Target) -> str | None:
    """Which limit of the cell a file exceeds, as text; None if it exceeds none."""
    if isinstance(file, Address):
        return address_problem(cell, file, target)
    limit = cell.limits.bytes
    if limit is not None and file.size > limit:
        return f"it is {format_size(file.size)}, the limit is {format_size(limit)}"
    return shape_problem(cell.limits, file)


def address_problem(cell: Capability, file: Address, target: Target) -> str | None:
    """Why a target can't open an address; None if it can. A file id is only valid at its own vendor."""
    if file.form == "file_id":
        return None if file.vendor == target.vendor else f"a file id of {file.vendor} means nothing to {target.name}"
    scheme = file.value.partition(":")[0]
    return None if scheme in cell.url_schemes else f"{scheme}: addresses can't be opened there"


def find_refusal(derivative: Derivative, target: Target, known: Derivations) -> Failed | None:
    """The provider's rejection of what a file was converted to, if there was one."""
    requests = (request for file in derivative.files for request in rejections(file, target.rejection_scope))
    return next((found for request in requests if isinstance(found := known.get(request), Failed)), None)
