"""Find the file of each piece: pages and frames have labels of their own, after the heading of their file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeAlias

from msgspec.structs import replace

from showandtell.core.media_types.kinds import kind_of
from showandtell.inspector.answering.words import HEADING, LABEL, PIECE
from showandtell.inspector.request import Call, ReceivedFile, RequestTurn, Result, TextPart

Part: TypeAlias = TextPart | ReceivedFile | Call | Result
#: Nouns for the pieces of a file.
NOUNS = {"image": "picture", "audio": "sound", "other": "file"}


def label_pieces(turns: Sequence[RequestTurn]) -> tuple[RequestTurn, ...]:
    """Add the heading of its file to the label of each page and frame, and number the pieces after a heading."""
    return tuple(replace(turn, parts=tuple(_label_parts(turn.parts))) for turn in turns)


def _label_parts(parts: Sequence[Part]) -> Iterator[Part]:
    headings: dict[str, str] = {}
    counts: dict[str, int] = {}
    for part in parts:
        if isinstance(part, TextPart):
            for label in LABEL.finditer(part.text):
                if match := HEADING.match(label[1]):
                    headings[match["file"]], counts[match["file"]] = label[0], 0
        if isinstance(part, ReceivedFile) and (file := _file_of(part)) in headings:
            counts[file] += 1
            yield replace(part, label=f"{headings[file]}\n{part.label}", piece=counts[file])
        elif isinstance(part, Result):
            inner = (part for part in _label_parts(part.parts) if isinstance(part, TextPart | ReceivedFile))
            yield replace(part, parts=tuple(inner))
        else:
            yield part


def _file_of(file: ReceivedFile) -> str:
    """The file that a piece belongs to, such as "image 2". Empty for a heading or an unknown label."""
    labels = LABEL.findall(file.label)
    match = PIECE.fullmatch(labels[-1]) if labels else None
    return match["file"] if match else ""


def is_later_piece(file: ReceivedFile) -> bool:
    """Whether an earlier piece of the same file came before."""
    label = LABEL.search(file.label)
    return file.piece > 1 and label is not None and HEADING.match(label[1]) is not None


def format_count(files: int, types: Sequence[str]) -> str:
    """The number of files, and the pieces by kind if there are more of these: 2 files (17 pictures)."""
    return _count(files, "file") + (f" ({count_pieces(types)})" if len(types) > files else "")


def count_pieces(types: Sequence[str]) -> str:
    """The number of pieces of each kind: 2 pictures, 1 sound."""
    kinds = [NOUNS.get(kind_of(media_type), kind_of(media_type)) for media_type in types]
    return ", ".join(_count(kinds.count(kind), kind) for kind in dict.fromkeys(kinds))


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
