"""Reads from a provider's error what it says about the files of a request."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from showandtell.core.capabilities.cells import Target
from showandtell.core.media_types.kinds import Kind
from showandtell.core.messages.attachments import Facts, format_label
from showandtell.core.messages.derivations import DerivationRequest, Failed, rejections
from showandtell.core.planning.labels import format_size
from showandtell.core.planning.values import Receipt, RenderedFile
from showandtell.core.wire.renderers import renderer_of
from showandtell.core.wire.request import Request
from showandtell.core.wire.tree import iter_slots
from showandtell.errors import ProviderError

#: Statuses that may be about files: bad request, too large, unsupported type, unprocessable.
REFUSALS = frozenset({400, 413, 415, 422})
#: Statuses that are never about what a model can see: keys, busy hosts, too large bodies.
OTHER_REASONS = frozenset({401, 402, 403, 408, 409, 413, 429})
#: Terms for files in error texts. A 413 needs none.
ABOUT_MEDIA = re.compile(
    r"image|picture|pdf|document|\bfiles?\b|file_|filedata|media|audio|video|base64|mime|pixel|dimension|\bpages?\b"
    r"|attachment|inline_?data|\bblob|\burl_|robots",
    re.IGNORECASE,
)
#: Paths that may lead to a file in a request. Any other path (`tools.0.name`) is not about files.
MESSAGE_PATH = r"#?/?(messages|input|contents|request|{key})\b|^$"
#: Servers of models without eyes want the content of a message as text. Groq: "'messages.3.content' : value must be a
#: string"; pydantic: "Input should be a valid string"; Go: "cannot unmarshal array into Go struct field".
ABOUT_CONTENT = re.compile(
    r"must be a string|should be a (?:valid )?string|expected (?:a )?string|cannot unmarshal array"
    r"|not of type 'string'|invalid content type|content[^.]{0,20}not a string",
    re.IGNORECASE,
)

MEDIUM = (
    r"(?:images?|image_url|input_image|vision|visual|multi-?modal|audio|input_audio|videos?|pdfs?|documents?|files?)"
)
UNSUPPORTED = r"(?:not|n't) (?:currently )?(?:supported|enabled|available)"
MODEL = r"(?:model|endpoint|server|deployment)"
NOT_TAKEN = (
    r"(?:does(?:n't| not)|can(?:not|'t)|do not|don't) (?:currently )?(?:support|accept|take|handle|process|have)"
)
#: What follows a medium if the error is about one form of it rather than about the model.
ONE_FORM = (
    r"(?!/| ?(?:urls?|formats?|types?|of type|ids?|larger|bigger|in (?:tool|function|system|assistant)|by|from|with)\b)"
)
#: Errors of models that don't take a kind at all. Read in OpenRouter (404), vLLM, llama.cpp (500), Gemini, OpenAI,
#: Bedrock, Ollama, DeepSeek, state of 2026-11-23.
MODALITY = re.compile(
    rf"no endpoints found that support [^.]*{MEDIUM}[^.]*"
    rf"|not a (?:multi-?modal|vision) model"
    rf"|at most 0 {MEDIUM}"
    rf"|missing data required for {MEDIUM} input"
    rf"|unknown variant .?(?:image|image_url|input_image|input_audio|file|input_file)\b"
    rf"|\b{MEDIUM}[ _-](?:input|content|modality|understanding|message)s?\b[^.]{{0,30}}?{UNSUPPORTED}"
    rf"|\b{MEDIUM}\b[^.]{{0,20}}?{UNSUPPORTED} (?:by|with|for|on|in) (?:this |the |your )?{MODEL}"
    rf"|\b{MEDIUM}\b[^.]{{0,40}}?only (?:supported|available) (?:by|on|with|for|in) (?:certain|some|vision|multi)"
    rf"|\b{MODEL}\b[^.]{{0,80}}?{NOT_TAKEN} (?:the |any |such )?{MEDIUM}\b{ONE_FORM}"
    rf"|{NOT_TAKEN} (?:the )?{MEDIUM}[ _-](?:input|content|modality|understanding)s?\b"
    rf"|text-only model|model is text-only|only (?:supports?|accepts?|takes?) text\b",
    re.IGNORECASE,
)
#: OpenAI's words for audio, video and documents to a model that takes images.
ONLY_IMAGES = re.compile(r"expected to be either text or image_url", re.IGNORECASE)
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


def is_about_files(error: ProviderError, target: Target) -> bool:
    """Whether a target's provider refused a request because of its files."""
    messages_key = re.escape(renderer_of(target.api).MESSAGES_KEY)
    if error.path and not re.match(MESSAGE_PATH.format(key=messages_key), error.path):
        return False
    text, own = error.text, target.dialect.errors.about_files
    return error.status in REFUSALS and (
        error.status == 413
        or ABOUT_MEDIA.search(text) is not None
        or ABOUT_CONTENT.search(text) is not None
        or says(own, text)
    )


def says(expression: str, text: str) -> bool:
    """Whether an error's text has the words of an expression of `ErrorWords`; an empty one has none."""
    return bool(expression) and re.search(expression, text, re.IGNORECASE) is not None


def refused_kinds(error: ProviderError, request: Request) -> frozenset[Kind]:
    """The kinds of this request's files that the model doesn't take, if the error says so in words."""
    sent = kinds_of(request)
    if error.status in OTHER_REASONS:
        return frozenset()
    own = request.target.dialect.errors.not_taken
    if found := frozenset(kind for kind, expression in own if says(expression, error.text)):
        return sent & found
    if ONLY_IMAGES.search(error.text):
        return sent - {"image"}
    match = MODALITY.search(error.text)
    if match is None:
        return frozenset()
    return frozenset(kind for kind in sent if KIND_WORDS[kind].search(match.group())) or sent


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
