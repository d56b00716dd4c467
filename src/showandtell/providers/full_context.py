"""Recognizes a provider's answer that a request is longer than the model's context window, in the words of its API."""

from __future__ import annotations

import re

from msgspec import Struct

from showandtell.core.capabilities.cells import ErrorWords
from showandtell.errors import ContextFull, ProviderError

#: Of hosts whose words are all known.
NO_WORDS = ErrorWords()
#: Statuses that such an answer has; 0 is an error inside a stream. Never 429: "too many tokens" a minute is a rate.
STATUSES = frozenset({0, 400, 413, 422, 500})
#: Read in issues of projects that meet these errors, 2026-11-26:
#: Anthropic: "prompt is too long: 208310 tokens > 200000 maximum" (claude-code #12186), "input length and `max_tokens`
#: exceed context limit: 178959 + 64000 > 200000" (docker-agent #569).
#: OpenAI: "Your input exceeds the context window of this model." with code context_length_exceeded (opencode
#: #6071), "This model's maximum context length is 8192 tokens. However, your messages resulted in 8545 tokens."
#: Gemini: "The input token count (3475108) exceeds the maximum number of tokens allowed (1048576)." (gemini-cli #4231)
#: Bedrock: "Input is too long for requested model." (bedrock-chat #95), Anthropic's words (goose #7504), OpenAI's words
#: (strands harness-sdk #3969), "too many total text bytes" (the same).
#: xAI: "This model's maximum prompt length is 131072 but the request contains 537812 tokens".
#: Groq: "Please reduce the length of the messages or completion." OpenRouter: "This endpoint's maximum context length
#: is 32768 tokens. However, you requested about 42832 tokens" (refly #1177).
#: Mistral: "Prompt contains 40000 tokens ... too large for model with 32768 maximum context length".
#: llama.cpp: "the request exceeds the available context size" (its #15780). LM Studio: "greater than the context
#: length".
FULL = re.compile(
    r"prompt is too long|input is too long for requested model"
    r"|input length and .?max_tokens.? exceed context limit|exceeds? the context window|context[_ ]length[_ ]exceeded"
    r"|input token count.{0,40}exceeds the maximum|maximum context length|maximum prompt length is \d"
    r"|reduce the length of (?:the |your )?(?:messages|prompt|input)|too many total text bytes"
    r"|exceeds? the available context size|exceed_context_size|greater than the context length|context window exceeds"
    r"|exceeded model token limit",
    re.IGNORECASE,
)
#: The numbers of these texts: the window, and the tokens of the request. Some name only the window, most both.
ASKED = r"(?:.{0,120}?(?:in|contains(?: at least)?|\() ?(?P<asked>\d+))?"
NUMBERS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"(?P<asked>\d+) tokens? > (?P<window>\d+)",
        r"context limit: (?P<asked>\d+) \+ \d+ > (?P<window>\d+)",
        r"input token count \((?P<asked>\d+)\) exceeds the maximum number of tokens allowed \((?P<window>\d+)\)",
        r"prompt contains (?P<asked>\d+) tokens.{0,80}model with (?P<window>\d+)",
        rf"maximum (?:context|prompt) length is (?P<window>\d+){ASKED}",
    )
)


class FullContext(Struct, frozen=True):
    """What an answer says of a request that was too long, in tokens; None if it doesn't say that."""

    window: int | None = None
    asked: int | None = None


def read_full_context(error: ProviderError, words: ErrorWords = NO_WORDS) -> FullContext | None:
    """What an error says of the context window; None if it is another error. `words` are those of its host."""
    if error.status not in STATUSES or not is_full_context(error.text, words):
        return None
    for pattern in NUMBERS:
        if match := pattern.search(error.text):
            window, asked = match["window"], match["asked"]
            return FullContext(int(window) or None, int(asked) if asked else None)
    return FullContext()


def is_full_context(text: str, words: ErrorWords = NO_WORDS) -> bool:
    """Whether a text says that a request was too long for the model's context window."""
    own = words.too_long
    return FULL.search(text) is not None or bool(own and re.search(own, text, re.IGNORECASE))


def context_full(error: ProviderError, advice: str) -> ContextFull:
    """The error of a request that is too long for its model, with what to do about it."""
    cause = error.__cause__ if isinstance(error, ContextFull) else error
    text = cause.text if isinstance(cause, ProviderError) else error.text
    full = ContextFull(f"{text}: {advice}", error.status, path=error.path)
    full.__cause__ = cause
    return full
