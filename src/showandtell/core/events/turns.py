"""The turns of a conversation: what a person says, and all that comes of it until they speak again."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from msgspec import Struct

from showandtell.core.messages.messages import Message, begins_turn


class Turn(Struct, frozen=True):
    """What a person said, if that is where it begins, and all that came of it.

    `before` are the numbers of the files that were shown up to the answer.
    """

    said: Message | None
    answer: tuple[Message, ...]
    before: frozenset[int]

    @property
    def message_id(self) -> str:
        """The id of its first message."""
        return (self.said or self.answer[0]).id


def turns(messages: Sequence[Message]) -> list[Turn]:
    """Messages by what they answer; what a person says to calls that wait belongs to the answer."""
    starts = [place for place, one in enumerate(messages) if place == 0 or begins_turn(one)]
    found: list[Turn] = []
    shown: set[int] = set()
    for start, end in pairwise([*starts, len(messages)]):
        said = messages[start] if begins_turn(messages[start]) else None
        shown |= {one.number for one in said.showings} if said else set()
        answer = tuple(messages[start if said is None else start + 1 : end])
        found.append(Turn(said, answer, frozenset(shown)))
        shown |= {one.number for message in answer for one in message.showings}
    return found
