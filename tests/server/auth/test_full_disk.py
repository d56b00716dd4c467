"""Signing in while the database's disk is full: it takes the space that is kept for deletions, or says what to do."""

from contextlib import suppress

import pytest
from sqlalchemy import text

from showandtell.errors import StorageFull
from showandtell.server.auth.login_codes import add_code
from showandtell.server.auth.oidc import Oidc
from showandtell.server.auth.sessions import Sessions
from support.middleware_app import NOON, send
from support.oidc_issuer import CLIENT, CLIENT_SECRET, running_issuer
from support.serving import serving

pytestmark = pytest.mark.anyio
BROWSER = {"accept": "text/html"}


def limit(database, pages):
    """Let an SQLite file have no more pages than this; it keeps those that it has."""
    return database.write(lambda connection: connection.execute(text(f"PRAGMA max_page_count={pages}")))


async def fill(database):
    """Add sessions until there is no room for another one."""
    await limit(database, 1)
    for user in ("x" * 5000, "x"):
        with suppress(StorageFull):
            while True:
                await Sessions(database, lambda: NOON).start(user)


async def open_page(site, path, **headers):
    async with site.as_user(**BROWSER, **headers).get(path, allow_redirects=False) as response:
        return response.status, response.headers, await response.text()


async def test_a_browser_gets_a_page_that_says_what_to_do_and_its_code_stays_good(tmp_path):
    async with serving(tmp_path) as site:
        code = await site.store.database.write(lambda connection: add_code(connection, NOON))
        await fill(site.store.database)
        for query in (f"token={site.server.keys.token}", f"code={code}"):
            status, headers, page = await open_page(site, f"/?{query}")
            assert (status, headers["content-type"]) == (507, "text/html; charset=utf-8")
            assert "no space left" in page
            assert "showandtell delete" in page
        await limit(site.store.database, 10_000)
        assert (await open_page(site, f"/?code={code}"))[0] == 303


async def test_signing_in_takes_the_space_that_is_kept_for_deletions(tmp_path):
    async with serving(tmp_path) as site:
        database = site.store.database
        await fill(database)
        sessions = Sessions(database, lambda: NOON, make_room=lambda: limit(database, 10_000))
        assert await sessions.find(await sessions.start("local"))


def oidc_of(issuer):
    return Oidc(issuer.url, CLIENT, CLIENT_SECRET)


async def test_with_accounts_the_callback_is_a_page_too(tmp_path):
    async with running_issuer() as issuer, serving(tmp_path, oidc=oidc_of(issuer), clock=lambda: NOON) as site:
        start = await send(site.app, "GET", "/login")
        async with site.as_user().get(start["location"], allow_redirects=False) as response:
            back = response.headers["location"]
        await fill(site.store.database)
        page = await send(site.app, "GET", back, BROWSER | {"cookie": start.cookie})
    assert page.status == 507
    assert page["content-type"] == "text/html; charset=utf-8"
    assert b"no space left" in page.body
