"""Accounts: whose a bearer token is, which tokens are nobody's, and the way to the issuer and back."""

import asyncio
import hmac
import json
import logging
import re
from contextlib import asynccontextmanager
from types import SimpleNamespace
from urllib.parse import parse_qs, urlsplit

import aiohttp
import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from joserfc import jwk

from doors import NOON, OWN, SECRET, door, house, send
from issuer import BACK, CLIENT, CLIENT_SECRET, in_base64, issuing, key, sign
from showandtell.errors import BadInput
from showandtell.providers.transport import Transport
from showandtell.server import login, tokens
from showandtell.server.keys import DAY, Keys
from showandtell.server.oidc import Issuer, Oidc, read_oidc


@asynccontextmanager
async def accounts(public=False, audience=None, **told):
    """A server with the accounts of an issuer: `ask` asks it, `issuer` is what the test tells."""
    async with issuing(**told) as issuer, Transport(environ={}) as transport:
        oidc = Oidc(issuer.url, CLIENT, None if public else CLIENT_SECRET, audience)
        made = door(accounts=Issuer(oidc, transport.send))
        app = house(made, rates="login=10000/minute")
        app.include_router(login.router)
        app.router.routes.insert(0, app.router.routes.pop())

        async def ask(address, headers=(), method="GET"):
            return await send(app, method, address, headers)

        async def bear(token):
            return await ask("/api/me", {"authorization": f"Bearer {token}"})

        yield SimpleNamespace(issuer=issuer, ask=ask, bear=bear, door=made, app=app)


def during(test, **told):
    """Run an async test beside an issuer."""

    async def run():
        async with accounts(**told) as made:
            return await test(made)

    return asyncio.run(run())


def name(made, sub="anna"):
    return f"{sub}@{made.issuer.url.removeprefix('http://')}"


@pytest.mark.parametrize("kind", ["EC", "RSA", "OKP"])
def test_a_token_of_the_issuer_is_its_user(kind):
    async def test(made):
        for header in ({}, {"typ": "at+jwt"}, {"typ": None}, {"alg": "EdDSA"} if kind == "OKP" else {}):
            answer = await made.bear(made.issuer.token(header=header))
            assert json.loads(answer.body) == {"user": name(made), "how": "bearer"}

    during(test, keys=[key("k", kind)])


def test_an_audience_of_its_own_is_the_only_one():
    async def test(made):
        assert (await made.bear(made.issuer.token(aud=["api", "other"]))).status == 200
        assert (await made.bear(made.issuer.token(aud=CLIENT))).status == 401

    during(test, audience="api")


CLAIMS = {
    "another issuer": {"iss": "https://evil.example"},
    "an issuer with a slash more": {"iss": "/"},
    "no issuer": {"iss": None},
    "issuers in a list": {"iss": ["x"]},
    "another audience": {"aud": "another"},
    "no audience": {"aud": None},
    "an audience like ours": {"aud": CLIENT + "s"},
    "audiences without ours": {"aud": ["a", "b"]},
    "an audience that is an object": {"aud": {CLIENT: 1}},
    "expired": {"exp": NOON - 61},
    "expired long ago": {"exp": 0},
    "an end that is text": {"exp": str(int(NOON + 300))},
    "an end that is true": {"exp": True},
    "no end": {"exp": None},
    "not yet": {"nbf": NOON + 61},
    "issued tomorrow": {"iat": NOON + DAY},
    "nobody's": {"sub": None},
    "a name that is empty": {"sub": ""},
    "a name that is a number": {"sub": 7},
    "a name that nothing is stored under": {"sub": "a\0b"},
    "a name in two lines": {"sub": "anna\nadmin"},
    "a name without end": {"sub": "a" * 256},
}


@pytest.mark.parametrize("claims", CLAIMS.values(), ids=CLAIMS)
def test_a_token_with_wrong_claims_is_nobodys(claims):
    async def test(made):
        told = {**claims, "iss": made.issuer.url + "/"} if claims.get("iss") == "/" else claims
        answer = await made.bear(made.issuer.token(**told))
        assert answer.status == 401
        assert 'error="invalid_token"' in answer["www-authenticate"]

    during(test)


