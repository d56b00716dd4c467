"""The origin guard and the body limits: hosts, origins, types and sizes of bodies, and headers of responses."""

import asyncio
import io
import itertools
import json
import resource
import tracemalloc

import pytest
from starlette.datastructures import Headers

from showandtell.server.auth.keys import Keys
from showandtell.server.middleware.body_limits import MAX_BODY, MAX_CHAT_BODY, read_body
from showandtell.server.middleware.origin_guard import LOOPBACK, PAGE_POLICY, OriginGuard, hosts_of
from showandtell.server.middleware.refusals import LINGER_BYTES
from support.middleware_app import HOST, OWN, SECRET, ask, fake_server, guarded_app, login_cookie, send
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


def change(app, headers=None, body=b"{}", method="POST", path="/api/change", **more):
    return ask(app, method, path, {**login_cookie(app.state.server), **(headers or {})}, body, **more)


def test_a_page_of_another_origin_changes_nothing(subtests):
    app = guarded_app()
    for origin, method in itertools.product(FOREIGN, ("POST", "PUT", "PATCH", "DELETE")):
        with subtests.test(origin=origin, method=method):
            response = change(app, {"origin": origin}, method=method)
            assert (response.status, app.state.changes) == (403, [])
            assert "access-control-allow-origin" not in dict(response.headers)


@pytest.mark.parametrize("name", ["origin", "sec-fetch-site"])
def test_a_header_that_says_where_a_request_comes_from_may_not_be_repeated(name):
    app = guarded_app()
    own = {"origin": OWN, "sec-fetch-site": "same-origin"}[name]
    cookie = [*login_cookie(app.state.server).items()]
    for values in ([own, own], [own, "https://evil.example"], ["https://evil.example", own]):
        headers = [*cookie, *((name, value) for value in values), ("content-type", "application/json")]
        assert asyncio.run(send(app, "POST", "/api/change", headers, [b"{}"])).status == 403
    assert app.state.changes == []


@pytest.mark.parametrize("site", ["cross-site", "same-site", "none", ""])
def test_without_an_origin_sec_fetch_site_decides(site):
    app = guarded_app()
    assert change(app, {"sec-fetch-site": site}).status == 403
    assert change(app).status == 403
    assert app.state.changes == []
    assert change(app, {"sec-fetch-site": "same-origin"}).status == 200
    assert len(app.state.changes) == 1


def test_sec_fetch_site_does_not_excuse_a_foreign_origin():
    app = guarded_app()
    response = change(app, {"origin": "https://evil.example", "sec-fetch-site": "same-origin"})
    assert (response.status, app.state.changes) == (403, [])


def test_the_servers_own_page_may_change_things():
    app = guarded_app(hosts=["chat.example.com", *LOOPBACK])
    assert change(app, {"origin": OWN}).status == 200
    cookie = {"cookie": f"__Host-{login_cookie(app.state.server)['cookie']}"}
    for host, origin in [
        ("chat.example.com", "https://chat.example.com"),
        ("Chat.example.com:443", "https://chat.example.com"),
    ]:
        for sent_origin, status in [
            (origin, 200),
            (origin.replace("chat", "evil.chat"), 403),
            (origin.replace("https", "http"), 403),
        ]:
            assert change(app, {"host": host, "origin": sent_origin, **cookie}, scheme="https").status == status


def test_a_token_in_the_header_needs_no_origin_but_excuses_no_foreign_one():
    app = guarded_app()
    for more, status in (({}, 200), ({"origin": OWN}, 200), *(({"origin": origin}, 403) for origin in FOREIGN)):
        assert ask(app, "POST", "/api/change", {**BEARER, **more}, b"{}").status == status
    assert len(app.state.changes) == 2


