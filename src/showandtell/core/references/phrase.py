"""What is read of a noun phrase that may point at files, before anybody asks which files there are."""

from __future__ import annotations

from dataclasses import dataclass, field

from showandtell.core.references.numbers import Spans
from showandtell.core.references.vocabulary import Trait


@dataclass(slots=True)
class Phrase:
    """What was read of a noun phrase. `end` is the token behind it; `places` count from the start, or from the end."""

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
    def chosen(self) -> bool:
        """Whether it says which ones, or how many, of the files."""
        return bool(self.places or self.previous or self.count or self.every)

    @property
    def narrow(self) -> bool:
        """Whether more than a kind is said of the files."""
        return any(name in {"word", "tool", "by", "called"} for name, _ in self.traits)
