"""What a person's words mean, as the label at the end of their message says: `⟦"words" = image 5: a.png, from x⟧`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from msgspec import Struct

from showandtell.inspector.answering.words import HEADING, LABEL, SPOKEN
from showandtell.inspector.request import RequestTurn, Words

ALONE = re.compile(SPOKEN, re.IGNORECASE)
SIGN = re.compile(" = | may mean ")
BROUGHT = re.compile(
    r", (?:uploaded by the user|made by the assistant|from [^,;]+?)(?=, |; | or |: ask which is meant|$)"
)
MORE = re.compile(r", and \d+ more\b")
ENDS = re.compile(r"(?:: ask which is meant where it matters)?(?:; |$)")


class Meaning(Struct, frozen=True):
    """Words of the person, and the numbers of the files they mean; several readings where that isn't clear."""

    words: str
    readings: tuple[tuple[int, ...], ...]

    @property
    def numbers(self) -> tuple[int, ...]:
        """The files of all readings, each once."""
        return tuple(dict.fromkeys(number for reading in self.readings for number in reading))

    @property
    def pattern(self) -> re.Pattern[str]:
        """Where the words stand in a text."""
        words = r"\s+".join(map(re.escape, self.words.split()))
        return re.compile(rf"(?<!\w){words}(?!\w)", re.IGNORECASE)


def read_meanings(turn: RequestTurn, names: Mapping[int, str]) -> tuple[Meaning, ...]:
    """What the labels of a turn say that its words mean; `names` are those of the request's files by number."""
    texts = [part.text for part in turn.parts if isinstance(part, Words)]
    labels = [label for text in texts for label in LABEL.findall(text) if not HEADING.match(label)]
    return tuple(meaning for label in labels for meaning in _read_label(label, names))


def _read_label(label: str, names: Mapping[int, str]) -> Iterator[Meaning]:
    """Each meaning, as long as they can be read; words and names may hold every sign that stands between them."""
    at = 0
    while at < len(label):
        tries = (_read_meaning(label, at, sign, names) for sign in SIGN.finditer(label, at))
        if (found := next(filter(None, tries), None)) is None:
            return
        meaning, at = found
        yield meaning


def _read_meaning(label: str, at: int, sign: re.Match[str], names: Mapping[int, str]) -> tuple[Meaning, int] | None:
    words, readings, end = label[at : sign.start()], list[tuple[int, ...]](), sign.end()
    alone = ALONE.fullmatch(words) if sign[0] == " = " else None
    # Where the words are the file's own label, it isn't said again.
    if alone and (brought := _read_name(label, end, int(alone["number"]), names)):
        readings, end = [(int(alone["number"]),)], brought
    else:
        while (found := _read_files(label, end, names)) is not None:
            readings.append(found[0])
            end = found[1]
            if not label.startswith(" or ", end):
                break
            end += len(" or ")
    close = ENDS.match(label, end) if words and readings else None
    return (Meaning(words, tuple(readings)), close.end()) if close else None


def _read_files(label: str, at: int, names: Mapping[int, str]) -> tuple[tuple[int, ...], int] | None:
    """Files in a row, each `image 5: name, who brought it`, and where they end."""
    numbers: list[int] = []
    while found := HEADING.match(label, at):
        number = int(found["number"])
        end = _read_name(label, found.end(), number, names) or _skip_name(label, found.end())
        if end is None:
            return None
        numbers.append(number)
        at = end + len(", ") if label.startswith(", ", end) and HEADING.match(label, end + len(", ")) else end
        if at == end:
            more = MORE.match(label, end)
            return tuple(numbers), more.end() if more else end
    return None


def _read_name(label: str, at: int, number: int, names: Mapping[int, str]) -> int | None:
    """Where a known file's name, and who brought it, end."""
    name = names.get(number, "")
    brought = BROUGHT.match(label, at + len(name)) if name and label.startswith(name, at) else None
    return brought.end() if brought else None


def _skip_name(label: str, at: int) -> int | None:
    """The same of a name that no other label told whole."""
    brought = BROUGHT.search(label, at)
    return brought.end() if brought else None
