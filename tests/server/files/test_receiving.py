"""Files that come in over HTTP: taken as they stream, bounded while they do, and all of a form or nothing."""

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
from showandtell.server.files.parts import MOST_PARTS, End, Head, PartReader
from showandtell.storage.blobs.spool import SpoolDirectory
from showandtell.storage.blobs.upload_writer import SpoolWriter
from showandtell.storage.database.tables import uploads
from support.fixtures import pdf, png
from support.polyglots import make_polyglots
from support.serving import serving
from support.stores import note, show

pytestmark = pytest.mark.anyio
PATH = "/api/attachments"
PICTURE = png(40, 30)
SMALL = {"place": {"max_file_bytes": 300_000}}


async def put(house, data, name="a.png", **headers):
    async with house.session.put(PATH, params={"name": name}, data=data, headers=headers) as answer:
        return answer.status, await answer.json()


async def post(house, *files, fields=()):
    form = aiohttp.FormData(quote_fields=False)
    for name, value in fields:
        form.add_field(name, value)
    for data, name, media_type in files:
        form.add_field("file", data, filename=name, content_type=media_type)
    async with house.session.post(PATH, data=form) as answer:
        return answer.status, await answer.json()


async def left(house):
    """What uploads there are, and what lies in the store and its spool."""
    rows = await house.store.database.read(select(uploads.c.id))
    return len(rows), len([*house.store.blobs.of("local").listed()]), house.store.blobs.clear_spools(4e9)


async def exchange(house, *pieces, ends=False):
    """The head of what the server says to raw bytes, or nothing where these end there."""
    at = urlsplit(house.url)
    reader, writer = await asyncio.open_connection(at.hostname, at.port)
    for piece in pieces:
        writer.write(piece)
    await writer.drain()
    answer = b"" if ends else await reader.readuntil(b"\r\n\r\n")
    writer.close()
    await writer.wait_closed()
    return answer


def head(house, *lines, method="PUT"):
    own = [f"host: {urlsplit(house.url).netloc}", f"authorization: Bearer {house.server.keys.token}"]
    return "\r\n".join([f"{method} {PATH}?name=a.bin HTTP/1.1", *own, *lines, "", ""]).encode()


async def test_a_file_that_is_put_is_proved_by_its_bytes_and_waits_for_its_message(tmp_path):
    async with serving(tmp_path) as house:
        status, one = await put(house, PICTURE, "../photo.jpg", **{"content-type": "image/jpeg"})
        assert status == 201
        assert (one["name"], one["kind"], one["media_type"], one["corrected"]) == (
            "photo.jpg",
            "image",
            "image/png",
            "image/jpeg",
        )
        assert (one["number"], one["state"], one["size"], one["pixels"]) == (None, "pending", len(PICTURE), [40, 30])
        assert (one["origin"], one["conversation_id"]) == ({"by": "user"}, None)
        assert one["url"] == f"{PATH}/{one['id']}/content/photo.jpg"
        assert await house.get(f"{PATH}/{one['id']}") == (200, one)
        async with house.session.delete(f"{PATH}/{one['id']}") as answer:
            assert answer.status == 204
        assert (await house.get(f"{PATH}/{one['id']}"))[0] == 404
        assert await left(house) == (0, 0, 0)


async def test_what_a_file_is_said_to_be_is_not_kept_at_any_length(tmp_path):
    async with serving(tmp_path) as house:
        _, one = await put(house, PICTURE, **{"content-type": "x" * 8000})
        assert (one["media_type"], len(one["corrected"]) < 200) == ("image/png", True)
        (row,) = await house.store.database.read(select(uploads.c.record))
        assert len(row[0]) < 1000


async def test_a_file_without_a_name_gets_one_of_its_type(tmp_path):
    async with serving(tmp_path) as house:
        assert [(await put(house, PICTURE, name))[1]["name"] for name in ("", "..", "/")] == [
            "file.png",
            "..",
            "file.png",
        ]


