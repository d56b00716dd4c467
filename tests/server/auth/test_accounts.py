"""Accounts in the complete server: bearer tokens, signing in at a real issuer, and separate data for each user."""

import asyncio
from contextlib import asynccontextmanager
from urllib.parse import urlsplit

import aiohttp
import pytest

from showandtell.server.auth.oidc import Oidc
from support.middleware_app import NOON, is_login_cookie, send
from support.oidc_issuer import CLIENT, CLIENT_SECRET, running_issuer
from support.serving import serving, texts

pytestmark = pytest.mark.anyio


@asynccontextmanager
async def accounts(folder):
    """A server with the accounts of an issuer, and the issuer."""
    async with running_issuer() as issuer:
        oidc = Oidc(issuer.url, CLIENT, CLIENT_SECRET)
        async with serving(folder, oidc=oidc, clock=lambda: NOON) as site:
            yield site, issuer


async def test_an_issuers_token_is_a_user_with_private_data(tmp_path):
    async with accounts(tmp_path) as (site, issuer):
        anna, ben = (site.as_user(issuer.token(sub=one)) for one in ("anna", "ben"))
        status, me = await site.get("/api/me", anna)
        assert (status, me["user"], me["mode"]) == (200, f"anna@{urlsplit(issuer.url).netloc}", "accounts")
        status, chunks = await site.post("Hello", session=anna)
        assert (status, bool(texts(chunks))) == (200, True)
        _, listing = await site.get("/api/conversations", anna)
        (conversation,) = (one["id"] for one in listing["conversations"])
        statuses = [(await site.get(f"/api/conversations/{conversation}", one))[0] for one in (anna, ben, site.session)]
        assert statuses == [200, 404, 401]


async def test_the_single_users_token_is_refused_if_there_are_accounts(tmp_path):
    async with accounts(tmp_path) as (site, _):
        token = site.server.keys.token
        assert (await site.get("/api/me", site.as_user(token)))[0] == 401
        async with site.session.get("/", params={"token": token}, allow_redirects=False) as response:
            assert (response.status, response.headers["location"]) == (303, "/login?to=%2F")


async def test_signing_in_at_the_issuer_gives_a_cookie(tmp_path):
    async with accounts(tmp_path) as (site, _), aiohttp.ClientSession() as browser:
        start = await send(site.app, "GET", "/login?to=/settings")
        async with browser.get(start["location"], allow_redirects=False) as response:
            back = urlsplit(response.headers["location"])
        callback = await send(site.app, "GET", f"{back.path}?{back.query}", {"cookie": start.cookie})
        assert (callback.status, callback["location"]) == (303, "/settings")
        cookie = next(one for one in callback.all("set-cookie") if is_login_cookie(one)).partition(";")[0]
        me = await send(site.app, "GET", "/api/me", {"cookie": cookie})
        assert me.status == 200
        assert b'"anna@' in me.body


async def test_two_users_with_the_same_chat_id_get_separate_conversations(tmp_path):
    async with accounts(tmp_path) as (site, issuer):
        both = [site.as_user(issuer.token(sub=one)) for one in ("anna", "ben")]
        responses = await asyncio.gather(*(site.post("Hello", "same", session=one) for one in both))
        assert [status for status, _ in responses] == [200, 200]
        ids = [chunks[0]["messageMetadata"]["conversation_id"] for _, chunks in responses]
        assert len(set(ids)) == 2


async def test_the_description_of_the_api_needs_a_sign_in_where_there_are_accounts(tmp_path):
    async with accounts(tmp_path / "many") as (site, issuer):
        anna = site.as_user(issuer.token(sub="anna"))
        assert [(await site.get("/api/openapi.json", session))[0] for session in (site.session, anna)] == [401, 200]
    async with serving(tmp_path / "one") as site:
        assert (await site.get("/api/openapi.json", site.as_user()))[0] == 200
