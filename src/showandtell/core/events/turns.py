"""The turns of a conversation: a user message and everything up to the next one."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from msgspec import Struct

from showandtell.core.messages.message import Message, starts_turn


@dataclass(frozen=True, slots=True)
class ShownBefore:
    """The numbers of the files that were shown before a message. `first` has the place of each file's first message."""

    first: Mapping[int, int]
    place: int

    def __contains__(self, number: object) -> bool:
        """Whether a file was shown before."""
        return isinstance(number, int) and self.first.get(number, self.place) < self.place


class Turn(Struct, frozen=True):
    """A user message, if the turn starts with one, and the answer to it.

    `before` are the numbers of the files that were shown before the answer.
    """

    message: Message | None
    answer: tuple[Message, ...]
    before: Container[int]

    @property
    def message_id(self) -> str:
        """The id of the first message."""
        return (self.message or self.answer[0]).id


def last_turn(messages: Sequence[Message]) -> Turn | None:
    """The newest message of the user and what follows it, without `before`. None if there is no such message."""
    starts = (at for at in range(len(messages) - 1, -1, -1) if starts_turn(messages[at]))
    at = next(starts, None)
    return None if at is None else Turn(messages[at], tuple(messages[at + 1 :]), frozenset[int]())


def turns(messages: Sequence[Message]) -> list[Turn]:
    """Group messages into turns. Approvals of waiting calls belong to the answer."""
    first: dict[int, int] = {}
    starts: list[int] = []
    for place, message in enumerate(messages):
        if starts_turn(message):
            starts.append(place)
        for use in message.showings:
            first.setdefault(use.number, place)
    grouped: list[Turn] = []
    if messages and starts[:1] != [0]:
        end = starts[0] if starts else len(messages)
        grouped.append(Turn(None, tuple(messages[:end]), ShownBefore(first, 0)))
    for start, end in pairwise([*starts, len(messages)]):
        grouped.append(Turn(messages[start], tuple(messages[start + 1 : end]), ShownBefore(first, start + 1)))
    return grouped
