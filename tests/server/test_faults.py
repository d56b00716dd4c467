"""What goes wrong around a run: double messages, stops, readers that leave, a database that fails, and what is left then."""

import asyncio
import threading
from contextlib import contextmanager
from pathlib import Path

import pytest

from showandtell.agent.tools import by_name
from showandtell.errors import StorageFailed, StorageFull
from showandtell.server.chat import replay_or_follow
from showandtell.server.runs.stream_buffer import StreamBuffer
from showandtell.storage.blobs.folder import Folder
from showandtell.storage.conversations import runs
from showandtell.storage.conversations.stored_conversation import StoredConversation
from support.pages import both, check_page, check_usable, fold, idle, page, stored, until
from support.postgres import each_database, ready_database
from support.serving import asked, chunks_in, kinds, serving, texts

pytestmark = pytest.mark.anyio
CHART = "/chart title=Sales values=[3,1,2]"
FULL = StorageFull("no space left: free some, then try again")
AWAY = StorageFailed("the database is away: try again")


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
def failing(database, at, error=FULL, times=1):
    """A database whose writes fail from the one with this number on, so many times."""
    write, seen = database.write, []

    async def refuse(work):
        seen.append(1)
        if at <= len(seen) < at + times:
            raise error
        return await write(work)

    database.write = refuse
    try:
        yield seen
    finally:
        database.write = write


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
            assert (status, refused in {404, 409}) == (200, True), chunks
            assert kinds(chunks)[-1] == "finish"
            assert len((await stored(house)).messages) == 2


async def test_a_chat_that_who_made_it_drops_again_is_made_anew(tmp_path, monkeypatch):
    async with serving(tmp_path) as house:
        begin, made = house.server.runs.begin, await house.store.create(alias="c")

        async def drop_first(*asked):
            await runs.drop_unused(house.store.database, made.id)
            return await begin(*asked)

        monkeypatch.setattr(house.server.runs, "begin", drop_first)
        status, chunks = await house.post("Hello", "c")
        assert (status, kinds(chunks)[-1]) == (200, "finish")


async def test_what_waits_for_another_writer_is_stopped_and_can_be_sent_again(tmp_path):
    async with serving(tmp_path) as house:
        await house.post("Hello", id="m1")
        other = await stored(house)
        async with other.turn:
            waiting = asyncio.create_task(house.post("Are you there?", id="m2"))
            await until(lambda: house.server.runs.going)
            assert (await house.session.post("/api/chat/chat/stop")).status == 204
            assert (await asyncio.wait_for(waiting, 60))[0] == 409
        assert (await house.post("Are you there?", id="m2"))[0] == 200
        assert len((await stored(house)).messages) == 4


async def test_who_waits_too_long_for_another_writer_is_told_so(tmp_path):
    async with serving(tmp_path) as house:
        await house.post("Hello", id="m1")
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
            await until(lambda: house.server.runs.going)
            assert (await house.session.delete(f"/api/conversations/{other.id}")).status == 204
            assert (await asyncio.wait_for(waiting, 60))[0] in {404, 409}
        assert not house.server.runs.going


async def test_an_edit_that_cannot_be_stored_leaves_the_conversation_as_it_was(tmp_path):
    async with serving(tmp_path) as house:
        for number in range(3):
            await house.post(f"Question {number}", id=f"m{number}")
        before = (await stored(house)).head
        for at in range(1, 4):  # beginning the run, its lease, the message
            with failing(house.store.database, at):
                assert (await house.post("Edited", id="m1", messageId="m1"))[0] in {503, 507}
            assert (await stored(house)).head == before
        assert (await house.post("Edited", id="m1", messageId="m1"))[0] == 200
        assert [one.text for one in (await stored(house)).messages if one.role == "user"] == ["Question 0", "Edited"]


AGAIN = {"id": "chat", "messages": [], "trigger": "regenerate-message"}


async def test_an_answer_that_was_to_be_made_again_stands_where_that_was_stopped_before_it_began(tmp_path, monkeypatch):
    async with serving(tmp_path) as house:
        await house.post("Hello", id="m1")
        before, told, begun = await page(house), StoredConversation.told, asyncio.Event()

        async def hold(_):
            begun.set()
            await asyncio.Event().wait()

        monkeypatch.setattr(StoredConversation, "told", hold)
        waiting = asyncio.create_task(both(house.session, AGAIN))
        await begun.wait()
        assert (await house.session.post("/api/chat/chat/stop")).status == 204
        assert (await asyncio.wait_for(waiting, 60))[0] == 409
        monkeypatch.setattr(StoredConversation, "told", told)
        assert (await page(house))["messages"] == before["messages"]


