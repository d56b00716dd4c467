"""Serving files: headers, ranges, derivatives, and access by the right user only."""

import asyncio
import sys
import threading
from io import BytesIO
from urllib.parse import unquote, urlsplit

import pytest
from PIL import Image
from starlette.requests import Request

from showandtell.core.messages.derivations import DerivationRequest, Derivative
from showandtell.core.messages.file import File
from showandtell.core.messages.ids import new_id
from showandtell.media import gate
from showandtell.server.files.serving_files import ServedFile, disposition, file_response
from showandtell.storage.conversations import derived_files
from showandtell.storage.database.quotas import Quotas
from showandtell.storage.files.convert import convert_all
from support.fixtures import mp4, pdf, png, svg, wav
from support.serving import serving
from support.stores import note, post, user_draft

pytestmark = pytest.mark.anyio
IMAGE = png(400, 300)
#: Pairs: a second policy would weaken or break the first.
SECURITY_HEADERS = [
    ("content-security-policy", "sandbox; default-src 'none'; frame-ancestors 'self'"),
    ("cross-origin-resource-policy", "same-origin"),
    ("x-content-type-options", "nosniff"),
]
HTML = b"<!doctype html><script>alert(1)</script>"


async def put(site, data, name="a.png", session=None):
    async with (session or site.session).put("/api/attachments", params={"name": name}, data=data) as response:
        assert response.status == 201, await response.text()
        return await response.json()


async def get(site, path, method="GET", *, session=None, data=None, follow=True, **headers):
    dashed = {name.replace("_", "-"): value for name, value in headers.items()}
    options = {"data": data, "allow_redirects": follow}
    async with (session or site.session).request(method, path, headers=dashed, **options) as response:
        return response.status, response.headers, await response.read()


def security_headers(received):
    """The pairs of headers with these names, each as often as it came."""
    names = {name for name, _ in SECURITY_HEADERS}
    return sorted((name.lower(), value) for name, value in received.items() if name.lower() in names)


async def test_a_file_is_served_unchanged_with_security_headers(tmp_path):
    async with serving(tmp_path) as site:
        file = await put(site, IMAGE)
        status, headers, body = await get(site, file["url"])
        assert (status, body, headers["content-type"]) == (200, IMAGE, "image/png")
        assert headers["content-disposition"] == 'inline; filename="a.png"'
        assert headers["cache-control"] == "private, max-age=3600, immutable"
        assert (headers["content-length"], headers["accept-ranges"]) == (str(len(IMAGE)), "bytes")
        assert security_headers(headers) == SECURITY_HEADERS
        assert "set-cookie" not in headers


async def test_every_response_about_a_file_has_the_security_headers(tmp_path):
    async with serving(tmp_path) as site:
        file = await put(site, IMAGE)
        tag = (await get(site, file["url"]))[1]["etag"]
        missing = f"/api/attachments/{new_id('att')}/content"
        requests = {
            200: (file["url"], {}),
            206: (file["url"], {"range": "bytes=1-9"}),
            304: (file["url"], {"if_none_match": tag}),
            416: (file["url"], {"range": "bytes=999999-"}),
            404: (missing, {}),
        }
        for expected, (path, headers) in requests.items():
            for method in ("GET", "HEAD"):
                status, received, body = await get(site, path, method, **headers)
                assert status == (expected if method == "GET" or expected not in {206, 416} else 200)
                assert security_headers(received) == SECURITY_HEADERS, expected
                assert "set-cookie" not in received
                assert "private" in received["cache-control"] or received["cache-control"] == "no-store"
                assert method == "GET" or body == b""


