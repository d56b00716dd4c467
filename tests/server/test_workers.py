"""Several processes on one PostgreSQL: any can read, stop and continue a run; and database outages."""

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from statistics import median
from tempfile import TemporaryDirectory

import aiohttp
import psycopg
import pytest

from showandtell.agent.tools import by_name
from showandtell.server.workers import WorkerSlot
from showandtell.storage.database.upgrade import MIGRATION_LOCK
from support.commandline import PROGRAM
from support.postgres import new_database, ready_database
from support.server_process import TIMEOUT, running, until
from support.serving import chat_body, chunks_of, kinds, serving, texts

pytestmark = pytest.mark.anyio
HOLD = "/hold name=one"


@pytest.fixture(scope="module")
def anyio_backend():
    return "asyncio"


@pytest.fixture(scope="module")
async def pair(tmp_path_factory):
    """Two servers that many tests share, each with a conversation and files of its own; and their folder."""
    folder = tmp_path_factory.mktemp("two")
    async with two(folder, ready_database("postgresql", folder)) as (one, other):
        yield folder, one, other


STOPPED_WHILE_REPORTING = """
import os, signal
from multiprocessing import Pipe
from showandtell.errors import UsageError
from showandtell.server.workers import SERVE, run_worker

class Reports:
    def send(self, report):
        print(report.text, flush=True)
        os.kill(os.getpid(), signal.SIGTERM)

def fail(*_):
    raise UsageError("there is no such tool")

orders, parent = Pipe(duplex=False)
parent.send(SERVE)
run_worker(fail, None, Reports(), orders)
"""


@pytest.fixture
def database(tmp_path):
    """An empty database on the real server."""
    return ready_database("postgresql", tmp_path)


@asynccontextmanager
async def two(folder, database):
    """Two servers that share a database, files and secret."""
    async with running(folder, "--database", database) as one, running(folder, "--database", database) as other:
        yield one, other


async def chunks(answer):
    """Yield the chunks of a stream as they arrive."""
    async for line in answer.content:
        if line.startswith(b"data: {"):
            yield json.loads(line[6:])


async def read(stream, kind):
    """The chunks up to the first of a type."""
    found = []
    async for one in stream:
        found.append(one)
        if one["type"] == kind:
            return found
    raise AssertionError(kinds(found))


def follow(program, chat="c"):
    return program.session.get(f"{program.url}/api/chat/{chat}/stream")


def say(program, words, chat="c", id="m1"):  # noqa: A002 - it is one
    return program.session.post(f"{program.url}/api/chat", json=chat_body(words, chat, id))


async def conversation_of(program):
    """The only conversation, as JSON."""
    async with program.session.get(f"{program.url}/api/conversations") as answer:
        (listed,) = (await answer.json())["conversations"]
    return await opened(program, listed["id"])


async def opened(program, id):  # noqa: A002 - it is one
    async with program.session.get(f"{program.url}/api/conversations/{id}") as answer:
        return await answer.json()


def test_a_worker_that_cannot_start_reports_only_its_own_error():
    done = subprocess.run([sys.executable, "-c", STOPPED_WHILE_REPORTING], capture_output=True, text=True, check=False)  # noqa: S603
    assert (done.returncode, done.stdout, done.stderr) == (1, "there is no such tool\n", "")


def test_a_worker_that_dies_again_and_again_is_replaced_later_each_time():
    slot, delays = WorkerSlot(), []
    for _ in range(12):
        slot.schedule_restart(was_stable=False)
        delays.append(slot.delay)
    assert delays[:4] == [0.2, 0.4, 0.8, 1.6]
    assert delays[-1] == 30
    slot.schedule_restart(was_stable=True)
    assert slot.delay == 0


@pytest.mark.thorough
async def test_a_signal_ends_a_start_that_waits_for_another_migration(tmp_path):
    url = new_database("postgresql", tmp_path)
    with psycopg.connect(url, autocommit=True) as other:
        other.execute("SELECT pg_advisory_lock(%s)", (MIGRATION_LOCK,))
        arguments = ("serve", "--port", "0", "--data", str(tmp_path), "--database", url)
        process = await asyncio.create_subprocess_exec(*PROGRAM, *arguments, stderr=asyncio.subprocess.DEVNULL)
        try:
            await until(lambda: other.execute("SELECT 1 FROM pg_locks WHERE NOT granted").fetchone())
            process.terminate()
            assert await asyncio.wait_for(process.wait(), TIMEOUT) == 143
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()


