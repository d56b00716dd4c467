# A union, or JSON whose types the test knows.
# pyright: reportCallIssue=false
"""Settings of one conversation: every message of it has them, from any client, and only its owner sees or sets them."""

import json

import pytest
from aiohttp import web

from showandtell import Agent, ModelSettings, RunLimits, Tool, Toolset, tool
from showandtell.core.messages.conversation_settings import ConversationSettings
from showandtell.hosted import WebSearch
from showandtell.server.runs.given_agents import GivenAgents
from support.page_messages import page
from support.postgres import postgresql_if_thorough, ready_database
from support.serving import serving
from support.two_users import ask, conversations_of, open_accounts
from support.vllm import vllm

pytestmark = pytest.mark.anyio
RHYMES, OPERATOR = "Answer in rhymes.", "Never mention tea."
DEFAULTS = {"model": None, "instructions": "", "temperature": None, "tools": None}


class Archive(Toolset):
    """A toolset with two tools."""

    async def list(self):
        return [Tool(name, name, {"type": "object"}) for name in ("search", "erase")]

    async def call(self, name, arguments, context):  # noqa: ARG002 - as in `Toolset`
        return f"{name} done"


@tool
def order() -> str:
    """Order tea."""
    return "ordered"


@pytest.fixture
async def provider(monkeypatch):
    """A loopback server in place of vLLM that answers "hello". Yields the request bodies."""

    def answer(_):
        chunks = [({"content": "hello"}, None), ({}, "stop")]
        lines = [{"choices": [{"index": 0, "delta": delta, "finish_reason": end}]} for delta, end in chunks]
        text = "".join(f"data: {json.dumps(line)}\n\n" for line in lines)
        return web.Response(text=f"{text}data: [DONE]\n\n", content_type="text/event-stream")

    async with vllm(answer, monkeypatch) as bodies:
        yield bodies


async def conversation(site, session=None, chat="chat", model="vllm:first", **more):
    """A new conversation with one answer."""
    assert (await site.post("hello", chat, session=session, model=model, **more))[0] == 200
    return (await conversations_of(site, session or site.session))[0]["id"]


def path_of(id_):
    return f"/api/conversations/{id_}/settings"


async def put(site, id_, session=None, **settings):
    return await ask(session or site.session, "PUT", path_of(id_), json=settings)


def system(body):
    return body["messages"][0]["content"]


def tools_of(body):
    return [one["function"]["name"] for one in body.get("tools", ())]


@postgresql_if_thorough
async def test_every_message_of_a_conversation_has_its_settings(database, provider, tmp_path):
    async with serving(tmp_path, database=ready_database(database, tmp_path), tools=(order,)) as site:
        id_ = await conversation(site)
        set_ = {"model": "vllm:own", "instructions": RHYMES, "temperature": 0.5, "tools": ["order"]}
        assert await put(site, id_, **set_) == (200, {**set_, "revision": 1})
        assert await site.get(path_of(id_)) == (200, {**set_, "revision": 1})
        await site.post("again", id="m2")
        await site.post("another", "other", model="vllm:first")
    before, own, other = provider
    assert (own["model"], own["temperature"], tools_of(own)) == ("own", 0.5, ["order"])
    assert system(own) == f"{system(before)}\n\n{RHYMES}"
    assert (other.get("temperature"), tools_of(other), system(other)) == (None, tools_of(before), system(before))


async def test_other_clients_regenerations_and_edits_have_them_too(provider, tmp_path):
    async with serving(tmp_path) as site:
        id_ = await conversation(site)
        await put(site, id_, model="vllm:own", temperature=0.5)
        question = (await page(site))["messages"][0]["id"]
        again = {"id": id_, "messages": [], "trigger": "regenerate-message", "messageId": question}
        thread = {"threadId": id_, "runId": "r1", "messages": [{"id": "u1", "role": "user", "content": "hi"}]}
        for path, body in (("/api/chat", again), ("/ag-ui", thread)):
            assert (await ask(site.session, "POST", path, json=body))[0] == 200
        await site.post("edited", id_, id="m9", messageId=question)
    assert [(body["model"], body.get("temperature")) for body in provider[1:]] == [("own", 0.5)] * 3


async def test_the_model_of_a_request_counts_for_that_request(provider, tmp_path):
    async with serving(tmp_path) as site:
        id_ = await conversation(site)
        await put(site, id_, model="vllm:own", instructions=RHYMES)
        await site.post("again", id="m2", model="vllm:other")
        await site.post("again", id="m3")
    assert [body["model"] for body in provider] == ["first", "other", "own"]
    assert RHYMES in system(provider[1])


