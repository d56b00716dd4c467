"""Recognizes a provider's answer that the model takes no files of a kind at all, in the words of its API."""

from __future__ import annotations

import re

from msgspec import Struct

from showandtell.core.capabilities.cells import ErrorWords
from showandtell.core.media_types.kinds import Kind
from showandtell.errors import ProviderError

#: Statuses that are never about what a model can see: keys, busy hosts, too large bodies.
OTHER_REASONS = frozenset({401, 402, 403, 408, 409, 413, 429})

MEDIUM = (
    r"(?:images?|image_url|input_image|vision|visual|multi-?modal|audio|input_audio|videos?|pdfs?|documents?|files?)"
)
#: Types of content parts.
PART = r"(?:image|image_url|input_image|audio_url|input_audio|video|video_url|document|file|input_file)"
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
    rf"|unknown variant .?{PART}\b"
    rf"|unsupported (?:chat )?content (?:part )?type:? .?{PART}\b"
    rf"|\b{PART}\W{{0,2}}(?:is|are) {UNSUPPORTED} by\b"
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
ALL_BUT_IMAGES: frozenset[Kind] = frozenset({"document", "audio", "video"})
#: Texts of hosts that are busy, whatever they say about files.
PASSING = re.compile(r"temporar|try again|later|overload|busy|capacity", re.IGNORECASE)


class RefusedMedia(Struct, frozen=True):
    """What an error says the model doesn't take: kinds, or words that name some."""

    kinds: frozenset[Kind] = frozenset()
    words: str = ""


def read_refused_media(error: ProviderError, words: ErrorWords) -> RefusedMedia | None:
    """What an error says of kinds that the model doesn't take; None if it is another error.

    `words` are those of its host.
    """
    if error.status in OTHER_REASONS or (error.status >= 500 and PASSING.search(error.text)):
        return None
    kinds: frozenset[Kind] = frozenset(kind for kind, own in words.not_taken if says(own, error.text))
    if kinds:
        return RefusedMedia(kinds)
    if ONLY_IMAGES.search(error.text):
        return RefusedMedia(ALL_BUT_IMAGES)
    match = MODALITY.search(error.text)
    return RefusedMedia(words=match.group()) if match else None


def says(expression: str, text: str) -> bool:
    """Whether an error's text has the words of an expression of `ErrorWords`; an empty one has none."""
    return bool(expression) and re.search(expression, text, re.IGNORECASE) is not None
