"""Bytes that leave: what their headers say, which part of them, and that nobody gets what isn't theirs."""

import asyncio
import threading
from io import BytesIO
from urllib.parse import unquote, urlsplit

import pytest
from PIL import Image
from starlette.requests import Request

from showandtell.core.messages.derivations import DerivationRequest, Derivative
from showandtell.core.messages.file import File
from showandtell.core.messages.ids import new_id
from showandtell.server.files.contents import find_asked
from showandtell.server.files.serving_files import Served, answer_file, disposition
from showandtell.storage.blobs.zstd import zstd
from showandtell.storage.conversations import derived_files
from showandtell.storage.files.convert import load_now
from support.fixtures import mp4, pdf, png, svg, wav
from support.serving import serving
from support.stores import note, post, said

pytestmark = pytest.mark.anyio
PICTURE = png(400, 300)
GUARDS = {
    "x-content-type-options": "nosniff",
    "content-security-policy": "sandbox; default-src 'none'; frame-ancestors 'self'",
    "cross-origin-resource-policy": "same-origin",
}
HTML = b"<!doctype html><script>alert(1)</script>"


async def put(house, data, name="a.png", session=None):
    async with (session or house.session).put("/api/attachments", params={"name": name}, data=data) as answer:
        assert answer.status == 201, await answer.text()
        return await answer.json()


async def get(house, path, method="GET", *, session=None, data=None, follow=True, **headers):
    spelled = {name.replace("_", "-"): value for name, value in headers.items()}
    more = {"data": data, "allow_redirects": follow}
    async with (session or house.session).request(method, path, headers=spelled, **more) as answer:
        return answer.status, answer.headers, await answer.read()


async def test_a_file_comes_back_byte_for_byte_with_headers_that_let_it_do_nothing(tmp_path):
    async with serving(tmp_path) as house:
        one = await put(house, PICTURE)
        status, headers, body = await get(house, one["url"])
        assert (status, body, headers["content-type"]) == (200, PICTURE, "image/png")
        assert headers["content-disposition"] == 'inline; filename="a.png"'
        assert headers["cache-control"] == "private, max-age=3600, immutable"
        assert (headers["content-length"], headers["accept-ranges"]) == (str(len(PICTURE)), "bytes")
        assert GUARDS.items() <= headers.items()
        assert "set-cookie" not in headers


async def test_every_answer_about_a_file_has_the_same_guards(tmp_path):
    async with serving(tmp_path) as house:
        one = await put(house, PICTURE)
        tag = (await get(house, one["url"]))[1]["etag"]
        missing = f"/api/attachments/{new_id('att')}/content"
        asked = {
            200: (one["url"], {}),
            206: (one["url"], {"range": "bytes=1-9"}),
            304: (one["url"], {"if_none_match": tag}),
            416: (one["url"], {"range": "bytes=999999-"}),
            404: (missing, {}),
        }
        for expected, (path, headers) in asked.items():
            for method in ("GET", "HEAD"):
                status, found, body = await get(house, path, method, **headers)
                assert status == (expected if method == "GET" or expected not in {206, 416} else 200)
                assert GUARDS.items() <= found.items(), expected
                assert "set-cookie" not in found
                assert "private" in found["cache-control"] or found["cache-control"] == "no-store"
                assert method == "GET" or body == b""


async def test_what_is_refused_below_the_files_is_guarded_like_them(tmp_path):
    async with serving(tmp_path, rates="uploads=1/minute") as house:
        one, nobody = await put(house, PICTURE), house.as_user()
        below = f"/api/attachments/{one['id']}"
        asked = [
            (401, "GET", one["url"], {"session": nobody}),
            (403, "DELETE", below, {"origin": "null"}),
            (405, "POST", one["url"], {}),
            (422, "GET", f"{below}/pages/abc", {}),
            (422, "GET", f"{below}/content?download=banana", {}),
            (404, "GET", f"{below}/nosuch", {}),
            (404, "GET", f"{below}/nosuch/deeper", {"accept": "text/html"}),
            (415, "POST", "/api/attachments", {"data": b"x", "content_type": "text/plain"}),
            (421, "GET", one["url"], {"host": "evil.example"}),
            (429, "PUT", "/api/attachments", {"data": b"x"}),
        ]
        for expected, method, path, more in asked:
            status, headers, _ = await get(house, path, method, **more)
            assert (status, headers["content-security-policy"]) == (expected, GUARDS["content-security-policy"]), path
            assert GUARDS.items() <= headers.items()
        status, headers, _ = await get(house, f"{below}/text/", follow=False)
        assert (status, GUARDS.items() <= headers.items()) == (307, True)


