"""Accounts, wired into the whole server: by token, by signing in at a real issuer, and each user's own alone."""

import asyncio
from contextlib import asynccontextmanager
from urllib.parse import urlsplit

import aiohttp
import pytest

from showandtell.server.auth.oidc import Oidc
from support.doors import NOON, is_entry, send
from support.issuer import CLIENT, CLIENT_SECRET, issuing
from support.serving import serving, texts

pytestmark = pytest.mark.anyio


@asynccontextmanager
async def accounts(folder):
    """A server whose users are those of an issuer, and the issuer."""
    async with issuing() as issuer:
        oidc = Oidc(issuer.url, CLIENT, CLIENT_SECRET)
        async with serving(folder, oidc=oidc, clock=lambda: NOON) as house:
            yield house, issuer


async def test_a_token_of_the_issuer_is_a_user_and_others_find_nothing_of_theirs(tmp_path):
    async with accounts(tmp_path) as (house, issuer):
        anna, ben = (house.as_user(issuer.token(sub=one)) for one in ("anna", "ben"))
        status, me = await house.get("/api/me", anna)
        assert (status, me["user"], me["mode"]) == (200, f"anna@{urlsplit(issuer.url).netloc}", "accounts")
        status, chunks = await house.post("Hello", session=anna)
        assert (status, bool(texts(chunks))) == (200, True)
        _, found = await house.get("/api/conversations", anna)
        (conversation,) = (one["id"] for one in found["conversations"])
        asked = [(await house.get(f"/api/conversations/{conversation}", one))[0] for one in (anna, ben, house.session)]
        assert asked == [200, 404, 401]


async def test_the_single_users_token_opens_nothing_where_there_are_accounts(tmp_path):
    async with accounts(tmp_path) as (house, _):
        token = house.server.keys.token
        assert (await house.get("/api/me", house.as_user(token)))[0] == 401
        async with house.session.get("/", params={"token": token}, allow_redirects=False) as answer:
            assert (answer.status, answer.headers["location"]) == (303, "/login?to=%2F")


async def test_a_person_signs_in_at_the_issuer_and_comes_back_with_a_cookie(tmp_path):
    async with accounts(tmp_path) as (house, _), aiohttp.ClientSession() as browser:
        begun = await send(house.app, "GET", "/login?to=/settings")
        async with browser.get(begun["location"], allow_redirects=False) as answer:
            back = urlsplit(answer.headers["location"])
        came = await send(house.app, "GET", f"{back.path}?{back.query}", {"cookie": begun.cookie})
        assert (came.status, came["location"]) == (303, "/settings")
        cookie = next(one for one in came.all("set-cookie") if is_entry(one)).partition(";")[0]
        me = await send(house.app, "GET", "/api/me", {"cookie": cookie})
        assert (me.status, b'"anna@' in me.body) == (200, True)


async def test_two_who_ask_at_once_are_answered_apart(tmp_path):
    async with accounts(tmp_path) as (house, issuer):
        both = [house.as_user(issuer.token(sub=one)) for one in ("anna", "ben")]
        said = await asyncio.gather(*(house.post("Hello", "same", session=one) for one in both))
        assert [status for status, _ in said] == [200, 200]
        ids = [chunks[0]["messageMetadata"]["conversation_id"] for _, chunks in said]
        assert len(set(ids)) == 2
