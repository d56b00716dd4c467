"""The log: one line or JSON object per event, with ids and route templates but no content, keys or queries."""

import asyncio
import json
import logging
import os
import subprocess
import sys
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from showandtell.server.observability.logs import JsonFormatter, LineWriter, TextFormatter, clean, log_request
from showandtell.server.observability.requests import RequestLog
from support.middleware_app import send
from support.server_process import TIMEOUT, running
from support.serving import chat_body, serving

pytestmark = pytest.mark.anyio
WORDS = "correct horse battery staple"
#: Logs more than a pipe holds, and has to be ended by its own timer.
HANGS = """
import logging, time
from showandtell.server.observability.logs import configure_logging
from showandtell.server.process import exit_after

configure_logging("json", verbose=False)
for number in range(2000):
    logging.getLogger("showandtell").info("line %d of a log that is longer than a pipe", number)
exit_after(0.1)
time.sleep(600)
"""


@pytest.fixture
def lines():
    """The records logged during a test, as JSON."""
    records, log = [], logging.getLogger("showandtell")

    class Collector(logging.Handler):
        def emit(self, record):
            records.append(json.loads(JsonFormatter().format(record)))

    handler, level = Collector(), log.level
    log.addHandler(handler)
    log.setLevel(logging.INFO)
    yield records
    log.removeHandler(handler)
    log.setLevel(level)


async def test_a_request_and_its_run_are_logged_with_ids_and_the_routes_template(tmp_path, lines):
    async with serving(tmp_path) as site:
        async with site.session.post("/api/chat", json=chat_body(WORDS)) as response:
            await response.read()
            request_id, conversation = response.headers["x-request-id"], response.headers["x-conversation-id"]
        (run,) = [one for one in lines if one["text"] == "run ended"]
        (request,) = [one for one in lines if one.get("route") == "/api/chat"]
        assert (run["status"], run["conversation_id"], run["request_id"]) == ("complete", conversation, request_id)
        assert (request["request_id"], request["status"], request["method"]) == (request_id, 200, "POST")
        assert request["seconds"] >= 0
        async with site.session.get(f"/api/conversations/{conversation}?x=1") as response:
            await response.read()
        assert lines[-1]["route"].startswith("/api/conversations/{")
    assert not [one for one in lines if "horse" in json.dumps(one)]


async def test_a_client_that_disconnects_early_is_logged_with_status_499(lines):
    messages = [{"type": "http.disconnect"}, {"type": "http.request", "body": b"{", "more_body": True}]

    async def read_until_disconnect(_, receive, __):
        while (await receive())["type"] != "http.disconnect":
            pass

    scope = {"type": "http", "method": "POST", "path": "/api/chat", "headers": []}
    await RequestLog(read_until_disconnect, (log_request,))(scope, lambda: asyncio.sleep(0, messages.pop()), None)
    assert (lines[-1]["text"], lines[-1]["status"]) == ("request", 499)


@pytest.mark.parametrize(
    ("request_id", "is_accepted"),
    [("a-proxys-id.1", True), ("short", False), ("with space in it", False), ("x" * 65, False)],
)
async def test_a_valid_request_id_of_a_proxy_is_accepted(request_id, is_accepted, tmp_path):
    async with serving(tmp_path) as site, site.session.get("/api/me", headers={"x-request-id": request_id}) as response:
        assert (response.headers["x-request-id"] == request_id) == is_accepted
        assert len(response.headers["x-request-id"]) >= 8


async def test_requests_refused_before_routing_are_logged(tmp_path, lines):
    async with serving(tmp_path) as site:
        response = await send(site.app, "GET", "/api/me", {"host": "evil.test"})
    assert response.status == 421
    assert (lines[-1]["status"], lines[-1]["route"]) == (421, "none")
    assert response["x-request-id"] == lines[-1]["request_id"]


async def test_the_command_logs_json_without_its_token(tmp_path):
    async with running(tmp_path, SHOWANDTELL_LOG_FORMAT="json") as program:
        for path in (f"/?token={program.token}", "/?token=wrong-token", "/api/attachments/x/content?sig=seal&user=a"):
            async with program.session.get(program.url + path, allow_redirects=False):
                pass
        _, output = await program.end()
    records = [json.loads(line) for line in output.splitlines()]
    assert [one["status"] for one in records if one["text"] == "request"] == [303, 303, 404]
    assert not [secret for secret in (program.token, "wrong-token", "seal") if secret in output]


