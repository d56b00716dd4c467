"""Which files of a request a person means: "image 2", "images 1, 2 and 3", or a file's name. Numbers are no words."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from showandtell.files import kind_of, spoken
from showandtell.inspector.seen import Seen, Turn, files_of
from showandtell.inspector.words import Inlined, inlined_in, notes_in, title_of

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
TITLE = re.compile(r"(?P<kind>image|document|audio|video|text|file) (?P<number>\d{1,6})(?P<rest>: | \()")
NAME_ENDS = re.compile(r", (?:uploaded by|from tool|from a tool|made by|fetched from|not in view)\b")
NOTE_ENDS = re.compile(r"(?:, [\d.]+ (?:bytes|kB|MB))?\) was not sent: ")
POINTER = "shown below"


class Known(Struct, frozen=True):
    """A numbered file of the conversation: what reached us of it, the pieces of its last showing, or only a note."""

    kind: str
    number: int
    name: str
    seen: tuple[Seen, ...] = ()
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
    """Files that some words name: those there are, kinds and numbers there aren't, and the words that remain."""

    found: tuple[Known, ...]
    missing: tuple[tuple[str, int], ...]
    bare: str


def list_known(turns: Sequence[Turn]) -> tuple[Known, ...]:
    """Every file of a request by number. Files without our labels count by kind, where none has a label."""
    known: dict[int, Known] = {}
    for file in (file for turn in turns for file in _labelled(turn)):
        known[file.number] = _merge(known.get(file.number), file)
    return tuple(known[number] for number in sorted(known)) or tuple(_count(turns))


def _labelled(turn: Turn) -> Iterator[Known]:
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


def _count(turns: Sequence[Turn]) -> Iterator[Known]:
    counts: dict[str, int] = {}
    for seen in (seen for turn in turns for seen in files_of(turn)):
        kind = kind_of(seen.media_type)
        counts[kind] = counts.get(kind, 0) + 1
        yield Known(kind, counts[kind], seen.name, (seen,))


def find_named(words: str, known: Sequence[Known]) -> Named:
    """The files that words name, in their order, each once; by name all different files of that name."""
    places: list[tuple[int, str, int]] = []
    for match in REFERENCE.finditer(words):
        kind = NOUNS[match["noun"].lower()]
        places += [(match.start(), kind, int(number)) for number in re.findall(r"\d+", match["numbers"])]
    bare = REFERENCE.sub(" ", words)
    for file in _leave_twins(known):
        pattern = _pattern_of(file.name)
        if pattern and (match := pattern.search(words)):
            places.append((match.start(), file.kind, file.number))
            bare = pattern.sub(" ", bare)
    wanted = list(dict.fromkeys((kind, number) for _, kind, number in sorted(places, key=lambda place: place[0])))
    found = dict.fromkeys(file for kind, number in wanted for file in known if _fits(file, kind, number))
    missing = [(kind, number) for kind, number in wanted if not any(_fits(file, kind, number) for file in known)]
    return Named(tuple(found), tuple(missing), bare)


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
