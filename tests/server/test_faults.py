"""Faults around a run: repeated messages, stops, readers that disconnect, and failing storage."""

import asyncio
import threading
from contextlib import contextmanager
from pathlib import Path

import pytest
from aiohttp import ClientPayloadError

from showandtell.agent.tools import by_name
from showandtell.core.messages.file_json import unsigned
from showandtell.errors import StorageFailed, StorageFull
from showandtell.server.routes.chat import replay_or_follow
from showandtell.server.runs import orphans
from showandtell.server.runs.stream_buffer import StreamBuffer
from showandtell.storage.blobs.folder import Folder
from showandtell.storage.conversations import runs
from showandtell.storage.conversations.stored_conversation import StoredConversation
from support.page_messages import both, check_page, check_usable, fold, idle, page, stored, until
from support.postgres import each_database, postgresql_if_thorough, ready_database
from support.serving import chat_body, chunks_in, kinds, serving, texts
from support.stores import add_run

pytestmark = pytest.mark.anyio
CHART = "/chart title=Sales values=[3,1,2]"
FULL = StorageFull("no space left: free some, then try again")
AWAY = StorageFailed("the database is away: try again")
THOROUGH = pytest.mark.thorough
#: Distance of the places of a run that are tried; odd, because odd and even ones differ.
each_or_some = pytest.mark.parametrize("step", [5, pytest.param(1, marks=THOROUGH)])


class Gate:
    """A tool that waits until `go` is set, and sets `called` when it is called."""

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
    """Make `times` writes of a database fail, starting with number `at` (the first is 1)."""
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


async def test_concurrent_first_messages_lose_neither_the_chat_nor_a_response(tmp_path):
    async with serving(tmp_path) as site:
        for turn in range(10):
            found = await asyncio.gather(*(site.post(f"Hello {one}", f"c{turn}", id=one) for one in ("a", "b")))
            assert {status for status, _ in found} <= {200, 409}
            output = [texts(chunks) for status, chunks in found if status == 200]
            there = [one.text for one in (await stored(site)).messages if one.role == "assistant"]
            assert sorted(there) == sorted(output) != []


async def test_a_bad_message_does_not_delete_the_chat_of_a_good_one(tmp_path):
    async with serving(tmp_path) as site:
        for turn in range(10):
            good = site.post("Hello", f"c{turn}", id="a")
            bad = site.post("Look", f"c{turn}", id="b", files=["att_0123456789abcdefABCDEF"])
            (status, chunks), (refused, _) = await asyncio.gather(good, bad)
            assert (status, refused in {404, 409}) == (200, True), chunks
            assert kinds(chunks)[-1] == "finish"
            assert len((await stored(site)).messages) == 2


async def test_a_chat_that_a_concurrent_request_deletes_is_created_again(tmp_path, monkeypatch):
    async with serving(tmp_path) as site:
        start, created = site.server.runs.start, await site.store.create(key="c")

        async def drop_first(*arguments):
            if await runs.conversation_exists(site.store.database, created.id):
                await site.store.delete(created.id)
            return await start(*arguments)

        monkeypatch.setattr(site.server.runs, "start", drop_first)
        status, chunks = await site.post("Hello", "c")
        assert (status, kinds(chunks)[-1]) == (200, "finish")


@pytest.mark.parametrize("at", range(1, 6))
async def test_a_first_message_that_was_not_acknowledged_leaves_no_conversation(tmp_path, monkeypatch, at):
    async with serving(tmp_path) as site:
        with failing(site.store.database, at, times=1000):  # the database goes away at any write
            status, _ = await site.post("Hello", "c")
            await until(lambda: not any(live.task and not live.task.done() for live in site.server.runs._live.values()))
        _, listed = await site.get("/api/conversations")
        assert [one["messages"] > 0 for one in listed["conversations"]] == [True] * (status == 200)
        monkeypatch.setattr(orphans, "SILENT_SECONDS", 0)
        await site.server.runs.adopt_orphans()
        assert len(await site.store.list()) == (status == 200)
        assert (await site.post("Hello", "c"))[0] == 200
        assert [one.messages > 0 for one in await site.store.list()] == [True]


async def test_a_message_whose_first_copy_died_before_it_was_stored_is_answered(tmp_path):
    async with serving(tmp_path) as site:
        conversation = await site.store.create(key="c")
        names = ("run_1", conversation.id, "local", "m1", None, None, "inspector", "running")
        dead = runs.RunRow(*names, 0, "worker@elsewhere/1/2", runs.RELEASED, 0, 0.0, None)
        await add_run(site.store.database, dead)
        status, chunks = await site.post("Hello", "c", id="m1")
        assert (status, kinds(chunks)[-1]) == (200, "finish")
        assert [one.messages for one in await site.store.list()] == [2]


