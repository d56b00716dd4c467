"""Accounts: whose a bearer token is, and which tokens are nobody's."""

import asyncio
import hmac
import json
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
from support.accounts import during, name
from support.doors import NOON, SECRET
from support.issuer import CLIENT, CLIENT_SECRET, in_base64, issuing, key, sign
from support.properties import examples
from support.serving import serving


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
            cookie = {"cookie": f"showandtell-{own.mark}={own.sign_cookie(user, NOON)}"}
            assert (await made.ask("/api/me", cookie)).status == 401
            query = own.sign_url("/api/attachments/att_1/content/a", user, NOON)
            assert (await made.ask(f"/api/attachments/att_1/content/a?{query}")).status == 401

    during(test)


def test_a_user_named_local_is_not_the_single_user():
    async def test(made):
        answer = await made.bear(made.issuer.token(sub="local"))
        assert json.loads(answer.body)["user"] == name(made, "local") != "local"

    during(test)


@examples(60, suppress=[HealthCheck.function_scoped_fixture])
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
    "too much": {"besides": {"padding": "x" * 1_100_000}},
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
    monkeypatch.setattr("showandtell.server.auth.cached_fetch.PATIENCE", 0.05)

    async def test(made):
        made.issuer.said = {"wait": asyncio.Event()}
        assert (await made.bear(made.issuer.token())).status == 503

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


def test_two_accounts_of_a_real_server_find_nothing_of_each_other(tmp_path):
    async def test():
        async with issuing() as issuer:
            now = time.time()
            anna, bert = (issuer.token(sub=sub, iat=now, exp=now + 300) for sub in ("anna", "bert"))
            oidc = Oidc(issuer.url, CLIENT, CLIENT_SECRET)
            async with serving(tmp_path, oidc=oidc) as there:
                annas, berts = there.as_user(anna), there.as_user(bert)
                assert (await there.post("hello", session=annas))[0] == 200
                told = [(await there.get("/api/conversations", one))[1]["conversations"] for one in (annas, berts)]
                assert [len(one) for one in told] == [1, 0]
                assert [(await there.get("/api/me", one))[1]["mode"] for one in (annas, berts)] == ["accounts"] * 2
                assert (await there.get(f"/api/conversations/{told[0][0]['id']}", berts))[0] == 404
                assert (await there.get("/api/me", there.as_user(there.server.keys.token)))[0] == 401

    asyncio.run(test())