async def test_a_stream_of_one_process_is_read_live_at_another(pair, record_property):
    folder, one, other = pair
    async with say(one, "/hold name=live", "live") as first:
        await read(chunks(first), "data-progress")
        late = []
        async with follow(other, "live") as second:
            stream = chunks(second)
            await read(stream, "data-progress")  # events before it
            while len(late) < 20:
                output = (await read(stream, "data-progress"))[-1]
                late.append(time.time() - float(output["data"]["note"]))
            (folder / "live.go").touch()
            rest = await read(stream, "finish")
        whole = await read(chunks(first), "finish")
        assert texts(rest) == texts(whole) != ""
    record_property("median_delay_seconds", median(late))
    print(f"\nread at another process {median(late) * 1000:.0f} ms after it was said")  # noqa: T201 - measured, not judged


async def test_a_run_is_stopped_from_another_process(pair):
    _, one, other = pair
    async with say(one, "/hold name=stopped", "stopped") as answer:
        await read(chunks(answer), "tool-input-available")
        async with other.session.post(f"{other.url}/api/chat/stopped/stop") as stopped:
            assert stopped.status == 204
        assert kinds(await read(chunks(answer), "finish"))[-2:] == ["abort", "finish"]
        assert not (await opened(other, answer.headers["x-conversation-id"]))["running"]


async def test_one_of_two_concurrent_messages_gets_an_error(pair):
    folder, one, other = pair
    async with say(one, "Hello", "both") as answer:
        await answer.read()

    async def ask(program, name):
        async with say(program, f"/hold name={name}", "both", id=name) as answer:
            if answer.status == 200:
                await read(chunks(answer), "tool-input-available")
            return answer.status

    assert sorted(await asyncio.gather(ask(one, "a"), ask(other, "b"))) == [200, 409]
    for name in ("a", "b"):
        (folder / f"{name}.go").touch()


async def test_a_message_sent_to_two_processes_is_one_run(pair):
    _, *programs = pair

    async def ask(program):
        async with say(program, "Hello", "same") as answer:
            return answer.headers["x-conversation-id"], texts(await chunks_of(answer))

    output = await asyncio.gather(*map(ask, programs))
    assert output[0] == output[1]
    id, words = output[0]  # noqa: A001 - it is one
    assert words
    assert len((await opened(programs[0], id))["messages"]) == 2


async def test_another_process_continues_a_killed_run(tmp_path, database):
    async with two(tmp_path, database) as (one, other), follow_after(one) as (answer, end):
        await read(chunks(answer), "tool-input-available")
        one.process.kill()
        await one.process.wait()
        since = time.monotonic()
        (tmp_path / "one.go").touch()
        assert not [kind for kind in kinds(await end(answer)) if kind == "finish"]
        output = await settled(other)
        print(f"\ntaken over and done {time.monotonic() - since:.1f} s after the kill")  # noqa: T201 - measured
        stored = await conversation_of(other)
        assert [one["role"] for one in stored["messages"]] == ["user", "assistant"]
        check_answer(output, stored)


@asynccontextmanager
async def follow_after(program):
    """A stream that is going to break off, and the task that reads it."""

    async def end(answer):
        found = []
        with suppress(aiohttp.ClientError):
            async for one in chunks(answer):
                found.append(one)  # noqa: PERF401 - what came before it broke off
        return found

    async with say(program, HOLD) as answer:
        yield answer, end


def texts_of(stored):
    """The text of the last message."""
    return [one["text"] for one in stored["messages"][-1]["parts"] if one["type"] == "text"]


@pytest.mark.thorough
async def test_a_killed_worker_loses_no_response(tmp_path, database):
    async with (
        running(tmp_path, "--database", database, "--workers", "2") as program,
        follow_after(program) as (answer, end),
    ):
        (held,) = await until(lambda: [*tmp_path.glob("one.*")])
        os.kill(int(held.suffix[1:]), signal.SIGKILL)
        (tmp_path / "one.go").touch()
        assert not [kind for kind in kinds(await end(answer)) if kind == "finish"]
        output = await settled(program)
        check_answer(output, await conversation_of(program))


def check_answer(output, stored):
    """Check that the last stream has the stored text, or its beginning if the run ended before the reconnect."""
    (whole,) = texts_of(stored)
    assert whole
    assert texts(output) == whole if kinds(output)[-1:] == ["finish"] else whole.startswith(texts(output))


