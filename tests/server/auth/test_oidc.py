"""Accounts: which bearer tokens identify a user, and which are refused."""

import asyncio
import hmac
import json
import re
import time

import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from hypothesis import HealthCheck, given
from hypothesis import strategies as st
from joserfc import jwk

from showandtell.errors import BadInput
from showandtell.server.auth import tokens
from showandtell.server.auth.keys import DAY, Keys
from showandtell.server.auth.oidc import Oidc, read_oidc
from support.middleware_app import NOON, SECRET, cookie_header
from support.oidc_app import name, run_with_issuer
from support.oidc_issuer import CLIENT, CLIENT_SECRET, base64url, key, running_issuer, sign
from support.properties import examples
from support.serving import serving


@pytest.mark.parametrize("kind", ["EC", "RSA", "OKP"])
def test_an_issuers_token_identifies_its_user(kind):
    async def test(site):
        for header in (
            {},
            {"typ": "at+jwt"},
            {"typ": None},
            {"x-own": "ignored"},
            {"alg": "EdDSA"} if kind == "OKP" else {},
        ):
            response = await site.bear(site.issuer.token(header=header))
            assert json.loads(response.body) == {"user": name(site), "how": "bearer"}

    run_with_issuer(test, keys=[key("k", kind)])


def test_a_configured_audience_replaces_the_client_id():
    async def test(site):
        assert (await site.bear(site.issuer.token(aud=["api", "other"]))).status == 200
        assert (await site.bear(site.issuer.token(aud=CLIENT))).status == 401

    run_with_issuer(test, audience="api")


CLAIMS = {
    "another issuer": {"iss": "https://evil.example"},
    "an issuer with an extra slash": {"iss": "/"},
    "no issuer": {"iss": None},
    "a list of issuers": {"iss": ["x"]},
    "another audience": {"aud": "another"},
    "no audience": {"aud": None},
    "a similar audience": {"aud": CLIENT + "s"},
    "a list of other audiences": {"aud": ["a", "b"]},
    "an audience that is an object": {"aud": {CLIENT: 1}},
    "expired": {"exp": NOON - 61},
    "expired long ago": {"exp": 0},
    "an expiry that is text": {"exp": str(int(NOON + 300))},
    "an expiry that is true": {"exp": True},
    "no expiry": {"exp": None},
    "not yet": {"nbf": NOON + 61},
    "issued tomorrow": {"iat": NOON + DAY},
    "no subject": {"sub": None},
    "an empty subject": {"sub": ""},
    "a subject that is a number": {"sub": 7},
    "a subject with a NUL": {"sub": "a\0b"},
    "a subject in two lines": {"sub": "anna\nadmin"},
    "a subject that is too long": {"sub": "a" * 256},
}


@pytest.mark.parametrize("claims", CLAIMS.values(), ids=CLAIMS)
def test_a_token_with_wrong_claims_is_refused(claims):
    async def test(site):
        changes = {**claims, "iss": site.issuer.url + "/"} if claims.get("iss") == "/" else claims
        response = await site.bear(site.issuer.token(**changes))
        assert response.status == 401
        assert 'error="invalid_token"' in response["www-authenticate"]

    run_with_issuer(test)


def unsigned(token, **header):
    """The same claims, with another header and no signature."""
    return f"{base64url(json.dumps(header))}.{token.split('.')[1]}."


def hmac_by_public(issuer, form):
    """A token signed by HMAC, with the public key as the shared secret."""
    public = (
        issuer.keys[0].as_pem(private=False)
        if form == "pem"
        else json.dumps(issuer.keys[0].as_dict(private=False)).encode()
    )
    signed = unsigned(issuer.token(), alg="HS256", kid="one").rstrip(".")
    return f"{signed}.{base64url(hmac.digest(public, signed.encode(), 'sha256'))}"


FORGED = {
    "none": lambda i: unsigned(i.token(), alg="none", kid="one"),
    "None": lambda i: unsigned(i.token(), alg="None", kid="one"),
    "none without a kid": lambda i: unsigned(i.token(), alg="none"),
    "no algorithm": lambda i: unsigned(i.token(), kid="one"),
    "a list of algorithms": lambda i: unsigned(i.token(), alg=["ES256"], kid="one"),
    "a supported algorithm without a signature": lambda i: unsigned(i.token(), alg="ES256", kid="one"),
    "HS256 by the public key as PEM": lambda i: hmac_by_public(i, "pem"),
    "HS256 by the public key as JWK": lambda i: hmac_by_public(i, "jwk"),
    "another key with the same kid": lambda i: sign(i.good(), jwk.generate_key("EC", "P-256", {"kid": "one"})),
    "a key of another kind with the same kid": lambda i: sign(i.good(), key("one", "RSA")),
    "an unknown key": lambda i: sign(i.good(), key("two")),
    "no kid": lambda i: i.token(header={"kid": None}),
    "an empty kid": lambda i: i.token(header={"kid": ""}),
    "a kid that is a path": lambda i: sign(i.good(), key("../../dev/null")),
    "a key in its own header": lambda i: sign(
        i.good(), key("eve"), kid="one", jwk=key("eve").as_dict(private=False), jku="http://127.0.0.1:1/"
    ),
    "an unknown critical header": lambda i: i.token(header={"crit": ["exp"], "exp": 1}),
    "an unencoded payload": lambda i: i.token(header={"crit": ["b64"], "b64": True}),
    "a logout token": lambda i: i.token(header={"typ": "logout+jwt"}),
    "another curve": lambda i: sign(i.good(), jwk.generate_key("EC", "P-384", {"kid": "one"}), alg="ES384"),
    "the last character changed": lambda i: i.token()[:-2] + "AA",
    "other claims under the same signature": lambda i: ".".join(
        [*i.token().split(".")[:1], i.token(sub="eve").split(".")[1], i.token().split(".")[2]]
    ),
    "a header alone": lambda i: i.token().split(".")[0],
    "five parts": lambda i: i.token() + ".a.b",
    "nothing": lambda _: "...",
    "claims that are a list": lambda _: sign("[1]", key("one")),
    "deeply nested claims": lambda _: sign('{"a":' * 3000 + "1" + "}" * 3000, key("one")),
    "an expiry that is NaN": lambda i: i.token(exp=float("nan")),
}


