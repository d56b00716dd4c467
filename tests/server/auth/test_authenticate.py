"""Authentication of the single user: cookies, tokens, the address with a token, and the secret behind them."""

import asyncio
import json
import re
import stat
import subprocess
import sys
from base64 import urlsafe_b64decode
from urllib.parse import urljoin

import aiohttp
import pytest
from hypothesis import given
from hypothesis import strategies as st

from showandtell.errors import BadInput
from showandtell.server.auth.authenticate import local_path
from showandtell.server.auth.keys import DAY, CookieSession, Keys, load_secret
from support.middleware_app import NOON, SECRET, ask, fake_server, guarded_app, login_cookie, send
from support.serving import serving

TOKEN = Keys(SECRET).token
BEARER = {"authorization": f"Bearer {TOKEN}"}


def test_a_bearer_token_and_a_cookie_are_the_single_user():
    server = fake_server()
    for headers, how in [(BEARER, "bearer"), (login_cookie(server), "cookie")]:
        response = ask(guarded_app(server), "GET", "/api/me", headers)
        assert json.loads(response.body) == {"user": "local", "how": how}


@pytest.mark.parametrize(
    "authorization",
    [
        "",
        "Bearer",
        "Bearer ",
        f"Bearer {TOKEN[:-1]}",
        f"Bearer {TOKEN}x",
        f"Bearer {TOKEN.swapcase()}",
        f"Bearer {TOKEN} {TOKEN}",
        f"Bearer {TOKEN}, Bearer {TOKEN}",
        f"Basic {TOKEN}",
        f"Digest {TOKEN}",
        TOKEN,
        "Bearer null",
        "Bearer undefined",
        "Bearer \xff\xfe",
        f"Bearer\t{TOKEN}",
        f"Bearer {TOKEN}=",
        "Bearer " + "A" * 30_000,
        "Bearer eyJhbGciOiJub25lIn0.eyJzdWIiOiJsb2NhbCJ9.",
        f"Token {TOKEN}",
        f'Bearer "{TOKEN}"',
        f"Bearer {TOKEN[::-1]}",
    ],
)
def test_a_wrong_token_is_refused_even_with_a_good_cookie(authorization):
    server = fake_server()
    for cookie in ({}, login_cookie(server)):
        response = ask(guarded_app(server), "GET", "/api/me", {"authorization": authorization, **cookie})
        assert response.status == 401
        assert response["www-authenticate"] == 'Bearer realm="showandtell", error="invalid_token"'


def test_two_authorization_headers_are_refused():
    headers = [("authorization", f"Bearer {TOKEN}")] * 2
    assert asyncio.run(send(guarded_app(), "GET", "/api/me", headers)).status == 401


def test_a_configured_token_replaces_the_derived_one():
    server = fake_server(token="correct-horse-battery")  # noqa: S106 - a test token
    assert ask(guarded_app(server), "GET", "/api/me", BEARER).status == 401
    own = {"authorization": "bearer correct-horse-battery"}
    assert ask(guarded_app(server), "GET", "/api/me", own).status == 200
    assert ask(guarded_app(fake_server()), "GET", "/api/me", login_cookie(server)).status == 401


@pytest.mark.parametrize("token", ["short", "has a blank in it", "zeilen\numbruch-lang", "ümlaut-ümlaut-ümlaut"])
def test_a_token_that_is_weak_or_invalid_in_a_header_is_refused_at_startup(token):
    with pytest.raises(BadInput, match="SHOWANDTELL_TOKEN"):
        Keys(SECRET, token)


def test_the_printed_address_sets_a_cookie_and_drops_the_token():
    server = fake_server()
    response = ask(guarded_app(server), "GET", f"/c/conv_1?token={TOKEN}&tab=files")
    assert (response.status, response["location"]) == (303, "/c/conv_1?tab=files")
    value, *flags = response["set-cookie"].split("; ")
    assert flags == ["Path=/", f"Max-Age={30 * DAY}", "HttpOnly", "SameSite=Lax"]
    assert ask(guarded_app(server), "GET", "/api/me", {"cookie": value}).status == 200
    assert (response["cache-control"], response["referrer-policy"]) == ("no-store", "no-referrer")


