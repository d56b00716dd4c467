"""Leaves the oldest messages of a conversation out of its requests, if it is longer than the model's context window.

Whole turns are left out, or if the newest turn is too long itself, its oldest steps: never a call without its result.
The first user message, which is often the task, and the one that is being answered stay. Nothing stored changes.
"""

from __future__ import annotations

from itertools import accumulate

from msgspec import Struct

from showandtell.core.capabilities.cells import Target
from showandtell.core.messages.message import Message, starts_turn
from showandtell.core.messages.parts import Summary
from showandtell.core.planning.labels import LEFT_OUT
from showandtell.core.planning.placement import OUT_OF_VIEW, Placement
from showandtell.core.planning.sizes import message_size
from showandtell.core.planning.values import View


class Cut(Struct, frozen=True):
    """Where a conversation begins in requests: with `start`, and before it `kept`, of the messages that are left out.

    index: that of `first`, the message that follows. numbers: the files of messages that are left out.
    """

    index: int = 0
    first: str = ""
    start: tuple[Message, ...] = ()
    numbers: frozenset[int] = frozenset()

    def apply(self, view: View) -> View:
        """The view without the messages that are left out."""
        return View((*self.start, *view.messages[self.index :]), view.attachments, view.answering, view.started)

    def fits(self, view: View) -> bool:
        """Whether the view continues the conversation that was cut."""
        return self.index < len(view.messages) and view.messages[self.index].id == self.first

    def left_out_files(self, view: View) -> list[Placement]:
        """The files that are only in messages that are left out, as placements. `view` is a view after the cut."""
        shown = {number for message in view.messages for number in (*message.recalled, *numbers_in(message))}
        reason = f"{OUT_OF_VIEW}its message is left out, because the context is full"
        return [Placement(view.attachments[number], 1, "listed", reason) for number in sorted(self.numbers - shown)]


def numbers_in(message: Message) -> set[int]:
    """The numbers of a message's files."""
    return {shown.number for shown in message.showings}


def cut_at(view: View, index: int, text: str = "") -> Cut:
    """Leave out what comes before a message. `text` is a summary of it, if there is one."""
    before = view.messages[:index]
    first = next((message for message in before if starts_turn(message)), None)
    kept = [message for message in before if message is first or message.id == view.answering]
    dropped = [message for message in before if message not in kept]
    note = Message(f"{LEFT_OUT}_{index}", "user", (Summary(text, tuple(message.id for message in dropped)),))
    numbers = frozenset(number for message in dropped for number in numbers_in(message))
    return Cut(index, view.messages[index].id, (*kept, note), numbers)


def find_cut(view: View, target: Target, room: float, after: int = 0) -> int | None:
    """The index of the message to begin with, so that text takes at most `room` bytes; None: no more can be left out.

    `after` is the index of the last cut. If nothing fits, only the newest step stays.
    """
    messages = view.messages
    sizes = [message_size(message, view.attachments, target) for message in messages]
    rest = [*accumulate(reversed(sizes))][::-1]  # the bytes from each message on
    first = next((index for index, message in enumerate(messages) if starts_turn(message)), None)
    answered = next((index for index, message in enumerate(messages) if message.id == view.answering), first)
    stay = {index for index in (first, answered) if index is not None}

    def kept(index: int) -> list[int]:
        return [at for at in stay if at < index]

    starts = [at for at in range(after + 1, len(messages)) if begins_step(messages[at]) and at > len(kept(at))]
    newest = max(stay, default=0)
    turns = [index for index in starts if starts_turn(messages[index])]
    steps = [index for index in starts if index > newest]
    for index in (*turns, *steps):
        if sum(sizes[at] for at in kept(index)) + rest[index] <= room:
            return index
    return max(starts, default=None)


def begins_step(message: Message) -> bool:
    """Whether a request may begin with this message: no result, and no approval of a call, comes without the call."""
    return message.role == "assistant" or starts_turn(message)
