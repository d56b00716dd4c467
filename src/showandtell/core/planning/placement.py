"""The second pass: how each use of a file is delivered, and why. The first option that works wins.

native → relocated → either of them converted → described in words → noted or refused; out of view → listed. A file for
the user alone is withheld, and one whose content is kept out of requests listed, whatever the model takes. A file of a
kind that models don't read, such as an archive or a database, is for tools only instead of noted or refused.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from showandtell.core.capabilities.cells import Capability, Place, Target
from showandtell.core.messages.attachments import Address, Attachment, Facts
from showandtell.core.messages.derivations import DerivationRequest, Derivations, Derivative, Failed, rejections
from showandtell.core.messages.parts import Selection
from showandtell.core.planning.acceptance import Source, find_cell, find_refusal, find_rejection, is_seen
from showandtell.core.planning.conversions import SVG, conversion_options, shape_problem
from showandtell.core.planning.labels import format_size
from showandtell.core.planning.uses import EarlierUses, FileUse, Visibility, file_uses
from showandtell.core.planning.values import Delivery, Policy, View

FOR_USER = "kept from the model: it is for the user alone"
#: The reason of a file whose content is kept out of requests.
TO_BE_READ = "kept out of the context: the model reads it with get_document"
UNREADABLE = "kept out of the context: add get_document to the tools, so that the model can read it"
NOT_CONVERTED = "it is sent as it is or not at all"
#: The end of the reason of a file for tools only.
BY_NUMBER = "a tool gets it by its number"
NO_TOOL = "no tool here takes files, so nothing reads it"
IN_BLOCK = "it goes back in the block in which the provider made it"
#: Types of text that are sent in another form.
CONVERTED_TEXTS = frozenset({"text/html", SVG})
#: The start of the reason of a file that is out of view; the limit that it would exceed follows.
OUT_OF_VIEW = "out of view: "

#: What may replace a file's bytes in a request: a file id of the provider, or a URL of our own store.
UPLOAD, LINK = "upload", "link"
#: The bytes that a replacement must be likely to save, unless the file can't be sent inline.
MIN_SAVED_BYTES = 4_000_000


class Placement(Struct, frozen=True, gc=False):
    """How one use of a file is delivered. `files` go to `place`; without files, the derivative's text or a note does.

    nth: counts the uses of the file from 1. pending: a derivation that is needed first.
    recalled_by: the id of the message whose text refers to the file, if it is shown for that reason.
    view: the part of the file that was requested, if not all. container_id: its id, if code of the provider has it.
    """

    attachment: Attachment
    nth: int
    delivery: Delivery
    reason: str
    place: Place | None = None
    cell: Capability | None = None
    files: tuple[Facts | Address, ...] = ()
    derivative: Derivative | None = None
    pending: DerivationRequest | None = None
    recalled_by: str | None = None
    view: Selection | None = None
    container_id: str | None = None

    @property
    def is_lifted(self) -> bool:
        """Whether the model gets a file for the user alone, because its owner allows it for this message."""
        return self.attachment.lifted is True and self.delivery != "withheld"

    @property
    def is_for_now(self) -> bool:
        """Whether it holds for this turn alone."""
        return self.delivery == "refused" or self.is_lifted


def place(
    view: View,
    target: Target,
    known: Derivations,
    policy: Policy,
    visibilities: Iterable[Visibility],
    *,
    earlier: EarlierUses,
    messages: range,
) -> tuple[list[Placement], list[int]]:
    """Decide the placement of every use in some messages, in order, with the position of its message.

    `visibilities` has one entry for each use.
    """
    counts = MessageCounts(target)
    placements, positions = list[Placement](), list[int]()
    for use in file_uses(view, target, visibilities, earlier, messages):
        placement = decide_placement(use, target, known, policy)
        if use.recalled or use.view is not None:
            placement = replace(placement, recalled_by=use.message.id if use.recalled else None, view=use.view)
        placements.append(counts.check(use, placement, target, policy))
        positions.append(use.position)
    return placements, positions


def is_lifted(use: FileUse) -> bool:
    """Whether the owner of a file for the user alone shows it to the model: with the message that brings it, alone.

    In later turns, which another person may take, and wherever else the file is used, it is for the user again.
    """
    return use.attachment.lifted is True and use.answered and use.nth == 1


def decide_placement(use: FileUse, target: Target, known: Derivations, policy: Policy) -> Placement:
    """The first option that works for one use of a file."""
    file, nth = use.attachment, use.nth
    if file.audience == "user" and not is_lifted(use):
        return Placement(file, nth, "withheld", FOR_USER)
    if not file.in_context:
        if file.problem is not None:
            return Placement(file, nth, "noted", file.problem)
        return Placement(file, nth, "listed", TO_BE_READ if policy.can_read else UNREADABLE)
    if not use.in_view:
        why = OUT_OF_VIEW + use.limit
        if use.text_only and file.problem is None:
            as_text = convert(use, target, known, policy, [why])
            if as_text.pending is not None or as_text.derivative is not None:
                return as_text
        if use.newest and must_be_shown(use, policy):
            return reject(use, policy, why)
        return Placement(file, nth, "listed", why)
    if file.problem is not None:
        return reject(use, policy, file.problem)
    source = file.facts or file.address
    if source is None:
        return reject(use, policy, "nothing is known of its bytes")
    if use.in_block and not use.too_large and find_rejection("answer", source, target, known) is None:
        return Placement(file, nth, "native", IN_BLOCK, "answer", None, (source,))
    reasons: list[str] = []
    for place in places(use, target) if use.view is None else ():
        match try_place(place, source, target, known, policy, too_large=use.too_large):
            case DerivationRequest() as request:
                return Placement(file, nth, "noted", f"waits for its {request.conversion}", pending=request)
            case cell, reason, sent:
                if cell is not None:
                    return Placement(file, nth, delivery_at(use, place), reason, place, cell, (sent,))
                reasons.append(reason)
    rejected = [known[request] for request in rejections(source, target.rejection_scope) if request in known]
    if rejected:
        # The provider rejected the file after it was sent: the run continues with a copy or a note.
        smaller = all(isinstance(failed, Failed) and failed.retry_smaller for failed in rejected)
        use = replace(use, answered=False, text_only=not smaller, smaller=smaller)
    return convert(use, target, known, policy, reasons)


def places(use: FileUse, target: Target) -> tuple[Place, ...]:
    """Where a file may go, best first: a tool's file into its result, unless error results hold no media."""
    if use.message.role != "tool" or (use.message.is_error and not target.order.error_media):
        return ("user",)
    return ("tool_result", "user")


