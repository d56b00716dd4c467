"""A user who starts much at once waits for their own work; the others don't."""

import asyncio
import json
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager

import pytest

from showandtell.agent.tools import as_tool
from showandtell.core.messages.derivations import DerivationRequest
from showandtell.core.messages.file import File
from showandtell.inspector import send
from showandtell.media import gate, turns
from showandtell.media.turns import Budget, acting_for
from showandtell.media.worker import WorkerPool
from showandtell.server.runs import manager
from showandtell.storage.files.convert import convert_in_turn
from support import fixtures
from support.serving import chat_body, serving, texts
from support.two_users import RATES, ask, conversations_of, open_accounts, upload

pytestmark = pytest.mark.anyio
#: A child that reports a problem with each file once there is a certain file.
PATIENT = """
import json, pathlib, sys, time
for line in sys.stdin:
    while not pathlib.Path(sys.argv[1]).exists():
        time.sleep(0.01)
    print(json.dumps({"problem": "is odd", "advice": "save it"}), flush=True)
"""


def patient_pool(monkeypatch, name, folder, size=3):
    """Put children in place of the gate's pool that answer once the file `go` exists."""
    pool = WorkerPool((sys.executable, "-c", PATIENT, str(folder / "go")), size, timeout=240)
    monkeypatch.setattr(gate, name, pool)
    return pool


async def until(found):
    async with asyncio.timeout(60):
        while not found():  # noqa: ASYNC110 - a thread makes it true
            await asyncio.sleep(0.01)


def make_tool():
    """A tool that waits for an event, and the number of its calls so far."""
    released, begun = asyncio.Event(), []

    async def hold() -> str:
        """Wait."""
        begun.append(1)
        await released.wait()
        return "done"

    return as_tool(hold), released, begun


@asynccontextmanager
async def started(tasks):
    """Run these coroutines meanwhile."""
    running = [asyncio.create_task(task) for task in tasks]
    try:
        yield running
    finally:
        await asyncio.gather(*running, return_exceptions=True)


async def test_thumbnails_of_others_do_not_wait_for_conversions(tmp_path, monkeypatch):
    pool = patient_pool(monkeypatch, "CONVERTERS", tmp_path)
    async with serving(tmp_path, rates=RATES) as site:
        ann, bob = map(open_accounts(site), ["ann", "bob"])
        files = [await upload(ann, fixtures.pdf(f"page {number}"), "a.pdf") for number in range(12)]
        picture = await upload(bob, fixtures.png(), "a.png")
        async with started([ask(ann, "GET", f"/api/attachments/{file}/text") for file in files]) as texts_of_ann:
            await until(lambda: len(pool.free) < 3)
            status, _ = await ask(bob, "GET", f"/api/attachments/{picture}/thumbnail")
            assert (status, any(task.done() for task in texts_of_ann)) == (200, False)
            (tmp_path / "go").touch()
        assert [task.result()[0] for task in texts_of_ann] == [404] * 12
    pool.stop()


async def test_a_conversion_of_another_user_starts_at_once(tmp_path, monkeypatch):
    pool = patient_pool(monkeypatch, "CONVERTERS", tmp_path)
    async with serving(tmp_path, rates=RATES) as site:
        ann, bob = map(open_accounts(site), ["ann", "bob"])
        files = [await upload(ann, fixtures.pdf(f"page {number}"), "a.pdf") for number in range(6)]
        file = await upload(bob, fixtures.pdf("of bob"), "b.pdf")
        async with started([ask(ann, "GET", f"/api/attachments/{file}/text") for file in files]) as of_ann:
            await until(lambda: len(pool.free) == 2)
            async with started([ask(bob, "GET", f"/api/attachments/{file}/text")]):
                await until(lambda: len(pool.free) == 1)
                assert not any(task.done() for task in of_ann)
                (tmp_path / "go").touch()
    pool.stop()