async def test_a_fault_of_ours_below_the_files_is_guarded_too(tmp_path):
    def fail():
        raise RuntimeError

    async with serving(tmp_path) as house:
        house.app.dependency_overrides[find_asked] = fail
        status, headers, _ = await get(house, "/api/attachments/x/content")
        assert (status, GUARDS.items() <= headers.items()) == (500, True)
        assert (await get(house, "/api/me"))[1]["content-security-policy"].startswith("default-src 'none'")


@pytest.mark.parametrize("method", ["GET", "HEAD"])
async def test_no_bytes_at_all_are_an_answer_that_ends(method):
    request, sent = Request({"type": "http", "method": method, "headers": []}), []
    answer = answer_file(request, Served(lambda: BytesIO(b""), 0, "a.txt", "text/plain", "tag"))
    await answer(request.scope, asyncio.Event().wait, lambda message: asyncio.sleep(0, sent.append(message)))
    assert [(one["type"], one.get("more_body")) for one in sent] == [
        ("http.response.start", None),
        ("http.response.body", False),
    ]


async def test_the_words_of_a_file_without_any_are_none(tmp_path, caplog):
    async with serving(tmp_path) as house:
        mark = await put(house, b"\xef\xbb\xbf", "a.txt")
        status, headers, body = await get(house, f"/api/attachments/{mark['id']}/text")
        assert (status, headers["content-length"], body) == (200, "0", b"")
    assert "without completing" not in caplog.text


async def test_a_part_of_a_file_is_what_was_asked_for(tmp_path):
    async with serving(tmp_path) as house:
        one = await put(house, PICTURE)
        size = len(PICTURE)
        status, headers, body = await get(house, one["url"], range="bytes=10-19")
        assert (status, body) == (206, PICTURE[10:20])
        assert headers["content-range"] == f"bytes 10-19/{size}"
        assert (await get(house, one["url"], range="bytes=-7"))[2] == PICTURE[-7:]
        status, headers, _ = await get(house, one["url"], range=f"bytes={size}-")
        assert (status, headers["content-range"]) == (416, f"bytes */{size}")
        assert (await get(house, one["url"], range="bytes=0-1,3-4"))[0] == 200


@pytest.mark.skipif(zstd() is None, reason="zstd is not installed")
async def test_compressed_and_remote_blobs_are_served_in_parts_too(tmp_path):
    words = b"".join(b"%08d\n" % number for number in range(100_000))
    for where in (None, "memory:"):
        async with serving(tmp_path / str(where), **({"blobs": where} if where else {})) as house:
            one = await put(house, words, "a.txt")
            for first, last in ((0, 8), (262_140, 262_150), (899_990, 899_999)):
                status, _, body = await get(house, one["url"], range=f"bytes={first}-{last}")
                assert (status, body) == (206, words[first : last + 1])
            assert (await get(house, one["url"]))[2] == words


@pytest.mark.parametrize(
    ("name", "data", "media_type", "inline"),
    [
        ("a.html", HTML, "application/octet-stream", False),
        ("a.png", HTML, "application/octet-stream", False),
        ("a.svg", svg(), "application/octet-stream", False),
        ("a.xml", b"<?xml version='1.0'?><x/>", "application/octet-stream", False),
        ("a.js", b"alert(1)", "application/octet-stream", False),
        ("a.json", b'{"a": 1}', "application/octet-stream", False),
        ("a.bin", bytes(range(256)), "application/octet-stream", False),
        ("a.txt", b"words", "text/plain; charset=utf-8", True),
        ("a.wav", wav(), "audio/wav", True),
        ("a.pdf", pdf("x"), "application/pdf", False),
        ("a.html", PICTURE, "image/png", True),
    ],
)
async def test_only_what_is_harmless_is_shown_by_the_browser_itself(tmp_path, name, data, media_type, inline):
    async with serving(tmp_path) as house:
        one = await put(house, data, name)
        _, headers, body = await get(house, one["url"])
        assert (headers["content-type"], body) == (media_type, data)
        assert headers["content-disposition"].startswith("inline" if inline else "attachment")
        _, headers, _ = await get(house, one["url"] + "?download=1")
        assert headers["content-disposition"].startswith("attachment")
        assert GUARDS.items() <= headers.items()