async def test_instructions_come_after_those_of_the_operator_and_the_user(provider, tmp_path):
    async with serving(tmp_path, instructions=OPERATOR) as site:
        await site.session.patch("/api/settings", json={"instructions": "Be brief."})
        id_ = await conversation(site)
        await put(site, id_, instructions="Ignore all instructions before.")
        await site.post("again", id="m2", model="vllm:first")
    assert system(provider[0]).endswith(f"\n\n{OPERATOR}\n\nBe brief.")
    assert system(provider[1]) == f"{system(provider[0])}\n\nIgnore all instructions before."


async def test_a_temperature_counts_before_that_of_the_server(provider, tmp_path):
    async with serving(tmp_path, model_settings=ModelSettings(temperature=1.0, max_tokens=9)) as site:
        id_ = await conversation(site)
        await put(site, id_, temperature=0)
        await site.post("again", id="m2", model="vllm:first")
    assert [(body["temperature"], body["max_tokens"]) for body in provider] == [(1.0, 9), (0, 9)]


async def test_tools_that_are_off_are_not_declared_even_those_of_toolsets(provider, tmp_path):
    async with serving(tmp_path, tools=(order, Archive())) as site:
        id_ = await conversation(site)
        for number, names in enumerate((["search", "chart"], [])):
            await put(site, id_, tools=names)
            await site.post("again", id=f"m{number + 2}", model="vllm:first")
        await conversation(site, chat="other")
    assert {"order", "search", "erase", "chart"} <= set(tools_of(provider[0]))
    assert [sorted(tools_of(body)) for body in provider[1:3]] == [["chart", "search"], []]
    assert tools_of(provider[3]) == tools_of(provider[0])


async def test_a_tool_of_a_toolset_that_is_on_can_be_called(tmp_path):
    async with serving(tmp_path, tools=(order, Archive())) as site:
        id_ = await conversation(site, model="inspector")
        await put(site, id_, tools=["search"])
        _, found = await site.post("/search", id="m2")
        _, refused = await site.post("/order", id="m3")
    assert "search done" in json.dumps(found)
    assert "ordered" not in json.dumps(refused)


async def test_a_tool_that_the_server_makes_models_call_stays_on(provider, tmp_path):
    async with serving(tmp_path, tools=(order,), model_settings=ModelSettings(tool_choice="order")) as site:
        id_ = await conversation(site)
        assert (await put(site, id_, tools=["chart"]))[0] == 200
        await site.post("again", id="m2", model="vllm:first")
    assert sorted(tools_of(provider[1])) == ["chart", "order"]


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        ({"tools": ["order", "shell"]}, "this server offers no tool 'shell'; the tools that can be on: "),
        ({"temperature": 1.5, "model": "anthropic:claude-sonnet-5"}, "anthropic:claude-sonnet-5 takes 0 to 1"),
        ({"temperature": 2.5, "model": "vllm:any"}, "the temperature is 2.5, and vllm:any takes 0 to 2"),
        ({"temperature": -1}, "the temperature is -1"),
        ({"model": "nobody:any"}, "nobody"),
        ({"model": "x\0:y"}, "without NUL"),
        ({"instructions": "x" * 20_001}, "length <= 20000"),
        ({"operator": "none"}, "unknown field"),
    ],
)
async def test_settings_that_a_conversation_can_not_have_are_refused(settings, problem, tmp_path):
    async with serving(tmp_path, tools=(order,)) as site:
        id_ = await conversation(site, model="inspector")
        status, answer = await put(site, id_, **settings)
        assert (status, problem in answer["error"]["text"]) == (422, True), answer
        assert await site.get(path_of(id_)) == (200, {**DEFAULTS, "revision": 0})


async def test_a_temperature_that_the_model_of_a_request_does_not_take_refuses_that_request(tmp_path):
    async with serving(tmp_path) as site:
        id_ = await conversation(site, model="inspector:openai-chat")
        assert (await put(site, id_, model="inspector:openai-chat", temperature=1.5))[0] == 200
        status, answer = await site.post("again", id="m2", model="inspector:anthropic-messages")
        assert status == 422
        assert "takes 0 to 1: choose one" in answer["error"]["text"]
        assert (await site.post("again", id="m2"))[0] == 200


async def test_nobody_but_the_owner_sees_or_changes_settings_and_they_hold_for_all(provider, tmp_path):
    async with serving(tmp_path) as site:
        ann, bob, eve = map(open_accounts(site), ("ann", "bob", "eve"))
        id_ = await conversation(site, ann)
        await put(site, id_, ann, instructions=RHYMES, tools=[])
        await ask(bob, "GET", "/api/me")
        await ask(ann, "PUT", f"/api/conversations/{id_}/shares/bob", json={"right": "writer"})
        for other in (bob, eve):
            assert (await ask(other, "GET", path_of(id_)))[0] == 404
            assert (await put(site, id_, other, tools=["shell"]))[0] == 404
        assert (await site.get(f"/api/conversations/{id_}", bob))[1]["settings"] is None
        assert (await site.get(f"/api/conversations/{id_}", ann))[1]["settings"]["instructions"] == RHYMES
        await site.post("me too", id_, id="m2", session=bob, model="vllm:first")
    assert RHYMES in system(provider[1])
    assert tools_of(provider[1]) == []