async def test_the_owner_of_a_conversation_does_not_wait_behind_the_conversions_of_a_reader(tmp_path, monkeypatch):
    pool = patient_pool(monkeypatch, "CONVERTERS", tmp_path)
    async with serving(tmp_path, rates=RATES) as site:
        ann, bob = map(open_accounts(site), ["ann", "bob"])
        file = await upload(ann, fixtures.pdf("of ann"), "a.pdf")
        shared = await upload(bob, fixtures.pdf("of bob"), "b.pdf")
        await site.post("hello", files=(shared,), session=bob)
        (conversation,) = await conversations_of(site, bob)
        shares = f"/api/conversations/{conversation['id']}/shares"
        assert (await ask(bob, "PUT", f"{shares}/ann", json={"right": "reader"}))[0] == 204
        async with started([ask(ann, "GET", f"/api/attachments/{file}/text")]):
            await until(lambda: len(pool.free) == 2)
            async with started([ask(ann, "GET", f"/api/attachments/{shared}/text")]):
                await until(lambda: site.store.conversion_turns.count_waiting("ann"))
                async with started([ask(bob, "GET", f"/api/attachments/{shared}/text")]):
                    await until(lambda: len(pool.free) == 1)
                    (tmp_path / "go").touch()
    pool.stop()


async def test_conversions_of_stopped_runs_hold_up_neither_thumbnails_nor_conversions_of_others(tmp_path, monkeypatch):
    pool = patient_pool(monkeypatch, "CONVERTERS", tmp_path)
    async with serving(tmp_path, rates=RATES) as site:
        bob, cache = open_accounts(site)("bob"), site.store.file_cache("ann")
        picture, file = await upload(bob, fixtures.png(), "a.png"), await upload(bob, fixtures.pdf("of bob"), "b.pdf")
        facts = (await asyncio.to_thread(cache.probe, File.from_bytes(fixtures.pdf("of ann")))).facts
        for _ in range(70):
            with acting_for("ann"):
                task = asyncio.create_task(convert_in_turn([DerivationRequest(facts.sha256, "text")], cache))
            await asyncio.sleep(0.001)
            task.cancel()
            await asyncio.wait([task])
        assert (await ask(bob, "GET", f"/api/attachments/{picture}/thumbnail"))[0] == 200
        async with started([ask(bob, "GET", f"/api/attachments/{file}/text")]):
            await until(lambda: len(pool.free) == 1)
            (tmp_path / "go").touch()
    pool.stop()


async def test_questions_about_pictures_wait_for_ocr_without_a_thread_and_not_for_long(tmp_path, monkeypatch):
    pool = patient_pool(monkeypatch, "OCR", tmp_path, 1)
    async with serving(tmp_path, rates=RATES) as site:
        asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(2))
        ann, bob = map(open_accounts(site), ["ann", "bob"])
        files = [await upload(ann, fixtures.png(9 + number), "a.png") for number in range(5)]
        monkeypatch.setattr(send, "OCR_WAIT", 60.0)
        questions = [site.post("what does it say?", f"of {file}", files=(file,), session=ann) for file in files[:3]]
        async with started(questions):
            await until(lambda: gate.OCR.turns.count_waiting("ann") == 2)
            assert (await site.post("hello", session=bob))[0] == 200
            monkeypatch.setattr(send, "OCR_WAIT", 0.01)
            answer = await site.post("what does it say?", files=(files[4],), session=ann)
            assert "text not read: OCR is busy with other pictures, ask again in a moment" in texts(answer[1])
            (tmp_path / "go").touch()
    pool.stop()


async def test_uploads_of_others_do_not_wait(tmp_path, monkeypatch):
    async with serving(tmp_path, rates=RATES) as site:
        ann, bob = map(open_accounts(site), ["ann", "bob"])
        pool = patient_pool(monkeypatch, "MEDIA", tmp_path)
        async with started([upload(ann, fixtures.bmp(number), "a.bmp") for number in range(1, 13)]):
            await until(lambda: len(pool.free) < 3)
            assert (await upload(bob, b"words", "b.txt")).startswith("att_")
            (tmp_path / "go").touch()
    pool.stop()


async def test_the_body_of_an_upload_over_the_limit_is_refused_with_the_seconds_to_wait(tmp_path, monkeypatch):
    async with serving(tmp_path, rates=RATES) as site:
        ann = open_accounts(site)("ann")
        monkeypatch.setattr(turns, "MAX_WAITING", 0)
        async with ann.put("/api/attachments?name=a.txt", data=b"words") as answer:
            assert (answer.status, int(answer.headers["retry-after"])) == (429, 10)
            assert (await answer.json())["error"]["text"].startswith("0 of your uploads are waiting already: try again")


