"""Hostile and malformed requests of strangers and users: nothing crashes, and nothing leaks."""

import asyncio
import io
import logging
import re
import zipfile
from urllib.parse import urljoin

import pytest
from yarl import URL

from support.serving import chat_body, serving
from support.two_users import RATES, ask, conversations_of, upload

pytestmark = pytest.mark.anyio
JSON = {"content-type": "application/json"}


async def send_raw(site, *pieces, wait=60.0):
    """Send bytes on a new connection, and return the response up to the server's close or a timeout."""
    reader, writer = await asyncio.open_connection("127.0.0.1", int(site.url.rpartition(":")[2]))
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


def head(site, first, *lines):
    """The head of an authenticated request."""
    who = [f"Host: {site.url.removeprefix('http://')}", f"Authorization: Bearer {site.server.keys.token}"]
    return "\r\n".join([first, *who, *lines, "", ""]).encode("latin-1")


BODY = b'{"theme":"dark"}'
CHUNKED = b"10\r\n" + BODY + b"\r\n0\r\n\r\n"
SET, OLD = "PATCH /api/settings HTTP/1.1", "PATCH /api/settings HTTP/1.0"
KIND, ENDS = "Content-Type: application/json", "Connection: close"
#: Ambiguous requests: two programs may disagree about the end of the body or about a header.
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


async def test_ambiguous_requests_change_nothing(tmp_path, subtests):
    async with serving(tmp_path, rates=RATES) as site:
        for shape, (lines, body) in SMUGGLED.items():
            with subtests.test(shape=shape):
                heard = await send_raw(site, head(site, *lines, ENDS), body, b"GET /api/me HTTP/1.1\r\n\r\n", wait=1.0)
                statuses = re.findall(rb"^HTTP/1\.[01] (\d)\d\d ", heard, re.MULTILINE)
                assert b"2" not in statuses
                assert len(statuses) <= 1
                assert (await site.get("/api/settings"))[1]["theme"] == "system"


async def test_pipelined_requests_get_their_responses_in_order(tmp_path):
    async with serving(tmp_path) as site:
        first = head(site, SET, KIND, "Transfer-Encoding: chunked")
        last = head(site, "GET /api/settings HTTP/1.1", ENDS)
        heard = await send_raw(site, first, CHUNKED, last)
        assert (heard.count(b"HTTP/1.1 200 OK"), heard.count(b'"theme":"dark"')) == (2, 2)


DEEP = 100_000
#: Malformed or unusual bodies for a text field. Those that are valid text may be accepted.
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
#: Routes with a body, and their text field.
TAKERS = [
    ("PATCH", "/api/conversations/{}", b"title"),
    ("POST", "/api/conversations/{}/branch", b"message_id"),
    ("PUT", "/api/conversations/{}/shares/ann", b"right"),
    ("PATCH", "/api/settings", b"instructions"),
    ("POST", "/api/chat", b"id"),
]


async def test_a_malformed_body_is_refused_with_a_short_message(tmp_path, subtests):
    async with serving(tmp_path, rates=RATES) as site:
        await site.post("hello")
        there = (await conversations_of(site, site.session))[0]["id"]
        for odd, content in ODD.items():
            with subtests.test(odd=odd):
                for method, path, field in TAKERS:
                    body = io.BytesIO(content.replace(b"FIELD", field))
                    status, received = await ask(site.session, method, path.format(there), data=body, headers=JSON)
                    assert status in {400, 404, 413, 422}, (path, received)
                    assert len(received["error"]["text"]) < 1500
                assert len((await site.get(f"/api/conversations/{there}"))[1]["messages"]) == 2


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


async def test_an_invalid_part_is_refused_and_starts_nothing(tmp_path, subtests):
    async with serving(tmp_path, rates=RATES) as site:
        for part, content in PARTS.items():
            with subtests.test(part=part):
                body = CHAT.replace(b"PART", content)
                status, received = await ask(site.session, "POST", "/api/chat", data=io.BytesIO(body), headers=JSON)
                assert (status in {404, 422}, await conversations_of(site, site.session)) == (True, []), received


async def test_unknown_names_create_no_metric_series(tmp_path):
    async with serving(tmp_path, rates=RATES) as site:
        for at in range(150):
            async with site.session.request(f"M{at}", f"/api/{at}/x?y={at}", headers={"user-agent": f"u{at}"}):
                pass
            await ask(site.session, "POST", "/api/chat", json=chat_body("x", f"c{at}", model=f"no-such-{at}:x"))
            await ask(site.session, "GET", f"/api/conversations/conv_{at:022}")
        text = (await ask(site.session, "GET", "/metrics"))[1].decode()
        assert not re.search(r"M1\d\d|no-such|conv_0|/api/1\d\d", text)
        assert len(text.splitlines()) < 600


