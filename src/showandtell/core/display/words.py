"""Untrusted text made harmless for terminals and pages: no control characters, and few of any."""

from __future__ import annotations

import re

MAX_LINE = 400
#: How much of a text is read for a line, as a multiple of the line's maximum length.
READ = 8


def plain(text: object) -> str:
    """Untrusted text without control characters, which could drive the terminal; line ends and tabs stay."""
    text = str(text)
    return text if text.isprintable() else "".join(char for char in text if char.isprintable() or char in "\n\t")


def short(text: object) -> str:
    """Untrusted text on one line, cut at `MAX_LINE` characters."""
    return one_line(text, MAX_LINE)


def one_line(value: object, max_length: int | None = None) -> str:
    """Untrusted text on one line, without control characters, cut to `max_length` characters.

    Of a long text only the start is read, so runs of blanks in it may make the line shorter.
    """
    whole = str(value)
    text = whole if max_length is None else whole[: READ * max_length]
    printable = "".join(character for character in text if character.isprintable() or character.isspace())
    line = " ".join(printable.split())
    is_cut = len(text) < len(whole) or (max_length is not None and len(line) > max_length)
    return f"{line[:max_length]} …".lstrip() if is_cut else line


def counted(number: int, what: str) -> str:
    """A number and a noun in singular or plural."""
    return f"{number} {what}{'' if number == 1 else 's'}"


def fenced(text: str, language: str = "") -> str:
    """A fenced block of Markdown that no run of backticks in it closes. Empty for a text of blanks."""
    fence = "`" * max([3, *(len(run) + 1 for run in re.findall("`+", text))])
    return f"{fence}{language}\n{text}\n{fence}" if text.strip() else ""
