"""Accounts that end: who is removed at the issuer is signed out within the life of a token."""

import asyncio

import pytest

from showandtell.errors import StorageFailed
from showandtell.server.auth import session_rows
from showandtell.server.auth.authenticate import LOGIN_AGE
from showandtell.server.auth.confirmations import GRACE, RETRY_AFTER
from support.middleware_app import cookie_header, shared_database
from support.oidc_app import name, pass_time, run_with_issuer, sign_in, status

#: Seconds that a token of the issuer lives.
LIFE = 300


async def settled(site):
    """Wait for what was asked in the background."""
    while tasks := [task for one in site.server.workers for task in one._confirmer._tasks.values()]:
        await asyncio.wait(tasks)


def session_of(site, browser):
    """The id of a browser's session."""
    value = browser["cookie"].partition("=")[2]
    return site.server.keys.read_cookie(value, site.server.now).session


def test_an_issuer_that_says_no_time_confirms_for_a_while():
    async def test(site):
        anna = await sign_in(site)
        pass_time(site, LIFE + 1)
        site.issuer.overrides = {"besides": {"access_token": "opaque"}}
        assert await status(site, anna) == 200
        await settled(site)
        asked = site.issuer.requests.count("token")
        pass_time(site, RETRY_AFTER + 1)
        assert await status(site, anna) == 200
        await settled(site)
        assert site.issuer.requests.count("token") == asked

    run_with_issuer(test, refreshes="always")


def test_somebody_removed_at_the_issuer_is_signed_out_within_the_life_of_a_token():
    async def test(site):
        anna = await sign_in(site)
        site.issuer.claims = {"sub": "bert"}
        bert = await sign_in(site)
        site.issuer.claims = {}
        site.issuer.removed = {"anna"}
        pass_time(site, LIFE - 1)
        assert [await status(site, browser) for browser in (anna, bert)] == [200, 200]
        pass_time(site, 2)
        await status(site, anna)  # asks in the background
        await settled(site)
        assert [await status(site, browser) for browser in (anna, bert)] == [401, 200]

    run_with_issuer(test, refreshes="always")


def test_an_idle_browser_of_somebody_removed_gets_nothing_at_all():
    async def test(site):
        anna = await sign_in(site)
        site.issuer.removed = {"anna"}
        pass_time(site, 6 * 3600)
        assert [await status(site, anna) for _ in range(2)] == [401, 401]
        assert (await site.ask("/c/conv_1", anna))["location"] == "/login?to=%2Fc%2Fconv_1"

    run_with_issuer(test, refreshes="always")


def test_a_user_who_stays_is_confirmed_once_per_token_whatever_the_number_of_requests_and_workers():
    async def test(site):
        anna = await sign_in(site)
        session, asked = session_of(site, anna), len(site.issuer.requests)
        for seconds in (LIFE + 1, LIFE + 1, 6 * 3600, LIFE + 30):
            pass_time(site, seconds)
            found = await asyncio.gather(*(one.find(session) for one in site.server.workers * 10))
            assert {one.user for one in found} == {name(site)}
            await settled(site)
        assert site.issuer.requests[asked:].count("token") == 4
        assert "reuse" not in site.issuer.requests
        pass_time(site, LOGIN_AGE)
        assert await status(site, anna) == 401

    run_with_issuer(test, refreshes="always")


def test_without_a_refresh_token_a_session_ends_with_the_token():
    async def test(site):
        anna = await sign_in(site)
        pass_time(site, LIFE + 30)
        assert await status(site, anna) == 200  # clocks may differ by a minute
        pass_time(site, 31)
        assert await status(site, anna) == 401
        assert await status(site, await sign_in(site)) == 200

    run_with_issuer(test)


@pytest.mark.parametrize("failure", [{"status": 500}, {"text": "<html>"}, {"status": 401}])
def test_an_issuer_that_is_down_signs_nobody_out_for_an_hour(failure):
    async def test(site):
        anna = await sign_in(site)
        site.issuer.overrides = failure
        pass_time(site, LIFE + 61)
        asked = len(site.issuer.requests)
        assert [await status(site, anna) for _ in range(5)] == [200] * 5
        assert len(site.issuer.requests) == asked + 1  # not for every request
        pass_time(site, GRACE)
        assert [await status(site, anna) for _ in range(2)] == [503, 503]
        site.issuer.overrides = {}
        pass_time(site, RETRY_AFTER + 1)
        assert await status(site, anna) == 200

    run_with_issuer(test, refreshes="always")


