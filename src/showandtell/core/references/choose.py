"""Which files a phrase means: one answer where it is clear, each candidate where it isn't, none where it means none."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeAlias

from showandtell.core.references.catalogue import Catalogue, within
from showandtell.core.references.numbers import Spans
from showandtell.core.references.phrase import Phrase
from showandtell.core.references.vocabulary import NEEDS_MORE, Trait

#: Each thing that some words may mean; one where it is clear, none where they mean no file.
Readings: TypeAlias = tuple[tuple[int, ...], ...]

#: More candidates are no help.
MOST_READINGS = 6
#: Nor are so many showings of the same bytes.
MOST_TWINS = 50


def choose(phrase: Phrase, catalogue: Catalogue) -> Readings:
    """What a phrase means in a conversation."""
    if phrase.spans:
        return _clean(one for spans in phrase.spans for one in _choose_numbered(phrase.traits, spans, catalogue))
    if phrase.noun in NEEDS_MORE and len(phrase.traits) == 1:
        return ()
    fitting = _choose_owned(phrase, catalogue)
    if phrase.previous:
        return _choose_previous(phrase, fitting)
    if phrase.places:
        return _choose_places(phrase, fitting)
    if phrase.every:
        return _choose_all(phrase, fitting)
    if phrase.count:
        return _choose_counted(phrase, fitting)
    return _choose_plain(phrase, fitting, catalogue)


def _clean(readings: Iterable[Sequence[int]]) -> Readings:
    """Each reading once, those without files left out."""
    return tuple(dict.fromkeys(tuple(dict.fromkeys(one)) for one in readings if one))


def _choose_numbered(traits: Sequence[Trait], spans: Spans, catalogue: Catalogue) -> Readings:
    """By number where the files are of that kind; else by number, and by their place among those that are."""
    numbers = [one for span in spans for one in within(span, catalogue.numbers)]
    fitting = catalogue.choose(traits)
    if numbers and all(_passes(one, traits, catalogue) for one in numbers):
        return (tuple(numbers),)
    places = [fitting[at - 1] for first, last in spans for at in within((first, last), range(1, len(fitting) + 1))]
    wanted = sum(abs(last - first) + 1 for first, last in spans)
    strict = any(name in {"called", "word", "tool"} for name, _ in traits)
    return _clean(([] if strict else numbers, places if len(places) == wanted else []))


def _passes(number: int, traits: Sequence[Trait], catalogue: Catalogue) -> bool:
    """Whether a file is what it is called; a text is called a document, too."""
    wide = {("kind", "document"): (("kind", "document"), ("kind", "text"))}
    return all(any(number in catalogue.fit(one) for one in wide.get(trait, (trait,))) for trait in traits)


def _choose_owned(phrase: Phrase, catalogue: Catalogue) -> tuple[int, ...]:
    """The files that fit; "my" prefers the user's own, "your" those of others. Texts are documents if none else is."""
    traits = [
        ("kind", "text") if trait == ("kind", "document") and not catalogue.fit(trait) else trait
        for trait in phrase.traits
    ]
    owner = {"my": ("by", "user"), "your": ("by", "others")}.get(phrase.determiner)
    return (owner and catalogue.choose([*traits, owner])) or catalogue.choose(traits)


def _choose_previous(phrase: Phrase, fitting: tuple[int, ...]) -> Readings:
    """The last file, or the one before it: nobody knows which of them the speaker has before them."""
    if phrase.plural or phrase.count:
        return (fitting[-phrase.count :],) if 0 < phrase.count <= len(fitting) else ()
    return _clean((fitting[-1:], fitting[-2:-1]))


def _choose_places(phrase: Phrase, fitting: tuple[int, ...]) -> Readings:
    """Places among the files that fit: "the 2nd drive image", "the last two images", "the first and the third"."""
    if phrase.count > 1:
        first = phrase.places[0]
        if len(fitting) < phrase.count or first not in {1, -1}:
            return ()
        return (fitting[: phrase.count] if first == 1 else fitting[-phrase.count :],)
    if phrase.plural and len(phrase.places) == 1 and not phrase.one_of:
        return ()
    found = [fitting[at - 1 if at > 0 else at] for at in phrase.places if -len(fitting) <= at <= len(fitting) and at]
    if len(found) < len(phrase.places):
        return ()
    # "The third image" is image 3 to who reads our labels, and another one to who counts.
    numbered = [at for at in phrase.places if at in fitting]
    plain = all(name == "kind" for name, _ in phrase.traits) and phrase.determiner not in {"my", "your"}
    return _clean((found, numbered if plain and len(numbered) == len(found) else ()))


def _choose_all(phrase: Phrase, fitting: tuple[int, ...]) -> Readings:
    if phrase.every == "both":
        return (fitting,) if len(fitting) == 2 and phrase.plural and phrase.count in {0, 2} else ()
    if phrase.plural != (phrase.every == "all") or (phrase.count and phrase.count != len(fitting)):
        return ()
    return _clean((fitting,))


def _choose_counted(phrase: Phrase, fitting: tuple[int, ...]) -> Readings:
    """As many as there are, or the last ones: "the two charts", "these two images"."""
    if phrase.plural != (phrase.count > 1) or len(fitting) < phrase.count:
        return ()
    if len(fitting) == phrase.count or phrase.determiner in {"these", "those"}:
        return (fitting[-phrase.count :],)
    return ()


def _choose_plain(phrase: Phrase, fitting: tuple[int, ...], catalogue: Catalogue) -> Readings:
    """What is meant without number or place: "that picture", "the drive image", "my uploads", "the pdf"."""
    if not phrase.determiner and not any(name == "word" and len(word) >= 5 for name, word in phrase.traits):
        return ()
    if phrase.plural:
        return _clean((fitting,)) if phrase.narrow and phrase.determiner and not phrase.at_hand else ()
    if phrase.determiner in {"this", "that"} or phrase.at_hand:
        return _clean((fitting[-1:],))
    makes_no_file = phrase.noun == "upload" and len(phrase.traits) > 1  # "a test for the image upload"
    if len(fitting) > MOST_TWINS or makes_no_file:
        return ()
    distinct = catalogue.leave_twins(fitting)
    if len(distinct) == 1 or (phrase.narrow and len(distinct) <= MOST_READINGS):
        return _clean((one,) for one in distinct)
    return ()
