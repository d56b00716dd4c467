"""The stock client of npm's `ai` at our server: what it has after each exchange is what it would be given anew."""

import asyncio
from contextlib import asynccontextmanager

import pytest

from showandtell import tool
from support.nodejs import chatting
from support.serving import serving

pytestmark = pytest.mark.anyio
CHART = "/chart title=Sales values=[3,1,2]"


@tool(approval=True)
def erase(path: str) -> str:
    """Erase it."""
    return f"erased {path}"


@asynccontextmanager
async def talking(folder, *tools):
    """A server, and the stock client at it, in a conversation that it calls `c`."""
    async with serving(folder, tools=tools) as house:
        cookie = "; ".join(f"{one.key}={one.value}" for one in house.session.cookie_jar)
        async with chatting(house.url, cookie) as do:
            await do("open", id="c", messages=[])
            yield house, do


def streamed(message):
    """A message as a stream can tell it: its end is told a moment before it is stored, and its branches are not told."""
    metadata = {name: value for name, value in message["metadata"].items() if name not in {"finished", "branches"}}
    return {**message, "metadata": metadata}


async def check(house, got):
    """The client is content, and what it has of the answers is what the server gives to who comes anew."""
    assert (got["status"], got["error"]) == ("ready", None)
    listed = await house.store.list()
    _, page = await house.get(f"/api/conversations/{listed[0].id}")
    assert [one["role"] for one in got["messages"]] == [one["role"] for one in page["messages"]]
    for mine, theirs in zip(got["messages"], page["messages"], strict=True):
        assert mine["role"] == "user" or streamed(mine) == streamed(theirs)
    return page["messages"]


async def test_words_and_what_a_tool_shows(tmp_path):
    async with talking(tmp_path) as (house, do):
        await check(house, await do("send", text="Hello"))
        *_, answer = await check(house, await do("send", text=CHART))
        kinds = {part["type"] for part in answer["parts"]}
        assert kinds >= {"tool-chart", "data-attachment", "file", "data-receipt", "data-step", "text"}


async def test_a_client_that_always_resumes_begins_a_new_chat_without_an_error(tmp_path):
    async with talking(tmp_path) as (house, do):
        got = await do("resume")
        assert (got["status"], got["error"], got["messages"]) == ("ready", None, [])
        await check(house, await do("send", text="Hello"))
        for unknown, status in (("another", 204), ("conv_" + "x" * 22, 404)):
            assert (await house.session.get(f"/api/chat/{unknown}/stream")).status == status


async def test_an_answer_is_given_again_and_a_message_is_edited(tmp_path):
    async with talking(tmp_path) as (house, do):
        await do("send", text="Hello")
        got = await do("regenerate")
        await check(house, got)
        await check(house, await do("send", text=CHART, message_id=got["messages"][0]["id"]))


@pytest.mark.parametrize(("yes", "state"), [(True, "output-available"), (False, "output-denied")])
async def test_a_call_waits_for_a_person_over_a_reload(tmp_path, yes, state):
    async with talking(tmp_path, erase) as (house, do):
        page = await check(house, await do("send", text="/erase path=a"))
        call = next(part for part in page[-1]["parts"] if part["type"] == "tool-erase")
        assert call["state"] == "approval-requested"
        await do("open", id="c", messages=page)
        *_, answer = await check(house, await do("approve", id=call["approval"]["id"], approved=yes))
        call = next(part for part in answer["parts"] if part["type"] == "tool-erase")
        assert (call["state"], call["approval"]["approved"]) == (state, yes)


async def test_who_says_something_else_closes_the_call_that_waits(tmp_path):
    async with talking(tmp_path, erase) as (house, do):
        await do("send", text="/erase path=a")
        got = await do("send", text="Hello")
        assert len({one["id"] for one in got["messages"]}) == 4
        (listed,) = await house.store.list()
        _, page = await house.get(f"/api/conversations/{listed.id}")
        await do("open", id="c", messages=page["messages"])
        await check(house, await do("send", text="Hello again"))


async def until(holds):
    """Wait until something holds that no event tells of."""
    async with asyncio.timeout(60):
        while not holds():  # noqa: ASYNC110 - a server's own count
            await asyncio.sleep(0.01)


def gate():
    """A tool that waits until the gate is opened, and the gate."""
    opened, begun = asyncio.Event(), asyncio.Event()

    @tool
    async def hold() -> str:
        """Hold."""
        begun.set()
        await opened.wait()
        return "let go"

    return hold, opened, begun


async def test_who_comes_in_the_midst_reads_all_of_it(tmp_path):
    hold, opened, begun = gate()
    async with talking(tmp_path, hold) as (house, do):
        sending = asyncio.create_task(do("send", text="/hold"))
        await begun.wait()
        cookie = "; ".join(f"{one.key}={one.value}" for one in house.session.cookie_jar)
        async with chatting(house.url, cookie) as also:
            listed = await house.store.list()
            _, page = await house.get(f"/api/conversations/{listed[0].id}")
            await also("open", id=listed[0].id, messages=page["messages"])
            resuming = asyncio.create_task(also("resume"))
            await until(lambda: house.server.runs.readers == 2)
            opened.set()
            await check(house, await sending)
            await check(house, await resuming)


async def test_what_is_stopped_says_so_to_both(tmp_path):
    hold, _, begun = gate()
    async with talking(tmp_path, hold) as (house, do):
        sending = asyncio.create_task(do("send", text="/hold"))
        await begun.wait()
        async with house.session.post("/api/chat/c/stop") as answer:
            assert answer.status == 204
        *_, stopped = await check(house, await sending)
        assert (stopped["metadata"]["status"], stopped["metadata"]["reason"]) == ("incomplete", "cancelled")
        assert [part["state"] for part in stopped["parts"] if part["type"] == "tool-hold"] == ["output-error"]