def unsigned(token, **header):
    """The same claims, with another header and no signature."""
    return f"{in_base64(json.dumps(header))}.{token.split('.')[1]}."


def hmac_by_public(issuer, form):
    """Signed with what everybody knows, taken for a shared secret."""
    public = (
        issuer.keys[0].as_pem(private=False)
        if form == "pem"
        else json.dumps(issuer.keys[0].as_dict(private=False)).encode()
    )
    signed = unsigned(issuer.token(), alg="HS256", kid="one").rstrip(".")
    return f"{signed}.{in_base64(hmac.digest(public, signed.encode(), 'sha256'))}"


FORGED = {
    "none": lambda i: unsigned(i.token(), alg="none", kid="one"),
    "None": lambda i: unsigned(i.token(), alg="None", kid="one"),
    "none without a kid": lambda i: unsigned(i.token(), alg="none"),
    "no algorithm": lambda i: unsigned(i.token(), kid="one"),
    "algorithms in a list": lambda i: unsigned(i.token(), alg=["ES256"], kid="one"),
    "ours without a signature": lambda i: unsigned(i.token(), alg="ES256", kid="one"),
    "HS256 by the public key as PEM": lambda i: hmac_by_public(i, "pem"),
    "HS256 by the public key as JWK": lambda i: hmac_by_public(i, "jwk"),
    "another key by the same name": lambda i: sign(i.good(), jwk.generate_key("EC", "P-256", {"kid": "one"})),
    "a key of another kind by the same name": lambda i: sign(i.good(), key("one", "RSA")),
    "an unknown key": lambda i: sign(i.good(), key("two")),
    "no kid": lambda i: i.token(header={"kid": None}),
    "an empty kid": lambda i: i.token(header={"kid": ""}),
    "a kid that leads elsewhere": lambda i: sign(i.good(), key("../../dev/null")),
    "a key that it brings along": lambda i: sign(
        i.good(), key("eve"), kid="one", jwk=key("eve").as_dict(private=False), jku="http://127.0.0.1:1/"
    ),
    "something critical": lambda i: i.token(header={"crit": ["exp"], "exp": 1}),
    "bytes as they are": lambda i: i.token(header={"crit": ["b64"], "b64": True}),
    "a logout": lambda i: i.token(header={"typ": "logout+jwt"}),
    "another curve": lambda i: sign(i.good(), jwk.generate_key("EC", "P-384", {"kid": "one"}), alg="ES384"),
    "the last letter changed": lambda i: i.token()[:-2] + "AA",
    "other claims under the same signature": lambda i: ".".join(
        [*i.token().split(".")[:1], i.token(sub="eve").split(".")[1], i.token().split(".")[2]]
    ),
    "a head alone": lambda i: i.token().split(".")[0],
    "five parts": lambda i: i.token() + ".a.b",
    "nothing": lambda _: "...",
    "claims that are a list": lambda _: sign("[1]", key("one")),
    "claims without end": lambda _: sign('{"a":' * 3000 + "1" + "}" * 3000, key("one")),
    "an end that is no number": lambda i: i.token(exp=float("nan")),
}


@pytest.mark.parametrize("forge", FORGED.values(), ids=FORGED)
def test_a_forged_token_is_nobodys(forge):
    async def test(made):
        made.issuer.keys[0] = key("one")
        answer = await made.bear(forge(made.issuer))
        assert answer.status == 401
        assert (await made.bear(made.issuer.token())).status == 200

    during(test)


def test_an_hour_in_the_life_of_a_token():
    async def test(made):
        token = made.issuer.token(nbf=NOON, exp=NOON + 3600)
        for now, status in [(-61, 401), (-60, 200), (0, 200), (3659, 200), (3660, 401), (7200, 401)]:
            made.door.now = NOON + now
            assert (await made.bear(token)).status == status

    during(test)