async def sign_in_two(site):
    """The browsers of Anna and of Bert. The issuer removes Bert."""
    anna = await sign_in(site)
    site.issuer.claims = {"sub": "bert"}
    bert = await sign_in(site)
    site.issuer.claims, site.issuer.removed = {}, {"bert"}
    pass_time(site, LIFE + 61)
    return anna, bert


def test_a_session_that_can_not_be_confirmed_keeps_no_other_from_being_asked_about():
    async def test(site):
        anna, bert = await sign_in_two(site)
        site.issuer.overrides = {"status": 500}
        assert await status(site, anna) == 200
        site.issuer.overrides = {}
        asked = len(site.issuer.requests)
        assert [await status(site, browser) for browser in (anna, bert)] == [200, 401]
        assert len(site.issuer.requests) == asked + 1  # not about Anna
        pass_time(site, RETRY_AFTER + 1)
        assert (await status(site, anna), len(site.issuer.requests)) == (200, asked + 2)

    run_with_issuer(test, refreshes="always")


def test_an_issuer_that_does_not_respond_at_all_is_asked_about_nobody_for_a_while(monkeypatch):
    monkeypatch.setattr("showandtell.server.auth.cached_fetch.TIMEOUT", 0.2)

    async def test(site):
        anna, bert = await sign_in_two(site)
        site.issuer.overrides = {"wait": (late := asyncio.Event())}
        assert await status(site, anna) == 200
        asked = len(site.issuer.requests)
        assert (await status(site, bert), len(site.issuer.requests)) == (200, asked)
        late.set()
        site.issuer.overrides = {}

    run_with_issuer(test, refreshes="always")


def test_a_mistake_in_the_clients_settings_is_no_reason_to_sign_people_out():
    async def test(site):
        anna = await sign_in(site)
        site.issuer.overrides = {"besides": {"error": "invalid_client"}}
        pass_time(site, LIFE + 61)
        assert await status(site, anna) == 200
        site.issuer.overrides = {"besides": {"error": "interaction_required"}}
        pass_time(site, RETRY_AFTER + 1)
        assert await status(site, anna) == 401

    run_with_issuer(test, refreshes="always")


def test_an_answer_for_another_user_ends_the_session():
    async def test(site):
        anna = await sign_in(site)
        site.issuer.claims = {"sub": "eve"}
        pass_time(site, LIFE + 61)
        assert await status(site, anna) == 401

    run_with_issuer(test, refreshes="always")


def test_refresh_tokens_are_encrypted_and_gone_after_signing_out():
    async def test(site):
        anna = await sign_in(site)
        row = await session_rows.read_session(shared_database(), session_of(site, anna))
        [(token, _)] = site.issuer.current.values()
        assert token not in row.refresh_token
        assert token.encode().hex() not in row.refresh_token
        await site.server.sessions.end(row.id)
        assert (await session_rows.read_session(shared_database(), row.id)).refresh_token is None

    run_with_issuer(test, refreshes="always")


def test_a_refresh_token_works_for_its_own_session_only():
    async def test(site):
        anna = await sign_in(site)
        row = await session_rows.read_session(shared_database(), session_of(site, anna))
        copy = await site.server.sessions.start("x")
        stolen = session_rows.Session(
            f"{copy}x", row.user, row.created, row.seen, None, None, row.refresh_token, row.created
        )
        await site.server.sessions.add(stolen)
        pass_time(site, LIFE + 61)
        assert await status(site, cookie_header(site.server, stolen.id)) == 401
        assert await status(site, anna) == 200

    run_with_issuer(test, refreshes="always")


def test_a_token_that_a_killed_worker_had_taken_ends_the_session(monkeypatch):
    monkeypatch.setattr("showandtell.server.auth.confirmations.OTHER_WORKER_SECONDS", 0.5)

    async def test(site):
        anna = await sign_in(site)
        row = await session_rows.read_session(shared_database(), session_of(site, anna))
        assert await session_rows.take_refresh_token(shared_database(), row.id, row.refresh_token)
        pass_time(site, LIFE + 61)
        assert await status(site, anna) == 401
        assert "reuse" not in site.issuer.requests

    run_with_issuer(test, refreshes="always")


def test_while_the_database_fails_nobody_is_signed_out(monkeypatch):
    async def test(site):
        anna = await sign_in(site)
        assert await status(site, anna) == 200

        async def fail(*_, **__):
            raise StorageFailed("down")

        monkeypatch.setattr("showandtell.storage.database.database.Database.write", fail)
        monkeypatch.setattr("showandtell.storage.database.database.Database.read", fail)
        pass_time(site, LIFE + 61)
        assert await status(site, anna) == 200
        monkeypatch.undo()
        pass_time(site, RETRY_AFTER + 1)
        assert await status(site, anna) == 200

    run_with_issuer(test, refreshes="always")
