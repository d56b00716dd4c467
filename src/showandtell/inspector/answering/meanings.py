"""The files that a user's phrases mean, from the label that ends a message: `⟦"words" = image 5: a.png, from x⟧`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from msgspec import Struct

from showandtell.inspector.answering.words import FILE_REFERENCE, HEADING, LABEL
from showandtell.inspector.request import RequestTurn, TextPart

LABEL_ONLY = re.compile(FILE_REFERENCE, re.IGNORECASE)
SEPARATOR = re.compile(" = | may mean ")
ORIGIN = re.compile(
    r", (?:uploaded by the user|made by the assistant|from a conversation shared by \"[^\"]*\"|from [^,;]+?)"
    r"(?=, |; | or |: ask which is meant|$)"
)
MORE = re.compile(r", and \d+ more\b")
ENDS = re.compile(r"(?:: ask which is meant where it matters)?(?:; |$)")


class Meaning(Struct, frozen=True):
    """A phrase of the user, and the numbers of the files that it means. Several readings if it is ambiguous."""

    phrase: str
    readings: tuple[tuple[int, ...], ...]

    @property
    def numbers(self) -> tuple[int, ...]:
        """The files of all readings, without duplicates."""
        return tuple(dict.fromkeys(number for reading in self.readings for number in reading))

    @property
    def pattern(self) -> re.Pattern[str]:
        """A pattern that finds the phrase in a text."""
        phrase = r"\s+".join(map(re.escape, self.phrase.split()))
        return re.compile(rf"(?<!\w){phrase}(?!\w)", re.IGNORECASE)


def read_meanings(turn: RequestTurn, names: Mapping[int, str]) -> tuple[Meaning, ...]:
    """The meanings in the labels of a turn. `names` are the names of all files by number."""
    texts = [part.text for part in turn.parts if isinstance(part, TextPart)]
    labels = [label for text in texts for label in LABEL.findall(text) if not HEADING.match(label)]
    return tuple(meaning for label in labels for meaning in _read_label(label, names))


def _read_label(label: str, names: Mapping[int, str]) -> Iterator[Meaning]:
    """Read meanings until one can't be parsed. Phrases and names may contain any of the separators."""
    at = 0
    while at < len(label):
        tries = (_read_meaning(label, at, separator, names) for separator in SEPARATOR.finditer(label, at))
        if (match := next(filter(None, tries), None)) is None:
            return
        meaning, at = match
        yield meaning


def _read_meaning(
    label: str, at: int, separator: re.Match[str], names: Mapping[int, str]
) -> tuple[Meaning, int] | None:
    phrase, readings, end = label[at : separator.start()], list[tuple[int, ...]](), separator.end()
    label_only = LABEL_ONLY.fullmatch(phrase) if separator[0] == " = " else None
    # If the phrase is the file's own label, the label isn't repeated.
    if label_only and (name_end := _read_name(label, end, int(label_only["number"]), names)):
        readings, end = [(int(label_only["number"]),)], name_end
    else:
        while (reading := _read_files(label, end, names)) is not None:
            readings.append(reading[0])
            end = reading[1]
            if not label.startswith(" or ", end):
                break
            end += len(" or ")
    close = ENDS.match(label, end) if phrase and readings else None
    return (Meaning(phrase, tuple(readings)), close.end()) if close else None


def _read_files(label: str, at: int, names: Mapping[int, str]) -> tuple[tuple[int, ...], int] | None:
    """Consecutive files, each `image 5: name, origin`, and their end."""
    numbers: list[int] = []
    while match := HEADING.match(label, at):
        number = int(match["number"])
        end = _read_name(label, match.end(), number, names) or _skip_name(label, match.end())
        if end is None:
            return None
        numbers.append(number)
        at = end + len(", ") if label.startswith(", ", end) and HEADING.match(label, end + len(", ")) else end
        if at == end:
            more = MORE.match(label, end)
            return tuple(numbers), more.end() if more else end
    return None


def _read_name(label: str, at: int, number: int, names: Mapping[int, str]) -> int | None:
    """The end of a known file's name and origin."""
    name = names.get(number, "")
    origin = ORIGIN.match(label, at + len(name)) if name and label.startswith(name, at) else None
    return origin.end() if origin else None


def _skip_name(label: str, at: int) -> int | None:
    """Like `_read_name`, for a name that no other label has in full."""
    origin = ORIGIN.search(label, at)
    return origin.end() if origin else None
