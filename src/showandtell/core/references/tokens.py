"""Splits a user's text into tokens. Code, links and JSON are removed first: they aren't the user's own words."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from functools import partial
from typing import NamedTuple

#: A new line, removed text, the start and the end of the text: no phrase continues across it.
BREAK = "\n"
SENTENCE_ENDS = frozenset({BREAK, ".", "!", "?", ";"})

# No pattern nests repetitions, and each attempt stops at the character that would start the next: all are linear.
TICKS = re.compile(r"`+|~{3,}")
ELSEWHERE = re.compile(
    r"\b(?:https?|ftp|file|gs|s3)://\S+|\bwww\.\S+|\b(?:data|mailto):\S+"
    r"|!?\[[^\[\]\n]*\]\([^()\n]*\)|\[\s*\"[^\[\]]*\]|<[A-Za-z/!][^<>\n]*>",
    re.IGNORECASE,
)
BRACES = re.compile(r"[{}]")
#: A contraction after an apostrophe ("what's", "image 5's") is one token.
TOKEN = re.compile(
    r"(?P<short>(?<=[^\W_])['\u2019](?:s|re|t|ll|ve|d|m)\b)"
    r"|(?P<word>(?:[^\W_]|[\u0300-\u036f])+)|[^\S\n]+|(?P<sign>\n+|.)"
)
WORD = re.compile(r"(?:[^\W_]|[\u0300-\u036f])+")
JOINED = re.compile(r"(image|img|picture|pic|photo|file|document|doc|video)(\d{1,6})", re.IGNORECASE)


class Token(NamedTuple):
    """A word in lower case, digits, or one sign, and its position in the text."""

    word: str
    start: int
    end: int

    @property
    def is_word(self) -> bool:
        """Whether it is made of letters, digits or both."""
        return self.word[0].isalnum()

    @property
    def is_digits(self) -> bool:
        """Whether it is a number that a file could have."""
        return self.word.isascii() and self.word.isdigit() and len(self.word) <= 6


def split(text: str, names: AbstractSet[str] = frozenset()) -> list[Token]:
    """The tokens of a text, followed by breaks, so that code can look ahead, or back from the first token.

    In backticks only names of files stay; `names` are normalized.
    """
    end = len(text)
    return [*scan(_take_out(text, names)), *[Token(BREAK, end, end)] * 8]


def normalize(word: str) -> str:
    """Normalize case and the encoding of accents."""
    return word.lower() if word.isascii() else unicodedata.normalize("NFKC", word).casefold() or word


def scan(text: str) -> Iterator[Token]:
    """The tokens of a text, with nothing removed."""
    for match in TOKEN.finditer(text):
        if match.lastgroup == "short":
            yield Token("'" + match[0][1:].lower(), match.start(), match.end())
        elif match.lastgroup == "sign":
            yield Token(match[0][0], match.start(), match.end())
        elif match.lastgroup == "word":
            joined = JOINED.fullmatch(match[0])
            spans = (joined.span(1), joined.span(2)) if joined else ((0, len(match[0])),)
            for start, end in spans:
                yield Token(normalize(match[0][start:end]), match.start() + start, match.start() + end)


def _take_out(text: str, names: AbstractSet[str]) -> str:
    """Replace code, JSON, links and tags with breaks; the length stays the same."""
    for find in (partial(_find_code, names=names), _find_json, _find_elsewhere):
        pieces: list[str] = []
        done = 0
        for start, end in find(text):
            pieces += [text[done:start], BREAK * (end - start)]
            done = end
        text = "".join([*pieces, text[done:]])
    return text


def _find_code(text: str, names: AbstractSet[str]) -> Iterator[tuple[int, int]]:
    """Spans between two equal runs of backticks or tildes; an unclosed fence extends to the end."""
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
            if rows[index][0] != "`" or normalize(text[start + 1 : rows[last].start()].strip()) not in names:
                yield start, rows[last].end()
            index = last
        index += 1


def _find_json(text: str) -> Iterator[tuple[int, int]]:
    """Spans of matching braces, only the outermost ones."""
    opened: list[int] = []
    pairs: list[tuple[int, int]] = []
    for match in BRACES.finditer(text):
        if match[0] == "{":
            opened.append(match.start())
        elif opened:
            start = opened.pop()
            while pairs and pairs[-1][0] > start:
                pairs.pop()
            pairs.append((start, match.end()))
    yield from pairs


def _find_elsewhere(text: str) -> Iterator[tuple[int, int]]:
    """Spans of links, lists of strings and tags."""
    return (match.span() for match in ELSEWHERE.finditer(text))
