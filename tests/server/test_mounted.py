"""The chat in other programs: below any prefix, with their users, opened by nobody but itself."""

import asyncio
import logging

import aiohttp
import pytest
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.routing import Mount
from starlette.testclient import TestClient

from showandtell import Agent, File, Store, tool
from showandtell.asgi import chat_app
from showandtell.core.messages.file_json import content_path
from showandtell.errors import BadInput
from showandtell.server.auth import host_user
from support.fixtures import png
from support.hosts import FRAMEWORKS, SECRET, ask, fetch, header_user, hosted, in_fastapi, in_starlette
from support.postgres import copy_tables
from support.serving import chat_body, running, texts

pytestmark = pytest.mark.anyio


@pytest.fixture(params=FRAMEWORKS)
def framework(request):
    return FRAMEWORKS[request.param]


async def test_a_message_is_answered_in_every_framework(framework, tmp_path):
    async with hosted(framework, tmp_path) as session:
        status, chunks = await ask(session, "hello")
        _, listed = await fetch(session, "/assistant/api/conversations")
    assert status == 200
    assert texts(chunks)
    assert [item["title"] for item in listed["conversations"]] == ["hello"]


async def test_addresses_of_files_work_as_they_are_given(framework, tmp_path):
    picture = png()
    async with hosted(framework, tmp_path) as session:
        _, file = await fetch(session, "/assistant/api/attachments?name=red.png", "PUT", data=picture)
        del session.headers["x-user"]  # the address is enough
        assert await fetch(session, file["url"]) == (200, picture)
        assert (await fetch(session, file["url"].partition("?")[0]))[0] == 401
        assert (await fetch(session, file["url"].replace("sig=", "sig=x")))[0] == 401


async def test_addresses_for_an_own_route_are_served_by_the_chat(tmp_path):
    async with Store.at(tmp_path) as store:
        chat = chat_app(store, Agent("inspector"), user=header_user, secret=SECRET)
        with pytest.raises(BadInput, match="public_url"):
            await chat.link_for("ann")
        picture = png()
        upload = await store.uploads("ann").add(File.from_bytes(picture, name="red.png"))
        async with running(chat) as url:
            link = await chat.link_for("ann", f"{url}/")
            async with (
                aiohttp.ClientSession() as session,
                session.get(link(content_path(upload.id, upload.name))) as got,
            ):
                assert (got.status, await got.read()) == (200, picture)


async def test_the_page_loads_its_assets_below_the_prefix(framework, tmp_path):
    async with hosted(framework, tmp_path) as session:
        _, page = await fetch(session, "/assistant/", headers={"accept": "text/html"})
        assert b'name="prefix" content="/assistant"' in page
        script = page.partition(b'src="')[2].partition(b'"')[0].decode()
        assert script.startswith("/assistant/assets/")
        assert (await fetch(session, script))[0] == 200


async def test_nobody_without_a_user_gets_anything(framework, tmp_path):
    async with hosted(framework, tmp_path) as session:
        del session.headers["x-user"]
        for path in ("me", "conversations", "models", "settings", "openapi.json"):
            assert (await fetch(session, f"/assistant/api/{path}"))[0] == 401
        assert (await ask(session, "hello"))[0] == 401


async def test_nothing_of_one_user_is_seen_by_another(tmp_path):
    async with hosted(in_fastapi, tmp_path) as session:
        _, chunks = await ask(session, "hello")
        path = f"/assistant/api/conversations/{chunks[0]['messageMetadata']['conversation_id']}"
        assert (await fetch(session, path))[0] == 200
        assert (await fetch(session, path, headers={"x-user": "bob"}))[0] == 404
        assert (await ask(session, "mine", path.rpartition("/")[2], headers={"x-user": "bob"}))[0] == 404


async def test_users_choose_among_the_agents_of_the_program(tmp_path):
    agents = {"short": Agent("inspector", instructions="Be brief."), "long": Agent("inspector:gemini")}
    async with hosted(in_starlette, tmp_path, agents) as session:
        _, models = await fetch(session, "/assistant/api/models")
        assert (models["default"], [model["id"] for model in models["models"]]) == ("short", ["short", "long"])
        body = {**chat_body("hello"), "model": "long"}
        assert (await fetch(session, "/assistant/api/chat", "POST", json=body))[0] == 200
        status, error = await fetch(
            session, "/assistant/api/chat", "POST", json=body | {"id": "2", "model": "openai:gpt-5"}
        )
        assert status == 422
        assert "short or long" in error["error"]["text"]


async def test_two_apps_share_one_store_in_one_program(tmp_path):
    copy_tables(tmp_path / "showandtell.db")
    store = Store.at(tmp_path)
    settings = {"user": header_user, "secret": SECRET}
    apps = [chat_app(store, Agent("inspector"), **settings) for _ in range(2)]

    def framework(*_, **__):
        return Starlette(routes=[Mount("/one", apps[0]), Mount("/two", apps[1])])

    async with hosted(framework, tmp_path, store=store) as session, store:
        first, second = await asyncio.gather(ask(session, "a", "a", "/one"), ask(session, "b", "b", "/two"))
        assert (first[0], second[0]) == (200, 200)
        _, listed = await fetch(session, "/one/api/conversations")
        assert {item["title"] for item in listed["conversations"]} == {"a", "b"}
        assert len(await store.list("ann")) == 2


