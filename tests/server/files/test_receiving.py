"""Uploads over HTTP: streamed, limited while they stream, and for a form all files or none."""

import asyncio
import errno
import itertools
import os
from io import BytesIO
from urllib.parse import urlsplit

import aiohttp
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image
from sqlalchemy import select

from showandtell.core.messages.ids import new_id
from showandtell.errors import BadInput
from showandtell.server.files import receiving
from showandtell.server.files.parts import MAX_PARTS, End, Head, PartReader
from showandtell.storage.blobs.spool import SpoolDirectory
from showandtell.storage.blobs.upload_writer import SpoolWriter
from showandtell.storage.database.tables import uploads
from support.fixtures import pdf, png
from support.polyglots import make_polyglots
from support.serving import serving
from support.stores import note, show

pytestmark = pytest.mark.anyio
PATH = "/api/attachments"
IMAGE = png(40, 30)
SMALL = {"place": {"max_file_bytes": 300_000}}


async def put(site, data, name="a.png", **headers):
    async with site.session.put(PATH, params={"name": name}, data=data, headers=headers) as response:
        return response.status, await response.json()


async def post(site, *files, fields=()):
    form = aiohttp.FormData(quote_fields=False)
    for name, value in fields:
        form.add_field(name, value)
    for data, name, media_type in files:
        form.add_field("file", data, filename=name, content_type=media_type)
    async with site.session.post(PATH, data=form) as response:
        return response.status, await response.json()


async def leftovers(site):
    """The number of uploads, of blobs and of files in the spool."""
    rows = await site.store.database.read(select(uploads.c.id))
    return len(rows), len([*site.store.blobs.for_owner("local").list_blobs()]), site.store.blobs.clear_spools(4e9)


async def send_raw(site, *pieces, ends=False):
    """Send raw bytes; returns the head of the response, or nothing if the connection closes after them."""
    address = urlsplit(site.url)
    reader, writer = await asyncio.open_connection(address.hostname, address.port)
    for piece in pieces:
        writer.write(piece)
    await writer.drain()
    response = b"" if ends else await reader.readuntil(b"\r\n\r\n")
    writer.close()
    await writer.wait_closed()
    return response


def head(site, *lines, method="PUT"):
    own = [f"host: {urlsplit(site.url).netloc}", f"authorization: Bearer {site.server.keys.token}"]
    return "\r\n".join([f"{method} {PATH}?name=a.bin HTTP/1.1", *own, *lines, "", ""]).encode()


async def test_a_put_file_is_identified_by_its_bytes_and_pending_until_sent(tmp_path):
    async with serving(tmp_path) as site:
        status, file = await put(site, IMAGE, "../photo.jpg", **{"content-type": "image/jpeg"})
        assert status == 201
        assert (file["name"], file["kind"], file["media_type"], file["corrected"]) == (
            "photo.jpg",
            "image",
            "image/png",
            "image/jpeg",
        )
        assert (file["number"], file["state"], file["size"], file["pixels"]) == (None, "pending", len(IMAGE), [40, 30])
        assert (file["origin"], file["conversation_id"]) == ({"by": "user"}, None)
        assert file["url"] == f"{site.url}{PATH}/{file['id']}/content/photo.jpg"
        assert await site.get(f"{PATH}/{file['id']}") == (200, file)
        async with site.session.delete(f"{PATH}/{file['id']}") as response:
            assert response.status == 204
        assert (await site.get(f"{PATH}/{file['id']}"))[0] == 404
        assert await leftovers(site) == (0, 0, 0)


async def test_a_long_claimed_media_type_is_cut_short(tmp_path):
    async with serving(tmp_path) as site:
        _, file = await put(site, IMAGE, **{"content-type": "x" * 8000})
        assert file["media_type"] == "image/png"
        assert len(file["corrected"]) < 200
        (row,) = await site.store.database.read(select(uploads.c.record))
        assert len(row[0]) < 1000


async def test_a_file_without_a_name_is_named_by_its_type(tmp_path):
    async with serving(tmp_path) as site:
        assert [(await put(site, IMAGE, name))[1]["name"] for name in ("", "..", "/")] == [
            "file.png",
            "..",
            "file.png",
        ]


