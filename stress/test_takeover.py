"""Workers and machines that are lost in the middle of an answer: when readers get a notice, and when the answer continues.

The figures are printed, and stand in docs/reliability.md.
"""

import asyncio
import json
import os
import signal
import time
from contextlib import asynccontextmanager, suppress
from datetime import datetime
from pathlib import Path
from statistics import median

import aiohttp
import pytest

from showandtell.storage.conversations.store import Store
from support.postgres import each_database, new_database, ready_database
from support.server_process import running, until
from support.serving import chat_body

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(900)]
KILLS = 10
#: The writes of a first message before which the server is killed: run, lease, question, answer, end of the lease, log.
WRITES = range(1, 7)

#: Kills the worker before the write of the database with this number, counted from the moment that the file is there.
KILLING = """
import os, signal
from pathlib import Path
from showandtell.storage.database.database import Database

write, TOOLS = Database.write, []

async def kill_at(database, work, **options):
    at = Path("kill.at")
    if at.exists():
        left = int(at.read_text()) - 1
        at.write_text(str(left))
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
    return await write(database, work, **options)

Database.write = kill_at
"""


def children(program):
    """The processes that a server has started: workers, the spare, and a helper of Python's."""
    pid = program.process.pid
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def used_ticks(pid):
    return sum(map(int, Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:13]))


async def calm(program, count):
    """Wait until `count` processes are there, and none is starting."""
    async with asyncio.timeout(120):
        before = None
        while before is None or len(before) < count or max(used_ticks(pid) - before[pid] for pid in before) > 15:
            before = {pid: used_ticks(pid) for pid in children(program)}
            await asyncio.sleep(1.5)
            if set(children(program)) != set(before):
                before = None


async def follow(program, chat, since, seen):
    """Read like the page, reconnecting until no run is in progress; notes when each type of chunk came first."""
    while True:
        with suppress(aiohttp.ClientError):
            async with program.session.get(f"{program.url}/api/chat/{chat}/stream") as answer:
                if answer.status == 204:
                    return
                async for line in answer.content:
                    if line.startswith(b"data: {"):
                        chunk = json.loads(line[6:])
                        kind = chunk["data"]["state"] if chunk["type"] == "data-worker" else chunk["type"]
                        seen.setdefault(kind, time.monotonic() - since)
                        seen["text"] = seen.get("text", "") + chunk.get("delta", "")


@asynccontextmanager
async def holding(program, folder, chat):
    """A run in the middle of a tool, as the id of the worker that executes it."""
    async with program.session.post(f"{program.url}/api/chat", json=chat_body(f"/hold name={chat}", chat)) as answer:
        (held,) = await until(lambda: [*folder.glob(f"{chat}.[0-9]*")])
        yield int(held.suffix[1:]), answer


def say(title, values):
    values = sorted(values)
    print(f"{title}: median {median(values):.1f} s, at most {values[-1]:.1f} s of {len(values)}")  # noqa: T201 - measured


def starts(errors):
    """Seconds from each death of a worker to the start of its successor, by the parent's log."""
    records = [json.loads(line) for line in errors.splitlines() if line.startswith("{")]
    events = [
        (datetime.fromisoformat(record["time"]), record["text"])
        for record in records
        if record["logger"].endswith("workers")
    ]
    deaths = [time for time, text in events if " ended " in text]
    return [
        min((time - death).total_seconds() for time, text in events if " has started" in text and time > death)
        for death in deaths
    ]