@pytest.mark.parametrize("forge", FORGED.values(), ids=FORGED)
def test_a_forged_token_is_refused(forge):
    async def test(site):
        site.issuer.keys[0] = key("one")
        response = await site.bear(forge(site.issuer))
        assert response.status == 401
        assert re.search(rb"token.*: get a new", response.body), response.body
        assert (await site.bear(site.issuer.token())).status == 200

    run_with_issuer(test)


def test_a_token_is_valid_from_nbf_to_exp_give_or_take_a_minute():
    async def test(site):
        token = site.issuer.token(nbf=NOON, exp=NOON + 3600)
        for now, status in [(-61, 401), (-60, 200), (0, 200), (3659, 200), (3660, 401), (7200, 401)]:
            site.server.now = NOON + now
            assert (await site.bear(token)).status == status

    run_with_issuer(test)


def test_the_single_users_token_and_cookie_are_refused_if_there_are_accounts():
    async def test(site):
        own = Keys(SECRET)
        assert (await site.bear(own.token)).status == 401
        for user in ("local", "anna", "anna@elsewhere.example", "@" + name(site).partition("@")[2]):
            cookie = cookie_header(site.server, await site.server.sessions.start(user))
            assert (await site.ask("/api/me", cookie)).status == 401
            query = own.sign_url("/api/attachments/att_1/content/a", user, NOON)
            assert (await site.ask(f"/api/attachments/att_1/content/a?{query}")).status == 401

    run_with_issuer(test)


def test_a_user_named_local_is_not_the_single_user():
    async def test(site):
        response = await site.bear(site.issuer.token(sub="local"))
        assert json.loads(response.body)["user"] == name(site, "local") != "local"

    run_with_issuer(test)


