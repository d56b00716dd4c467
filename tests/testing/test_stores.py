"""Our conversations pass the checks that other stores have to pass, and each check finds stores that it is there for."""

import asyncio
import re
from contextlib import asynccontextmanager, nullcontext

import pytest

from showandtell.conversations import MemoryConversation
from showandtell.core.messages.message import Draft
from showandtell.errors import BadConversation, BadInput, NotFound
from showandtell.testing import CONVERSATION_CHECKS
from support.paths import ROOT

pytestmark = pytest.mark.anyio
each_check = pytest.mark.parametrize("check", CONVERSATION_CHECKS, ids=lambda check: check.__name__)


class MemoryStore:
    """Conversations as long as the program runs."""

    def __init__(self, kind=MemoryConversation):
        self.kind, self.conversations = kind, {}

    @asynccontextmanager
    async def opened(self):
        yield self

    async def create(self, owner, /):
        conversation = self.kind(owner=owner)
        self.conversations[conversation.id, owner] = conversation
        return conversation

    async def open(self, conversation_id, owner, /):
        if (conversation_id, owner) not in self.conversations:
            raise NotFound(f"there is no conversation {conversation_id}")
        return self.conversations[conversation_id, owner]

    async def delete(self, conversation_id, owner, /):
        conversation = await self.open(conversation_id, owner)
        del self.conversations[conversation_id, owner]

        async def refuse(*_):
            raise BadInput("it was deleted")

        conversation.write = refuse


@each_check
async def test_our_stores_pass_each_check(check, place):
    await check(place.store)


@each_check
@pytest.mark.smoke
async def test_conversations_in_memory_pass_each_check(check):
    await check(MemoryStore().opened)


@each_check
def test_the_store_that_the_docs_show_passes_each_check(check, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"(?s)```python\n(.*?)```", (ROOT / "docs" / "history.md").read_text())
    program = {"asyncio": asyncio}
    for block in blocks:
        if "Talks" in block:
            exec(block, program)  # noqa: S102 - the document is ours
    program["test_my_store"](check, tmp_path)  # pyright: ignore[reportCallIssue] - a test of the document


async def nothing(*_):
    """A method that does nothing."""


async def record_in_part(conversation, draft, proved, step=None):
    """Store the text of a message that is cancelled."""
    try:
        await asyncio.sleep(0)
        return await MemoryConversation.record(conversation, draft, proved, step)
    except asyncio.CancelledError:
        await MemoryConversation.record(conversation, Draft(draft.role, draft.parts[:1]), [])
        raise


async def record_and_count(conversation, draft, proved, step=None):
    """Use up a number for a message that isn't stored."""
    try:
        return await MemoryConversation.record(conversation, draft, proved, step)
    except BadConversation:
        conversation._register._next += 1
        raise


def commit_two(conversation, accepted, receipts=()):
    """Lose every message after the second."""
    if len(conversation.messages) < 2:
        MemoryConversation.commit(conversation, accepted, receipts)


async def none_of_all(_conversation):
    """There are no messages of all branches."""
    return []


class Forgetful(MemoryStore):
    """A store that gives a new conversation for a known id."""

    async def open(self, conversation_id, owner, /):
        known = await super().open(conversation_id, owner)
        return self.kind(owner=owner, id=known.id)


class Open(MemoryStore):
    """A store that gives all conversations to everybody."""

    async def open(self, conversation_id, owner, /):
        del owner
        return await super().open(conversation_id, "ann")


class Undying(MemoryStore):
    """A store that deletes nothing."""

    async def delete(self, conversation_id, owner, /):
        await self.open(conversation_id, owner)


#: For each check a store that it is there for.
BROKEN = {
    "messages_come_back_in_order": {"everything": none_of_all},
    "files_keep_their_numbers_and_bytes": Forgetful,
    "a_refused_message_changes_nothing": {"record": record_and_count},
    "a_cancelled_message_is_stored_completely_or_not_at_all": {"record": record_in_part},
    "started_calls_are_known_until_their_result_is_stored": {"start_calls": nothing},
    "an_interrupted_tool_does_not_run_again": {"start_calls": nothing},
    "a_run_continues_with_files_of_an_earlier_one": Forgetful,
    "concurrent_writers_keep_one_order": {"commit": commit_two},
    "runs_of_one_conversation_wait_for_each_other": {"turn": property(lambda _: nullcontext())},
    "a_branch_continues_after_its_message": {"lead": nothing},
    "a_deleted_conversation_is_gone": Undying,
    "owners_find_their_own_conversations_alone": Open,
}


@each_check
async def test_each_check_finds_a_store_that_breaks_its_rule(check):
    broken = BROKEN[check.__name__]
    store = MemoryStore(type("Broken", (MemoryConversation,), broken)) if isinstance(broken, dict) else broken()
    with pytest.raises(AssertionError):
        await check(store.opened)