async def test_a_killed_worker_is_replaced_and_its_answers_go_on(tmp_path):
    database, notices, continued = ready_database("postgresql", tmp_path), [], []
    async with running(
        tmp_path, "--database", database, "--workers", "2", "--verbose", "--log-format", "json"
    ) as program:
        for number in range(KILLS):
            await calm(program, 4)
            seen = {}
            async with holding(program, tmp_path, f"c{number}") as (worker, _):
                os.kill(worker, signal.SIGKILL)
                await follow(program, f"c{number}", time.monotonic(), seen)
            notices.append(min(seen.get("lost", seen["start"]), seen["start"]))
            continued.append(seen["start"])
            assert "unknown outcome" in seen["text"]
            assert len([*tmp_path.glob(f"c{number}.[0-9]*")]) == 1
        await calm(program, 4)
        _, errors = await program.end()
    say("\nkilled worker: readers get a notice, or the stream, after", notices)
    say("the stream continues after", continued)
    say("another worker accepts requests after", starts(errors))
    assert len(starts(errors)) == KILLS


async def freeze(program, number):
    """Send a signal to a server and all of its workers."""
    for pid in [program.process.pid, *children(program)]:
        os.kill(pid, number)


async def test_the_answers_of_a_lost_machine_go_on_at_another(tmp_path):
    database, notices, continued = ready_database("postgresql", tmp_path), [], []
    async with running(tmp_path, "--database", database) as other:
        for number in range(3):
            async with (
                running(tmp_path, "--database", database, "--workers", "2") as lost,
                holding(lost, tmp_path, f"c{number}"),
            ):
                seen, reading = {}, None
                try:
                    await asyncio.sleep(2)  # its heartbeat is known at the other
                    await freeze(lost, signal.SIGSTOP)
                    seen, since = {}, time.monotonic()
                    reading = asyncio.create_task(follow(other, f"c{number}", since, seen))
                    await reading
                finally:
                    await freeze(lost, signal.SIGCONT)
                notices.append(seen["lost"])
                continued.append(seen["tool-output-error"])
                assert "unknown outcome" in seen["text"]
                assert len([*tmp_path.glob(f"c{number}.[0-9]*")]) == 1
                (tmp_path / f"c{number}.go").touch()
    say("\nlost machine: readers get a notice after", notices)
    say("the run continues after", continued)


async def test_a_worker_that_stands_still_for_some_seconds_keeps_its_run(tmp_path):
    database = ready_database("postgresql", tmp_path)
    async with running(tmp_path, "--database", database) as slow, running(tmp_path, "--database", database) as other:
        async with holding(slow, tmp_path, "c"):
            os.kill(slow.process.pid, signal.SIGSTOP)
            try:
                seen, since = {}, time.monotonic()
                reading = asyncio.create_task(follow(other, "c", since, seen))
                await asyncio.sleep(6)
            finally:
                os.kill(slow.process.pid, signal.SIGCONT)
            (tmp_path / "c.go").touch()
            await reading
        assert "c was released" in seen["text"]
        print(f"\nstood still for 6 s: {sorted(seen)}")  # noqa: T201 - measured


async def say_hello(program, number):
    return await program.session.post(f"{program.url}/api/chat", json=chat_body("Hello", f"c{number}"))


async def conversations(program):
    async with program.session.get(f"{program.url}/api/conversations") as answer:
        return (await answer.json())["conversations"]


@each_database
async def test_a_first_message_that_was_not_acknowledged_leaves_nothing_wherever_the_server_dies(database, tmp_path):
    place = ("--database", new_database(database, tmp_path), "--tools", "killing:TOOLS")
    (tmp_path / "killing.py").write_text(KILLING)
    for at in WRITES:
        async with running(tmp_path, *place) as program:
            (tmp_path / "kill.at").write_text(str(at))
            with suppress(aiohttp.ClientError):
                await (await say_hello(program, at)).read()
        (tmp_path / "kill.at").unlink()
        async with running(tmp_path, *place) as program:
            await follow(program, f"c{at}", time.monotonic(), {})
            assert all(one["messages"] for one in await conversations(program))
            async with await say_hello(program, at) as answer:
                assert (answer.status, b'"finishReason":"stop"' in await answer.read()) == (200, True)
            assert [one["messages"] for one in await conversations(program)] == [2] * at
    async with Store(place[1], tmp_path / "blobs") as store:
        assert len(await store.list()) == len(WRITES)
