"""What a stranger, a second user or a broken neighbour sends and causes: nothing falls over, and nothing is given away."""

import asyncio
import io
import json
import logging
import re
import sqlite3
import time
import zipfile
from pathlib import Path

import aiohttp
import pytest

import showandtell.server as package
from neighbours import RATES, ask, chat, conversations_of, fresh, street, upload
from serving import asked, serving, texts
from showandtell import tool
from showandtell.errors import LeaseLost, StorageFailed, StorageFull
from showandtell.history.database import Database
from showandtell.history.stored import StoredConversation
from standin import Standin
from standin.auth import AWS_SECRET, KEYS
from standin.faults import echo

pytestmark = pytest.mark.anyio
JSON = {"content-type": "application/json"}


async def said(house, *pieces, wait=5.0):
    """What a connection is told that sends these bytes, until the server closes it or says nothing more."""
    reader, writer = await asyncio.open_connection("127.0.0.1", int(house.url.rpartition(":")[2]))
    writer.write(b"".join(pieces))
    heard = b""
    try:
        async with asyncio.timeout(wait):
            while piece := await reader.read(65536):
                heard += piece
    except (TimeoutError, ConnectionResetError):
        pass
    writer.close()
    return heard


def head(house, first, *lines):
    """A request's head of one who may come in."""
    who = [f"Host: {house.url.removeprefix('http://')}", f"Authorization: Bearer {house.server.keys.token}"]
    return "\r\n".join([first, *who, *lines, "", ""]).encode("latin-1")


BODY = b'{"theme":"dark"}'
CHUNKED = b"10\r\n" + BODY + b"\r\n0\r\n\r\n"
SET, OLD = "PUT /api/settings HTTP/1.1", "PUT /api/settings HTTP/1.0"
KIND, ENDS = "Content-Type: application/json", "Connection: close"
#: Bodies whose end two programs may see at two places, and heads that two may read in two ways.
SMUGGLED = {
    "length and chunks": ([SET, KIND, "Content-Length: 5", "Transfer-Encoding: chunked"], CHUNKED),
    "chunks and length": ([SET, KIND, "Transfer-Encoding: chunked", "Content-Length: 16"], CHUNKED),
    "chunks of an old client": ([OLD, KIND, "Transfer-Encoding: chunked"], CHUNKED),
    "two lengths": ([SET, KIND, "Content-Length: 16", "Content-Length: 5"], BODY),
    "two lengths in one": ([SET, KIND, "Content-Length: 16, 5"], BODY),
    "two codings": ([SET, KIND, "Transfer-Encoding: gzip, chunked"], CHUNKED),
    "two headers of codings": ([SET, KIND, "Transfer-Encoding: chunked", "Transfer-Encoding: identity"], CHUNKED),
    "a coding nobody knows": ([SET, KIND, "Transfer-Encoding: xchunked"], CHUNKED),
    "a blank before the colon": ([SET, KIND, "Transfer-Encoding : chunked"], CHUNKED),
    "a negative length": ([SET, KIND, "Content-Length: -1"], BODY),
    "a length with a sign": ([SET, KIND, "Content-Length: +16"], BODY),
    "a length in hexadecimal": ([SET, KIND, "Content-Length: 0x10"], BODY),
    "a length without end": ([SET, KIND, "Content-Length: " + "9" * 60], BODY),
    "a chunk of negative size": ([SET, KIND, "Transfer-Encoding: chunked"], b"-1\r\n" + BODY + b"\r\n0\r\n\r\n"),
    "a chunk in another base": ([SET, KIND, "Transfer-Encoding: chunked"], b"0x10\r\n" + BODY + b"\r\n0\r\n\r\n"),
    "a chunk that is longer": ([SET, KIND, "Transfer-Encoding: chunked"], b"5\r\n" + BODY + b"\r\n0\r\n\r\n"),
    "a chunk of no size": ([SET, KIND, "Transfer-Encoding: chunked"], b"\r\n" + BODY + b"\r\n0\r\n\r\n"),
    "NUL in a header": ([SET, KIND, "X-A: a\0b", "Content-Length: 16"], BODY),
    "half a line end": ([SET, KIND, "X-A: a\rX-B: b", "Content-Length: 16"], BODY),
    "bytes in the path": (["PUT /api/\xff\xfe HTTP/1.1", KIND, "Content-Length: 16"], BODY),
    "two hosts": ([SET, KIND, "Host: evil.example", "Content-Length: 16"], BODY),
    "a host in the first line": (["PUT http://evil.example/api/settings HTTP/1.1", KIND, "Content-Length: 16"], BODY),
    "another protocol": (["PRI * HTTP/2.0"], b"SM\r\n\r\n"),
    "no such version": (["PUT /api/settings HTTP/9.9", KIND, "Content-Length: 16"], BODY),
    "a tunnel": (["CONNECT evil.example:80 HTTP/1.1"], b""),
    "a mirror": (["TRACE /api/me HTTP/1.1"], b""),
}