async def test_runs_over_the_limit_wait_and_those_of_others_do_not(tmp_path):
    tool, released, begun = make_tool()
    async with serving(tmp_path, tools=(tool,), rates=RATES) as site:
        ann, bob = map(open_accounts(site), ["ann", "bob"])
        await site.post("hello", session=bob)
        chats = [site.post("/hold", f"chat {number}", session=ann) for number in range(manager.MAX_RUNS + 3)]
        async with started(chats) as running:
            await until(lambda: len(begun) == manager.MAX_RUNS)
            assert (await site.post("hello again", id="m2", session=bob))[0] == 200
            assert len(begun) == manager.MAX_RUNS
            released.set()
        assert all("done" in texts(task.result()[1]) for task in running)


async def test_the_body_of_a_chat_request_is_read_in_turn(tmp_path, monkeypatch):
    async with serving(tmp_path, rates=RATES) as site:
        ann = open_accounts(site)("ann")
        monkeypatch.setattr(turns, "MAX_WAITING", 0)

        async def send_body():
            yield b"x" * 1000
            await asyncio.Event().wait()

        async with ann.post("/api/chat", data=send_body(), headers={"content-type": "application/json"}) as answer:
            assert (answer.status, int(answer.headers["retry-after"])) == (429, 10)


async def test_a_run_that_waits_too_long_is_refused_and_leaves_nothing(tmp_path, monkeypatch):
    tool, released, begun = make_tool()
    monkeypatch.setattr(manager, "MAX_RUNS", 1)
    monkeypatch.setattr(manager, "TURN_SECONDS", 0.01)
    async with serving(tmp_path, tools=(tool,), rates=RATES) as site:
        ann, bob = map(open_accounts(site), ["ann", "bob"])
        await site.post("hello", session=bob)
        async with started([site.post("/hold", "first", session=ann)]):
            await until(lambda: begun)
            async with ann.post("/api/chat", json=chat_body("hello", "second")) as answer:
                assert (answer.status, answer.headers["retry-after"]) == (429, "10")
                assert "behind other runs: try again" in (await answer.json())["error"]["text"]
            released.set()
        assert len(await conversations_of(site, ann)) == 1


async def test_a_stop_ends_a_run_that_waits(tmp_path, monkeypatch):
    tool, released, begun = make_tool()
    monkeypatch.setattr(manager, "MAX_RUNS", 1)
    async with serving(tmp_path, tools=(tool,), rates=RATES) as site:
        ann, bob = map(open_accounts(site), ["ann", "bob"])
        await site.post("hello", session=bob)
        async with started([site.post("/hold", name, session=ann) for name in ("first", "second")]) as running:
            live = site.server.runs._live
            await until(lambda: begun and len(live) == 2 and all(one.is_stored for one in live.values()))
            for name in ("first", "second"):
                await ask(ann, "POST", f"/api/chat/{name}/stop")
            assert {task.result()[0] for task in (await asyncio.wait(running))[0]} == {200, 409}
            released.set()


async def test_a_user_without_decoder_seconds_keeps_files_and_reads_texts(tmp_path, monkeypatch):
    monkeypatch.setattr(gate, "BUDGET", budget := Budget())
    for pool in gate.POOLS:
        monkeypatch.setattr(pool, "budget", budget)
    async with serving(tmp_path, rates=f"{RATES}, decoder=1/hour") as site:
        ann, bob = map(open_accounts(site), ["ann", "bob"])
        picture, page = await upload(ann, fixtures.png(), "a.png"), await upload(ann, fixtures.pdf("words"), "a.pdf")
        budget.charge("ann", 1)
        for method, path, data in (
            ("PUT", "?name=b.bmp", fixtures.bmp(9)),
            ("GET", f"/{picture}/thumbnail", None),
            ("GET", f"/{page}/text", None),
            ("GET", f"/{page}/pages/1", None),
        ):
            async with ann.request(method, f"/api/attachments{path}", data=data) as answer:
                assert (answer.status, path) == (429, path)
                assert 3500 < int(answer.headers["retry-after"]) <= 3600
                assert "used 1 s of decoding" in json.loads(await answer.read())["error"]["text"]
        assert (await ask(ann, "GET", f"/api/attachments/{picture}/content"))[1] == fixtures.png()
        assert (await upload(ann, b"words", "a.txt")).startswith("att_")
        assert (await upload(bob, fixtures.png(9), "b.png")).startswith("att_")