async def test_a_form_brings_its_files_in_their_order_and_other_fields_are_left(tmp_path):
    async with serving(tmp_path) as house:
        files = [
            (PICTURE, "a.png", "image/png"),
            (pdf("x"), 'b "1".pdf', "text/html"),
            (b"words " * 90_000, "ü.txt", "text/plain"),
        ]
        status, found = await post(house, *files, fields=[("note", "x" * 100_000)])
        assert status == 201
        told = [(one["name"], one["media_type"], one["size"]) for one in found["attachments"]]
        assert told == [
            ("a.png", "image/png", len(PICTURE)),
            ('b "1".pdf', "application/pdf", len(pdf("x"))),
            ("ü.txt", "text/plain", 540_000),
        ]
        assert await left(house) == (3, 3, 0)


async def test_of_a_form_with_one_bad_file_nothing_stays(tmp_path):
    async with serving(tmp_path) as house:
        for bad, told in [(b"", "is empty"), (PICTURE[:40], "b.png")]:
            status, found = await post(house, (PICTURE, "a.png", "image/png"), (bad, "b.png", "image/png"))
            assert (status, found["error"]["kind"]) == (422, "BadFile")
            assert told in found["error"]["text"]
            assert await left(house) == (0, 0, 0)


async def test_what_is_no_form_or_has_no_file_is_told_so(tmp_path):
    async with serving(tmp_path) as house:
        kind = {"content-type": "multipart/form-data; boundary=x"}
        part = b'--x\r\ncontent-disposition: form-data; name="file"; filename="a"\r\n\r\nwords'
        for data, headers, told in [
            (b"--x--\r\n", kind, "has no file"),
            (b"words", kind, "can't be read"),
            (part, kind, "ended in the middle"),
            (part + b"\r\n--x\r\n", kind, "ended in the middle"),
            (b"words", {"content-type": "multipart/form-data"}, "boundary"),
            (b"--x\r\n\r\nwords\r\n--x--\r\n", kind, "no name"),
        ]:
            async with house.session.post(PATH, data=data, headers=headers) as answer:
                assert (answer.status, told in await answer.text()) == (422, True), (data, await answer.text())
        assert await left(house) == (0, 0, 0)


async def test_many_parts_and_long_heads_are_refused(tmp_path):
    async with serving(tmp_path) as house:
        kind = {"content-type": "multipart/form-data; boundary=x"}
        for data in (
            b"".join(b'--x\r\ncontent-disposition: form-data; name="a"\r\n\r\n1\r\n' for _ in range(10_000)),
            b"--x\r\n" + b"a: b\r\n" * 1_000_000,
            b"--x\r\ncontent-disposition: form-data; name=" + b"a" * 1_000_000,
            b"--x\r\n" + b"a" * 1_000_000,
        ):
            async with house.session.post(PATH, data=BytesIO(data), headers=kind) as answer:
                assert answer.status == 422
        many = [(b"%d" % number, "a.txt", "text/plain") for number in range(33)]
        assert (await post(house, *many))[0] == 413
        assert await left(house) == (0, 0, 0)


async def test_an_endless_body_is_refused_while_it_streams(tmp_path):
    async with serving(tmp_path, **SMALL) as house:
        given = 0

        async def endless():
            nonlocal given
            while given < 500 << 20:
                given += 65_536
                yield bytes(65_536)

        try:
            status, found = await put(house, endless())
            assert (status, found["error"]["kind"]) == (413, "FileTooLarge")
        except aiohttp.ClientConnectionError:
            pass  # the server has hung up, which a client that only sends may not see in time
        assert given < 50 << 20
        assert await left(house) == (0, 0, 0)


async def test_a_body_that_says_it_is_too_large_is_not_read(tmp_path):
    async with serving(tmp_path, **SMALL) as house:
        answer = await exchange(house, head(house, f"content-length: {2 << 30}"))
        assert answer.startswith(b"HTTP/1.1 413 ")
        assert b"connection: close" in answer.lower()
        assert await left(house) == (0, 0, 0)


async def test_a_file_as_large_as_the_limit_is_taken_and_one_byte_more_is_not(tmp_path):
    async with serving(tmp_path, **SMALL) as house:
        assert (await put(house, b"x" * 300_000, "a.txt"))[0] == 201

        async def chunked():
            yield b"x" * 300_001

        assert (await put(house, b"x" * 300_001, "a.txt"))[0] == 413
        assert (await put(house, chunked(), "a.txt"))[0] == 413
        assert (await post(house, (b"x" * 300_001, "a.txt", "text/plain")))[0] == 413
        assert await left(house) == (1, 1, 0)