@pytest.mark.parametrize("shape", SMUGGLED)
async def test_what_two_programs_could_read_in_two_ways_changes_nothing(tmp_path, shape):
    lines, body = SMUGGLED[shape]
    async with serving(tmp_path) as house:
        heard = await said(house, head(house, *lines, ENDS), body, b"GET /api/me HTTP/1.1\r\n\r\n", wait=1.0)
        statuses = re.findall(rb"^HTTP/1\.[01] (\d)\d\d ", heard, re.MULTILINE)
        assert b"2" not in statuses
        assert len(statuses) <= 1
        assert (await house.get("/api/settings"))[1]["theme"] == "system"


async def test_one_after_the_other_on_one_connection_is_answered_so(tmp_path):
    async with serving(tmp_path) as house:
        first = head(house, SET, KIND, "Transfer-Encoding: chunked")
        last = head(house, "GET /api/settings HTTP/1.1", ENDS)
        heard = await said(house, first, CHUNKED, last)
        assert (heard.count(b"HTTP/1.1 200 OK"), heard.count(b'"theme":"dark"')) == (2, 2)


DEEP = 100_000
#: Bodies that are hard to read, each of a field that is a text. What of them is odd and yet a text may be taken.
ODD = {
    "arrays in arrays": b'{"FIELD":' + b"[" * DEEP + b"]" * DEEP + b"}",
    "objects in objects": b'{"FIELD":' * DEEP + b"1" + b"}" * DEEP,
    "never closed": b"[" * DEEP,
    "no number": b'{"FIELD":NaN}',
    "endless": b'{"FIELD":Infinity}',
    "many digits": b'{"FIELD":' + b"9" * DEEP + b"}",
    "a large exponent": b'{"FIELD":1e999999999}',
    "half a letter": b'{"FIELD":"\\ud800"}',
    "half a letter as a name": b'{"FIELD":"x","\\udfff":1}',
    "no UTF-8": b'{"FIELD":"\xff\xfe"}',
    "overlong UTF-8": b'{"FIELD":"\xc0\xaf"}',
    "a surrogate in UTF-8": b'{"FIELD":"\xed\xa0\x80"}',
    "NUL as a name": b'{"FIELD":"x","\\u0000":1}',
    "a long name": b'{"FIELD":"x","' + b"k" * DEEP + b'":1}',
    "many names": b'{"FIELD":"x"' + b"".join(b',"k%d":1' % at for at in range(20_000)) + b"}",
    "a prototype": b'{"FIELD":"x","__proto__":{"owner":"eve"}}',
    "a bare NUL": b'{"FIELD":"\0"}',
    "two values": b'{"FIELD":"x"}{"FIELD":"y"}',
    "a comment": b'{"FIELD":"x"/* */}',
    "an array": b"[]",
    "a text": b'"FIELD"',
    "nothing": b"",
    "null": b"null",
    "half": b'{"FIELD":"x',
    "another kind": b'{"FIELD":{"$ne":null}}',
}
#: Where a body goes, and the field that is a text.
TAKERS = [
    ("PATCH", "/api/conversations/{}", b"title"),
    ("POST", "/api/conversations/{}/branch", b"message_id"),
    ("PUT", "/api/conversations/{}/shares/ann", b"right"),
    ("PUT", "/api/settings", b"instructions"),
    ("POST", "/api/chat", b"id"),
]


