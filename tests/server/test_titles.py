"""Titles by the model: asked for after the first answer if the user wants that, and stored unless changed meanwhile."""

import asyncio
import json
import re
from contextlib import suppress
from functools import partial

import aiohttp
import pytest
from aiohttp import web
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from showandtell import tool
from showandtell.agent.suggest_title import INSTRUCTIONS, MAX_TEXT
from showandtell.server import app
from showandtell.server.observability.telemetry import Telemetry
from showandtell.server.runs import manager, titles
from showandtell.server.runs.live_run import RunTask
from support.fixtures import png
from support.page_messages import idle, until
from support.postgres import postgresql_if_thorough, ready_database
from support.serving import chat_body, chunks_of, serving, texts
from support.two_users import ask, conversations_of, open_accounts, upload
from support.vllm import vllm

pytestmark = pytest.mark.anyio
QUESTION = "what is in my invoices of May?"
USAGE = {"prompt_tokens": 1000, "completion_tokens": 70, "total_tokens": 1070}


def streamed(delta, stop):
    """Makes an answer of one piece."""
    choices = [({"index": 0, "delta": delta, "finish_reason": None}), {"index": 0, "delta": {}, "finish_reason": stop}]
    chunks = [*({"choices": [choice]} for choice in choices), {"choices": [], "usage": USAGE}]
    lines = "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks)
    return partial(web.Response, text=f"{lines}data: [DONE]\n\n", content_type="text/event-stream")


def says(text, stop="stop"):
    return streamed({"content": text}, stop)


def calls(name):
    function = {"name": name, "arguments": "{}"}
    return streamed(
        {"tool_calls": [{"index": 0, "id": "call_1", "type": "function", "function": function}]}, "tool_calls"
    )


def hanging():
    """A tool that never returns, and what is set once it is called."""
    called = asyncio.Event()

    @tool(name="list_files")
    async def hang() -> str:
        """List the files."""
        called.set()
        return await asyncio.Future()

    return hang, called


@tool(idempotent=True)
def list_files() -> str:
    """List the files."""
    return "invoice.pdf"


class Provider:
    """Gives `answers` in turn, the last one for ever, and to requests for a title `title`, once `gate` is open.

    `asked` are the requests for a title.
    """

    def __init__(self):
        self.answers, self.title, self.asked = [says("There is one.")], says("Invoices of May"), []
        self.questions, self.gate, self.answering = 0, asyncio.Event(), asyncio.Event()
        self.gate.set()
        self.answering.set()

    async def __call__(self, body):
        if INSTRUCTIONS not in json.dumps(body):
            self.questions += 1
            await self.answering.wait()
            return self.answers.pop(0)() if len(self.answers) > 1 else self.answers[0]()
        self.asked.append(body)
        await self.gate.wait()
        return self.title()


@pytest.fixture
async def provider(monkeypatch):
    """A loopback server in place of vLLM."""
    provider = Provider()
    async with vllm(provider, monkeypatch):
        yield provider


async def turn_on(site, session=None):
    """Ask for titles, as a user does in the settings."""
    status, settings = await ask(session or site.session, "PATCH", "/api/settings", json={"titles": True})
    assert (status, settings["titles"]) == (200, True)


async def say(site, text=QUESTION, **more):
    """Get the whole answer to a message."""
    status, chunks = await site.post(text, **{"model": "vllm:any", **more})
    assert (status, texts(chunks)) == (200, "There is one.")


async def title_of(site, session=None):
    return (await conversations_of(site, session or site.session))[0]["title"]


async def finished(site):
    """Wait until no run and no request for a title is left."""
    await idle(site)
    await until(lambda: not any(isinstance(task, RunTask) for task in asyncio.all_tasks()))
    await asyncio.sleep(0)  # what follows a run begins
    await until(lambda: not any(task.get_name() == titles.TASK for task in asyncio.all_tasks()))


