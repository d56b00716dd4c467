"""What passes the gate: the server's own hosts and origins, bodies of the right type and size; and what answers carry."""

import asyncio
import io
import itertools
import json
import resource
import tracemalloc

import pytest
from starlette.datastructures import Headers

from showandtell.server.auth.keys import Keys
from showandtell.server.middleware.body_limits import MOST, SMALL, read_body
from showandtell.server.middleware.origin_guard import LOOPBACK, PAGE_POLICY, OriginGuard, hosts_of
from showandtell.server.middleware.refusals import LINGER_BYTES
from support.doors import HOST, OWN, SECRET, ask, cookie_of, door, house, send
from support.serving import serving

BEARER = {"authorization": f"Bearer {Keys(SECRET).token}"}
FOREIGN = [
    "null",
    "https://evil.example",
    "http://sub.127.0.0.1:8000",
    "http://127.0.0.1",
    "http://127.0.0.1:80000",
    "http://127.0.0.1:9000",
    "https://127.0.0.1:8000",
    "http://localhost:8000",
    "http://127.0.0.1:8000.evil.example",
    "http://evil.example/http://127.0.0.1:8000",
    "http://127.0.0.1:8000/",
    "http://user@127.0.0.1:8000",
    "",
    "*",
    "file://",
    "chrome-extension://abc",
]


def change(made, headers=None, body=b"{}", method="POST", path="/api/change", **more):
    return ask(made, method, path, {**cookie_of(made.state.door), **(headers or {})}, body, **more)


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE"])
@pytest.mark.parametrize("origin", FOREIGN)
def test_a_page_of_another_origin_changes_nothing(origin, method):
    made = house()
    answer = change(made, {"origin": origin}, method=method)
    assert (answer.status, made.state.changes) == (403, [])
    assert "access-control-allow-origin" not in dict(answer.headers)


@pytest.mark.parametrize("site", ["cross-site", "same-site", "none", ""])
def test_without_an_origin_the_browsers_own_word_counts(site):
    made = house()
    assert change(made, {"sec-fetch-site": site}).status == 403
    assert change(made).status == 403
    assert made.state.changes == []
    assert change(made, {"sec-fetch-site": "same-origin"}).status == 200
    assert len(made.state.changes) == 1


def test_a_good_word_doesnt_help_a_foreign_origin():
    made = house()
    answer = change(made, {"origin": "https://evil.example", "sec-fetch-site": "same-origin"})
    assert (answer.status, made.state.changes) == (403, [])


def test_our_own_page_may_change_things():
    made = house(hosts=["chat.example.com", *LOOPBACK])
    assert change(made, {"origin": OWN}).status == 200
    cookie = {"cookie": f"__Host-{cookie_of(made.state.door)['cookie']}"}
    for host, origin in [
        ("chat.example.com", "https://chat.example.com"),
        ("Chat.example.com:443", "https://chat.example.com"),
    ]:
        for said, status in [
            (origin, 200),
            (origin.replace("chat", "evil.chat"), 403),
            (origin.replace("https", "http"), 403),
        ]:
            assert change(made, {"host": host, "origin": said, **cookie}, scheme="https").status == status


def test_a_token_in_the_header_needs_no_origin():
    made = house()
    for headers in (BEARER, {**BEARER, "origin": "https://evil.example"}):
        assert ask(made, "POST", "/api/change", headers, b"{}").status == 200


def test_nobody_is_told_so_and_not_taken_for_an_attack():
    assert ask(house(), "POST", "/api/change", {}, b"{}").status == 401


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "127.0.0.1.evil.example",
        "localhost.evil.example:8000",
        "evil.localhost",
        "localhost.",
        "127.0.0.2:8000",
        "0.0.0.0:8000",
        "[::2]",
        "2130706433",
        "127.1",
        "127.0.0.1:8000@evil.example",
        "evil.example#127.0.0.1",
        "evil.example, 127.0.0.1",
        "127.0.0.1:port",
        "",
        " ",
        "127.0.0.1 ",
        "\xff",
    ],
)
def test_a_host_that_is_not_ours_gets_nothing(host):
    made = house()
    origin = {"origin": f"http://{host}", "sec-fetch-site": "same-origin"}
    for method, path in [("GET", "/"), ("GET", "/api/me"), ("POST", "/api/change"), ("OPTIONS", "/api/change")]:
        answer = ask(made, method, path, {"host": host, **origin, **cookie_of(made.state.door)}, b"{}")
        assert answer.status == 421
        assert "SHOWANDTELL_HOSTS" in json.loads(answer.body)["error"]["text"]
    assert made.state.changes == []


def test_no_host_and_two_hosts_are_refused():
    for headers in ([("host", HOST), ("host", HOST)], [("host", HOST), ("host", "evil.example")]):
        assert asyncio.run(send(house(), "GET", "/api/me", headers)).status == 421


def test_the_servers_names_are_taken_with_any_port_unless_one_is_named():
    made = house(hosts=hosts_of("192.0.2.7", ["Chat.example.com", " other.example:8443", ""]))
    taken = ["127.0.0.1", "localhost:1", "[::1]:8000", "192.0.2.7:8000", "chat.EXAMPLE.com:77", "other.example:8443"]
    assert [ask(made, "GET", "/api/me", {"host": host}).status for host in taken] == [401] * 6
    assert ask(made, "GET", "/api/me", {"host": "other.example"}).status == 421


