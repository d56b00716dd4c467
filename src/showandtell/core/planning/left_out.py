"""Leaves the oldest messages of a conversation out of its requests, if it is longer than the model's context window.

Whole turns are left out, or if the newest turn is too long itself, its oldest steps: never a call without its result.
The first user message, which is often the task, and the one that is being answered stay. Nothing stored changes.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import accumulate, chain, groupby, pairwise

from msgspec import Struct
from msgspec.structs import replace

from showandtell.core.capabilities.cells import Target
from showandtell.core.messages.message import Message, starts_turn
from showandtell.core.messages.parts import Summary, is_summary
from showandtell.core.planning.labels import LEFT_OUT
from showandtell.core.planning.placement import OUT_OF_VIEW, Placement
from showandtell.core.planning.sizes import message_size
from showandtell.core.planning.values import View


class Cut(Struct, frozen=True):
    """Where a conversation begins in requests: with `start`, which ends with a note or a summary of what is left out.

    index: that of `first`, the message that follows. numbers: the files of messages that are left out.
    is_whole: whether nothing is left out, no summary either.
    """

    index: int = 0
    first: str = ""
    start: tuple[Message, ...] = ()
    numbers: frozenset[int] = frozenset()
    is_whole: bool = False

    def apply(self, view: View) -> View:
        """The view without the messages that are left out."""
        if self.is_whole:
            return view
        rest = (message for message in view.messages[self.index :] if not is_summary(message.parts))
        return View((*self.start, *rest), view.attachments, view.answering, view.started)

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


def left_out_before(view: View, index: int) -> list[int]:
    """The positions before a message that are left out: all but the first user message and the one to answer."""
    first = next((at for at, message in enumerate(view.messages) if starts_turn(message)), None)
    return [at for at in range(index) if at != first and view.messages[at].id != view.answering]


def as_ranges(positions: Sequence[int]) -> tuple[tuple[int, int], ...]:
    """Ascending positions as ranges."""
    groups = groupby(enumerate(positions), key=lambda item: item[1] - item[0])
    runs = [[at for _, at in group] for _, group in groups]
    return tuple((run[0], run[-1] + 1) for run in runs)


def cut_at(view: View, index: int) -> Cut:
    """Leave out what comes before a message, with a note in its place."""
    left_out = left_out_before(view, index)
    note = Message(f"{LEFT_OUT}_{index}", "user", (Summary("", as_ranges(left_out)),))
    return make_cut(view, index, left_out, note)


def make_cut(view: View, index: int, left_out: Collection[int], summary: Message) -> Cut:
    """A cut before a message, with a summary of what it leaves out."""
    before, dropped = view.messages[:index], frozenset(left_out)
    kept = [message for at, message in enumerate(before) if at not in dropped and not is_summary(message.parts)]
    numbers = frozenset(number for at in dropped for number in numbers_in(before[at]))
    return Cut(index, view.messages[index].id, (*kept, summary), numbers)


def no_cut(view: View) -> Cut:
    """Leave nothing out of a conversation without summaries."""
    return Cut(0, view.messages[0].id if view.messages else "", is_whole=True)


def stored_cut(view: View) -> Cut:
    """Leave out what the newest stored summary stands for; nothing if there is none."""
    summaries = [message for message in reversed(view.messages) if is_summary(message.parts)]
    for message in summaries:
        part = message.parts[0]
        if isinstance(part, Summary) and (index := end_of(part, view.messages)):
            left_out = [at for start, stop in part.replaces for at in range(start, stop)]
            cut = make_cut(view, index, left_out, message)
            if all(starts_turn(kept) for kept in cut.start[:-1]):
                return cut
    return replace(no_cut(view), is_whole=not summaries)


def end_of(summary: Summary, messages: Sequence[Message]) -> int:
    """The position of the first message after those that a summary stands for; 0 if a request can't begin with it.

    An imported conversation may hold any numbers.
    """
    index = max((stop for _, stop in summary.replaces), default=0)
    bounds = [0, *chain.from_iterable(summary.replaces)]
    is_valid = all(low <= high for low, high in pairwise(bounds)) and all(
        start < stop for start, stop in summary.replaces
    )
    return index if is_valid and index < len(messages) and begins_step(messages[index]) else 0


def without_summarized(view: View) -> View:
    """A conversation's view with its newest summary in place of the messages that it stands for."""
    return stored_cut(view).apply(view)


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
