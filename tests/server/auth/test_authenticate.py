"""Who asks: cookies, tokens, the address with a token, and the secret behind them."""

import asyncio
import json
import re
import stat
import subprocess
import sys
from urllib.parse import urljoin

import aiohttp
import pytest
from hypothesis import given
from hypothesis import strategies as st

from showandtell.errors import BadInput
from showandtell.server.auth.authenticate import own_path
from showandtell.server.auth.keys import DAY, Keys, load_secret
from support.doors import NOON, SECRET, ask, cookie_of, door, house, send
from support.serving import serving

TOKEN = Keys(SECRET).token
BEARER = {"authorization": f"Bearer {TOKEN}"}


def test_a_bearer_token_and_a_cookie_are_the_single_user():
    made = door()
    for headers, how in [(BEARER, "bearer"), (cookie_of(made), "cookie")]:
        answer = ask(house(made), "GET", "/api/me", headers)
        assert json.loads(answer.body) == {"user": "local", "how": how}


@pytest.mark.parametrize(
    "said",
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
def test_a_wrong_token_is_nobody_even_beside_a_good_cookie(said):
    made = door()
    for cookie in ({}, cookie_of(made)):
        answer = ask(house(made), "GET", "/api/me", {"authorization": said, **cookie})
        assert answer.status == 401
        assert answer["www-authenticate"] == 'Bearer realm="showandtell", error="invalid_token"'


def test_two_authorizations_are_none():
    headers = [("authorization", f"Bearer {TOKEN}")] * 2
    assert asyncio.run(send(house(), "GET", "/api/me", headers)).status == 401


def test_a_token_of_ones_own_takes_the_place_of_the_derived_one():
    made = door(token="correct-horse-battery")  # noqa: S106 - nobody's
    assert ask(house(made), "GET", "/api/me", BEARER).status == 401
    own = {"authorization": "bearer correct-horse-battery"}
    assert ask(house(made), "GET", "/api/me", own).status == 200
    assert ask(house(door()), "GET", "/api/me", cookie_of(made)).status == 401


@pytest.mark.parametrize("token", ["short", "has a blank in it", "zeilen\numbruch-lang", "ümlaut-ümlaut-ümlaut"])
def test_a_token_that_no_header_can_carry_or_anybody_guesses_is_said_at_the_start(token):
    with pytest.raises(BadInput, match="SHOWANDTELL_TOKEN"):
        Keys(SECRET, token)


def test_the_printed_address_gives_a_cookie_and_loses_its_token():
    made = door()
    answer = ask(house(made), "GET", f"/c/conv_1?token={TOKEN}&tab=files")
    assert (answer.status, answer["location"]) == (303, "/c/conv_1?tab=files")
    value, *flags = answer["set-cookie"].split("; ")
    assert flags == ["Path=/", f"Max-Age={30 * DAY}", "HttpOnly", "SameSite=Lax"]
    assert ask(house(made), "GET", "/api/me", {"cookie": value}).status == 200
    assert (answer["cache-control"], answer["referrer-policy"]) == ("no-store", "no-referrer")


def test_under_https_the_cookie_is_secure_and_no_neighbour_can_set_it():
    made = door()
    answer = ask(house(made), "GET", f"/?token={TOKEN}", scheme="https")
    assert answer["set-cookie"].startswith(f"__Host-showandtell-{made.keys.mark}=")
    assert answer["set-cookie"].endswith("; Path=/; Max-Age=2592000; HttpOnly; SameSite=Lax; Secure")
    assert ask(house(made), "GET", "/api/me", {"cookie": answer.cookie}, scheme="https").status == 200
    assert ask(house(made), "GET", "/api/me", cookie_of(made), scheme="https").status == 401


@pytest.mark.parametrize("query", ["", "?token=", "?token=wrong", f"?token=wrong&token={TOKEN}", "?token=%00%FF"])
def test_without_the_token_a_page_says_what_to_do_and_runs_nothing(query):
    answer = ask(house(), "GET", f"/{query}")
    assert (answer.status, answer["set-cookie"], answer["location"]) == (401, None, None)
    text = answer.body.decode()
    assert "showandtell serve" in text
    assert "wrong" not in text
    assert not re.search(r"<script|<style|\son\w+=|javascript:|https?://", text)


def test_who_has_a_cookie_gets_the_page_also_by_an_old_token():
    made = door()
    assert b"the page" in ask(house(made), "GET", "/c/conv_1", cookie_of(made)).body
    again = ask(house(made), "GET", "/c/conv_1?token=old", cookie_of(made))
    assert (again.status, again["location"]) == (303, "/c/conv_1")


@pytest.mark.parametrize("path", ["//evil.example/", "/\\evil.example", "/%09/evil.example", "///evil.example"])
def test_coming_in_leads_to_no_other_server(path):
    location = ask(house(), "GET", f"http://x{path}?token={TOKEN}")["location"]
    assert re.fullmatch(r"/(?![/\\]).*", location)


@given(st.text())
def test_an_own_path_never_names_a_host(said):
    assert urljoin("http://own.example/", own_path(said)).startswith("http://own.example/")
    assert not set("\\\t\r\n ") & set(own_path(said))


def test_two_servers_on_one_host_sign_nobody_out(tmp_path):
    async def test():
        keeping = aiohttp.CookieJar(unsafe=True)
        first, second = serving(tmp_path / "a"), serving(tmp_path / "b", secret=b"t" * 32)
        third = serving(tmp_path / "c", token="another-good-token")  # noqa: S106 - nobody's
        async with first as a, second as b, third as c, aiohttp.ClientSession(cookie_jar=keeping) as browser:
            for one in (a, b, c):
                async with browser.get(one.url, params={"token": one.server.keys.token}, allow_redirects=False) as came:
                    assert came.status == 303
            for one in (a, b, c):
                async with browser.get(f"{one.url}/api/me") as answer:
                    assert answer.status == 200
            assert len(keeping) == 3

    asyncio.run(test())


def test_a_cookie_lasts_thirty_days_and_is_written_anew_by_who_comes_often():
    made = door()
    headers = cookie_of(made)
    made.now = NOON + 29 * DAY
    answer = ask(house(made), "GET", "/api/me", headers)
    assert answer.status == 200
    made.now = NOON + 31 * DAY
    assert ask(house(made), "GET", "/api/me", headers).status == 401
    assert ask(house(made), "GET", "/api/me", {"cookie": answer.cookie}).status == 200


def test_a_young_cookie_is_left_alone():
    made = door()
    assert ask(house(made), "GET", "/api/me", cookie_of(made))["set-cookie"] is None


def test_a_cookie_of_another_secret_another_user_or_the_future_is_nobodys():
    made, other = door(), Keys(b"x" * 32)
    forged = [other.sign_cookie("local", NOON), made.keys.sign_cookie("eve", NOON)]
    forged += [made.keys.sign_cookie("local", NOON + 3600), "", ".", "..", "a.b.c", "\xff" * 40]
    for text in forged:
        assert ask(house(made), "GET", "/api/me", {"cookie": f"showandtell-{made.keys.mark}={text}"}).status == 401


@given(st.integers(0, 200), st.characters(min_codepoint=33, max_codepoint=126))
def test_a_cookie_that_was_tampered_with_says_nothing_else(place, letter):
    keys = Keys(SECRET)
    text = keys.sign_cookie("local", NOON)
    place %= len(text)
    visit = keys.read_cookie(text[:place] + letter + text[place + 1 :], NOON)
    assert visit in {None, keys.read_cookie(text, NOON)}


def test_each_use_of_the_secret_has_a_key_of_its_own():
    keys = Keys(SECRET)
    assert len({keys.derive(label) for label in ("token", "cookie", "url", "login")}) == 4
    assert keys.derive("url") == Keys(SECRET).derive("url") != Keys(b"y" * 32).derive("url")


def test_the_secret_is_made_once_and_for_its_owner_alone(tmp_path):
    folder = tmp_path / "data"
    secret = load_secret(folder, {})
    assert len(secret) >= 32
    assert load_secret(folder, {}) == secret
    assert stat.S_IMODE((folder / "secret").stat().st_mode) == 0o600
    assert [one.name for one in folder.iterdir()] == ["secret"]


def test_processes_that_start_at_once_have_one_secret(tmp_path):
    code = f"from pathlib import Path; from showandtell.server.auth.keys import *; print(load_secret(Path({str(tmp_path)!r}), {{}}))"
    running = [subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) for _ in range(4)]  # noqa: S603
    assert len({one.communicate()[0] for one in running}) == 1
    assert [one.returncode for one in running] == [0] * 4


def test_a_secret_of_the_environment_goes_before_the_file(tmp_path):
    assert load_secret(tmp_path, {"SHOWANDTELL_SECRET": "s" * 40}) == b"s" * 40
    assert not [*tmp_path.iterdir()]


def test_a_secret_that_others_can_read_or_guess_is_refused(tmp_path):
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
