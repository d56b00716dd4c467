"""Keys of providers that are entered on the page: tested, stored encrypted, used at once, and never shown."""

import json
from contextlib import AsyncExitStack
from urllib.parse import urlsplit

import pytest

from fake_provider.server import FakeProvider
from fake_provider.urls import name_variable
from showandtell.core.wire.http import HttpResponse
from showandtell.network.address_guard import AddressGuard
from showandtell.network.transport import Transport
from showandtell.providers.uploads import UploadRequest
from showandtell.server.auth.oidc import Oidc
from showandtell.server.auth.stored_secrets import StoredSecrets, WrongSecret
from showandtell.server.provider_keys.provider_key import EVERYONE, ProviderKey
from showandtell.server.provider_keys.stored_keys import MAX_AGE, StoredKeys
from support.entered_keys import ANSWER, KEY, ask, put, status_of, with_accounts, with_provider
from support.middleware_app import NOON
from support.model_lists import key_of, serve_lists
from support.oidc_issuer import CLIENT, CLIENT_SECRET, running_issuer
from support.serving import serving

pytestmark = pytest.mark.anyio


async def test_a_key_from_the_page_is_used_by_the_next_message(tmp_path, monkeypatch):
    async with with_provider(tmp_path, monkeypatch) as (site, provider):
        assert "OPENAI_API_KEY" in await ask(site)
        assert (await status_of(site))["key"] == "none"
        assert await put(site, api_key=f" {KEY}\n") == (204, "")
        assert ANSWER in await ask(site)
        assert provider.ledger[-1].path.endswith("/responses")
        shown = await status_of(site)
        assert (shown["key"], shown["host"], shown["base_url"]) == ("everyone", provider.base("openai"), None)


async def test_a_deleted_key_is_not_used_again(tmp_path, monkeypatch):
    async with with_provider(tmp_path, monkeypatch) as (site, _):
        await put(site, api_key=KEY)
        await ask(site)
        async with site.session.delete("/api/providers/openai/key") as answer:
            assert answer.status == 204
        assert "OPENAI_API_KEY" in await ask(site, chat="other")


