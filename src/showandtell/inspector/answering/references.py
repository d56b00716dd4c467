"""Which files of a request a person means: as its label says; besides "image 2", "images 1 and 3", a file's name."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from showandtell.core.media_types.kinds import kind_of
from showandtell.core.messages.attachments import spoken
from showandtell.inspector.answering.meanings import Meaning
from showandtell.inspector.answering.words import LABEL, SPOKEN, Inlined, inlined_in, join_words, notes_in, title_of
from showandtell.inspector.request import ReceivedFile, RequestTurn, files_of, results_of

#: What people call the kinds; "file 3" means number 3 whatever it is.
NOUNS = {
    "image": "image",
    "picture": "image",
    "photo": "image",
    "document": "document",
    "pdf": "document",
    "audio": "audio",
    "sound": "audio",
    "video": "video",
    "text": "text",
    "file": "other",
    "attachment": "other",
}
#: Not followed by what makes it an amount, or a name such as "image 1.png".
NUMBER = r"\d{1,6}\b(?![.,]?\d|\.\w|\s*%)"
BETWEEN = r"(?:\s*,\s*(?:(?:and|or)\s+)?|\s+(?:and|or|with|to|from|vs\.?|versus|against|&)\s+)"
REFERENCE = re.compile(
    rf"\b(?P<noun>{'|'.join(NOUNS)})s?\s+#?(?P<numbers>{NUMBER}(?:{BETWEEN}#?{NUMBER})*)", re.IGNORECASE
)
TITLE = re.compile(rf"{SPOKEN}(?P<rest>: | \()")
NAME_ENDS = re.compile(r", (?:uploaded by|from tool|from a tool|made by|fetched from|not in view)\b")
NOTE_ENDS = re.compile(r"(?:, [\d.]+ (?:bytes|kB|MB))?\) was not sent: ")
POINTER = "shown below"


class Known(Struct, frozen=True):
    """A numbered file of the conversation: what reached us of it, the pieces of its last showing, or only a note."""

    kind: str
    number: int
    name: str
    seen: tuple[ReceivedFile, ...] = ()
    inlined: Inlined | None = None
    note: str = ""

    @property
    def label(self) -> str:
        """How everybody says it: "image 2"."""
        return spoken(self.kind, self.number)

    @property
    def called(self) -> str:
        """The same with its name."""
        return f"{self.label} ({self.name})" if self.name else self.label

    @property
    def came(self) -> bool:
        """Whether its bytes or words are in the request."""
        return bool(self.seen) or self.inlined is not None


class Named(Struct, frozen=True):
    """Files that some words name: those there are, kinds and numbers there aren't, and the words that remain.

    `unclear` are words that may mean several things; the files of all these are found.
    """

    found: tuple[Known, ...]
    missing: tuple[tuple[str, int], ...]
    bare: str
    unclear: tuple[Meaning, ...] = ()


def list_known(turns: Sequence[RequestTurn]) -> tuple[Known, ...]:
    """Every file of a request by number. Files count by kind only where no label of ours is in the request."""
    known: dict[int, Known] = {}
    for file in (file for turn in turns for file in _labelled(turn)):
        known[file.number] = _merge(known.get(file.number), file)
    return tuple(known[number] for number in sorted(known)) or (() if _has_labels(turns) else tuple(_count(turns)))


def _has_labels(turns: Sequence[RequestTurn]) -> bool:
    texts = (join_words(row) for turn in turns for row in (turn.parts, *(one.parts for one in results_of(turn))))
    return any(TITLE.match(label) for text in texts for label in LABEL.findall(text))


def _labelled(turn: RequestTurn) -> Iterator[Known]:
    for note in notes_in(turn):
        yield from _read_title(note, note=note)
    for text in inlined_in(turn):
        yield from _read_title(text.title, inlined=text)
    for seen in files_of(turn):
        yield from _read_title(title_of(seen, 0), seen=(seen,))


def _read_title(title: str, **content: Any) -> Iterator[Known]:
    """Kind, number and name as a label of ours has them; nothing for a title of another making."""
    found = TITLE.match(title)
    rest = title[found.end() :] if found else POINTER
    if found and rest != POINTER:
        ends = NAME_ENDS if found["rest"] == ": " else NOTE_ENDS
        kind = "other" if found["kind"] == "file" else found["kind"]
        yield Known(kind, int(found["number"]), ends.split(rest)[0], **content)


def _merge(before: Known | None, now: Known) -> Known:
    """The last showing counts; a note counts only where nothing was shown, and pieces of one showing stay together."""
    if before is None or (now.came and not (now.seen and before.seen and now.seen[0].piece > 1)):
        return now
    return replace(before, seen=before.seen + now.seen) if now.came else before


def _count(turns: Sequence[RequestTurn]) -> Iterator[Known]:
    counts: dict[str, int] = {}
    for seen in (seen for turn in turns for seen in files_of(turn)):
        kind = kind_of(seen.media_type)
        counts[kind] = counts.get(kind, 0) + 1
        yield Known(kind, counts[kind], seen.name, (seen,))


def find_named(words: str, known: Sequence[Known], meanings: Sequence[Meaning] = ()) -> Named:
    """The files that words name, in their order, each once; by name all different files of that name.

    What the request itself says that words mean comes first; only the other words are read here.
    """
    words, places, unclear = _take_meant(words, known, meanings)
    places += [(match.start(), *one) for match in REFERENCE.finditer(words) for one in _read_numbers(match[0])]
    bare = REFERENCE.sub(" ", words)
    for file in _leave_twins(known):
        pattern = _pattern_of(file.name)
        if pattern and (match := pattern.search(words)):
            places.append((match.start(), file.kind, file.number))
            bare = pattern.sub(" ", bare)
    wanted = list(dict.fromkeys((kind, number) for _, kind, number in sorted(places, key=lambda place: place[0])))
    found = dict.fromkeys(file for kind, number in wanted for file in known if _fits(file, kind, number))
    missing = [(kind, number) for kind, number in wanted if not any(_fits(file, kind, number) for file in known)]
    return Named(tuple(found), tuple(missing), bare, tuple(unclear))


def _take_meant(
    words: str, known: Sequence[Known], meanings: Sequence[Meaning]
) -> tuple[str, list[tuple[int, str, int]], list[Meaning]]:
    """Words without those whose meaning is told, the files of these by place, and which of them are unclear."""
    there = {file.number for file in known}
    places: list[tuple[int, str, int]] = []
    unclear: list[Meaning] = []
    for meaning in sorted(meanings, key=lambda one: -len(one.words)):
        if not (at := meaning.pattern.search(words)):
            continue
        places += [(at.start(), "other", number) for number in meaning.numbers if number in there]
        # Of "images 1, 2 and 99" no label can tell the last one.
        places += [(at.start(), *one) for one in _read_numbers(meaning.words) if one[1] not in there]
        unclear += [meaning] if len(meaning.readings) > 1 else []
        words = meaning.pattern.sub(lambda match: " " * len(match[0]), words)
    return words, places, unclear


def _read_numbers(words: str) -> Iterator[tuple[str, int]]:
    """Each kind and number: image 1, image 2 of "images 1 and 2"."""
    for match in REFERENCE.finditer(words):
        yield from ((NOUNS[match["noun"].lower()], int(number)) for number in re.findall(r"\d+", match["numbers"]))


def _leave_twins(known: Sequence[Known]) -> list[Known]:
    """Every file, but of those with the same name and bytes the last."""
    same = {
        (file.name, tuple(seen.data for seen in file.seen), file.inlined and file.inlined.text): file for file in known
    }
    return list(same.values())


def _fits(file: Known, kind: str, number: int) -> bool:
    return file.number == number and kind in {file.kind, "other"}


def _pattern_of(name: str) -> re.Pattern[str] | None:
    """A name as it may stand in a sentence; names without a dot are too much like other words."""
    if not re.search(r"\w\.\w", name):
        return None
    return re.compile(rf"(?<![\w.-]){re.escape(name)}(?![\w-]|\.\w)", re.IGNORECASE)


def say_missing(named: Named, known: Sequence[Known]) -> str:
    """That a file isn't there, and which are."""
    if not named.missing:
        return ""
    there = ", ".join(file.called for file in known)
    asked = " and no ".join(spoken(kind, number) for kind, number in named.missing)
    return f"There is no {asked}; " + (f"there are: {there}." if there else "no file has come yet.")


def say_unclear(named: Named, known: Sequence[Known]) -> str:
    """Which words may mean several things, and what these are."""
    called = {file.number: file.called for file in known}
    lines = [
        f'"{one.words}" may mean '
        + " or ".join(", ".join(called.get(number, f"file {number}") for number in reading) for reading in one.readings)
        + ": say which one you mean. Here is what each of them holds."
        for one in named.unclear
    ]
    return "\n".join(lines)