async def test_refusals_below_the_files_have_the_security_headers(tmp_path):
    async with serving(tmp_path, rates="uploads=1/minute") as site:
        file, nobody = await put(site, IMAGE), site.as_user()
        below = f"/api/attachments/{file['id']}"
        requests = [
            (401, "GET", file["url"], {"session": nobody}),
            (403, "DELETE", below, {"origin": "null"}),
            (405, "POST", file["url"], {}),
            (422, "GET", f"{below}/pages/abc", {}),
            (422, "GET", f"{below}/content?download=banana", {}),
            (404, "GET", f"{below}/nosuch", {}),
            (404, "GET", f"{below}/nosuch/deeper", {"accept": "text/html"}),
            (415, "POST", "/api/attachments", {"data": b"x", "content_type": "text/plain"}),
            (421, "GET", file["url"], {"host": "evil.example"}),
            (429, "PUT", "/api/attachments", {"data": b"x"}),
        ]
        for expected, method, path, more in requests:
            status, headers, _ = await get(site, path, method, **more)
            assert (status, headers["content-security-policy"]) == (
                expected,
                dict(SECURITY_HEADERS)["content-security-policy"],
            ), path
            assert security_headers(headers) == SECURITY_HEADERS
        status, headers, _ = await get(site, f"{below}/text/", follow=False)
        assert status == 307
        assert security_headers(headers) == SECURITY_HEADERS


async def test_a_server_error_below_the_files_has_the_security_headers(tmp_path, monkeypatch):
    def fail(_):
        raise RuntimeError

    async with serving(tmp_path) as site:
        monkeypatch.setattr(site.store, "uploads", fail)
        status, headers, _ = await get(site, "/api/attachments/x/content")
        assert status == 500
        assert security_headers(headers) == SECURITY_HEADERS
        assert (await get(site, "/api/me"))[1]["content-security-policy"].startswith("default-src 'none'")


@pytest.mark.parametrize("method", ["GET", "HEAD"])
async def test_an_empty_file_gives_a_complete_response(method):
    request, sent = Request({"type": "http", "method": method, "headers": []}), []
    response = file_response(request, ServedFile(lambda: BytesIO(b""), 0, "a.txt", "text/plain", "tag"))
    await response(request.scope, asyncio.Event().wait, lambda message: asyncio.sleep(0, sent.append(message)))
    assert [(one["type"], one.get("more_body")) for one in sent] == [
        ("http.response.start", None),
        ("http.response.body", False),
    ]


async def test_the_text_of_a_file_without_any_is_empty(tmp_path, caplog):
    async with serving(tmp_path) as site:
        file = await put(site, b"\xef\xbb\xbf", "a.txt")
        status, headers, body = await get(site, f"/api/attachments/{file['id']}/text")
        assert (status, headers["content-length"], body) == (200, "0", b"")
    assert "without completing" not in caplog.text


async def test_ranges_of_a_file_are_served(tmp_path):
    async with serving(tmp_path) as site:
        file = await put(site, IMAGE)
        size = len(IMAGE)
        status, headers, body = await get(site, file["url"], range="bytes=10-19")
        assert (status, body) == (206, IMAGE[10:20])
        assert headers["content-range"] == f"bytes 10-19/{size}"
        assert (await get(site, file["url"], range="bytes=-7"))[2] == IMAGE[-7:]
        status, headers, _ = await get(site, file["url"], range=f"bytes={size}-")
        assert (status, headers["content-range"]) == (416, f"bytes */{size}")
        assert (await get(site, file["url"], range="bytes=0-1,3-4"))[0] == 200


