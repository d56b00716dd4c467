"""Decides from a provider's error which files a retry leaves out."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from showandtell.core.messages.attachments import Facts, format_label
from showandtell.core.messages.derivations import DerivationRequest, Failed, rejections
from showandtell.core.planning.labels import format_size
from showandtell.core.planning.values import Receipt, RenderedFile
from showandtell.core.wire.request import Request
from showandtell.core.wire.tree import iter_slots
from showandtell.errors import ProviderError

#: Statuses that may be about files: bad request, too large, unsupported type, unprocessable.
REFUSALS = frozenset({400, 413, 415, 422})
#: Terms for files in error texts. A 413 needs none.
ABOUT_MEDIA = re.compile(
    r"image|picture|pdf|document|\bfiles?\b|file_|filedata|media|audio|video|base64|mime|pixel|dimension|\bpages?\b"
    r"|attachment|inline_?data|\bblob|\burl_|robots",
    re.IGNORECASE,
)
#: Paths that may lead to a file in a request. Any other path (`tools.0.name`) is not about files.
MESSAGE_PATH = re.compile(r"#?/?(messages|input|contents|request)\b|^$")


def is_about_files(error: ProviderError) -> bool:
    """Whether a provider refused a request because of its files."""
    if error.path and not MESSAGE_PATH.match(error.path):
        return False
    return error.status in REFUSALS and (error.status == 413 or ABOUT_MEDIA.search(error.text) is not None)


def files_at(error: ProviderError, request: Request) -> tuple[RenderedFile, ...]:
    """The files at the path that an error names."""
    return request.locate(error.path) if error.path else ()


def unaccepted(request: Request, accepted: Mapping[int, Receipt]) -> tuple[RenderedFile, ...]:
    """The files that no accepted request held. `accepted` are the receipts of the newest accepted one."""
    accepted_numbers = {number for number, receipt in accepted.items() if receipt.place is not None}
    return tuple(file for file in files_of(request) if file.number not in accepted_numbers)


def files_of(request: Request) -> tuple[RenderedFile, ...]:
    """All files of a request, in order."""
    return tuple(slot.rendered for slot in iter_slots(request.items))


def rejections_of(
    files: Sequence[RenderedFile], error: ProviderError, request: Request
) -> dict[DerivationRequest, Failed]:
    """Records that this account's model rejects these files, with the provider's error text."""
    scope = request.target.rejection_scope
    failed = Failed(f"{request.target.name} refused it: {error.text[:300]}", f"HTTP {error.status}")
    return {want: failed for file in files for want in rejections(file.file, scope)}


def describe_files(files: Sequence[RenderedFile]) -> list[tuple[str, str]]:
    """The label of each file, and its name and size, for an error text."""
    sizes: dict[str, str] = {}
    for file in files:
        size = f", {format_size(file.file.size)}" if isinstance(file.file, Facts) else ""
        sizes[format_label(file.file.kind, file.number)] = f"{file.name}{size}"
    return [*sizes.items()]
