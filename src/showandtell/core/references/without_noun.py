"""References without a noun for the kind of file: "look at 5", "#5", "5 vs 7", "the accent wall".

Numbers that count something are no references.
"""

from __future__ import annotations

from collections.abc import Sequence

from showandtell.core.references.catalogue import Catalogue, within
from showandtell.core.references.numbers import SIGNS, NumberContext, Spans, is_quantity, read_number, read_spans
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
    SEERS,
    UNITS,
    VALUED,
)

#: A year isn't a file, even in a conversation with thousands of files.
YEARS = range(1900, 2101)
QUOTES = {'"': '"', "\u201c": "\u201d", "\u2018": "\u2019", "'": "'", "\u00ab": "\u00bb", "\u201e": "\u201c"}
NAMING = frozenset({"called", "named", "titled"})
MAX_NAME_WORDS = 8
Match = tuple[int, tuple[int, ...]]


def read_without_noun(tokens: Sequence[Token], at: int, catalogue: Catalogue) -> Match | None:
    """Read a verb of looking with its numbers, a number after # or @, or two numbers that are compared.

    Returns the index of the next token and the numbers.
    """
    word = tokens[at].word
    if word in SIGNS:
        return _read_signed(tokens, at, catalogue)
    if tokens[at].is_digits:
        return _read_versus(tokens, at, catalogue)
    return _read_looking(tokens, at, catalogue) if word in FIRST_LOOKING else None


def _read_signed(tokens: Sequence[Token], at: int, catalogue: Catalogue) -> Match | None:
    found = read_number(tokens, at, words=False)
    if found is None or not tokens[at + 1].is_digits or tokens[at].end != tokens[at + 1].start:
        return None
    number, end = found
    if number not in catalogue.attachments or not _may_lead(tokens, at):
        return None
    if tokens[at - 1].word == ":" and tokens[at - 2].word in VALUED:
        return None
    # "meet me @4" and "@3 pm" are times.
    if tokens[at].word == "@" and (tokens[end].word in UNITS or tokens[at - 1].word == "me"):
        return None
    starts_line = at == 0 or tokens[at - 1].word == BREAK
    if starts_line and tokens[end].word not in NO_PLURALS and is_quantity(tokens, end, strict=True):
        return None  # "#1 Buy milk" is a list
    return end, (number,)


def _may_lead(tokens: Sequence[Token], at: int) -> bool:
    """Whether the word before a number allows a reference: "issue #5" and "Python 2 vs 3" are about other numbers."""
    before = tokens[at - 1]
    return at == 0 or (
        before.word in LEADING if before.is_word else before.end < tokens[at].start or before.word in "(\n"
    )


def _read_versus(tokens: Sequence[Token], at: int, catalogue: Catalogue) -> Match | None:
    if not _may_lead(tokens, at):
        return None
    if (second := _read_pair(tokens, at)) is not None:
        return _existing((((_span(tokens[at]), _span(tokens[second])),), second + 1), catalogue)
    if tokens[at + 1].word not in {"vs", "versus"}:
        return None
    return _existing(read_spans(tokens, at, NumberContext(comparing=True, without_noun=True)), catalogue)


def _read_pair(tokens: Sequence[Token], at: int) -> int | None:
    """The second number of "3 better than 5", "3 is sharper than 5" and "4 look like 5"."""
    middle = at + (2 if tokens[at + 1].word in {"is", "looks"} else 1)
    better = tokens[middle].word in BETTER and tokens[middle + 1].word == "than"
    alike = tokens[at + 1].word in {"look", "looks"} and tokens[at + 2].word == "like"
    second = at + 3 if alike else middle + 2
    if not (better or alike) or read_number(tokens, at, words=False) is None:
        return None
    found = read_number(tokens, second, words=False)
    return None if found is None or found[1] != second + 1 or is_quantity(tokens, found[1], strict=True) else second


def _span(token: Token) -> tuple[int, int]:
    return int(token.word), int(token.word)


def _read_looking(tokens: Sequence[Token], at: int, catalogue: Catalogue) -> Match | None:
    for length in (4, 3, 2, 1):
        if tuple(token.word for token in tokens[at : at + length]) in LOOKING:
            if tokens[at].word == "see" and tokens[at - 1].word in SEERS and tokens[at - 2].word not in ASKING:
                return None
            comparing = tokens[at].word in COMPARING
            return _existing(
                read_spans(tokens, at + length, NumberContext(comparing=comparing, without_noun=True)), catalogue
            )
    return None


def _existing(found: tuple[tuple[Spans, ...], int] | None, catalogue: Catalogue) -> Match | None:
    """The numbers of spans, if both ends of each are numbers of files; None otherwise."""
    if found is None:
        return None
    spans, end = found[0][0], found[1]
    if any(number not in catalogue.attachments or number in YEARS for span in spans for number in span):
        return None
    return end, tuple(dict.fromkeys(number for span in spans for number in within(span, catalogue.numbers)))


def read_called(tokens: Sequence[Token], at: int, catalogue: Catalogue) -> Match | None:
    """Read a name without its extension: "the accent wall", a name in quotes, "called harbour"."""
    word = tokens[at].word
    if word in QUOTES:
        return _read_quoted(tokens, at, catalogue)
    if word in NAMING:
        return _read_words(tokens, at + 1, catalogue, min_length=3)
    if word in NOUNS:
        return _read_words(tokens, at + 1, catalogue, min_length=0)
    if word not in DETERMINERS:
        return None
    return _read_words(tokens, at + (2 if tokens[at + 1].word in NOUNS else 1), catalogue, min_length=5)


def _read_quoted(tokens: Sequence[Token], at: int, catalogue: Catalogue) -> Match | None:
    words: list[str] = []
    for index in range(at + 1, min(at + 1 + MAX_NAME_WORDS * 2, len(tokens))):
        token = tokens[index]
        if token.word == QUOTES[tokens[at].word]:
            numbers = catalogue.called(tuple(words)) if len("".join(words)) >= 3 else ()
            return (index + 1, numbers) if numbers else None
        if token.is_word:
            words.append(token.word)
        elif token.word not in "_-,.":
            return None
    return None


def _read_words(tokens: Sequence[Token], at: int, catalogue: Catalogue, min_length: int) -> Match | None:
    """The longest name at a token. A single word needs at least `min_length` characters; 0 allows no single word."""
    words: list[str] = []
    while tokens[at + len(words)].is_word and len(words) < MAX_NAME_WORDS:
        words.append(tokens[at + len(words)].word)
    for length in range(len(words), 0, -1):
        end = at + length
        if length == 1 and not _stands_alone(tokens, at, min_length):
            return None
        name = tuple(words[:length])
        if words[0] not in FUNCTION_WORDS and catalogue.called(name):
            return end, tuple(sorted({*catalogue.called(name), *catalogue.containing(name)}))
    return None


def _stands_alone(tokens: Sequence[Token], at: int, min_length: int) -> bool:
    """Whether a single word is enough: rare, long, and not part of a longer noun."""
    word, after = tokens[at].word, tokens[at + 1]
    rare = 0 < min_length <= len(word) and word.isalpha() and word not in COMMON | FUNCTION_WORDS
    return rare and (not after.is_word or after.word in FOLLOWING) and after.word not in {"-", "_"}