async def test_files_of_a_form_keep_their_order_and_other_fields_are_ignored(tmp_path):
    async with serving(tmp_path) as site:
        files = [
            (IMAGE, "a.png", "image/png"),
            (pdf("x"), 'b "1".pdf', "text/html"),
            (b"words " * 90_000, "ü.txt", "text/plain"),
        ]
        status, body = await post(site, *files, fields=[("note", "x" * 100_000)])
        assert status == 201
        summaries = [(one["name"], one["media_type"], one["size"]) for one in body["attachments"]]
        assert summaries == [
            ("a.png", "image/png", len(IMAGE)),
            ('b "1".pdf', "application/pdf", len(pdf("x"))),
            ("ü.txt", "text/plain", 540_000),
        ]
        assert await leftovers(site) == (3, 3, 0)


async def test_a_form_with_a_bad_file_stores_nothing(tmp_path):
    async with serving(tmp_path) as site:
        for bad, message in [(b"", "is empty"), (IMAGE[:40], "b.png")]:
            status, body = await post(site, (IMAGE, "a.png", "image/png"), (bad, "b.png", "image/png"))
            assert (status, body["error"]["kind"]) == (422, "BadFile")
            assert message in body["error"]["text"]
            assert await leftovers(site) == (0, 0, 0)


async def test_an_invalid_form_or_one_without_files_is_refused(tmp_path):
    async with serving(tmp_path) as site:
        kind = {"content-type": "multipart/form-data; boundary=x"}
        part = b'--x\r\ncontent-disposition: form-data; name="file"; filename="a"\r\n\r\nwords'
        for data, headers, message in [
            (b"--x--\r\n", kind, "has no file"),
            (b"words", kind, "can't be read"),
            (part, kind, "ended in the middle"),
            (part + b"\r\n--x\r\n", kind, "ended in the middle"),
            (b"words", {"content-type": "multipart/form-data"}, "boundary"),
            (b"--x\r\n\r\nwords\r\n--x--\r\n", kind, "no name"),
        ]:
            async with site.session.post(PATH, data=data, headers=headers) as response:
                assert (response.status, message in await response.text()) == (422, True), (data, await response.text())
        assert await leftovers(site) == (0, 0, 0)


async def test_too_many_parts_and_long_heads_are_refused(tmp_path):
    async with serving(tmp_path) as site:
        kind = {"content-type": "multipart/form-data; boundary=x"}
        for data in (
            b"".join(b'--x\r\ncontent-disposition: form-data; name="a"\r\n\r\n1\r\n' for _ in range(10_000)),
            b"--x\r\n" + b"a: b\r\n" * 1_000_000,
            b"--x\r\ncontent-disposition: form-data; name=" + b"a" * 1_000_000,
            b"--x\r\n" + b"a" * 1_000_000,
        ):
            async with site.session.post(PATH, data=BytesIO(data), headers=kind) as response:
                assert response.status == 422
        many = [(b"%d" % number, "a.txt", "text/plain") for number in range(33)]
        assert (await post(site, *many))[0] == 413
        assert await leftovers(site) == (0, 0, 0)


async def test_an_endless_body_is_refused_while_it_streams(tmp_path):
    async with serving(tmp_path, **SMALL) as site:
        sent = 0

        async def endless():
            nonlocal sent
            while sent < 500 << 20:
                sent += 65_536
                yield bytes(65_536)

        try:
            status, body = await put(site, endless())
            assert (status, body["error"]["kind"]) == (413, "FileTooLarge")
        except aiohttp.ClientConnectionError:
            pass  # the server has closed the connection; a client that only sends may not read the response
        assert sent < 50 << 20
        assert await leftovers(site) == (0, 0, 0)


async def test_a_body_with_too_large_a_content_length_is_not_read(tmp_path):
    async with serving(tmp_path, **SMALL) as site:
        response = await send_raw(site, head(site, f"content-length: {2 << 30}"))
        assert response.startswith(b"HTTP/1.1 413 ")
        assert b"connection: close" in response.lower()
        assert await leftovers(site) == (0, 0, 0)


async def test_a_file_may_be_as_large_as_the_limit_but_no_larger(tmp_path):
    async with serving(tmp_path, **SMALL) as site:
        assert (await put(site, b"x" * 300_000, "a.txt"))[0] == 201

        async def chunked():
            yield b"x" * 300_001

        assert (await put(site, b"x" * 300_001, "a.txt"))[0] == 413
        assert (await put(site, chunked(), "a.txt"))[0] == 413
        assert (await post(site, (b"x" * 300_001, "a.txt", "text/plain")))[0] == 413
        assert await leftovers(site) == (1, 1, 0)


async def test_a_body_that_never_arrives_times_out(tmp_path, monkeypatch):
    monkeypatch.setattr(receiving, "BODY_TIMEOUT", 0.0)
    async with serving(tmp_path) as site:
        response = await send_raw(site, head(site, "content-length: 1000"))
        assert response.startswith(b"HTTP/1.1 408 ")
        assert await leftovers(site) == (0, 0, 0)