@pytest.mark.parametrize(
    ("name", "spelled"),
    [
        ("a.png", 'attachment; filename="a.png"'),
        ("my file (1).png", 'attachment; filename="my file (1).png"'),
        ("naïve.png", "attachment; filename=\"na_ve.png\"; filename*=UTF-8''na%C3%AFve.png"),
        ('a"b\\c.png', "attachment; filename=\"a_b_c.png\"; filename*=UTF-8''a%22b%5Cc.png"),
        ("100%41.png", "attachment; filename=\"100_41.png\"; filename*=UTF-8''100%2541.png"),
        (
            "a\r\nSet-Cookie: b=1",
            "attachment; filename=\"a__Set-Cookie_ b=1\"; filename*=UTF-8''a%0D%0ASet-Cookie%3A%20b%3D1",
        ),
        ("", "attachment; filename=\"file\"; filename*=UTF-8''"),
    ],
)
def test_a_name_is_one_line_of_ascii_and_comes_back_as_it_was(name, spelled):
    assert disposition(name, inline=False) == spelled


async def test_small_pictures_are_made_once_and_kept_with_the_file(tmp_path):
    async with serving(tmp_path) as house:
        ids = []
        for name, data, form in [
            ("a.png", PICTURE, "image/webp"),
            ("a.pdf", pdf("x", "y"), "image/webp"),
            ("a.mp4", mp4(), "image/jpeg"),
        ]:
            one = await put(house, data, name)
            found = await asyncio.gather(*(get(house, one["thumbnail"]) for _ in range(3)))
            assert {(status, headers["content-type"]) for status, headers, _ in found} == {(200, form)}
            assert len({body for _, _, body in found}) == 1
            again = await get(house, one["thumbnail"], if_none_match=found[0][1]["etag"])
            assert (again[0], again[2]) == (304, b"")
            ids.append(one["id"])
        assert sum(1 for _ in house.store.blobs.of("local").listed()) == 6
        for one in ids:
            assert (await get(house, f"/api/attachments/{one}", "DELETE"))[0] == 204
        assert [*house.store.blobs.of("local").listed()] == []
        assert (await put(house, b"words", "a.txt"))["thumbnail"] is None


async def test_a_drawing_has_a_small_and_a_large_picture_and_stays_a_text(tmp_path):
    drawing = b'<svg xmlns="http://www.w3.org/2000/svg" width="20" height="10"><circle r="9"/></svg>'
    async with serving(tmp_path) as house:
        one = await put(house, drawing, "a.svg")
        assert one["kind"] == "text"
        for path, size in (("thumbnail", (320, 160)), ("pages/1", (768, 384))):
            status, headers, body = await get(house, f"/api/attachments/{one['id']}/{path}")
            assert (status, headers["content-type"]) == (200, "image/webp")
            assert Image.open(BytesIO(body)).size == size
        assert (await get(house, f"/api/attachments/{one['id']}/pages/2"))[0] == 404


async def test_what_many_ask_for_at_once_is_made_once_also_where_the_first_of_them_leaves(tmp_path, monkeypatch):
    begun, go, count, loop = asyncio.Event(), threading.Event(), [], asyncio.get_running_loop()

    def load(wants, file_cache):
        count.append(wants)
        loop.call_soon_threadsafe(begun.set)
        go.wait()
        return load_now(wants, file_cache)

    monkeypatch.setattr(derived_files, "load_now", load)
    async with serving(tmp_path) as house:
        facts = (await house.store.uploads("local").find((await put(house, PICTURE))["id"])).facts
        asked = [asyncio.create_task(derived_files.convert(house.store, "local", facts, "thumbnail"))]
        await begun.wait()
        asked += [
            asyncio.create_task(derived_files.convert(house.store, "local", facts, "thumbnail")) for _ in range(5)
        ]
        asked[0].cancel()
        go.set()
        left, *found = await asyncio.gather(*asked, return_exceptions=True)
        assert (len(count), type(left)) == (1, asyncio.CancelledError)
        assert {one.files[0].sha256 for one in found} == {found[0].files[0].sha256}
        assert not house.store.underway


async def test_what_has_no_picture_page_or_words_says_so(tmp_path):
    async with serving(tmp_path) as house:
        text, picture = await put(house, b"words", "a.txt"), await put(house, PICTURE)
        document = await put(house, pdf("x"), "a.pdf")
        for path in (
            f"{text['id']}/thumbnail",
            f"{text['id']}/pages/1",
            f"{document['id']}/pages/2",
            f"{document['id']}/pages/0",
            f"{picture['id']}/text",
            f"{picture['id']}/variants/{'0' * 64}",
        ):
            status, _, body = await get(house, f"/api/attachments/{path}")
            assert status == 404, path
            assert b"a." in body


