"""A person's words as tokens. Code, links and JSON are other people's words: they are taken out before."""

from __future__ import annotations

import re
from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from functools import partial
from typing import NamedTuple
from unicodedata import normalize

#: A new line, something taken out, the start and the end of the text: no phrase goes over it.
BREAK = "\n"
SENTENCE_ENDS = frozenset({BREAK, ".", "!", "?", ";"})

# No pattern repeats a repetition, and each try stops at the sign that would start the next: all of them are linear.
TICKS = re.compile(r"`+|~{3,}")
ELSEWHERE = re.compile(
    r"\b(?:https?|ftp|file|gs|s3)://\S+|\bwww\.\S+|\b(?:data|mailto):\S+"
    r"|!?\[[^\[\]\n]*\]\([^()\n]*\)|\[\s*\"[^\[\]]*\]|<[A-Za-z/!][^<>\n]*>",
    re.IGNORECASE,
)
BRACES = re.compile(r"[{}]")
#: What is shortened after an apostrophe ("what's", "image 5's") is one sign.
TOKEN = re.compile(
    r"(?P<short>(?<=[^\W_])['\u2019](?:s|re|t|ll|ve|d|m)\b)"
    r"|(?P<word>(?:[^\W_]|[\u0300-\u036f])+)|[^\S\n]+|(?P<sign>\n+|.)"
)
WORD = re.compile(r"(?:[^\W_]|[\u0300-\u036f])+")
JOINED = re.compile(r"(image|img|picture|pic|photo|file|document|doc|video)(\d{1,6})", re.IGNORECASE)


class Token(NamedTuple):
    """A word in lower case, digits, or one sign, and where it stands in the text."""

    word: str
    start: int
    end: int

    @property
    def is_word(self) -> bool:
        """Whether it is letters, digits or both."""
        return self.word[0].isalnum()

    @property
    def is_digits(self) -> bool:
        """Whether it is a number that a file could have."""
        return self.word.isascii() and self.word.isdigit() and len(self.word) <= 6


def split(text: str, names: AbstractSet[str] = frozenset()) -> list[Token]:
    """The tokens of a text, and breaks behind them, so that whoever looks ahead, or back from the first, meets one.

    Of code only what is a file's name in ticks stays; `names` are folded.
    """
    end = len(text)
    return [*scan(_take_out(text, names)), *[Token(BREAK, end, end)] * 8]


def fold(word: str) -> str:
    """A word so that its spellings are equal, whatever its case and however its accents are written."""
    return word.lower() if word.isascii() else normalize("NFKC", word).casefold() or word


def scan(text: str) -> Iterator[Token]:
    """The tokens of a text as it stands."""
    for found in TOKEN.finditer(text):
        if found.lastgroup == "short":
            yield Token("'" + found[0][1:].lower(), found.start(), found.end())
        elif found.lastgroup == "sign":
            yield Token(found[0][0], found.start(), found.end())
        elif found.lastgroup == "word":
            joined = JOINED.fullmatch(found[0])
            spans = (joined.span(1), joined.span(2)) if joined else ((0, len(found[0])),)
            for start, end in spans:
                yield Token(fold(found[0][start:end]), found.start() + start, found.start() + end)


def _take_out(text: str, names: AbstractSet[str]) -> str:
    """The same text, as long, with breaks where it isn't the person who speaks."""
    for find in (partial(_find_code, names=names), _find_json, _find_elsewhere):
        pieces: list[str] = []
        done = 0
        for start, end in find(text):
            pieces += [text[done:start], BREAK * (end - start)]
            done = end
        text = "".join([*pieces, text[done:]])
    return text


def _find_code(text: str, names: AbstractSet[str]) -> Iterator[tuple[int, int]]:
    """Spans between two equal rows of ticks; a fence that nobody closed goes on to the end."""
    rows = list(TICKS.finditer(text))
    closing: dict[str, int] = {}
    pair: dict[int, int] = {}
    for index in range(len(rows) - 1, -1, -1):
        pair[index] = closing.get(rows[index][0], -1)
        closing[rows[index][0]] = index
    index = 0
    while index < len(rows):
        start, last = rows[index].start(), pair[index]
        if last < 0 and len(rows[index][0]) >= 3:
            yield start, len(text)
            return
        if last >= 0 and (len(rows[index][0]) >= 3 or "\n\n" not in text[start : rows[last].start()]):
            if rows[index][0] != "`" or fold(text[start + 1 : rows[last].start()].strip()) not in names:
                yield start, rows[last].end()
            index = last
        index += 1


def _find_json(text: str) -> Iterator[tuple[int, int]]:
    """Spans of braces that pair, the outermost ones."""
    opened: list[int] = []
    pairs: list[tuple[int, int]] = []
    for found in BRACES.finditer(text):
        if found[0] == "{":
            opened.append(found.start())
        elif opened:
            start = opened.pop()
            while pairs and pairs[-1][0] > start:
                pairs.pop()
            pairs.append((start, found.end()))
    yield from pairs


def _find_elsewhere(text: str) -> Iterator[tuple[int, int]]:
    """Spans of links, lists of strings and tags."""
    return (found.span() for found in ELSEWHERE.finditer(text))
