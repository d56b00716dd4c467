"""A conversation as JSON: its files, and its messages as their streams would have built them."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from msgspec import Struct, structs, to_builtins

from showandtell.agent.decide import Done, LoopLimits, Wait, decide
from showandtell.core.events.replay import StepSummary, is_undecided
from showandtell.core.events.turns import turns
from showandtell.core.events.types import Usage
from showandtell.core.messages.file_json import FileLinks, Link
from showandtell.core.messages.message import Message
from showandtell.core.planning.values import View
from showandtell.core.ui_stream.messages import Page, branches, ui_messages
from showandtell.core.ui_stream.ui_stream import answer_id
from showandtell.server.auth.authenticate import User
from showandtell.server.state import Server
from showandtell.storage.conversations import runs
from showandtell.storage.conversations.library import Overview, overview, times_of
from showandtell.storage.conversations.memory_conversation import waiting_calls
from showandtell.storage.conversations.runs import RunRow
from showandtell.storage.conversations.sharing import default_author
from showandtell.storage.conversations.stored_conversation import StoredConversation


class StoredDetails(Struct, frozen=True):
    """Stored data of a conversation beside its messages.

    `runs` are by the message they answer, `times` (epoch seconds) and `summaries` by message id; `everything` holds
    the messages of all branches. `author` is that of messages without one.
    """

    overview: Overview
    runs: Mapping[str | None, RunRow]
    times: Mapping[str, float]
    summaries: Mapping[str, StepSummary]
    everything: Sequence[Message]
    author: str | None


async def read_conversation(server: Server, user: User, id: str, link: Link) -> dict[str, Any]:  # noqa: A002 - it is one
    """Read a conversation as JSON. Raises `NotFound` if the user may not read it."""
    database = server.store.database
    found_overview = await overview(database, id, user.name)
    conversation = await server.store.open(id, user.name, "reader")
    details = StoredDetails(
        found_overview,
        {run.message_id: run for run in await runs.list_of_conversation(database, id)},
        await times_of(database, id),
        await conversation.step_summaries(),
        await conversation.everything(),
        await default_author(database, conversation),
    )
    limits = LoopLimits(server.agents.max_steps, server.agents.need_approval)
    return await asyncio.to_thread(serialize_conversation, conversation, details, limits, link)


def serialize_conversation(
    conversation: StoredConversation, details: StoredDetails, limits: LoopLimits, link: Link
) -> dict[str, Any]:
    """Return a conversation and its details as JSON."""
    about, links = details.overview, FileLinks(conversation.id, link)
    is_waiting = not about.running and is_waiting_now(conversation.view(), details.runs, limits)
    waiting = [call.call_id for call in waiting_calls(conversation.messages)] if is_waiting else ()
    page = Page(conversation.attachments, links, details.summaries, waiting, metadata_of(conversation, details, limits))
    return {
        "id": about.id,
        "alias": about.key,
        "title": about.title,
        "created": about.created,
        "changed": about.changed,
        "model": about.model,
        "right": about.right,
        "shared_by": about.shared_by,
        "running": about.running,
        "waiting": is_waiting,
        "messages": ui_messages(conversation.messages, page),
        "attachments": [links.attachment(file) for _, file in sorted(conversation.attachments.items())],
    }


def is_waiting_now(view: View, runs: Mapping[str | None, RunRow], limits: LoopLimits) -> bool:
    """Whether the newest answer waits for approvals. A run that did so had a step left by its own limits."""
    run = runs.get(view.answering)
    if run is not None and run.status == "waiting":
        limits = structs.replace(limits, max_steps=sys.maxsize)
    return isinstance(decide(view, limits), Wait)


def metadata_of(
    conversation: StoredConversation, details: StoredDetails, limits: LoopLimits
) -> dict[str, dict[str, Any]]:
    """The metadata of each message on the current branch, by its id on the page."""
    messages = conversation.messages
    branch_lists = branches(details.everything, messages)
    metadata: dict[str, dict[str, Any]] = {}
    end, started_calls = 0, conversation.view().started
    for turn in turns(messages):
        question, answer = turn.message, turn.answer
        end += len(answer) + (question is not None)
        if question is None:
            continue
        name = question.author or details.author
        author = {"author": name} if name else {}
        branch_list = branch_lists.get(question.id)
        metadata[question.id] = {"created": details.times.get(question.id), "branches": branch_list} | author
        is_live = details.overview.running and end == len(messages)
        run = details.runs.get(question.id) or (details.runs.get(None) if is_live else None)
        if answer or run is not None:
            branch_fields = {} if (others := branch_lists.get(answer_id(question.id))) is None else {"branches": others}
            start_fields = metadata_at_start(conversation.id, run, answer, details)
            view = partial(view_of, conversation, end, question.id, started_calls)
            end_fields = {} if is_live else metadata_at_end(view, answer, run, limits, details)
            metadata[answer_id(question.id)] = start_fields | branch_fields | end_fields
    return metadata


def metadata_at_start(
    conversation_id: str, run: RunRow | None, answer: Sequence[Message], details: StoredDetails
) -> dict[str, Any]:
    """The metadata at the start of a response's stream. Responses made outside a server lack some of it."""
    if run is not None:
        return {"conversation_id": conversation_id, "run_id": run.id, "model": run.model, "created": run.created}
    first = next((message for message in answer if message.id in details.summaries), None)
    model = None if first is None else details.summaries[first.id].model
    created = details.times.get(answer[0].id) if answer else None
    return {"conversation_id": conversation_id, "run_id": None, "model": model, "created": created}


def view_of(conversation: StoredConversation, end: int, question_id: str, started: frozenset[str]) -> View:
    """The conversation as it was after its first `end` messages."""
    return View(tuple(conversation.messages[:end]), conversation.attachments, question_id, started)


def metadata_at_end(
    view: Callable[[], View], answer: Sequence[Message], run: RunRow | None, limits: LoopLimits, details: StoredDetails
) -> dict[str, Any]:
    """The metadata at the end of a response's stream.

    A recorded "waiting" no longer holds once all calls have results.
    """
    is_recorded = run is not None and run.status and (run.status != "waiting" or waiting_calls(answer))
    status, reason = (run.status, run.reason) if run is not None and is_recorded else derive_status(view(), limits)
    usage = sum((details.summaries[message.id].usage for message in answer if message.id in details.summaries), Usage())
    finished = details.times.get(answer[-1].id) if run is None and answer else run and run.ended
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
