"""Untrusted text made harmless for terminals and pages: no control characters, and few of any."""

from __future__ import annotations

MAX_LINE = 400


def plain(text: object) -> str:
    """Untrusted text without control characters, which could drive the terminal; line ends and tabs stay."""
    return "".join(char for char in str(text) if char.isprintable() or char in "\n\t")


def short(text: object) -> str:
    """Untrusted text on one line, cut at `MAX_LINE` characters."""
    return one_line(text, MAX_LINE)


def one_line(value: object, max_length: int | None = None) -> str:
    """Untrusted text on one line, without control characters, cut to `max_length` characters."""
    printable = "".join(character for character in str(value) if character.isprintable() or character.isspace())
    line = " ".join(printable.split())
    return line if max_length is None or len(line) <= max_length else line[:max_length] + " …"


def counted(number: int, what: str) -> str:
    """A number and a noun in singular or plural."""
    return f"{number} {what}{'' if number == 1 else 's'}"