@pytest.mark.parametrize("odd", ODD)
async def test_a_body_that_is_hard_to_read_is_refused_in_few_words(tmp_path, odd):
    async with serving(tmp_path) as house:
        await house.post("hello")
        there = (await conversations_of(house, house.session))[0]["id"]
        for method, path, field in TAKERS:
            body = ODD[odd].replace(b"FIELD", field)
            status, told = await ask(house.session, method, path.format(there), data=body, headers=JSON)
            assert status in {400, 422}, (path, told)
            assert len(told["error"]["text"]) < 1500
        assert len((await house.get(f"/api/conversations/{there}"))[1]["messages"]) == 2


CHAT = b'{"id":"c","messages":[{"id":"m","role":"user","parts":[PART]}]}'
PARTS = {
    "no UTF-8 in words": b'{"type":"text","text":"\xff"}',
    "no UTF-8 in a part that nobody reads": b'{"type":"x","data":"\xff"}',
    "no UTF-8 in a type": b'{"type":"\xff"}',
    "half a letter": b'{"type":"text","text":"\\ud800"}',
    "depth": b'{"type":"data-attachment","data":' + b"[" * DEEP + b"]" * DEEP + b"}",
    "depth in a part that nobody reads": b'{"type":"x","data":' + b"[" * DEEP + b"]" * DEEP + b"}",
    "no object": b'"text"',
    "a number as words": b'{"type":"text","text":5}',
    "an id that is none": b'{"type":"data-attachment","data":{"id":"\\u0000"}}',
    "a list of ids": b'{"type":"data-attachment","data":{"id":["att_0123456789abcdefABCDEF"]}}',
    "an id of any file": b'{"type":"data-attachment","data":{"id":"%"}}',
    "only blanks": b'{"type":"text","text":"\\u00a0\\u2003 \\n"}',
}


@pytest.mark.parametrize("part", PARTS)
async def test_a_part_that_is_none_is_refused_and_begins_nothing(tmp_path, part):
    async with serving(tmp_path) as house:
        body = CHAT.replace(b"PART", PARTS[part])
        status, told = await ask(house.session, "POST", "/api/chat", data=body, headers=JSON)
        assert (status in {404, 422}, await conversations_of(house, house.session)) == (True, []), told


#: What stands in the errors of disks, databases and programs, and is nobody's business.
SECRETS = ("/srv/keep/showandtell.db", "postgresql://admin:hunter2@db.internal/chat", "SELECT record FROM messages")
PLANTED = " | ".join(SECRETS)
ERRORS = (
    StorageFailed(f"the database {PLANTED} does not answer"),
    StorageFull(f"{PLANTED} has no room left"),
    LeaseLost(PLANTED),
    OSError(5, PLANTED, SECRETS[0]),
    sqlite3.OperationalError(PLANTED),
    RuntimeError(PLANTED),
    KeyError(PLANTED),
    UnicodeDecodeError("utf-8", PLANTED.encode(), 0, 1, PLANTED),
    RecursionError(PLANTED),
    TimeoutError(PLANTED),
)
READS = ("/api/conversations", "/api/conversations/{}", "/api/settings", "/api/attachments/att_" + "x" * 22)
READS += ("/api/conversations/{}/export", "/api/chat/{}/stream", "/readyz")


