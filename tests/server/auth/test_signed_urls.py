"""Signed addresses of files: for one user, one path, a quarter of an hour, and reading alone."""

import json
from urllib.parse import parse_qs, quote, urlencode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from showandtell.server.auth.keys import SKEW, Keys
from support.doors import NOON, SECRET, ask, door, house

KEYS = Keys(SECRET)
PATH = "/api/attachments/att_abcdefghijklmnopqrstuv/content/photo-1.jpg"
QUERY = KEYS.sign_url(PATH, "local", NOON)
HOUR = 3600
LETTERS = "A0-z=&%+/?#\n\x00\xff"


def mutations(text):
    """Each byte changed, left out, doubled, and followed by another."""
    for at, letter in enumerate(text):
        yield text[:at] + text[at + 1 :]
        yield text[:at] + letter + text[at:]
        for other in LETTERS:
            yield text[:at] + other + text[at + 1 :]
            yield text[:at] + other + text[at:]


def meaning(query):
    try:
        return parse_qs(query, keep_blank_values=True, errors="strict")
    except ValueError:
        return None


def test_a_signed_address_is_read_as_its_user():
    for method in ("GET", "HEAD"):
        assert KEYS.check_url(method, PATH, QUERY, NOON) == "local"
    answer = ask(house(), "GET", f"{PATH}?{QUERY}&download=1")
    assert (json.loads(answer.body)["how"], answer.status) == ("signed", 200)


def test_no_mutation_of_a_signed_address_is_taken():
    tried = 0
    for query in mutations(QUERY):
        if meaning(query) != meaning(QUERY):  # what only adds `&` says the same
            more = meaning(query) or {}
            same = {name: more.get(name) for name in ("user", "until", "sig")} == meaning(QUERY)
            assert same or KEYS.check_url("GET", PATH, query, NOON) is None, query
            tried += not same
    for path in mutations(PATH):
        if path != PATH:
            assert KEYS.check_url("GET", path, QUERY, NOON) is None, path
            tried += 1
    assert tried > 4_000


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE", "OPTIONS", "get", "TRACE", ""])
def test_a_signed_address_only_reads(method):
    assert KEYS.check_url(method, PATH, QUERY, NOON) is None


@given(st.floats(-HOUR, HOUR))
def test_a_signed_address_is_dead_after_a_quarter_of_an_hour_and_not_yet_born_before(seconds):
    taken = KEYS.check_url("GET", PATH, QUERY, NOON + seconds) == "local"
    assert taken == (-SKEW <= seconds < 14 * 60)


def test_an_hour_either_way_is_too_much():
    for way in (-HOUR, HOUR):
        assert KEYS.check_url("GET", PATH, QUERY, NOON + way) is None


@given(st.text(min_size=1), st.text(), st.floats(0, 839))
def test_any_name_and_path_comes_back_and_is_nobody_elses(user, path, later):
    address = "/api/attachments/" + quote(path, errors="surrogatepass")
    query = KEYS.sign_url(address, user, NOON)
    assert KEYS.check_url("GET", address, query, NOON + later) == user
    other = urlencode({**{name: one[0] for name, one in meaning(query).items()}, "user": user + "x"})
    assert KEYS.check_url("GET", address, other, NOON) is None
    assert KEYS.check_url("GET", address + "x", query, NOON) is None


def test_fields_cant_be_moved_into_one_another():
    query = meaning(KEYS.sign_url("/a", "bc", NOON))
    moved = urlencode({"user": "c", "until": query["until"][0], "sig": query["sig"][0]})
    assert KEYS.check_url("GET", "/ab", moved, NOON) is None


def test_another_spelling_of_the_same_path_is_the_same_path():
    query = KEYS.sign_url("/api/attachments/att_1/content/caf%C3%A9%20(1).jpg", "local", NOON)
    assert KEYS.check_url("GET", "/api/attachments/att_1/content/caf%c3%a9%20%281%29.jpg", query, NOON) == "local"
    assert KEYS.check_url("GET", "/api/attachments/att_1/content/caf%C3%A8%20(1).jpg", query, NOON) is None


def test_said_twice_is_not_said():
    for name, value in (("user", "local"), ("until", "1"), ("sig", "x")):
        assert KEYS.check_url("GET", PATH, f"{QUERY}&{name}={value}", NOON) is None
        assert KEYS.check_url("GET", PATH, f"{name}={value}&{QUERY}", NOON) is None


def test_it_opens_nothing_but_files_and_no_other_servers():
    made = door()
    query = made.keys.sign_url("/api/me", "local", NOON)
    assert ask(house(made), "GET", f"/api/me?{query}").status == 401
    eve = made.keys.sign_url(PATH, "eve", NOON)
    assert ask(house(made), "GET", f"{PATH}?{eve}").status == 401
    assert Keys(b"z" * 32).check_url("GET", PATH, QUERY, NOON) is None


def test_an_address_that_has_died_is_refused_also_when_it_was_good_a_moment_ago():
    made = door()
    assert ask(house(made), "GET", f"{PATH}?{QUERY}").status == 200
    made.now = NOON + 15 * 60
    assert ask(house(made), "GET", f"{PATH}?{QUERY}").status == 401
