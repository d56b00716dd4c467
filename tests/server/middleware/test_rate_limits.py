"""Rate limits: per user, per network for strangers, and strictest for clients that try tokens."""

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
from support.middleware_app import NOON, SECRET, ask, fake_server, guarded_app, login_cookie, send
from support.oidc_app import run_with_issuer
from support.serving import serving

TOKEN = Keys(SECRET).token
MIB = 1024 * 1024
BEARER = {"authorization": f"Bearer {TOKEN}"}


def test_a_client_over_the_limit_gets_a_retry_after():
    server = fake_server()
    app = guarded_app(server, rates="reads=3/minute")
    assert [ask(app, "GET", "/api/me", BEARER).status for _ in range(4)] == [200, 200, 200, 429]
    server.now += 20
    response = ask(app, "GET", "/api/me", BEARER)
    assert (response.status, response["retry-after"]) == (429, "40")
    assert json.loads(response.body)["error"]["kind"] == "TooMany"
    assert response["x-content-type-options"] == "nosniff"
    server.now += 40
    assert ask(app, "GET", "/api/me", BEARER).status == 200


def test_groups_count_separately():
    app = guarded_app(rates="chat=1/minute,uploads=1/minute,reads=1/minute")
    requests = [("GET", "/api/me"), ("POST", "/api/change"), ("PUT", "/api/attachments")]
    assert [ask(app, method, path, BEARER, b"{}").status for method, path in requests] == [200, 429, 200]


@pytest.mark.parametrize(
    ("method", "path", "query", "group"),
    [
        ("POST", "/api/chat", b"", "chat"),
        ("GET", "/api/chat/x/stream", b"", "reads"),
        ("POST", "/api/attachments", b"", "uploads"),
        ("PUT", "/api/attachments", b"name=token=", "uploads"),
        ("POST", "/api/attachments/fetch", b"", "uploads"),
        ("GET", "/api/attachments/att_1/content", b"", "reads"),
        ("DELETE", "/api/conversations/x", b"", "reads"),
        ("PUT", "/api/providers/openai/key", b"", "chat"),
        ("GET", "/api/providers", b"", "reads"),
        ("GET", "/login", b"", "login"),
        ("GET", "/login/callback", b"code=1", "login"),
        ("POST", "/login/backchannel", b"", "login"),
        ("GET", "/c/x", b"token=abc", "tokens"),
        ("GET", "/c/x", b"%74oken=abc", "tokens"),
        ("GET", "/c/x", b"tab=1&code", "tokens"),
        ("GET", "/c/x", b"", None),
        ("GET", "/assets/a.js", b"", None),
        ("GET", "/healthz", b"", None),
    ],
)
def test_each_route_counts_for_its_group(method, path, query, group):
    assert group_of({"method": method, "path": path, "query_string": query, "headers": []}) == group


@pytest.mark.parametrize("path", ["/", "/c/x", "/metrics", "/assets/a.js", "/nothing"])
def test_a_wrong_token_counts_on_every_path(path):
    app = guarded_app()
    statuses = [ask(app, "GET", path, {"authorization": f"Bearer guess-number-{n}"}).status for n in range(21)]
    assert (statuses.count(401), statuses[-1]) == (20, 429)
    assert ask(app, "GET", "/api/me", {"authorization": "Bearer another"}).status == 429
    assert ask(app, "GET", path, BEARER, client=("192.0.2.1", 1)).status == 200


def test_a_health_probe_is_never_limited():
    app = guarded_app()
    assert {ask(app, "GET", "/healthz", {"authorization": "Basic eDp5"}).status for _ in range(30)} == {200}


def test_wrong_tokens_for_metrics_count(tmp_path):
    async def test():
        async with serving(tmp_path) as site:
            guess = {"authorization": "Bearer guess", "x-forwarded-for": "203.0.113.9"}
            statuses = [(await send(site.app, "GET", "/metrics", guess)).status for _ in range(21)]
            assert (statuses.count(401), statuses[-1]) == (20, 429)

    asyncio.run(test())


def wrong_tokens(app, count=20):
    """Send wrong tokens in headers, tokens and codes in URLs: all count together."""
    guesses = [("/api/me", {"authorization": "Bearer wrong"}), ("/?token=wrong", {}), ("/c/x?code=wrong", {})]
    requests = itertools.islice(itertools.cycle(guesses), count)
    return [ask(app, "GET", path, headers).status for path, headers in requests]


def test_wrong_tokens_stop_further_tokens_from_there_also_the_right_one():
    app = guarded_app()
    assert wrong_tokens(app, 22) == [401] * 20 + [429] * 2
    assert ask(app, "GET", f"/?token={TOKEN}").status == 429
    assert ask(app, "GET", "/api/me", BEARER).status == 429
    assert ask(app, "GET", "/api/me", BEARER, client=("192.0.2.1", 1)).status == 200
    app.state.server.now += 60
    assert ask(app, "GET", "/api/me", BEARER).status == 200


def test_wrong_tokens_stop_nobody_who_is_signed_in():
    app, browser = guarded_app(), {"accept": "text/html"}
    cookie = login_cookie(app.state.server) | browser
    wrong_tokens(app)
    assert ask(app, "GET", "/", cookie).status == 200
    assert ask(app, "GET", "/?token=an-old-bookmark", cookie).status == 303
    assert ask(app, "GET", "/api/me", cookie).status == 200
    assert ask(app, "GET", "/", browser).status == 401  # the page that says what to do