def test_the_single_users_token_and_cookie_open_no_accounts():
    async def test(made):
        own = Keys(SECRET)
        assert (await made.bear(own.token)).status == 401
        for user in ("local", "anna", "anna@elsewhere.example", "@" + name(made).partition("@")[2]):
            cookie = {"cookie": f"showandtell={own.sign_cookie(user, NOON)}"}
            assert (await made.ask("/api/me", cookie)).status == 401
            query = own.sign_url("/api/attachments/att_1/content/a", user, NOON)
            assert (await made.ask(f"/api/attachments/att_1/content/a?{query}")).status == 401

    during(test)


def test_a_user_named_local_is_not_the_single_user():
    async def test(made):
        answer = await made.bear(made.issuer.token(sub="local"))
        assert json.loads(answer.body)["user"] == name(made, "local") != "local"

    during(test)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_no_bytes_in_a_tokens_place_are_an_error_of_ours(data):
    letters = "ABab01-_.=" + "ey"
    good = sign({"iss": "i", "aud": "a", "sub": "s", "exp": NOON + 1}, key())
    header = json.dumps(data.draw(st.recursive(st.none() | st.booleans() | st.text(max_size=9), lambda of: st.lists(of) | st.dictionaries(st.sampled_from(["alg", "kid", "typ", "crit", "b64"]), of))))  # fmt: skip
    for token in (data.draw(st.text(letters)), f"{in_base64(header)}.{good.partition('.')[2]}"):
        with pytest.raises(tokens.Unauthorised):
            tokens.read_token(token, [key()], tokens.Expected("i", "a"), NOON)


@given(st.recursive(st.none() | st.integers() | st.text(max_size=400), lambda of: st.lists(of) | st.dictionaries(st.sampled_from(["keys", "kty", "kid", "n", "e", "crv", "x", "y", "use"]), of)))  # fmt: skip
def test_no_published_keys_are_an_error_of_ours(published):
    published = published if isinstance(published, dict) else {"keys": published}
    assert tokens.read_keys(published) == []


def test_keys_that_are_weak_private_or_for_something_else_dont_count():
    public = key("one", "RSA").as_dict(private=False)
    short = rsa.generate_private_key(65537, 1024).public_key().public_numbers().n  # noqa: S505 - that it is weak is the point
    weak = {**public, "n": in_base64(short.to_bytes(128, "big"))}
    others = [{**public, "use": "enc"}, {**public, "kid": None}, {"kty": "oct", "k": "c2VjcmV0", "kid": "x"}, weak]
    others += [key().as_dict(private=True), {"kty": "new", "kid": "x"}, None, "x", {**public, "n": 1}]
    assert tokens.read_keys({"keys": others}) == []
    assert [one.kid for one in tokens.read_keys({"keys": [*others, public]})] == ["one"]


def test_a_new_key_of_the_issuer_is_asked_for_once_a_minute():
    async def test(made):
        assert (await made.bear(made.issuer.token())).status == 200
        made.issuer.keys = [key("two")]
        token = made.issuer.token()
        assert (await made.bear(token)).status == 401
        made.door.now += 61
        assert [(await made.bear(token)).status for _ in range(3)] == [200] * 3
        unknown = sign(made.issuer.good(), key("three"))
        assert [(await made.bear(unknown)).status for _ in range(5)] == [401] * 5
        assert made.issuer.asked.count("keys") == 2

    during(test)


def test_a_key_that_the_issuer_withdrew_is_dead_within_ten_minutes():
    async def test(made):
        token = made.issuer.token(exp=NOON + 3600)
        assert (await made.bear(token)).status == 200
        made.issuer.keys = [key("two")]
        made.door.now += 601
        assert (await made.bear(token)).status == 401

    during(test)


def test_many_who_come_at_once_ask_the_issuer_once():
    async def test(made):
        answers = await asyncio.gather(*(made.bear(made.issuer.token()) for _ in range(20)))
        assert {one.status for one in answers} == {200}
        assert made.issuer.asked == ["discovery", "keys"]

    during(test)