@examples(60, suppress=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_any_invalid_token_raises_unauthorised(data):
    alphabet = "ABab01-_.=" + "ey"
    good = sign({"iss": "i", "aud": "a", "sub": "s", "exp": NOON + 1}, key())
    header = json.dumps(data.draw(st.recursive(st.none() | st.booleans() | st.text(max_size=9), lambda children: st.lists(children) | st.dictionaries(st.sampled_from(["alg", "kid", "typ", "crit", "b64"]), children))))  # fmt: skip
    for token in (data.draw(st.text(alphabet)), f"{base64url(header)}.{good.partition('.')[2]}"):
        with pytest.raises(tokens.Unauthorised):
            tokens.read_token(token, [key()], tokens.Expected("i", "a"), NOON)


@given(st.recursive(st.none() | st.integers() | st.text(max_size=400), lambda children: st.lists(children) | st.dictionaries(st.sampled_from(["keys", "kty", "kid", "n", "e", "crv", "x", "y", "use"]), children)))  # fmt: skip
def test_invalid_published_keys_are_ignored(published):
    published = published if isinstance(published, dict) else {"keys": published}
    assert tokens.read_keys(published) == []


def test_weak_private_and_unrelated_keys_are_ignored():
    public = key("one", "RSA").as_dict(private=False)
    short = rsa.generate_private_key(65537, 1024).public_key().public_numbers().n  # noqa: S505 - weak on purpose
    weak = {**public, "n": base64url(short.to_bytes(128, "big"))}
    others = [{**public, "use": "enc"}, {**public, "kid": None}, {"kty": "oct", "k": "c2VjcmV0", "kid": "x"}, weak]
    others += [key().as_dict(private=True), {"kty": "new", "kid": "x"}, None, "x", {**public, "n": 1}]
    assert tokens.read_keys({"keys": others}) == []
    assert [one.kid for one in tokens.read_keys({"keys": [*others, public]})] == ["one"]
    del public["use"]
    assert [one.kid for one in tokens.read_keys({"keys": [public]})] == ["one"]


def test_unknown_keys_are_fetched_once_a_minute():
    async def test(site):
        assert (await site.bear(site.issuer.token())).status == 200
        site.issuer.keys = [key("two")]
        token = site.issuer.token()
        assert (await site.bear(token)).status == 401
        site.server.now += 61
        assert [(await site.bear(token)).status for _ in range(3)] == [200] * 3
        unknown = sign(site.issuer.good(), key("three"))
        assert [(await site.bear(unknown)).status for _ in range(5)] == [401] * 5
        assert site.issuer.requests.count("keys") == 2

    run_with_issuer(test)


def test_a_withdrawn_key_is_refused_within_ten_minutes():
    async def test(site):
        token = site.issuer.token(exp=NOON + 3600)
        assert (await site.bear(token)).status == 200
        site.issuer.keys = [key("two")]
        site.server.now += 601
        assert (await site.bear(token)).status == 401

    run_with_issuer(test)


def test_concurrent_requests_fetch_the_keys_once():
    async def test(site):
        responses = await asyncio.gather(*(site.bear(site.issuer.token()) for _ in range(20)))
        assert {one.status for one in responses} == {200}
        assert site.issuer.requests == ["discovery", "keys"]

    run_with_issuer(test)


BROKEN = {
    "an error": {"status": 500},
    "a redirect": {"status": 302, "location": "http://127.0.0.1:1/"},
    "no JSON": {"text": "<html>"},
    "a list": {"text": "[]"},
    "a response that is too large": {"besides": {"padding": "x" * 1_100_000}},
    "another issuer": {"besides": {"issuer": "https://evil.example"}},
    "no address of keys": {"besides": {"jwks_uri": None}},
    "an unencrypted address of keys": {"besides": {"jwks_uri": "http://evil.example/keys"}},
    "a file address of keys": {"besides": {"jwks_uri": "file:///etc/passwd"}},
}


@pytest.mark.parametrize("failure", BROKEN.values(), ids=BROKEN)
def test_a_broken_issuer_gives_503_until_it_recovers(failure):
    async def test(site):
        site.issuer.overrides = failure
        response = await site.bear(site.issuer.token())
        assert response.status == 503
        site.issuer.overrides = {}
        site.server.now += 11
        assert (await site.bear(site.issuer.token())).status == 200

    run_with_issuer(test)


def test_an_issuer_that_is_down_is_not_asked_for_every_request():
    async def test(site):
        site.issuer.overrides = {"status": 500}
        assert {(await site.bear(site.issuer.token())).status for _ in range(5)} == {503}
        assert site.issuer.requests == ["discovery"]

    run_with_issuer(test)


def test_cached_keys_outlive_the_issuer_by_a_day():
    async def test(site):
        assert (await site.bear(site.issuer.token())).status == 200
        site.issuer.overrides = {"status": 500}
        for later, status in [(DAY - 10, 200), (DAY + 20, 503)]:
            site.server.now = NOON + later
            assert (await site.bear(site.issuer.token(exp=NOON + 3 * DAY))).status == status

    run_with_issuer(test)


def test_an_issuer_that_hangs_times_out(monkeypatch):
    monkeypatch.setattr("showandtell.server.auth.cached_fetch.TIMEOUT", 0.05)

    async def test(site):
        site.issuer.overrides = {"wait": asyncio.Event()}
        assert (await site.bear(site.issuer.token())).status == 503

    run_with_issuer(test)


def test_the_settings_must_be_complete_and_the_issuer_must_use_https():
    assert read_oidc({}) is None
    good = {"SHOWANDTELL_OIDC_ISSUER": "https://i.example/realm", "SHOWANDTELL_OIDC_CLIENT_ID": "chat"}
    assert read_oidc({**good, "SHOWANDTELL_OIDC_SCOPES": "email"}) == Oidc(
        "https://i.example/realm", "chat", scopes="openid email"
    )
    oidc = read_oidc({**good, "SHOWANDTELL_OIDC_ADMIN_CLAIM": "groups = admins"})
    assert oidc.admin_claim == ("groups", "admins")
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


def test_two_accounts_see_nothing_of_each_other(tmp_path):
    async def test():
        async with running_issuer() as issuer:
            now = time.time()
            anna, bert = (issuer.token(sub=sub, iat=now, exp=now + 300) for sub in ("anna", "bert"))
            oidc = Oidc(issuer.url, CLIENT, CLIENT_SECRET)
            async with serving(tmp_path, oidc=oidc) as site:
                as_anna, as_bert = site.as_user(anna), site.as_user(bert)
                assert (await site.post("hello", session=as_anna))[0] == 200
                listings = [
                    (await site.get("/api/conversations", one))[1]["conversations"] for one in (as_anna, as_bert)
                ]
                assert [len(one) for one in listings] == [1, 0]
                assert [(await site.get("/api/me", one))[1]["mode"] for one in (as_anna, as_bert)] == ["accounts"] * 2
                assert (await site.get(f"/api/conversations/{listings[0][0]['id']}", as_bert))[0] == 404
                assert (await site.get("/api/me", site.as_user(site.server.keys.token)))[0] == 401

    asyncio.run(test())
