"""The second pass: the rung that each showing takes, and why. The first that holds wins; the reason is kept.

native → relocated → either with a converted variant → noted or refused; out of view → listed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias, TypeGuard

from msgspec import Struct
from msgspec.structs import replace

from showandtell.core.capabilities.cells import Capability, Place, Target
from showandtell.core.messages.attachments import Address, Attachment, Facts
from showandtell.core.messages.derivations import DerivationRequest, Derivations, Derivative, Failed, rejections
from showandtell.core.messages.messages import Message
from showandtell.core.messages.parts import Opaque, Selection
from showandtell.core.planning.conversions import bytes_for_files, encoded, forms, misshapen
from showandtell.core.planning.labels import size_of
from showandtell.core.planning.values import Delivery, Policy, View

VERDICTS = {
    "rejects": "is refused by",
    "blind": "is taken but not seen by",
    "unproven": "has never been tried with",
}
OUT_OF_VIEW = "out of view: one request can't hold so many files"

#: What may stand for a file's bytes: an id at the provider, or a URL of our own store.
UPLOAD, LINK = "upload", "link"
#: The bytes that one of these must be likely to save, unless the file can't go without it.
WORTH = 4_000_000
Sent: TypeAlias = Facts | Address


class Placement(Struct, frozen=True):
    """One showing's rung. `files` go to `place`; where there are none, `text` (a variant's) or a note stands there.

    `again` names the message whose words point at the file, where it is shown for that; `view` the part that was asked
    for, if not all.
    """

    attachment: Attachment
    nth: int
    delivery: Delivery
    reason: str
    place: Place | None = None
    cell: Capability | None = None
    files: tuple[Facts | Address, ...] = ()
    variant: Derivative | None = None
    pending: DerivationRequest | None = None
    again: str | None = None
    view: Selection | None = None


class FileUse(Struct, frozen=True):
    """One showing as the pass meets it.

    `group` names the wire message it will stand in, results of one step together; `answered`: the run answers its
    message; `recent`: it stands in that message or behind it; `newest`: the model has not spoken since; `again`: it
    is shown because the message's words point at it; `only_words`: the provider has refused it, or it came with too
    many others, so that words alone may stand for it; `view`: the part of it that is shown, if not all.
    """

    attachment: Attachment
    nth: int
    message: Message
    group: str
    in_view: bool
    answered: bool
    recent: bool
    newest: bool
    again: bool = False
    only_words: bool = False
    view: Selection | None = None


class EarlierUses(Struct, frozen=True):
    """What stands before a view: how often each number was shown there, and which of them are in view."""

    nths: Mapping[int, int] = {}
    in_sight: frozenset[int] = frozenset()


#: Nothing stands before.
NO_PAST = EarlierUses()


def place(
    view: View,
    target: Target,
    known: Derivations,
    policy: Policy,
    first: int,
    *,
    past: EarlierUses = NO_PAST,
    crowded: int | None = None,
) -> tuple[Placement, ...]:
    """Give every showing, in the order of the conversation, its rung.

    `first` is the frontier; those from `crowded` on came with what is in view, and may be given as words.
    """
    counts = Counts(target)
    placements: list[Placement] = []
    for showing in file_uses(view, first, past, first if crowded is None else crowded):
        placement = decide_placement(showing, target, known, policy)
        if showing.again or showing.view is not None:
            placement = replace(placement, again=showing.message.id if showing.again else None, view=showing.view)
        placements.append(counts.bound(showing, placement, target, policy))
    return tuple(placements)


def file_uses(view: View, first: int, past: EarlierUses, crowded: int) -> Iterator[FileUse]:
    """Every showing of the conversation in order; what words point at is one where the file is out of view by then."""
    seen, in_sight = dict(past.nths), set(past.in_sight)
    index = 0
    group = ""
    recent = all(message.id != view.answering for message in view.messages)
    spoken = max((at for at, message in enumerate(view.messages) if message.role == "assistant"), default=-1)
    for at, message in enumerate(view.messages):
        if message.role == "assistant" and any(not isinstance(part, Opaque) for part in message.parts):
            group = message.id  # what follows on the user's side may become one message of the wire
        answered = message.id == view.answering
        recent = recent or answered
        newest = at > spoken
        for shown in message.showings:
            seen[shown.number] = nth = seen.get(shown.number, 0) + 1
            file, in_view = view.attachments[shown.number], index >= first
            if in_view:
                in_sight.add(shown.number)
            many = crowded <= index < first
            yield FileUse(
                file, nth, message, group, in_view, answered, recent, newest, only_words=many, view=shown.view
            )
            index += 1
        for number in message.recalled:
            if index >= first and number not in in_sight:
                in_sight.add(number)
                seen[number] = nth = seen.get(number, 0) + 1
                yield FileUse(view.attachments[number], nth, message, group, True, False, False, newest, again=True)
            index += 1


def decide_placement(showing: FileUse, target: Target, known: Derivations, policy: Policy) -> Placement:
    """The first rung that holds for one showing."""
    file, nth = showing.attachment, showing.nth
    if not showing.in_view:
        if showing.only_words and file.problem is None:
            found = convert(showing, target, known, policy, [OUT_OF_VIEW])
            if found.pending is not None or found.variant is not None:
                return found
        if showing.newest and must_be_shown(showing, policy):
            return reject(showing, policy, OUT_OF_VIEW)
        return Placement(file, nth, "listed", OUT_OF_VIEW)
    if file.problem is not None:
        return reject(showing, policy, file.problem)
    whole = file.facts or file.address
    if whole is None:
        return reject(showing, policy, "nothing is known of its bytes")
    reasons: list[str] = []
    for where in places(showing, target) if showing.view is None else ():
        match try_place(where, whole, target, known, policy):
            case DerivationRequest() as want:
                return Placement(file, nth, "noted", f"waits for its {want.conversion}", pending=want)
            case cell, reason, sent:
                if cell is not None:
                    return Placement(file, nth, delivery_at(showing, where), reason, where, cell, (sent,))
                reasons.append(reason)
    if any(want in known for want in rejections(whole, target.at)):
        # The provider itself has said no, after the request was sent: the run goes on, and the model is told.
        showing = replace(showing, answered=False, only_words=True)
    return convert(showing, target, known, policy, reasons)


def places(showing: FileUse, target: Target) -> tuple[Place, ...]:
    """Where a showing may go, best first: a tool's file into its result, unless errors there carry no media."""
    if showing.message.role != "tool" or (showing.message.is_error and not target.order.error_media):
        return ("user",)
    return ("tool_result", "user")


