"""Which file a picture is a piece of: pages and moments have labels of their own, behind the heading of their file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeAlias

from msgspec.structs import replace

from showandtell.core.media_types.kinds import kind_of
from showandtell.inspector.answering.words import HEADING, LABEL, PIECE
from showandtell.inspector.request import Call, ReceivedFile, RequestTurn, Result, Words

Part: TypeAlias = Words | ReceivedFile | Call | Result
#: What a piece is called where a file came in several.
NOUNS = {"image": "picture", "audio": "sound", "other": "file"}


def name_pieces(turns: Sequence[RequestTurn]) -> tuple[RequestTurn, ...]:
    """The same turns; each page and moment has its file's heading in its label, too, and counts behind that."""
    return tuple(replace(turn, parts=tuple(_name_row(turn.parts))) for turn in turns)


def _name_row(parts: Sequence[Part]) -> Iterator[Part]:
    headings: dict[str, str] = {}
    counts: dict[str, int] = {}
    for part in parts:
        if isinstance(part, Words):
            for label in LABEL.finditer(part.text):
                if found := HEADING.match(label[1]):
                    headings[found["file"]], counts[found["file"]] = label[0], 0
        if isinstance(part, ReceivedFile) and (file := _file_of(part)) in headings:
            counts[file] += 1
            yield replace(part, label=f"{headings[file]}\n{part.label}", piece=counts[file])
        elif isinstance(part, Result):
            inner = (one for one in _name_row(part.parts) if isinstance(one, Words | ReceivedFile))
            yield replace(part, parts=tuple(inner))
        else:
            yield part


def _file_of(seen: ReceivedFile) -> str:
    """The file that a label calls a piece of: "image 2"; empty where it is a heading or none of ours."""
    labels = LABEL.findall(seen.label)
    found = PIECE.fullmatch(labels[-1]) if labels else None
    return found["file"] if found else ""


def goes_on(seen: ReceivedFile) -> bool:
    """Whether it is a later piece of a file that has come already."""
    label = LABEL.search(seen.label)
    return seen.piece > 1 and label is not None and HEADING.match(label[1]) is not None


def spell_count(files: int, types: Sequence[str]) -> str:
    """How many files, and where they came in more pieces, of which kinds these are: 2 files (17 pictures)."""
    kinds = [NOUNS.get(kind_of(one), kind_of(one)) for one in types]
    pieces = ", ".join(_count(kinds.count(kind), kind) for kind in dict.fromkeys(kinds))
    return _count(files, "file") + (f" ({pieces})" if len(types) > files else "")


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