async def test_a_message_that_waits_for_another_writer_can_be_stopped_and_sent_again(tmp_path):
    async with serving(tmp_path) as site:
        await site.post("Hello", id="m1")
        other = await stored(site)
        async with other.turn:
            waiting = asyncio.create_task(site.post("Are you there?", id="m2"))
            await until(lambda: site.server.runs.live_count)
            assert (await site.session.post("/api/chat/chat/stop")).status == 204
            assert (await asyncio.wait_for(waiting, 60))[0] == 409
        assert (await site.post("Are you there?", id="m2"))[0] == 200
        assert len((await stored(site)).messages) == 4


async def test_waiting_too_long_for_another_writer_is_an_error(tmp_path):
    async with serving(tmp_path) as site:
        await site.post("Hello", id="m1")
        other = await stored(site)
        async with other.turn:
            status, received = await site.post("Are you there?", id="m2")
            assert (status, set(received)) == (409, {"error"})
        assert (await site.post("Are you there?", id="m2"))[0] == 200


async def test_a_message_that_waits_in_a_deleted_conversation_gets_an_error(tmp_path):
    async with serving(tmp_path) as site:
        await site.post("Hello", id="m1")
        other = await stored(site)
        async with other.turn:
            waiting = asyncio.create_task(site.post("Are you there?", id="m2"))
            await until(lambda: site.server.runs.live_count)
            assert (await site.session.delete(f"/api/conversations/{other.id}")).status == 204
            assert (await asyncio.wait_for(waiting, 60))[0] in {404, 409}
        assert not site.server.runs.live_count


async def test_an_edit_that_cannot_be_stored_changes_nothing(tmp_path):
    async with serving(tmp_path) as site:
        for number in range(3):
            await site.post(f"Question {number}", id=f"m{number}")
        before = (await stored(site)).head
        with failing(site.store.database, 1):  # the run with its lease and message
            assert (await site.post("Edited", id="m1", messageId="m1"))[0] in {503, 507}
        assert (await stored(site)).head == before
        assert (await site.post("Edited", id="m1", messageId="m1"))[0] == 200
        assert [one.text for one in (await stored(site)).messages if one.role == "user"] == ["Question 0", "Edited"]


AGAIN = {"id": "chat", "messages": [], "trigger": "regenerate-message"}


async def test_a_regeneration_stopped_before_its_start_keeps_the_response(tmp_path, monkeypatch):
    async with serving(tmp_path) as site:
        await site.post("Hello", id="m1")
        before, received, begun = await page(site), StoredConversation.step_summaries, asyncio.Event()

        async def hold(_):
            begun.set()
            await asyncio.Event().wait()

        monkeypatch.setattr(StoredConversation, "step_summaries", hold)
        waiting = asyncio.create_task(both(site.session, AGAIN))
        await begun.wait()
        assert (await site.session.post("/api/chat/chat/stop")).status == 204
        assert (await asyncio.wait_for(waiting, 60))[0] == 409
        monkeypatch.setattr(StoredConversation, "step_summaries", received)
        assert (await page(site))["messages"] == before["messages"]


async def test_a_response_is_still_reachable_after_a_failed_regeneration(tmp_path, monkeypatch):
    async def full(*_):
        raise FULL

    async with serving(tmp_path) as site:
        await site.post("Hello", id="m1")
        first = (await stored(site)).head
        with monkeypatch.context() as patch:
            patch.setattr(StoredConversation, "write", full)
            _, chunks = await both(site.session, AGAIN)
        assert "error" in kinds(chunks)
        there = (await page(site))["messages"][-1]
        assert there["metadata"]["branches"] == {"index": 1, "count": 2, "others": [first]}
        await (await stored(site)).lead(first)
        assert (await page(site))["messages"][-1]["parts"]


async def test_an_edit_back_to_earlier_content_starts_a_run(tmp_path):
    async with serving(tmp_path) as site:
        await site.post("One", id="m1")
        for words in ("Two", "Three", "Two"):
            status, chunks = await site.post(words, id="m1", messageId="m1")
            assert (status, kinds(chunks)[-1]) == (200, "finish")
            assert (await stored(site)).messages[0].text == words
        assert (await site.post("One", id="m1"))[0] == 404  # a late copy of the first message, not an edit


