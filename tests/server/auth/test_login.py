"""Signing in at the issuer: which callbacks create a session, and which do not."""

import json
import logging
import re
from urllib.parse import parse_qs, urlsplit

import aiohttp
import pytest
from joserfc import jwk

from showandtell.server.auth.keys import DAY, Keys
from support.middleware_app import NOON, OWN, SECRET, is_login_cookie, send
from support.oidc_app import name, run_with_issuer
from support.oidc_issuer import CLIENT_SECRET, REDIRECT_URI


async def journey(site, to="/c/conv_1?tab=files", **changes):
    """Sign in at the issuer and return the response to the callback."""
    start = await site.ask(f"/login?to={to}")
    location, cookie = start["location"], start.cookie
    async with aiohttp.ClientSession() as client, client.get(location, allow_redirects=False) as response:
        back = response.headers["location"]
    assert back.startswith(REDIRECT_URI)
    for old, new in changes.get("replace", {}).items():
        back = re.sub(old, new, back)
    return await site.ask(back, {"cookie": changes.get("cookie", cookie)})


def test_where_the_issuer_names_itself_a_callback_without_its_name_creates_no_session():
    async def test(site):
        site.issuer.overrides = {"besides": {"authorization_response_iss_parameter_supported": True}}
        assert (await journey(site)).status == 403
        site.issuer.answer = {"iss": site.issuer.url}
        assert (await journey(site)).status == 303

    run_with_issuer(test)


def test_an_issuer_that_reads_credentials_in_the_form_gets_them_there():
    async def test(site):
        site.issuer.overrides = {"besides": {"token_endpoint_auth_methods_supported": ["client_secret_post"]}}
        assert (await journey(site)).status == 303

    run_with_issuer(test)


@pytest.mark.parametrize("public", [False, True])
def test_signing_in_returns_to_the_requested_page(public):
    async def test(site):
        site.issuer.secret = None if public else CLIENT_SECRET
        response = await journey(site, "/c/conv_1?tab=files")
        assert (response.status, response["location"]) == (303, "/c/conv_1?tab=files")
        expired, session = response.all("set-cookie")
        suffix = site.server.keys.cookie_suffix
        assert expired.startswith(f"showandtell-login-{suffix}=; Path=/; Max-Age=0")
        assert is_login_cookie(session)
        assert session.endswith(f"; Path=/; Max-Age={7 * DAY}; HttpOnly; SameSite=Lax")
        me = {"cookie": session.partition(";")[0]}
        assert json.loads((await site.ask("/api/me", me)).body) == {"user": name(site), "how": "cookie"}
        site.server.now = NOON + 7 * DAY + 1
        assert (await site.ask("/api/me", me)).status == 401

    run_with_issuer(test, public=public)


def test_a_page_redirects_to_the_login_and_back():
    async def test(site):
        response = await site.ask("/c/conv_1?token=x&tab=files")
        assert (response.status, response["location"]) == (303, "/login?to=%2Fc%2Fconv_1%3Ftab%3Dfiles")
        start = await site.ask(response["location"])
        assert start["set-cookie"].endswith("; Path=/; Max-Age=600; HttpOnly; SameSite=Lax")
        query = parse_qs(urlsplit(start["location"]).query)
        assert (query["redirect_uri"], query["code_challenge_method"]) == ([REDIRECT_URI], ["S256"])

    run_with_issuer(test)


@pytest.mark.parametrize(
    "to",
    [
        "https://evil.example",
        "//evil.example",
        "/%5Cevil.example",
        "javascript:alert(1)",
        "/%0d%0aset-cookie:x",
        "evil",
        "/login",
        "",
    ],
)
def test_signing_in_never_redirects_to_another_host(to):
    async def test(site):
        assert (await journey(site, to))["location"] == "/"

    run_with_issuer(test)


BAD_CALLBACKS = {
    "no cookie": {"cookie": ""},
    "a tampered cookie": {"cookie": f"showandtell-login-{Keys(SECRET).cookie_suffix}=WyJhIiwiLyJd.aaaaaa.bbbb"},
    "another state": {"replace": {"state=[^&]+": "state=" + "x" * 32}},
    "no state": {"replace": {"state=[^&]+": ""}},
    "two states": {"replace": {"state=([^&]+)": r"state=\1&state=\1"}},
    "no code": {"replace": {"code=[^&]+": ""}},
    "access denied": {"replace": {"code=[^&]+": "error=access_denied"}},
    "another issuer": {"answer": {"iss": "https://evil.example"}},
}


