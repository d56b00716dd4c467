"""Take over a run whose worker is gone, and decide whether it is continued, given up or deleted."""

from __future__ import annotations

from msgspec import structs

from showandtell.core.messages.message import starts_turn
from showandtell.errors import NotFound, StorageFailed
from showandtell.server.runs.live_run import LiveRun, RunRequest
from showandtell.server.runs.stream_buffer import StreamBuffer
from showandtell.storage.conversations import runs
from showandtell.storage.conversations.runs import RunEnd, RunRow, RunUpdate
from showandtell.storage.conversations.store import Store
from showandtell.storage.conversations.stored_conversation import StoredConversation

#: Maximum number of takeovers of a run.
MAX_TRIES = 3
GIVEN_UP = "the server stopped repeatedly during this run: try again"


async def take_over(store: Store, worker: str, row: RunRow) -> LiveRun | None:
    """Take over a run for `worker`, and return it; None if there is nothing to continue. A run to end is done.

    Raises `StorageFailed` if its conversation can't be read, up to `MAX_TRIES` times.
    """
    taken = await runs.take_over(store.database, row, worker, store.terms.clock())
    if taken is None:
        return None
    try:
        conversation = await store.open(taken.conversation_id, taken.user_id, "writer")
    except NotFound:  # deleted, or no longer shared
        await end_unreadable(store, taken, RunEnd("incomplete", "cancelled"))
    except StorageFailed:
        if taken.tries <= MAX_TRIES:
            raise
        await end_unreadable(store, taken, RunEnd("error", GIVEN_UP))
    else:
        return await resume(store, taken, conversation)
    return None


async def resume(store: Store, row: RunRow, conversation: StoredConversation) -> LiveRun | None:
    """The run to continue, or None after deleting one that had stored nothing."""
    if conversation.head == row.before:  # the client got no stream
        await runs.delete_run(store.database, row)
        return None
    # The worker may have died before it stored which message the run answers.
    question = next((message.id for message in reversed(conversation.messages) if starts_turn(message)), None)
    row = structs.replace(row, message_id=row.message_id or question)
    live = LiveRun(row, StreamBuffer(), conversation, RunRequest(), heartbeat=row.beat)
    if row.tries > MAX_TRIES or row.stop:
        live.is_done = True
        live.end = RunEnd("incomplete", "cancelled") if row.stop else RunEnd("error", GIVEN_UP)
    return live


async def end_unreadable(store: Store, row: RunRow, end: RunEnd) -> None:
    """Store the end of a run whose conversation can't be read."""
    await runs.write_log(store.database, row.worker, [RunUpdate(row.id, (), end, row.message_id)], row.beat)
