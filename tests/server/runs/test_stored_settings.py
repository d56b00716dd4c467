# A union, or JSON whose types the test knows.
# pyright: reportCallIssue=false
"""A run continues with the settings it was started with, whatever the worker or the user has set since."""

import asyncio
import json
import sqlite3
from contextlib import closing, suppress

import aiohttp
import msgspec
import pytest
from aiohttp import web
from sqlalchemy import select, update

from showandtell import ModelSettings, RunLimits, tool
from showandtell.server.runs import manager
from showandtell.server.runs.stored_settings import StoredSettings, read_settings
from showandtell.storage.database.rows import serialize
from showandtell.storage.database.tables import runs
from support.page_messages import both, page, until
from support.paths import TESTS
from support.postgres import each_database, ready_database
from support.serving import kinds, serving, texts
from support.two_users import ask, conversations_of, open_accounts
from support.vllm import vllm

pytestmark = pytest.mark.anyio
ORDER = {"index": 0, "id": "call_1", "type": "function", "function": {"name": "order", "arguments": "{}"}}
RHYMES, PROSE = "Answer in rhymes.", "Answer in prose."


@tool(name="order", approval=True)
def order_later() -> str:
    """Order tea."""
    return "ordered"


@tool(name="order", idempotent=True)
def order() -> str:
    """Order tea."""
    return "ordered"


def hanging():
    """A tool that never returns, and what is set once it is called."""
    called = asyncio.Event()

    @tool(name="order")
    async def hang() -> str:
        """Order tea."""
        called.set()
        return await asyncio.Future()

    return hang, called


@pytest.fixture
async def provider(monkeypatch):
    """A loopback server in place of vLLM that orders once for each message. Yields the request bodies."""

    def answer(body):
        has_ordered = body["messages"][-1]["role"] == "tool"
        delta, end = ({"content": "done"}, "stop") if has_ordered else ({"tool_calls": [ORDER]}, "tool_calls")
        chunks = [{"index": 0, "delta": delta, "finish_reason": None}, {"index": 0, "delta": {}, "finish_reason": end}]
        lines = "".join(f"data: {json.dumps({'choices': [chunk]})}\n\n" for chunk in chunks)
        return web.Response(text=f"{lines}data: [DONE]\n\n", content_type="text/event-stream")

    async with vllm(answer, monkeypatch) as bodies:
        yield bodies


async def prefer(site, session=None, **preferences):
    """Change a user's settings."""
    assert (await ask(session or site.session, "PATCH", "/api/settings", json=preferences))[0] == 200


def approval(chat="chat", **more):
    """The body of a request that approves the call that waits."""
    part = {"type": "tool-order", "toolCallId": "call_1", "state": "approval-responded"}
    message = {"id": "ans_x", "role": "assistant", "parts": [part | {"approval": {"id": "call_1", "approved": True}}]}
    return {"id": chat, "messages": [message], "trigger": "submit-message", **more}


async def wait_for_approval(folder, **settings):
    """A server whose only run waits for an approval, and has ended since."""
    async with serving(folder, tools=(order_later,), **settings) as site:
        await prefer(site, instructions=RHYMES)
        _, chunks = await site.post("tea, please", model="vllm:any")
        assert "tool-approval-request" in kinds(chunks)


async def change_runs(site, **values):
    await site.store.database.write(lambda connection: connection.execute(update(runs).values(**values)))


async def stored_settings(site):
    """The settings of all runs, oldest first."""
    return [row[0] for row in await site.store.database.read(select(runs.c.settings).order_by(runs.c.created))]


