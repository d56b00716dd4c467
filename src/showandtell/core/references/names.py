"""Complete file names in a text, stored as a tree of words: to find a name takes one step per word."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from showandtell.core.messages.attachments import Attachment
from showandtell.core.references.tokens import BREAK, Token, scan

#: Longer names are not recognized.
MAX_WORDS = 32
#: A step through a name: the separator before a word, and the word.
Step = tuple[str, str]


class Branch:
    """The steps that follow a word in the names, and the files whose name ends there."""

    def __init__(self) -> None:
        self.below: dict[Step, Branch] = {}
        self.numbers: list[int] = []


class Names:
    """The names whose words are all in the text, each a path through a tree."""

    def __init__(self, attachments: Mapping[int, Attachment], words: set[str]) -> None:
        self.root = Branch()
        for number, file in attachments.items():
            for steps, needed in forms_of(file.name):
                if needed <= words:
                    self._add(steps, number)

    def _add(self, steps: tuple[Step, ...], number: int) -> None:
        branch = self.root
        for step in steps:
            branch = branch.below.setdefault(step, Branch())
        branch.numbers.append(number)

    def find(self, text: str, tokens: list[Token], at: int) -> tuple[int, list[int]] | None:
        """The longest name that starts at a token: the index of the next token, and the files with this name."""
        if not self.root.below or text[max(0, tokens[at].start - 1) : tokens[at].start] in set("_.-/\\@"):
            return None
        longest: tuple[int, list[int]] | None = None
        branch, end = self.root, tokens[at].start
        for index in range(at, len(tokens)):
            token = tokens[index]
            if token.word == BREAK:
                break
            if not token.is_word:
                continue
            branch = branch.below.get((_normalize_gap(text[end : token.start]), token.word))
            if branch is None:
                break
            end = token.end
            if branch.numbers and not _continues(text, end):
                longest = index + 1, branch.numbers
        return longest


@lru_cache(maxsize=10_000)
def forms_of(name: str) -> tuple[tuple[tuple[Step, ...], frozenset[str]], ...]:
    """How a text may write a name, with and without its extension, each with its words."""
    steps = split_name(name)
    if not steps or len(steps) > MAX_WORDS:
        return ()
    has_ending = _has_ending(steps)
    stem = steps[:-1] if has_ending else steps
    forms = ([steps] if has_ending else []) + ([stem] if _is_distinctive(stem) else [])
    return tuple((form, frozenset(word for _, word in form)) for form in forms)


def split_name(name: str) -> tuple[Step, ...]:
    """The words of a name, each with the separator before it."""
    steps: list[Step] = []
    end = 0
    for token in scan(name):
        if token.is_word:
            steps.append((_normalize_gap(name[end : token.start]) if steps else "", token.word))
            end = token.end
    return tuple(steps)


def _normalize_gap(gap: str) -> str:
    return " " if gap.isspace() else gap.strip().lower()


def _continues(text: str, end: int) -> bool:
    """Whether a name is only the start of a longer one."""
    after = text[end : end + 2]
    return after[:1] == "_" or (after[:1] in {".", "-"} and after[1:].isalnum())


def _has_ending(steps: tuple[Step, ...]) -> bool:
    gap, word = steps[-1]
    return len(steps) > 1 and gap == "." and not word.isdigit()


def _is_distinctive(stem: tuple[Step, ...]) -> bool:
    """Whether it is clearly a file name, even without its extension: accent_wall, IMG-2034."""
    words = [word for _, word in stem]
    digits = sum(len(word) for word in words if word.isdigit())
    return any("_" in gap for gap, _ in stem) or (len(words) > 1 and digits >= 3 and digits < len("".join(words)))