async def test_a_body_of_which_nothing_comes_is_given_up(tmp_path, monkeypatch):
    monkeypatch.setattr(receiving, "PATIENCE", 0.0)
    async with serving(tmp_path) as house:
        answer = await exchange(house, head(house, "content-length: 1000"))
        assert answer.startswith(b"HTTP/1.1 408 ")
        assert await left(house) == (0, 0, 0)


async def test_a_body_that_ends_early_leaves_nothing(tmp_path, monkeypatch):
    drop, dropped, events = SpoolWriter.drop, asyncio.Semaphore(0), asyncio.get_running_loop()
    told = lambda incoming: (drop(incoming), events.call_soon_threadsafe(dropped.release))  # noqa: E731 - it is one line
    monkeypatch.setattr(SpoolWriter, "drop", told)
    async with serving(tmp_path) as house:
        for lines in (["content-length: 1000000"], ["transfer-encoding: chunked"]):
            data = b"x" * 1000 if "length" in lines[0] else b"3e8\r\n" + b"x" * 1000 + b"\r\n"
            await exchange(house, head(house, *lines), data, ends=True)
            await dropped.acquire()
        assert await left(house) == (0, 0, 0)


async def test_a_quota_is_told_and_a_full_disk_is_not_the_files_fault(tmp_path, monkeypatch):
    async with serving(tmp_path, place={"quota": 1000}) as house:
        status, found = await put(house, os.urandom(1001), "a.bin")
        assert (status, "that they may have" in found["error"]["text"]) == (422, True)

        def full(*_):
            raise OSError(errno.ENOSPC, "No space left on device")

        monkeypatch.setattr(os, "write", full)
        status, found = await put(house, b"words", "a.txt")
        monkeypatch.undo()
        assert (status, found["error"]["kind"]) == (507, "StorageFull")
        assert await left(house) == (0, 0, 0)


async def test_a_body_is_written_as_it_comes_and_not_held(tmp_path, monkeypatch):
    pieces = []
    write = SpoolDirectory.write
    monkeypatch.setattr(
        SpoolDirectory, "write", lambda self, handle, piece: (pieces.append(len(piece)), write(self, handle, piece))[1]
    )
    async with serving(tmp_path) as house:
        assert (await put(house, BytesIO(os.urandom(3_000_000)), "a.bin"))[0] == 201
    assert max(pieces) < 600_000
    assert sum(pieces) == 3_000_000


async def test_photos_lose_their_place_where_the_server_says_so(tmp_path):
    photo = Image.new("RGB", (9, 9))
    exif = photo.getexif()
    exif[0x0112], exif.get_ifd(0x8825)[2] = 6, (51.0, 30.0, 0.0)
    photo.save(data := BytesIO(), "jpeg", exif=exif)
    for strips in (False, True):
        async with serving(tmp_path / str(strips), place={"strip_location": strips}) as house:
            _, one = await put(house, data.getvalue(), "a.jpg")
            async with house.session.get(one["url"]) as answer:
                found = Image.open(BytesIO(await answer.read())).getexif()
            assert (bool(found.get_ifd(0x8825)), found[0x0112]) == (not strips, 6)


async def test_a_file_is_what_its_bytes_prove_whatever_it_is_called(tmp_path):
    async with serving(tmp_path) as house:
        for one, claimed in itertools.product(make_polyglots(), ("image/png", "text/html")):
            status, kept = await put(house, BytesIO(one.data), "x.html", **{"content-type": claimed})
            if status == 422:
                continue
            async with house.session.get(kept["url"]) as answer:
                served, shown = answer.headers["content-type"], answer.headers["content-disposition"]
            assert served in {kept["media_type"], "application/octet-stream", "text/plain; charset=utf-8"}
            assert "/" not in one.proves or kept["media_type"] == one.proves
            assert shown.startswith("attachment") or "html" not in served + kept["media_type"]


