"""What a stranger, a second user or a broken neighbour sends and causes: nothing falls over, and nothing is given away."""

import asyncio
import io
import logging
import re
import zipfile
from urllib.parse import urljoin

import pytest
from yarl import URL

from support.neighbours import RATES, ask, conversations_of, upload
from support.serving import asked, serving

pytestmark = pytest.mark.anyio
JSON = {"content-type": "application/json"}


async def said(house, *pieces, wait=60.0):
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
SET, OLD = "PATCH /api/settings HTTP/1.1", "PATCH /api/settings HTTP/1.0"
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
    "a host in the first line": (["PATCH http://evil.example/api/settings HTTP/1.1", KIND, "Content-Length: 16"], BODY),
    "another protocol": (["PRI * HTTP/2.0"], b"SM\r\n\r\n"),
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
    "many names": b'{"FIELD":"x"' + b"".join(b',"k%d":1' % at for at in range(300_000)) + b"}",
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
    ("PATCH", "/api/settings", b"instructions"),
    ("POST", "/api/chat", b"id"),
]


@pytest.mark.parametrize("odd", ODD)
async def test_a_body_that_is_hard_to_read_is_refused_in_few_words(tmp_path, odd):
    async with serving(tmp_path) as house:
        await house.post("hello")
        there = (await conversations_of(house, house.session))[0]["id"]
        for method, path, field in TAKERS:
            body = io.BytesIO(ODD[odd].replace(b"FIELD", field))
            status, told = await ask(house.session, method, path.format(there), data=body, headers=JSON)
            assert status in {400, 404, 413, 422}, (path, told)
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
        status, told = await ask(house.session, "POST", "/api/chat", data=io.BytesIO(body), headers=JSON)
        assert (status in {404, 422}, await conversations_of(house, house.session)) == (True, []), told


async def test_names_that_nobody_counts_on_make_no_series(tmp_path):
    async with serving(tmp_path, rates=RATES) as house:
        for at in range(150):
            async with house.session.request(f"M{at}", f"/api/{at}/x?y={at}", headers={"user-agent": f"u{at}"}):
                pass
            await ask(house.session, "POST", "/api/chat", json=asked("x", f"c{at}", model=f"no-such-{at}:x"))
            await ask(house.session, "GET", f"/api/conversations/conv_{at:022}")
        text = (await ask(house.session, "GET", "/metrics"))[1].decode()
        assert not re.search(r"M1\d\d|no-such|conv_0|/api/1\d\d", text)
        assert len(text.splitlines()) < 600


async def test_a_stranger_is_counted_by_where_they_come_from_whatever_they_say_of_it(tmp_path):
    async with serving(tmp_path, rates="login=5/minute,reads=5/minute") as house:
        for path, headers in (
            ("/api/me", {"authorization": "Bearer wrong-wrong-wrong"}),
            ("/?token=wrong", {}),
            ("/api/me", {}),
        ):
            found = []
            for at in range(12):
                lies = {"forwarded": f"for=10.0.0.{at}", "x-real-ip": f"10.0.0.{at}", "true-client-ip": f"10.0.0.{at}"}
                found.append((await ask(house.as_user(), "GET", path, headers={**headers, **lies}))[0])
            assert 429 in found[:6], (path, found)
            assert set(found[6:]) == {429}


ELSEWHERE = [
    "//evil.example",
    "/\\evil.example",
    "///evil.example",
    "/%09/evil.example",
    "/%2f%2fevil.example/",
    "/c//evil.example",
]
ELSEWHERE += [
    "/login?to=//evil.example",
    "/login?to=https://evil.example",
    "/login?to=/\\evil.example",
    "/login?to=%09//evil.example",
]
ELSEWHERE += [
    "/assets//evil.example",
    "/api/chat/",
    "/assets",
    "/c/x?to=//evil.example&token=",
    "/?next=//evil.example",
]


@pytest.mark.parametrize("path", ELSEWHERE)
async def test_no_address_leads_elsewhere(tmp_path, path):
    async with serving(tmp_path) as house:
        joined = path + ("&" if "?" in path else "?") + "token=" + house.server.keys.token
        for address in (path, joined):
            async with house.session.get(URL(house.url + address, encoded=True), allow_redirects=False) as answer:
                await answer.read()
            to = answer.headers.get("location")
            assert to is None or urljoin(house.url, to).startswith(f"{house.url}/"), to


