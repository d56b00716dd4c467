"""Compare files: type, pixels, size, colors, bytes."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from showandtell.inspector.answering.report import FileReport, format_fact

COMPARING = re.compile(
    r"\b(compar\w*|differen\w*|differs?|same|identical|versus|vs|between|against|both)\b", re.IGNORECASE
)


def asks_to_compare(text: str) -> bool:
    """Whether a message asks for a comparison."""
    return COMPARING.search(text) is not None


def format_comparison(files: Sequence[tuple[str, Sequence[FileReport]]]) -> str:
    """One line per property. `files` are labels, and the reports of the pieces of each file."""
    rows = [
        _format_row("pieces", files, _count_pieces(files)),
        _format_row("type", files, _join_distinct(lambda report: report.media_type)),
        *(_format_row(name, files, _join_distinct(_fact_getter(name))) for name in ("pixels", "pages", "seconds")),
        _format_row("size", files, _add_sizes),
        _format_row("colours", files, _join_distinct(_fact_getter("colours"))),
        _format_identical(files),
    ]
    return "\n".join([f"{', '.join(label for label, _ in files)} compared:", *(row for row in rows if row)])


def _count_pieces(files: Sequence[tuple[str, Sequence[FileReport]]]) -> Callable[[Sequence[FileReport]], str]:
    """Count the pieces of each file, if any file has several."""
    several = any(len(pieces) > 1 for _, pieces in files)
    return lambda pieces: str(len(pieces)) if several else ""


def _add_sizes(pieces: Sequence[FileReport]) -> str:
    size = sum(report.size for report in pieces if report.sha256)
    return f"{size:,} bytes" if size else ""


def _join_distinct(get: Callable[[FileReport], str]) -> Callable[[Sequence[FileReport]], str]:
    """The values of all pieces, without duplicates."""
    return lambda pieces: ", then ".join(dict.fromkeys(text for report in pieces if (text := get(report))))


def _fact_getter(name: str) -> Callable[[FileReport], str]:
    def get(report: FileReport) -> str:
        value = report.facts.get(name)
        return format_fact(name, value).removeprefix(f"{name}: ") if value else ""

    return get


def _format_row(
    name: str, files: Sequence[tuple[str, Sequence[FileReport]]], get: Callable[[Sequence[FileReport]], str]
) -> str:
    """One line, or an empty string if no file has the property."""
    cells = [(label, get(pieces)) for label, pieces in files]
    values = {value for _, value in cells}
    if not any(values):
        return ""
    if len(values) == 1:
        return f"- {name}: the same, {cells[0][1]}"
    return f"- {name}: " + "; ".join(f"{label} {value or 'none'}" for label, value in cells)


def _format_identical(files: Sequence[tuple[str, Sequence[FileReport]]]) -> str:
    """Which files have the same bytes."""
    labels_by_digests: dict[tuple[str, ...], list[str]] = {}
    for label, pieces in files:
        if all(report.sha256 for report in pieces):
            labels_by_digests.setdefault(tuple(report.sha256 for report in pieces), []).append(label)
    twins = [" and ".join(labels) for labels in labels_by_digests.values() if len(labels) > 1]
    if len(labels_by_digests) < 2 and not twins:
        return ""
    return f"- bytes: {'; '.join(twins)} have the same" if twins else "- bytes: not the same"
