"""Files without a word for their kind: "look at 5", "#5", "5 vs 7", "the accent wall"; numbers that count are none."""

from __future__ import annotations

from collections.abc import Sequence

from showandtell.core.references.catalogue import Catalogue, within
from showandtell.core.references.numbers import Manner, Spans, counts, read_number, read_spans
from showandtell.core.references.tokens import BREAK, Token
from showandtell.core.references.vocabulary import (
    ASKING,
    BETTER,
    COMMON,
    COMPARING,
    DETERMINERS,
    FIRST_LOOKING,
    FOLLOWING,
    FUNCTION_WORDS,
    LEADING,
    LOOKING,
    NO_PLURALS,
    NOUNS,
    RANKED,
    SEERS,
    VALUED,
)

#: A year is no file, even where there are so many.
YEARS = range(1900, 2101)
QUOTES = {'"': '"', "\u201c": "\u201d", "\u2018": "\u2019", "'": "'", "\u00ab": "\u00bb", "\u201e": "\u201c"}
NAMING = frozenset({"called", "named", "titled"})
MOST_NAME_WORDS = 8
Found = tuple[int, tuple[int, ...]]


def read_bare(tokens: Sequence[Token], at: int, catalogue: Catalogue) -> Found | None:
    """The token behind a verb of looking with its numbers, a number with its sign, or two that are compared."""
    word = tokens[at].word
    if word == "#":
        return _read_signed(tokens, at, catalogue)
    if tokens[at].is_digits:
        return _read_versus(tokens, at, catalogue)
    return _read_looking(tokens, at, catalogue) if word in FIRST_LOOKING else None


def _read_signed(tokens: Sequence[Token], at: int, catalogue: Catalogue) -> Found | None:
    found = read_number(tokens, at, words=False)
    if found is None or not tokens[at + 1].is_digits or tokens[at].end != tokens[at + 1].start:
        return None
    number, end = found
    if number not in catalogue.attachments or tokens[end].word in RANKED or not _may_lead(tokens, at):
        return None
    if tokens[at - 1].word == ":" and tokens[at - 2].word in VALUED:
        return None
    starts_line = at == 0 or tokens[at - 1].word == BREAK
    if starts_line and tokens[end].word not in NO_PLURALS and counts(tokens, end, strict=True):
        return None  # "#1 Buy milk" is a list
    return end, (number,)


def _may_lead(tokens: Sequence[Token], at: int) -> bool:
    """Whether the word before a number leaves it alone: "issue #5" and "Python 2 vs 3" have numbers of their own."""
    before = tokens[at - 1]
    return at == 0 or (
        before.word in LEADING if before.is_word else before.end < tokens[at].start or before.word in "(\n"
    )


def _read_versus(tokens: Sequence[Token], at: int, catalogue: Catalogue) -> Found | None:
    if not _may_lead(tokens, at):
        return None
    if (second := _read_pair(tokens, at)) is not None:
        return _all_there((((_span(tokens[at]), _span(tokens[second])),), second + 1), catalogue)
    if tokens[at + 1].word not in {"vs", "versus"}:
        return None
    return _all_there(read_spans(tokens, at, Manner(comparing=True, bare=True)), catalogue)


def _read_pair(tokens: Sequence[Token], at: int) -> int | None:
    """The second number of "3 better than 5", "3 is sharper than 5" and "4 look like 5"."""
    middle = at + (2 if tokens[at + 1].word in {"is", "looks"} else 1)
    better = tokens[middle].word in BETTER and tokens[middle + 1].word == "than"
    alike = tokens[at + 1].word in {"look", "looks"} and tokens[at + 2].word == "like"
    second = at + 3 if alike else middle + 2
    if not (better or alike) or read_number(tokens, at, words=False) is None:
        return None
    found = read_number(tokens, second, words=False)
    return None if found is None or found[1] != second + 1 or counts(tokens, found[1], strict=True) else second


def _span(token: Token) -> tuple[int, int]:
    return int(token.word), int(token.word)


def _read_looking(tokens: Sequence[Token], at: int, catalogue: Catalogue) -> Found | None:
    for length in (4, 3, 2, 1):
        if tuple(token.word for token in tokens[at : at + length]) in LOOKING:
            if tokens[at].word == "see" and tokens[at - 1].word in SEERS and tokens[at - 2].word not in ASKING:
                return None
            comparing = tokens[at].word in COMPARING
            return _all_there(read_spans(tokens, at + length, Manner(comparing=comparing, bare=True)), catalogue)
    return None


def _all_there(found: tuple[tuple[Spans, ...], int] | None, catalogue: Catalogue) -> Found | None:
    """The numbers of spans, if every end of them is a file's: otherwise they are numbers of something else."""
    if found is None:
        return None
    spans, end = found[0][0], found[1]
    if any(one not in catalogue.attachments or one in YEARS for span in spans for one in span):
        return None
    return end, tuple(dict.fromkeys(one for span in spans for one in within(span, catalogue.numbers)))


def read_called(tokens: Sequence[Token], at: int, catalogue: Catalogue) -> Found | None:
    """The token behind a name without its ending: "the accent wall", a name in quotes, "called harbour"."""
    word = tokens[at].word
    if word in QUOTES:
        return _read_quoted(tokens, at, catalogue)
    if word in NAMING:
        return _read_words(tokens, at + 1, catalogue, least=3)
    if word in NOUNS:
        return _read_words(tokens, at + 1, catalogue, least=0)
    if word not in DETERMINERS:
        return None
    return _read_words(tokens, at + (2 if tokens[at + 1].word in NOUNS else 1), catalogue, least=5)


def _read_quoted(tokens: Sequence[Token], at: int, catalogue: Catalogue) -> Found | None:
    words: list[str] = []
    for index in range(at + 1, min(at + 1 + MOST_NAME_WORDS * 2, len(tokens))):
        token = tokens[index]
        if token.word == QUOTES[tokens[at].word]:
            numbers = catalogue.called(tuple(words)) if len("".join(words)) >= 3 else ()
            return (index + 1, numbers) if numbers else None
        if token.is_word:
            words.append(token.word)
        elif token.word not in "_-,.":
            return None
    return None


def _read_words(tokens: Sequence[Token], at: int, catalogue: Catalogue, least: int) -> Found | None:
    """The longest name from a token on; a single word needs `least` letters, where it may be one at all."""
    words: list[str] = []
    while tokens[at + len(words)].is_word and len(words) < MOST_NAME_WORDS:
        words.append(tokens[at + len(words)].word)
    for length in range(len(words), 0, -1):
        end = at + length
        if length == 1 and not _stands_alone(tokens, at, least):
            return None
        if words[0] not in FUNCTION_WORDS and (numbers := catalogue.called(tuple(words[:length]))):
            return end, numbers
    return None


def _stands_alone(tokens: Sequence[Token], at: int, least: int) -> bool:
    """Whether one word is enough: rare, long, and no part of a longer noun."""
    word, after = tokens[at].word, tokens[at + 1]
    rare = 0 < least <= len(word) and word.isalpha() and word not in COMMON | FUNCTION_WORDS
    return rare and (not after.is_word or after.word in FOLLOWING) and after.word not in {"-", "_"}
