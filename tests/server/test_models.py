"""The model catalog: keys in the environment, local servers, and how each model gets files."""

import asyncio
import json
from contextlib import asynccontextmanager
from typing import get_args

import pytest
from aiohttp import web
from msgspec.structs import replace

from showandtell.agent.model_knowledge import ModelKnowledge
from showandtell.core.capabilities.matrix import NO_OVERRIDES
from showandtell.core.capabilities.resolve import resolve
from showandtell.core.media_types.kinds import Kind
from showandtell.core.messages.attachments import Origin
from showandtell.providers.connect import connect
from showandtell.providers.hosts import ROWS, needs_no_key
from showandtell.providers.model_lists import MAX_LIST, ListedModel
from showandtell.server.model_catalog import CACHE_SECONDS, MEDIA_TYPES, ModelCatalog, list_entries
from support.builders import attachment, planned, shown, user, view

pytestmark = pytest.mark.anyio

NOWHERE = "http://127.0.0.1:9"
#: An environment that reaches no real server on this machine.
QUIET = {f"SHOWANDTELL_{name.upper()}_BASE_URL": NOWHERE for name in ROWS if needs_no_key(name)}


@asynccontextmanager
async def answering(answer):
    """A loopback server with this response. Yields its URL and the requests."""
    asked = []

    async def handle(request):
        asked.append(request)
        return await answer(request)

    app = web.Application()
    app.router.add_route("*", "/{path:.*}", handle)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}", asked
    finally:
        await runner.cleanup()


def listing(*names):
    async def answer(_):
        return web.json_response({"object": "list", "data": [{"id": name, "object": "model"} for name in names]})

    return answer


def by_id(choices):
    return {one.id: one for one in choices}


async def test_without_keys_only_the_inspector_is_available_and_others_say_what_to_set():
    found = list(list_entries({}, QUIET))
    assert {one.provider for one in found if one.available} == {"inspector"}
    why = {one.provider: one.why for one in found}
    assert "ANTHROPIC_API_KEY" in why["anthropic"]
    assert "AWS_REGION" in why["bedrock"]
    assert "GOOGLE_CLOUD_PROJECT" in why["vertex"]
    assert "AZURE_OPENAI_API_KEY" in why["azure"]
    assert "SHOWANDTELL_OLLAMA_BASE_URL" in why["ollama"]


async def test_a_key_makes_the_models_of_its_provider_available():
    found = by_id(list_entries({}, {**QUIET, "ANTHROPIC_API_KEY": "k", "AWS_REGION": "us-east-1"}))
    assert found["anthropic:claude-sonnet-4-5"].available
    assert {one.provider for one in found.values() if one.available} == {
        "anthropic",
        "anthropic-bedrock",
        "bedrock",
        "inspector",
    }


async def test_every_listed_model_has_a_unique_usable_name():
    found = list(list_entries({}, QUIET))
    assert len(by_id(found)) == len(found)
    for one in found:
        assert resolve(one.id).name == one.id
        assert set(one.sees) == {"image", "document", "audio", "video"}
        assert set(one.takes) == set(get_args(Kind))
        assert "*" not in one.name


async def test_an_entry_has_the_window_of_its_list_or_else_of_the_table():
    listed = ListedModel("claude-sonnet-4-5", window=123_000, released="2025-09-29")
    (found, *_) = list_entries({"anthropic": [listed]}, {**QUIET, "ANTHROPIC_API_KEY": "k"})
    assert (found.id, found.context, found.released) == ("anthropic:claude-sonnet-4-5", 123_000, "2025-09-29")
    table = by_id(list_entries({}, QUIET))["anthropic:claude-sonnet-4-5"]
    assert (table.context, table.released) == (200_000, None)


async def test_what_a_model_sees_follows_the_table_and_vision_checks():
    found = by_id(list_entries({}, QUIET))
    assert found["anthropic:claude-sonnet-4-5"].sees == {
        "image": "native",
        "document": "native",
        "audio": "converted",
        "video": "converted",
    }
    assert found["openai-chat:gpt-5-mini"].sees["image"] == "relocated"
    blind = {"anthropic:*": resolve("openai-chat:gpt-5-mini").cells}
    assert by_id(list_entries({}, QUIET, blind))["anthropic:claude-sonnet-4-5"].sees["image"] == "relocated"
    assert NO_OVERRIDES == {}


async def test_a_model_that_turned_out_to_take_no_images_is_listed_so():
    environ = {**QUIET, "ANTHROPIC_API_KEY": "k"}
    target = resolve("anthropic:claude-sonnet-4-5")
    knowledge = ModelKnowledge(target, lambda: connect(target, environ=environ))
    await knowledge.learn(["image"], "it said so", takes=False)
    found = by_id(list_entries({}, environ))[target.name]
    assert (found.sees["image"], found.takes["image"], found.takes["document"]) == ("noted", "refused", "native")


