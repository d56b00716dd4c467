"""Stored messages as those of AG-UI, for a client that has none of them yet."""

from __future__ import annotations

from collections.abc import Iterable

from showandtell.core.ag_ui.ag_ui_stream import FILE, USER_TEXT, AgUiContext, AgUiStream
from showandtell.core.ag_ui.content import file_part, file_record, is_visible, label
from showandtell.core.events.replay import replay
from showandtell.core.events.turns import Turn
from showandtell.core.messages.message import Message
from showandtell.core.messages.parts import Json, Shown, Text
from showandtell.core.ui_stream.chunks import Record
from showandtell.core.ui_stream.messages import Page
from showandtell.core.ui_stream.ui_stream import AnswerContext, UiStream, answer_id


def ag_ui_messages(turns: Iterable[Turn], page: Page, *, is_legacy: bool) -> list[Record]:
    """The messages of turns as plain JSON values: user messages, each followed by its answer."""
    records: list[Record] = []
    for turn in turns:
        if turn.message is not None:
            records += [user_message(turn.message, page), *user_activities(turn.message, page)]
        records += answer_messages(turn, page, is_legacy=is_legacy)
    return records


def user_message(message: Message, page: Page) -> Record:
    """A user's message: text alone, or parts."""
    parts: list[Record] = []
    for part in message.parts:
        match part:
            case Text(text, "both"):
                parts.append({"type": "text", "text": text})
            case Json(text):
                parts.append({"type": "text", "text": text})
            case Shown(number) if number in page.files and page.files[number].audience != "user":
                record = page.show.attachment(page.files[number])
                parts.append(file_part(record) if is_visible(record) else {"type": "text", "text": label(record)})
            case _:
                pass
    is_plain = all(part["type"] == "text" for part in parts)
    content = "\n".join(part["text"] for part in parts) if is_plain else parts
    return {"id": message.id, "role": "user", "content": content}


def user_activities(message: Message, page: Page) -> list[Record]:
    """What a user's message has for the user alone, as messages that no model gets."""
    activities: list[tuple[str, Record]] = []
    for part in message.parts:
        match part:
            case Text(text, "user"):
                activities.append((USER_TEXT, {"text": text}))
            case Shown(number) if number in page.files and page.files[number].audience == "user":
                activities.append((FILE, file_record(page.show.attachment(page.files[number]))))
            case _:
                pass
    return [
        {"id": f"{message.id}.{at}", "role": "activity", "activityType": kind, "content": content}
        for at, (kind, content) in enumerate(activities)
    ]


def answer_messages(turn: Turn, page: Page, *, is_legacy: bool) -> list[Record]:
    """The messages of an answer, as its streams would have made them."""
    name = answer_id(turn.message_id)
    chunks = UiStream(AnswerContext(name, {}, page.files, page.show, "", lambda: None))
    context = AgUiContext(
        "", "", is_legacy=is_legacy, files=lambda: [page.show.attachment(file) for file in page.files.values()]
    )
    events = AgUiStream(context)
    events.feed(chunks.start_chunk())
    for chunk in chunks.replay_chunks(replay(turn.answer, page.files, page.summaries, before=turn.before)):
        events.feed(chunk)
    return events.messages