@each_database
async def test_a_run_that_another_worker_takes_over_keeps_its_instructions_and_limits(
    database, provider, tmp_path, monkeypatch
):
    monkeypatch.setattr(manager, "GRACE", 0)
    url, (hang, called) = ready_database(database, tmp_path), hanging()
    async with serving(tmp_path, database=url, tools=(hang,), limits=RunLimits(steps=2, seconds=900)) as site:
        await prefer(site, instructions=RHYMES)
        asking = asyncio.create_task(site.post("tea, please", model="vllm:any"))
        await asyncio.wait_for(called.wait(), 60)
        await prefer(site, instructions=PROSE)
    with suppress(aiohttp.ClientError):
        await asking
    async with serving(tmp_path, database=url, tools=(order,), limits=RunLimits(steps=20, seconds=900)) as other:
        await until(lambda: not other.server.runs.live_count)
    first, second = provider
    assert RHYMES in second["messages"][0]["content"] == first["messages"][0]["content"]
    assert second["tool_choice"] == "none"  # the last of two steps


@each_database
async def test_an_approval_continues_with_the_stored_model_settings_and_limits(database, provider, tmp_path):
    url = ready_database(database, tmp_path)
    await wait_for_approval(tmp_path, database=url, limits=RunLimits(steps=2, seconds=900))
    async with serving(tmp_path, database=url, tools=(order_later,), limits=RunLimits(steps=1, seconds=900)) as site:
        await prefer(site, instructions=PROSE, model="inspector")
        assert (await page(site))["waiting"] is True
        status, chunks = await both(site.session, approval())
        before, after = await stored_settings(site)
    first, second = provider
    assert (status, texts(chunks)) == (200, "done")
    assert second["messages"][0] == first["messages"][0]
    assert (second["messages"][-1]["content"], second["tool_choice"], after) == ("ordered", "none", before)


async def test_an_answer_that_was_stopped_is_continued_with_the_stored_settings(provider, tmp_path):
    hang, called = hanging()
    async with serving(tmp_path, tools=(hang,)) as site:
        await prefer(site, instructions=RHYMES)
        asking = asyncio.create_task(site.post("tea, please", model="vllm:any"))
        await asyncio.wait_for(called.wait(), 60)
        await ask(site.session, "POST", "/api/chat/chat/stop")
        await asking
        await prefer(site, instructions=PROSE, model="inspector")
        status, chunks = await both(site.session, {"id": "chat", "messages": [], "trigger": "submit-message"})
    first, second = provider
    assert (status, texts(chunks), second["messages"][0]) == (200, "done", first["messages"][0])


async def test_the_next_message_has_the_settings_of_now(provider, tmp_path):
    await wait_for_approval(tmp_path)
    async with serving(
        tmp_path, tools=(order_later,), limits=RunLimits(steps=5, seconds=900, on_full="summarize")
    ) as site:
        await prefer(site, instructions=PROSE)
        await site.post("coffee, please", id="m2", model="vllm:any")
        _, newest = map(read_settings, await stored_settings(site))
    assert PROSE in provider[-1]["messages"][0]["content"]
    assert newest == StoredSettings(PROSE, RunLimits(steps=5, seconds=900, on_full="summarize"))


async def test_stored_settings_of_the_model_are_sent(provider, tmp_path):
    await wait_for_approval(tmp_path)
    async with serving(tmp_path, tools=(order_later,)) as site:
        changed = StoredSettings(RHYMES, RunLimits(steps=3), ModelSettings(temperature=0.5))
        await change_runs(site, settings=serialize(changed))
        await both(site.session, approval())
    assert [body.get("temperature") for body in provider] == [None, 0.5]


async def test_an_approval_of_another_user_has_that_users_instructions(provider, tmp_path):
    async with serving(tmp_path, tools=(order_later,)) as site:
        ann, bob = map(open_accounts(site), ("ann", "bob"))
        for user, instructions in ((ann, RHYMES), (bob, PROSE)):
            await prefer(site, user, instructions=instructions)
        await site.post("tea, please", model="vllm:any", session=ann)
        (listed,) = await conversations_of(site, ann)
        await ask(ann, "PUT", f"/api/conversations/{listed['id']}/shares/bob", json={"right": "writer"})
        assert (await both(bob, approval(listed["id"])))[0] == 200
    first, second = (body["messages"][0]["content"] for body in provider)
    assert second == first.replace(RHYMES, PROSE)
    assert RHYMES not in second


