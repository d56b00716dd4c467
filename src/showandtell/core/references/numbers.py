"""Numbers as people write them after a noun or a verb: "5", "#5", "five", "2-4", "2, 3 and 5"; amounts are none."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

from showandtell.core.references.tokens import Token
from showandtell.core.references.vocabulary import ALL, FOLLOWING, NO_PLURALS, NUMBERS, UNITS

#: First and last number of each piece; they are equal where it is no range.
Spans: TypeAlias = tuple[tuple[int, int], ...]

DASHES = frozenset("-\u2013")
RANGE_WORDS = frozenset({"to", "through", "thru", "until"})
MARKS = frozenset({"number", "no", "nr", "num"})
PAIR_WORDS = frozenset({"to", "with", "against", "from"})
MOST_NUMBERS = 20


def read_number(tokens: Sequence[Token], at: int, *, words: bool) -> tuple[int, int] | None:
    """A number and the token behind it; with `words`, also spelt out."""
    for marks in (MARKS, {"#"}):
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
    """Whether signs around it make it money, a share, a decimal, a date or a part of a name."""
    before, token, after, behind = tokens[at - 1], tokens[at], tokens[at + 1], tokens[at + 2]
    if at and _touches(before, token) and before.word in set("$€£¥§.:/\\+=@_^~*"):
        return True
    if after.word in set("%€£°") or not _touches(token, after) or not _touches(after, behind):
        return after.word in set("%€£°")
    if after.word == ",":
        return behind.word.isdigit() and len(behind.word) == 3
    if after.word in DASHES:
        return not behind.is_digits or (tokens[at + 3].word in DASHES and _touches(behind, tokens[at + 3]))
    return after.word in set(".:/\\_^*+$") and behind.is_word


def counts(tokens: Sequence[Token], at: int, *, strict: bool, doubtful: bool = False) -> bool:
    """Whether the number before this token counts what follows.

    `strict` where nothing but its place speaks for a file, `doubtful` where the noun before it may be a verb.
    """
    word = tokens[at].word
    if not tokens[at].is_word:
        return word in set("%€£°$")
    if strict:
        each = word == "for" and tokens[at + 1].word in ALL  # "show 2 for each"
        return each or word not in FOLLOWING
    plural = word.endswith("s") and not word.endswith(("ss", "us", "is")) and word not in NO_PLURALS
    return word in UNITS or (doubtful and plural)


class Manner(NamedTuple):
    """What stands before numbers: a plural noun, one that may be a verb, none at all (`bare`), a word of comparing."""

    plural: bool = False
    comparing: bool = False
    bare: bool = False
    doubtful: bool = False


def read_spans(tokens: Sequence[Token], at: int, manner: Manner) -> tuple[tuple[Spans, ...], int] | None:
    """A list of numbers: its readings, for "compare images 2 to 4" has two, and the token behind it."""
    plural, _, bare, _ = manner
    first = _read_item(tokens, at, strict=bare, words=not bare, doubtful=manner.doubtful)
    if first is None:
        return None
    number, at = first
    spans = [(number, number)]
    both = False
    while len(spans) < MOST_NUMBERS:
        found = _read_separator(tokens, at, manner)
        following = _read_item(tokens, found[1], strict=not plural, words=not bare, doubtful=True) if found else None
        if found is None or following is None:
            if found and found[0] != "then" and bare and tokens[found[1]].is_digits:
                return None  # "compare 2 and 5 apples": the first one counts too
            break
        number, at = following
        if found[0] == "range":
            spans[-1] = (spans[-1][0], number)
        else:
            both = both or (plural and found[0] == "to")
            spans.append((number, number))
    ranged = ((*spans[:-2], (spans[-2][0], spans[-1][1])),) if both else ()
    return (tuple(spans), *ranged), at


def _read_item(
    tokens: Sequence[Token], at: int, *, strict: bool, words: bool, doubtful: bool
) -> tuple[int, int] | None:
    """One number that counts nothing; a list may go on behind it."""
    found = read_number(tokens, at, words=words)
    if found is None:
        return None
    spelt = not tokens[found[1] - 1].is_digits
    goes_on = tokens[found[1]].word in RANGE_WORDS | PAIR_WORDS
    return None if not goes_on and counts(tokens, found[1], strict=strict or spelt, doubtful=doubtful) else found


def _read_separator(tokens: Sequence[Token], at: int, manner: Manner) -> tuple[str, int] | None:
    """Between two numbers: "list", "then", "range", or "to" where that word may be either."""
    word = tokens[at].word
    if word in DASHES:
        return "range", at + 1
    then = at + (1 if word in {",", "and"} else 0)
    if manner.bare and tokens[then].word == "then":
        return "then", then + 1
    if word == ",":
        return "list", at + (2 if tokens[at + 1].word in {"and", "or", "&"} else 1)
    if word in {"and", "or", "&", "vs", "versus"}:
        return "list", at + (2 if tokens[at + 1].word == "." and word == "vs" else 1)
    if manner.comparing and word in PAIR_WORDS:
        return ("to" if word == "to" else "list"), at + 1
    if (manner.plural or manner.bare) and word in RANGE_WORDS:
        return "range", at + 1
    return None