@contextmanager
def at_event(site, place, action):
    """Call `action` at the event of a run with this index. Yields the list of events."""
    events = []

    def watch(live):
        def receive(event):
            events.append(event)
            if len(events) == place + 1:
                action(live)

        return receive

    executor = site.server.runs._job
    watchers, executor._watchers = executor._watchers, [watch]
    try:
        yield events
    finally:
        executor._watchers = watchers


async def count_events(site):
    with at_event(site, -1, None) as events:
        await site.post(CHART, "counting")
    return len(events)


@each_or_some
async def test_a_run_stopped_at_any_event_shows_what_was_stored_and_can_continue(step, tmp_path):
    def stop_twice(live):
        for _ in range(2):
            stopping.add(asyncio.create_task(site.server.runs.stop(live.row)))

    async with serving(tmp_path, rates="chat=100000/minute") as site:
        for place in range(0, await count_events(site), step):
            stopping = set()
            with at_event(site, place, stop_twice):
                status, chunks = await site.post(CHART, f"c{place}")
            await asyncio.gather(*stopping)
            assert status == 200
            await check_page(site, chunks)
            assert chunks[-1]["messageMetadata"]["reason"] in {"cancelled", None}
            await check_usable(site, f"c{place}")


async def test_a_hanging_tool_is_cancelled_once_and_its_call_ends(tmp_path):
    gate = Gate()

    def sleep() -> str:
        """Hang in a thread."""
        gate.called.set()
        done.wait(60)
        return "woken"

    done = threading.Event()
    for call in ("hold", "sleep"):
        async with serving(tmp_path, tools=(*gate.tools, *by_name([sleep]).values())) as site:
            answer = asyncio.create_task(site.post(f"/{call}", call))
            await asyncio.wait_for(gate.called.wait(), 60)
            gate.called.clear()
            for _ in range(3):
                assert (await site.session.post(f"/api/chat/{call}/stop")).status == 204
                await asyncio.sleep(0)
            _, chunks = await asyncio.wait_for(answer, 60)
            assert kinds(chunks)[-2:] == ["abort", "finish"]
            assert "tool-output-error" in kinds(chunks)
            await check_page(site, chunks)
            await check_usable(site, call)
    done.set()


@each_or_some
async def test_a_reader_that_disconnects_at_any_point_changes_nothing(step, tmp_path):
    async with serving(tmp_path) as site:
        _, whole = await site.post(CHART, "whole")
        known = [one.parts for one in (await stored(site)).messages]
        for place in range(0, len(whole), step):
            async with site.session.post("/api/chat", json=chat_body(CHART, f"c{place}")) as answer:
                async with site.session.get(f"/api/chat/c{place}/stream") as follower:
                    for _ in range(place):
                        await answer.content.readuntil(b"\n\n")
                    if follower.status == 200 and place % 2:
                        await follower.content.readany()
                    follower.close()
                answer.close()
            await idle(site)
            assert [shape(one) for one in (await stored(site)).messages] == [shape_of(one) for one in known]
        await until(lambda: not site.server.runs.readers)


def shape(message):
    return shape_of(message.parts)


def shape_of(parts):
    """Parts without ids, which differ each time."""
    return [getattr(one, "text", type(one).__name__) for one in parts]


async def test_no_task_and_no_open_file_is_left_behind(tmp_path):
    async with serving(tmp_path) as site:
        after = []
        for turn in range(8):
            async with site.session.post("/api/chat", json=chat_body(CHART, f"c{turn}")) as answer:
                await answer.content.readany()
                answer.close()
            await idle(site)
            await until(lambda: not site.server.runs.readers)
            after.append(held())
        tasks, files = after[2]
        await until(lambda: held()[0] <= tasks and held()[1] <= files + 6)  # a pool may grow a little


def held():
    """The number of tasks and of open files."""
    return len(asyncio.all_tasks()), len([*Path("/proc/self/fd").iterdir()])


@pytest.mark.parametrize("error", [FULL, pytest.param(AWAY, marks=THOROUGH)])
async def test_a_failed_write_at_any_point_loses_nothing_acknowledged(error, tmp_path):
    async with serving(tmp_path) as site:
        with failing(site.store.database, 10**9) as writes:
            await site.post(CHART, "counting")
        for place in range(1, len(writes) + 1):
            chat = f"c{place}"
            with failing(site.store.database, place, error):
                status, chunks = await site.post(CHART, chat)
            await idle(site)
            if status == 200:
                assert kinds(chunks)[-1] == "finish"
                if "error" not in kinds(chunks):  # otherwise the stream reported what was not stored
                    await check_page(site, chunks)
            else:
                assert status == (507 if isinstance(error, StorageFull) else 503)
            assert (await site.post(CHART, chat))[0] == 200
            output = [one for one in (await stored(site)).messages if one.role == "user"]
            assert len(output) == 1
            await check_usable(site, chat)


