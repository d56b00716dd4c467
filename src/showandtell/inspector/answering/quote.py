"""Answer a question by quoting the lines that share most words with it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from msgspec import Struct

from showandtell.inspector.answering.words import stems

MAX_LINE, MAX_LINES = 300, 3
AMOUNT = re.compile(r"\b(total|much|many|when|number|date|sum|price|cost|due)\b", re.IGNORECASE)


class Source(Struct, frozen=True):
    """A text to quote from. `min_shared` is the number of words that a line must share with a question."""

    title: str
    text: str
    min_shared: int = 1


class Quote(Struct, frozen=True):
    """A line, and how many words it shares with the question."""

    title: str
    line: str
    shared_words: int


def find_quotes(question: str, sources: Sequence[Source]) -> list[Quote]:
    """The best lines, at most three. Rare words weigh more. For questions about amounts, lines with digits win."""
    query = set(stems(question))
    shared: list[set[str]] = []
    lines: list[tuple[str, str]] = []
    for source in sources:
        for line in split_lines(source.text):
            shared_words = query & set(stems(line))
            shared.append(shared_words if len(shared_words) >= source.min_shared else set())
            lines.append((source.title, line))
    common = Counter(word for shared_words in shared for word in shared_words)
    figures = bool(AMOUNT.search(question))
    ranks = [
        (sum(1 / common[word] for word in shared_words), figures and any(map(str.isdigit, line)))
        for shared_words, (_, line) in zip(shared, lines, strict=True)
    ]
    best = max(ranks, default=(0.0, False))
    if not best[0]:
        return []
    candidates = zip(lines, shared, ranks, strict=True)
    return [Quote(title, line, len(shared_words)) for (title, line), shared_words, rank in candidates if rank == best][
        :MAX_LINES
    ]


def split_lines(text: str) -> list[str]:
    """Split a text into lines, and long lines into sentences, each truncated to the maximum."""
    pieces = [
        piece
        for line in text.splitlines()
        for piece in (re.split(r"(?<=[.!?])\s+", line) if len(line) > MAX_LINE else [line])
    ]
    return [piece.strip()[:MAX_LINE] for piece in pieces if piece.strip()]


def format_quotes(quotes: Sequence[Quote]) -> str:
    """Each line with its source."""
    return "\n".join(f"> {quote.line}\n\n(from {quote.title})" for quote in quotes)
