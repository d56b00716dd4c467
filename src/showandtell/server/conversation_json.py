"""A conversation as JSON: its files, and its messages as their streams would have built them."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from msgspec import Raw, structs, to_builtins
from msgspec.json import encode

from showandtell.agent.decide import Done, LoopLimits, Wait, decide
from showandtell.core.events.replay import is_undecided
from showandtell.core.events.turns import Turn, turns
from showandtell.core.events.types import Usage
from showandtell.core.messages.conversation_settings import ConversationSettings
from showandtell.core.messages.file_json import FileLinks, Link
from showandtell.core.messages.message import Message
from showandtell.core.planning.values import View
from showandtell.core.ui_stream.messages import Page, branches, ui_messages
from showandtell.core.ui_stream.ui_stream import answer_id
from showandtell.server.auth.authenticate import User
from showandtell.server.send_pending import wait_sent
from showandtell.server.state import Server
from showandtell.storage.conversations.memory_conversation import waiting_calls
from showandtell.storage.conversations.transcript import AnswerRun, Transcript, read_transcript


async def read_conversation(server: Server, user: User, id: str, link: Link, newest: int | None = None) -> bytes:  # noqa: A002 - it is one
    """Read a conversation as JSON, with at least its `newest` messages. Raises `NotFound` without access."""
    transcript = await read_transcript(server.store.database, id, user.name)
    if transcript.overview.pending and not transcript.overview.running:
        await wait_sent(server, id)  # readers of the answer that has just ended see the next question at once
        transcript = await read_transcript(server.store.database, id, user.name)
    limits = LoopLimits(server.agents.max_steps, server.agents.need_approval)
    return await asyncio.to_thread(lambda: encode(conversation_json(transcript, limits, link, newest)))


def conversation_json(transcript: Transcript, limits: LoopLimits, link: Link, newest: int | None) -> dict[str, Any]:
    """Return a conversation as JSON, with at least its `newest` messages, from a question on; None: with all."""
    about, links = transcript.overview, FileLinks(transcript.overview.id, link)
    is_waiting = not about.running and is_waiting_now(transcript.view(), transcript.runs, limits)
    waiting = [call.call_id for call in waiting_calls(transcript.messages)] if is_waiting else ()
    all_turns = turns(transcript.messages)
    start = 0 if newest is None else start_of_newest(all_turns, newest)
    shown = all_turns[start:]
    page = Page(transcript.attachments, links, transcript.summaries, waiting, metadata_of(transcript, shown, limits))
    return {
        "id": about.id,
        "alias": about.key,
        "title": about.title,
        "created": about.created,
        "changed": about.changed,
        "model": about.model,
        "settings": None if transcript.settings is None else settings_json(transcript.settings),
        "right": about.right,
        "shared_by": about.shared_by,
        "running": about.running,
        "waiting": is_waiting,
        "pending": about.pending,
        "earlier": start > 0,
        "messages": encode_each(ui_messages(shown, page)),
        "attachments": encode_each(map(links.attachment, transcript.attachments.values())),
    }


def encode_each(values: Iterable[object]) -> list[Raw]:
    """Encode values one by one: many objects at a time cost as much again in the garbage collection."""
    return [Raw(encode(value)) for value in values]


def start_of_newest(all_turns: Sequence[Turn], newest: int) -> int:
    """The index of the turn at which the `newest` messages begin, or a few more."""
    count = 0
    for index in reversed(range(len(all_turns))):
        turn = all_turns[index]
        count += (turn.message is not None) + bool(turn.answer)
        if count >= newest:
            return index
    return 0


def is_waiting_now(view: View, runs: Mapping[str | None, AnswerRun], limits: LoopLimits) -> bool:
    """Whether the newest answer waits for approvals. A run that did so had a step left by its own limits."""
    run = runs.get(view.answering)
    if run is not None and run.status == "waiting":
        limits = structs.replace(limits, max_steps=sys.maxsize)
    return isinstance(decide(view, limits), Wait)


def metadata_of(transcript: Transcript, shown: Sequence[Turn], limits: LoopLimits) -> dict[str, dict[str, Any]]:
    """The metadata of each message of the newest turns, by its id on the page."""
    times = transcript.times
    messages = [message for turn in shown for message in ((turn.message,) if turn.message else ()) + turn.answer]
    branch_lists = branches(transcript.everything, messages)
    metadata: dict[str, dict[str, Any]] = {}
    for turn in shown:
        question, answer = turn.message, turn.answer
        if question is None:
            continue
        name = question.author or transcript.author
        author = {"author": name} if name else {}
        branch_list = branch_lists.get(question.id)
        metadata[question.id] = {"created": times.get(question.id), "branches": branch_list} | author
        is_live = transcript.overview.running and turn is shown[-1]
        run = transcript.runs.get(question.id) or (transcript.runs.get(None) if is_live else None)
        if answer or run is not None:
            branch_fields = {} if (others := branch_lists.get(answer_id(question.id))) is None else {"branches": others}
            start_fields = metadata_at_start(transcript, run, answer)
            view = View((question, *answer), transcript.attachments, question.id, transcript.started)
            end_fields = {} if is_live else metadata_at_end(transcript, view, answer, run, limits)
            metadata[answer_id(question.id)] = start_fields | branch_fields | end_fields
    return metadata


def metadata_at_start(transcript: Transcript, run: AnswerRun | None, answer: Sequence[Message]) -> dict[str, Any]:
    """The metadata at the start of a response's stream. Responses made outside a server lack some of it."""
    conversation_id = transcript.overview.id
    if run is not None:
        return {"conversation_id": conversation_id, "run_id": run.id, "model": run.model, "created": run.created}
    first = next((message for message in answer if message.id in transcript.summaries), None)
    model = None if first is None else transcript.summaries[first.id].model
    created = transcript.times.get(answer[0].id) if answer else None
    return {"conversation_id": conversation_id, "run_id": None, "model": model, "created": created}


def metadata_at_end(
    transcript: Transcript, view: View, answer: Sequence[Message], run: AnswerRun | None, limits: LoopLimits
) -> dict[str, Any]:
    """The metadata at the end of a response's stream. `view` has the turn alone.

    A recorded "waiting" no longer holds once all calls have results.
    """
    is_recorded = run is not None and run.status and (run.status != "waiting" or waiting_calls(answer))
    status, reason = (run.status, run.reason) if run is not None and is_recorded else derive_status(view, limits)
    summaries = [transcript.summaries[message.id] for message in answer if message.id in transcript.summaries]
    usage = sum((summary.usage for summary in summaries), Usage())
    finished = transcript.times.get(answer[-1].id) if run is None and answer else run and run.ended
    return {"status": status, "reason": reason, "usage": to_builtins(usage), "finished": finished}


def derive_status(view: View, limits: LoopLimits) -> tuple[str, str | None]:
    """Derive a response's status from its messages, if no server made it or its run has no recorded end."""
    match decide(view, limits):
        case Done(status, reason):
            return status, reason
        case Wait():
            return "waiting", "approval"
        case _:
            is_passed = is_undecided(view.messages[-1])
            return "incomplete", "undecided" if is_passed else "cut"


def settings_json(settings: ConversationSettings) -> dict[str, Any]:
    """All settings as JSON; `on_full` if it is set."""
    known = {
        "model": settings.model,
        "instructions": settings.instructions,
        "temperature": settings.temperature,
        "tools": settings.tools,
    }
    return known if settings.on_full is None else {**known, "on_full": settings.on_full}