async def settled(program, chat="c"):
    """Read like the page, reconnecting until no run is in progress. Returns the text of the last stream."""
    output = []
    while True:
        async with follow(program, chat) as answer:
            if answer.status == 204:
                return output
            output = [one async for one in chunks(answer)]


class Cable:
    """A proxy between a server and its database that can be cut, mended and slowed down."""

    def __init__(self, folder, database):
        there = database.partition("host=")[2]
        self._to, self._at = f"{there}/.s.PGSQL.5432", f"{folder}/.s.PGSQL.5432"
        self.url = database.replace(there, folder)
        self.delay = 0.0
        self._ends, self._joined = set(), set()

    async def mend(self):
        self._server = await asyncio.start_unix_server(self._join, self._at)

    async def cut(self):
        self._server.close()
        for one in self._ends:
            one.transport.abort()
        if self._joined:
            await asyncio.wait(self._joined)
        self._ends.clear()
        with suppress(FileNotFoundError):  # Python 3.13 removes it itself
            os.unlink(self._at)  # noqa: PTH108 - a socket, and this is a coroutine's

    async def _join(self, reader, writer):
        self._joined.add(asyncio.current_task())
        there, back = await asyncio.open_unix_connection(self._to)
        self._ends |= {writer, back}
        await asyncio.gather(self._carry(reader, back), self._carry(there, writer), return_exceptions=True)
        self._joined.discard(asyncio.current_task())

    async def _carry(self, reader, writer):
        try:
            while data := await reader.read(65536):
                await asyncio.sleep(self.delay)
                writer.write(data)
                await writer.drain()
        finally:
            writer.close()


@asynccontextmanager
async def cabled(folder, database, **settings):
    """A server in this process, and the proxy to its database."""
    with TemporaryDirectory(prefix="cable-") as short:  # for the path of a socket is short
        cable = Cable(short, database)
        await cable.mend()
        try:
            async with serving(folder, database=cable.url, **settings) as site:
                yield site, cable
        finally:
            await cable.cut()


async def test_a_database_outage_is_reported_and_loses_nothing(tmp_path, database):
    async with cabled(tmp_path, database) as (site, cable):
        _, before = await site.post("Hello")
        await cable.cut()
        assert [(await site.post("Are you there?", id=name))[0] for name in ("m2", "m3")] == [503, 503]
        assert [(await site.get(path))[0] for path in ("/api/conversations", "/readyz")] == [503, 503]
        assert (await site.session.get("/healthz")).status == 200
        await cable.mend()
        status, after = await site.post("Are you there?", id="m2")
        conversation = await site.store.open((await site.store.newest()).id)
        assert status == 200
        assert [one.text for one in conversation.messages if one.role == "assistant"] == [texts(before), texts(after)]


async def test_a_run_during_a_database_outage_ends_and_the_conversation_continues(tmp_path, database):
    called, go = asyncio.Event(), asyncio.Event()

    async def hold() -> str:
        called.set()
        await go.wait()
        return "let go"

    async with cabled(tmp_path, database, tools=tuple(by_name([hold]).values())) as (site, cable):
        site.store.terms = replace(site.store.terms, length=1.0)  # a lease that can't be given back ends by itself
        async with site.session.post("/api/chat", json=chat_body("/hold")) as answer:
            await called.wait()
            await cable.cut()
            go.set()
            assert "error" in kinds(await chunks_of(answer))
        await cable.mend()
        await settled(Local(site), "chat")
        assert (await site.post("Hello", id="m2"))[0] == 200
        stored = await conversation_of(Local(site))
        assert [one["role"] for one in stored["messages"]] == ["user", "assistant", "user", "assistant"]


@pytest.mark.thorough
async def test_a_slow_database_blocks_no_other_requests(tmp_path, database):
    async with cabled(tmp_path, database) as (site, cable):
        cable.delay = 0.05
        saying = asyncio.create_task(site.post("Hello"))
        times = []
        while not saying.done():
            since = time.monotonic()
            assert (await site.session.get("/healthz")).status == 200
            times.append(time.monotonic() - since)
        status, chunks = await saying
        assert (status, kinds(chunks)[-1]) == (200, "finish")
        assert median(times) < cable.delay


class Local:
    """A server of this process, with the interface of a program."""

    def __init__(self, site):
        self.url, self.session = site.url, site.session