BROKEN = {
    "an error": {"status": 500},
    "a redirect": {"status": 302, "location": "http://127.0.0.1:1/"},
    "no JSON": {"text": "<html>"},
    "a list": {"text": "[]"},
    "too much": {"text": '{"keys": "' + "x" * 1_100_000 + '"}'},
    "another issuer": {"besides": {"issuer": "https://evil.example"}},
    "no keys' address": {"besides": {"jwks_uri": None}},
    "an address that is overheard": {"besides": {"jwks_uri": "http://evil.example/keys"}},
    "a file": {"besides": {"jwks_uri": "file:///etc/passwd"}},
}


@pytest.mark.parametrize("said", BROKEN.values(), ids=BROKEN)
def test_an_issuer_that_is_broken_is_no_reason_to_trust_or_to_blame_a_token(said):
    async def test(made):
        made.issuer.said = said
        answer = await made.bear(made.issuer.token())
        assert answer.status == 503
        made.issuer.said = {}
        made.door.now += 11
        assert (await made.bear(made.issuer.token())).status == 200

    during(test)


def test_an_issuer_that_is_down_is_not_asked_by_everybody():
    async def test(made):
        made.issuer.said = {"status": 500}
        assert {(await made.bear(made.issuer.token())).status for _ in range(5)} == {503}
        assert made.issuer.asked == ["discovery"]

    during(test)


def test_keys_that_are_known_outlive_the_issuer_for_a_day():
    async def test(made):
        assert (await made.bear(made.issuer.token())).status == 200
        made.issuer.said = {"status": 500}
        for later, status in [(DAY - 10, 200), (DAY + 20, 503)]:
            made.door.now = NOON + later
            assert (await made.bear(made.issuer.token(exp=NOON + 3 * DAY))).status == status

    during(test)


def test_an_issuer_that_hangs_is_given_up(monkeypatch):
    monkeypatch.setattr("showandtell.server.fetched.PATIENCE", 0.05)

    async def test(made):
        made.issuer.said = {"wait": asyncio.Event()}
        assert (await made.bear(made.issuer.token())).status == 503

    during(test)


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
        assert gone.startswith("showandtell-login=; Path=/login; Max-Age=0")
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
        assert begun["set-cookie"].endswith("; Path=/login; Max-Age=600; HttpOnly; SameSite=Lax")
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
    "a cookie that was tampered with": {"cookie": "showandtell-login=WyJhIiwiLyJd.aaaaaa.bbbb"},
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
        assert not any(one.startswith("showandtell=") for one in answer.all("set-cookie"))
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
        assert not any(one.startswith("showandtell=") for one in answer.all("set-cookie"))

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
        assert answer["set-cookie"].startswith("showandtell=; Path=/; Max-Age=0")
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


def test_the_settings_say_what_is_missing_and_take_no_issuer_that_is_overheard():
    assert read_oidc({}) is None
    good = {"SHOWANDTELL_OIDC_ISSUER": "https://i.example/realm", "SHOWANDTELL_OIDC_CLIENT_ID": "chat"}
    assert read_oidc({**good, "SHOWANDTELL_OIDC_SCOPES": "email"}) == Oidc(
        "https://i.example/realm", "chat", scopes="openid email"
    )
    with pytest.raises(BadInput, match="CLIENT_ID is missing"):
        read_oidc({"SHOWANDTELL_OIDC_ISSUER": "https://i.example"})
    with pytest.raises(BadInput, match="ISSUER is missing"):
        read_oidc({"SHOWANDTELL_OIDC_CLIENT_ID": "chat"})
    for url in (
        "http://i.example",
        "i.example",
        "ftp://i.example",
        "https://",
        "https://i.example?a=1",
        "http://127.0.0.1.evil.example",
        "https://[::1",
    ):
        with pytest.raises(BadInput, match="https://"):
            read_oidc({**good, "SHOWANDTELL_OIDC_ISSUER": url})
