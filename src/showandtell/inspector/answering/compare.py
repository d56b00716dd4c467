"""Say of two or more files what is the same and what isn't: type, pixels, size, colours, bytes."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from showandtell.inspector.answering.report import Sight, spell_fact

COMPARING = re.compile(
    r"\b(compar\w*|differen\w*|differs?|same|identical|versus|vs|between|against|both)\b", re.IGNORECASE
)


def compares(words: str) -> bool:
    """Whether somebody wants to know what sets files apart."""
    return COMPARING.search(words) is not None


def spell_comparison(files: Sequence[tuple[str, Sequence[Sight]]]) -> str:
    """A line for each thing that can be compared; `files` are labels and what was found in each of their pieces."""
    rows = [
        _spell_row("pieces", files, _count_pieces(files)),
        _spell_row("type", files, _tell_each(lambda sight: sight.media_type)),
        *(_spell_row(name, files, _tell_each(_tell(name))) for name in ("pixels", "pages", "seconds")),
        _spell_row("size", files, _add_sizes),
        _spell_row("colours", files, _tell_each(_tell("colours"))),
        _spell_bytes(files),
    ]
    return "\n".join([f"{', '.join(label for label, _ in files)} compared:", *(row for row in rows if row)])


def _count_pieces(files: Sequence[tuple[str, Sequence[Sight]]]) -> Callable[[Sequence[Sight]], str]:
    """How many pictures each came as, where one of them came as several."""
    several = any(len(pieces) > 1 for _, pieces in files)
    return lambda pieces: str(len(pieces)) if several else ""


def _add_sizes(pieces: Sequence[Sight]) -> str:
    size = sum(sight.size for sight in pieces if sight.sha256)
    return f"{size:,} bytes" if size else ""


def _tell_each(tell: Callable[[Sight], str]) -> Callable[[Sequence[Sight]], str]:
    """What pieces are, each different thing once."""
    return lambda pieces: ", then ".join(dict.fromkeys(told for sight in pieces if (told := tell(sight))))


def _tell(name: str) -> Callable[[Sight], str]:
    def tell(sight: Sight) -> str:
        value = sight.facts.get(name)
        return spell_fact(name, value).removeprefix(f"{name}: ") if value else ""

    return tell


def _spell_row(name: str, files: Sequence[tuple[str, Sequence[Sight]]], tell: Callable[[Sequence[Sight]], str]) -> str:
    """One line; empty where no file has such a thing."""
    told = [(label, tell(pieces)) for label, pieces in files]
    values = {value for _, value in told}
    if not any(values):
        return ""
    if len(values) == 1:
        return f"- {name}: the same, {told[0][1]}"
    return f"- {name}: " + "; ".join(f"{label} {value or 'none'}" for label, value in told)


def _spell_bytes(files: Sequence[tuple[str, Sequence[Sight]]]) -> str:
    """Which files are the same file."""
    owners: dict[tuple[str, ...], list[str]] = {}
    for label, pieces in files:
        if all(sight.sha256 for sight in pieces):
            owners.setdefault(tuple(sight.sha256 for sight in pieces), []).append(label)
    twins = [" and ".join(labels) for labels in owners.values() if len(labels) > 1]
    if len(owners) < 2 and not twins:
        return ""
    return f"- bytes: {'; '.join(twins)} have the same" if twins else "- bytes: not the same"
