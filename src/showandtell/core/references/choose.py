"""Which files a phrase means: one reading if it is clear, several if it is ambiguous, none if it means no file."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TypeAlias

from showandtell.core.references.catalogue import Catalogue, within
from showandtell.core.references.numbers import Spans
from showandtell.core.references.phrase import Phrase
from showandtell.core.references.vocabulary import NEEDS_MORE, Trait

#: The possible meanings of some words, each a list of files; one if it is clear, none if they mean no file.
Readings: TypeAlias = tuple[tuple[int, ...], ...]

#: Maximum number of readings; more don't help the model.
MAX_READINGS = 6
#: Maximum number of files that are checked for the same bytes.
MAX_DUPLICATES = 50


def choose(phrase: Phrase, catalogue: Catalogue) -> Readings:
    """The readings of a phrase in a conversation."""
    if phrase.spans:
        return _clean(
            numbers for spans in phrase.spans for numbers in _choose_numbered(phrase.traits, spans, catalogue)
        )
    if phrase.noun in NEEDS_MORE and len(phrase.traits) == 1:
        return ()
    fitting = _choose_owned(phrase, catalogue)
    if phrase.previous:
        return _choose_previous(phrase, fitting)
    if phrase.places:
        return _choose_places(phrase, fitting)
    if phrase.every:
        return _choose_all(phrase, fitting, catalogue)
    if phrase.count:
        return _choose_counted(phrase, catalogue.without_duplicates(fitting))
    return _choose_plain(phrase, fitting, catalogue)


def _clean(readings: Iterable[Sequence[int]]) -> Readings:
    """Remove empty readings and duplicates."""
    return tuple(dict.fromkeys(tuple(dict.fromkeys(reading)) for reading in readings if reading))


def _choose_numbered(traits: Sequence[Trait], spans: Spans, catalogue: Catalogue) -> Readings:
    """By number if these files have the traits; else both by number, and by position among the files that do."""
    numbers = [number for span in spans for number in within(span, catalogue.numbers)]
    fitting = catalogue.choose(traits)
    if numbers and all(_passes(number, traits, catalogue) for number in numbers):
        return (tuple(numbers),)
    places = [fitting[at - 1] for first, last in spans for at in within((first, last), range(1, len(fitting) + 1))]
    count = sum(abs(last - first) + 1 for first, last in spans)
    strict = any(name in {"called", "word", "tool"} for name, _ in traits)
    return _clean(([] if strict else numbers, places if len(places) == count else []))


def _passes(number: int, traits: Sequence[Trait], catalogue: Catalogue) -> bool:
    """Whether a file has the traits. A text counts as a document, too."""
    wide = {("kind", "document"): (("kind", "document"), ("kind", "text"))}
    return all(any(number in catalogue.fit(either) for either in wide.get(trait, (trait,))) for trait in traits)


def find_missing(phrase: Phrase, readings: Readings, catalogue: Catalogue) -> tuple[int, ...]:
    """The numbers of a phrase such as "image 9" that no file has: of ranges only their ends.

    Nothing if the noun may be about something else ("chart 9", "song 2"), or if the numbers are a position.
    """
    if phrase.noun in NEEDS_MORE or any(name not in {"kind", "type"} for name, _ in phrase.traits):
        return ()
    spans = phrase.spans[0] if phrase.spans else ()
    found = {number for reading in readings for number in reading}
    if any(not any(min(span) <= number <= max(span) for span in spans) for number in found):
        return ()
    return tuple(sorted({number for span in spans for number in span} - catalogue.attachments.keys()))


def _choose_owned(phrase: Phrase, catalogue: Catalogue) -> tuple[int, ...]:
    """The files that fit. "my" prefers the user's own, "your" those of others. Without documents, texts count."""
    traits = [
        ("kind", "text") if trait == ("kind", "document") and not catalogue.fit(trait) else trait
        for trait in phrase.traits
    ]
    owner = {"my": ("by", "user"), "your": ("by", "others")}.get(phrase.determiner)
    return (owner and catalogue.choose([*traits, owner])) or catalogue.choose(traits)