def given_away(text):
    """What of it is in a text."""
    return [one for one in (*SECRETS, "hunter2", "Traceback", ".py") if one in str(text)]


@pytest.mark.parametrize("error", ERRORS, ids=lambda one: type(one).__name__)
async def test_no_answer_says_where_things_are_kept_or_what_failed_there(tmp_path, monkeypatch, error):
    async with serving(tmp_path) as house:
        await house.post("hello")
        there = (await conversations_of(house, house.session))[0]["id"]

        async def fail(*_, **__):
            raise error

        monkeypatch.setattr(Database, "read", fail)
        for path in READS:
            async with aiohttp.ClientSession(house.url, headers=house.session.headers) as session:
                headers = {"authorization": f"Bearer {house.server.keys.token}"}
                async with session.get(path.format(there), headers=headers) as answer:
                    told = await answer.text() + str(answer.headers)
            assert (answer.status >= 500, given_away(told)) == (True, []), path
        status, told = await ask(house.session, "POST", "/api/chat", json=asked("more"))
        assert (status in {500, 503, 507}, given_away(told)) == (True, [])
        monkeypatch.undo()


@pytest.mark.parametrize("error", ERRORS, ids=lambda one: type(one).__name__)
async def test_no_stream_says_what_failed_in_a_tool_or_in_the_store(tmp_path, monkeypatch, error):
    failing = []

    @tool
    def break_down(where: str) -> str:
        """Break down."""
        if where == "here":
            raise error
        failing.append(1)
        return "done"

    honest = StoredConversation.write

    async def write(self, *what):
        if failing:
            raise error
        return await honest(self, *what)

    monkeypatch.setattr(StoredConversation, "write", write)
    async with serving(tmp_path, tools=(break_down,)) as house:
        _, chunks = await house.post("/break_down where=here", id="m1")
        assert (given_away(chunks), "failed with" in str(chunks)) == ([], True)
        _, chunks = await house.post("/break_down where=there", id="m2")
        assert (given_away(chunks), "error" in {one["type"] for one in chunks}) == ([], True)
        there = (await conversations_of(house, house.session))[0]["id"]
        assert given_away((await house.get(f"/api/conversations/{there}"))[1]) == []


WRITTEN = {key for _, key in KEYS.values()} | {AWS_SECRET}
ASKED = ("anthropic:claude-sonnet-4-5", "openai:gpt-5-mini", "openai-chat:gpt-5-mini", "google:gemini-3-flash-preview")
ASKED += ("mistral:mistral-medium-latest", "groq:openai/gpt-oss-120b")


async def test_no_key_stands_in_a_stream_an_answer_a_log_or_the_database(tmp_path, monkeypatch, caplog):
    caplog.set_level(logging.DEBUG)
    heard = []
    async with Standin([echo(place) for place in ("refusal", "page", "answer") for _ in range(4)] * 20) as standin:
        for name, value in standin.environ().items():
            monkeypatch.setenv(name, value)
        async with serving(tmp_path) as house:
            for model in ASKED:
                for turn in range(3):
                    heard.append(await house.post("hello", chat=model, id=str(turn), model=model))
            heard += [await ask(house.session, "GET", path) for path in ("/api/models", "/api/me", "/metrics", "/api/settings")]
            for one in await conversations_of(house, house.session):
                heard.append(await ask(house.session, "GET", f"/api/conversations/{one['id']}"))
        assert len(standin.ledger) >= len(ASKED)
    kept = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    places = {"said": str(heard), "logged": caplog.text, "kept": kept.decode("latin-1")}
    assert [(where, key) for where, text in places.items() for key in WRITTEN if key in text] == []
    assert "[hidden]" in places["said"]
    assert house.app.state.server.keys.token not in places["said"] + places["logged"] + places["kept"]
    assert not re.search(r"[A-Za-z0-9+/=_-]{257,}", caplog.text)
