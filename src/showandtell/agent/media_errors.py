"""Reads from a provider's error what it says about the files of a request."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from showandtell.core.media_types.kinds import Kind
from showandtell.core.messages.attachments import Facts, format_label
from showandtell.core.messages.derivations import DerivationRequest, Failed, rejections
from showandtell.core.planning.labels import format_size
from showandtell.core.planning.values import Receipt, RenderedFile
from showandtell.core.wire.request import Request
from showandtell.core.wire.tree import iter_slots
from showandtell.errors import ProviderError
from showandtell.providers.refusals import paths_in
from showandtell.providers.refused_media import read_refused_media, says

#: Statuses that may be about files: bad request, too large, unsupported type, unprocessable.
REFUSALS = frozenset({400, 413, 415, 422})
#: Terms for files in error texts. A 413 needs none.
ABOUT_MEDIA = re.compile(
    r"image|picture|pdf|document|(?:\b|_)files?\b|file_|filedata|media|audio|video|base64|mime|pixel|dimension|\bpages?\b"
    r"|attachment|inline_?data|\bblob|\burl_|robots",
    re.IGNORECASE,
)
#: Servers of models without eyes want the content of a message as text. Groq: "'messages.3.content' : value must be a
#: string"; pydantic: "Input should be a valid string"; Go: "cannot unmarshal array into Go struct field".
ABOUT_CONTENT = re.compile(
    r"must be a string|should be a (?:valid )?string|expected (?:a )?string|cannot unmarshal array"
    r"|not of type 'string'|(?:invalid|unsupported|unknown) (?:chat )?content(?:\[\]\.| part )?\s?type"
    r"|content[^.]{0,20}not a string",
    re.IGNORECASE,
)

KIND_WORDS: dict[Kind, re.Pattern[str]] = {
    "image": re.compile(r"image|vision|visual", re.IGNORECASE),
    "document": re.compile(r"pdf|document|file", re.IGNORECASE),
    "audio": re.compile(r"audio", re.IGNORECASE),
    "video": re.compile(r"video", re.IGNORECASE),
}
#: Errors that a smaller or newly encoded copy may resolve.
SMALLER = re.compile(
    r"too (?:large|big|many pixels|high)|exceed|dimension|pixels|resolution|size limit"
    r"|maximum (?:allowed )?(?:file |image )?size"
    r"|(?:could|can) ?(?:not|n't|'t) (?:be )?process|unable to process|failed to process",
    re.IGNORECASE,
)
#: Errors about one file, its content or the length of the prompt, which say nothing about the model.
ONE_FILE = re.compile(
    r"broken|corrupt|damaged|torn|decod|invalid (?:image|file|pdf|base64|audio|video|data|url)|format|mime|media.?type"
    r"|unsupported|not a valid|password|encrypted|moderation|safety|policy|flagged|blocked|sensitive|fetch|download"
    r"|\burl|robots|context|token|prompt",
    re.IGNORECASE,
)


def is_about_files(error: ProviderError, request: Request) -> bool:
    """Whether a provider refused a request because of its files.

    What an error says counts; a path only if it leads to a place of the request: to files, or to another part of it.
    """
    if error.status not in REFUSALS or (error.path and request.leads_elsewhere(error.path)):
        return False
    text = f"{error.path}: {error.text}" if files_at(error, request) else error.text
    return (
        error.status == 413
        or ABOUT_MEDIA.search(text) is not None
        or ABOUT_CONTENT.search(text) is not None
        or says(request.target.dialect.errors.about_files, text)
    )


def refused_kinds(error: ProviderError, request: Request) -> frozenset[Kind]:
    """The kinds of this request's files that the model doesn't take, if the error says so in words."""
    sent, refused = kinds_of(request), read_refused_media(error, request.target.dialect.errors)
    if refused is None:
        return frozenset()
    named = refused.kinds or frozenset(kind for kind, words in KIND_WORDS.items() if words.search(refused.words))
    return sent & named if named else sent


def may_be_smaller(error: ProviderError) -> bool:
    """Whether the provider may accept smaller or newly encoded copies of the files."""
    return error.status == 413 or SMALLER.search(error.text) is not None


def may_be_modality(error: ProviderError) -> bool:
    """Whether the model may not take such files at all, though the error doesn't say so."""
    return not may_be_smaller(error) and ONE_FILE.search(error.text) is None


def kinds_of(request: Request) -> frozenset[Kind]:
    """The kinds of the files in a request."""
    sent = {file.file.kind for file in files_of(request)}
    return frozenset(kind for kind in KIND_WORDS if kind in sent)


def files_at(error: ProviderError, request: Request) -> tuple[RenderedFile, ...]:
    """The files at the closest of the paths that an error names; none if no path leads to files."""
    paths = [error.path or "", *paths_in(error.text, request.api.MESSAGES_KEY)]
    places = [files for files in map(request.locate, paths) if files]
    return min(places, key=len, default=())


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
    failed = Failed(
        f"{request.target.name} refused it: {error.text[:300]}",
        f"HTTP {error.status}",
        retry_smaller=may_be_smaller(error),
    )
    return {want: failed for file in files for want in rejections(file.file, scope)}


def describe_files(files: Sequence[RenderedFile]) -> list[tuple[str, str]]:
    """The label of each file, and its name and size, for an error text."""
    sizes: dict[str, str] = {}
    for file in files:
        size = f", {format_size(file.file.size)}" if isinstance(file.file, Facts) else ""
        sizes[format_label(file.file.kind, file.number)] = f"{file.name}{size}"
    return [*sizes.items()]
