"""Noun phrases that may refer to files: "the last two drive images", "both pictures", "image 5", "my first upload"."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from showandtell.core.references.catalogue import Catalogue
from showandtell.core.references.numbers import NumberContext, read_number, read_spans
from showandtell.core.references.phrase import Phrase
from showandtell.core.references.tails import read_clause, read_tail
from showandtell.core.references.tokens import SENTENCE_ENDS, Token
from showandtell.core.references.vocabulary import (
    ALL,
    COMPARING,
    COMPOUNDS,
    DETERMINERS,
    FOLLOWING,
    FUNCTION_WORDS,
    HOLDERS,
    INDEFINITE,
    MODIFIERS,
    NOUNS,
    NUMBERS,
    ORDINALS,
    PLURALS,
    PREVIOUS,
    VERB_NOUNS,
    Trait,
)

PLACES = {
    ("most", "recent"): -1,
    ("second", "to", "last"): -2,
    ("second", "-", "to", "-", "last"): -2,
    ("2nd", "to", "last"): -2,
    ("next", "to", "last"): -2,
    ("second", "last"): -2,
    ("second", "-", "last"): -2,
}
BEFORE_LAST = frozenset(words[0] for words in PLACES)
MAX_PLACES = 8
ONE = frozenset({"one", "ones"})
MAX_MODIFIERS = 4
#: How many tokens back a sentence is searched for a word of comparing.
MAX_LOOK_BACK = 16


def read_phrase(tokens: Sequence[Token], at: int, catalogue: Catalogue, context: Sequence[Trait]) -> Phrase | None:
    """The phrase that starts at a token. `context` holds the traits of the noun that "the first one" refers to."""
    if tokens[at].word in INDEFINITE - ALL:
        return None
    indefinite = at > 0 and tokens[at - 1].word in INDEFINITE - ALL
    phrase = Phrase(at)
    _read_start(tokens, phrase)
    _read_places(tokens, phrase)
    if not _read_noun(tokens, phrase, catalogue, context):
        if indefinite or not _read_elliptical(tokens, phrase, catalogue, context):
            return None
        _read_tails(tokens, phrase, catalogue)
        return phrase
    owned = tokens[at - 1].word == "'s" and phrase.places and not phrase.determiner
    if owned and not _read_owner(tokens, at - 2, phrase, catalogue):
        return None
    if tokens[phrase.end].word in COMPOUNDS or _is_within(tokens, phrase.end) or _is_any(tokens, phrase):
        return None
    _read_spans(tokens, phrase, at)
    if indefinite and (not phrase.spans or tokens[at - 1].word in {"a", "an"}):
        return None
    if not phrase.spans:
        _read_tails(tokens, phrase, catalogue)
    return phrase


def _read_tails(tokens: Sequence[Token], phrase: Phrase, catalogue: Catalogue) -> None:
    while (end := read_tail(tokens, phrase, catalogue)) is not None:
        phrase.end = end


def _read_owner(tokens: Sequence[Token], at: int, phrase: Phrase, catalogue: Catalogue) -> bool:
    """Read the owner before "first image": the user or a tool. Any other owner means no file of the conversation."""
    owner = tokens[at].word
    if owner != "user" and not catalogue.fit(("tool", owner)):
        return False
    phrase.traits.append(("by", "user") if owner == "user" else ("tool", owner))
    return True


def _read_start(tokens: Sequence[Token], phrase: Phrase) -> None:
    """Read "all of the", "both", "my", "these two"."""
    if tokens[phrase.end].word in ALL | {"both"}:
        phrase.every = tokens[phrase.end].word
        phrase.end += 2 if tokens[phrase.end + 1].word == "of" else 1
    if tokens[phrase.end].word in DETERMINERS:
        phrase.determiner = tokens[phrase.end].word
        phrase.end += 1
    if phrase.determiner or phrase.every:
        _read_count(tokens, phrase)


def _read_count(tokens: Sequence[Token], phrase: Phrase) -> None:
    token = tokens[phrase.end]
    count = NUMBERS.get(token.word) or (int(token.word) if token.is_digits and len(token.word) < 3 else 0)
    # "The 2.5 mm photo" and "the 2-page letter" count no files.
    if count and tokens[phrase.end + 1].is_word:
        phrase.count = count
        phrase.end += 1


def _read_places(tokens: Sequence[Token], phrase: Phrase) -> None:
    """Read "first", "2nd and 3rd", "second to last", "most recent", "last two"."""
    place = _read_place(tokens, phrase.end)
    while place is not None and len(phrase.places) < MAX_PLACES:
        phrase.places.append(place[0])
        phrase.end = place[1]
        following = phrase.end
        while tokens[following].word in {",", "and", "or", "&", "to", "with", "the", "vs"}:
            following += 1
        place = _read_place(tokens, following) if following > phrase.end else None
    if not phrase.places and tokens[phrase.end].word in PREVIOUS:
        phrase.previous = True
        phrase.end += 1
    if len(phrase.places) == 1 or phrase.previous:
        _read_count(tokens, phrase)
    owner = tokens[phrase.end + 1].word
    if phrase.places and tokens[phrase.end].word == "of" and owner in DETERMINERS:
        phrase.one_of = True
        phrase.determiner = owner if owner in {"my", "your"} else phrase.determiner
        phrase.end += 2


def _read_place(tokens: Sequence[Token], at: int) -> tuple[int, int] | None:
    word = tokens[at].word
    for words, place in PLACES.items() if word in BEFORE_LAST else ():
        if tuple(token.word for token in tokens[at : at + len(words)]) == words:
            return place, at + len(words)
    if word in ORDINALS:
        return ORDINALS[word], at + 1
    digits, ending = word[:-2], word[-2:]
    if ending in {"st", "nd", "rd", "th"} and digits.isascii() and digits.isdigit() and len(digits) <= 6:
        return int(digits), at + 1
    return None


def _read_noun(tokens: Sequence[Token], phrase: Phrase, catalogue: Catalogue, context: Sequence[Trait]) -> bool:
    """Read "drive images", "uploaded pdf file", "accent wall picture": words of names and tools, then the noun."""
    at, noun = phrase.end, ""
    ahead = tokens[at : at + MAX_MODIFIERS + 1]
    if not any(token.word in NOUNS or token.word in PLURALS or token.word in ONE for token in ahead):
        return False  # the result for most words, without any lookup
    traits: list[Trait | None] = []
    for _ in range(MAX_MODIFIERS + 1):
        word = tokens[at].word
        singular = word if word in NOUNS else PLURALS.get(word, "")
        if singular:
            noun, phrase.plural = singular, word in PLURALS
            traits.append(NOUNS[singular])
        elif noun:
            break
        elif word in ONE and traits and context:
            noun, phrase.plural = "one", word == "ones"
            traits += [trait for trait in context if trait[0] in {"kind", "type", "called"}]
        elif word in MODIFIERS:
            phrase.at_hand = phrase.at_hand or word in {"attached", "uploaded"}
            traits.append(MODIFIERS[word])
        elif _narrows(word, catalogue):
            traits.append(("word", word))
        elif word != "google":
            return False
        at += 1
    if not noun:
        return False
    phrase.noun, phrase.end = noun, at
    phrase.traits = [trait for trait in traits if trait is not None]
    return True


def _narrows(word: str, catalogue: Catalogue) -> bool:
    """Whether a word is in the name of a file, or of a tool that returned a file."""
    return len(word) >= 3 and word not in FUNCTION_WORDS and bool(catalogue.fit(("word", word)))


def _read_elliptical(tokens: Sequence[Token], phrase: Phrase, catalogue: Catalogue, context: Sequence[Trait]) -> bool:
    """Read "the second (one)" after a noun of its sentence; without one "the last two", "the first one I sent"."""
    if not phrase.places or phrase.determiner != "the":
        return False
    if phrase.count == 1 and tokens[phrase.end - 1].word in ONE:
        phrase.count, phrase.end = 0, phrase.end - 1
    elif len(phrase.places) == 1 and not phrase.count and (count := read_number(tokens, phrase.end, words=True)):
        phrase.count, phrase.end = count
    several = phrase.count > 1 or (len(phrase.places) > 1 and -1 in phrase.places)
    if several and len(catalogue.choose(context)) < max(phrase.count, 2):
        context = ()
    sent = (
        tokens[phrase.end].word in ONE
        and read_clause(tokens, replace(phrase, end=phrase.end + 1, traits=[])) is not None
    )
    if not context and not several and not sent:
        return False
    if tokens[phrase.end].word in ONE:
        phrase.plural = tokens[phrase.end].word == "ones"
        phrase.end += 1
    elif tokens[phrase.end].is_word and tokens[phrase.end].word not in FOLLOWING:
        return False
    phrase.traits = list(context)
    phrase.noun = "one"
    return True


def _is_within(tokens: Sequence[Token], at: int) -> bool:
    """Whether "of the report" or "on page 2" follows: then it is an image inside a file."""
    if tokens[at].is_digits:
        at += 1
    if tokens[at].word not in {"of", "in", "on"}:
        return False
    at += 2 if tokens[at + 1].word in DETERMINERS | {"a", "each", "every"} else 1
    return tokens[at].word in HOLDERS or PLURALS.get(tokens[at].word) in HOLDERS


def _is_any(tokens: Sequence[Token], phrase: Phrase) -> bool:
    """Whether it means any files at all: "all images of cats", but not "all images of this conversation"."""
    any_file = phrase.every in ALL and not phrase.determiner and tokens[phrase.end].word in {"of", "on", "in"}
    return any_file and tokens[phrase.end + 1].word not in {"this", "our", "total"}


def _read_spans(tokens: Sequence[Token], phrase: Phrase, start: int) -> None:
    """Read the numbers after a noun: "image 5", "images 2 to 4"."""
    if phrase.places or phrase.every or phrase.count or phrase.previous:
        return
    comparing = any(token.word in COMPARING for token in sentence_before(tokens, start))
    doubtful = phrase.noun in VERB_NOUNS and not phrase.plural and not phrase.determiner
    context = NumberContext(plural=phrase.plural, comparing=comparing, doubtful=doubtful)
    found = read_spans(tokens, phrase.end, context)
    if found is not None:
        phrase.spans, phrase.end = found


def sentence_before(tokens: Sequence[Token], at: int) -> Sequence[Token]:
    """The tokens of the same sentence before a token, at most `MAX_LOOK_BACK`."""
    start = at
    while start > 0 and at - start < MAX_LOOK_BACK and tokens[start - 1].word not in SENTENCE_ENDS:
        start -= 1
    return tokens[start:at]
