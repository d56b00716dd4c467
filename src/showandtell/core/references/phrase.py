"""A parsed noun phrase that may refer to files, before it is matched with the files of a conversation."""

from __future__ import annotations

from dataclasses import dataclass, field

from showandtell.core.references.numbers import Spans
from showandtell.core.references.vocabulary import Trait


@dataclass(slots=True)
class Phrase:
    """A parsed noun phrase.

    end: the index of the next token. places: positions, from 1 at the start or from -1 at the end.
    every: "all", "every", "each" or "both". one_of: "of my", "of the" follows the position.
    at_hand: the file was just sent or is in view ("attached", "above"). spans: the numbers after the noun.
    """

    end: int
    determiner: str = ""
    every: str = ""
    count: int = 0
    places: list[int] = field(default_factory=list[int])
    previous: bool = False
    one_of: bool = False
    noun: str = ""
    plural: bool = False
    traits: list[Trait] = field(default_factory=list[Trait])
    at_hand: bool = False
    spans: tuple[Spans, ...] = ()

    @property
    def is_selective(self) -> bool:
        """Whether it says which files, or how many."""
        return bool(self.places or self.previous or self.count or self.every)

    @property
    def is_narrow(self) -> bool:
        """Whether it says more than the kind of the files."""
        return any(name in {"word", "tool", "by", "called"} for name, _ in self.traits)
