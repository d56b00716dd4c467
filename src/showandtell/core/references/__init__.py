"""References to files in a user's text: "image 5", "the 2nd drive image", "my first upload", "lets look at 5".

English only. Numbers that mean something else ("5 cats", "version 3") are no references. Ambiguous ones aren't guessed,
and numbers that no file has are returned as missing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from showandtell.core.messages.attachments import Attachment
from showandtell.core.messages.message import Reference
from showandtell.core.references.catalogue import Catalogue
from showandtell.core.references.choose import MAX_READINGS, Readings, choose, find_missing
from showandtell.core.references.names import Names
from showandtell.core.references.numbers import SIGNS
from showandtell.core.references.phrases import read_phrase
from showandtell.core.references.tokens import SENTENCE_ENDS, Token, normalize, split
from showandtell.core.references.vocabulary import Trait
from showandtell.core.references.without_noun import QUOTES, read_called, read_without_noun

#: Punctuation that a reference may start with.
STARTING_SIGNS = SIGNS | QUOTES.keys()
#: Limits on the characters read of a message, and on the references returned.
MAX_TEXT = 20_000
MAX_REFERENCES = 20


def resolve(text: str, attachments: Mapping[int, Attachment]) -> tuple[Reference, ...]:
    """Find the references to files in a text, in order of appearance. Repeated words are returned once.

    `attachments` holds all files by number, including failed and deleted ones and those of the text's own message.
    Code, links and JSON are skipped, except for a complete file name in backticks. Never raises.
    """
    if not attachments:
        return ()
    references: dict[str, Reference] = {}
    for reference in _Text(text[:MAX_TEXT], attachments).read():
        references.setdefault(reference.words.casefold(), reference)
        if len(references) == MAX_REFERENCES:
            break
    return tuple(references.values())


class _Text:
    """A text, and the traits of the last noun in the current sentence."""

    def __init__(self, text: str, attachments: Mapping[int, Attachment]) -> None:
        self.text = text
        names = {normalize(file.name) for file in attachments.values()} if "`" in text else set[str]()
        self.tokens: list[Token] = split(text, names)
        words = {token.word for token in self.tokens}
        self.catalogue = Catalogue(attachments, words)
        self.names = Names(attachments, words)
        self.context: list[Trait] = []

    def read(self) -> Iterator[Reference]:
        """Yield all references, the longest at each position."""
        at = 0
        while at < len(self.tokens):
            token = self.tokens[at]
            if token.word in SENTENCE_ENDS:
                self.context = []
            if not token.is_word and token.word not in STARTING_SIGNS:
                at += 1
                continue
            end, readings, missing = self._read_at(at)
            if readings or missing:
                words = self.text[token.start : self.tokens[end - 1].end]
                numbers, readings = (readings[0], ()) if len(readings) == 1 else ((), readings)
                yield Reference(words, numbers, readings, missing)
            at = end

    def _read_at(self, at: int) -> tuple[int, Readings, tuple[int, ...]]:
        """The index of the token after the reference that starts at a token, its readings, and its missing numbers."""
        is_word = self.tokens[at].is_word
        if is_word and (named := self.names.find(self.text, self.tokens, at)):
            return named[0], self._distinguish(named[1]), ()
        if numbered := read_without_noun(self.tokens, at, self.catalogue):
            return numbered[0], (numbered[1],), ()
        phrase = read_phrase(self.tokens, at, self.catalogue, self.context) if is_word else None
        readings = choose(phrase, self.catalogue) if phrase else ()
        if phrase and (readings or phrase.plural):
            self.context = phrase.traits or self.context
        missing = find_missing(phrase, readings, self.catalogue) if phrase else ()
        if phrase and (readings or missing):
            return phrase.end, readings, missing
        if called := read_called(self.tokens, at, self.catalogue):
            return called[0], self._distinguish(called[1]), ()
        # "The third chart" isn't a reference if there are only two charts.
        return (phrase.end if phrase and phrase.is_selective else at + 1), (), ()

    def _distinguish(self, numbers: list[int] | tuple[int, ...]) -> Readings:
        """A reading for each file with the same name. Of files with the same bytes only the last one counts."""
        return tuple((number,) for number in self.catalogue.without_duplicates(numbers)[-MAX_READINGS:])