def test_a_request_without_login_gets_401_and_not_403():
    assert ask(guarded_app(), "POST", "/api/change", {}, b"{}").status == 401


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
def test_an_unknown_host_is_refused(host):
    app = guarded_app()
    origin = {"origin": f"http://{host}", "sec-fetch-site": "same-origin"}
    for method, path in [("GET", "/"), ("GET", "/api/me"), ("POST", "/api/change"), ("OPTIONS", "/api/change")]:
        response = ask(app, method, path, {"host": host, **origin, **login_cookie(app.state.server)}, b"{}")
        assert response.status == 421
        assert "SHOWANDTELL_HOSTS" in json.loads(response.body)["error"]["text"]
    assert app.state.changes == []


def test_two_hosts_are_refused():
    for headers in ([("host", HOST), ("host", HOST)], [("host", HOST), ("host", "evil.example")]):
        assert asyncio.run(send(guarded_app(), "GET", "/api/me", headers)).status == 421


def test_configured_hosts_are_accepted_on_any_port_unless_one_is_named():
    app = guarded_app(hosts=hosts_of("192.0.2.7", ["Chat.example.com", " other.example:8443", ""]))
    accepted = ["127.0.0.1", "localhost:1", "[::1]:8000", "192.0.2.7:8000", "chat.EXAMPLE.com:77", "other.example:8443"]
    assert [ask(app, "GET", "/api/me", {"host": host}).status for host in accepted] == [401] * 6
    assert ask(app, "GET", "/api/me", {"host": "other.example"}).status == 421


@pytest.mark.parametrize("bind", ["0.0.0.0", "::", ""])  # noqa: S104 - only compared with
def test_a_server_on_all_interfaces_accepts_ip_addresses_but_no_unknown_names(bind):
    app = guarded_app(hosts=hosts_of(bind))
    assert ask(app, "GET", "/api/me", {"host": "192.0.2.1:8000"}).status == 401
    assert ask(app, "GET", "/api/me", {"host": "[2001:db8::1]"}).status == 401
    assert ask(app, "GET", "/api/me", {"host": "evil.example"}).status == 421
    assert ask(guarded_app(hosts=["*"]), "GET", "/api/me", {"host": "any.example"}).status == 401


def test_a_health_probe_is_accepted_under_any_host():
    assert ask(guarded_app(), "GET", "/healthz", {"host": "10.0.0.7:8000"}).status == 200


@pytest.mark.parametrize(
    "kind",
    ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "", "text/json", "application/jsonp"],
)
def test_a_body_that_a_form_can_send_is_not_json(kind):
    app = guarded_app()
    response = change(app, {"origin": OWN, "content-type": kind})
    assert (response.status, app.state.changes) == (415, [])


def test_json_may_name_its_charset_and_an_empty_body_needs_no_type():
    app = guarded_app()
    assert change(app, {"origin": OWN, "content-type": "Application/JSON; charset=utf-8"}).status == 200
    assert ask(app, "DELETE", "/api/change", {**login_cookie(app.state.server), "origin": OWN}).status == 200


def test_files_are_posted_as_a_form_or_put_raw():
    app = guarded_app()
    assert ask(app, "POST", "/api/attachments", {**BEARER, "content-type": "text/plain"}, b"x").status == 415
    assert (
        ask(app, "POST", "/api/attachments", {**BEARER, "content-type": "multipart/form-data; boundary=x"}, b"x").status
        == 200
    )
    assert ask(app, "PUT", "/api/attachments", {**BEARER, "content-type": "image/png"}, b"x").status == 200


def test_a_configured_origin_may_use_a_token_but_never_a_cookie():
    origin = "https://app.example.com"
    app = guarded_app(origins=[origin])
    preflight = {"origin": origin, "access-control-request-method": "POST"}
    allowed = ask(app, "OPTIONS", "/api/change", preflight)
    assert (allowed.status, allowed["access-control-allow-origin"]) == (204, origin)
    assert ask(app, "POST", "/api/change", {**BEARER, "origin": origin}, b"{}")["access-control-allow-origin"] == origin
    for headers in ({"origin": origin}, {"origin": origin, **login_cookie(app.state.server)}):
        assert ask(app, "GET", "/api/me", headers)["access-control-allow-origin"] is None
    assert change(app, {"origin": origin}).status == 403


