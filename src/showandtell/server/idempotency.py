"""Recognize a message that a client sends twice, and find where an edit or a regeneration branches off.

Nothing here does I/O: the caller reads the runs and the messages, these functions decide.

| the client sends | idempotency key |
| --- | --- |
| a new message | its own id for the message |
| an edited message | the id of the message that it replaces, and a hash of the new content |
| an edit back to content of a branch that was left | the same, and the last message of the current branch |
| approvals | the id of the message that asks for them, and a hash of the decisions |
| a regeneration, or no message at all | none: each request starts a run |
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence

import msgspec
from msgspec import Struct

from showandtell.core.messages.message import BranchPoint, Message, starts_turn
from showandtell.core.ui_stream.ui_stream import question_id
from showandtell.errors import NotFound
from showandtell.server.chat_request import ChatRequest
from showandtell.storage.conversations.runs import RUNNING, RunRow


class Decision(Struct, frozen=True):
    """Follow `run`, which an earlier copy of the request started; without one, start a run stored under `key`."""

    key: str | None
    run: RunRow | None = None


def possible_keys(request: ChatRequest, messages: Sequence[Message]) -> tuple[str, ...]:
    """The keys under which an earlier copy of this request may be stored; `messages` are the current branch."""
    key = idempotency_key(request, messages)
    if key is None:
        return ()
    return (key, key_on_branch(key, messages)) if request.is_edit else (key,)


def decide(request: ChatRequest, messages: Sequence[Message], stored: Mapping[str, RunRow]) -> Decision:
    """Whether a request repeats an earlier one. `stored` holds the runs that exist under `possible_keys`."""
    key = idempotency_key(request, messages)
    if key is None:
        return Decision(None)
    run = stored.get(key)
    if run is not None and is_on_left_branch(request, run, messages):
        key = key_on_branch(key, messages)
        run = stored.get(key)
    return Decision(key, run)


def idempotency_key(request: ChatRequest, messages: Sequence[Message]) -> str | None:
    """The key of a request; None if it can't be recognized.

    Providers may reuse a call id in a later response, so approvals count for the message that asks for them.
    """
    if request.approvals:
        asking = (
            message.id
            for message in reversed(messages)
            if any(call.call_id in request.approvals for call in message.calls)
        )
        return f"approval {next(asking, '')} {hash_of(sorted(request.approvals.items()))}"
    return f"{request.message_id} {hash_of(request.content)}" if request.is_edit else request.client_id


def key_on_branch(key: str, messages: Sequence[Message]) -> str:
    """A key that is valid on the current branch only."""
    return f"{key} {messages[-1].id if messages else None}"


def hash_of(value: object) -> str:
    """SHA-256 of a value's JSON."""
    return hashlib.sha256(msgspec.json.encode(value)).hexdigest()


def is_on_left_branch(request: ChatRequest, run: RunRow, messages: Sequence[Message]) -> bool:
    """Whether an edit repeats one whose branch was left since. Then it is a new edit, not a retry."""
    return request.is_edit and run.state != RUNNING and all(message.id != run.message_id for message in messages)


def starts_branch(request: ChatRequest) -> bool:
    """Whether a request edits or regenerates an earlier message.

    A `message_id` alone doesn't say so: with an approval the stock client names the newest message.
    """
    return request.is_regeneration or request.is_edit


def find_branch_point(
    request: ChatRequest, branch: Sequence[Message], everything: Sequence[Message], run: RunRow | None
) -> BranchPoint:
    """The message that the new branch follows.

    `everything` are the messages of all branches. `run` is the one that the request's `message_id` started, if that
    is a client's id. Raises `NotFound` for a message that isn't in the conversation.
    """
    questions = {message.id: message for message in everything if starts_turn(message)}
    if request.message_id is None:
        target = next((message.id for message in reversed(branch) if message.id in questions), None)
    else:
        target = find_question(request.message_id, run)
    if target not in questions:
        raise NotFound(f"there is no message {str(request.message_id)[:40]!r}: load the conversation again")
    return BranchPoint(target if request.is_regeneration else questions[target].parent_id)


def find_question(message_id: str, run: RunRow | None) -> str | None:
    """The stored id of a user message, from that id, from its answer's id, or from the client's own id for it."""
    question = question_id(message_id)
    return run.message_id if question == message_id and run is not None else question