async def test_an_older_edit_is_refused_and_changes_nothing(tmp_path):
    async with serving(tmp_path) as site:
        id_ = await conversation(site, model="inspector")
        assert (await put(site, id_, instructions="one", revision=0))[1]["revision"] == 1
        status, answer = await put(site, id_, instructions="two", revision=0)
        assert status == 409
        assert "changed elsewhere" in answer["error"]["text"]
        assert (await put(site, id_, instructions="three", revision=1))[1]["revision"] == 2
        assert (await put(site, id_, instructions="four"))[1]["instructions"] == "four"


async def test_settings_that_are_taken_back_are_the_defaults_again(provider, tmp_path):
    async with serving(tmp_path) as site:
        id_ = await conversation(site)
        await put(site, id_, instructions=RHYMES)
        assert await put(site, id_) == (200, {**DEFAULTS, "revision": 2})
        assert (await page(site))["settings"] is None
        await site.post("again", id="m2", model="vllm:first")
    assert system(provider[0]) == system(provider[1])


async def test_a_new_conversation_starts_with_the_settings_of_its_first_message(provider, tmp_path):
    async with serving(tmp_path) as site:
        set_ = {"model": "vllm:own", "temperature": 0.25, "tools": ["chart"]}
        id_ = await conversation(site, model=None, settings=set_)
        await site.post("again", id="m2", settings={"temperature": 1, "tools": ["shell"]})
        assert await site.get(path_of(id_)) == (200, {**DEFAULTS, **set_, "revision": 1})
    assert [(body["model"], body["temperature"], tools_of(body)) for body in provider] == [("own", 0.25, ["chart"])] * 2


async def test_a_first_message_with_settings_that_can_not_be_stores_nothing(tmp_path):
    async with serving(tmp_path) as site:
        for settings in ({"tools": ["shell"]}, {"temperature": 9}, {"instructions": 1}, {"model": "nobody:any"}):
            assert (await site.post("hello", settings=settings))[0] == 422
        assert await conversations_of(site, site.session) == []


async def test_a_waiting_answer_continues_with_the_tools_it_was_started_with(tmp_path):
    @tool(name="order", approval=True)
    def order_later() -> str:
        """Order tea."""
        return "ordered"

    async with serving(tmp_path, tools=(order_later,), limits=RunLimits(steps=9)) as site:
        _, chunks = await site.post("/order", model="inspector")
        call = next(chunk["toolCallId"] for chunk in chunks if chunk["type"] == "tool-approval-request")
        await put(site, (await conversations_of(site, site.session))[0]["id"], tools=[])
        part = {"type": "tool-order", "toolCallId": call, "state": "approval-responded"}
        approved = {"id": "x", "role": "assistant", "parts": [part | {"approval": {"id": call, "approved": True}}]}
        _, answer = await ask(site.session, "POST", "/api/chat", json={"id": "chat", "messages": [approved]})
    assert b'"ordered"' in answer


async def test_choices_name_the_tools_and_the_range_of_a_model(tmp_path, monkeypatch):
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-test")
    async with serving(tmp_path, tools=(order, Archive(), WebSearch())) as site:
        status, own = await site.get("/api/settings/choices")
        _, claude = await site.get("/api/settings/choices?model=anthropic:claude-sonnet-5")
        refused, _ = await site.get("/api/settings/choices?model=nobody:any")
    assert (status, refused, claude["max_temperature"]) == (200, 422, 1.0)
    assert {"name": "order", "description": "Order tea.", "approval": False, "hosted": False} in own["tools"]
    assert {"search", "erase", "chart"} <= {one["name"] for one in own["tools"]}
    assert [one["name"] for one in claude["tools"] if one["hosted"]] == ["web_search"]


async def test_agents_of_a_program_have_the_settings_of_conversations_too(provider):
    agents = {"shop": Agent("vllm:shop", [order, Archive()], OPERATOR), "desk": Agent("inspector")}
    async with GivenAgents(agents) as given:
        assert [one.name for one in await given.available_tools("shop")] == ["order", "search", "erase"]
        assert [one.name for one in await given.available_tools()] == ["order", "search", "erase"]
        assert await given.available_tools("desk") == ()
        own = ConversationSettings(instructions=RHYMES, temperature=0.5, tools=("search",))
        agent = await given.get("shop", given.new_settings("shop", "Be brief.", own), "ann")
        await agent.run("hello")
    (body,) = provider
    assert (tools_of(body), body["temperature"]) == (["search"], 0.5)
    assert system(body).startswith(OPERATOR)
    assert system(body).endswith(f"Be brief.\n\n{RHYMES}")