async def test_a_body_that_arrives_very_slowly_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(receiving, "RATE_SECONDS", 0.0)
    monkeypatch.setattr(receiving, "MIN_RATE", 10**12)
    async with serving(tmp_path) as site:
        response = await send_raw(site, head(site, "content-length: 1000"), b"x" * 500)
        assert response.startswith(b"HTTP/1.1 408 ")
        assert await leftovers(site) == (0, 0, 0)


async def test_a_body_that_ends_early_leaves_nothing(tmp_path, monkeypatch):
    discard, discarded, loop = SpoolWriter.discard, asyncio.Semaphore(0), asyncio.get_running_loop()
    discard_and_signal = lambda incoming: (discard(incoming), loop.call_soon_threadsafe(discarded.release))  # noqa: E731 - a single line
    monkeypatch.setattr(SpoolWriter, "discard", discard_and_signal)
    async with serving(tmp_path) as site:
        for lines in (["content-length: 1000000"], ["transfer-encoding: chunked"]):
            data = b"x" * 1000 if "length" in lines[0] else b"3e8\r\n" + b"x" * 1000 + b"\r\n"
            await send_raw(site, head(site, *lines), data, ends=True)
            await discarded.acquire()
        assert await leftovers(site) == (0, 0, 0)


async def test_an_exceeded_quota_and_a_full_disk_are_different_errors(tmp_path, monkeypatch):
    async with serving(tmp_path, place={"quota": 1000}) as site:
        status, body = await put(site, os.urandom(1001), "a.bin")
        assert (status, body["error"]["kind"]) == (507, "QuotaExceeded")
        assert "that they may have" in body["error"]["text"]

        def full(*_):
            raise OSError(errno.ENOSPC, "No space left on device")

        monkeypatch.setattr(os, "write", full)
        status, body = await put(site, b"words", "a.txt")
        monkeypatch.undo()
        assert (status, body["error"]["kind"]) == (507, "StorageFull")
        assert await leftovers(site) == (0, 0, 0)


async def test_a_body_is_written_as_it_arrives(tmp_path, monkeypatch):
    pieces = []
    write = SpoolDirectory.write
    monkeypatch.setattr(
        SpoolDirectory, "write", lambda self, handle, piece: (pieces.append(len(piece)), write(self, handle, piece))[1]
    )
    async with serving(tmp_path) as site:
        assert (await put(site, BytesIO(os.urandom(3_000_000)), "a.bin"))[0] == 201
    assert max(pieces) < 600_000
    assert sum(pieces) == 3_000_000


async def test_photos_lose_their_location_if_configured(tmp_path):
    photo = Image.new("RGB", (9, 9))
    exif = photo.getexif()
    exif[0x0112], exif.get_ifd(0x8825)[2] = 6, (51.0, 30.0, 0.0)
    photo.save(data := BytesIO(), "jpeg", exif=exif)
    for strips in (False, True):
        async with serving(tmp_path / str(strips), place={"strip_location": strips}) as site:
            _, file = await put(site, data.getvalue(), "a.jpg")
            async with site.session.get(file["url"]) as response:
                served_exif = Image.open(BytesIO(await response.read())).getexif()
            assert (bool(served_exif.get_ifd(0x8825)), served_exif[0x0112]) == (not strips, 6)


async def test_the_bytes_decide_the_media_type_whatever_the_name(tmp_path):
    async with serving(tmp_path) as site:
        for one, claimed in zip(make_polyglots(), itertools.cycle(("image/png", "text/html")), strict=False):
            status, stored = await put(site, BytesIO(one.data), "x.html", **{"content-type": claimed})
            if status == 422:
                continue
            async with site.session.get(stored["url"]) as response:
                content_type, disposition = response.headers["content-type"], response.headers["content-disposition"]
            assert content_type.partition(";")[0] in {stored["media_type"], "application/octet-stream", "text/plain"}
            assert "/" not in one.proves or stored["media_type"] == one.proves
            assert disposition.startswith("attachment") or "html" not in content_type + stored["media_type"]