@pytest.mark.parametrize("changes", BAD_CALLBACKS.values(), ids=BAD_CALLBACKS)
def test_an_invalid_callback_creates_no_session(changes):
    async def test(site):
        site.issuer.answer = changes.get("answer", {})
        response = await journey(site, **changes)
        assert response.status == 403
        assert not any(is_login_cookie(one) for one in response.all("set-cookie"))
        assert "token" not in site.issuer.requests

    run_with_issuer(test)


BAD_CLAIMS = {
    "another nonce": {"nonce": "x"},
    "no nonce": {"nonce": None},
    "another client": {"aud": "another"},
    "issued to another": {"azp": "another"},
    "expired": {"exp": NOON - 100},
    "another issuer": {"iss": "https://evil.example"},
}


@pytest.mark.parametrize("claims", BAD_CLAIMS.values(), ids=BAD_CLAIMS)
def test_an_id_token_with_wrong_claims_creates_no_session(claims):
    async def test(site):
        site.issuer.claims = claims
        response = await journey(site)
        assert response.status in {401, 403}
        assert not any(is_login_cookie(one) for one in response.all("set-cookie"))

    run_with_issuer(test)


def test_an_id_token_signed_by_another_key_creates_no_session():
    async def test(site):
        site.issuer.signer = jwk.generate_key("EC", "P-256", {"kid": "one"})
        assert (await journey(site)).status == 401

    run_with_issuer(test)


def test_a_code_of_another_browser_is_refused():
    async def test(site):
        start = await site.ask("/login")
        state = parse_qs(urlsplit(start["location"]).query)["state"][0]
        response = await journey(site, replace={"state=[^&]+": f"state={state}"}, cookie=start.cookie)
        assert response.status == 503

    run_with_issuer(test)


def test_a_login_that_takes_an_hour_has_expired():
    async def test(site):
        start = await site.ask("/login")
        state = parse_qs(urlsplit(start["location"]).query)["state"][0]
        site.server.now += 3600
        response = await site.ask(f"/login/callback?code=x&state={state}", {"cookie": start.cookie})
        assert response.status == 403

    run_with_issuer(test)


def test_over_https_the_redirect_uri_is_https():
    async def test(site):
        start = await send(site.app, "GET", "/login", {}, scheme="https")
        assert parse_qs(urlsplit(start["location"]).query)["redirect_uri"] == [
            "https" + REDIRECT_URI.removeprefix("http")
        ]
        assert start["set-cookie"].endswith("; Secure")

    run_with_issuer(test)


def test_signing_out_expires_the_cookie_and_returns_the_next_page():
    async def test(site):
        response = await site.ask("/logout", {"origin": OWN}, "POST")
        assert response["set-cookie"].startswith(f"showandtell-{site.server.keys.cookie_suffix}=; Path=/; Max-Age=0")
        assert json.loads(response.body) == {"to": "/logout"}
        assert (await site.ask("/logout", {"origin": "https://evil.example"}, "POST")).status == 403
        assert (await site.ask("/logout")).status == 200

    run_with_issuer(test)


def test_signing_out_leads_to_the_issuers_end_session_endpoint():
    async def test(site):
        site.issuer.overrides = {"besides": {"end_session_endpoint": "https://issuer.example/end?a=1"}}
        to = json.loads((await site.ask("/logout", {"origin": OWN}, "POST")).body)["to"]
        assert to.startswith("https://issuer.example/end?a=1&client_id=chat&post_logout_redirect_uri=http")

    run_with_issuer(test)


def test_logs_errors_and_pages_contain_no_secret(caplog):
    async def test(site):
        caplog.set_level(logging.DEBUG)
        token = site.issuer.token(exp=NOON - 100)
        bodies = [(await site.bear(token)).body]
        site.issuer.claims = {"nonce": "x"}
        bodies.append((await journey(site)).body)
        site.issuer.overrides = {"status": 500}
        site.server.now += 700
        bodies += [(await site.bear(token)).body, (await journey_page(site)).body]
        output = b" ".join(bodies).decode() + caplog.text + repr(site.server.accounts.oidc)
        for secret in (CLIENT_SECRET, "s3cret", token.split(".")[2], site.server.keys.token):
            assert secret not in output

    async def journey_page(site):
        return await site.ask("/login/callback?code=c0de&state=s")

    run_with_issuer(test)
