"""Whose words are whose: labels and framed files apart from what a person said, and words as stems to compare."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from msgspec import Struct

from showandtell.inspector.request import ReceivedFile, RequestTurn, Result, Words

#: What stands in these brackets was said by neither person nor tool; their opener can't occur in other text.
#: Their closer can: in a file's name, where the line's last one counts, and in the words of a file.
LABEL = re.compile(r"⟦([^⟦\n]*|[^⟦⟧]*)⟧")
FRAME = re.compile(r"⟦(?P<title>(?P<name>[^:⟦⟧]+):(?:[^⟦\n]*|[^⟦⟧]*))⟧\n?(?P<text>[^⟦]*?)\n?⟦end of (?P=name)⟧")
#: How a label says a file: "image 2".
SPOKEN = r"(?P<file>(?P<kind>image|document|audio|video|text|file) (?P<number>\d{1,6}))"
HEADING = re.compile(f"{SPOKEN}: ")
#: A page or a moment of the file whose heading stands before it.
PIECE = re.compile(rf"{SPOKEN},? (?P<which>page \d+|at [\d:.]+|its sound)")
FAILED = "⟦this call failed⟧"
QUESTION = re.compile(
    r"\?|\b(what|which|who|whose|when|where|why|how|read|says?|total|text|words?|tell|quote|find|explain)\b",
    re.IGNORECASE,
)
STOP = frozenset(
    re.findall(
        r"\w+",
        """
        a an and are as at be by can could do does for from give had has have how i in into is it its let make
        many me much my of on or our please so some tell than that the their them then there this to up us was
        were what when where which who will with would you your
        """,
    )
)
ENDINGS = ("ing", "ies", "es", "ed", "s", "e", "y")


class Inlined(Struct, frozen=True):
    """A file that was given as words, in a frame; `text` is all of them, ends of lines too."""

    title: str
    text: str


def join_words(parts: Sequence[object]) -> str:
    """The texts of some parts, a line each."""
    return "\n".join(part.text for part in parts if isinstance(part, Words))


def person_words(turn: RequestTurn) -> str:
    """What a person said in a turn: neither labels nor files given as words."""
    if turn.role != "user":
        return ""
    bare = LABEL.sub("", FRAME.sub("", join_words(turn.parts))).strip()
    return "" if bare == "(no words)" else bare


def result_words(result: Result) -> str:
    """What a tool said, labels apart."""
    bare = LABEL.sub("", FRAME.sub("", join_words(result.parts))).strip()
    return "" if bare == "(no output)" else bare


def has_failed(result: Result) -> bool:
    """Whether a result is an error, by its field or, where the wire has none, by our label."""
    return result.is_error or FAILED in join_words(result.parts)


def inlined_in(turn: RequestTurn) -> Iterator[Inlined]:
    """Files that came as words, in the user's message or in results."""
    texts = [join_words(turn.parts), *(join_words(part.parts) for part in turn.parts if isinstance(part, Result))]
    for text in texts:
        for found in FRAME.finditer(text):
            if found["text"]:
                yield Inlined(found["title"], found["text"])


def notes_in(turn: RequestTurn) -> list[str]:
    """Labels that stand for a file which isn't there: not sent, or not in view."""
    texts = [join_words(turn.parts), *(join_words(part.parts) for part in turn.parts if isinstance(part, Result))]
    labels = [label for text in texts for label in LABEL.findall(text)]
    return [label for label in labels if "was not sent" in label or label.endswith("not in view any more")]


def title_of(seen: ReceivedFile, index: int) -> str:
    """How a report names a file: its label, else its name, else its place in the row."""
    if labels := LABEL.findall(seen.label):
        piece = f", piece {seen.piece}" if seen.piece > 1 else ""
        if len(labels) > 1 and (found := PIECE.fullmatch(labels[-1])):
            piece = f", {found['which']}"
        return labels[0].partition(". Tool output")[0] + piece
    after = f', after the words "{" ".join(seen.label.split())[:60]}"' if seen.label.strip() else ""
    return (seen.name or f"file {index}") + after


def asks(words: str) -> bool:
    """Whether somebody wants to know what is written, rather than what arrived."""
    return QUESTION.search(words) is not None


def stem(word: str) -> str:
    """A word without its ending, as far as that helps to compare."""
    for ending in ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word.removesuffix(ending)
    return word


def stems(text: str) -> list[str]:
    """The words that say something, as stems; names are split at case and underscore."""
    apart = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", text)
    return [stem(word) for word in re.findall(r"[^\W_]+", apart.lower()) if word not in STOP]
