"""The log: one line or one JSON object for each thing, by ids and templates, and never by content, keys or queries."""

import asyncio
import json
import logging

import pytest
from hypothesis import given
from hypothesis import strategies as st

from showandtell.server.observability.logs import JsonLines, Lines, clean, log_visit
from showandtell.server.observability.requests import RequestLog
from support.doors import send
from support.programs import running
from support.serving import asked, serving

pytestmark = pytest.mark.anyio
WORDS = "correct horse battery staple"


@pytest.fixture
def lines():
    """What is logged, as JSON, while a test runs."""
    found, log = [], logging.getLogger("showandtell")

    class Keep(logging.Handler):
        def emit(self, record):
            found.append(json.loads(JsonLines().format(record)))

    handler, level = Keep(), log.level
    log.addHandler(handler)
    log.setLevel(logging.INFO)
    yield found
    log.removeHandler(handler)
    log.setLevel(level)


async def test_a_request_and_its_run_are_told_by_ids_and_by_the_routes_template(tmp_path, lines):
    async with serving(tmp_path) as house:
        async with house.session.post("/api/chat", json=asked(WORDS)) as answer:
            await answer.read()
            request_id, conversation = answer.headers["x-request-id"], answer.headers["x-conversation-id"]
        (run,) = [one for one in lines if one["text"] == "run ended"]
        (request,) = [one for one in lines if one.get("route") == "/api/chat"]
        assert (run["status"], run["conversation_id"], run["request_id"]) == ("complete", conversation, request_id)
        assert (request["request_id"], request["status"], request["method"]) == (request_id, 200, "POST")
        assert request["seconds"] >= 0
        async with house.session.get(f"/api/conversations/{conversation}?x=1") as answer:
            await answer.read()
        assert lines[-1]["route"].startswith("/api/conversations/{")
    assert not [one for one in lines if "horse" in json.dumps(one)]


async def test_who_leaves_before_the_body_is_there_is_told_apart_from_a_fault_of_ours(lines):
    coming = [{"type": "http.disconnect"}, {"type": "http.request", "body": b"{", "more_body": True}]

    async def leaving(_, receive, __):
        while (await receive())["type"] != "http.disconnect":
            pass

    scope = {"type": "http", "method": "POST", "path": "/api/chat", "headers": []}
    await RequestLog(leaving, (log_visit,))(scope, lambda: asyncio.sleep(0, coming.pop()), None)
    assert (lines[-1]["text"], lines[-1]["status"]) == ("request", 499)


@pytest.mark.parametrize(
    ("said", "is_taken"), [("a-proxys-id.1", True), ("short", False), ("with space in it", False), ("x" * 65, False)]
)
async def test_an_id_of_a_proxys_is_taken_where_it_is_one(said, is_taken, tmp_path):
    async with serving(tmp_path) as house, house.session.get("/api/me", headers={"x-request-id": said}) as answer:
        assert (answer.headers["x-request-id"] == said) == is_taken
        assert len(answer.headers["x-request-id"]) >= 8


async def test_what_is_refused_before_any_route_is_told_too(tmp_path, lines):
    async with serving(tmp_path) as house:
        answered = await send(house.app, "GET", "/api/me", {"host": "evil.test"})
    assert answered.status == 421
    assert (lines[-1]["status"], lines[-1]["route"]) == (421, "none")
    assert answered["x-request-id"] == lines[-1]["request_id"]


async def test_the_command_logs_json_without_its_token(tmp_path):
    async with running(tmp_path, SHOWANDTELL_LOG_FORMAT="json") as program:
        for path in (f"/?token={program.token}", "/?token=wrong-token", "/api/attachments/x/content?sig=seal&user=a"):
            async with program.session.get(program.url + path, allow_redirects=False):
                pass
        _, said = await program.end()
    found = [json.loads(line) for line in said.splitlines()]
    assert [one["status"] for one in found if one["text"] == "request"] == [303, 303, 404]
    assert not [secret for secret in (program.token, "wrong-token", "seal") if secret in said]


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
def test_what_nobody_should_read_is_left_out(text, expected):
    assert clean(text) == expected


@given(st.text())
def test_a_cleaned_line_has_no_run_as_long_as_a_files_bytes(text):
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


def test_an_error_is_told_by_its_class_and_its_places_and_by_its_words_only_where_that_is_wanted():
    told = record("it failed", failed())
    found = json.loads(JsonLines().format(told))
    assert found["error"]["kind"] == "RuntimeError"
    assert found["error"]["places"][-1].endswith("in fail")
    assert [WORDS in form.format(told) for form in (JsonLines(), Lines(), Lines(verbose=True))] == [False, False, True]


@given(st.text())
def test_whatever_is_logged_is_one_line_that_json_readers_take(text):
    line = JsonLines().format(record(text))
    assert "\n" not in line
    assert json.loads(line)["logger"] == "showandtell.x"
    assert "\n" not in Lines().format(record(text))