def delivery_at(use: FileUse, place: Place) -> Delivery:
    """A file in its own place is native; a tool's (or the assistant's) file in a user message is relocated."""
    return "native" if place == "tool_result" or use.message.role == "user" else "relocated"


def try_place(
    place: Place, file: Source, target: Target, known: Derivations, policy: Policy, *, too_large: bool = False
) -> DerivationRequest | tuple[Capability | None, str, Source]:
    """The cell that takes a file at a place, the reason, and what is sent; without a cell, why it isn't taken.

    A replacement of the bytes is requested first if it is allowed; if it fails, the bytes themselves are sent.
    """
    failures = ""
    for request in substitutes(place, file, target, known, policy, too_large=too_large):
        match known.get(request):
            case Derivative() as derivative:
                address = address_of(derivative, file.media_type, target)
                cell, reason = find_cell(place, address, target, known)
                return cell, f"{reason}, by {request.conversion}" if cell is not None else reason, address
            case Failed(reason=reason):
                failures += f"; not by {request.conversion}: {reason}"
            case None:
                return request
    cell, reason = find_cell(place, file, target, known)
    if cell is not None and too_large and isinstance(file, Facts):
        held = format_size(target.budget.bytes or 0)
        cell, reason = (
            None,
            f"it is {format_size(file.size)}, one request to {target.name} holds {held} of base64 and text",
        )
    return cell, reason + failures, file


def substitutes(
    place: Place, file: Source, target: Target, known: Derivations, policy: Policy, *, too_large: bool = False
) -> Iterator[DerivationRequest]:
    """What may replace a file's bytes at a place, best first, if the policy allows it and it saves enough.

    Limits of pixels and pages hold for any form of a file, limits of bytes only for inline files.
    """
    if isinstance(file, Address) or file.encoding:
        return
    own = DerivationRequest(file.sha256, UPLOAD, target.upload_scope)
    takes_ids = is_seen(target.cell(place, file.media_type, "file_id"))
    if takes_ids and isinstance(held := known.get(own), Derivative) and held.is_own:
        yield own
        return
    if not (policy.uploads or policy.signed_urls):
        return
    inline = target.cell(place, file.media_type, "inline")
    if find_rejection(place, file, target, known) or (inline is not None and shape_problem(inline.limits, file)):
        return
    saved = file.size * (policy.expected_steps - 1)
    if saved < MIN_SAVED_BYTES and not too_large and find_cell(place, file, target, known)[0] is not None:
        return
    if policy.uploads and takes_ids:
        yield own
    by_url = target.cell(place, file.media_type, "url") if policy.signed_urls else None
    if is_seen(by_url) and "https" in by_url.url_schemes:
        yield DerivationRequest(file.sha256, LINK)


def address_of(derivative: Derivative, media_type: str, target: Target) -> Address:
    """The address of an uploaded file or of a signed URL. Its rejections are stored under the hash of the bytes."""
    if derivative.file_id is not None:
        return Address("file_id", derivative.file_id, media_type, target.vendor)
    return Address("url", derivative.url or "", media_type)


