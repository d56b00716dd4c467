"""Stored messages become the messages of a page: exactly those that a client has made of their streams.

What nobody stores is not there: a step that ended before its message began, and what was told to watchers alone.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import msgspec

from showandtell.core.events.replay import StepSummary, replay
from showandtell.core.events.turns import Turn, turns
from showandtell.core.messages.attachments import Attachment
from showandtell.core.messages.messages import Message, begins_turn
from showandtell.core.messages.parts import Json, Shown, Text
from showandtell.core.ui_stream.answer import UiAccumulator
from showandtell.core.ui_stream.chunks import Record
from showandtell.core.ui_stream.stream import AnswerContext, Show, UiStream, answer_id, has_bytes


@dataclass(frozen=True)
class Page:
    """What a conversation's messages are shown with.

    `told` is what is known of each step by the id of its message, `waiting` the ids of the calls that wait for a person
    now, `metadata` what is known of each message by its id on the page (`ans_…` for answers).
    """

    files: Mapping[int, Attachment]
    show: Show
    told: Mapping[str, StepSummary] = field(default_factory=dict[str, StepSummary])
    waiting: Collection[str] = ()
    metadata: Mapping[str, Record] = field(default_factory=dict[str, Record])


def ui_messages(messages: Sequence[Message], page: Page) -> list[Record]:
    """The messages of one branch as a page has them, plain JSON values: a person's words, and an answer to each."""
    found: list[Record] = []
    for turn in turns(messages):
        if turn.said is not None:
            found.append(show_said(turn.said, page))
        if (answer := show_answer(turn, page)) is not None:
            found.append(answer)
    return found


def show_said(message: Message, page: Page) -> Record:
    """What a person said: words, files, and what the words point at."""
    parts: list[Record] = []
    for part in message.parts:
        match part:
            case Text(text, audience) if audience != "model":
                parts.append({"type": "text", "text": text})
            case Json(text, files):
                parts.append({"type": "text", "text": text})
                for _, one in files:
                    parts += show_file(one, page)
            case Shown():
                parts += show_file(part, page)
            case _:
                pass
    parts += [{"type": "data-reference", "data": msgspec.to_builtins(one)} for one in message.references]
    return {"id": message.id, "role": "user", "metadata": page.metadata.get(message.id, {}), "parts": parts}


def show_file(shown: Shown, page: Page) -> list[Record]:
    """A person's file, for clients that know attachments and for those that don't."""
    file = page.files.get(shown.number)
    if file is None:
        return []
    data = page.show.attachment(file)
    found: list[Record] = [{"type": "data-attachment", "id": file.id, "data": data}]
    if has_bytes(file):
        found.append({"type": "file", "mediaType": file.media_type, "filename": file.name, "url": data["url"]})
    return found


def show_answer(turn: Turn, page: Page) -> Record | None:
    """An answer with all its steps, or None where there is none: neither words nor an end of a run."""
    messages = turn.answer
    if not messages and answer_id(turn.message_id) not in page.metadata:
        return None
    name = answer_id(turn.message_id)
    stream = UiStream(AnswerContext(name, page.metadata.get(name, {}), page.files, page.show, "", lambda: None))
    fold = UiAccumulator()
    fold.add([stream.begin()])
    fold.add(stream.replay(replay(messages, page.files, page.told, before=turn.before, waiting=page.waiting)))
    return fold.message


def branches(everything: Iterable[Message], branch: Iterable[Message]) -> dict[str, Record]:
    """What else was said in the place of each message of a branch, by its id on the page.

    `index` and `count` say which of how many it is, and `others` are the ids of the messages that begin the others.
    Every message of a person has them, and an answer where there are several: also one of which nothing was stored, as
    it failed or was stopped, so that the others are still reached.
    """
    beside: dict[tuple[str | None, bool], list[str]] = {}
    said = set[str]()
    for message in everything:
        if begins_turn(message):
            said.add(message.id)
        beside.setdefault((message.parent_id, message.id in said), []).append(message.id)
    found: dict[str, Record] = {}
    message = None
    for message in branch:
        there = beside.get((message.parent_id, message.id in said), [message.id])
        others = [one for one in there if one != message.id]
        place = {"index": there.index(message.id), "count": len(there), "others": others}
        if message.id in said:
            found[message.id] = place
        elif message.parent_id in said and others:
            found[answer_id(message.parent_id)] = place
    if message is not None and message.id in said and (others := beside.get((message.id, False))):
        found[answer_id(message.id)] = {"index": len(others), "count": len(others) + 1, "others": others}
    return found
