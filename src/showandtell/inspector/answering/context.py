"""A request in terms of the last user message: its text, what came since, and the files that it mentions."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Protocol

from msgspec import Struct
from msgspec.structs import replace

from showandtell.inspector.answering.arguments import PATH
from showandtell.inspector.answering.meanings import Meaning, read_meanings
from showandtell.inspector.answering.pieces import label_pieces
from showandtell.inspector.answering.references import KnownFile, MentionedFiles, find_mentioned, list_files
from showandtell.inspector.answering.report import FileReport
from showandtell.inspector.answering.words import find_inlined, user_text
from showandtell.inspector.request import (
    ModelRequest,
    OfferedTool,
    ReceivedFile,
    RequestTurn,
    Result,
    files_of,
    results_of,
)

#: A file name or quoted text, which a tool may take literally.
LITERAL = re.compile(rf"{PATH.pattern}|[\"\u201c'`]", PATH.flags)


class Examine(Protocol):
    """A function that examines a file, such as `report.examine`."""

    def __call__(self, file: ReceivedFile, index: int, *, read: bool) -> FileReport:
        """Describe a file. With `read`, also run OCR on it."""
        ...


class AnswerContext(Struct, frozen=True):
    """The last user text, the turns since it and before it, all files, and the files that the text mentions."""

    request: ModelRequest
    text: str
    current: tuple[RequestTurn, ...]
    earlier: tuple[RequestTurn, ...]
    files: tuple[KnownFile, ...]
    mentioned: MentionedFiles
    meanings: tuple[Meaning, ...] = ()

    @property
    def labelled_text(self) -> str:
        """The text with clear references to files replaced by labels, so that "the first upload" fills a number."""
        labels, text = {file.number: file.label for file in self.files}, self.text
        for meaning in self.meanings:
            if (
                len(meaning.readings) == 1
                and set(meaning.numbers) <= labels.keys()
                and not LITERAL.search(meaning.phrase)
            ):
                label = ", ".join(labels[number] for number in meaning.numbers)
                text = meaning.pattern.sub(lambda _, label=label: label, text)
        return text

    @property
    def results(self) -> list[Result]:
        """The results of the last turn."""
        return results_of(self.request.turns[-1])

    @property
    def tools(self) -> tuple[OfferedTool, ...]:
        """The tools that this step may call."""
        return () if self.request.tool_choice == "none" else self.request.tools

    @property
    def user_spoke_last(self) -> bool:
        """Whether the last turn has text of the user."""
        return bool(user_text(self.request.turns[-1]))

    @property
    def has_files(self) -> bool:
        """Whether files came with or after the user's text."""
        return any(True for turn in self.current for _ in (*files_of(turn), *find_inlined(turn)))

    def missing_names(self, names: list[str]) -> Iterator[str]:
        """The names that belong to no file in the request."""
        present = {file.name.lower() for file in self.files if file.is_present}
        return (name for name in names if name.lower().rpartition("/")[2] not in present)


def build_context(request: ModelRequest) -> AnswerContext:
    """Find the last user text and the files that it mentions."""
    request = replace(request, turns=label_pieces(request.turns))
    user_turns = [at for at, turn in enumerate(request.turns) if user_text(turn)]
    start = user_turns[-1] if user_turns else 0
    text = user_text(request.turns[start]) if user_turns else ""
    files = list_files(request.turns)
    meanings = read_meanings(request.turns[start], {file.number: file.name for file in files}) if user_turns else ()
    mentioned = find_mentioned(text, files, meanings)
    return AnswerContext(request, text, request.turns[start:], request.turns[:start], files, mentioned, meanings)
