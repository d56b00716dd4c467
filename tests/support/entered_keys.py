"""Servers without keys, whose environment names the fake provider's hosts, and what people do with keys there."""

from contextlib import asynccontextmanager

from fake_provider.server import FakeProvider
from fake_provider.urls import BASES, name_variable
from showandtell.server.auth.oidc import Oidc
from support.middleware_app import NOON
from support.model_lists import key_of, serve_lists
from support.oidc_issuer import CLIENT, CLIENT_SECRET, running_issuer
from support.serving import serving, texts

KEY = key_of("openai")
ANSWER = "I am the inspector"


@asynccontextmanager
async def with_provider(folder, monkeypatch, *, handlers=(serve_lists,), **settings):
    """A server without keys whose environment names the fake provider's hosts."""
    async with FakeProvider(handlers=handlers) as provider:
        for host in BASES:
            monkeypatch.setenv(name_variable(host), provider.base(host))
        async with serving(folder, **settings) as site:
            yield site, provider


async def put(site, provider="openai", session=None, **body):
    async with (session or site.session).put(f"/api/providers/{provider}/key", json=body) as answer:
        return answer.status, await answer.text()


async def ask(site, model="openai:gpt-5", session=None, chat="chat"):
    """The text of a model's answer, or the error."""
    status, chunks = await site.post("Hello", chat, session=session, model=model)
    return texts(chunks) if status == 200 else chunks["error"]["text"]


async def status_of(site, provider="openai", session=None):
    _, found = await site.get("/api/providers", session)
    return next(one for one in found["providers"] if one["id"] == provider)


@asynccontextmanager
async def with_accounts(folder, monkeypatch, **settings):
    async with running_issuer() as issuer:
        oidc = Oidc(issuer.url, CLIENT, CLIENT_SECRET, admin_claim=("groups", "admins"))
        async with with_provider(folder, monkeypatch, oidc=oidc, clock=lambda: NOON, **settings) as (site, provider):
            yield site, provider, lambda name, **claims: site.as_user(issuer.token(sub=name, **claims))