async def test_a_stored_key_counts_before_the_environments(tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-the-environment")
    async with with_provider(tmp_path, monkeypatch) as (site, _):
        assert (await status_of(site))["key"] == "environment"
        await put(site, api_key=KEY)
        assert ANSWER in await ask(site)


@pytest.mark.parametrize("provider", ["openai", "anthropic", "google", "openrouter", "mistral", "cohere", "azure"])
async def test_a_wrong_key_is_refused_when_it_is_saved(provider, tmp_path, monkeypatch):
    async with with_provider(tmp_path, monkeypatch) as (site, fake):
        base = {"base_url": fake.base("azure")} if provider == "azure" else {}
        status, text = await put(site, provider, api_key="sk-wrong-0123456789", **base)
        assert status == 422
        assert "Nothing was stored" in text
        assert "sk-wrong" not in text
        assert (await status_of(site, provider))["key"] == "none"


@pytest.mark.parametrize("provider", ["openai", "anthropic", "google", "openrouter", "mistral", "cohere", "azure"])
async def test_a_good_key_of_each_provider_is_stored(provider, tmp_path, monkeypatch):
    async with with_provider(tmp_path, monkeypatch) as (site, _):
        assert await put(site, provider, api_key=key_of(provider)) == (204, "")
        assert (await status_of(site, provider))["key"] == "everyone"


async def test_a_key_that_the_provider_repeats_in_its_error_is_not_shown(tmp_path, monkeypatch):
    def repeat(method, incoming):
        async def body():
            yield json.dumps({"error": {"message": f"Bad key: {incoming.headers['authorization']}"}}).encode()

        return HttpResponse(401, {"content-type": "application/json"}, body()) if method == "GET" else None

    async with with_provider(tmp_path, monkeypatch, handlers=[repeat]) as (site, _):
        status, text = await put(site, api_key="sk-repeated-0123456789")
        assert status == 422
        assert "Bad key" in text
        assert "sk-repeated" not in text


async def test_neither_a_response_nor_the_database_shows_a_key(tmp_path, monkeypatch):
    async with with_provider(tmp_path, monkeypatch) as (site, _):
        await put(site, api_key=KEY)
        await ask(site)
        for path in ("/api/providers", "/api/models", "/api/settings", "/api/conversations"):
            async with site.session.get(path) as answer:
                assert KEY not in await answer.text()
    stored = b"".join(path.read_bytes() for path in tmp_path.rglob("*.db*"))
    assert KEY.encode() not in stored
    assert b"showandtell_provider_keys" in stored


async def test_the_models_that_a_provider_lists_can_be_chosen(tmp_path, monkeypatch):
    async with with_provider(tmp_path, monkeypatch) as (site, _):
        for provider in ("openai", "anthropic", "google", "openrouter"):
            await put(site, provider, api_key=key_of(provider))
        _, found = await site.get("/api/models")
        models = {one["id"]: one for one in found["models"] if one["available"]}
        assert models["anthropic:claude-opus-4-8"]["name"] == "Claude Opus 4.8"
        assert "google:gemini-3-pro" in models
        assert not [name for name in models if "embed" in name or "transcribe" in name or "gpt-image" in name]
        seen = [models[f"openrouter:{name}"]["sees"]["image"] for name in ("openai/gpt-5", "deepseek/deepseek-v3.2")]
        assert seen == ["relocated", "noted"]


async def test_a_key_is_not_sent_to_a_base_url_that_the_environment_names_later(tmp_path, monkeypatch):
    async with with_provider(tmp_path, monkeypatch) as (site, provider):
        await put(site, api_key=KEY)
        monkeypatch.setenv(name_variable("openai"), provider.base("groq"))
        before = len(provider.ledger)
        assert "enter the key again" in await ask(site, "openai:gpt-5-mini")
        assert len(provider.ledger) == before
        assert "belongs to" in (await status_of(site))["problem"]


async def test_an_environments_key_is_not_sent_to_a_base_url_of_the_page(tmp_path, monkeypatch):
    monkeypatch.setenv("VLLM_API_KEY", "sk-of-the-environment")
    seen = []
    async with with_provider(tmp_path, monkeypatch, handlers=[lambda _, incoming: seen.append(incoming)]) as (
        site,
        one,
    ):
        await put(site, "vllm", base_url=one.base("vllm"))
        assert [incoming.headers.get("authorization") for incoming in seen] == [None]


@pytest.mark.parametrize(
    ("base", "problem"),
    [
        ("http://127.0.0.1:5432/v1", "https"),
        ("https://127.0.0.1:5432/v1", "not a public address"),
        ("https://[::1]/v1", "not a public address"),
        ("https://169.254.169.254/v1", "not a public address"),
        ("https://localhost:5432/v1", "inside the network"),
        ("https://inside.invalid/v1", "inside the network"),
        ("https://127.1:5432/v1", "can't be sent"),
        ("ftp://example.com", "https"),
        ("https://[::1", "can't be parsed"),
        ("https://example.com:99999/v1", "can't be parsed"),
        ("https://example.com/v1?key=1", "query"),
        ("https://user:secret@example.com/v1", "user name"),
    ],
)
async def test_a_base_url_inside_the_network_is_refused(base, problem, tmp_path, monkeypatch):
    async with with_provider(tmp_path, monkeypatch) as (site, _):
        status, text = await put(site, api_key=KEY, base_url=base)
        assert status == 422
        assert problem in text
        assert "secret" not in text


async def test_options_and_environment_name_hosts_inside_the_network(tmp_path, monkeypatch):
    monkeypatch.setenv("SHOWANDTELL_GROQ_BASE_URL", "http://gpu.lan:9000")
    async with FakeProvider(handlers=[serve_lists]) as provider, AsyncExitStack() as stack:
        hosts = (f"127.0.0.1:{provider.port}",)
        site = await stack.enter_async_context(serving(tmp_path, provider_hosts=hosts))
        assert await put(site, api_key=KEY, base_url=provider.base("openai")) == (204, "")
        assert ANSWER in await ask(site)
        assert (await status_of(site))["base_url"] == provider.base("openai")
        names = site.server.access.guard.names
        assert [names("localhost", 11434), names("gpu.lan", 9000), names("localhost", 5432)] == [True, True, False]


async def test_a_name_that_leads_into_the_network_later_is_refused():
    async def inside(_, __):
        return ["127.0.0.1"]

    async with Transport(environ={}, guard=AddressGuard((), inside)) as transport:
        with pytest.raises(OSError, match=r"rebinding\.example"):
            async with transport.send(UploadRequest("https://rebinding.example/v1/models", {}, method="GET")):
                pass


@pytest.mark.parametrize("named", [(), ("127.0.0.1:5432",)])
async def test_an_address_in_a_url_is_checked_when_it_is_connected_to(named):
    async with FakeProvider() as provider, Transport(environ={}, guard=AddressGuard(named)) as transport:
        with pytest.raises(OSError, match=r"127\.0\.0\.1"):
            async with transport.send(UploadRequest(f"{provider.url}/openai/v1/models", {}, method="GET")):
                pass
        assert provider.ledger == []


async def test_only_an_administrator_enters_keys_for_everyone(tmp_path, monkeypatch):
    async with with_accounts(tmp_path, monkeypatch) as (site, _, user):
        anna, boss = user("anna", groups=["staff"]), user("boss", groups=["staff", "admins"])
        assert (await put(site, session=anna, api_key=KEY))[0] == 403
        assert (await put(site, session=anna, api_key=KEY, use="own"))[0] == 403
        assert (await put(site, session=boss, api_key=KEY))[0] == 204
        assert ANSWER in await ask(site, session=anna)
        _, shown = await site.get("/api/providers", anna)
        assert (shown["may_set"], shown["may_set_base_url"]) == ([], False)


async def test_who_is_an_administrator_follows_the_claims_of_the_last_token(tmp_path, monkeypatch):
    async with with_accounts(tmp_path, monkeypatch) as (site, _, user):
        assert (await put(site, session=user("boss", groups="admins"), api_key=KEY))[0] == 204
        assert (await put(site, session=user("boss", groups=["staff"]), api_key=KEY))[0] == 403


async def test_an_option_names_administrators(tmp_path, monkeypatch):
    async with running_issuer() as issuer:
        admin = f"anna@{urlsplit(issuer.url).netloc}"
        oidc = Oidc(issuer.url, CLIENT, CLIENT_SECRET)
        async with with_provider(tmp_path, monkeypatch, oidc=oidc, clock=lambda: NOON, admins=(admin,)) as (site, _):
            anna, ben = (site.as_user(issuer.token(sub=name)) for name in ("anna", "ben"))
            assert (await put(site, session=anna, api_key=KEY))[0] == 204
            assert (await put(site, session=ben, api_key=KEY))[0] == 403


async def test_a_users_own_key_is_used_by_no_one_else(tmp_path, monkeypatch):
    async with with_accounts(tmp_path, monkeypatch, user_keys=True) as (site, provider, user):
        anna, ben = user("anna"), user("ben")
        assert (await put(site, session=anna, api_key=KEY, use="own"))[0] == 204
        assert ANSWER in await ask(site, session=anna)
        assert "OPENAI_API_KEY" in await ask(site, session=ben)
        assert [(await status_of(site, session=one))["key"] for one in (anna, ben)] == ["own", "none"]
        body = {"api_key": KEY, "use": "own", "base_url": provider.base("openai")}
        assert (await put(site, session=anna, **body))[0] == 403


async def test_a_new_secret_reads_the_keys_of_a_previous_one_and_encrypts_them_again(tmp_path, monkeypatch):
    async with with_provider(tmp_path, monkeypatch) as (site, _):
        await put(site, api_key=KEY)
    monkeypatch.setenv("SHOWANDTELL_PREVIOUS_SECRETS", "s" * 32)
    async with with_provider(tmp_path, monkeypatch, secret=b"n" * 32) as (site, _):
        keys = site.server.access.keys
        assert (await keys.of("local"))["openai"].key.api_key == KEY
    monkeypatch.delenv("SHOWANDTELL_PREVIOUS_SECRETS")
    async with with_provider(tmp_path, monkeypatch, secret=b"n" * 32) as (site, _):
        assert (await site.server.access.keys.of("local"))["openai"].key.api_key == KEY


async def test_with_a_lost_secret_the_page_asks_for_the_key_again(tmp_path, monkeypatch):
    async with with_provider(tmp_path, monkeypatch) as (site, _):
        await put(site, api_key=KEY)
    async with with_provider(tmp_path, monkeypatch, secret=b"n" * 32) as (site, _):
        assert "enter it again" in await ask(site)
        assert "enter it again" in (await status_of(site))["problem"]
        assert (await put(site, api_key=KEY))[0] == 204
        assert ANSWER in await ask(site, chat="other")


def test_an_encrypted_text_is_of_no_use_in_another_place():
    secrets = StoredSecrets(b"s" * 32)
    encrypted = secrets.encrypt("a key", "provider key of anna")
    assert secrets.decrypt(encrypted, "provider key of anna") == "a key"
    assert encrypted != secrets.encrypt("a key", "provider key of anna")
    for other, text in ((secrets, encrypted), (StoredSecrets(b"n" * 32), encrypted), (secrets, encrypted[:-4])):
        with pytest.raises(WrongSecret):
            other.decrypt(text, "provider key of ben" if other is secrets else "provider key of anna")


async def test_another_worker_sees_a_change_within_seconds(tmp_path, monkeypatch):
    now = [0.0]
    async with with_provider(tmp_path, monkeypatch) as (site, _):
        database, secrets = site.store.database, StoredSecrets(b"s" * 32)
        one, other = (StoredKeys(database, secrets, lambda: now[0]) for _ in range(2))
        assert await other.of("") == {}
        await one.save(EVERYONE, "openai", ProviderKey(KEY, None, "https://api.openai.com/v1"))
        assert list(await one.of("")) == ["openai"]
        now[0] = MAX_AGE
        assert list(await other.of("")) == ["openai"]
