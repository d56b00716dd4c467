"""The way to the issuer of the accounts and back: who is signed in by it, and who is not."""

import json
import logging
import re
from urllib.parse import parse_qs, urlsplit

import aiohttp
import pytest
from joserfc import jwk

from showandtell.server.auth.keys import DAY, Keys
from support.accounts import during, name
from support.doors import NOON, OWN, SECRET, is_entry, send
from support.issuer import BACK, CLIENT_SECRET


async def journey(made, to="/c/conv_1?tab=files", **changes):
    """A person's way to the issuer and back; gives the answer that they come back to."""
    begun = await made.ask(f"/login?to={to}")
    asked, cookie = begun["location"], begun.cookie
    async with aiohttp.ClientSession() as client, client.get(asked, allow_redirects=False) as answer:
        back = answer.headers["location"]
    assert back.startswith(BACK)
    for old, new in changes.get("replace", {}).items():
        back = re.sub(old, new, back)
    return await made.ask(back, {"cookie": changes.get("cookie", cookie)})


@pytest.mark.parametrize("public", [False, True])
def test_a_person_signs_in_and_comes_to_where_they_were_going(public):
    async def test(made):
        made.issuer.secret = None if public else CLIENT_SECRET
        answer = await journey(made, "/c/conv_1?tab=files")
        assert (answer.status, answer["location"]) == (303, "/c/conv_1?tab=files")
        gone, kept = answer.all("set-cookie")
        mark = made.door.keys.mark
        assert gone.startswith(f"showandtell-login-{mark}=; Path=/; Max-Age=0")
        assert is_entry(kept)
        assert kept.endswith(f"; Path=/; Max-Age={7 * DAY}; HttpOnly; SameSite=Lax")
        me = {"cookie": kept.partition(";")[0]}
        assert json.loads((await made.ask("/api/me", me)).body) == {"user": name(made), "how": "cookie"}
        made.door.now = NOON + 7 * DAY + 1
        assert (await made.ask("/api/me", me)).status == 401

    during(test, public=public)


def test_a_page_leads_to_signing_in_and_back_to_it():
    async def test(made):
        answer = await made.ask("/c/conv_1?token=x&tab=files")
        assert (answer.status, answer["location"]) == (303, "/login?to=%2Fc%2Fconv_1%3Ftab%3Dfiles")
        begun = await made.ask(answer["location"])
        assert begun["set-cookie"].endswith("; Path=/; Max-Age=600; HttpOnly; SameSite=Lax")
        asked = parse_qs(urlsplit(begun["location"]).query)
        assert (asked["redirect_uri"], asked["code_challenge_method"]) == ([BACK], ["S256"])

    during(test)


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
def test_signing_in_leads_to_no_other_server(to):
    async def test(made):
        assert (await journey(made, to))["location"] == "/"

    during(test)


STRAYED = {
    "no cookie": {"cookie": ""},
    "a cookie that was tampered with": {"cookie": f"showandtell-login-{Keys(SECRET).mark}=WyJhIiwiLyJd.aaaaaa.bbbb"},
    "another state": {"replace": {"state=[^&]+": "state=" + "x" * 32}},
    "no state": {"replace": {"state=[^&]+": ""}},
    "two states": {"replace": {"state=([^&]+)": r"state=\1&state=\1"}},
    "no code": {"replace": {"code=[^&]+": ""}},
    "a no": {"replace": {"code=[^&]+": "error=access_denied"}},
    "another issuer": {"answer": {"iss": "https://evil.example"}},
}


@pytest.mark.parametrize("changes", STRAYED.values(), ids=STRAYED)
def test_who_comes_back_from_elsewhere_is_not_signed_in(changes):
    async def test(made):
        made.issuer.answer = changes.get("answer", {})
        answer = await journey(made, **changes)
        assert answer.status == 403
        assert not any(is_entry(one) for one in answer.all("set-cookie"))
        assert "token" not in made.issuer.asked

    during(test)


WRONG = {
    "another nonce": {"nonce": "x"},
    "no nonce": {"nonce": None},
    "another client": {"aud": "another"},
    "made for another": {"azp": "another"},
    "expired": {"exp": NOON - 100},
    "another issuer": {"iss": "https://evil.example"},
}


@pytest.mark.parametrize("claims", WRONG.values(), ids=WRONG)
def test_a_wrong_answer_of_the_issuer_signs_nobody_in(claims):
    async def test(made):
        made.issuer.claims = claims
        answer = await journey(made)
        assert answer.status in {401, 403}
        assert not any(is_entry(one) for one in answer.all("set-cookie"))

    during(test)


def test_an_answer_signed_by_a_stranger_signs_nobody_in():
    async def test(made):
        made.issuer.signer = jwk.generate_key("EC", "P-256", {"kid": "one"})
        assert (await journey(made)).status == 401

    during(test)


def test_a_code_of_another_browser_is_worth_nothing():
    async def test(made):
        begun = await made.ask("/login")
        victims = parse_qs(urlsplit(begun["location"]).query)["state"][0]
        answer = await journey(made, replace={"state=[^&]+": f"state={victims}"}, cookie=begun.cookie)
        assert answer.status == 503

    during(test)


def test_a_sign_in_that_took_an_hour_is_begun_anew():
    async def test(made):
        begun = await made.ask("/login")
        state = parse_qs(urlsplit(begun["location"]).query)["state"][0]
        made.door.now += 3600
        answer = await made.ask(f"/login/callback?code=x&state={state}", {"cookie": begun.cookie})
        assert answer.status == 403

    during(test)


def test_behind_https_the_address_to_come_back_to_is_https():
    async def test(made):
        begun = await send(made.app, "GET", "/login", {}, scheme="https")
        assert parse_qs(urlsplit(begun["location"]).query)["redirect_uri"] == ["https" + BACK.removeprefix("http")]
        assert begun["set-cookie"].endswith("; Secure")

    during(test)


def test_signing_out_forgets_the_browser_and_says_where_to_go():
    async def test(made):
        answer = await made.ask("/logout", {"origin": OWN}, "POST")
        assert answer["set-cookie"].startswith(f"showandtell-{made.door.keys.mark}=; Path=/; Max-Age=0")
        assert json.loads(answer.body) == {"to": "/logout"}
        assert (await made.ask("/logout", {"origin": "https://evil.example"}, "POST")).status == 403
        assert (await made.ask("/logout")).status == 200

    during(test)


def test_the_issuer_is_told_that_somebody_leaves_where_it_wants_to_know():
    async def test(made):
        made.issuer.said = {"besides": {"end_session_endpoint": "https://issuer.example/end?a=1"}}
        to = json.loads((await made.ask("/logout", {"origin": OWN}, "POST")).body)["to"]
        assert to.startswith("https://issuer.example/end?a=1&client_id=chat&post_logout_redirect_uri=http")

    during(test)


def test_no_secret_is_told_by_logs_errors_or_pages(caplog):
    async def test(made):
        caplog.set_level(logging.DEBUG)
        token = made.issuer.token(exp=NOON - 100)
        told = [(await made.bear(token)).body]
        made.issuer.claims = {"nonce": "x"}
        told.append((await journey(made)).body)
        made.issuer.said = {"status": 500}
        made.door.now += 700
        told += [(await made.bear(token)).body, (await journey_page(made)).body]
        whole = b" ".join(told).decode() + caplog.text + repr(made.door.accounts.oidc)
        for secret in (CLIENT_SECRET, "s3cret", token.split(".")[2], made.door.keys.token):
            assert secret not in whole

    async def journey_page(made):
        return await made.ask("/login/callback?code=c0de&state=s")

    during(test)