async def test_a_model_without_eyes_gets_words_if_the_server_has_a_describer():
    described = await ModelCatalog(QUIET, describer="openai:gpt-5").entries()
    takes = by_id(described)["cohere:command-a-03-2025"].takes
    assert (takes["image"], takes["document"], takes["other"]) == ("words", "words", "for_tools")
    assert by_id(described)["anthropic:claude-sonnet-4-5"].takes["image"] == "native"


async def test_what_a_model_takes_follows_the_table_and_vision_checks():
    claude = {"image": "native", "document": "native", "audio": "words", "video": "converted"}
    found = by_id(list_entries({}, QUIET))
    assert found["anthropic:claude-sonnet-4-5"].takes == {**claude, "text": "words", "other": "for_tools"}
    assert found["cohere:command-a-03-2025"].takes["image"] == "refused"
    nothing = {"anthropic:*": [replace(one, verdict="rejects") for one in resolve("anthropic:claude-sonnet-4-5").cells]}
    words = dict.fromkeys(("document", "audio", "video", "text"), "words")
    left = by_id(list_entries({}, QUIET, nothing))["anthropic:claude-sonnet-4-5"].takes
    assert left == {**words, "image": "refused", "other": "for_tools"}


@pytest.mark.parametrize("kind", get_args(Kind))
async def test_the_catalog_and_the_planner_agree_on_refused_files(kind):
    sent = view(user(shown(1)), files=[attachment(1, MEDIA_TYPES[kind], origin=Origin("user"))])
    for one in list_entries({}, QUIET):
        made = planned(sent, one.id, {})
        assert ("refused" in {receipt.delivery for receipt in made.receipts}) == (one.takes[kind] == "refused"), one.id
        assert bool(made.wants) == (one.takes[kind] in {"converted", "words"}), one.id


async def test_running_servers_are_listed_with_their_own_models():
    async with answering(listing("qwen3-vl:8b", "llava", "llava")) as (url, asked):
        environ = {**QUIET, "SHOWANDTELL_OLLAMA_BASE_URL": url, "OLLAMA_API_KEY": "secret"}
        found = await ModelCatalog(environ).entries()
    assert asked[0].path == "/v1/models"
    assert asked[0].headers["authorization"] == "Bearer secret"
    assert [one.name for one in found if one.provider == "ollama" and one.available] == ["qwen3-vl:8b", "llava"]


async def hang(_):
    await asyncio.Event().wait()


async def endless(request):
    answer = web.StreamResponse()
    await answer.prepare(request)
    for _ in range(2 * MAX_LIST // 10_000):
        await answer.write(b" " * 10_000)
    return answer


STRANGE = {
    "an error": lambda _: web.Response(status=500),
    "a page": lambda _: web.Response(text="<html>", content_type="text/html"),
    "another list": lambda _: web.json_response([1, 2]),
    "names that are none": lambda _: web.json_response(
        {"data": [{"id": 3}, {"id": "a b"}, {"id": "x" * 300}, {"id": ""}]}
    ),
    "no list": lambda _: web.json_response({"data": 7}),
    "half a text": lambda _: web.Response(body=b'{"data": [{"id": "\xff"}]}'),
    "elsewhere": lambda _: web.Response(status=302, headers={"location": NOWHERE}),
}


@pytest.mark.parametrize("strange", STRANGE)
async def test_an_invalid_list_of_models_is_ignored(strange):
    async def answer(request):
        return STRANGE[strange](request)

    async with answering(answer) as (url, _):
        found = await ModelCatalog({**QUIET, "SHOWANDTELL_VLLM_BASE_URL": url}).entries()
    assert [one.available for one in found if one.provider == "vllm"] == [False]


@pytest.mark.parametrize("slow", [hang, endless])
async def test_a_hanging_or_endless_server_does_not_block(slow):
    async with answering(slow) as (url, _), asyncio.timeout(60):
        found = await ModelCatalog(dict.fromkeys(QUIET, url)).entries()
    assert {one.provider for one in found if one.available} == {"inspector"}


async def test_the_catalog_is_fetched_once_for_concurrent_callers_and_expires():
    now = [0.0]
    async with answering(listing("llava")) as (url, asked):
        catalog = ModelCatalog({**QUIET, "SHOWANDTELL_LMSTUDIO_BASE_URL": url}, lambda: now[0])
        first, *others = await asyncio.gather(*(catalog.entries() for _ in range(5)))
        assert (len(asked), all(one is first for one in others)) == (1, True)
        now[0] = CACHE_SECONDS - 1
        assert await catalog.entries() is first
        now[0] = CACHE_SECONDS
        assert await catalog.entries() is not first
        assert len(asked) == 2
    available = [one.available for one in first]
    assert available == sorted(available, reverse=True)


async def test_the_catalog_contains_no_key():
    keys = dict.fromkeys(("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GROQ_API_KEY", "VLLM_API_KEY"), "sk-very-secret")
    found = await ModelCatalog({**QUIET, **keys}).entries()
    assert "very-secret" not in json.dumps([str(one) for one in found])
