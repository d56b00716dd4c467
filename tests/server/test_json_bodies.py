"""Bodies of JSON routes: small, read up to the first problem, and described in OpenAPI."""

import io
import json

import pytest

from showandtell.server.middleware.body_limits import MAX_BODY, MAX_CHAT_BODY, MAX_PENDING_BODY, MAX_SETTINGS_BODY
from support.serving import serving
from support.two_users import ask

pytestmark = pytest.mark.anyio
JSON = {"content-type": "application/json"}
CONVERSATION = "/api/conversations/conv_" + "x" * 22
ROUTES = [
    ("PATCH", "/api/settings", MAX_SETTINGS_BODY),
    ("PUT", CONVERSATION + "/settings", MAX_SETTINGS_BODY),
    ("POST", "/api/presets", MAX_SETTINGS_BODY),
    ("PATCH", "/api/presets/preset_" + "x" * 22, MAX_SETTINGS_BODY),
    ("POST", "/api/attachments/fetch", MAX_BODY),
    ("PATCH", CONVERSATION, MAX_BODY),
    ("POST", CONVERSATION + "/branch", MAX_BODY),
    ("PUT", CONVERSATION + "/shares/ann", MAX_BODY),
    ("POST", "/api/pending", MAX_PENDING_BODY),
    ("PATCH", "/api/pending/pending_" + "x" * 22, MAX_PENDING_BODY),
    ("POST", "/api/pending/pending_" + "x" * 22 + "/send", MAX_PENDING_BODY),
]


@pytest.mark.parametrize(("method", "path", "limit"), [*ROUTES, ("POST", "/api/chat", MAX_CHAT_BODY)])
async def test_a_body_over_the_limit_of_its_route_is_refused_in_words(tmp_path, method, path, limit):
    async with serving(tmp_path) as site:
        status, received = await ask(site.session, method, path, data=io.BytesIO(b" " * (limit + 1)), headers=JSON)
        assert (status, received["error"]["kind"]) == (413, "TooLarge")
        assert received["error"]["text"].startswith(f"the body has more than {limit:,} bytes: send less")


@pytest.mark.parametrize(("method", "path", "limit"), ROUTES)
async def test_a_body_of_invalid_fields_gets_one_short_problem(tmp_path, method, path, limit):
    body = json.dumps({f"field {number}": number for number in range(limit // 24)})
    async with serving(tmp_path) as site:
        status, received = await ask(site.session, method, path, data=body, headers=JSON)
        assert (status, received["error"]["kind"]) == (422, "BadInput")
        assert len(received["error"]["text"]) < 250


@pytest.mark.parametrize(
    ("messages", "problem"),
    [
        (b"0," * 4_000_000, "Expected `object`, got `int` - at `$.messages[0]`"),
        (b'{"id":"a","role":"user"},' * 100_001, "the request has more than 100000 messages: send fewer"),
        (b'{"id":"a","role":"user","parts":[%s{}]},' % (b"{}," * 200), "the message has more than 200 parts: send"),
        (
            b'{"id":"a","role":"user","parts":[{"type":"data-attachment","data":[%s0]}]},' % (b"0," * 5000),
            "its id only",
        ),
    ],
)
async def test_a_chat_request_of_very_many_items_is_refused_before_they_are_read(tmp_path, messages, problem):
    async with serving(tmp_path) as site:
        data = b'{"id":"chat","messages":[%s]}' % messages.rstrip(b",")
        status, received = await ask(site.session, "POST", "/api/chat", data=io.BytesIO(data), headers=JSON)
        assert (status, received["error"]["kind"]) == (422, "BadInput")
        assert problem in received["error"]["text"]


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b'{"theme": "d\xff"}', b"[" * 9000, b'{"instructions": null}'])
async def test_a_body_that_is_no_such_json_is_refused(tmp_path, body):
    async with serving(tmp_path) as site:
        status, received = await ask(site.session, "PATCH", "/api/settings", data=body, headers=JSON)
        assert (status, received["error"]["text"].partition(":")[0]) == (422, "the body is invalid")


async def test_the_longest_instructions_fit(tmp_path):
    async with serving(tmp_path) as site:
        status, settings = await ask(site.session, "PATCH", "/api/settings", json={"instructions": "é" * 20_000})
        assert (status, len(settings["instructions"])) == (200, 20_000)
        status, received = await ask(site.session, "PATCH", "/api/settings", json={"instructions": "a" * 20_001})
        assert status == 422
        assert "20000" in received["error"]["text"]


async def test_openapi_says_how_large_bodies_may_be(tmp_path):
    async with serving(tmp_path) as site:
        paths = (await site.get("/api/openapi.json"))[1]["paths"]
        bodies = {
            (path, method): operation["requestBody"]["description"]
            for path, methods in paths.items()
            for method, operation in methods.items()
            if "description" in operation.get("requestBody", {})
        }
        assert len(bodies) == 14
        assert bodies["/api/chat", "post"] == bodies["/ag-ui", "post"] == "at most 33,554,432 bytes"
        assert bodies["/api/settings", "patch"] == "at most 131,072 bytes"
        assert bodies["/api/conversations/{id}", "patch"] == "at most 16,384 bytes"
        assert "413" in paths["/api/settings"]["patch"]["responses"]
