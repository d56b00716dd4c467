"""Converts stored messages to UI messages, equal to those that a client built from their streams.

Content that is never stored is missing: steps that ended before their message started, and transient parts.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

import msgspec

from showandtell.core.events.replay import StepSummary, replay
from showandtell.core.events.turns import Turn
from showandtell.core.messages.attachments import Attachment
from showandtell.core.messages.file_json import is_for_all
from showandtell.core.messages.message import Message, starts_turn
from showandtell.core.messages.parts import Json, Shown, Text
from showandtell.core.ui_stream.answer import UiAccumulator
from showandtell.core.ui_stream.chunks import Record
from showandtell.core.ui_stream.ui_stream import AnswerContext, FilePresenter, UiStream, answer_id


@dataclass(frozen=True)
class Page:
    """The context for showing a conversation's messages.

    `summaries` are the steps' summaries by message id, `waiting` the ids of the calls that wait for approval now, and
    `metadata` the metadata of UI messages by their id (`ans_…` for answers).
    """

    files: Mapping[int, Attachment]
    show: FilePresenter
    summaries: Mapping[str, StepSummary] = field(default_factory=dict[str, StepSummary])
    waiting: Collection[str] = ()
    metadata: Mapping[str, Record] = field(default_factory=dict[str, Record])


def ui_messages(turns: Iterable[Turn], page: Page) -> Iterator[Record]:
    """Yield the UI messages of turns as plain JSON values: user messages, each followed by its answer."""
    for turn in turns:
        if turn.message is not None:
            yield user_record(turn.message, page)
        if (answer := answer_record(turn, page)) is not None:
            yield answer


def user_record(message: Message, page: Page) -> Record:
    """Return a user message: text, files, and references to documents."""
    parts: list[Record] = []
    for place, part in enumerate(message.parts):
        match part:
            case Text(text, "user"):
                parts.append({"type": "data-user-text", "id": f"text.{place}", "data": {"text": text}})
            case Text(text, "both"):
                parts.append({"type": "text", "text": text})
            case Json(text, files):
                parts.append({"type": "text", "text": text})
                for _, file in files:
                    parts += file_parts(file, page)
            case Shown():
                parts += file_parts(part, page)
            case _:
                pass
    parts += [{"type": "data-reference", "data": msgspec.to_builtins(reference)} for reference in message.references]
    return {"id": message.id, "role": "user", "metadata": page.metadata.get(message.id, {}), "parts": parts}


def file_parts(shown: Shown, page: Page) -> list[Record]:
    """Return a user's file as a `data-attachment` part and, for clients that don't support those, a `file` part."""
    file = page.files.get(shown.number)
    if file is None:
        return []
    data = page.show.attachment(file)
    parts: list[Record] = [{"type": "data-attachment", "id": file.id, "data": data}]
    if data["url"] is not None and is_for_all(file):
        parts.append({"type": "file", "mediaType": file.media_type, "filename": file.name, "url": data["url"]})
    return parts


def answer_record(turn: Turn, page: Page) -> Record | None:
    """Return an answer with all its steps, or None if the turn has neither messages nor a finished run."""
    messages = turn.answer
    if not messages and answer_id(turn.message_id) not in page.metadata:
        return None
    name = answer_id(turn.message_id)
    stream = UiStream(AnswerContext(name, page.metadata.get(name, {}), page.files, page.show, "", lambda: None))
    accumulator = UiAccumulator()
    accumulator.add([stream.start_chunk()])
    accumulator.add(
        stream.replay_chunks(replay(messages, page.files, page.summaries, before=turn.before, waiting=page.waiting))
    )
    return accumulator.message


def branches(everything: Iterable[Message], branch: Iterable[Message]) -> dict[str, Record]:
    """Return the alternatives of each message of a branch, by the message's id in the UI.

    `index` and `count` give a message's position among its alternatives, and `others` are the ids of the messages that
    start the other ones. Every user message has an entry. An answer has one if there are several, even if nothing of it
    was stored because it failed or was stopped, so that the others stay reachable.
    """
    siblings_of: dict[tuple[str | None, bool], list[str]] = {}
    turn_ids = set[str]()
    for message in everything:
        if starts_turn(message):
            turn_ids.add(message.id)
        siblings_of.setdefault((message.parent_id, message.id in turn_ids), []).append(message.id)
    alternatives: dict[str, Record] = {}
    message = None
    for message in branch:
        siblings = siblings_of.get((message.parent_id, message.id in turn_ids), [message.id])
        others = [message_id for message_id in siblings if message_id != message.id]
        position = {"index": siblings.index(message.id), "count": len(siblings), "others": others}
        if message.id in turn_ids:
            alternatives[message.id] = position
        elif message.parent_id in turn_ids and others:
            alternatives[answer_id(message.parent_id)] = position
    if message is not None and message.id in turn_ids and (others := siblings_of.get((message.id, False))):
        alternatives[answer_id(message.id)] = {"index": len(others), "count": len(others) + 1, "others": others}
    return alternatives