@pytest.mark.parametrize("clients", [False, True])
async def test_only_where_it_is_asked_for_the_log_names_client_and_user(tmp_path, lines, clients):
    async with serving(tmp_path, log_clients=clients) as site:
        for headers in ({}, {"authorization": "Bearer wrong-token"}):
            async with site.session.get("/api/me", headers=headers):
                pass
    named = [(one["text"], one.get("client"), one.get("user")) for one in lines if one.get("route") == "/api/me"]
    client, user = ("127.0.0.1", "local") if clients else (None, None)
    assert named == [("request", client, user), ("sign-in refused", client, None), ("request", client, None)]
    assert all(("client" in one) == clients for one in lines if one["text"] == "request")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("GET /?token=abcdefgh HTTP/1.1", "GET /?… HTTP/1.1"),
        ("Authorization: Bearer abc.def-ghi", "Authorization: Bearer …"),
        ("api_key=0123456789 was refused", "api_key=… was refused"),
        ("sk-ant-api03-0123456789abcdef", "…"),
        ("postgresql://me:hidden@db/chat", "postgresql://…@db/chat"),
        ("iVBORw0KGgo" * 30, "iVBORw0KGgo" * 2 + "iVBORw0KGg…(330 characters)"),
        ("why? because x=1", "why? because x=1"),
    ],
)
def test_secrets_and_long_data_are_left_out(text, expected):
    assert clean(text) == expected


@given(st.text())
def test_a_cleaned_line_has_no_long_run_of_characters(text):
    assert max((len(one) for one in clean(text + "A" * 300).split()), default=0) <= 300


def record(text, error=None):
    info = (type(error), error, error.__traceback__) if error else None
    return logging.LogRecord("showandtell.x", logging.ERROR, "x.py", 1, text, (), info)


def fail():
    raise RuntimeError(WORDS)


def failed():
    try:
        fail()
    except RuntimeError as error:
        return error


def test_the_text_of_an_error_is_logged_only_if_verbose():
    logged = record("it failed", failed())
    output = json.loads(JsonFormatter().format(logged))
    assert output["error"]["kind"] == "RuntimeError"
    assert output["error"]["places"][-1].endswith("in fail")
    assert [
        WORDS in form.format(logged) for form in (JsonFormatter(), TextFormatter(), TextFormatter(verbose=True))
    ] == [
        False,
        False,
        True,
    ]


@given(st.text())
def test_every_record_is_one_line_of_valid_json(text):
    line = JsonFormatter().format(record(text))
    assert "\n" not in line
    assert json.loads(line)["logger"] == "showandtell.x"
    assert "\n" not in TextFormatter().format(record(text))


def test_a_reader_of_the_log_that_hangs_delays_nothing_and_learns_what_it_missed():
    reader, writer = os.pipe()
    handler = LineWriter(writer, limit=100)
    handler.setFormatter(JsonFormatter())
    logging_all = threading.Thread(target=lambda: [handler.handle(record("x" * 200)) for _ in range(5000)], daemon=True)
    logging_all.start()
    logging_all.join(TIMEOUT)
    assert not logging_all.is_alive()
    count = 0
    with os.fdopen(reader) as lines:
        while count < 5000:
            text = json.loads(lines.readline())["text"]
            count += int(text.split()[0]) if "lines were dropped" in text else 1
    assert count == 5000
    os.close(writer)


@pytest.mark.parametrize("is_read", [pytest.param(True, marks=pytest.mark.thorough), False])
def test_a_process_ends_in_time_whether_or_not_its_log_is_read(is_read):
    with subprocess.Popen([sys.executable, "-c", HANGS], stderr=subprocess.PIPE, text=True) as process:  # noqa: S603
        lines = process.communicate(timeout=TIMEOUT)[1].splitlines() if is_read else ()
        assert process.wait(TIMEOUT) == 143
    if is_read:
        assert len(lines) == 2001
        assert "exiting without it" in lines[-1]