async def test_ranges_of_compressed_and_remote_blobs_are_served(tmp_path):
    words = b"".join(b"%08d\n" % number for number in range(100_000))
    for blobs in (None, "memory:"):
        async with serving(tmp_path / str(blobs), **({"blobs": blobs} if blobs else {})) as site:
            file = await put(site, words, "a.txt")
            for first, last in ((0, 8), (262_140, 262_150), (899_990, 899_999)):
                status, _, body = await get(site, file["url"], range=f"bytes={first}-{last}")
                assert (status, body) == (206, words[first : last + 1])
            assert (await get(site, file["url"]))[2] == words


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
        ("a.html", IMAGE, "image/png", True),
    ],
)
async def test_only_harmless_types_are_shown_inline(tmp_path, name, data, media_type, inline):
    async with serving(tmp_path) as site:
        file = await put(site, data, name)
        _, headers, body = await get(site, file["url"])
        assert (headers["content-type"], body) == (media_type, data)
        assert headers["content-disposition"].startswith("inline" if inline else "attachment")
        _, headers, _ = await get(site, file["url"] + "?download=1")
        assert headers["content-disposition"].startswith("attachment")
        assert security_headers(headers) == SECURITY_HEADERS


@pytest.mark.parametrize(
    ("name", "header"),
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
def test_content_disposition_is_ascii_and_preserves_the_name(name, header):
    assert disposition(name, inline=False) == header


async def test_thumbnails_are_made_once_and_deleted_with_the_file(tmp_path):
    async with serving(tmp_path) as site:
        ids = []
        for name, data, form in [
            ("a.png", IMAGE, "image/webp"),
            ("a.pdf", pdf("x", "y"), "image/webp"),
            ("a.mp4", mp4(), "image/jpeg"),
        ]:
            file = await put(site, data, name)
            responses = await asyncio.gather(*(get(site, file["thumbnail"]) for _ in range(3)))
            assert {(status, headers["content-type"]) for status, headers, _ in responses} == {(200, form)}
            assert len({body for _, _, body in responses}) == 1
            again = await get(site, file["thumbnail"], if_none_match=responses[0][1]["etag"])
            assert (again[0], again[2]) == (304, b"")
            ids.append(file["id"])
        assert sum(1 for _ in site.store.blobs.for_owner("local").list_blobs()) == 6
        for file_id in ids:
            assert (await get(site, f"/api/attachments/{file_id}", "DELETE"))[0] == 204
        assert [*site.store.blobs.for_owner("local").list_blobs()] == []
        assert (await put(site, b"words", "a.txt"))["thumbnail"] is None


async def test_an_svg_has_a_thumbnail_and_a_page_but_its_kind_is_text(tmp_path):
    drawing = b'<svg xmlns="http://www.w3.org/2000/svg" width="20" height="10"><circle r="9"/></svg>'
    async with serving(tmp_path) as site:
        file = await put(site, drawing, "a.svg")
        assert file["kind"] == "text"
        for path, size in (("thumbnail", (320, 160)), ("pages/1", (768, 384))):
            status, headers, body = await get(site, f"/api/attachments/{file['id']}/{path}")
            assert (status, headers["content-type"]) == (200, "image/webp")
            assert Image.open(BytesIO(body)).size == size
        assert (await get(site, f"/api/attachments/{file['id']}/pages/2"))[0] == 404


async def test_concurrent_conversions_are_shared_even_if_the_first_is_cancelled(tmp_path, monkeypatch):
    started, resume, calls, loop = asyncio.Event(), threading.Event(), [], asyncio.get_running_loop()

    def load(requests, file_cache):
        calls.append(requests)
        loop.call_soon_threadsafe(started.set)
        resume.wait()
        return convert_all(requests, file_cache)

    monkeypatch.setattr(derived_files, "convert_all", load)
    async with serving(tmp_path) as site:
        facts = (await site.store.uploads("local").find((await put(site, IMAGE))["id"])).facts
        tasks = [asyncio.create_task(derived_files.convert(site.store, "local", facts, "thumbnail"))]
        await started.wait()
        tasks += [asyncio.create_task(derived_files.convert(site.store, "local", facts, "thumbnail")) for _ in range(5)]
        tasks[0].cancel()
        resume.set()
        cancelled, *results = await asyncio.gather(*tasks, return_exceptions=True)
        assert (len(calls), type(cancelled)) == (1, asyncio.CancelledError)
        assert {one.files[0].sha256 for one in results} == {results[0].files[0].sha256}
        assert not site.store.active_conversions


async def test_missing_thumbnails_pages_and_texts_give_404(tmp_path):
    async with serving(tmp_path) as site:
        text, image = await put(site, b"words", "a.txt"), await put(site, IMAGE)
        document = await put(site, pdf("x"), "a.pdf")
        for path in (
            f"{text['id']}/thumbnail",
            f"{text['id']}/pages/1",
            f"{document['id']}/pages/2",
            f"{document['id']}/pages/0",
            f"{image['id']}/text",
            f"{image['id']}/variants/{'0' * 64}",
        ):
            status, _, body = await get(site, f"/api/attachments/{path}")
            assert status == 404, path
            assert b"a." in body


async def test_pages_and_text_of_a_document(tmp_path):
    async with serving(tmp_path) as site:
        file = await put(site, pdf("first words", "second words"), "a.pdf")
        below = f"/api/attachments/{file['id']}"
        status, headers, body = await get(site, f"{below}/pages/2")
        assert (status, headers["content-type"], body[8:12]) == (200, "image/webp", b"WEBP")
        status, headers, body = await get(site, f"{below}/text")
        assert (status, headers["content-type"]) == (200, "text/plain; charset=utf-8")
        assert b"first words" in body
        assert b"second words" in body
        assert "x-cut" not in headers
        long = await put(site, b"x" * 200_001, "a.txt")
        _, headers, body = await get(site, f"/api/attachments/{long['id']}/text")
        assert (headers["x-cut"], len(body)) == ("1", 200_000)


async def test_a_page_is_drawn_once_and_deleted_with_its_file(tmp_path, monkeypatch):
    async with serving(tmp_path) as site:
        file = await put(site, pdf("first words", "second words"), "a.pdf")
        below = f"/api/attachments/{file['id']}"
        first = await get(site, f"{below}/pages/2")
        with monkeypatch.context() as patched:
            patched.setattr(gate, "CONVERTERS", gate.WorkerPool((sys.executable, "-c", "raise SystemExit"), 2))
            again = await get(site, f"{below}/pages/2")
            assert (await get(site, f"{below}/pages/1"))[0] == 404
        assert (first[0], again[0], again[2], again[1]["etag"]) == (200, 200, first[2], first[1]["etag"])
        assert sum(1 for _ in site.store.blobs.for_owner("local").list_blobs()) == 2
        assert (await get(site, below, "DELETE"))[0] == 204
        assert [*site.store.blobs.for_owner("local").list_blobs()] == []


async def test_of_a_document_only_so_many_pages_are_kept_and_others_are_drawn_each_time(tmp_path, monkeypatch):
    monkeypatch.setattr(derived_files, "MAX_KEPT_PAGES", 2)
    async with serving(tmp_path) as site:
        file = await put(site, pdf("a", "b", "c"), "a.pdf")
        for number in (1, 2, 3, 3, 1):
            status, _, body = await get(site, f"/api/attachments/{file['id']}/pages/{number}")
            assert (status, body[8:12]) == (200, b"WEBP")
        assert sum(1 for _ in site.store.blobs.for_owner("local").list_blobs()) == 3


async def test_pages_are_shown_to_an_owner_whose_quota_is_used_up(tmp_path):
    async with serving(tmp_path) as site:
        file = await put(site, pdf("words"), "a.pdf")
        site.store.quotas = Quotas(owner=file["size"] + 100)
        status, _, body = await get(site, f"/api/attachments/{file['id']}/pages/1")
        assert (status, body[8:12]) == (200, b"WEBP")
        assert sum(1 for _ in site.store.blobs.for_owner("local").list_blobs()) == 1


async def test_a_derivative_is_served_for_its_own_file_only(tmp_path):
    async with serving(tmp_path) as site:
        conversation = await site.store.create("local")
        await post(conversation, user_draft("look", File.from_bytes(IMAGE, name="a.png"), note("b")))
        file, other = conversation.attachments[1], conversation.attachments[2]
        derivative = (await conversation.probe(user_draft("", File.from_bytes(png(9, 9)))))[0].facts
        await conversation.learn({DerivationRequest(file.facts.sha256, "image?side=9"): Derivative((derivative,))})
        path = f"/api/attachments/{file.id}/variants/{derivative.sha256}"
        assert (await get(site, path))[2] == png(9, 9)
        for wrong in (
            f"{other.id}/variants/{derivative.sha256}",
            f"{file.id}/variants/{other.facts.sha256}",
            f"{file.id}/variants/x",
        ):
            assert (await get(site, f"/api/attachments/{wrong}"))[0] == 404


async def test_a_deleted_file_keeps_its_name_but_not_its_bytes(tmp_path):
    async with serving(tmp_path) as site:
        conversation = await site.store.create("local")
        await post(conversation, user_draft("look", File.from_bytes(IMAGE, name="a.png")))
        path = f"/api/attachments/{conversation.attachments[1].id}"
        assert (await get(site, path, "DELETE"))[0] == 204
        status, file = await site.get(path)
        assert (status, file["state"], file["name"], file["number"], file["thumbnail"]) == (
            200,
            "deleted",
            "a.png",
            1,
            None,
        )
        for below in ("content", "thumbnail", "text", "pages/1"):
            status, _, body = await get(site, f"{path}/{below}")
            assert status == 404
            assert b"deleted by the user" in body


async def test_bytes_changed_on_disk_are_not_served(tmp_path):
    async with serving(tmp_path) as site:
        file = await put(site, IMAGE)
        (blob,) = [path for path in (tmp_path / "blobs").rglob("*") if path.is_file() and len(path.name) == 64]
        blob.chmod(0o600)
        blob.write_bytes(IMAGE[:-1] + b"x")
        status, headers, body = await get(site, file["url"])
        assert (status, headers["x-content-type-options"]) == (404, "nosniff")
        assert b"no longer matches its hash" in body


async def test_addresses_for_bearer_clients_are_signed_for_one_path(tmp_path):
    async with serving(tmp_path) as site:
        bearer, nobody = site.as_user(site.server.keys.token), site.as_user()
        file = await put(site, IMAGE, session=bearer)
        assert "sig=" in file["url"]
        assert (await get(site, file["url"], session=nobody))[2] == IMAGE
        assert (await get(site, file["url"], session=nobody, range="bytes=0-3"))[2] == IMAGE[:4]
        assert (await get(site, file["thumbnail"], session=nobody))[0] == 200
        query = urlsplit(file["url"]).query
        for path in (f"/api/attachments/{file['id']}", f"/api/attachments/{file['id']}/text"):
            assert (await get(site, f"{path}?{query}", session=nobody))[0] == 401
        assert (await get(site, file["url"], "DELETE", session=nobody))[0] in {401, 405}
        assert (await get(site, urlsplit(file["url"]).path, session=nobody))[0] == 401


async def test_a_client_that_disconnects_early_does_no_harm(tmp_path):
    async with serving(tmp_path) as site:
        file = await put(site, BytesIO(bytes(range(256)) * 40_000), "a.bin")
        async with site.session.get(file["url"]) as response:
            await response.content.readexactly(1000)
            response.close()
        assert (await get(site, file["url"], range="bytes=0-1"))[2] == b"\0\1"


async def test_the_address_ends_in_the_name_of_the_file(tmp_path):
    async with serving(tmp_path) as site:
        for name in ("a b.png", "ü/x?y#z%.png", "..", "a;b.png", "\u202egnp.exe"):
            file = await put(site, IMAGE, name)
            assert (await get(site, file["url"]))[2] == IMAGE
            assert unquote(urlsplit(file["url"]).path).rstrip("/").rpartition("/")[2] in {file["name"], "content"}