def test_a_browser_gets_a_page_with_the_seconds_to_wait_and_a_program_json():
    app = guarded_app()
    wrong_tokens(app)
    app.state.server.now += 20
    page = ask(app, "GET", "/?code=another", {"accept": "text/html,*/*"})
    assert (page.status, page["retry-after"]) == (429, "40")
    assert page["content-type"].startswith("text/html")
    assert b"40 seconds" in page.body
    program = ask(app, "GET", "/api/me", {"authorization": "Bearer x", "accept": "text/html"})
    assert (program["retry-after"], json.loads(program.body)["error"]["kind"]) == ("40", "TooMany")


def test_right_tokens_never_fill_the_bucket():
    app = guarded_app(rates="tokens=3/minute")
    assert [ask(app, "GET", f"/?token={TOKEN}").status for _ in range(10)] == [303] * 10
    assert [ask(app, "GET", "/metrics", BEARER).status for _ in range(10)] == [200] * 10


def test_wrong_tokens_stop_neither_accounts_nor_their_valid_tokens():
    async def test(site):
        wrong = site.issuer.token(aud="another")
        assert [(await site.bear(wrong)).status for _ in range(21)] == [401] * 20 + [429]
        assert (await site.ask("/?token=old"))["location"] == "/login?to=%2F"
        assert (await site.ask("/login"))["location"].startswith(site.issuer.url)
        assert (await site.bear(site.issuer.token())).status == 200

    run_with_issuer(test, rates="")


def test_two_hundred_people_of_one_office_sign_in_within_a_minute():
    async def test(site):
        for path in ("/", "/login", "/login/callback?code=x&state=y") * 200:
            assert (await site.ask(path, {"accept": "text/html"})).status in {303, 403}

    run_with_issuer(test, rates="")


def test_an_office_that_starts_too_many_sign_ins_gets_a_page():
    app = guarded_app(rates="login=2/minute")
    statuses = [ask(app, "GET", "/login", {"accept": "text/html"}).status for _ in range(3)]
    assert statuses == [401, 401, 429]


def test_a_stranger_is_refused_before_the_body_arrives():
    app, events = guarded_app(), []
    pieces = (events.append(1) or b"x" * MIB for _ in itertools.repeat(None))
    headers = {"content-type": "application/json", "transfer-encoding": "chunked"}
    response = asyncio.run(send(app, "POST", "/api/change", headers, pieces, on_start=lambda: events.append("started")))
    assert (response.status, response["www-authenticate"]) == (401, 'Bearer realm="showandtell"')
    assert events == ["started", *[1] * (LINGER_BYTES // MIB)]


def test_strangers_of_one_network_count_together():
    app = guarded_app(rates="reads=2/minute")
    ask_from = lambda client: ask(app, "GET", "/api/me", client=(client, 1)).status  # noqa: E731
    assert [ask_from(f"2001:db8::{n}") for n in range(3)] == [401, 401, 429]
    assert [ask_from("2001:db8:0:1::1"), ask_from("192.0.2.1"), ask_from("192.0.2.2")] == [401] * 3
    assert [ask_from("unix:"), ask_from(""), ask_from("testclient")] == [401, 401, 429]


@given(st.integers(1, 20), st.integers(1, 100), st.lists(st.floats(0, 50), max_size=80))
def test_a_window_never_exceeds_its_rate_and_the_wait_is_exact(amount, seconds, steps):
    now = [NOON]
    counts, rate, started, count = Counts(lambda: now[0]), Rate(amount, seconds), NOON, 0
    for step in steps:
        now[0] += step
        if now[0] >= started + seconds or not count:
            started, count = now[0], 0
        wait = counts.hit("reads", "anna", rate)
        count += not wait
        assert count <= amount
        assert bool(wait) == (count == amount and wait > 0)
        assert not wait or started + seconds <= now[0] + wait < started + seconds + 1.001


def test_the_number_of_windows_is_bounded():
    counts = Counts(lambda: NOON, max_windows=100)
    for number in range(1000):
        assert counts.hit("reads", str(number), Rate(1, 60)) == 0
    assert len(counts.windows) == 100
    assert counts.hit("reads", "999", Rate(1, 60)) == 60


def test_a_clock_set_back_does_not_lock_clients_out():
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
def test_an_invalid_rate_is_refused_at_startup(text):
    with pytest.raises(BadInput, match="SHOWANDTELL_RATE"):
        read_rates(text)


@pytest.mark.parametrize("network", ["192.0.2.{}", "::ffff:192.0.2.{}", "2001:db8:0:{}::1"])
def test_addresses_count_separately_also_as_a_proxy_may_write_them(network):
    app = guarded_app()
    guess = {"authorization": "Bearer wrong"}
    statuses = [ask(app, "GET", "/api/me", guess, client=(network.format(n), 1)).status for n in range(1, 23)]
    assert set(statuses) == {401}
    assert [ask(app, "GET", "/api/me", guess, client=(network.format(1), 1)).status for _ in range(20)][-1] == 429
