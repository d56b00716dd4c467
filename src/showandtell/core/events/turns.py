"""The turns of a conversation: a user message and everything up to the next one."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from msgspec import Struct

from showandtell.core.messages.message import Message, starts_turn


class Turn(Struct, frozen=True):
    """A user message, if the turn starts with one, and the answer to it.

    `before` are the numbers of the files that were shown before the answer.
    """

    message: Message | None
    answer: tuple[Message, ...]
    before: frozenset[int]

    @property
    def message_id(self) -> str:
        """The id of the first message."""
        return (self.message or self.answer[0]).id


def last_turn(messages: Sequence[Message]) -> Turn | None:
    """The newest message of the user and what follows it, without `before`. None if there is no such message."""
    starts = (at for at in range(len(messages) - 1, -1, -1) if starts_turn(messages[at]))
    at = next(starts, None)
    return None if at is None else Turn(messages[at], tuple(messages[at + 1 :]), frozenset())


def turns(messages: Sequence[Message]) -> list[Turn]:
    """Group messages into turns. Approvals of waiting calls belong to the answer."""
    starts = [index for index, message in enumerate(messages) if index == 0 or starts_turn(message)]
    grouped: list[Turn] = []
    shown: set[int] = set()
    for start, end in pairwise([*starts, len(messages)]):
        first = messages[start] if starts_turn(messages[start]) else None
        shown |= {use.number for use in first.showings} if first else set()
        answer = tuple(messages[start if first is None else start + 1 : end])
        grouped.append(Turn(first, answer, frozenset(shown)))
        shown |= {use.number for message in answer for use in message.showings}
    return grouped