@pytest.mark.parametrize("bind", ["0.0.0.0", "::", ""])  # noqa: S104 - only compared with
def test_a_server_at_every_address_takes_addresses_but_no_unknown_names(bind):
    made = house(hosts=hosts_of(bind))
    assert ask(made, "GET", "/api/me", {"host": "192.0.2.1:8000"}).status == 401
    assert ask(made, "GET", "/api/me", {"host": "[2001:db8::1]"}).status == 401
    assert ask(made, "GET", "/api/me", {"host": "evil.example"}).status == 421
    assert ask(house(hosts=["*"]), "GET", "/api/me", {"host": "any.example"}).status == 401


def test_a_probe_may_come_by_any_address():
    assert ask(house(), "GET", "/healthz", {"host": "10.0.0.7:8000"}).status == 200


@pytest.mark.parametrize(
    "kind",
    ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "", "text/json", "application/jsonp"],
)
def test_a_body_that_a_form_can_send_is_not_json(kind):
    made = house()
    answer = change(made, {"origin": OWN, "content-type": kind})
    assert (answer.status, made.state.changes) == (415, [])


def test_json_may_name_its_charset_and_no_body_needs_no_type():
    made = house()
    assert change(made, {"origin": OWN, "content-type": "Application/JSON; charset=utf-8"}).status == 200
    assert ask(made, "DELETE", "/api/change", {**cookie_of(made.state.door), "origin": OWN}).status == 200


def test_files_are_posted_as_a_form_or_put_as_they_are():
    made = house()
    assert ask(made, "POST", "/api/attachments", {**BEARER, "content-type": "text/plain"}, b"x").status == 415
    assert (
        ask(
            made, "POST", "/api/attachments", {**BEARER, "content-type": "multipart/form-data; boundary=x"}, b"x"
        ).status
        == 200
    )
    assert ask(made, "PUT", "/api/attachments", {**BEARER, "content-type": "image/png"}, b"x").status == 200


def test_another_page_that_is_named_may_use_a_token_and_never_a_cookie():
    app = "https://app.example.com"
    made = house(origins=[app])
    asked = {"origin": app, "access-control-request-method": "POST"}
    allowed = ask(made, "OPTIONS", "/api/change", asked)
    assert (allowed.status, allowed["access-control-allow-origin"]) == (204, app)
    assert ask(made, "POST", "/api/change", {**BEARER, "origin": app}, b"{}")["access-control-allow-origin"] == app
    for headers in ({"origin": app}, {"origin": app, **cookie_of(made.state.door)}):
        assert ask(made, "GET", "/api/me", headers)["access-control-allow-origin"] is None
    assert change(made, {"origin": app}).status == 403


@pytest.mark.parametrize("origin", FOREIGN)
def test_another_page_that_is_not_named_reads_nothing(origin):
    made = house(origins=["https://app.example.com"])
    for headers in (BEARER, {"access-control-request-method": "POST"}, cookie_of(made.state.door)):
        for method in ("OPTIONS", "GET"):
            answer = ask(made, method, "/api/me", {"origin": origin, **headers})
            assert not [name for name, _ in answer.headers if name.startswith("access-control")]
            assert answer["vary"] == "origin"


def test_every_answer_is_guarded_and_a_routes_own_words_stay():
    made = house()
    for path in ("/", "/api/me", "/api/nothing", "/healthz"):
        answer = ask(made, "GET", path, cookie_of(made.state.door))
        assert answer["x-content-type-options"] == "nosniff"
        assert answer["referrer-policy"] == "no-referrer"
        assert (answer["cross-origin-resource-policy"], answer["cross-origin-opener-policy"]) == ("same-origin",) * 2
        assert answer["content-security-policy"].startswith("default-src 'none'")
    assert ask(made, "GET", "/", cookie_of(made.state.door))["content-security-policy"] == PAGE_POLICY
    assert ask(made, "GET", "/api/me", {"host": "evil.example"})["x-content-type-options"] == "nosniff"


def test_the_pages_policy_lets_no_inline_code_run_and_nobody_frame_it():
    for word in ("unsafe-inline", "unsafe-eval", "data:", "*", "http:", "https:"):
        assert word not in PAGE_POLICY
    assert "frame-ancestors 'none'" in PAGE_POLICY


def test_what_the_api_says_is_kept_by_nobody_unless_its_route_says_so():
    assert ask(house(), "GET", "/api/me", BEARER)["cache-control"] == "no-store"
    assert ask(house(), "GET", "/healthz")["cache-control"] is None


def test_a_route_may_have_a_policy_of_its_own():
    async def route(_, __, send):
        await send(
            {"type": "http.response.start", "status": 200, "headers": [(b"content-security-policy", b"sandbox")]}
        )
        await send({"type": "http.response.body"})

    assert ask(OriginGuard(route), "GET", "/")["content-security-policy"] == "sandbox"


