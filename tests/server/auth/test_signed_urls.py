"""Signed file addresses: for one user, one path and a quarter of an hour, and for reading only."""

import json
from urllib.parse import parse_qs, quote, urlencode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from showandtell.server.auth.keys import SKEW, Keys
from support.middleware_app import NOON, SECRET, ask, fake_server, guarded_app

KEYS = Keys(SECRET)
PATH = "/api/attachments/att_abcdefghijklmnopqrstuv/content/photo-1.jpg"
QUERY = KEYS.sign_url(PATH, "local", NOON)
HOUR = 3600
HOSTILE_CHARACTERS = "A0-z=&%+/?#\n\x00\xff"


def mutations(text):
    """The text with each character changed, removed, doubled or followed by another."""
    for at, character in enumerate(text):
        yield text[:at] + text[at + 1 :]
        yield text[:at] + character + text[at:]
        for other in HOSTILE_CHARACTERS:
            yield text[:at] + other + text[at + 1 :]
            yield text[:at] + other + text[at:]


def meaning(query):
    try:
        return parse_qs(query, keep_blank_values=True, errors="strict")
    except ValueError:
        return None


def test_a_signed_address_identifies_its_user():
    for method in ("GET", "HEAD"):
        assert KEYS.check_url(method, PATH, QUERY, NOON) == "local"
    response = ask(guarded_app(), "GET", f"{PATH}?{QUERY}&download=1")
    assert (json.loads(response.body)["how"], response.status) == ("signed", 200)


def test_an_address_with_more_fields_than_anybody_sends_is_no_signed_one():
    few, many = (f"{QUERY}&{'&'.join(['a=1'] * count)}" for count in (2, 20))
    assert KEYS.check_url("GET", PATH, few, NOON) == "local"
    assert KEYS.check_url("GET", PATH, many, NOON) is None


def test_no_mutation_of_a_signed_address_is_accepted():
    tried = 0
    for query in mutations(QUERY):
        if meaning(query) != meaning(QUERY):  # an extra `&` changes nothing
            fields = meaning(query) or {}
            unchanged = {name: fields.get(name) for name in ("user", "until", "sig")} == meaning(QUERY)
            assert unchanged or KEYS.check_url("GET", PATH, query, NOON) is None, query
            tried += not unchanged
    for path in mutations(PATH):
        if path != PATH:
            assert KEYS.check_url("GET", path, QUERY, NOON) is None, path
            tried += 1
    assert tried > 4_000


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE", "OPTIONS", "get", "TRACE", ""])
def test_a_signed_address_is_read_only(method):
    assert KEYS.check_url(method, PATH, QUERY, NOON) is None


@given(st.floats(-HOUR, HOUR))
def test_a_signed_address_is_valid_neither_too_early_nor_too_late(seconds):
    is_valid = KEYS.check_url("GET", PATH, QUERY, NOON + seconds) == "local"
    assert is_valid == (-SKEW <= seconds < 14 * 60)


def test_an_hour_before_or_after_is_refused():
    for way in (-HOUR, HOUR):
        assert KEYS.check_url("GET", PATH, QUERY, NOON + way) is None


@given(st.text(min_size=1), st.text(), st.floats(0, 839))
def test_any_user_and_path_can_be_signed_but_not_exchanged(user, path, later):
    address = "/api/attachments/" + quote(path, errors="surrogatepass")
    query = KEYS.sign_url(address, user, NOON)
    assert KEYS.check_url("GET", address, query, NOON + later) == user
    other = urlencode({**{name: one[0] for name, one in meaning(query).items()}, "user": user + "x"})
    assert KEYS.check_url("GET", address, other, NOON) is None
    assert KEYS.check_url("GET", address + "x", query, NOON) is None


def test_fields_cannot_be_moved_into_one_another():
    query = meaning(KEYS.sign_url("/a", "bc", NOON))
    moved = urlencode({"user": "c", "until": query["until"][0], "sig": query["sig"][0]})
    assert KEYS.check_url("GET", "/ab", moved, NOON) is None


def test_paths_that_differ_only_in_percent_encoding_are_equal():
    query = KEYS.sign_url("/api/attachments/att_1/content/caf%C3%A9%20(1).jpg", "local", NOON)
    assert KEYS.check_url("GET", "/api/attachments/att_1/content/caf%c3%a9%20%281%29.jpg", query, NOON) == "local"
    assert KEYS.check_url("GET", "/api/attachments/att_1/content/caf%C3%A8%20(1).jpg", query, NOON) is None


def test_a_repeated_parameter_is_refused():
    for name, value in (("user", "local"), ("until", "1"), ("sig", "x")):
        assert KEYS.check_url("GET", PATH, f"{QUERY}&{name}={value}", NOON) is None
        assert KEYS.check_url("GET", PATH, f"{name}={value}&{QUERY}", NOON) is None


def test_a_signature_is_valid_only_for_files_of_this_user_and_server():
    server = fake_server()
    query = server.keys.sign_url("/api/me", "local", NOON)
    assert ask(guarded_app(server), "GET", f"/api/me?{query}").status == 401
    eve = server.keys.sign_url(PATH, "eve", NOON)
    assert ask(guarded_app(server), "GET", f"{PATH}?{eve}").status == 401
    assert Keys(b"z" * 32).check_url("GET", PATH, QUERY, NOON) is None


def test_an_expired_address_is_refused_even_after_a_good_request():
    server = fake_server()
    assert ask(guarded_app(server), "GET", f"{PATH}?{QUERY}").status == 200
    server.now = NOON + 15 * 60
    assert ask(guarded_app(server), "GET", f"{PATH}?{QUERY}").status == 401
