"""Calls that wait for approval: across a restart, one of several, approved twice, and never approved."""

import asyncio

import pytest

from showandtell.agent.tools import tool
from showandtell.core.events.replay import UNDECIDED
from support.page_messages import both, check_usable, page
from support.serving import kinds, serving
from support.two_users import ask, open_accounts

pytestmark = pytest.mark.anyio


@tool(approval=True)
def erase(path: str) -> str:
    """Erase it."""
    erased.append(path)
    return f"erased {path}"


erased = []


def approving(chat, **answers):
    """The body of a request that approves or denies calls."""
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
    """The number of open steps at the end of a stream. Only steps that it started may finish in it."""
    found = 0
    for kind in kinds(chunks):
        found += (kind == "start-step") - (kind == "finish-step")
        assert found in {0, 1}
    return found


def waiting_of(chunks):
    return [one["toolCallId"] for one in chunks if one["type"] == "tool-approval-request"]


async def test_a_call_waits_across_a_restart_and_concurrent_approvals_run_it_once(tmp_path):
    erased.clear()
    async with serving(tmp_path, tools=(erase,)) as site:
        _, chunks = await site.post("/erase path=a", "c")
        (call,) = waiting_of(chunks)
    async with serving(tmp_path, tools=(erase,)) as site:
        _, again = await site.post("/erase path=a", "c")
        assert (waiting_of(again), again[-1]["finishReason"]) == ([call], "tool-calls")
        yes = approving("c", **{call: True})
        found = await asyncio.gather(*(both(site.session, yes) for _ in range(3)))
        assert ({status for status, _ in found}, erased) == ({200}, ["a"])
        late = await both(site.session, yes)
        assert (late[0], kinds(late[1])[-1], erased) == (200, "finish", ["a"])
        assert (await page(site))["waiting"] is False
        await check_usable(site, "c")


async def test_an_approval_counts_for_the_newest_response_that_uses_its_call_id(tmp_path):
    erased.clear()
    async with serving(tmp_path, tools=(erase,)) as site:
        _, chunks = await site.post("/erase path=a", "c")
        (call,) = waiting_of(chunks)
        await both(site.session, approving("c", **{call: True}))
        _, chunks = await both(site.session, {"id": "c", "messages": [], "trigger": "regenerate-message"})
        assert waiting_of(chunks) == [call]
        assert [(await both(site.session, approving("c", **{call: True})))[0] for _ in range(2)] == [200, 200]
        assert (erased, (await page(site))["waiting"]) == (["a", "a"], False)


async def test_one_of_two_waiting_calls_may_be_approved_first(tmp_path):
    erased.clear()
    async with serving(tmp_path, tools=(erase,)) as site:
        _, chunks = await site.post("/erase path=a\n/erase path=b", "c")
        first, second = waiting_of(chunks)
        _, chunks = await both(site.session, approving("c", **{first: True}))
        assert (erased, waiting_of(chunks), (await page(site))["waiting"]) == (["a"], [second], True)
        assert open_steps(chunks) == 0
        _, chunks = await both(site.session, approving("c", **{second: False}))
        assert (erased, chunks[-1]["finishReason"], open_steps(chunks)) == (["a"], "stop", 0)
        await check_usable(site, "c")


async def test_a_message_without_an_approval_ends_the_waiting_calls(tmp_path):
    erased.clear()
    async with serving(tmp_path, tools=(erase,)) as site:
        _, chunks = await site.post("/erase path=a", "c")
        await check_usable(site, "c")
        (call,) = waiting_of(chunks)
        assert (await both(site.session, approving("c", **{call: True})))[0] == 422
        answer = (await page(site))["messages"][1]
        assert [answer["metadata"][name] for name in ("status", "reason")] == ["incomplete", "undecided"]
        (part,) = [one for one in answer["parts"] if one["type"] == "tool-erase"]
        assert (part["state"], part["approval"], erased) == (
            "output-denied",
            {"id": call, "approved": False, "reason": UNDECIDED},
            [],
        )


async def test_a_call_of_another_user_can_be_neither_approved_nor_denied(tmp_path):
    erased.clear()
    async with serving(tmp_path, tools=(erase,)) as site:
        user = open_accounts(site)
        ann, bob = user("ann"), user("bob")
        _, chunks = await site.post("/erase path=b", "c", session=bob)
        (call,) = waiting_of(chunks)
        theirs = (await ask(bob, "GET", "/api/conversations"))[1]["conversations"][0]["id"]
        await site.post("hello", "mine", session=ann)
        for chat, expected in ((theirs, 404), ("mine", 422), ("new", 422)):
            for decision in (True, False):
                body = approving(chat, **{call: decision})
                assert (await ask(ann, "POST", "/api/chat", json=body))[0] == expected
        answers = [{"interruptId": call, "status": "resolved", "payload": {"approved": True}}]
        resuming = {"runId": "r", "messages": [], "resume": answers}
        assert (await ask(ann, "POST", "/ag-ui", json={"threadId": theirs, **resuming}))[0] == 404
        assert (await ask(ann, "POST", "/ag-ui", json={"threadId": "mine", **resuming}))[0] == 422
        assert (await both(bob, approving("c", **{call: True})))[0] == 200
        assert erased == ["b"]
