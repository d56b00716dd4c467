"""After a provider refused a request for its files: which of them are left out when it is asked again, once."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from showandtell.core.messages.attachments import Facts, spoken
from showandtell.core.messages.derivations import DerivationRequest, Failed, rejections
from showandtell.core.planning.labels import size_of
from showandtell.core.planning.values import Receipt, RenderedFile
from showandtell.core.wire.request import Request
from showandtell.core.wire.tree import slots
from showandtell.errors import ProviderError

#: Answers that may be about files: a bad request, too large, of no such type, not to be processed.
REFUSALS = frozenset({400, 413, 415, 422})
#: Words by which a provider speaks of files; 413 needs none.
MEDIA = re.compile(
    r"image|picture|pdf|document|\bfiles?\b|file_|filedata|media|audio|video|base64|mime|pixel|dimension|\bpages?\b"
    r"|attachment|inline_?data|\bblob|\burl_|robots",
    re.IGNORECASE,
)
#: Where files stand in a request; a path to anywhere else (`tools.0.name`) is about no file.
LISTS = re.compile(r"#?/?(messages|input|contents|request)\b|^$")


def is_about_files(error: ProviderError) -> bool:
    """Whether a provider refused a request for its files."""
    if error.path and not LISTS.match(error.path):
        return False
    return error.status in REFUSALS and (error.status == 413 or MEDIA.search(error.text) is not None)


def named_by(error: ProviderError, request: Request) -> tuple[RenderedFile, ...]:
    """The files at the place that an answer names."""
    return request.locate(error.path) if error.path else ()


def unaccepted(request: Request, accepted: Mapping[int, Receipt]) -> tuple[RenderedFile, ...]:
    """The files that no accepted request held; `accepted` are the receipts of the newest one."""
    seen = {number for number, receipt in accepted.items() if receipt.place is not None}
    return tuple(placed for placed in sent(request) if placed.number not in seen)


def sent(request: Request) -> tuple[RenderedFile, ...]:
    """Every file of a request, in order."""
    return tuple(slot.placed for slot in slots(request.items))


def note(files: Sequence[RenderedFile], error: ProviderError, request: Request) -> dict[DerivationRequest, Failed]:
    """What is learnt: this account's model takes none of these files, in the provider's own words."""
    at = request.target.at
    failed = Failed(f"{request.target.name} refused it: {error.text[:300]}", f"HTTP {error.status}")
    return {want: failed for placed in files for want in rejections(placed.file, at)}


def listed(files: Sequence[RenderedFile]) -> list[tuple[str, str]]:
    """Files as an error names them: label, name and size."""
    found: dict[str, str] = {}
    for placed in files:
        size = f", {size_of(placed.file.size)}" if isinstance(placed.file, Facts) else ""
        found[spoken(placed.file.kind, placed.number)] = f"{placed.name}{size}"
    return [*found.items()]
