"""How little a run asks of the database: two transactions, one query, and nothing read again that is in memory."""

import asyncio
import re
import threading
from collections import Counter
from contextlib import AsyncExitStack

import pytest
from sqlalchemy import event

from showandtell.server.runs.open_conversations import OpenConversations
from showandtell.storage.conversations.load import empty
from support.page_messages import idle, stored
from support.postgres import each_database, ready_database, server
from support.serving import kinds, serving, texts
from support.stores import Place, post, user_draft

pytestmark = pytest.mark.anyio


#: Statements of timers.
TIMERS = ("SELECT runs", "BEGIN", "COMMIT")


class Statements:
    """The statements of a database that aren't those of a timer, as `INSERT runs`."""

    def __init__(self, database):
        self.seen = []
        event.listen(database.engine, "before_cursor_execute", self._note)
        event.listen(database.engine, "commit", lambda _: self.seen.append("COMMIT"))
        if database._reader is not None:
            database._reader.set_trace_callback(lambda sql: self._note(None, None, sql, None, None, False))

    def _note(self, _connection, _cursor, sql, _values, _context, _many):
        verb, table = sql.split()[0], re.search(r"showandtell_(\w+)|pg_notify", sql)
        self.seen.append(f"{verb} {table[1] or table[0] if table else ''}".strip())

    async def of(self, request):
        """Those of a request, without what timers do meanwhile."""
        self.seen.clear()
        await request
        return [one for one in self.seen if one not in {"SELECT runs", "BEGIN"}]


@pytest.fixture
def no_timers(monkeypatch):
    """Timers that ask for more than running runs do so after the test."""
    monkeypatch.setattr("showandtell.server.runs.manager.STORE_SECONDS", 60)
    monkeypatch.setattr("showandtell.server.send_pending.CHECK_SECONDS", 60)


@pytest.mark.usefixtures("no_timers")
@each_database
async def test_a_run_without_tools_is_one_query_and_two_transactions(database, tmp_path):
    async with serving(tmp_path, database=ready_database(database, tmp_path)) as site:
        for number in range(2):
            await site.post("Hello", id=f"m{number}")
        seen = await Statements(site.store.database).of(site.post("Hello", id="m2"))
    if seen[0] == "SELECT preferences":  # they are kept for seconds, and read again on a slow machine
        del seen[0]
    begin = ["INSERT runs", "UPDATE conversations", "INSERT messages", "COMMIT"]
    end = ["UPDATE conversations", "INSERT messages", "UPDATE runs", "INSERT run_log"]
    notice = ["SELECT pg_notify"] if database == "postgresql" else []
    assert [one for one in seen if one != "BEGIN IMMEDIATE"] == [
        "SELECT conversations",
        *begin,
        *end,
        *notice,
        "COMMIT",
    ]


@pytest.mark.usefixtures("no_timers")
async def test_a_run_costs_other_workers_nothing_and_its_own_no_more(tmp_path):
    url = ready_database("postgresql", tmp_path)
    async with AsyncExitStack() as stack:
        sites = [await stack.enter_async_context(serving(tmp_path, database=url)) for _ in range(4)]
        for number in range(2):
            await sites[0].post("Hello", id=f"m{number}")
        counted = [Statements(site.store.database) for site in sites]
        assert len(await counted[0].of(sites[0].post("Hello", id="m2"))) == 11
        assert [[one for one in of.seen if one not in TIMERS] for of in counted[1:]] == [[], [], []]


async def test_a_run_starts_few_tasks_and_a_thread_only_if_all_are_busy(tmp_path):
    async with serving(tmp_path) as site:
        for number in range(3):
            await site.post("Hello", id=f"m{number}")
        loop, tasks, threads = asyncio.get_running_loop(), [], {*threading.enumerate()}

        def note(loop, coroutine, **more):
            tasks.append(coroutine.__qualname__)
            return asyncio.Task(coroutine, loop=loop, **more)

        loop.set_task_factory(note)
        await site.post("Hello", id="m3")
        loop.set_task_factory(None)
    assert len({*threading.enumerate()} - threads) <= 1
    own = Counter(name for name in tasks if name.startswith(("Lease.", "Stored", "RequestResponseCycle.")))
    assert own == {
        "RequestResponseCycle.run_asgi": 1,
        "StoredConversation.record": 2,
        "Lease._renew": 1,
        "Lease._release": 1,
    }


async def test_a_tool_step_adds_two_transactions(tmp_path, monkeypatch):
    monkeypatch.setattr("showandtell.server.runs.manager.STORE_SECONDS", 60)
    async with serving(tmp_path) as site:
        await site.post("Hello")
        seen = await Statements(site.store.database).of(site.post("/list_files", id="m2"))
    assert seen.count("COMMIT") == 4


async def test_a_file_that_is_deleted_between_two_messages_is_gone_for_the_next_one(tmp_path):
    async with serving(tmp_path) as site:
        await site.post("/chart title=Sales values=[3,1,2]")
        await idle(site)
        await site.store.delete_file(await stored(site), 1)
        _, chunks = await site.post("What is in image 1?", id="m2")
        assert "deleted by the user" in texts(chunks)


async def test_a_message_to_a_conversation_that_changed_since_it_was_read_starts_again(tmp_path, monkeypatch):
    async with serving(tmp_path) as site:
        await site.post("Hello", "c")
        start, changes = site.server.runs.start, []

        async def change_first(conversation, *arguments):
            if not changes:
                changes.append(await post(await stored(site), user_draft("from elsewhere")))
            return await start(conversation, *arguments)

        monkeypatch.setattr(site.server.runs, "start", change_first)
        assert kinds((await site.post("And now?", "c", id="m2"))[1])[-1] == "finish"
        asked = [one.text for one in (await stored(site)).messages if one.role == "user"]
        assert asked == ["Hello", "from elsewhere", "And now?"]


async def test_a_conversation_is_kept_until_it_is_taken_or_old_or_too_much(tmp_path):
    now = [0.0]
    async with Place("sqlite", tmp_path).store() as store:
        kept = OpenConversations(lambda: now[0])
        one = store._opened(empty("conv_1", "ann", {}), "ann", "writer")
        kept.keep(one, "ann")
        assert kept.take("conv_1", "bob", 0, is_free=True) is None
        assert kept.take("conv_1", "ann", 0, is_free=True) is one
        assert kept.take("conv_1", "ann", 0, is_free=True) is None
        kept.keep(one, "ann")
        assert kept.take("conv_1", "ann", 1, is_free=True) is None
        kept.keep(one, "ann")
        now[0] = 601.0
        assert kept.take("conv_1", "ann", 0, is_free=True) is None
        one.size = 10**9
        kept.keep(one, "ann")
        assert kept.take("conv_1", "ann", 0, is_free=True) is None


async def test_a_transaction_on_a_connection_that_died_is_repeated_once(tmp_path):
    async with Place("postgresql", tmp_path).store() as store:
        conversation = await store.create()
        await post(conversation, user_draft("one"))
        server().psql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid != pg_backend_pid();")
        await post(conversation, user_draft("two"))
        assert [one.text for one in (await store.open(conversation.id)).messages] == ["one", "two"]