async def test_an_answer_is_still_reached_where_the_one_that_was_made_again_failed(tmp_path, monkeypatch):
    async def full(*_):
        raise FULL

    async with serving(tmp_path) as house:
        await house.post("Hello", id="m1")
        first = (await stored(house)).head
        with monkeypatch.context() as patch:
            patch.setattr(StoredConversation, "write", full)
            _, chunks = await both(house.session, AGAIN)
        assert "error" in kinds(chunks)
        there = (await page(house))["messages"][-1]
        assert there["metadata"]["branches"] == {"index": 1, "count": 2, "others": [first]}
        await (await stored(house)).lead(first)
        assert (await page(house))["messages"][-1]["parts"]


async def test_an_edit_back_to_what_was_said_before_is_answered(tmp_path):
    async with serving(tmp_path) as house:
        await house.post("One", id="m1")
        for words in ("Two", "Three", "Two"):
            status, chunks = await house.post(words, id="m1", messageId="m1")
            assert (status, kinds(chunks)[-1]) == (200, "finish")
            assert (await stored(house)).messages[0].text == words
        assert (await house.post("One", id="m1"))[0] == 404  # sent late again, and no edit


@contextmanager
def at_event(house, place, deed):
    """Do something when a run tells its event with this number; gives all events."""
    told = []

    def watch(going):
        def take(event):
            told.append(event)
            if len(told) == place + 1:
                deed(going)

        return take

    answering = house.server.runs._work
    watching, answering._watching = answering._watching, [watch]
    try:
        yield told
    finally:
        answering._watching = watching


async def count_events(house):
    with at_event(house, -1, None) as told:
        await house.post(CHART, "counting")
    return len(told)


async def test_a_run_that_is_stopped_at_any_event_shows_what_was_stored_and_can_be_gone_on_with(tmp_path):
    def stop_twice(going):
        for _ in range(2):
            stopping.add(asyncio.create_task(house.server.runs.stop(going.row)))

    async with serving(tmp_path) as house:
        for place in range(await count_events(house)):
            stopping = set()
            with at_event(house, place, stop_twice):
                status, chunks = await house.post(CHART, f"c{place}")
            await asyncio.gather(*stopping)
            assert status == 200
            await check_page(house, chunks)
            assert chunks[-1]["messageMetadata"]["reason"] in {"cancelled", None}
            await check_usable(house, f"c{place}")


async def test_a_tool_that_hangs_is_stopped_once_and_its_call_is_ended(tmp_path):
    gate = Gate()

    def sleep() -> str:
        """Hang in a thread."""
        gate.called.set()
        done.wait(60)
        return "woken"

    done = threading.Event()
    for call in ("hold", "sleep"):
        async with serving(tmp_path, tools=(*gate.tools, *by_name([sleep]).values())) as house:
            answer = asyncio.create_task(house.post(f"/{call}", call))
            await asyncio.wait_for(gate.called.wait(), 60)
            gate.called.clear()
            for _ in range(3):
                assert (await house.session.post(f"/api/chat/{call}/stop")).status == 204
                await asyncio.sleep(0)
            _, chunks = await asyncio.wait_for(answer, 60)
            assert kinds(chunks)[-2:] == ["abort", "finish"]
            assert "tool-output-error" in kinds(chunks)
            await check_page(house, chunks)
            await check_usable(house, call)
    done.set()


async def test_a_reader_who_leaves_anywhere_changes_nothing(tmp_path):
    async with serving(tmp_path) as house:
        _, whole = await house.post(CHART, "whole")
        known = [one.parts for one in (await stored(house)).messages]
        for place in range(len(whole)):
            async with house.session.post("/api/chat", json=asked(CHART, f"c{place}")) as answer:
                async with house.session.get(f"/api/chat/c{place}/stream") as follower:
                    for _ in range(place):
                        await answer.content.readuntil(b"\n\n")
                    if follower.status == 200 and place % 2:
                        await follower.content.readany()
                    follower.close()
                answer.close()
            await idle(house)
            assert [shape(one) for one in (await stored(house)).messages] == [shape_of(one) for one in known]
        await until(lambda: not house.server.runs.readers)


def shape(message):
    return shape_of(message.parts)


def shape_of(parts):
    """Parts without the ids that are made anew each time."""
    return [getattr(one, "text", type(one).__name__) for one in parts]


async def test_no_task_and_no_file_is_left_behind(tmp_path):
    async with serving(tmp_path) as house:
        for turn in range(20):
            async with house.session.post("/api/chat", json=asked(CHART, f"c{turn}")) as answer:
                await answer.content.readany()
                answer.close()
            await idle(house)
            await until(lambda: not house.server.runs.readers)
            if turn == 2:
                before = held()
        await until(lambda: held()[0] <= before[0] and held()[1] <= before[1] + 6)  # a pool may grow a little


def held():
    """How many tasks and open files there are."""
    return len(asyncio.all_tasks()), len([*Path("/proc/self/fd").iterdir()])