async def test_a_run_without_settings_continues_with_those_of_now(provider, tmp_path):
    await wait_for_approval(tmp_path, limits=RunLimits(steps=2, seconds=900))
    async with serving(tmp_path, tools=(order_later,), limits=RunLimits(steps=9, seconds=900)) as site:
        await change_runs(site, settings=None)
        await prefer(site, instructions=PROSE, model="vllm:other")
        status, chunks = await both(site.session, approval())
    assert (status, texts(chunks)) == (200, "done")
    assert PROSE in provider[-1]["messages"][0]["content"]
    assert (provider[-1]["model"], provider[-1].get("tool_choice", "auto")) == ("other", "auto")


async def test_a_run_of_the_previous_version_is_continued_after_the_update(tmp_path):
    with closing(sqlite3.connect(tmp_path / "showandtell.db")) as database, database:
        database.executescript((TESTS / "databases" / "0003.sql").read_text())
        database.execute("UPDATE runs SET state = 'running', status = NULL, beat = 0")
    database.close()
    async with serving(tmp_path) as site:
        await until(lambda: not site.server.runs.live_count)
        rows = await site.store.database.read(select(runs.c.state, runs.c.status, runs.c.settings))
    assert [tuple(row) for row in rows] == [("ended", "complete", None)]


async def test_a_stored_model_that_is_gone_is_named_and_another_can_be_chosen(provider, tmp_path):
    await wait_for_approval(tmp_path)
    async with serving(tmp_path, tools=(order_later,)) as site:
        await change_runs(site, model="gone:model")
        status, received = await both(site.session, approval())
        assert (status, received["error"]["kind"]) == (422, "UnknownModel")
        assert "gone" in received["error"]["text"]
        assert (await both(site.session, approval(model="vllm:other")))[0] == 200
    assert [body["model"] for body in provider] == ["any", "other"]


@pytest.mark.usefixtures("provider")
@pytest.mark.parametrize("record", ["{broken", '{"instructions": 1}', '{"instructions": "", "limits": {"steps": "9"}}'])
async def test_damaged_settings_refuse_the_approval_and_nothing_else(tmp_path, caplog, record):
    await wait_for_approval(tmp_path)
    async with serving(tmp_path, tools=(order_later,)) as site:
        await change_runs(site, settings=record)
        assert (await both(site.session, approval()))[0] == 503
        assert "the stored settings of a run are damaged" in caplog.text
        assert (await page(site))["waiting"] is True
        assert (await site.post("coffee, please", id="m2", model="vllm:any"))[0] == 200


@pytest.mark.usefixtures("provider")
async def test_nothing_but_instructions_limits_and_settings_of_the_model_is_stored(tmp_path):
    await wait_for_approval(tmp_path, limits=RunLimits(seconds=60))
    async with serving(tmp_path) as site:
        (record,) = await stored_settings(site)
    stored = msgspec.json.decode(record)
    assert {*stored} == {"instructions", "limits", "model_settings", "operator", "conversation", "tools"}
    assert (stored["instructions"], stored["limits"]["seconds"]) == (RHYMES, 60)
    assert {*stored["model_settings"].values()} == {None, "auto", True, False}


async def test_an_operators_instructions_stand_before_the_users_and_stay_those_of_the_run(provider, tmp_path):
    settings = {"model_settings": ModelSettings(temperature=0.5), "builtin": ("chart",)}
    await wait_for_approval(tmp_path, instructions="Never quote prices.", **settings)
    async with serving(tmp_path, tools=(order_later,), instructions="Quote prices.") as site:
        await both(site.session, approval())
    system = provider[-1]["messages"][0]["content"]
    assert system.endswith(f"\n\nNever quote prices.\n\n{RHYMES}")
    assert [body["temperature"] for body in provider] == [0.5, 0.5]
    assert [item["function"]["name"] for item in provider[0]["tools"]] == ["chart", "order"]