def test_over_https_the_cookie_is_secure_and_has_the_host_prefix():
    server = fake_server()
    response = ask(guarded_app(server), "GET", f"/?token={TOKEN}", scheme="https")
    assert response["set-cookie"].startswith(f"__Host-showandtell-{server.keys.cookie_suffix}=")
    assert response["set-cookie"].endswith("; Path=/; Max-Age=2592000; HttpOnly; SameSite=Lax; Secure")
    assert ask(guarded_app(server), "GET", "/api/me", {"cookie": response.cookie}, scheme="https").status == 200
    assert ask(guarded_app(server), "GET", "/api/me", login_cookie(server), scheme="https").status == 401


@pytest.mark.parametrize("query", ["", "?token=", "?token=wrong", f"?token=wrong&token={TOKEN}", "?token=%00%FF"])
def test_without_the_token_a_static_page_says_what_to_do(query):
    response = ask(guarded_app(), "GET", f"/{query}")
    assert (response.status, response["set-cookie"], response["location"]) == (401, None, None)
    text = response.body.decode()
    assert "showandtell token" in text
    assert "wrong" not in text
    assert not re.search(r"<script|<style|\son\w+=|javascript:|https?://", text)


def test_a_cookie_gives_the_page_even_with_an_old_token():
    server = fake_server()
    assert b"the page" in ask(guarded_app(server), "GET", "/c/conv_1", login_cookie(server)).body
    again = ask(guarded_app(server), "GET", "/c/conv_1?token=old", login_cookie(server))
    assert (again.status, again["location"]) == (303, "/c/conv_1")


@pytest.mark.parametrize("path", ["//evil.example/", "/\\evil.example", "/%09/evil.example", "///evil.example"])
def test_logging_in_never_redirects_to_another_host(path):
    location = ask(guarded_app(), "GET", f"http://x{path}?token={TOKEN}")["location"]
    assert re.fullmatch(r"/(?![/\\]).*", location)  # pyright: ignore[reportCallIssue] - a redirect has a location


@given(st.text())
def test_a_local_path_never_names_a_host(text):
    assert urljoin("http://own.example/", local_path(text)).startswith("http://own.example/")
    assert not set("\\\t\r\n ") & set(local_path(text))


def test_servers_on_one_host_keep_separate_cookies(tmp_path):
    async def test():
        jar = aiohttp.CookieJar(unsafe=True)
        first, second = serving(tmp_path / "a"), serving(tmp_path / "b", secret=b"t" * 32)
        third = serving(tmp_path / "c", token="another-good-token")  # noqa: S106 - a test token
        async with first as a, second as b, third as c, aiohttp.ClientSession(cookie_jar=jar) as browser:
            for one in (a, b, c):
                async with browser.get(
                    one.url, params={"token": one.server.keys.token}, allow_redirects=False
                ) as response:
                    assert response.status == 303
            for one in (a, b, c):
                async with browser.get(f"{one.url}/api/me") as response:
                    assert response.status == 200
            assert len(jar) == 3

    asyncio.run(test())


def test_a_cookie_lasts_thirty_days_and_is_renewed_by_use():
    server = fake_server()
    headers = login_cookie(server)
    server.now = NOON + 29 * DAY
    response = ask(guarded_app(server), "GET", "/api/me", headers)
    assert response.status == 200
    server.now = NOON + 31 * DAY
    assert ask(guarded_app(server), "GET", "/api/me", headers).status == 401
    assert ask(guarded_app(server), "GET", "/api/me", {"cookie": response.cookie}).status == 200


