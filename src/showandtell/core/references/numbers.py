"""Numbers after a noun or a verb: "5", "#5", "five", "2-4", "2, 3 and 5". Amounts are skipped."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

from showandtell.core.references.tokens import Token
from showandtell.core.references.vocabulary import ALL, FOLLOWING, NO_PLURALS, NUMBERS, UNITS

#: First and last number of each range; equal for a single number.
Spans: TypeAlias = tuple[tuple[int, int], ...]

DASHES = frozenset("-\u2013")
RANGE_WORDS = frozenset({"to", "through", "thru", "until"})
MARKS = frozenset({"number", "no", "nr", "num"})
#: "@4" and "#4", if the sign is not part of a word: "bob@4" and "C#4" are none.
SIGNS = frozenset("#@")
PAIR_WORDS = frozenset({"to", "with", "against", "from"})
MAX_NUMBERS = 20


def read_number(tokens: Sequence[Token], at: int, *, words: bool) -> tuple[int, int] | None:
    """A number and the index of the next token; with `words`, also numbers in words."""
    for marks in (MARKS, SIGNS):
        if tokens[at].word in marks:
            at += 2 if tokens[at + 1].word == "." else 1
    token = tokens[at]
    if words and token.word in NUMBERS:
        return NUMBERS[token.word], at + 1
    if token.is_digits and not _is_amount(tokens, at):
        return int(token.word), at + 1
    return None


def _touches(before: Token, after: Token) -> bool:
    return before.end == after.start


def _is_amount(tokens: Sequence[Token], at: int) -> bool:
    """Whether the signs around a number make it money, a percentage, a decimal, a date or part of a name."""
    before, token, after, behind = tokens[at - 1], tokens[at], tokens[at + 1], tokens[at + 2]
    if at and _touches(before, token) and before.word in set("$€£¥§.:/\\+=_^~*"):
        return True
    if at > 1 and before.word == "@" and tokens[at - 2].is_word and _touches(tokens[at - 2], before):
        return True
    if after.word in set("%€£°") or not _touches(token, after) or not _touches(after, behind):
        return after.word in set("%€£°")
    if after.word == ",":
        return behind.word.isdigit() and len(behind.word) == 3
    if after.word in DASHES:
        return not behind.is_digits or (tokens[at + 3].word in DASHES and _touches(behind, tokens[at + 3]))
    return after.word in set(".:/\\_^*+$") and behind.is_word


def is_quantity(tokens: Sequence[Token], at: int, *, strict: bool, doubtful: bool = False) -> bool:
    """Whether the number before this token counts what follows.

    strict: only the position of the number suggests a file. doubtful: the noun before it may be a verb.
    """
    word = tokens[at].word
    if not tokens[at].is_word:
        return word in set("%€£°$")
    if strict:
        each = word == "for" and tokens[at + 1].word in ALL  # "show 2 for each"
        return each or word not in FOLLOWING
    plural = word.endswith("s") and not word.endswith(("ss", "us", "is")) and word not in NO_PLURALS
    return word in UNITS or (doubtful and plural)


class NumberContext(NamedTuple):
    """What precedes numbers: a plural noun, a noun that may be a verb (`doubtful`), no noun, a word of comparing."""

    plural: bool = False
    comparing: bool = False
    without_noun: bool = False
    doubtful: bool = False


def read_spans(tokens: Sequence[Token], at: int, context: NumberContext) -> tuple[tuple[Spans, ...], int] | None:
    """Read a list of numbers: its readings ("compare images 2 to 4" has two), and the index of the next token."""
    plural, _, without_noun, _ = context
    first = _read_item(tokens, at, strict=without_noun, words=not without_noun, doubtful=context.doubtful)
    if first is None:
        return None
    number, at = first
    spans = [(number, number)]
    both = False
    while len(spans) < MAX_NUMBERS:
        separator = _read_separator(tokens, at, context)
        if separator is None:
            break
        kind, start = separator
        following = _read_item(tokens, start, strict=not plural, words=not without_noun, doubtful=True)
        if following is None:
            if kind != "then" and without_noun and tokens[start].is_digits:
                return None  # "compare 2 and 5 apples": the first number counts, too
            break
        number, at = following
        if kind == "range":
            spans[-1] = (spans[-1][0], number)
        else:
            both = both or (plural and kind == "to")
            spans.append((number, number))
    ranged = ((*spans[:-2], (spans[-2][0], spans[-1][1])),) if both else ()
    return (tuple(spans), *ranged), at


def _read_item(
    tokens: Sequence[Token], at: int, *, strict: bool, words: bool, doubtful: bool
) -> tuple[int, int] | None:
    """Read one number that doesn't count anything; the list may continue after it."""
    found = read_number(tokens, at, words=words)
    if found is None:
        return None
    in_words = not tokens[found[1] - 1].is_digits
    continues = tokens[found[1]].word in RANGE_WORDS | PAIR_WORDS
    counts = not continues and is_quantity(tokens, found[1], strict=strict or in_words, doubtful=doubtful)
    return None if counts else found


def _read_separator(tokens: Sequence[Token], at: int, context: NumberContext) -> tuple[str, int] | None:
    """Read what separates two numbers: "list", "then", "range", or "to" if it may be a list or a range."""
    word = tokens[at].word
    if word in DASHES:
        return "range", at + 1
    then = at + (1 if word in {",", "and"} else 0)
    if context.without_noun and tokens[then].word == "then":
        return "then", then + 1
    if word == ",":
        return "list", at + (2 if tokens[at + 1].word in {"and", "or", "&"} else 1)
    if word in {"and", "or", "&", "vs", "versus"}:
        return "list", at + (2 if tokens[at + 1].word == "." and word == "vs" else 1)
    if context.comparing and word in PAIR_WORDS:
        return ("to" if word == "to" else "list"), at + 1
    if (context.plural or context.without_noun) and word in RANGE_WORDS:
        return "range", at + 1
    return None
