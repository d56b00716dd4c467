"""How often one may ask: each user for themselves, strangers by where they come from, and whoever tries tokens least."""

import asyncio
import itertools
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from showandtell.errors import BadInput
from showandtell.server.auth.keys import Keys
from showandtell.server.middleware.rate_limits import RATES, Counts, Rate, group_of, read_rates
from showandtell.server.middleware.refusals import LINGER_BYTES
from support.doors import NOON, SECRET, ask, cookie_of, door, house, send
from support.serving import serving

TOKEN = Keys(SECRET).token
MIB = 1024 * 1024
BEARER = {"authorization": f"Bearer {TOKEN}"}


def test_one_too_many_is_told_when_to_come_back():
    made = door()
    app = house(made, rates="reads=3/minute")
    assert [ask(app, "GET", "/api/me", BEARER).status for _ in range(4)] == [200, 200, 200, 429]
    made.now += 20
    refused = ask(app, "GET", "/api/me", BEARER)
    assert (refused.status, refused["retry-after"]) == (429, "40")
    assert json.loads(refused.body)["error"]["kind"] == "TooMany"
    assert refused["x-content-type-options"] == "nosniff"
    made.now += 40
    assert ask(app, "GET", "/api/me", BEARER).status == 200


def test_groups_and_users_count_apart():
    app = house(rates="chat=1/minute,uploads=1/minute,reads=1/minute")
    asked = [("GET", "/api/me"), ("POST", "/api/change"), ("PUT", "/api/attachments")]
    assert [ask(app, method, path, BEARER, b"{}").status for method, path in asked] == [200, 429, 200]


@pytest.mark.parametrize(
    ("method", "path", "query", "group"),
    [
        ("POST", "/api/chat", b"", "chat"),
        ("GET", "/api/chat/x/stream", b"", "reads"),
        ("POST", "/api/attachments", b"", "uploads"),
        ("PUT", "/api/attachments", b"name=token=", "uploads"),
        ("GET", "/api/attachments/att_1/content", b"", "reads"),
        ("DELETE", "/api/conversations/x", b"", "reads"),
        ("GET", "/login", b"", "login"),
        ("GET", "/login/callback", b"code=1", "login"),
        ("GET", "/c/x", b"token=abc", "login"),
        ("GET", "/c/x", b"%74oken=abc", "login"),
        ("GET", "/c/x", b"", None),
        ("GET", "/assets/a.js", b"", None),
        ("GET", "/healthz", b"", None),
    ],
)
def test_each_route_counts_for_its_group(method, path, query, group):
    assert group_of({"method": method, "path": path, "query_string": query, "headers": []}) == group


@pytest.mark.parametrize("path", ["/", "/c/x", "/metrics", "/assets/a.js", "/nothing"])
def test_wherever_a_token_is_tried_it_counts(path):
    app = house()
    said = [ask(app, "GET", path, {"authorization": f"Bearer guess-number-{n}"}).status for n in range(21)]
    assert (said.count(401), said[-1]) == (20, 429)
    assert ask(app, "GET", "/api/me", {"authorization": "Bearer another"}).status == 429
    assert ask(app, "GET", path, BEARER).status == 200


def test_who_asks_whether_the_server_lives_is_answered_whatever_else_they_say():
    app = house()
    assert {ask(app, "GET", "/healthz", {"authorization": "Basic eDp5"}).status for _ in range(30)} == {200}


def test_metrics_are_no_place_to_try_tokens(tmp_path):
    async def test():
        async with serving(tmp_path) as house:
            guess = {"authorization": "Bearer guess", "x-forwarded-for": "203.0.113.9"}
            said = [(await send(house.app, "GET", "/metrics", guess)).status for _ in range(20)]
            assert (said.count(401), said[-1]) == (19, 429)  # the house itself came in by one

    asyncio.run(test())


def test_who_tries_tokens_is_slowed_down_and_who_has_one_is_not():
    app = house()
    for said in ({"authorization": "Bearer wrong"}, {"authorization": "Basic eDp5"}):
        for _ in range(10):
            assert ask(app, "GET", "/api/me", said).status == 401
    assert ask(app, "GET", "/api/me", {"authorization": "Bearer another"}).status == 429
    assert ask(app, "GET", f"/?token={TOKEN}").status == 429
    assert ask(app, "GET", "/api/me", BEARER).status == 200
    assert ask(app, "GET", "/api/me", cookie_of(app.state.door)).status == 200


def test_a_stranger_who_wants_to_change_something_is_told_before_the_body_is_there():
    app, came = house(), []
    pieces = (came.append(1) or b"x" * MIB for _ in itertools.repeat(None))
    headers = {"content-type": "application/json", "transfer-encoding": "chunked"}
    answer = asyncio.run(send(app, "POST", "/api/change", headers, pieces, on_start=lambda: came.append("told")))
    assert (answer.status, answer["www-authenticate"]) == (401, 'Bearer realm="showandtell"')
    assert came == ["told", *[1] * (LINGER_BYTES // MIB)]


def test_strangers_of_one_network_count_together():
    app = house(rates="reads=2/minute")
    ask_from = lambda client: ask(app, "GET", "/api/me", client=(client, 1)).status  # noqa: E731
    assert [ask_from(f"2001:db8::{n}") for n in range(3)] == [401, 401, 429]
    assert [ask_from("2001:db8:0:1::1"), ask_from("192.0.2.1"), ask_from("192.0.2.2")] == [401] * 3
    assert [ask_from("unix:"), ask_from(""), ask_from("testclient")] == [401, 401, 429]


@given(st.integers(1, 20), st.integers(1, 100), st.lists(st.floats(0, 50), max_size=80))
def test_a_window_holds_no_more_than_its_rate_and_the_wait_is_true(amount, seconds, steps):
    now = [NOON]
    counts, rate, begun, held = Counts(lambda: now[0]), Rate(amount, seconds), NOON, 0
    for step in steps:
        now[0] += step
        if now[0] >= begun + seconds or not held:
            begun, held = now[0], 0
        wait = counts.hit("reads", "anna", rate)
        held += not wait
        assert held <= amount
        assert bool(wait) == (held == amount and wait > 0)
        assert not wait or begun + seconds <= now[0] + wait < begun + seconds + 1.001


def test_strangers_without_number_take_no_memory_without_end():
    counts = Counts(lambda: NOON, most=100)
    for number in range(1000):
        assert counts.hit("reads", str(number), Rate(1, 60)) == 0
    assert len(counts.windows) == 100
    assert counts.hit("reads", "999", Rate(1, 60)) == 60


def test_a_clock_that_is_set_back_locks_nobody_out():
    now = [NOON]
    counts = Counts(lambda: now[0])
    assert [counts.hit("reads", "anna", Rate(1, 60)) for _ in range(2)] == [0, 60]
    now[0] -= 3600
    assert counts.hit("reads", "anna", Rate(1, 60)) == 0


def test_rates_are_read_from_one_line():
    assert read_rates("") == dict(RATES)
    read = read_rates(" chat=10/minute, reads=100/second,")
    assert (read["chat"], read["reads"], read["login"]) == (Rate(10, 60), Rate(100, 1), RATES["login"])


@pytest.mark.parametrize(
    "text", ["chat", "chat=0/minute", "chat=-1/minute", "chat=1/fortnight", "cats=1/day", "chat=1"]
)
def test_a_rate_that_is_none_is_said_at_the_start(text):
    with pytest.raises(BadInput, match="SHOWANDTELL_RATE"):
        read_rates(text)
