"""What each use of a file costs in a request: bytes, images, documents, tokens.

It is weighed as the second and the third pass would send it if everything were in view.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct
from msgspec.structs import replace

from showandtell.core.capabilities.cells import Target
from showandtell.core.messages.attachments import Facts
from showandtell.core.messages.derivations import DerivationRequest, Derivations
from showandtell.core.messages.message import Message
from showandtell.core.planning.conversions import Load, base64_length, conversion_options
from showandtell.core.planning.framing import file_pieces
from showandtell.core.planning.placement import Placement, decide_placement, places
from showandtell.core.planning.sizes import FILE_FRAME, TEXT_FRAME, is_nested, listed_size, piece_size
from showandtell.core.planning.token_estimates import file_tokens, text_tokens
from showandtell.core.planning.uses import FileUse
from showandtell.core.planning.values import Policy, RenderedFile, View

#: What uses of files cost: bytes of the body, images, documents, files, large images, and estimated tokens.
Weight = tuple[int, int, int, int, int, int]
NOTHING: Weight = (0, 0, 0, 0, 0, 0)
#: The most that the labels of one image of a conversion take beside the file's own.
PIECE_FRAME = 200


class Use(Struct, frozen=True, gc=False):
    """One use of a file: what it costs if it is in view.

    recalled: it is only sent if it isn't in view already. asked: it belongs to a user's message.
    """

    number: int
    weight: Weight
    recalled: bool = False
    too_large: bool = False
    asked: bool = False


def optimistic_uses(message: Message, view: View) -> Iterator[FileUse]:
    """The uses of files of a message, as if all were in view."""
    for shown in message.showings:
        file = view.attachments[shown.number]
        yield FileUse(file, 1, message, "", True, False, False, False, view=shown.view)
    for number in message.recalled:
        yield FileUse(view.attachments[number], 1, message, "", True, False, False, False, recalled=True)


def weigh(use: FileUse, target: Target, known: Derivations, policy: Policy, available: float) -> Use:
    """What a use costs in view. A file whose bytes don't fit what is available at all is converted."""
    placement = decide_placement(use, target, known, policy)
    weight = placement_weight(placement, use, target, policy)
    too_large = weight[0] > available and placement.files == (use.attachment.facts,)
    if too_large:
        placement = decide_placement(replace(use, too_large=True), target, known, policy)
        weight = placement_weight(placement, use, target, policy)
    return Use(use.attachment.number, weight, use.recalled, too_large, use.message.role == "user")


def placement_weight(placement: Placement, use: FileUse, target: Target, policy: Policy) -> Weight:
    """What a placement adds to a request: known files and texts exactly, conversions that are still needed at most."""
    files, nested = placement.files, is_nested(use.message)
    listed = 0 if use.recalled else listed_size(use.attachment, nested=nested)
    size = text = -listed
    for piece in file_pieces(placement, target, policy):
        length = piece_size(piece, nested=nested)
        size += length
        if not isinstance(piece, RenderedFile):
            text += length
    size, tokens = max(0, size), text_tokens(max(0, text)) + sum(file_tokens(file, target.costs) for file in files)
    if placement.pending is not None:
        load = max_load(placement.pending, use, target, policy)
        if load is None:
            return (size, 0, 0, 0, 0, tokens)
        bound = base64_length(load.bytes) + (load.images + load.documents) * (FILE_FRAME + TEXT_FRAME + PIECE_FRAME)
        tokens += load.images * target.costs.image_max + load.documents * target.costs.page
        return (size + bound, load.images, load.documents, 1, 0, tokens)
    side = target.budget.many_side
    large = side is not None and any(isinstance(file, Facts) and max(file.pixels or (0,)) > side for file in files)
    images, documents = (sum(file.kind == kind for file in files) for kind in ("image", "document"))
    return (size, images, documents, int(bool(files)), int(large), tokens)


def max_load(request: DerivationRequest, use: FileUse, target: Target, policy: Policy) -> Load | None:
    """The most that a pending derivation can add: None for text, no bytes for uploads and signed URLs."""
    source = use.attachment.facts or use.attachment.address
    if source is None:
        return None
    for option in conversion_options(source, target, places(use, target), use.view, describer=policy.describer):
        if option.conversion == request.conversion:
            return option.load
    return Load(0, int(source.kind == "image"), int(source.kind == "document"))


def text_weight(use: FileUse, target: Target, known: Derivations, policy: Policy) -> Weight | None:
    """What the text of a file costs that is left out; None if it has no text."""
    if use.recalled:
        return None
    use = replace(use, in_view=False, text_only=True)
    placement = decide_placement(use, target, known, policy)
    return None if placement.delivery == "listed" else placement_weight(placement, use, target, policy)


def text_only(size: int) -> Weight:
    """What text of `size` bytes costs."""
    return (size, 0, 0, 0, 0, text_tokens(size))


def add(load: Weight, weight: Weight) -> Weight:
    """The sum of two loads."""
    return (
        load[0] + weight[0],
        load[1] + weight[1],
        load[2] + weight[2],
        load[3] + weight[3],
        load[4] + weight[4],
        load[5] + weight[5],
    )