@pytest.mark.parametrize("error", [FULL, AWAY])
async def test_a_write_that_fails_anywhere_loses_nothing_that_was_acknowledged(error, tmp_path):
    async with serving(tmp_path) as house:
        with failing(house.store.database, 10**9) as writes:
            await house.post(CHART, "counting")
        for place in range(1, len(writes) + 1):
            chat = f"c{place}"
            with failing(house.store.database, place, error):
                status, chunks = await house.post(CHART, chat)
            await idle(house)
            if status == 200:
                assert kinds(chunks)[-1] == "finish"
                if "error" not in kinds(chunks):  # or it told what could not be stored then
                    await check_page(house, chunks)
            else:
                assert status == (507 if isinstance(error, StorageFull) else 503)
            assert (await house.post(CHART, chat))[0] == 200
            said = [one for one in (await stored(house)).messages if one.role == "user"]
            assert len(said) == 1
            await check_usable(house, chat)


@each_database
async def test_the_next_message_never_meets_a_run_that_is_over(database, tmp_path):
    async with serving(tmp_path, database=ready_database(database, tmp_path), rates="chat=100000/minute") as house:
        for turn in range(60):
            assert (await house.post("Hello", id=f"m{turn}"))[0] == 200


@each_database
async def test_the_same_message_at_two_servers_at_once_is_one_run_that_both_tell_whole(database, tmp_path):
    url = ready_database(database, tmp_path)
    async with (
        serving(tmp_path, database=url) as one,
        serving(tmp_path, database=url) as two,
    ):
        for turn in range(8):
            same = asked(CHART, f"c{turn}", "m1")
            found = await asyncio.gather(*(both(house.session, same) for house in (one, two, one)))
            assert [status for status, _ in found] == [200] * 3
            first, *others = [told(chunks) for _, chunks in found]
            assert [first, first] == others
            assert len([message for message in (await stored(one)).messages if message.role == "user"]) == 1


async def test_an_answer_that_ended_after_its_conversation_was_read_is_told_whole(tmp_path):
    async with serving(tmp_path) as house:
        read_before = await house.store.create(alias="c")
        _, chunks = await house.post("Hello", "c")
        row = await runs.find_of_client(house.store.database, read_before.id, "m1")
        again = await replay_or_follow(house.server, read_before, row)
        assert texts(chunks_in(again.body)) == texts(chunks)


def told(chunks):
    """The message of a stream, however it was cut into pieces."""
    return fold([one for one in chunks if not one.get("transient")])


async def test_a_conversation_deleted_in_the_midst_of_a_run_ends_it_and_lets_its_readers_go(tmp_path):
    gate = Gate()
    async with serving(tmp_path, tools=gate.tools) as house:
        async with house.session.post("/api/chat", json=asked("/hold", "c")) as answer:
            await gate.called.wait()
            async with house.session.get("/api/chat/c/stream") as follower:
                id = (await house.store.newest()).id  # noqa: A001 - it is one
                assert (await house.session.delete(f"/api/conversations/{id}")).status == 204
                await asyncio.wait_for(asyncio.gather(answer.read(), follower.read()), 60)
        await idle(house)
        assert (house.server.runs.readers, await house.store.list()) == (0, ())


async def test_slow_readers_hold_up_nobody_and_each_holds_little():
    tape = StreamBuffer()
    readers = [tape.follow() for _ in range(50)]
    for _ in range(20_000):
        tape.say(b"x" * 1000)
    tape.end()
    pieces = [await anext(one) for one in readers]
    assert max(map(len, pieces)) < 1_000_000
    fast = [piece async for piece in readers[0]]
    assert len(pieces[0]) + sum(map(len, fast)) == 20_000_000


async def test_a_store_that_is_slow_holds_up_nobody_who_needs_nothing_of_it(tmp_path, monkeypatch):
    async with serving(tmp_path) as house:
        file = await put_file(house, b"words " * 1000)
        await house.post("look", files=[file])
        opened, gate, waiting = Folder.open, threading.Event(), []

        def slow(self, of):
            waiting.append(of)
            assert gate.wait(60)
            return opened(self, of)

        monkeypatch.setattr(Folder, "open", slow)
        downloads = [asyncio.create_task(read_file(house, file)) for _ in range(20)]
        await until(lambda: len(waiting) > 5)
        try:
            assert (await asyncio.wait_for(house.post("Hello", "other", id="m2"), 60))[0] == 200
            assert (await asyncio.wait_for(page(house), 60))["title"] == "Hello"
            assert (await asyncio.wait_for(put_file(house, b"other words"), 60)) != file
        finally:
            gate.set()
        assert await asyncio.gather(*downloads) == [b"words " * 1000] * 20


async def put_file(house, data):
    async with house.session.put("/api/attachments?name=words.txt", data=data) as answer:
        return (await answer.json())["id"]


async def read_file(house, id):  # noqa: A002 - it is one
    async with house.session.get(f"/api/attachments/{id}/content") as answer:
        assert answer.status == 200
        return await answer.read()