@postgresql_if_thorough
async def test_the_next_message_never_conflicts_with_an_ended_run(database, tmp_path):
    async with serving(tmp_path, database=ready_database(database, tmp_path), rates="chat=100000/minute") as site:
        for turn in range(30):
            assert (await site.post("Hello", id=f"m{turn}"))[0] == 200


@each_database
async def test_a_message_sent_to_two_servers_at_once_is_one_run_that_both_stream(database, tmp_path):
    url = ready_database(database, tmp_path)
    async with (
        serving(tmp_path, database=url) as one,
        serving(tmp_path, database=url) as two,
    ):
        for turn in range(4):
            same = chat_body(CHART, f"c{turn}", "m1")
            found = await asyncio.gather(*(both(site.session, same) for site in (one, two, one)))
            assert [status for status, _ in found] == [200] * 3
            first, *others = [str(message_of(chunks)) for _, chunks in found]
            assert [first, first] == [other.replace(two.url, one.url) for other in others]
            assert len([message for message in (await stored(one)).messages if message.role == "user"]) == 1


async def test_a_response_that_ended_after_its_conversation_was_read_is_complete(tmp_path):
    async with serving(tmp_path) as site:
        read_before = await site.store.create(key="c")
        _, chunks = await site.post("Hello", "c")
        row = await runs.find_of_client(site.store.database, read_before.id, "m1")
        again = await replay_or_follow(site.server, read_before, row, unsigned)
        assert texts(chunks_in(again.body)) == texts(chunks)


def message_of(chunks):
    """The message of a stream, independent of its chunks."""
    return fold([one for one in chunks if not one.get("transient")])


def is_cut_or_stopped(end):
    """Whether a stream didn't end as a whole answer: a deletion may come before or after the stored end of its run."""
    return isinstance(end, ClientPayloadError) or kinds(chunks_in(end))[-2:] == ["abort", "finish"]


async def test_deleting_a_conversation_during_a_run_disconnects_its_readers(tmp_path):
    gate = Gate()
    async with serving(tmp_path, tools=gate.tools) as site:
        async with site.session.post("/api/chat", json=chat_body("/hold", "c")) as answer:
            await gate.called.wait()
            async with site.session.get("/api/chat/c/stream") as follower:
                id = (await site.store.newest()).id  # noqa: A001 - it is one
                assert (await site.session.delete(f"/api/conversations/{id}")).status == 204
                ends = await asyncio.gather(answer.read(), follower.read(), return_exceptions=True)
                assert all(is_cut_or_stopped(end) for end in ends)
        await idle(site)
        assert (site.server.runs.readers, await site.store.list()) == (0, ())


async def test_slow_readers_block_nothing_and_use_little_memory():
    buffer = StreamBuffer()
    readers = [buffer.follow() for _ in range(50)]
    for _ in range(20_000):
        buffer.write(b"x" * 1000)
    buffer.finish()
    chunks = [await anext(reader) for reader in readers]
    assert max(map(len, chunks)) < 1_000_000
    fast = [chunk async for chunk in readers[0]]
    assert len(chunks[0]) + sum(map(len, fast)) == 20_000_000


async def test_a_slow_blob_store_blocks_no_other_requests(tmp_path, monkeypatch):
    async with serving(tmp_path) as site:
        file = await put_file(site, b"words " * 1000)
        await site.post("look", files=[file])
        opened, gate, waiting = Folder.open, threading.Event(), []

        def slow(self, of):
            waiting.append(of)
            assert gate.wait(60)
            return opened(self, of)

        monkeypatch.setattr(Folder, "open", slow)
        downloads = [asyncio.create_task(read_file(site, file)) for _ in range(20)]
        await until(lambda: len(waiting) > 5)
        try:
            assert (await asyncio.wait_for(site.post("Hello", "other", id="m2"), 60))[0] == 200
            assert (await asyncio.wait_for(page(site), 60))["title"] == "Hello"
            assert (await asyncio.wait_for(put_file(site, b"other words"), 60)) != file
        finally:
            gate.set()
        assert await asyncio.gather(*downloads) == [b"words " * 1000] * 20


async def put_file(site, data):
    async with site.session.put("/api/attachments?name=words.txt", data=data) as answer:
        return (await answer.json())["id"]


async def read_file(site, id):  # noqa: A002 - it is one
    async with site.session.get(f"/api/attachments/{id}/content") as answer:
        assert answer.status == 200
        return await answer.read()