def delivery_at(showing: FileUse, where: Place) -> Delivery:
    """A file in its own place is native; a tool's (or the assistant's) in a user message is relocated."""
    return "native" if where == "tool_result" or showing.message.role == "user" else "relocated"


def try_place(
    where: Place, file: Sent, target: Target, known: Derivations, policy: Policy
) -> DerivationRequest | tuple[Capability | None, str, Sent]:
    """How a file goes to a place: the cell, the reason, and what is sent; without a cell, why not.

    What stands for its bytes is wanted first, where that may be; where it can't be had, the bytes themselves go.
    """
    told = ""
    for want in alternatives(where, file, target, known, policy):
        match known.get(want):
            case Derivative() as variant:
                address = address_of(variant, file.media_type, target)
                cell, reason = fit(where, address, target, known)
                return cell, f"{reason}, by {want.conversion}" if cell is not None else reason, address
            case Failed(reason=reason):
                told += f"; not by {want.conversion}: {reason}"
            case None:
                return want
    cell, reason = fit(where, file, target, known)
    return cell, reason + told, file


def alternatives(
    where: Place, file: Sent, target: Target, known: Derivations, policy: Policy
) -> Iterator[DerivationRequest]:
    """What may stand for a file's bytes at a place, best first: what the policy allows, is seen there, and is worth it.

    Pixels and pages are limited however a file comes, its bytes only in the request.
    """
    if not (policy.uploads or policy.links) or isinstance(file, Address):
        return
    inline = target.cell(where, file.media_type, "inline")
    if rejected(where, file, target, known) or (inline is not None and misshapen(inline.limits, file)):
        return
    if file.size * (policy.expected_steps - 1) < WORTH and fit(where, file, target, known)[0] is not None:
        return
    if policy.uploads and is_seen(target.cell(where, file.media_type, "file_id")):
        yield DerivationRequest(file.sha256, UPLOAD, target.upload_scope)
    if policy.links and is_seen(cell := target.cell(where, file.media_type, "url")) and "https" in cell.url_schemes:
        yield DerivationRequest(file.sha256, LINK)


def address_of(variant: Derivative, media_type: str, target: Target) -> Address:
    """What points at a file that was uploaded, or that has a link; a rejection of it is kept under the file's bytes."""
    if variant.file_id is not None:
        return Address("file_id", variant.file_id, media_type, target.vendor)
    return Address("url", variant.url or "", media_type)


def is_seen(cell: Capability | None) -> TypeGuard[Capability]:
    """Whether a file is known to be seen there."""
    return cell is not None and cell.verdict == "sees"


def fit(where: Place, file: Facts | Address, target: Target, known: Derivations) -> tuple[Capability | None, str]:
    """The cell that takes a file at a place, with the reason; or None, and why not."""
    form = "inline" if isinstance(file, Facts) else file.form
    at = "a tool result" if where == "tool_result" else "a user message"
    cell = target.cell(where, file.media_type, form)
    if cell is None:
        return None, f"{target.name} takes no {file.media_type}" + ("" if form == "inline" else f" by {form}")
    if cell.verdict in {"blind", "rejects"} or (cell.verdict == "unproven" and where == "tool_result"):
        return None, f"{file.media_type} in {at} {VERDICTS[cell.verdict]} {target.name}"
    reason = broken_limit(cell, file, target)
    if reason is not None:
        return None, reason
    failed = rejected(where, file, target, known)
    if failed is not None:
        return None, failed.reason
    return cell, f"{target.name} takes {file.media_type} in {at}"