@pytest.mark.parametrize("origin", FOREIGN)
def test_an_unknown_origin_reads_nothing(origin):
    app = guarded_app(origins=["https://app.example.com"])
    for headers in (BEARER, {"access-control-request-method": "POST"}, login_cookie(app.state.server)):
        for method in ("OPTIONS", "GET"):
            response = ask(app, method, "/api/me", {"origin": origin, **headers})
            assert not [name for name, _ in response.headers if name.startswith("access-control")]
            assert response["vary"] == "origin"


def test_every_response_has_security_headers():
    app = guarded_app()
    for path in ("/", "/api/me", "/api/nothing", "/healthz"):
        response = ask(app, "GET", path, login_cookie(app.state.server))
        assert response["x-content-type-options"] == "nosniff"
        assert response["referrer-policy"] == "no-referrer"
        assert (response["cross-origin-resource-policy"], response["cross-origin-opener-policy"]) == (
            "same-origin",
        ) * 2
        assert response["content-security-policy"].startswith("default-src 'none'")
        assert {"camera=()", "microphone=()", "geolocation=()"} <= set(response["permissions-policy"].split(", "))
        assert "clipboard-write" not in response["permissions-policy"]
    assert ask(app, "GET", "/", login_cookie(app.state.server))["content-security-policy"] == PAGE_POLICY
    assert ask(app, "GET", "/api/me", {"host": "evil.example"})["x-content-type-options"] == "nosniff"


def test_the_pages_policy_forbids_inline_code_and_framing():
    for word in ("unsafe-inline", "unsafe-eval", "data:", "*", "http:", "https:"):
        assert word not in PAGE_POLICY
    assert "frame-ancestors 'none'" in PAGE_POLICY
    assert "require-trusted-types-for 'script'; trusted-types default" in PAGE_POLICY


def test_api_responses_are_not_cached():
    assert ask(guarded_app(), "GET", "/api/me", BEARER)["cache-control"] == "no-store"
    assert ask(guarded_app(), "GET", "/healthz")["cache-control"] is None


def test_a_route_may_set_its_own_policy():
    async def route(_, __, send):
        await send(
            {"type": "http.response.start", "status": 200, "headers": [(b"content-security-policy", b"sandbox")]}
        )
        await send({"type": "http.response.body"})

    assert ask(OriginGuard(route), "GET", "/")["content-security-policy"] == "sandbox"


def test_a_content_length_over_the_limit_is_refused_before_the_body_arrives():
    app, events = guarded_app(), []
    for length in (str(MAX_CHAT_BODY + 1), "9" * 5000, "-1", "x"):
        pieces = (events.append(1) or b"x" * MAX_CHAT_BODY for _ in itertools.repeat(None))
        headers = {**BEARER, "content-type": "application/json", "content-length": length}
        response = asyncio.run(
            send(app, "POST", "/api/change", headers, pieces, on_start=lambda: events.append("started"))
        )
        assert (response.status, response["connection"]) == (413, "close")
        assert events[0] == "started"
        events.clear()
    assert app.state.changes == []


def test_an_endless_body_is_refused_while_it_arrives():
    app, events = guarded_app(), []
    pieces = (events.append(1) or b"x" * 65536 for _ in itertools.repeat(None))
    headers = {**BEARER, "content-type": "application/json", "transfer-encoding": "chunked"}
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    response = asyncio.run(send(app, "POST", "/api/change", headers, pieces, on_start=lambda: events.append("started")))
    assert (response.status, app.state.changes) == (413, [])
    assert events.index("started") == MAX_BODY // 65536 + 1
    assert len(events) == events.index("started") + 1 + LINGER_BYTES // 65536
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 24 * 1024  # KiB


