"""Every use of a file in a conversation, in order, with what decides where it goes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from msgspec import Struct

from showandtell.core.capabilities.cells import Target
from showandtell.core.messages.attachments import Attachment
from showandtell.core.messages.message import Message
from showandtell.core.messages.parts import HostedBlock, Opaque, Selection, Shown
from showandtell.core.planning.values import View


class Visibility(Struct, frozen=True, gc=False):
    """Whether one use of a file is in view.

    If not, `limit` is the limit that it would exceed, and `text_only` whether its text may be sent instead.
    too_large: no request can hold its bytes beside the text of the conversation.
    """

    in_view: bool = True
    limit: str = ""
    text_only: bool = False
    too_large: bool = False


class FileUse(Struct, frozen=True, gc=False):
    """One use of a file in a conversation.

    group: identifies its message on the wire; all results of one step are in one group.
    answered: the run answers its message. recent: it is in that message or after it.
    newest: the model hasn't spoken since. recalled: it is shown because the message's text refers to it.
    text_only: the provider has refused the file, or it came with too many others, so only text may replace it.
    smaller: the provider has refused the file, but may accept a smaller or newly encoded copy.
    view: the part of the file that is shown, if not all. in_view, limit, too_large: as in `Visibility`.
    in_block: it is in a block that goes back to the provider that made it.
    position: that of its message in the view.
    """

    attachment: Attachment
    nth: int
    message: Message
    group: str
    in_view: bool
    answered: bool
    recent: bool
    newest: bool
    recalled: bool = False
    text_only: bool = False
    smaller: bool = False
    view: Selection | None = None
    limit: str = ""
    too_large: bool = False
    in_block: bool = False
    position: int = 0


class EarlierUses(Struct, frozen=True):
    """Uses before a view: how often each file was shown, and the numbers of those in view."""

    counts: Mapping[int, int] = {}
    in_view: frozenset[int] = frozenset()


def file_uses(
    view: View, target: Target, visibilities: Iterable[Visibility], earlier: EarlierUses, messages: range
) -> Iterator[FileUse]:
    """Every use of a file in some messages. A file that a text refers to is used again if it is out of view by then."""
    counts, visible = dict(earlier.counts), set(earlier.in_view)
    remaining = iter(visibilities)
    group = ""
    recent = all(message.id != view.answering for message in view.messages[messages.start :])
    newest_first = reversed(range(len(view.messages)))
    last_answer = next((at for at in newest_first if view.messages[at].role == "assistant"), -1)
    for at in messages:
        message = view.messages[at]
        if message.role == "assistant" and any(not isinstance(part, Opaque) for part in message.parts):
            group = message.id  # what follows on the user's side may become one message on the wire
        answered = message.id == view.answering
        recent = recent or answered
        newest = at > last_answer
        blocks = {id(shown) for shown in files_of_blocks(message, target)}
        for shown in message.showings:
            counts[shown.number] = nth = counts.get(shown.number, 0) + 1
            sight, file = next(remaining), view.attachments[shown.number]
            if sight.in_view:
                visible.add(shown.number)
            yield FileUse(
                file,
                nth,
                message,
                group,
                sight.in_view,
                answered,
                recent,
                newest,
                text_only=sight.text_only,
                view=shown.view,
                limit=sight.limit,
                too_large=sight.too_large,
                in_block=id(shown) in blocks,
                position=at,
            )
        for number in message.recalled:
            sight = next(remaining)
            if sight.in_view and number not in visible:
                visible.add(number)
                counts[number] = nth = counts.get(number, 0) + 1
                file = view.attachments[number]
                yield FileUse(
                    file,
                    nth,
                    message,
                    group,
                    True,
                    False,
                    False,
                    newest,
                    recalled=True,
                    too_large=sight.too_large,
                    position=at,
                )


def files_of_blocks(message: Message, target: Target) -> Iterator[Shown]:
    """The files in blocks that go back to the provider that made them."""
    for part in message.parts if message.role == "assistant" else ():
        if isinstance(part, HostedBlock) and target.wrote(part):
            yield from (shown for _, shown in part.files)