async def test_a_stranger_is_rate_limited_by_address_whatever_the_headers_say(tmp_path):
    async with serving(tmp_path, rates="tokens=5/minute,reads=5/minute") as site:
        for path, headers in (
            ("/api/me", {"authorization": "Bearer wrong-wrong-wrong"}),
            ("/?token=wrong", {}),
            ("/?code=wrong", {}),
            ("/api/me", {}),
        ):
            found = []
            for at in range(12):
                lies = {"forwarded": f"for=10.0.0.{at}", "x-real-ip": f"10.0.0.{at}", "true-client-ip": f"10.0.0.{at}"}
                found.append((await ask(site.as_user(), "GET", path, headers={**headers, **lies}))[0])
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


async def test_no_url_redirects_to_another_site(tmp_path, subtests):
    async with serving(tmp_path, rates=RATES) as site:
        for path in ELSEWHERE:
            with subtests.test(path=path):
                joined = path + ("&" if "?" in path else "?") + "token=" + site.server.keys.token
                for address in (path, joined):
                    async with site.session.get(URL(site.url + address, encoded=True), allow_redirects=False) as answer:
                        await answer.read()
                    to = answer.headers.get("location")
                    assert to is None or urljoin(site.url, to).startswith(f"{site.url}/"), to


async def test_no_path_below_the_page_leads_to_other_files(tmp_path):
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
    async with serving(tmp_path / "kept", page=tmp_path / "page") as site:
        assert b"own()" in (await ask(site.session, "GET", "/assets/own.js"))[1]
        for way in ways:
            heard = await send_raw(site, head(site, f"GET /assets/{way} HTTP/1.1", ENDS))
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


async def test_an_export_names_its_files_by_number(tmp_path):
    async with serving(tmp_path, max_message_files=len(NAMES)) as site:
        files = [
            (await ask(site.session, "PUT", "/api/attachments", params={"name": name}, data=b"%d" % at))[1]
            for at, name in enumerate(NAMES)
        ]
        await site.post("keep these", files=[one["id"] for one in files])
        there = (await conversations_of(site, site.session))[0]["id"]
        async with site.session.get(f"/api/conversations/{there}/export") as answer:
            archive, received = zipfile.ZipFile(io.BytesIO(await answer.read())), answer.headers["content-disposition"]
        assert received == 'attachment; filename="keep these.zip"'
        assert {
            one for one in archive.namelist() if not re.fullmatch(r"(files/\d+(\.[a-z0-9]{1,8})?|[a-z]+\.jsonl?)", one)
        } == set()
        assert len(archive.namelist()) == len(set(archive.namelist())) >= len(NAMES)


async def test_each_request_is_logged_on_one_line(tmp_path, caplog):
    caplog.set_level(logging.DEBUG, logger="showandtell")
    forged = "x\r\nERROR root: forged\n"
    async with serving(tmp_path) as site:
        await site.post(forged, chat="c", id=forged)
        await ask(site.session, "POST", "/api/chat", json=chat_body("x", forged, forged, model=forged))
        await ask(site.session, "GET", "/api/conversations", params={"q": forged, "before": forged})
        await upload(site.session, b"x", "x%0D%0AERROR%20root:%20forged%0A")
        await ask(site.session, "GET", "/api/attachments/%0D%0AERROR%20root:%20forged%0A")
    assert [one.getMessage() for one in caplog.records if "forged" in one.getMessage()] == []


async def test_an_unusual_small_body_is_refused(tmp_path):
    names = b"".join(b',"k%d":1' % at for at in range(20_000))
    for body in (
        b'{"title":"x"' + names + b"}",
        b'{"title":' + b"[" * 250_000 + b"]",
        b'{"title":"' + b"\\u0041" * 40_000 + b'"}',
    ):
        async with serving(tmp_path) as site:
            await site.post("hello")
            there = (await conversations_of(site, site.session))[0]["id"]
            status, _ = await ask(
                site.session, "PATCH", f"/api/conversations/{there}", data=io.BytesIO(body), headers=JSON
            )
            assert status in {400, 413, 422}


async def test_only_a_chat_body_may_be_large(tmp_path):
    large = b'{"title":"x"' + b"".join(b',"k%d":1' % at for at in range(600_000)) + b"}"
    async with serving(tmp_path) as site:
        for method, path, expected in (("PATCH", "/api/settings", 413), ("POST", "/api/chat", 422)):
            status, _ = await ask(site.session, method, path, data=io.BytesIO(large), headers=JSON)
            assert status == expected