def test_a_body_within_the_limit_arrives_unchanged():
    app = guarded_app(max_body=1000)
    headers = {**BEARER, "content-type": "application/json", "transfer-encoding": "chunked"}
    assert asyncio.run(send(app, "POST", "/api/change", headers, [b"a" * 500, b"", b"b" * 500])).status == 200
    assert app.state.changes == [("local", b"a" * 500 + b"b" * 500)]


def test_a_body_in_tiny_pieces_takes_little_memory():
    numbers, last = itertools.count(), 100_000

    async def receive():
        number = next(numbers)
        return {"type": "http.request", "body": b"%02d" % (number % 100), "more_body": number < last}

    tracemalloc.start()
    try:
        body = asyncio.run(read_body(Headers({}), receive, MAX_CHAT_BODY))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert (body[:6], body[-2:], len(body)) == (b"000102", b"00", 2 * last + 2)
    assert peak < 5 * len(body)


def test_a_body_that_never_arrives_times_out(monkeypatch):
    monkeypatch.setattr("showandtell.server.middleware.refusals.LINGER_SECONDS", 0.01)
    app = guarded_app(timeout=0.01)

    async def ask_slowly():
        responses = []
        scope = {"type": "http", "method": "POST", "scheme": "http", "path": "/api/change", "query_string": b""}
        headers = {**BEARER, "host": HOST, "content-type": "application/json", "transfer-encoding": "chunked"}
        scope["headers"] = [(name.encode(), value.encode()) for name, value in headers.items()]
        await app(scope, asyncio.Event().wait, lambda message: asyncio.sleep(0, responses.append(message)))
        return responses

    assert asyncio.run(ask_slowly())[0]["status"] == 408


def test_a_client_that_disconnects_while_sending_changes_nothing():
    app, responses = guarded_app(), []

    async def leave():
        messages = iter([{"type": "http.request", "body": b"{", "more_body": True}, {"type": "http.disconnect"}])
        headers = {**BEARER, "host": HOST, "content-type": "application/json", "transfer-encoding": "chunked"}
        scope = {"type": "http", "method": "POST", "scheme": "http", "path": "/api/change", "query_string": b""}
        scope["headers"] = [(name.encode(), value.encode()) for name, value in headers.items()]
        await app(
            scope, lambda: asyncio.sleep(0, next(messages)), lambda message: asyncio.sleep(0, responses.append(message))
        )

    asyncio.run(leave())
    assert (app.state.changes, responses) == ([], [])


def test_too_many_or_too_long_headers_are_refused():
    headers = [("host", HOST), *((f"x-{number}", "1") for number in range(200))]
    assert asyncio.run(send(guarded_app(), "GET", "/api/me", headers)).status == 431
    assert ask(guarded_app(), "GET", "/api/me", {"x-long": "x" * 33_000}).status == 431


def test_websockets_are_closed():
    sent = []
    asyncio.run(
        guarded_app()(
            {"type": "websocket", "headers": []}, None, lambda message: asyncio.sleep(0, sent.append(message))
        )
    )
    assert sent == [{"type": "websocket.close", "code": 1008}]


def test_a_cookie_of_another_server_is_refused():
    app = guarded_app(fake_server(token="another-good-token"))  # noqa: S106 - a test token
    assert ask(app, "GET", "/api/me", login_cookie(fake_server())).status == 401


def test_refusals_are_readable_over_a_real_connection(tmp_path):
    async def test():
        async with serving(tmp_path) as site:
            json_body = {
                "data": io.BytesIO(b"[" + b" " * MAX_CHAT_BODY + b"]"),
                "headers": {"content-type": "application/json"},
            }
            async with site.session.post("/api/chat", **json_body) as response:
                assert (response.status, (await response.json())["error"]["kind"]) == (413, "TooLarge")
            async with site.session.get("/api/me", headers={"host": "evil.example"}) as response:
                assert response.status == 421
            async with site.session.post("/api/chat", json={}, headers={"origin": "null"}) as response:
                assert response.status == 403

    asyncio.run(test())
