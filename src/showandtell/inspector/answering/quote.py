"""Answer a question by quoting: the lines of some texts that share most with its words."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from msgspec import Struct

from showandtell.inspector.answering.words import stems

LONGEST, MOST_LINES = 300, 3
AMOUNT = re.compile(r"\b(total|much|many|when|number|date|sum|price|cost|due)\b", re.IGNORECASE)


class Source(Struct, frozen=True):
    """A text that may be quoted, and what it is called; `least` is how many words a line must share with a question."""

    title: str
    text: str
    least: int = 1


class Quote(Struct, frozen=True):
    """A line, and how many of the question's words it holds."""

    title: str
    line: str
    words: int


def find_quotes(question: str, sources: Sequence[Source]) -> list[Quote]:
    """The best lines, at most three. Rare words weigh more; where an amount is asked for, lines with figures win."""
    asked = set(stems(question))
    shared: list[set[str]] = []
    lines: list[tuple[str, str]] = []
    for source in sources:
        for line in split_lines(source.text):
            words = asked & set(stems(line))
            shared.append(words if len(words) >= source.least else set())
            lines.append((source.title, line))
    common = Counter(word for words in shared for word in words)
    figures = bool(AMOUNT.search(question))
    ranks = [
        (sum(1 / common[word] for word in words), figures and any(map(str.isdigit, line)))
        for words, (_, line) in zip(shared, lines, strict=True)
    ]
    best = max(ranks, default=(0.0, False))
    if not best[0]:
        return []
    found = zip(lines, shared, ranks, strict=True)
    return [Quote(title, line, len(words)) for (title, line), words, rank in found if rank == best][:MOST_LINES]


def split_lines(text: str) -> list[str]:
    """Lines, and long ones by sentence; each cut where it is still too long."""
    pieces = [
        piece
        for line in text.splitlines()
        for piece in (re.split(r"(?<=[.!?])\s+", line) if len(line) > LONGEST else [line])
    ]
    return [piece.strip()[:LONGEST] for piece in pieces if piece.strip()]


def spell_quotes(quotes: Sequence[Quote]) -> str:
    """Say where each line stands, word for word."""
    return "\n".join(f"> {quote.line}\n\n(from {quote.title})" for quote in quotes)