@postgresql_if_thorough
async def test_a_conversation_gets_its_title_after_the_first_answer(database, provider, tmp_path):
    async with serving(tmp_path, database=ready_database(database, tmp_path)) as site:
        await turn_on(site)
        await say(site)
        await finished(site)
        assert await title_of(site) == "Invoices of May"
    (asked,) = provider.asked
    assert QUESTION in asked["messages"][-1]["content"]
    assert "There is one." in asked["messages"][-1]["content"]
    assert not asked.get("tools")


async def test_no_title_is_asked_for_unless_the_user_wants_it(provider, tmp_path):
    async with serving(tmp_path) as site:
        assert (await site.get("/api/settings"))[1]["titles"] is False
        await say(site)
        await finished(site)
        assert (await title_of(site), provider.asked) == (QUESTION, [])


async def test_the_answer_ends_while_the_title_is_awaited(provider, tmp_path):
    provider.gate.clear()
    async with serving(tmp_path) as site:
        await turn_on(site)
        await say(site)
        await until(lambda: provider.asked)
        assert await title_of(site) == QUESTION
        await say(site, "and in June?", id="m2")
        provider.gate.set()
        await finished(site)
        assert (await title_of(site), len(provider.asked)) == ("Invoices of May", 1)


async def test_a_message_that_follows_at_once_does_not_prevent_the_title(provider, tmp_path):
    provider.answering.clear()
    async with serving(tmp_path) as site:
        await turn_on(site)
        first = asyncio.create_task(say(site))
        await until(lambda: provider.questions)
        body = chat_body("and in June?", id="m2", model="vllm:any", if_running="queue")
        async with site.session.post("/api/chat", json=body) as second:
            await second.content.readuntil(b"\n\n")  # it waits
            provider.answering.set()
            await first
            assert texts(await chunks_of(second)) == "There is one."
        await finished(site)
        assert (await title_of(site), len(provider.asked)) == ("Invoices of May", 1)


async def test_a_name_that_a_person_gives_meanwhile_stays(provider, tmp_path):
    provider.gate.clear()
    async with serving(tmp_path) as site:
        await turn_on(site)
        await say(site)
        await until(lambda: provider.asked)
        (listed,) = await conversations_of(site, site.session)
        await ask(site.session, "PATCH", f"/api/conversations/{listed['id']}", json={"title": "Mine"})
        provider.gate.set()
        await finished(site)
        assert await title_of(site) == "Mine"


@pytest.mark.parametrize(
    "title",
    [
        says(""),
        says("I am sorry.\n\nHere is a report:"),
        says("Invoices of May", stop="length"),
        says("Invoices of May", stop="content_filter"),
        partial(web.Response, status=500, text='{"error": {"message": "on fire"}}', content_type="application/json"),
        partial(web.Response, status=429, text='{"error": {"message": "too many"}}', content_type="application/json"),
    ],
    ids=["empty", "lines", "cut", "refused", "failed", "busy"],
)
async def test_without_a_usable_title_the_first_words_stay(title, provider, tmp_path):
    provider.title = title
    async with serving(tmp_path) as site:
        await turn_on(site)
        await say(site)
        await finished(site)
        assert (await title_of(site), len(provider.asked)) == (QUESTION, 1)


async def test_a_model_that_takes_too_long_gives_no_title(provider, tmp_path, monkeypatch):
    monkeypatch.setattr(titles, "TITLE_SECONDS", 0.2)
    provider.gate.clear()
    async with serving(tmp_path) as site:
        await turn_on(site)
        await say(site)
        await finished(site)
        assert await title_of(site) == QUESTION


async def test_a_server_that_stops_does_not_wait_for_a_title(provider, tmp_path, monkeypatch):
    monkeypatch.setattr(titles, "TITLE_SECONDS", 3600)
    provider.gate.clear()
    async with asyncio.timeout(60):
        async with serving(tmp_path) as site:
            await turn_on(site)
            await say(site)
            await until(lambda: provider.asked)
    async with serving(tmp_path) as site:
        assert await title_of(site) == QUESTION


