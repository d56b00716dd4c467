"""The files of a conversation by the traits that users mention: kind, type, origin, name and tool."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import cached_property, lru_cache

from showandtell.core.messages.attachments import Attachment
from showandtell.core.references.tokens import WORD, normalize
from showandtell.core.references.vocabulary import ENDINGS, STATES, TYPES, Trait

CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
VERSION = re.compile(r"v?\d+")
#: Only the last words of a name count, because they are its head: "living room accent wall" is a wall.
MAX_STEM_WORDS = 8


class Catalogue:
    """Finds files by trait, with cached results. All numbers are ascending."""

    def __init__(self, attachments: Mapping[int, Attachment], words: AbstractSet[str]) -> None:
        self.attachments = attachments
        self.numbers = tuple(sorted(attachments))
        self._words = words
        self._fitting: dict[Trait, frozenset[int]] = {}
        self._chosen: dict[frozenset[Trait], tuple[int, ...]] = {}

    @cached_property
    def _stems(self) -> dict[int, tuple[str, ...]]:
        return {number: stem_words(file.name) for number, file in self.attachments.items()}

    @cached_property
    def _by_word(self) -> dict[str, set[int]]:
        """Files by each word of their name, with and without its digits: wall2 is a wall."""
        return _invert({number: (*stem, *map(_without_digits, stem)) for number, stem in self._stems.items()})

    @cached_property
    def _by_tool(self) -> dict[str, set[int]]:
        tools = {number: file.origin.tool or "" for number, file in self.attachments.items()}
        words = {tool: words_of(tool) for tool in set(tools.values())}
        return _invert({number: words[tool] for number, tool in tools.items()})

    def choose(self, traits: Iterable[Trait]) -> tuple[int, ...]:
        """The files that have all of these traits."""
        key = frozenset(traits)
        if key not in self._chosen:
            fitting = sorted((self.fit(trait) for trait in key), key=len)
            common = fitting[0].intersection(*fitting[1:]) if fitting else self.numbers
            self._chosen[key] = tuple(sorted(common))
        return self._chosen[key]

    def fit(self, trait: Trait) -> frozenset[int]:
        """The files that have one trait."""
        if trait not in self._fitting:
            self._fitting[trait] = frozenset(self._find(trait))
        return self._fitting[trait]

    def _find(self, trait: Trait) -> Iterator[int]:
        match trait:
            case ("word", word):
                yield from self._by_word.get(word, ())
                yield from self._by_tools(word)
            case ("near", word):
                yield from self._ending_in(self._by_word, word)
                yield from self._by_tools(word)
            case ("tool", word):
                yield from self._by_tools(word)
            case ("called", word):
                yield from self._ending_in(self._by_word, word)
                yield from self._ending_in(self._by_tool, word)
            case _:
                yield from (number for number, file in self.attachments.items() if _has(file, trait))

    def _by_tools(self, word: str) -> Iterator[int]:
        """Files of tools with that word in their name, or at an end of a word: "drive" is in gdrive_search."""
        yield from self._by_tool.get(word, ())
        yield from self._ending_in(self._by_tool, word)

    @staticmethod
    def _ending_in(by_word: Mapping[str, set[int]], word: str) -> Iterator[int]:
        for other, numbers in by_word.items():
            if other == word or (len(word) >= 4 and (other.startswith(word) or other.endswith(word))):
                yield from numbers

    def called(self, words: tuple[str, ...]) -> tuple[int, ...]:
        """The files whose name is these words, or ends with them if there are at least two."""
        return tuple(self._phrases.get(words, ()))

    def containing(self, words: tuple[str, ...]) -> tuple[int, ...]:
        """The files whose name has these words, one after the other."""
        numbers = sorted(self._by_word.get(words[0], ()))
        return tuple(number for number in numbers if words in _runs(self._stems[number], len(words)))

    @cached_property
    def _phrases(self) -> dict[tuple[str, ...], list[int]]:
        """Possible names of the files whose last word is in the text."""
        phrases: dict[tuple[str, ...], list[int]] = {}
        for number in self.numbers:
            for words in spoken_names(self._stems[number]):
                if words[-1] not in self._words:
                    continue
                for start in range(max(1, len(words) - 1)):
                    numbers = phrases.setdefault(words[start:], [])
                    if numbers[-1:] != [number]:
                        numbers.append(number)
        return phrases

    def without_duplicates(self, numbers: Iterable[int]) -> tuple[int, ...]:
        """Keep only the last of files with the same name and bytes."""
        last: dict[tuple[str, str], int] = {}
        for number in numbers:
            file = self.attachments[number]
            last[file.name, file.facts.sha256 if file.facts else f"file {number}"] = number
        return tuple(sorted(last.values()))


def within(span: tuple[int, int], numbers: Sequence[int]) -> list[int]:
    """The numbers within a span, in its direction; `numbers` must be ascending."""
    matches = list(numbers[bisect_left(numbers, min(span)) : bisect_right(numbers, max(span))])
    return matches if span[0] <= span[1] else matches[::-1]


def _invert(words_of_numbers: Mapping[int, tuple[str, ...]]) -> dict[str, set[int]]:
    by_word: dict[str, set[int]] = {}
    for number, words in words_of_numbers.items():
        for word in words:
            by_word.setdefault(word, set()).add(number)
    return by_word


def _has(file: Attachment, trait: Trait) -> bool:
    match trait:
        case ("kind", kind):
            return file.kind == kind
        case ("type", name):
            return not {_ending_of(file.name), _ending_of_type(file.media_type)}.isdisjoint(TYPES[name].split())
        case ("by", "user"):
            return file.origin.by == "user"
        case _:
            return file.origin.by != "user"


def _ending_of(name: str) -> str:
    return name.rpartition(".")[2].lower()


def _ending_of_type(media_type: str) -> str:
    return ENDINGS.get(media_type, media_type.partition("/")[2])


def words_of(name: str) -> tuple[str, ...]:
    """Split a name into words and numbers: gdriveDisplay_image2 is gdrive, display, image, 2."""
    return tuple(normalize(part) for part in WORD.findall(name if name.islower() else CAMEL.sub(" ", name)))


@lru_cache(maxsize=10_000)
def stem_words(name: str) -> tuple[str, ...]:
    """The words of a file name without its extension; only the last ones if there are many."""
    stem = name.rpartition(".")[0] or name
    return words_of(stem)[-MAX_STEM_WORDS:]


@lru_cache(maxsize=10_000)
def spoken_names(stem: tuple[str, ...]) -> tuple[tuple[str, ...], ...]:
    """What people may call a file: its name, and its name without numbers, versions and states at the end."""
    return tuple(words for words in dict.fromkeys((stem, _without_state(stem))) if words)


def _without_digits(word: str) -> str:
    return word.strip("0123456789") or word


def _runs(words: tuple[str, ...], length: int) -> set[tuple[str, ...]]:
    """All runs of `length` words."""
    return {words[start : start + length] for start in range(len(words) - length + 1)}


def _without_state(stem: tuple[str, ...]) -> tuple[str, ...]:
    """Remove numbers, versions and states at the end of a name: invoice 2024 03, report v 2, plan final."""
    end = len(stem)
    while end > 1 and (VERSION.fullmatch(stem[end - 1]) or stem[end - 1] in STATES):
        end -= 1
    return stem[:end]
