"""A renewed token: nothing that was signed in by the old one stays, whichever worker has noticed the renewal."""

import asyncio

import pytest

from showandtell.server.auth import renewals
from showandtell.server.auth.keys import Keys
from showandtell.server.auth.login_codes import add_code, renew_token
from support.middleware_app import NOON, SECRET
from support.postgres import ready_database
from support.serving import serving
from support.two_workers import two_workers

pytestmark = pytest.mark.anyio


async def sign_in(site, **query):
    """Open an address in a new browser: its status, and whether it is signed in then."""
    async with site.as_user().get("/", params=query, allow_redirects=False) as response:
        cookie, status = response.headers.get("set-cookie", "").partition(";")[0], response.status
    async with site.as_user(cookie=cookie).get("/api/me") as response:
        return status, response.status == 200


async def test_the_old_token_signs_nobody_in_at_a_server_that_has_not_noticed_the_renewal(
    database, tmp_path, monkeypatch
):
    monkeypatch.setattr(renewals, "POLL_SECONDS", 3600)
    url = ready_database(database, tmp_path)
    async with serving(tmp_path, database=url) as here, serving(tmp_path, database=url) as there:
        old = there.server.keys.token
        assert await sign_in(there, token=old) == (303, True)
        await here.store.database.write(lambda connection: renew_token(connection, "local", NOON))
        assert there.server.keys.is_token(old)
        assert await sign_in(there, token=old) == (401, False)


async def test_the_new_token_signs_in_at_once_at_a_server_that_has_noticed(database, tmp_path):
    async with two_workers(database, tmp_path) as (here, there, _):
        keys = Keys(SECRET)
        renewal = await here._database.write(lambda connection: renew_token(connection, "local", NOON))
        assert keys.use_generation(renewal.generation)
        assert await there.start("local", generation=keys.generation) is not None
        assert await there.start("local", generation=0) is None


async def test_a_configured_token_has_no_generation(tmp_path):
    async with serving(tmp_path, token="a-token-of-a-variable") as site:  # noqa: S106 - a test token
        await site.store.database.write(lambda connection: renew_token(connection, "local", NOON))
        assert await sign_in(site, token="a-token-of-a-variable") == (303, True)  # noqa: S106 - a test token


async def test_whoever_signs_in_while_the_token_is_renewed_is_signed_out_by_it(database, tmp_path):
    async with two_workers(database, tmp_path) as (here, there, _):
        store = here._database
        codes = [await store.write(lambda connection: add_code(connection, NOON, 60)) for _ in range(20)]

        async def renew():
            return await store.write(lambda connection: renew_token(connection, "local", NOON))

        starts = [there.start("local", code=code) for code in codes]
        starts += [there.start("local", generation=0) for _ in range(20)]
        renewal, *started = await asyncio.gather(renew(), *starts)
        sessions = [session for session in started if session is not None]
        assert [await here.find(session) for session in sessions] == [None] * len(sessions)
        assert renewal.ended == len(sessions)