async def test_the_title_is_asked_for_once(provider, tmp_path):
    async with serving(tmp_path) as site:
        await turn_on(site)
        await say(site)
        await finished(site)
        await say(site, "and in June?", id="m2")
        (listed,) = await conversations_of(site, site.session)
        messages = (await site.get(f"/api/conversations/{listed['id']}"))[1]["messages"]
        again = {"messages": [], "trigger": "regenerate-message", "messageId": messages[1]["id"]}
        await say(site, **again)
        await finished(site)
        assert (await title_of(site), len(provider.asked)) == ("Invoices of May", 1)


@postgresql_if_thorough
async def test_a_run_that_another_worker_takes_over_is_given_one_title(database, provider, tmp_path, monkeypatch):
    monkeypatch.setattr(manager, "GRACE", 0)
    url, (hang, called) = ready_database(database, tmp_path), hanging()
    provider.answers = [calls("list_files"), says("There is one.")]
    async with serving(tmp_path, database=url, tools=(hang,)) as site:
        await turn_on(site)
        asking = asyncio.create_task(site.post(QUESTION, model="vllm:any"))
        await asyncio.wait_for(called.wait(), 60)
    with suppress(aiohttp.ClientError):
        await asking
    async with serving(tmp_path, database=url, tools=(list_files,)) as other:
        await finished(other)
        assert (await title_of(other), len(provider.asked)) == ("Invoices of May", 1)


async def test_the_model_reads_a_bounded_text_and_names_of_files(provider, tmp_path):
    async with serving(tmp_path) as site:
        await turn_on(site)
        file = await upload(site.session, png(), "invoice.png")
        await say(site, "very " * MAX_TEXT + "long", files=[file])
        await finished(site)
    (asked,) = provider.asked
    content = asked["messages"][-1]["content"]
    assert isinstance(content, str)
    assert len(content) < 2 * MAX_TEXT + 100
    assert "[image 1: invoice.png]" in content


@pytest.mark.usefixtures("provider")
async def test_a_title_is_a_span_of_its_own_with_its_tokens(tmp_path, monkeypatch):
    exporter, tracers = InMemorySpanExporter(), TracerProvider()
    tracers.add_span_processor(SimpleSpanProcessor(exporter))
    monkeypatch.setattr(app, "make_telemetry", lambda: Telemetry(tracers.get_tracer("showandtell")))
    async with serving(tmp_path) as site:
        await turn_on(site)
        await say(site)
        await finished(site)
    (span,) = [one for one in exporter.get_finished_spans() if one.attributes.get("showandtell.purpose") == "title"]
    assert (span.name, span.parent, span.attributes["gen_ai.usage.input_tokens"]) == ("chat any", None, 1000)


@pytest.mark.usefixtures("provider")
async def test_the_tokens_of_a_title_are_counted(tmp_path):
    async with serving(tmp_path) as site:
        await turn_on(site)
        await say(site)
        await finished(site)
        counted = dict(re.findall(r'tokens_total\{direction="(\w+)".*} (\S+)', site.app.state.metrics.text().decode()))
    assert counted == {"input": "2000.0", "output": "140.0"}


async def test_a_user_who_shares_a_conversation_does_not_pay_for_its_title(provider, tmp_path):
    async with serving(tmp_path) as site:
        ann, bob = map(open_accounts(site), ("ann", "bob"))
        await turn_on(site, bob)
        await say(site, session=ann)
        (listed,) = await conversations_of(site, ann)
        await ask(ann, "PUT", f"/api/conversations/{listed['id']}/shares/bob", json={"right": "writer"})
        again = {"messages": [], "trigger": "regenerate-message"}
        await say(site, chat=listed["id"], session=bob, **again)
        await finished(site)
        assert (await title_of(site, ann), provider.asked) == (QUESTION, [])


async def test_the_inspector_gives_no_titles(tmp_path):
    async with serving(tmp_path) as site:
        await turn_on(site)
        await site.post("what is image 5?")
        await finished(site)
        assert await title_of(site) == "what is image 5?"