async def test_files_of_other_users_look_like_missing_ones_on_every_route(tmp_path):
    async with serving(tmp_path) as site:
        theirs = await show(site.store, note("secret"), owner="ann")
        pending = await site.store.uploads("ann").add(note("secret"))
        missing = new_id("att")
        for method, below in [
            *(
                ("GET", path)
                for path in (
                    "",
                    "/content",
                    "/content/a.txt",
                    "/thumbnail",
                    "/pages/1",
                    "/text",
                    "/variants/" + "0" * 64,
                )
            ),
            *(("HEAD", path) for path in ("/content", "/content/a.txt", "/thumbnail", "/pages/1", "/text")),
            ("DELETE", ""),
        ]:
            responses = set()
            for one in (theirs.attachments[1].id, pending.id, missing):
                async with site.session.request(method, f"{PATH}/{one}{below}") as response:
                    responses.add(
                        (response.status, (await response.text()).replace(one, "ID"), tuple(response.headers))
                    )
            ((status, _, _),) = responses
            assert status == 404, below
        assert theirs.file(1).read() == b"secret"


async def test_an_upload_keeps_its_id_when_sent_and_gets_a_number(tmp_path):
    async with serving(tmp_path) as site:
        _, file = await put(site, IMAGE)
        conversations = []
        for number, chat in enumerate(("first", "first", "second")):
            status, chunks = await site.post("what is this?", chat, id=f"m{number}", files=[file["id"]])
            assert (status, chunks[-1]["type"]) == (200, "finish")
            conversations.append(chunks[0]["messageMetadata"]["conversation_id"])
        status, sent = await site.get(f"{PATH}/{file['id']}")
        assert (sent["number"], sent["state"], sent["url"]) == (1, "ready", file["url"])
        first, second = [
            (await site.get(f"/api/conversations/{name}"))[1]["attachments"]
            for name in (sent["conversation_id"], conversations[-1])
        ]
        assert first == [sent]
        assert [(other["number"], other["size"]) for other in second] == [(1, len(IMAGE))]
        assert second[0]["id"] != file["id"]
        assert await leftovers(site) == (0, 1, 0)


async def test_a_member_can_read_but_not_delete_shared_files(tmp_path):
    async with serving(tmp_path) as site:
        theirs = await show(site.store, note("shared"), owner="ann")
        await site.store.share(theirs.id, "ann", "local", "writer")
        path = f"{PATH}/{theirs.attachments[1].id}"
        assert (await site.get(path))[0] == 200
        async with site.session.get(f"{path}/content") as content, site.session.get(f"{path}/text") as text:
            assert await content.read() == await text.read() == b"shared"
        async with site.session.delete(path) as response:
            assert response.status == 404
        assert theirs.file(1).read() == b"shared"


def read_all(data, size):
    reader = PartReader(b"x")
    events = [event for start in range(0, len(data), size) for event in reader.feed(data[start : start + size])]
    reader.finish()
    return events


def files_of(events):
    """Each part with its data joined."""
    parts = []
    for event in events:
        if isinstance(event, Head):
            parts.append([event, b""])
        elif isinstance(event, bytes):
            parts[-1][1] += event
        else:
            parts[-1].append(event)
    return parts


NAMES = st.text(st.characters(exclude_characters='"\\\r\n%;', exclude_categories=["Cs"]), max_size=8)


@given(st.lists(st.tuples(NAMES, st.binary(max_size=60)), max_size=5), st.integers(1, 40))
def test_parts_do_not_depend_on_how_a_body_is_split(files, size):
    files = [(name, data) for name, data in files if b"--x" not in data]
    part = b'--x\r\ncontent-disposition: form-data; name="file"; filename="%s"\r\n\r\n%s\r\n'
    body = b"".join(part % (name.encode(), data) for name, data in files) + b"--x--\r\n"
    expected = [[Head("file", name, None), data, End()] for name, data in files]
    assert files_of(read_all(body, 10_000)) == files_of(read_all(body, size)) == expected


@pytest.mark.parametrize("size", [1, 7, 1000])
def test_text_before_the_first_part_is_refused_however_a_body_is_split(size):
    part = b'--x\r\ncontent-disposition: form-data; name="a"\r\n\r\n1\r\n--x--\r\n'
    assert len(read_all(b"\r\n\n" + part, size)) == 3
    with pytest.raises(BadInput, match="can't be read"):
        read_all(b"\r\nwords\r\n" + part, size)


def test_parts_over_the_limit_are_refused():
    part = b'--x\r\ncontent-disposition: form-data; name="a"\r\n\r\n1\r\n'
    assert len(read_all(part * MAX_PARTS + b"--x--\r\n", 1000)) == 3 * MAX_PARTS
    with pytest.raises(BadInput, match="more than 64 parts"):
        read_all(part * (MAX_PARTS + 1) + b"--x--\r\n", 1000)