async def test_nothing_below_the_page_is_a_way_to_other_files(tmp_path):
    (tmp_path / "page" / "assets").mkdir(parents=True)
    (tmp_path / "page" / "index.html").write_text("the page")
    (tmp_path / "page" / "assets" / "own.js").write_text("own()")
    (tmp_path / "page" / "assets-private").mkdir()
    (tmp_path / "page" / "assets-private" / "x").write_text("secret")
    (tmp_path / "secret.txt").write_text("secret")
    (tmp_path / "page" / "assets" / "link").symlink_to(tmp_path / "secret.txt")
    ways = [
        "../../secret.txt",
        "..%2f..%2fsecret.txt",
        "%2e%2e/%2e%2e/secret.txt",
        "..\\..\\secret.txt",
        "....//secret.txt",
        "link",
    ]
    ways += [
        str(tmp_path / "secret.txt"),
        "//etc/passwd",
        "%00",
        "own.js%00",
        "../assets-private/x",
        "../index.html/..",
        "a" * 3000,
    ]
    async with serving(tmp_path / "kept", page=tmp_path / "page") as house:
        assert b"own()" in (await ask(house.session, "GET", "/assets/own.js"))[1]
        for way in ways:
            heard = await said(house, head(house, f"GET /assets/{way} HTTP/1.1", ENDS))
            assert (heard.startswith(b"HTTP/1.1 40"), b"secret" in heard, b"root:" in heard) == (True, False, False), (
                way
            )


NAMES = [
    "../../../etc/passwd",
    "..\\..\\x.txt",
    "/etc/passwd",
    "C:\\con",
    "a\r\nSet-Cookie: a=1",
    "a\0b",
    "\u202egnp.exe",
    ".htaccess",
    "x" * 4000,
]
NAMES += [
    "con",
    "aux.txt",
    "a/../../b",
    "~root",
    "-rf",
    "$(id)",
    "a;b",
    'a"; filename="b',
    "%2e%2e%2f",
    "records.json",
    "files/1",
    "\ufeff",
    " ",
    "",
    "é" * 300,
]


async def test_an_export_names_its_files_by_number_whatever_they_are_called(tmp_path):
    async with serving(tmp_path, max_message_files=len(NAMES)) as house:
        files = [
            (await ask(house.session, "PUT", "/api/attachments", params={"name": name}, data=b"%d" % at))[1]
            for at, name in enumerate(NAMES)
        ]
        await house.post("keep these", files=[one["id"] for one in files])
        there = (await conversations_of(house, house.session))[0]["id"]
        async with house.session.get(f"/api/conversations/{there}/export") as answer:
            archive, told = zipfile.ZipFile(io.BytesIO(await answer.read())), answer.headers["content-disposition"]
        assert told == 'attachment; filename="keep these.zip"'
        assert {
            one for one in archive.namelist() if not re.fullmatch(r"(files/\d+(\.[a-z0-9]{1,8})?|[a-z]+\.jsonl?)", one)
        } == set()
        assert len(archive.namelist()) == len(set(archive.namelist())) >= len(NAMES)


async def test_what_is_logged_of_a_request_is_one_line_each(tmp_path, caplog):
    caplog.set_level(logging.DEBUG, logger="showandtell")
    forged = "x\r\nERROR root: forged\n"
    async with serving(tmp_path) as house:
        await house.post(forged, chat="c", id=forged)
        await ask(house.session, "POST", "/api/chat", json=asked("x", forged, forged, model=forged))
        await ask(house.session, "GET", "/api/conversations", params={"q": forged, "before": forged})
        await upload(house.session, b"x", "x%0D%0AERROR%20root:%20forged%0A")
        await ask(house.session, "GET", "/api/attachments/%0D%0AERROR%20root:%20forged%0A")
    assert [one.getMessage() for one in caplog.records if "forged" in one.getMessage()] == []


async def test_a_strange_small_body_is_refused(tmp_path):
    names = b"".join(b',"k%d":1' % at for at in range(20_000))
    for body in (
        b'{"title":"x"' + names + b"}",
        b'{"title":' + b"[" * 250_000 + b"]",
        b'{"title":"' + b"\\u0041" * 40_000 + b'"}',
    ):
        async with serving(tmp_path) as house:
            await house.post("hello")
            there = (await conversations_of(house, house.session))[0]["id"]
            status, _ = await ask(
                house.session, "PATCH", f"/api/conversations/{there}", data=io.BytesIO(body), headers=JSON
            )
            assert status in {400, 413, 422}


async def test_only_a_chats_body_may_be_large(tmp_path):
    large = b'{"title":"x"' + b"".join(b',"k%d":1' % at for at in range(600_000)) + b"}"
    async with serving(tmp_path) as house:
        for method, path, expected in (("PATCH", "/api/settings", 413), ("POST", "/api/chat", 422)):
            status, _ = await ask(house.session, method, path, data=io.BytesIO(large), headers=JSON)
            assert status == expected