def test_a_body_that_is_too_long_is_refused_by_its_length_before_it_comes():
    made, came = house(), []
    for length in (str(MOST + 1), "9" * 5000, "-1", "x"):
        pieces = (came.append(1) or b"x" * MOST for _ in itertools.repeat(None))
        headers = {**BEARER, "content-type": "application/json", "content-length": length}
        answer = asyncio.run(send(made, "POST", "/api/change", headers, pieces, on_start=lambda: came.append("told")))
        assert (answer.status, answer["connection"]) == (413, "close")
        assert came[0] == "told"
        came.clear()
    assert made.state.changes == []


def test_a_body_without_end_is_counted_while_it_comes():
    made, came = house(), []
    pieces = (came.append(1) or b"x" * 65536 for _ in itertools.repeat(None))
    headers = {**BEARER, "content-type": "application/json", "transfer-encoding": "chunked"}
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    answer = asyncio.run(send(made, "POST", "/api/change", headers, pieces, on_start=lambda: came.append("told")))
    assert (answer.status, made.state.changes) == (413, [])
    assert came.index("told") == SMALL // 65536 + 1
    assert len(came) == came.index("told") + 1 + LINGER_BYTES // 65536
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 24 * 1024  # KiB


def test_a_body_that_fits_arrives_as_it_was_sent():
    made = house(most=1000)
    headers = {**BEARER, "content-type": "application/json", "transfer-encoding": "chunked"}
    assert asyncio.run(send(made, "POST", "/api/change", headers, [b"a" * 500, b"", b"b" * 500])).status == 200
    assert made.state.changes == [("local", b"a" * 500 + b"b" * 500)]


def test_a_body_in_pieces_of_two_bytes_takes_no_more_room_than_it_has_bytes():
    coming, left = itertools.count(), 100_000

    async def receive():
        number = next(coming)
        return {"type": "http.request", "body": b"%02d" % (number % 100), "more_body": number < left}

    tracemalloc.start()
    try:
        body = asyncio.run(read_body(Headers({}), receive, SMALL))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert (body[:6], body[-2:], len(body)) == (b"000102", b"00", 2 * left + 2)
    assert peak < 5 * len(body)


def test_a_body_that_never_comes_is_not_waited_for(monkeypatch):
    monkeypatch.setattr("showandtell.server.middleware.refusals.LINGER", 0.01)
    made = house(patience=0.01)

    async def ask_slowly():
        answered = []
        scope = {"type": "http", "method": "POST", "scheme": "http", "path": "/api/change", "query_string": b""}
        headers = {**BEARER, "host": HOST, "content-type": "application/json", "transfer-encoding": "chunked"}
        scope["headers"] = [(name.encode(), value.encode()) for name, value in headers.items()]
        await made(scope, asyncio.Event().wait, lambda message: asyncio.sleep(0, answered.append(message)))
        return answered

    assert asyncio.run(ask_slowly())[0]["status"] == 408


def test_who_leaves_while_sending_changes_nothing():
    made, answered = house(), []

    async def leave():
        coming = iter([{"type": "http.request", "body": b"{", "more_body": True}, {"type": "http.disconnect"}])
        headers = {**BEARER, "host": HOST, "content-type": "application/json", "transfer-encoding": "chunked"}
        scope = {"type": "http", "method": "POST", "scheme": "http", "path": "/api/change", "query_string": b""}
        scope["headers"] = [(name.encode(), value.encode()) for name, value in headers.items()]
        await made(
            scope, lambda: asyncio.sleep(0, next(coming)), lambda message: asyncio.sleep(0, answered.append(message))
        )

    asyncio.run(leave())
    assert (made.state.changes, answered) == ([], [])


def test_headers_without_number_are_refused():
    headers = [("host", HOST), *((f"x-{number}", "1") for number in range(200))]
    assert asyncio.run(send(house(), "GET", "/api/me", headers)).status == 431
    assert ask(house(), "GET", "/api/me", {"x-long": "x" * 33_000}).status == 431


def test_no_websocket_passes():
    sent = []
    asyncio.run(
        house()({"type": "websocket", "headers": []}, None, lambda message: asyncio.sleep(0, sent.append(message)))
    )
    assert sent == [{"type": "websocket.close", "code": 1008}]


def test_a_cookie_of_one_door_is_not_read_by_the_gate():
    made = house(door(token="another-good-token"))  # noqa: S106 - nobody's
    assert ask(made, "GET", "/api/me", cookie_of(door())).status == 401


def test_over_a_real_connection_who_sent_too_much_reads_why(tmp_path):
    async def test():
        async with serving(tmp_path) as house:
            json_body = {"data": io.BytesIO(b"[" + b" " * MOST + b"]"), "headers": {"content-type": "application/json"}}
            async with house.session.post("/api/chat", **json_body) as answer:
                assert (answer.status, (await answer.json())["error"]["kind"]) == (413, "TooLarge")
            async with house.session.get("/api/me", headers={"host": "evil.example"}) as answer:
                assert answer.status == 421
            async with house.session.post("/api/chat", json={}, headers={"origin": "null"}) as answer:
                assert answer.status == 403

    asyncio.run(test())
