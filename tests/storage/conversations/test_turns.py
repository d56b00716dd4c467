"""Turns of one conversation: many tasks wait for each other, whatever order they come and go in, and nothing freezes."""

import asyncio

import pytest

from showandtell import BadInput, File, RunContext
from showandtell.core.messages.message import Draft
from showandtell.core.messages.parts import Text
from showandtell.storage.conversations.memory_conversation import MemoryConversation
from showandtell.storage.conversations.store import Store
from support.fixtures import png
from support.scripted import CLAUDE, check_usable, say, scripted, watch
from support.stores import post, user_draft


def conversations(kind, folder):
    """A conversation in memory or in a store, for as long as a program works with it."""

    async def go(work):
        if kind == "memory":
            return await work(MemoryConversation())
        async with Store.at(folder) as store:
            return await work(await store.create())

    return lambda work: asyncio.run(asyncio.wait_for(go(work), 60))


each_kind = pytest.mark.parametrize("kind", ["memory", "stored"])


@each_kind
def test_many_tasks_that_take_turns_again_and_again_all_get_theirs(kind, tmp_path):
    async def work(conversation):
        async def some(name):
            for number in range(5):
                await post(conversation, user_draft(f"{name} {number}"))

        await asyncio.gather(*(some(name) for name in range(6)))
        return len(conversation.messages)

    assert conversations(kind, tmp_path)(work) == 30


@each_kind
def test_turns_that_are_cancelled_while_they_wait_or_begin_leave_the_next_ones_free(kind, tmp_path):
    async def work(conversation):
        for delay in range(0, 200, 3):
            tasks = [asyncio.create_task(post(conversation, user_draft(str(number)))) for number in range(3)]
            for _ in range(delay):
                await asyncio.sleep(0)
            tasks[delay % 3].cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        await post(conversation, user_draft("last"))
        return conversation.messages[-1].text

    assert conversations(kind, tmp_path)(work) == "last"


@each_kind
def test_a_tool_can_not_speak_between_its_call_and_its_result(kind, tmp_path):
    async def work(conversation):
        async def jot(context: RunContext) -> str:
            """Speak out of turn."""
            for deed in (conversation.record(Draft("user", (Text("hm"),)), ()), conversation.lead(None)):
                with pytest.raises(BadInput, match="tool calls have no results yet"):
                    await deed
            with pytest.raises(BadInput, match="part of a run"):
                async with conversation.turn:
                    pass
            return f"done in {context.conversation}"

        agent, _ = scripted(say("", ("c1", "jot", "{}")), say("Done."), tools=[jot])
        run = agent.run("jot it", files=[File.from_bytes(png())], conversation=conversation)
        await watch(run)
        check_usable(conversation, CLAUDE)
        return run.status

    assert conversations(kind, tmp_path)(work) == "complete"
