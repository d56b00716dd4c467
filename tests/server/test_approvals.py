"""Calls that wait for a person: over a restart, some of several, answered twice, and not answered at all."""

import asyncio

import pytest

from showandtell.agent.tools import tool
from support.pages import both, check_usable, page
from support.serving import kinds, serving

pytestmark = pytest.mark.anyio


@tool(approval=True)
def erase(path: str) -> str:
    """Erase it."""
    erased.append(path)
    return f"erased {path}"


erased = []


def saying(chat, **answers):
    """The body of a request that says yes or no to calls."""
    parts = [
        {
            "type": "tool-erase",
            "toolCallId": call,
            "state": "approval-responded",
            "approval": {"id": call, "approved": yes},
        }
        for call, yes in answers.items()
    ]
    message = {"id": "ans_x", "role": "assistant", "parts": parts}
    return {"id": chat, "messages": [message], "trigger": "submit-message"}


def open_steps(chunks):
    """How many steps were begun and not ended; none is ended that wasn't begun in this stream."""
    found = 0
    for kind in kinds(chunks):
        found += (kind == "start-step") - (kind == "finish-step")
        assert found in {0, 1}
    return found


def waiting_of(chunks):
    return [one["toolCallId"] for one in chunks if one["type"] == "tool-approval-request"]


async def test_a_call_waits_over_a_restart_and_two_answers_at_once_run_it_once(tmp_path):
    erased.clear()
    async with serving(tmp_path, tools=(erase,)) as house:
        _, chunks = await house.post("/erase path=a", "c")
        (call,) = waiting_of(chunks)
    async with serving(tmp_path, tools=(erase,)) as house:
        _, again = await house.post("/erase path=a", "c")
        assert (waiting_of(again), again[-1]["finishReason"]) == ([call], "tool-calls")
        yes = saying("c", **{call: True})
        found = await asyncio.gather(*(both(house.session, yes) for _ in range(3)))
        assert ({status for status, _ in found}, erased) == ({200}, ["a"])
        late = await both(house.session, yes)
        assert (late[0], kinds(late[1])[-1], erased) == (200, "finish", ["a"])
        assert (await page(house))["waiting"] is False
        await check_usable(house, "c")


async def test_a_yes_counts_for_the_answer_that_asks_though_another_one_asked_by_the_same_id(tmp_path):
    erased.clear()
    async with serving(tmp_path, tools=(erase,)) as house:
        _, chunks = await house.post("/erase path=a", "c")
        (call,) = waiting_of(chunks)
        await both(house.session, saying("c", **{call: True}))
        _, chunks = await both(house.session, {"id": "c", "messages": [], "trigger": "regenerate-message"})
        assert waiting_of(chunks) == [call]
        assert [(await both(house.session, saying("c", **{call: True})))[0] for _ in range(2)] == [200, 200]
        assert (erased, (await page(house))["waiting"]) == (["a", "a"], False)


async def test_of_two_calls_that_wait_one_may_be_answered_first(tmp_path):
    erased.clear()
    async with serving(tmp_path, tools=(erase,)) as house:
        _, chunks = await house.post("/erase path=a\n/erase path=b", "c")
        first, second = waiting_of(chunks)
        _, chunks = await both(house.session, saying("c", **{first: True}))
        assert (erased, waiting_of(chunks), (await page(house))["waiting"]) == (["a"], [second], True)
        assert open_steps(chunks) == 0
        _, chunks = await both(house.session, saying("c", **{second: False}))
        assert (erased, chunks[-1]["finishReason"], open_steps(chunks)) == (["a"], "stop", 0)
        await check_usable(house, "c")


async def test_words_in_place_of_an_answer_end_the_calls_that_wait(tmp_path):
    erased.clear()
    async with serving(tmp_path, tools=(erase,)) as house:
        _, chunks = await house.post("/erase path=a", "c")
        await check_usable(house, "c")
        (call,) = waiting_of(chunks)
        assert (await both(house.session, saying("c", **{call: True})))[0] == 422
        assert (await page(house))["messages"][1]["metadata"]["status"] == "incomplete"
        parts = (await page(house))["messages"][1]["parts"]
        assert ([one["state"] for one in parts if one["type"] == "tool-erase"], erased) == (["output-error"], [])