def _choose_previous(phrase: Phrase, fitting: tuple[int, ...]) -> Readings:
    """The last file or the one before it: it isn't known which one the user is looking at."""
    if phrase.plural or phrase.count:
        return (fitting[-phrase.count :],) if 0 < phrase.count <= len(fitting) else ()
    return _clean((fitting[-1:], fitting[-2:-1]))


def _choose_places(phrase: Phrase, fitting: tuple[int, ...]) -> Readings:
    """Positions among the files that fit: "the 2nd drive image", "the last two images", "the first and the third"."""
    if phrase.count > 1:
        first = phrase.places[0]
        if len(fitting) < phrase.count or first not in {1, -1}:
            return ()
        return (fitting[: phrase.count] if first == 1 else fitting[-phrase.count :],)
    if phrase.plural and len(phrase.places) == 1 and not phrase.one_of:
        return ()
    counted = [fitting[at - 1 if at > 0 else at] for at in phrase.places if -len(fitting) <= at <= len(fitting) and at]
    if len(counted) < len(phrase.places):
        return ()
    # "The third image" may mean image 3, as in our labels, or the third one of all images.
    numbered = [at for at in phrase.places if at in fitting]
    only_kind = all(name == "kind" for name, _ in phrase.traits) and phrase.determiner not in {"my", "your"}
    return _clean((counted, numbered if only_kind and len(numbered) == len(counted) else ()))


def _choose_all(phrase: Phrase, fitting: tuple[int, ...], catalogue: Catalogue) -> Readings:
    if phrase.every == "both":
        fitting = catalogue.without_duplicates(fitting)
        return (fitting,) if len(fitting) == 2 and phrase.plural and phrase.count in {0, 2} else ()
    if phrase.plural != (phrase.every == "all") or (phrase.count and phrase.count != len(fitting)):
        return ()
    return _clean((fitting,))


def _choose_counted(phrase: Phrase, fitting: tuple[int, ...]) -> Readings:
    """All of them if the count matches, or the last ones: "the two charts", "these two images"."""
    if phrase.plural != (phrase.count > 1) or len(fitting) < phrase.count:
        return ()
    if len(fitting) == phrase.count or phrase.determiner in {"these", "those"}:
        return (fitting[-phrase.count :],)
    return ()


def _choose_plain(phrase: Phrase, fitting: tuple[int, ...], catalogue: Catalogue) -> Readings:
    """References without number or position: "that picture", "the drive image", "my uploads", "the pdf"."""
    if not phrase.determiner and not any(name == "word" and len(word) >= 5 for name, word in phrase.traits):
        return ()
    if phrase.plural:
        fitting = catalogue.without_duplicates(fitting)
        return _clean((fitting,)) if phrase.is_narrow and phrase.determiner and not phrase.at_hand else ()
    named = any(name == "word" for name, _ in phrase.traits)
    if not named and (phrase.determiner in {"this", "that"} or phrase.at_hand):
        return _clean((fitting[-1:],))
    makes_no_file = phrase.noun == "upload" and len(phrase.traits) > 1  # "a test for the image upload"
    if len(fitting) > MAX_DUPLICATES or makes_no_file:
        return ()
    if fitting and named:
        # "The wall photo" is one of all whose names have "wall" in them, also wallpaper.jpg: which isn't guessed.
        near = [("near", word) if name == "word" else (name, word) for name, word in phrase.traits]
        fitting = _choose_owned(replace(phrase, traits=near), catalogue)
    distinct = catalogue.without_duplicates(fitting)
    if len(distinct) == 1 or (phrase.is_narrow and len(distinct) <= MAX_READINGS):
        return _clean((number,) for number in distinct)
    return ()