def rejected(where: Place, file: Sent, target: Target, known: Derivations) -> Failed | None:
    """What this account's model said of a file at a place, where it refused it."""
    found = known.get(DerivationRequest(file.sha256, f"original/{where}", target.at))
    return found if isinstance(found, Failed) else None


def broken_limit(cell: Capability, file: Facts | Address, target: Target) -> str | None:
    """Which limit of the cell or the request a file breaks, in words; None where it breaks none."""
    if isinstance(file, Address):
        return why_unopened(cell, file, target)
    limit, most = cell.limits.bytes, bytes_for_files(target)
    if limit is not None and file.size > limit:
        return f"it is {size_of(file.size)}, the limit is {size_of(limit)}"
    if encoded(file.size) > most:
        return f"it is {size_of(file.size)}, one request to {target.name} holds {size_of(int(most) * 3 // 4)} of files"
    return misshapen(cell.limits, file)


def why_unopened(cell: Capability, file: Address, target: Target) -> str | None:
    """Why a target can't open an address; None where it can. A file id means something to its own house alone."""
    if file.form == "file_id":
        return None if file.vendor == target.vendor else f"a file id of {file.vendor} means nothing to {target.name}"
    scheme = file.value.partition(":")[0]
    return None if scheme in cell.url_schemes else f"{scheme}: addresses can't be opened there"


def convert(showing: FileUse, target: Target, known: Derivations, policy: Policy, reasons: Sequence[str]) -> Placement:
    """The third rung: another form of the file. What isn't known yet is wanted; what failed says why."""
    whole = showing.attachment.facts or (showing.attachment.address if policy.fetch else None)
    if whole is None:
        return reject(showing, policy, reasons[-1] if reasons else "its bytes are not here")
    if reasons and whole.kind != "text" and policy.on(showing.attachment.kind) == "note":
        return reject(showing, policy, reasons[-1])
    why = reasons[0] if reasons else "a part of it was asked for"
    failures: dict[str, list[str]] = {}
    for form in forms(whole, target, places(showing, target), showing.view):
        if showing.only_words and form.load is not None:
            continue
        want = DerivationRequest(whole.sha256, form.recipe)
        match known.get(want):
            case None:
                return Placement(showing.attachment, showing.nth, "noted", "being converted", pending=want)
            case Failed() as failed:
                failures.setdefault(failed.reason, []).append(form.recipe.partition("?")[0])
            case Derivative() as variant:
                found = _converted(showing, variant, target, known, why)
                if found is not None:
                    return found
    tried = [f"as {' or '.join(recipes)}: {reason}" for reason, recipes in failures.items()]
    if not reasons and not tried:
        return decide_placement(replace(showing, view=None), target, known, policy)
    return reject(showing, policy, "; ".join([*reasons[-1:], *tried]))


def _converted(showing: FileUse, variant: Derivative, target: Target, known: Derivations, why: str) -> Placement | None:
    file, nth = showing.attachment, showing.nth
    if variant.text is not None:
        place: Place = "tool_result" if showing.message.role == "tool" else "user"
        return Placement(file, nth, "native", f"given as words: {why}", place, variant=variant)
    for where in places(showing, target):
        fits = [fit(where, piece, target, known) for piece in variant.files]
        cell = fits[0][0] if fits else None
        if cell is not None and all(found is not None for found, _ in fits):
            reason = f"converted: {why}"
            return Placement(file, nth, delivery_at(showing, where), reason, where, cell, variant.files, variant)
    return None


def reject(showing: FileUse, policy: Policy, reason: str) -> Placement:
    """The last rungs: refused where a person waits for this very file, or by a strict program; else noted."""
    refused = must_be_shown(showing, policy)
    return Placement(showing.attachment, showing.nth, "refused" if refused else "noted", reason)


def must_be_shown(showing: FileUse, policy: Policy) -> bool:
    """Whether the request is refused rather than sent without this file."""
    match policy.on(showing.attachment.kind):
        case "note":
            return False
        case "error":
            return showing.answered or showing.recent
        case "convert":
            return showing.answered


class Counts:
    """How many images and documents a wire message holds so far; results of one step count as one message."""

    def __init__(self, target: Target) -> None:
        self.limits = (target.budget.message_images, target.budget.message_documents)
        self.group: str | None = None
        self.used = [0, 0]

    def bound(self, showing: FileUse, placement: Placement, target: Target, policy: Policy) -> Placement:
        """The placement itself, or its refusal where the message is full."""
        if self.limits == (None, None):
            return placement
        if showing.group != self.group:
            self.group, self.used = showing.group, [0, 0]
        for index, kind in enumerate(("image", "document")):
            self.used[index] += sum(file.kind == kind for file in placement.files)
            limit = self.limits[index]
            if limit is not None and self.used[index] > limit and placement.files:
                return reject(showing, policy, f"{target.name} takes {limit} {kind}s in one message")
        return placement
