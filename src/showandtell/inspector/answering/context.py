"""A request as the mind sees it: what a person last said, what came since, and which files that names."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Protocol

from msgspec import Struct
from msgspec.structs import replace

from showandtell.inspector.answering.arguments import PATH
from showandtell.inspector.answering.meanings import Meaning, read_meanings
from showandtell.inspector.answering.pieces import name_pieces
from showandtell.inspector.answering.references import Known, Named, find_named, list_known
from showandtell.inspector.answering.report import Sight
from showandtell.inspector.answering.words import inlined_in, person_words
from showandtell.inspector.request import (
    ModelRequest,
    OfferedTool,
    ReceivedFile,
    RequestTurn,
    Result,
    files_of,
    results_of,
)

#: A name or a text that a tool may be given as it stands.
LITERAL = re.compile(rf"{PATH.pattern}|[\"\u201c'`]", PATH.flags)


class Look(Protocol):
    """How a file is looked at; `report.look_at`."""

    def __call__(self, seen: ReceivedFile, index: int, *, read: bool) -> Sight:
        """Say what the file is; with `read`, its words too."""
        ...


class AnswerContext(Struct, frozen=True):
    """What the person last said, the turns since then, every file of the request, and those that the words name."""

    asked: ModelRequest
    words: str
    now: tuple[RequestTurn, ...]
    before: tuple[RequestTurn, ...]
    known: tuple[Known, ...]
    named: Named
    meanings: tuple[Meaning, ...] = ()

    @property
    def spelt(self) -> str:
        """The words with what clearly means a file said as its label, so that "the first upload" fills a number."""
        labels, words = {file.number: file.label for file in self.known}, self.words
        for one in self.meanings:
            if len(one.readings) == 1 and set(one.numbers) <= labels.keys() and not LITERAL.search(one.words):
                said = ", ".join(labels[number] for number in one.numbers)
                words = one.pattern.sub(lambda _, said=said: said, words)
        return words

    @property
    def results(self) -> list[Result]:
        """Results in the turn that is to be answered."""
        return results_of(self.asked.turns[-1])

    @property
    def offers(self) -> tuple[OfferedTool, ...]:
        """The tools that may be called in this step."""
        return () if self.asked.tool_choice == "none" else self.asked.tools

    @property
    def fresh(self) -> bool:
        """Whether the person spoke last, rather than a tool."""
        return bool(person_words(self.asked.turns[-1]))

    @property
    def uploads(self) -> bool:
        """Whether files came with the person's words."""
        return any(True for turn in self.now for _ in (*files_of(turn), *inlined_in(turn)))

    def unseen(self, names: list[str]) -> Iterator[str]:
        """Those names of files that belong to no file of the request."""
        seen = {file.name.lower() for file in self.known if file.came}
        return (name for name in names if name.lower().rpartition("/")[2] not in seen)


def set_scene(asked: ModelRequest) -> AnswerContext:
    """Find the person's last words, and what they mean."""
    asked = replace(asked, turns=name_pieces(asked.turns))
    spoken = [at for at, turn in enumerate(asked.turns) if person_words(turn)]
    start = spoken[-1] if spoken else 0
    words = person_words(asked.turns[start]) if spoken else ""
    known = list_known(asked.turns)
    meanings = read_meanings(asked.turns[start], {file.number: file.name for file in known}) if spoken else ()
    named = find_named(words, known, meanings)
    return AnswerContext(asked, words, asked.turns[start:], asked.turns[:start], known, named, meanings)
