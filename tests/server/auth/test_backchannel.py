"""Back-channel logout: which tokens of the issuer end which sessions."""

from urllib.parse import urlencode

import pytest

from support.middleware_app import NOON, OWN
from support.oidc_app import pass_time, run_with_issuer, sign_in, status
from support.oidc_issuer import key, sign

FORM = {"content-type": "application/x-www-form-urlencoded"}


async def report(site, token, more=0, **headers):
    """Send a logout token as the issuer does, and more fields."""
    body = urlencode({"logout_token": token, **{f"f{number}": "x" for number in range(more)}}).encode()
    return await site.ask("/login/backchannel", {**FORM, "content-length": str(len(body)), **headers}, "POST", (body,))


async def three_browsers(site):
    """Two browsers of Anna and one of Bert, each with a session of its own at the issuer."""
    browsers = [await sign_in(site) for _ in range(2)]
    site.issuer.claims = {"sub": "bert"}
    browsers.append(await sign_in(site))
    site.issuer.claims = {}
    return browsers


ENDS = {
    "a user": ({}, [401, 401, 200]),
    "a session of a user": ({"sid": "sid-2"}, [200, 401, 200]),
    "a session alone": ({"sub": None, "sid": "sid-1"}, [401, 200, 200]),
    "a session that is not known": ({"sub": None, "sid": "sid-9"}, [200, 200, 200]),
    "a user who is not known": ({"sub": "eve"}, [200, 200, 200]),
    "a session with another user": ({"sub": "bert", "sid": "sid-1"}, [200, 200, 200]),
}


@pytest.mark.parametrize(("claims", "expected"), ENDS.values(), ids=ENDS)
def test_a_logout_token_ends_the_sessions_that_it_names(claims, expected):
    async def test(site):
        browsers = await three_browsers(site)
        response = await report(site, site.issuer.logout_token(**claims))
        assert (response.status, response["cache-control"]) == (200, "no-store")
        assert [await status(site, browser) for browser in browsers] == expected

    run_with_issuer(test)


@pytest.mark.parametrize("kind", ["JWT", None, "application/logout+jwt"])
def test_types_of_older_issuers_are_accepted(kind):
    async def test(site):
        assert (await report(site, site.issuer.logout_token(header={"typ": kind}))).status == 200

    run_with_issuer(test)


INVALID = {
    "an ID token": lambda i: i.token(jti="x", nonce="n"),
    "a token without the event": lambda i: i.logout_token(events={"http://other": {}}),
    "an event that is no object": lambda i: i.logout_token(
        events={"http://schemas.openid.net/event/backchannel-logout": "x"}
    ),
    "events that are a list": lambda i: i.logout_token(events=["http://schemas.openid.net/event/backchannel-logout"]),
    "no events": lambda i: i.logout_token(events=None),
    "a nonce": lambda i: i.logout_token(nonce="n"),
    "no jti": lambda i: i.logout_token(jti=None),
    "no iat": lambda i: i.logout_token(iat=None),
    "no exp": lambda i: i.logout_token(exp=None),
    "issued tomorrow": lambda i: i.logout_token(iat=NOON + 86_400),
    "expired": lambda i: i.logout_token(exp=NOON - 61),
    "another issuer": lambda i: i.logout_token(iss="https://evil.example"),
    "another audience": lambda i: i.logout_token(aud="another"),
    "neither user nor session": lambda i: i.logout_token(sub=None),
    "a session that is a number": lambda i: i.logout_token(sid=1),
    "an empty session": lambda i: i.logout_token(sid=""),
    "a user that is a list": lambda i: i.logout_token(sub=["anna"]),
    "another key": lambda i: sign(i.good(), key("two"), typ="logout+jwt"),
    "an access token": lambda i: i.logout_token(header={"typ": "at+jwt"}),
    "no token": lambda _: "x",
}


@pytest.mark.parametrize("make", INVALID.values(), ids=INVALID)
def test_an_invalid_logout_token_ends_nothing(make):
    async def test(site):
        browser = await sign_in(site)
        response = await report(site, make(site.issuer))
        assert response.status == 400
        assert b"invalid_request" in response.body
        assert await status(site, browser) == 200

    run_with_issuer(test)


def test_a_logout_token_that_is_sent_again_leaves_newer_sessions():
    async def test(site):
        old, token = await sign_in(site), site.issuer.logout_token()
        assert [(await report(site, token)).status, await status(site, old)] == [200, 401]
        pass_time(site, 61)
        new = await sign_in(site)
        assert [(await report(site, token)).status, await status(site, new)] == [200, 200]

    run_with_issuer(test)


def test_an_issuer_that_is_down_gets_503_and_may_repeat_the_report():
    async def test(site):
        token = site.issuer.logout_token()
        site.issuer.overrides = {"status": 500}
        assert (await report(site, token)).status == 503

    run_with_issuer(test)


def test_only_a_form_that_is_not_from_a_browser_is_read():
    async def test(site):
        browser, token = await sign_in(site), site.issuer.logout_token()
        assert (await report(site, token, origin="https://evil.example")).status == 403
        assert (await report(site, token, **{"content-type": "text/plain"})).status == 415
        assert (await site.ask("/login/backchannel", {"origin": OWN}, "POST")).status == 400
        assert (await report(site, token, more=16)).status == 400
        assert await status(site, browser) == 200

    run_with_issuer(test)


def test_signing_out_everywhere_ends_both_browsers():
    async def test(site):
        one, two, bert = await three_browsers(site)
        assert (await site.ask("/logout/everywhere", {**one, "origin": OWN}, "POST")).status == 200
        assert [await status(site, browser) for browser in (one, two, bert)] == [401, 401, 200]

    run_with_issuer(test)
