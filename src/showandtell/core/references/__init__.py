"""What a person's words point at: "image 5", "the 2nd drive image", "my first upload", "lets look at 5". English only.

Numbers that mean something else ("5 cats", "version 3") point at nothing, and what isn't clear is not guessed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from showandtell.core.messages.attachments import Attachment
from showandtell.core.messages.messages import Reference
from showandtell.core.references.bare import QUOTES, read_bare, read_called
from showandtell.core.references.catalogue import Catalogue
from showandtell.core.references.choose import MOST_READINGS, Readings, choose
from showandtell.core.references.names import Names
from showandtell.core.references.phrases import read_phrase
from showandtell.core.references.tokens import SENTENCE_ENDS, Token, fold, split
from showandtell.core.references.vocabulary import Trait

#: Signs that a reference may start with.
STARTING_SIGNS = frozenset({"#", *QUOTES})
#: What is read of a message, in characters, and the references kept of it.
MOST_TEXT = 20_000
MOST_REFERENCES = 20


def resolve(text: str, attachments: Mapping[int, Attachment]) -> tuple[Reference, ...]:
    """The files of a conversation that a text points at, by number, in order of appearance and the same words once.

    `attachments` holds every file by its number, those that the text came with included; failed and deleted ones can
    be pointed at, too. Nothing in code, links and JSON is read, but a file's whole name in ticks. Never raises.
    """
    if not attachments:
        return ()
    found: dict[str, Reference] = {}
    for reference in _Text(text[:MOST_TEXT], attachments).read():
        found.setdefault(reference.words.casefold(), reference)
        if len(found) == MOST_REFERENCES:
            break
    return tuple(found.values())


class _Text:
    """A text, and what has been said in its sentence so far."""

    def __init__(self, text: str, attachments: Mapping[int, Attachment]) -> None:
        self.text = text
        names = {fold(one.name) for one in attachments.values()} if "`" in text else set[str]()
        self.tokens: list[Token] = split(text, names)
        words = {token.word for token in self.tokens}
        self.catalogue = Catalogue(attachments, words)
        self.names = Names(attachments, words)
        self.context: list[Trait] = []

    def read(self) -> Iterator[Reference]:
        """Every reference, the longest from each place on."""
        at = 0
        while at < len(self.tokens):
            token = self.tokens[at]
            if token.word in SENTENCE_ENDS:
                self.context = []
            if not token.is_word and token.word not in STARTING_SIGNS:
                at += 1
                continue
            end, readings = self._read_at(at)
            if readings:
                words = self.text[token.start : self.tokens[end - 1].end]
                yield Reference(words, readings[0]) if len(readings) == 1 else Reference(words, (), readings)
            at = end

    def _read_at(self, at: int) -> tuple[int, Readings]:
        """What starts at a token, and the token behind it."""
        is_word = self.tokens[at].is_word
        if is_word and (named := self.names.find(self.text, self.tokens, at)):
            return named[0], self._tell_apart(named[1])
        if bare := read_bare(self.tokens, at, self.catalogue):
            return bare[0], (bare[1],)
        phrase = read_phrase(self.tokens, at, self.catalogue, self.context) if is_word else None
        readings = choose(phrase, self.catalogue) if phrase else ()
        if phrase and (readings or phrase.plural):
            self.context = phrase.traits or self.context
        if phrase and readings:
            return phrase.end, readings
        if called := read_called(self.tokens, at, self.catalogue):
            return called[0], self._tell_apart(called[1])
        # "The third chart" where there are two is no chart at all.
        return (phrase.end if phrase and phrase.chosen else at + 1), ()

    def _tell_apart(self, numbers: list[int] | tuple[int, ...]) -> Readings:
        """The files of one name: the last of those with the same bytes, each other one a reading."""
        return tuple((one,) for one in self.catalogue.leave_twins(numbers)[-MOST_READINGS:])
