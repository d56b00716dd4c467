"""Separate the user's text from labels and inlined files, and reduce words to stems."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from msgspec import Struct

from showandtell.inspector.request import ReceivedFile, RequestTurn, Result, TextPart

#: Text in these brackets is from neither user nor tool. The opening bracket can't occur in other text. The closing one
#: can: in a file's name, where the last one on the line counts, and in the text of a file.
LABEL = re.compile(r"⟦([^⟦\n]*|[^⟦⟧]*)⟧")
FRAME = re.compile(r"⟦(?P<title>(?P<name>[^:⟦⟧]+):(?:[^⟦\n]*|[^⟦⟧]*))⟧\n?(?P<text>[^⟦]*?)\n?⟦end of (?P=name)⟧")
#: A file in a label: "image 2".
FILE_REFERENCE = r"(?P<file>(?P<kind>image|document|audio|video|text|file) (?P<number>\d{1,6}))"
HEADING = re.compile(f"{FILE_REFERENCE}: ")
#: A page or a frame of the file with the preceding heading.
PIECE = re.compile(rf"{FILE_REFERENCE},? (?P<which>page \d+|at [\d:.]+|its sound)")
FAILED = "⟦this call failed⟧"
NOT_IN_VIEW = re.compile(r"was not sent|not in view any more$|, kept out of view\b|, for tools only\b")
QUESTION = re.compile(
    r"\?|\b(what|which|who|whose|when|where|why|how|read|says?|total|text|words?|tell|quote|find|explain)\b",
    re.IGNORECASE,
)
#: Words that ask for the text in pictures, which takes a second to read.
ASKS_FOR_TEXT = re.compile(
    r"\b(texts?|read|reads|reading|says?|saying|said|words?|wording|write|writes|writing|written|wrote|letters?|lines?"
    r"|quotes?|quoted|spell\w*|transcri\w*|ocr|total)\b",
    re.IGNORECASE,
)
#: Words that ask about files whose text takes a second to read, by the kind of these files.
WORDS_FOR_FILES = {
    "image": re.compile(r"\b(images?|pictures?|photos?|photographs?|screenshots?|scans?|drawings?)\b", re.IGNORECASE),
    "document": re.compile(r"\b(documents?|pdfs?|scans?|pages?)\b", re.IGNORECASE),
}
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


class InlinedFile(Struct, frozen=True):
    """A file given as text between two labels. `text` includes line ends."""

    title: str
    text: str


def join_text(parts: Sequence[object]) -> str:
    """The texts of the parts, one per line."""
    return "\n".join(part.text for part in parts if isinstance(part, TextPart))


def user_text(turn: RequestTurn) -> str:
    """The user's own text in a turn, without labels and inlined files."""
    if turn.role != "user":
        return ""
    text = LABEL.sub("", FRAME.sub("", join_text(turn.parts))).strip()
    return "" if text == "(no words)" else text


def result_text(result: Result) -> str:
    """The text of a result, without labels and inlined files."""
    text = LABEL.sub("", FRAME.sub("", join_text(result.parts))).strip()
    return "" if text == "(no output)" else text


def has_failed(result: Result) -> bool:
    """Whether a result is an error, by its field, or by a label if the API has no field."""
    return result.is_error or FAILED in join_text(result.parts)


def find_inlined(turn: RequestTurn) -> Iterator[InlinedFile]:
    """The inlined files of a turn and its results."""
    texts = [join_text(turn.parts), *(join_text(part.parts) for part in turn.parts if isinstance(part, Result))]
    for text in texts:
        for match in FRAME.finditer(text):
            if match["text"]:
                yield InlinedFile(match["title"], match["text"])


def find_notes(turn: RequestTurn) -> list[str]:
    """Labels of files that were not sent or are not in view."""
    texts = [join_text(turn.parts), *(join_text(part.parts) for part in turn.parts if isinstance(part, Result))]
    labels = [label for text in texts for label in LABEL.findall(text)]
    return [label for label in labels if NOT_IN_VIEW.search(label)]


def title_of(file: ReceivedFile, index: int) -> str:
    """The title of a file in reports: its label, else its name, else its index."""
    if labels := LABEL.findall(file.label):
        piece = f", piece {file.piece}" if file.piece > 1 else ""
        if len(labels) > 1 and (match := PIECE.fullmatch(labels[-1])):
            piece = f", {match['which']}"
        return labels[0].partition(". Tool output")[0] + piece
    after = f', after the words "{" ".join(file.label.split())[:60]}"' if file.label.strip() else ""
    return (file.name or f"file {index}") + after


def asks_question(text: str) -> bool:
    """Whether the text asks about content, rather than about what was received."""
    return QUESTION.search(text) is not None


def asks_for_text(text: str) -> bool:
    """Whether a question is about the text in pictures."""
    return asks_question(text) and ASKS_FOR_TEXT.search(text) is not None


def kinds_to_read(text: str) -> frozenset[str]:
    """The kinds of earlier files whose text a question is about. Empty if it asks about no picture and no document."""
    if not asks_for_text(text):
        return frozenset()
    return frozenset(kind for kind, pattern in WORDS_FOR_FILES.items() if pattern.search(text))


def stem(word: str) -> str:
    """A word without a common ending."""
    for ending in ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word.removesuffix(ending)
    return word


def stems(text: str) -> list[str]:
    """The stems of a text without stop words. Names are split at case changes and underscores."""
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", text)
    return [stem(word) for word in re.findall(r"[^\W_]+", spaced.lower()) if word not in STOP]