def convert(use: FileUse, target: Target, known: Derivations, policy: Policy, reasons: Sequence[str]) -> Placement:
    """The third option: a conversion of the file. Unknown ones are requested; failures become part of the reason."""
    source = use.attachment.facts or (use.attachment.address if policy.fetch else None)
    if source is None:
        reason = reasons[-1] if reasons else "its bytes are not here"
        return reject(use, policy, reason + bytes_advice(use, target))
    if reasons and source.kind != "text" and policy.on(use.attachment.kind) == "note":
        return reject(use, policy, reasons[-1])
    if not use.attachment.convert and isinstance(source, Facts) and not is_plain_text(source):
        return reject(use, policy, "; ".join([*reasons[-1:], NOT_CONVERTED]))
    why = reasons[-1 if use.smaller else 0] if reasons else "a part of it was asked for"
    failures: dict[str, list[str]] = {}
    for option in conversion_options(
        source, target, places(use, target), use.view, smaller=use.smaller, describer=policy.describer
    ):
        if use.text_only and option.load is not None:
            continue
        request = DerivationRequest(source.sha256, option.conversion)
        match known.get(request):
            case None:
                return Placement(use.attachment, use.nth, "noted", "being converted", pending=request)
            case Failed() as failed:
                failures.setdefault(failed.reason, []).append(option.conversion.partition("?")[0])
            case Derivative() as derivative:
                placement = _place_derivative(use, derivative, target, known, why)
                if placement is not None:
                    return placement
                if refusal := find_refusal(derivative, target, known):
                    # As for a file that was sent as it is: the run continues, and the model gets a note.
                    use, reasons = replace(use, answered=False), [*reasons, refusal.reason]
    tried = [f"as {' or '.join(conversions)}: {reason}" for reason, conversions in failures.items()]
    if not reasons and not tried:
        return decide_placement(replace(use, view=None), target, known, policy)
    return reject(use, policy, "; ".join([*reasons[-1:], *tried]))


def is_plain_text(source: Facts) -> bool:
    """Whether a file is text that a model gets as it is."""
    return source.kind == "text" and source.media_type not in CONVERTED_TEXTS


def bytes_advice(use: FileUse, target: Target) -> str:
    """What to do about an address that can't be sent but whose bytes could be; empty if they would be of no use."""
    address = use.attachment.address
    if address is None or not conversion_options(address, target, places(use, target)):
        return ""
    http = ", http=True" if address.value.startswith("http:") else ""
    setting = f"FilePolicy(fetch=FetchPolicy(fetch=True{http}))"
    return f"; {target.name} takes {address.media_type} as bytes: set {setting}, or download the file and add it"


def _place_derivative(
    use: FileUse, derivative: Derivative, target: Target, known: Derivations, why: str
) -> Placement | None:
    file, nth = use.attachment, use.nth
    if derivative.text is not None:
        own_place: Place = "tool_result" if use.message.role == "tool" else "user"
        return Placement(file, nth, "native", f"given as words: {why}", own_place, derivative=derivative)
    for place in places(use, target):
        cells = [find_cell(place, source, target, known)[0] for source in derivative.files]
        cell = cells[0] if cells else None
        if cell is not None and None not in cells:
            reason = f"converted: {why}"
            return Placement(file, nth, delivery_at(use, place), reason, place, cell, derivative.files, derivative)
    return None


def reject(use: FileUse, policy: Policy, reason: str) -> Placement:
    """The last options: refused if the file must be shown, else for tools only or noted."""
    file, nth = use.attachment, use.nth
    if must_be_shown(use, policy):
        return Placement(file, nth, "refused", reason)
    if not is_for_tools(file):
        return Placement(file, nth, "noted", reason)
    by = BY_NUMBER if policy.takes_files else None if policy.container else NO_TOOL
    return Placement(file, nth, "for_tools", "; ".join(filter(None, (reason, by))))


def is_for_tools(file: Attachment) -> bool:
    """Whether a file is of a kind that only tools read, such as an archive, a database or unknown bytes."""
    return file.facts is not None and file.problem is None and file.facts.kind == "other"


def must_be_shown(use: FileUse, policy: Policy) -> bool:
    """Whether to refuse the request rather than send it without this file."""
    match policy.on(use.attachment.kind):
        case "note":
            return False
        case "error":
            return use.answered or use.recent
        case "convert":
            return use.answered and use.attachment.convert and not is_for_tools(use.attachment)


class MessageCounts:
    """How many images and documents a message on the wire holds. Results of one step count as one message."""

    def __init__(self, target: Target) -> None:
        self.limits = (target.budget.message_images, target.budget.message_documents)
        self.group: str | None = None
        self.used = [0, 0]

    def check(self, use: FileUse, placement: Placement, target: Target, policy: Policy) -> Placement:
        """Return the placement, or its rejection if the message is full."""
        if self.limits == (None, None):
            return placement
        if use.group != self.group:
            self.group, self.used = use.group, [0, 0]
        for index, kind in enumerate(("image", "document")):
            self.used[index] += sum(file.kind == kind for file in placement.files)
            limit = self.limits[index]
            if limit is not None and self.used[index] > limit and placement.files:
                return reject(use, policy, f"{target.name} takes {limit} {kind}s in one message")
        return placement
