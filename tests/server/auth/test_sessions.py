"""Sessions in browsers: signed out here, everywhere and in other workers, cached, and collected."""

import asyncio
import json
from functools import partial

import pytest

from showandtell.errors import StorageFailed
from showandtell.server.auth.errors import LoginUnavailable
from showandtell.server.auth.keys import DAY, Keys
from showandtell.server.auth.login_codes import Renewal, add_code, read_generation, renew_token, use_code
from showandtell.server.auth.session_rows import read_session
from showandtell.server.auth.sessions import MAX_AGE
from showandtell.storage.database.database import Database
from support.middleware_app import NOON, SECRET
from support.serving import serving
from support.two_workers import two_workers

pytestmark = pytest.mark.anyio


async def browser(site):
    """A browser that has opened the printed address. Its cookie stays as it was, like a copy that a thief has."""
    client = site.as_user()
    async with client.get("/", params={"token": site.server.keys.token}, allow_redirects=False) as response:
        client.headers["cookie"] = response.headers["set-cookie"].partition(";")[0]
        client.headers["origin"] = site.url
    return client


async def is_in(client):
    async with client.get("/api/me") as response:
        return response.status == 200


async def post(client, path):
    async with client.post(path, json={}) as response:
        return response.status, response.headers.get("set-cookie", ""), json.loads(await response.read())


async def test_a_signed_out_cookie_does_not_work_any_more(tmp_path):
    async with serving(tmp_path) as site:
        one, other = await browser(site), await browser(site)
        assert await is_in(one)
        status, cookie, body = await post(one, "/logout")
        assert status == 200
        assert "Max-Age=0" in cookie
        assert body == {"to": "/logout"}
        assert (await is_in(one), await is_in(other)) == (False, True)
        assert (await post(one, "/logout"))[0] == 200
        async with one.get("/logout") as page:
            assert "showandtell token" in await page.text()


async def test_signing_out_everywhere_ends_the_sessions_of_two_browsers_and_no_token(tmp_path):
    async with serving(tmp_path) as site:
        one, other = await browser(site), await browser(site)
        program = site.as_user(site.server.keys.token)
        assert (await post(one, "/logout/everywhere"))[0] == 200
        assert [await is_in(client) for client in (one, other, program)] == [False, False, True]
        assert (await post(one, "/logout/everywhere"))[0] == 401


async def test_another_site_signs_nobody_out(tmp_path):
    async with serving(tmp_path) as site:
        one = await browser(site)
        one.headers["origin"] = "https://evil.example"
        assert [(await post(one, path))[0] for path in ("/logout", "/logout/everywhere")] == [403, 403]
        assert await is_in(one)


async def test_a_session_ends_in_other_workers_within_a_minute(database, tmp_path):
    async with two_workers(database, tmp_path) as (here, there, clock):
        session = await here.start("anna")
        assert (await there.find(session)).user == "anna"
        await here.end(session)
        assert await here.find(session) is None
        clock.now += MAX_AGE
        assert (await there.find(session)) is None
        assert MAX_AGE <= 60


async def test_only_the_sessions_of_one_user_end(database, tmp_path):
    async with two_workers(database, tmp_path) as (here, there, _):
        annas, berts = [await here.start("anna") for _ in range(2)], await there.start("bert")
        await there.end_all("anna")
        assert [await there.find(session) for session in annas] == [None, None]
        assert await here.find(berts) is not None


async def test_a_session_is_read_once_in_a_while_and_its_use_recorded_once_an_hour(tmp_path, monkeypatch):
    async with two_workers("sqlite", tmp_path) as (here, _, clock):
        session, calls = await here.start("anna"), []
        for name in ("read", "write"):
            method = getattr(Database, name)
            record = lambda *args, method=method, name=name, **more: calls.append(name) or method(*args, **more)  # noqa: E731
            monkeypatch.setattr(Database, name, record)
        await asyncio.gather(*(here.find(session) for _ in range(100)))
        assert calls == ["read"]
        clock.now += 3601
        await asyncio.gather(*(here.find(session) for _ in range(100)))
        assert calls == ["read", "read", "write"]
        clock.now += 1800
        await here.find(session)
        assert calls[3:] == ["read"]


async def test_while_the_database_fails_a_session_that_was_just_used_stays_signed_in(tmp_path, monkeypatch):
    async with two_workers("sqlite", tmp_path) as (here, _, clock):
        used, unused = await here.start("anna"), await here.start("bert")
        assert await here.find(used)

        async def fail(*_, **__):
            raise StorageFailed("the database /srv/secret does not answer")

        monkeypatch.setattr(Database, "read", fail)
        clock.now += 300
        assert await here.find(used)
        with pytest.raises(LoginUnavailable, match="storage is not available") as raised:
            await here.find(unused)
        assert "secret" not in str(raised.value)
        clock.now += 400
        with pytest.raises(LoginUnavailable):
            await here.find(used)


async def test_old_sessions_are_collected_when_their_cookies_have_expired(database, tmp_path):
    async with two_workers(database, tmp_path) as (here, there, clock):
        old, store = await here.start("anna"), here._database
        clock.now += 31 * DAY
        new = await here.start("anna")
        await there.collect()
        assert await read_session(store, old) is not None
        clock.now += 2 * DAY
        await there.collect()
        assert (await read_session(store, old), (await read_session(store, new)).user) == (None, "anna")


async def test_a_code_works_once_across_workers_and_only_its_hash_is_stored(database, tmp_path):
    async with two_workers(database, tmp_path) as (here, there, _):
        code = await here._database.write(lambda connection: add_code(connection, NOON))
        started = await asyncio.gather(*(one.start("local", code=code) for one in (here, there) * 10))
        assert [session is not None for session in started].count(True) == 1
        code = await here._database.write(lambda connection: add_code(connection, NOON))
        if database == "sqlite":
            assert not [path for path in tmp_path.glob("test.db*") if code.encode() in path.read_bytes()]


async def test_renewing_the_token_ends_the_sessions_of_its_user_and_all_codes(database, tmp_path):
    async with two_workers(database, tmp_path) as (here, there, _):
        store, keys = here._database, Keys(SECRET)
        own, other = await here.start("local"), await here.start("anna")
        code, old = await store.write(lambda connection: add_code(connection, NOON)), keys.token
        for generation in (1, 2):
            renewal = await store.write(lambda connection: renew_token(connection, "local", NOON))
            assert renewal == Renewal(generation, ended=2 - generation)
            assert keys.use_generation(await read_generation(there._database))
        assert [await there.find(session) is not None for session in (own, other)] == [False, True]
        assert (await there.start("local", code=code), keys.is_token(old)) == (None, False)
        configured = Keys(SECRET, "a-token-of-a-variable")
        assert (configured.use_generation(2), configured.token) == (False, "a-token-of-a-variable")


async def test_a_code_has_an_end_or_is_replaced_by_the_next(database, tmp_path):
    async with two_workers(database, tmp_path) as (here, _, _):
        store = here._database
        codes = [
            await store.write(lambda connection, seconds=seconds: add_code(connection, NOON, seconds))
            for seconds in (60, 60, None, None)
        ]
        good = []
        for code, later in zip(codes, (59, 60, 9, 1e9), strict=True):
            use = partial(use_code, code=code, now=NOON + later)
            good.append(await store.write(use))
        assert good == [True, False, False, True]
