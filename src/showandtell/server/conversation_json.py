"""A conversation as JSON: its messages as the streams of its answers would have built them, and all of its files."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from msgspec import Struct, to_builtins

from showandtell.agent.decide import Done, LoopLimits, Wait, decide
from showandtell.core.events.replay import StepSummary
from showandtell.core.events.turns import turns
from showandtell.core.events.types import Usage
from showandtell.core.messages.messages import Message
from showandtell.core.planning.values import View
from showandtell.core.ui_stream.messages import Page, branches, ui_messages
from showandtell.core.ui_stream.stream import answer_id
from showandtell.server.auth.authenticate import User
from showandtell.server.files.attachments import link_for
from showandtell.server.schemas import Link, Showing
from showandtell.server.state import Server
from showandtell.storage.conversations import runs
from showandtell.storage.conversations.library import Overview, overview, times_of
from showandtell.storage.conversations.memory_conversation import waiting_calls
from showandtell.storage.conversations.runs import RunRow
from showandtell.storage.conversations.stored_conversation import StoredConversation


class StoredDetails(Struct, frozen=True):
    """What the database holds of a conversation: who ran in it, when each message came, what each step said besides.

    `everything` are the messages of all branches.
    """

    known: Overview
    runs: Mapping[str | None, RunRow]
    times: Mapping[str, float]
    told: Mapping[str, StepSummary]
    everything: Sequence[Message]


async def tell_conversation(here: Server, user: User, id: str) -> dict[str, Any]:  # noqa: A002 - it is one
    """All of a conversation that a user may read. Raises `NotFound`."""
    database = here.store.database
    known = await overview(database, id, user.name)
    conversation = await here.store.open(id, user.name, "reader")
    kept = StoredDetails(
        known,
        {one.message_id: one for one in await runs.list_in(database, id)},
        await times_of(database, id),
        await conversation.told(),
        await conversation.everything(),
    )
    asking = frozenset(tool.name for tool in here.config.tools if tool.approval)
    limits = LoopLimits(here.config.max_steps, asking)
    return await asyncio.to_thread(spell, conversation, kept, limits, link_for(here, user))


def spell(conversation: StoredConversation, kept: StoredDetails, limits: LoopLimits, link: Link) -> dict[str, Any]:
    """What was read, as JSON."""
    known, show = kept.known, Showing(conversation.id, link)
    is_waiting = not known.running and isinstance(decide(conversation.view(), limits), Wait)
    waiting = [call.call_id for call in waiting_calls(conversation.messages)] if is_waiting else ()
    page = Page(conversation.attachments, show, kept.told, waiting, metadata_of(conversation, kept, limits))
    return {
        "id": known.id,
        "alias": known.alias,
        "title": known.title,
        "created": known.created,
        "changed": known.changed,
        "model": known.model,
        "right": known.right,
        "running": known.running,
        "waiting": is_waiting,
        "messages": ui_messages(conversation.messages, page),
        "attachments": [show.attachment(one) for _, one in sorted(conversation.attachments.items())],
    }


def metadata_of(conversation: StoredConversation, kept: StoredDetails, limits: LoopLimits) -> dict[str, dict[str, Any]]:
    """What is known of each message of the branch, by its id on the page."""
    messages = conversation.messages
    beside = branches(kept.everything, messages)
    found: dict[str, dict[str, Any]] = {}
    end, begun_calls = 0, conversation.view().begun
    for turn in turns(messages):
        said, answer = turn.said, turn.answer
        end += len(answer) + (said is not None)
        if said is None:
            continue
        found[said.id] = {"created": kept.times.get(said.id), "branches": beside.get(said.id)}
        is_going = kept.known.running and end == len(messages)
        run = kept.runs.get(said.id) or (kept.runs.get(None) if is_going else None)
        if answer or run is not None:
            own = {} if (there := beside.get(answer_id(said.id))) is None else {"branches": there}
            begun = begun_of(conversation.id, run, answer, kept)
            view = partial(view_of, conversation, end, said.id, begun_calls)
            over = {} if is_going else ended_of(view, answer, run, limits, kept)
            found[answer_id(said.id)] = begun | own | over
    return found


def begun_of(
    conversation_id: str, run: RunRow | None, answer: Sequence[Message], kept: StoredDetails
) -> dict[str, Any]:
    """What an answer's stream says at its start; of one that no server made, what is known of it."""
    if run is not None:
        return {"conversation_id": conversation_id, "run_id": run.id, "model": run.model, "created": run.created}
    first = next((one for one in answer if one.id in kept.told), None)
    model = None if first is None else kept.told[first.id].model
    created = kept.times.get(answer[0].id) if answer else None
    return {"conversation_id": conversation_id, "run_id": None, "model": model, "created": created}


def view_of(conversation: StoredConversation, end: int, said: str, begun: frozenset[str]) -> View:
    """A conversation as it stood behind one of its messages."""
    return View(tuple(conversation.messages[:end]), conversation.attachments, said, begun)


def ended_of(
    view: Callable[[], View], answer: Sequence[Message], run: RunRow | None, limits: LoopLimits, kept: StoredDetails
) -> dict[str, Any]:
    """What an answer's stream says at its end, as far as it was stored; one that waited may have been passed over."""
    is_told = run is not None and run.status and (run.status != "waiting" or waiting_calls(answer))
    status, reason = (run.status, run.reason) if run is not None and is_told else judge(view(), limits)
    usage = sum((kept.told[one.id].usage for one in answer if one.id in kept.told), Usage())
    finished = kept.times.get(answer[-1].id) if run is None and answer else run and run.ended
    return {"status": status, "reason": reason, "usage": to_builtins(usage), "finished": finished}


def judge(view: View, limits: LoopLimits) -> tuple[str, str | None]:
    """How an answer ended, as its messages say: of one that no server made, or whose run nobody could end."""
    match decide(view, limits):
        case Done(status, reason):
            return status, reason
        case Wait():
            return "waiting", "approval"
        case _:
            return "incomplete", "cut"