@pytest.mark.parametrize("sent", ["/assistant/api/me", "/assistant//api/me", "/api/me"])
@pytest.mark.parametrize("root_path", ["/assistant", "/assistant/", "//assistant", "/lies", ""])
async def test_paths_are_found_however_the_host_writes_the_prefix(sent, root_path, tmp_path):
    def wrap(app):
        async def rewrite(scope, receive, send):
            await app({**scope, "root_path": root_path} if scope["type"] == "http" else scope, receive, send)

        return rewrite

    async with hosted(chat_app, tmp_path, wrap=wrap, public_url="https://x.example/assistant/") as session:
        status, me = await fetch(session, sent)
    assert (status, me["user"]) == (200, "ann")


async def test_a_public_url_stands_before_every_address(tmp_path):
    async with hosted(chat_app, tmp_path, public_url="https://chat.example/help/me") as session:
        _, file = await fetch(session, "/api/attachments?name=red.png", "PUT", data=png())
        assert file["url"].startswith("https://chat.example/help/me/api/attachments/att_")
        here = file["url"].removeprefix("https://chat.example/help/me")
        assert (await fetch(session, here, headers={"x-user": ""}))[0] == 200  # the proxy takes its prefix off
        _, page = await fetch(session, "/", headers={"accept": "text/html"})
        assert b'src="/help/me/assets/' in page


def raising(_):
    raise RuntimeError("the table of users is gone, and so is secret-123")


async def slow(_):
    await asyncio.sleep(60)


@pytest.mark.parametrize("user", [raising, slow, lambda _: 7, lambda _: "", lambda _: "a\0b"])
async def test_a_user_function_that_fails_says_so_in_the_log_alone(user, tmp_path, monkeypatch, caplog):
    monkeypatch.setattr(host_user, "SECONDS", 0.05)
    async with hosted(in_fastapi, tmp_path, user=user) as session:
        with caplog.at_level(logging.ERROR, "showandtell"):
            status, error = await fetch(session, "/assistant/api/me")
    assert (status, error["error"]["kind"]) == (503, "LoginUnavailable")
    assert "secret-123" not in str(error)
    assert error["error"]["text"].rpartition("(")[2].removesuffix(" in the log)") in caplog.text


@pytest.mark.parametrize("status", [401, 403])
async def test_a_user_function_may_raise_as_dependencies_do(status, tmp_path):
    def user(_):
        raise HTTPException(status)

    async with hosted(in_fastapi, tmp_path, user=user) as session:
        assert (await fetch(session, "/assistant/api/me"))[0] == 401


def test_each_event_loop_has_a_server_of_its_own(tmp_path):
    copy_tables(tmp_path / "showandtell.db")
    app = in_fastapi(Store.at(tmp_path), Agent("inspector"), user=header_user, secret=SECRET)
    client = TestClient(app, headers={"x-user": "ann"})  # outside of `with`, an event loop for each request
    assert client.post("/assistant/api/chat", json=chat_body("hello")).status_code == 200
    assert len(client.get("/assistant/api/conversations").json()["conversations"]) == 1


async def test_a_store_of_another_event_loop_is_refused(tmp_path):
    async with Store.at(tmp_path) as store:
        with pytest.raises(BadInput, match="another event loop"):
            await asyncio.to_thread(lambda: asyncio.run(store.__aenter__()))


@pytest.mark.parametrize("origin", ["*", "https://*.example.com", "https://app.example.com/", "app.example.com"])
def test_origins_are_exact(origin, tmp_path):
    with pytest.raises(BadInput, match="is not an origin"):
        chat_app(Store.at(tmp_path), Agent("inspector"), user=header_user, secret=SECRET, origins=(origin,))


def test_a_chat_needs_users_and_agents(tmp_path):
    with pytest.raises(BadInput, match="user is 'ann': give a function that returns the id"):
        chat_app(Store.at(tmp_path), Agent("inspector"), user="ann", secret=SECRET)
    with pytest.raises(BadInput, match="there is no agent"):
        chat_app(Store.at(tmp_path), {}, user=header_user, secret=SECRET)


def test_the_end_of_the_event_loop_leaves_runs_to_the_next_program(tmp_path):
    began = []

    @tool(idempotent=True)
    async def wait_once() -> str:
        """Wait for ever, but only once."""
        began.append(True)
        if len(began) == 1:
            await asyncio.Event().wait()
        return "done"

    async def begin():
        async with (
            hosted(in_starlette, tmp_path, agent) as session,
            session.post("/assistant/api/chat", json=chat_body("/wait_once")) as answer,
        ):
            while not began:
                await answer.content.readany()

    async def go_on():
        async with hosted(in_starlette, tmp_path, agent) as session:
            await fetch(session, "/assistant/api/chat/chat/stream")  # nothing, if the run has ended already
            _, listed = await fetch(session, "/assistant/api/conversations")
            (conversation,) = listed["conversations"]
            _, found = await fetch(session, f"/assistant/api/conversations/{conversation['id']}")
            return found["messages"]

    agent = Agent("inspector", [wait_once])
    asyncio.run(begin())
    messages = asyncio.run(go_on())
    assert messages[-1]["metadata"]["status"] == "complete"
    assert len(began) == 2


@pytest.mark.parametrize(
    ("origin", "allowed"), [("https://app.example", "https://app.example"), ("https://x.example", None)]
)
async def test_pages_of_other_origins_may_show_what_a_signed_address_names(origin, allowed, tmp_path):
    async with hosted(in_fastapi, tmp_path, origins=("https://app.example",)) as session:
        _, file = await fetch(session, "/assistant/api/attachments?name=red.png", "PUT", data=png())
        for url, policy, reader in (
            (file["url"], "cross-origin", allowed),
            (file["url"].partition("?")[0], "same-origin", None),
        ):
            async with session.get(url, headers={"origin": origin}) as answer:
                assert answer.headers["cross-origin-resource-policy"] == policy
                assert answer.headers.get("access-control-allow-origin") == reader
