"""Phrases after a noun that narrow down the files: "from gdrive", "that I uploaded", "above"."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from showandtell.core.references.catalogue import Catalogue
from showandtell.core.references.phrase import Phrase
from showandtell.core.references.tokens import Token
from showandtell.core.references.vocabulary import FILLERS, FUNCTION_WORDS, MADE, SENT

#: Maximum number of traits of a phrase.
MAX_TRAITS = 8


def read_tail(tokens: Sequence[Token], phrase: Phrase, catalogue: Catalogue) -> int | None:
    """Read what follows a noun: "from gdrive", "that I uploaded", "above". Returns the index of the next token."""
    readers: tuple[Callable[[], int | None], ...] = (
        lambda: _read_source(tokens, phrase, catalogue),
        lambda: read_clause(tokens, phrase),
        lambda: _read_nearness(tokens, phrase),
    )
    if len(phrase.traits) > MAX_TRAITS:
        return None
    return next((end for read in readers if (end := read()) is not None), None)


def _read_source(tokens: Sequence[Token], phrase: Phrase, catalogue: Catalogue) -> int | None:
    """Read "from me", "by the drive tool", "via google drive"."""
    at = phrase.end
    if tokens[at].word not in {"from", "by", "via"}:
        return None
    at += 1
    while tokens[at].word in {"the", "my", "our", "your", "google"}:
        at += 1
    word = tokens[at].word
    if word in {"me", "user", "you"}:
        phrase.traits.append(("by", "others" if word == "you" else "user"))
    elif len(word) >= 3 and word not in FUNCTION_WORDS and catalogue.fit(("tool", word)):
        phrase.traits.append(("tool", word))
    else:
        return None
    while tokens[at + 1].word in {"_", ".", "-"} and tokens[at + 2].is_word and tokens[at].end == tokens[at + 1].start:
        at += 2  # the complete name of a tool
    return at + (2 if tokens[at + 1].word in {"tool", "search"} else 1)


def read_clause(tokens: Sequence[Token], phrase: Phrase) -> int | None:
    """Read "I uploaded", "that you just made"."""
    at = phrase.end + (1 if tokens[phrase.end].word in {"that", "which"} else 0)
    subject = tokens[at].word
    if subject not in {"i", "we", "you"}:
        return None
    at += 1
    while tokens[at].word in FILLERS:
        phrase.at_hand = phrase.at_hand or tokens[at].word == "just"
        at += 1
    if tokens[at].word not in (MADE if subject == "you" else SENT):
        return None
    phrase.traits.append(("by", "others" if subject == "you" else "user"))
    return at + (2 if tokens[at + 1].word in {"me", "you", "us"} else 1)


def _read_nearness(tokens: Sequence[Token], phrase: Phrase) -> int | None:
    """Read "above" and "attached". "Below" can't refer to a file yet."""
    word = tokens[phrase.end].word
    if word not in {"above", "attached", "uploaded"} or phrase.at_hand:
        return None
    phrase.at_hand = True
    if word != "above":
        phrase.traits.append(("by", "user"))
    return phrase.end + 1
