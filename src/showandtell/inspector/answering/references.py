"""Find the files that a text mentions: by meanings, by label ("image 2", "images 1 and 3"), and by file name."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from showandtell.core.media_types.kinds import kind_of
from showandtell.core.messages.attachments import format_label
from showandtell.inspector.answering.meanings import Meaning
from showandtell.inspector.answering.words import (
    FILE_REFERENCE,
    LABEL,
    InlinedFile,
    find_inlined,
    find_notes,
    join_text,
    title_of,
)
from showandtell.inspector.request import ReceivedFile, RequestTurn, files_of, results_of

#: Nouns for kinds of files. "file 3" means number 3 of any kind.
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
#: Not part of an amount, or of a name such as "image 1.png".
NUMBER = r"\d{1,6}\b(?![.,]?\d|\.\w|\s*%)"
BETWEEN = r"(?:\s*,\s*(?:(?:and|or)\s+)?|\s+(?:and|or|with|to|from|vs\.?|versus|against|&)\s+)"
REFERENCE = re.compile(
    rf"\b(?P<noun>{'|'.join(NOUNS)})s?\s+#?(?P<numbers>{NUMBER}(?:{BETWEEN}#?{NUMBER})*)", re.IGNORECASE
)
TITLE = re.compile(rf"{FILE_REFERENCE}(?P<rest>: | \()")
NAME_ENDS = re.compile(r", (?:uploaded by|from tool|from a tool|made by|fetched from|not in view|kept out of view)\b")
NOTE_ENDS = re.compile(r"(?:, [\d.]+ (?:bytes|kB|MB))?\) was not sent: ")
POINTER = "shown below"


class KnownFile(Struct, frozen=True):
    """A numbered file of the conversation: the pieces from when it was last shown, its inlined text, or only a note."""

    kind: str
    number: int
    name: str
    pieces: tuple[ReceivedFile, ...] = ()
    inlined: InlinedFile | None = None
    note: str = ""

    @property
    def label(self) -> str:
        """The label, such as "image 2"."""
        return format_label(self.kind, self.number)

    @property
    def title(self) -> str:
        """The label with the name."""
        return f"{self.label} ({self.name})" if self.name else self.label

    @property
    def is_present(self) -> bool:
        """Whether its bytes or text are in the request."""
        return bool(self.pieces) or self.inlined is not None


class MentionedFiles(Struct, frozen=True):
    """Files that a text mentions: known files, kinds and numbers of unknown ones, and the rest of the text.

    `unclear` are the ambiguous phrases. `files` includes the files of all their readings.
    """

    files: tuple[KnownFile, ...]
    missing: tuple[tuple[str, int], ...]
    rest: str
    unclear: tuple[Meaning, ...] = ()


def list_files(turns: Sequence[RequestTurn]) -> tuple[KnownFile, ...]:
    """All files of a request by number. Without labels in the request, files are numbered by kind."""
    known: dict[int, KnownFile] = {}
    for file in (file for turn in turns for file in _labelled_files(turn)):
        known[file.number] = _merge(known.get(file.number), file)
    return tuple(known[number] for number in sorted(known)) or (
        () if _has_labels(turns) else tuple(_number_by_kind(turns))
    )


def _has_labels(turns: Sequence[RequestTurn]) -> bool:
    texts = (
        join_text(parts) for turn in turns for parts in (turn.parts, *(result.parts for result in results_of(turn)))
    )
    return any(TITLE.match(label) for text in texts for label in LABEL.findall(text))


def _labelled_files(turn: RequestTurn) -> Iterator[KnownFile]:
    for note in find_notes(turn):
        yield from read_title(note, note=note)
    for text in find_inlined(turn):
        yield from read_title(text.title, inlined=text)
    for file in files_of(turn):
        yield from read_title(title_of(file, 0), pieces=(file,))


def read_title(title: str, **content: Any) -> Iterator[KnownFile]:
    """The file of a label: its kind, number and name. Nothing if the title is not a label."""
    match = TITLE.match(title)
    rest = title[match.end() :] if match else POINTER
    if match and rest != POINTER:
        ends = NAME_ENDS if match["rest"] == ": " else NOTE_ENDS
        kind = "other" if match["kind"] == "file" else match["kind"]
        yield KnownFile(kind, int(match["number"]), ends.split(rest)[0], **content)


def _merge(previous: KnownFile | None, current: KnownFile) -> KnownFile:
    """Keep what was shown last, with its pieces together. A note counts only if nothing was shown."""
    if previous is None or (
        current.is_present and not (current.pieces and previous.pieces and current.pieces[0].piece > 1)
    ):
        return current
    return replace(previous, pieces=previous.pieces + current.pieces) if current.is_present else previous


def _number_by_kind(turns: Sequence[RequestTurn]) -> Iterator[KnownFile]:
    counts: dict[str, int] = {}
    for file in (file for turn in turns for file in files_of(turn)):
        kind = kind_of(file.media_type)
        counts[kind] = counts.get(kind, 0) + 1
        yield KnownFile(kind, counts[kind], file.name, (file,))


def find_mentioned(text: str, files: Sequence[KnownFile], meanings: Sequence[Meaning] = ()) -> MentionedFiles:
    """The files that a text mentions, in order, without duplicates. A name means all different files of that name.

    `meanings` from the request take precedence. Only the rest of the text is searched.
    """
    text, places, unclear = _resolve_meanings(text, files, meanings)
    places += [
        (match.start(), *reference) for match in REFERENCE.finditer(text) for reference in _read_numbers(match[0])
    ]
    rest = REFERENCE.sub(" ", text)
    for file in _drop_duplicates(files):
        pattern = _pattern_of(file.name)
        if pattern and (match := pattern.search(text)):
            places.append((match.start(), file.kind, file.number))
            rest = pattern.sub(" ", rest)
    keys = list(dict.fromkeys((kind, number) for _, kind, number in sorted(places, key=lambda place: place[0])))
    matches = dict.fromkeys(file for kind, number in keys for file in files if _matches(file, kind, number))
    missing = [(kind, number) for kind, number in keys if not any(_matches(file, kind, number) for file in files)]
    return MentionedFiles(tuple(matches), tuple(missing), rest, tuple(unclear))


def _resolve_meanings(
    text: str, files: Sequence[KnownFile], meanings: Sequence[Meaning]
) -> tuple[str, list[tuple[int, str, int]], list[Meaning]]:
    """The text without phrases that have a meaning, the files of these by position, and the ambiguous phrases."""
    numbers = {file.number for file in files}
    places: list[tuple[int, str, int]] = []
    unclear: list[Meaning] = []
    for meaning in sorted(meanings, key=lambda reference: -len(reference.phrase)):
        if not (match := meaning.pattern.search(text)):
            continue
        places += [(match.start(), "other", number) for number in meaning.numbers if number in numbers]
        # In "images 1, 2 and 99" no label can include the unknown file 99.
        places += [
            (match.start(), *reference) for reference in _read_numbers(meaning.phrase) if reference[1] not in numbers
        ]
        unclear += [meaning] if len(meaning.readings) > 1 else []
        text = meaning.pattern.sub(lambda match: " " * len(match[0]), text)
    return text, places, unclear


def _read_numbers(text: str) -> Iterator[tuple[str, int]]:
    """Each kind and number: image 1 and image 2 from "images 1 and 2"."""
    for match in REFERENCE.finditer(text):
        yield from ((NOUNS[match["noun"].lower()], int(number)) for number in re.findall(r"\d+", match["numbers"]))


def _drop_duplicates(files: Sequence[KnownFile]) -> list[KnownFile]:
    """Drop all but the last of the files with equal name and bytes."""
    unique = {
        (file.name, tuple(piece.data for piece in file.pieces), file.inlined and file.inlined.text): file
        for file in files
    }
    return list(unique.values())


def _matches(file: KnownFile, kind: str, number: int) -> bool:
    return file.number == number and kind in {file.kind, "other"}


def _pattern_of(name: str) -> re.Pattern[str] | None:
    """A pattern for a file name in a sentence. None without a dot: such names look like ordinary words."""
    if not re.search(r"\w\.\w", name):
        return None
    return re.compile(rf"(?<![\w.-]){re.escape(name)}(?![\w-]|\.\w)", re.IGNORECASE)


def format_missing(mentioned: MentionedFiles, files: Sequence[KnownFile]) -> str:
    """Which files don't exist, and which do."""
    if not mentioned.missing:
        return ""
    present = ", ".join(file.title for file in files)
    missing = " and no ".join(format_label(kind, number) for kind, number in mentioned.missing)
    return f"There is no {missing}; " + (f"there are: {present}." if present else "no file has come yet.")


def format_unclear(mentioned: MentionedFiles, files: Sequence[KnownFile]) -> str:
    """The ambiguous phrases and their readings."""
    titles = {file.number: file.title for file in files}
    lines = [
        f'"{meaning.phrase}" may mean '
        + " or ".join(
            ", ".join(titles.get(number, f"file {number}") for number in reading) for reading in meaning.readings
        )
        + ": say which one you mean. Here is what each of them holds."
        for meaning in mentioned.unclear
    ]
    return "\n".join(lines)