async def test_what_belongs_to_others_is_not_found_on_any_route_in_the_same_words(tmp_path):
    async with serving(tmp_path) as house:
        theirs = await show(house.store, note("secret"), owner="ann")
        pending = await house.store.uploads("ann").add(note("secret"))
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
            told = set()
            for one in (theirs.attachments[1].id, pending.id, missing):
                async with house.session.request(method, f"{PATH}/{one}{below}") as answer:
                    told.add((answer.status, (await answer.text()).replace(one, "ID"), tuple(answer.headers)))
            ((status, _, _),) = told
            assert status == 404, below
        assert theirs.file(1).read() == b"secret"


async def test_an_upload_that_is_sent_keeps_its_id_and_gets_its_number(tmp_path):
    async with serving(tmp_path) as house:
        _, one = await put(house, PICTURE)
        for number, chat in enumerate(("first", "first", "second")):
            status, chunks = await house.post("what is this?", chat, id=f"m{number}", files=[one["id"]])
            assert (status, chunks[-1]["type"]) == (200, "finish")
        status, sent = await house.get(f"{PATH}/{one['id']}")
        assert (sent["number"], sent["state"], sent["url"]) == (1, "ready", one["url"])
        first, second = [
            (await house.get(f"/api/conversations/{name}"))[1]["attachments"]
            for name in (sent["conversation_id"], chunks[0]["messageMetadata"]["conversation_id"])
        ]
        assert first == [sent]
        assert [(other["number"], other["size"]) for other in second] == [(1, len(PICTURE))]
        assert second[0]["id"] != one["id"]
        assert await left(house) == (0, 1, 0)


async def test_who_may_read_a_conversation_sees_its_files_and_cannot_delete_them(tmp_path):
    async with serving(tmp_path) as house:
        theirs = await show(house.store, note("shared"), owner="ann")
        await house.store.share(theirs.id, "ann", "local", "writer")
        path = f"{PATH}/{theirs.attachments[1].id}"
        assert (await house.get(path))[0] == 200
        async with house.session.get(f"{path}/content") as content, house.session.get(f"{path}/text") as words:
            assert await content.read() == await words.read() == b"shared"
        async with house.session.delete(path) as answer:
            assert answer.status == 404
        assert theirs.file(1).read() == b"shared"


def read_all(data, size):
    reader = PartReader(b"x")
    events = [event for start in range(0, len(data), size) for event in reader.take(data[start : start + size])]
    reader.finish()
    return events


def files_of(events):
    """Each part with its data joined."""
    found = []
    for event in events:
        if isinstance(event, Head):
            found.append([event, b""])
        elif isinstance(event, bytes):
            found[-1][1] += event
        else:
            found[-1].append(event)
    return found


NAMES = st.text(st.characters(exclude_characters='"\\\r\n%;', exclude_categories=["Cs"]), max_size=8)


@given(st.lists(st.tuples(NAMES, st.binary(max_size=60)), max_size=5), st.integers(1, 40))
def test_parts_are_the_same_however_a_body_is_cut(files, size):
    files = [(name, data) for name, data in files if b"--x" not in data]
    part = b'--x\r\ncontent-disposition: form-data; name="file"; filename="%s"\r\n\r\n%s\r\n'
    body = b"".join(part % (name.encode(), data) for name, data in files) + b"--x--\r\n"
    expected = [[Head("file", name, None), data, End()] for name, data in files]
    assert files_of(read_all(body, 10_000)) == files_of(read_all(body, size)) == expected


@pytest.mark.parametrize("size", [1, 7, 1000])
def test_words_before_the_first_part_are_refused_however_a_body_is_cut(size):
    part = b'--x\r\ncontent-disposition: form-data; name="a"\r\n\r\n1\r\n--x--\r\n'
    assert len(read_all(b"\r\n\n" + part, size)) == 3
    with pytest.raises(BadInput, match="can't be read"):
        read_all(b"\r\nwords\r\n" + part, size)


def test_more_parts_than_a_form_needs_are_refused():
    part = b'--x\r\ncontent-disposition: form-data; name="a"\r\n\r\n1\r\n'
    assert len(read_all(part * MOST_PARTS + b"--x--\r\n", 1000)) == 3 * MOST_PARTS
    with pytest.raises(BadInput, match="more than 64 parts"):
        read_all(part * (MOST_PARTS + 1) + b"--x--\r\n", 1000)