def test_a_cookie_of_version_0_1_that_names_no_session_asks_to_sign_in():
    server = fake_server()
    old = server.keys.seal("cookie", CookieSession("local", int(NOON)), NOON)
    headers = {"cookie": f"showandtell-{server.keys.cookie_suffix}={old}"}
    assert ask(guarded_app(server), "GET", "/api/me", headers).status == 401


def test_a_new_cookie_is_not_renewed():
    server = fake_server()
    assert ask(guarded_app(server), "GET", "/api/me", login_cookie(server))["set-cookie"] is None


def test_a_cookie_of_another_secret_or_user_or_from_the_future_is_refused():
    server, other = fake_server(), Keys(b"x" * 32)
    session, eves = (asyncio.run(server.sessions.start(user)) for user in ("local", "eve"))
    forged = [other.sign_cookie(session, NOON), server.keys.sign_cookie(eves, NOON), server.keys.sign_cookie("x", NOON)]
    forged += [server.keys.sign_cookie(session, NOON + 3600), "", ".", "..", "a.b.c", "\xff" * 40]
    for text in forged:
        assert (
            ask(
                guarded_app(server), "GET", "/api/me", {"cookie": f"showandtell-{server.keys.cookie_suffix}={text}"}
            ).status
            == 401
        )


@given(st.integers(0, 200), st.characters(min_codepoint=33, max_codepoint=126))
def test_a_tampered_cookie_never_names_another_session(place, character):
    keys = Keys(SECRET)
    text = keys.sign_cookie("session_1", NOON)
    place %= len(text)
    session = keys.read_cookie(text[:place] + character + text[place + 1 :], NOON)
    assert session in {None, keys.read_cookie(text, NOON)}


def test_cookies_are_signed_with_sha_256():
    signature = Keys(SECRET).sign_cookie("session_1", NOON).rpartition(".")[2]
    assert len(urlsafe_b64decode(signature + "=")) == 32


def test_each_use_of_the_secret_has_its_own_key():
    keys = Keys(SECRET)
    assert len({keys.derive(label) for label in ("token", "cookie", "url", "login")}) == 4
    assert keys.derive("url") == Keys(SECRET).derive("url") != Keys(b"y" * 32).derive("url")


def test_the_secret_is_created_once_and_readable_by_its_owner_only(tmp_path):
    folder = tmp_path / "data"
    secret = load_secret(folder, {})
    assert len(secret) >= 32
    assert load_secret(folder, {}) == secret
    assert stat.S_IMODE((folder / "secret").stat().st_mode) == 0o600
    assert [one.name for one in folder.iterdir()] == ["secret"]


def test_processes_that_start_together_share_one_secret(tmp_path):
    code = f"from pathlib import Path; from showandtell.server.auth.keys import *; print(load_secret(Path({str(tmp_path)!r}), {{}}))"
    running = [subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) for _ in range(4)]  # noqa: S603
    assert len({one.communicate()[0] for one in running}) == 1
    assert [one.returncode for one in running] == [0] * 4


def test_a_secret_in_the_environment_overrides_the_file(tmp_path):
    assert load_secret(tmp_path, {"SHOWANDTELL_SECRET": "s" * 40}) == b"s" * 40
    assert not [*tmp_path.iterdir()]


def test_a_secret_that_is_readable_by_others_or_too_short_is_refused(tmp_path):
    with pytest.raises(BadInput, match="SHOWANDTELL_SECRET has 5 bytes"):
        load_secret(tmp_path, {"SHOWANDTELL_SECRET": "12345"})
    with pytest.raises(BadInput, match="set SHOWANDTELL_SECRET"):
        load_secret(None, {})
    (tmp_path / "secret").write_bytes(b"s" * 40)
    (tmp_path / "secret").chmod(0o644)
    with pytest.raises(BadInput, match="chmod 600"):
        load_secret(tmp_path, {})
    (tmp_path / "secret").write_bytes(b"")
    (tmp_path / "secret").chmod(0o600)
    with pytest.raises(BadInput, match="0 bytes"):
        load_secret(tmp_path, {})
