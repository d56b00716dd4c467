"""What goes wrong around a run: double messages, stops, readers that leave, a database that fails, and what is left then."""

import asyncio
from contextlib import asynccontextmanager, contextmanager

import msgspec
import pytest

from serving import asked, chunks_of, kinds, serving, texts
from showandtell.agent.tools import by_name, tool
from showandtell.errors import StorageFull
from showandtell.events.types import Finish

pytestmark = pytest.mark.anyio
CHART = "/chart title=Sales values=[3,1,2]"


class Gate:
    """A tool that waits until it is let go; `called` is set when it was called."""

    def __init__(self):
        self.called, self.go, self.calls = asyncio.Event(), asyncio.Event(), 0

    async def __call__(self) -> str:
        self.calls += 1
        self.called.set()
        await self.go.wait()
        return "let go"

    @property
    def tools(self):
        async def hold() -> str:
            return await self()

        return tuple(by_name([hold]).values())


@contextmanager
def failing(database, at, error=StorageFull("the disk is full: free some space, then try again"), times=1):
    """A database whose writes fail from the one with this number on, so many times."""
    write, seen = database.write, []

    @asynccontextmanager
    async def refuse():
        seen.append(1)
        if at <= len(seen) < at + times:
            raise error
        async with write() as connection:
            yield connection

    database.write = refuse
    try:
        yield seen
    finally:
        database.write = write


async def stored(house):
    return await house.store.open((await house.store.newest()).id)


async def page(house, chat=None):
    """What the page gets of the newest conversation."""
    found = await house.get(f"/api/conversations/{(await house.store.newest()).id}")
    assert found[0] == 200
    return found[1]


async def idle(house):
    """Wait until nothing runs."""
    while house.server.runs.going:
        await asyncio.sleep(0.01)


async def test_two_first_messages_of_a_chat_at_once_lose_neither_the_chat_nor_an_answer(tmp_path):
    async with serving(tmp_path) as house:
        for turn in range(10):
            found = await asyncio.gather(*(house.post(f"Hello {one}", f"c{turn}", id=one) for one in ("a", "b")))
            assert {status for status, _ in found} <= {200, 409}
            said = [texts(chunks) for status, chunks in found if status == 200]
            there = [one.text for one in (await stored(house)).messages if one.role == "assistant"]
            assert sorted(there) == sorted(said) != []


async def test_a_bad_message_does_not_delete_the_chat_that_a_good_one_began(tmp_path):
    async with serving(tmp_path) as house:
        for turn in range(10):
            good = house.post("Hello", f"c{turn}", id="a")
            bad = house.post("Look", f"c{turn}", id="b", files=["att_0123456789abcdefABCDEF"])
            (status, chunks), (refused, _) = await asyncio.gather(good, bad)
            assert (status, refused in {404, 409}, kinds(chunks)[-1]) == (200, True, "finish")
            assert len((await stored(house)).messages) == 2


async def test_what_waits_for_another_writer_is_stopped_and_can_be_sent_again(tmp_path):
    async with serving(tmp_path) as house:
        await house.post("Hello", id="m1")
        other = await stored(house)
        async with other.turn:
            waiting = asyncio.create_task(house.post("Are you there?", id="m2"))
            while not house.server.runs.going:
                await asyncio.sleep(0.01)
            assert (await house.session.post("/api/chat/chat/stop")).status == 204
            assert (await asyncio.wait_for(waiting, 5))[0] == 409
        assert (await house.post("Are you there?", id="m2"))[0] == 200
        assert len((await stored(house)).messages) == 4


async def test_who_waits_too_long_for_another_writer_is_told_so(tmp_path):
    async with serving(tmp_path) as house:
        await house.post("Hello", id="m1")
        house.store.terms = msgspec.structs.replace if False else house.store.terms
        other = await stored(house)
        async with other.turn:
            status, told = await house.post("Are you there?", id="m2")
            assert (status, set(told)) == (409, {"error"})
        assert (await house.post("Are you there?", id="m2"))[0] == 200


async def test_a_conversation_that_is_deleted_while_a_message_waits_is_not_there(tmp_path):
    async with serving(tmp_path) as house:
        await house.post("Hello", id="m1")
        other = await stored(house)
        async with other.turn:
            waiting = asyncio.create_task(house.post("Are you there?", id="m2"))
            while not house.server.runs.going:
                await asyncio.sleep(0.01)
            assert (await house.session.delete(f"/api/conversations/{other.id}")).status == 204
            status, told = await asyncio.wait_for(waiting, 8)
            print(status, told)


async def test_an_edit_back_to_what_was_said_before_is_answered(tmp_path):
    async with serving(tmp_path) as house:
        await house.post("One", id="m1")
        for words in ("Two", "Three", "Two"):
            status, chunks = await house.post(words, id="m1", messageId="m1")
            assert (status, kinds(chunks)[-1]) == (200, "finish")
            assert (await stored(house)).messages[0].text == words
        status, chunks = await house.post("One", id="m1")
        assert (status, kinds(chunks)[-1]) == (200, "finish")