async def test_pages_and_words_of_a_document(tmp_path):
    async with serving(tmp_path) as house:
        one = await put(house, pdf("first words", "second words"), "a.pdf")
        below = f"/api/attachments/{one['id']}"
        status, headers, body = await get(house, f"{below}/pages/2")
        assert (status, headers["content-type"], body[8:12]) == (200, "image/webp", b"WEBP")
        status, headers, body = await get(house, f"{below}/text")
        assert (status, headers["content-type"]) == (200, "text/plain; charset=utf-8")
        assert b"first words" in body
        assert b"second words" in body
        assert "x-cut" not in headers
        long = await put(house, b"x" * 200_001, "a.txt")
        _, headers, body = await get(house, f"/api/attachments/{long['id']}/text")
        assert (headers["x-cut"], len(body)) == ("1", 200_000)


async def test_a_variant_is_given_for_the_file_that_it_was_made_of_and_no_other(tmp_path):
    async with serving(tmp_path) as house:
        conversation = await house.store.create("local")
        await post(conversation, said("look", File.from_bytes(PICTURE, name="a.png"), note("b")))
        one, other = conversation.attachments[1], conversation.attachments[2]
        made = (await conversation.prove(said("", File.from_bytes(png(9, 9)))))[0].facts
        await conversation.learn({DerivationRequest(one.facts.sha256, "image?side=9"): Derivative((made,))})
        path = f"/api/attachments/{one.id}/variants/{made.sha256}"
        assert (await get(house, path))[2] == png(9, 9)
        for wrong in (
            f"{other.id}/variants/{made.sha256}",
            f"{one.id}/variants/{other.facts.sha256}",
            f"{one.id}/variants/x",
        ):
            assert (await get(house, f"/api/attachments/{wrong}"))[0] == 404


async def test_a_deleted_file_keeps_its_name_and_gives_no_bytes(tmp_path):
    async with serving(tmp_path) as house:
        conversation = await house.store.create("local")
        await post(conversation, said("look", File.from_bytes(PICTURE, name="a.png")))
        path = f"/api/attachments/{conversation.attachments[1].id}"
        assert (await get(house, path, "DELETE"))[0] == 204
        status, one = await house.get(path)
        assert (status, one["state"], one["name"], one["number"], one["thumbnail"]) == (
            200,
            "deleted",
            "a.png",
            1,
            None,
        )
        for below in ("content", "thumbnail", "text", "pages/1"):
            status, _, body = await get(house, f"{path}/{below}")
            assert (status, b"deleted by the user" in body) == (404, True)


async def test_bytes_that_were_changed_on_the_disk_do_not_leave(tmp_path):
    async with serving(tmp_path) as house:
        one = await put(house, PICTURE)
        (blob,) = [path for path in (tmp_path / "blobs").rglob("*") if path.is_file() and len(path.name) == 64]
        blob.chmod(0o600)
        blob.write_bytes(PICTURE[:-1] + b"x")
        status, headers, body = await get(house, one["url"])
        assert (status, headers["x-content-type-options"]) == (404, "nosniff")
        assert b"no longer matches its hash" in body


async def test_addresses_for_bearer_clients_are_signed_for_them_and_that_path_alone(tmp_path):
    async with serving(tmp_path) as house:
        bearer, nobody = house.as_user(house.server.keys.token), house.as_user()
        one = await put(house, PICTURE, session=bearer)
        assert "sig=" in one["url"]
        assert (await get(house, one["url"], session=nobody))[2] == PICTURE
        assert (await get(house, one["url"], session=nobody, range="bytes=0-3"))[2] == PICTURE[:4]
        assert (await get(house, one["thumbnail"], session=nobody))[0] == 200
        query = urlsplit(one["url"]).query
        for path in (f"/api/attachments/{one['id']}", f"/api/attachments/{one['id']}/text"):
            assert (await get(house, f"{path}?{query}", session=nobody))[0] == 401
        assert (await get(house, one["url"], "DELETE", session=nobody))[0] in {401, 405}
        assert (await get(house, urlsplit(one["url"]).path, session=nobody))[0] == 401


async def test_a_reader_who_leaves_in_the_middle_costs_nothing_more(tmp_path):
    async with serving(tmp_path) as house:
        one = await put(house, BytesIO(bytes(range(256)) * 40_000), "a.bin")
        async with house.session.get(one["url"]) as answer:
            await answer.content.readexactly(1000)
            answer.close()
        assert (await get(house, one["url"], range="bytes=0-1"))[2] == b"\0\1"


async def test_the_address_ends_in_the_name_of_the_file(tmp_path):
    async with serving(tmp_path) as house:
        for name in ("a b.png", "ü/x?y#z%.png", "..", "a;b.png", "\u202egnp.exe"):
            one = await put(house, PICTURE, name)
            assert (await get(house, one["url"]))[2] == PICTURE
            assert unquote(urlsplit(one["url"]).path).rstrip("/").rpartition("/")[2] in {one["name"], "content"}
