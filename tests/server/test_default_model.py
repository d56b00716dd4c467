"""The model of a new conversation: a key is enough, and the last real model that a person used stays theirs."""

import pytest

from showandtell import Agent
from showandtell.core.capabilities.default_models import CURRENT_MODELS
from support.entered_keys import ANSWER, KEY, ask, put, with_accounts, with_provider
from support.model_lists import key_of
from support.serving import serving

pytestmark = pytest.mark.anyio
MODELS = {row.provider: row.name for row in CURRENT_MODELS}
INSPECTOR = "inspector:anthropic-messages"


async def default_of(site, session=None):
    _, found = await site.get("/api/models", session)
    return found["default"]


async def test_a_key_of_the_page_is_enough_until_it_is_deleted(tmp_path, monkeypatch):
    async with with_provider(tmp_path, monkeypatch) as (site, provider):
        assert await default_of(site) == INSPECTOR
        await put(site, api_key=KEY)
        assert await default_of(site) == MODELS["openai"]
        assert ANSWER in await ask(site, None)
        assert provider.ledger[-1].path.endswith("/responses")
        async with site.session.delete("/api/providers/openai/key"):
            pass
        assert await default_of(site) == INSPECTOR


async def test_a_key_in_the_environment_is_enough(tmp_path, monkeypatch):
    monkeypatch.setenv("MISTRAL_API_KEY", key_of("mistral"))
    async with with_provider(tmp_path, monkeypatch) as (site, provider):
        assert await default_of(site) == MODELS["mistral"]
        assert ANSWER in await ask(site, None)
        assert provider.ledger[-1].path.startswith("/mistral")


async def test_a_new_conversation_has_the_real_model_that_was_used_last(tmp_path, monkeypatch):
    async with with_provider(tmp_path, monkeypatch) as (site, _):
        await put(site, api_key=KEY)
        await ask(site, "openai:gpt-5-mini")
        assert await default_of(site) == "openai:gpt-5-mini"
        await ask(site, "inspector", chat="second")
        assert await default_of(site) == "openai:gpt-5-mini"
    async with with_provider(tmp_path, monkeypatch) as (site, _):
        assert await default_of(site) == "openai:gpt-5-mini"


async def test_the_setting_of_a_person_and_of_the_server_count_first(tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    async with with_provider(tmp_path, monkeypatch, default_model="vllm:mine") as (site, _):
        await ask(site, "openai:gpt-5-mini")
        assert await default_of(site) == "vllm:mine"
        async with site.session.patch("/api/settings", json={"model": "inspector"}) as answer:
            assert answer.status == 200
        assert await default_of(site) == INSPECTOR


async def test_a_persons_own_key_and_last_model_are_theirs_alone(tmp_path, monkeypatch):
    async with with_accounts(tmp_path, monkeypatch, user_keys=True) as (site, _, user):
        anna, ben = user("anna"), user("ben")
        await put(site, session=anna, api_key=KEY, use="own")
        assert [await default_of(site, one) for one in (anna, ben)] == [MODELS["openai"], INSPECTOR]
        await ask(site, "openai:gpt-5-mini", session=anna)
        assert [await default_of(site, one) for one in (anna, ben)] == ["openai:gpt-5-mini", INSPECTOR]


async def test_a_key_that_cant_be_read_doesnt_count(tmp_path, monkeypatch):
    async with with_provider(tmp_path, monkeypatch) as (site, _):
        await put(site, api_key=KEY)
    async with with_provider(tmp_path, monkeypatch, secret=b"n" * 32) as (site, _):
        assert await default_of(site) == INSPECTOR


async def test_of_a_programs_own_agents_the_one_used_last_comes_again(tmp_path):
    agents = {"brief": Agent("vllm:mine"), "inspecting": Agent("inspector")}
    async with serving(tmp_path, agents=agents) as site:
        assert await default_of(site) == "brief"
        assert await site.server.catalog.choose(None, "local", "inspecting") == "inspecting"
        assert await site.server.catalog.choose("gone", "local", "gone") == "brief"
