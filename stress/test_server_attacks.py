"""Attacks that take long: many ids, many examples, many connections, files that unpack to gigabytes, and a stop-watch."""

import asyncio
import collections
import functools
import io
import json
import statistics
import time
import zipfile
import zlib

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from showandtell.core.messages.ids import new_id
from showandtell.core.ui_stream.chunks import Input, InputError, MoreText, serialize
from support.decompression_bombs import packed_zeros
from support.fixtures import png
from support.serving import chat_body, serving
from support.two_users import ask, new_name, two_users, unknown_id

MANY = 1_000_000
ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"


def test_a_million_ids_are_all_different_and_no_letter_of_them_can_be_guessed():
    ids = [new_id("att").removeprefix("att_") for _ in range(MANY)]
    assert len(set(ids)) == MANY
    assert {len(id_) for id_ in ids} == {22}
    for place in range(22):  # 6 bits each: 132 in all
        seen = collections.Counter(id_[place] for id_ in ids)
        assert set(seen) == set(ALPHABET)
        assert all(abs(count * 64 / MANY - 1) < 0.1 for count in seen.values())


def read_events(data: bytes) -> list[str]:
    """What a browser makes of a stream (the WHATWG's rules): the data of each event."""
    events: list[str] = []
    held: list[str] = []
    for line in data.decode().replace("\r\n", "\n").replace("\r", "\n").split("\n"):
        if not line:
            events += ["\n".join(held)] if held else []
            held = []
        elif line.startswith("data:"):
            held.append(line[5:].removeprefix(" "))
        else:
            assert line.startswith(":"), line
    assert not held
    return events


HARD = st.text(st.sampled_from('\r\n\0\u2028\u2029\x85\ufeff :datevnrdi\ud800\udc00\U0001f469\\"{}[]')) | st.text()
SPACE = st.text(st.sampled_from(" \r\n\t"), max_size=6)


@settings(max_examples=10_000)
@given(HARD, HARD)
def test_any_words_are_exactly_one_event(one, other):
    chunks = [MoreText(one, other), InputError("c", "t", one, other)]
    events = read_events(b"".join(map(serialize, chunks)))
    assert [json.loads(event)["type"] for event in events] == ["text-delta", "tool-input-error"]
    if not any("\ud800" <= letter <= "\udfff" for letter in one + other):
        assert json.loads(events[0]) == {"type": "text-delta", "id": one, "delta": other}


@settings(max_examples=10_000)
@given(SPACE, SPACE, HARD)
def test_a_models_own_json_is_exactly_one_event_however_it_is_laid_out(before, after, word):
    raw = f'{before}{{{after}"a"{before}:{after}{json.dumps(word)}{before}}}{after}'
    (event,) = read_events(serialize(Input("c", "t", msgspec.Raw(raw.encode()))))
    assert json.loads(event)["input"] == {"a": json.loads(json.dumps(word))}


async def medians(session, ways, turns=300):
    """How long each of these is answered, taken in turns."""
    took = [[] for _ in ways]
    for _ in range(turns):
        for place, (method, path, more) in zip(took, ways, strict=True):
            before = time.perf_counter()
            status, _ = await ask(session, method, path, **more)
            place.append(time.perf_counter() - before)
            assert status == 404
    return [statistics.median(item) for item in took]


@pytest.mark.anyio
async def test_what_is_anothers_takes_as_long_as_what_is_not_there(tmp_path):
    async with two_users(tmp_path) as here:
        found = {}
        for kind, make in (
            ("conversation", lambda item: ("GET", f"/api/conversations/{item}", {})),
            ("conversation", lambda item: ("GET", f"/api/chat/{item}/stream", {})),
            ("conversation", lambda item: ("POST", "/api/chat", {"json": chat_body("x", item, new_name())})),
            ("file", lambda item: ("GET", f"/api/attachments/{item}/content", {})),
            ("file of a tool", lambda item: ("GET", f"/api/attachments/{item}/thumbnail", {})),
            ("upload", lambda item: ("GET", f"/api/attachments/{item}", {})),
        ):
            theirs = here.ids[kind]
            one, other = await medians(here.ann, [make(theirs), make(unknown_id(theirs))])
            found[make(theirs)[1].replace(theirs, "ID")] = (round(one * 1000, 3), round(other * 1000, 3))
            assert abs(one - other) < 0.002, found


BOMBS = ("pixels.png", "notes.png", "letter.docx", "drawing.svg", "pages.pdf", "deep.html", "deep.svg", "wide.gif")


@functools.cache
def bombs():
    """Small files that unpack to a gigabyte or more, or promise to."""
    zeros = packed_zeros(1024)

    def chunk(kind, data):
        return len(data).to_bytes(4, "big") + kind + data + zlib.crc32(kind + data).to_bytes(4, "big")

    size = (60_000).to_bytes(4, "big") * 2
    picture = (
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", size + b"\x08\x02\0\0\0") + chunk(b"IDAT", zeros) + chunk(b"IEND", b"")
    )
    noted = png()[:33] + chunk(b"zTXt", b"a\0\0" + zeros) + png()[33:]
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("[Content_Types].xml", "<Types/>")
        archive.writestr("word/document.xml", b"<w:document>" + b" " * (600 << 20) + b"</w:document>")
    entities = "".join(f'<!ENTITY e{at} "{f"&e{at - 1};" * 10}">' for at in range(1, 12))
    drawing = (
        f'<!DOCTYPE svg [<!ENTITY e0 "ha">{entities}]><svg xmlns="http://www.w3.org/2000/svg"><text>&e11;</text></svg>'
    )
    document = (
        b"%PDF-1.7\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj\n"
    )
    document += b"3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]/Contents 4 0 R>>endobj\n"
    document += b"4 0 obj<</Filter/FlateDecode/Length %d>>stream\n" % len(zeros) + zeros + b"\nendstream endobj\n"
    document += b"trailer<</Root 1 0 R>>\n%%EOF"
    return {
        "pixels.png": picture,
        "notes.png": noted,
        "letter.docx": packed.getvalue(),
        "drawing.svg": drawing.encode(),
        "pages.pdf": document,
        "deep.html": b"<div>" * 200_000,
        "deep.svg": b'<svg xmlns="http://www.w3.org/2000/svg">' + b"<g>" * 100_000 + b"</svg>",
        "wide.gif": b"GIF89a\xff\xff\xff\xff\x80\0\0"
        + bytes(6)
        + b",\0\0\0\0\xff\xff\xff\xff\0\x08"
        + b"\xfe"
        + bytes(254)
        + b"\0;",
    }


@pytest.mark.anyio
@pytest.mark.parametrize("name", BOMBS)
async def test_a_file_that_unpacks_to_a_gigabyte_is_refused_or_shown_and_holds_up_nobody(tmp_path, name):
    async with serving(tmp_path) as site:

        async def others():
            slowest = 0.0
            while True:
                before = time.perf_counter()
                assert (await ask(site.session, "GET", "/api/me"))[0] == 200
                slowest = max(slowest, time.perf_counter() - before)
                waited.append(slowest)
                await asyncio.sleep(0.02)

        waited = []
        beside = asyncio.create_task(others())
        body = io.BytesIO(bombs()[name])
        status, one = await ask(site.session, "PUT", "/api/attachments", params={"name": name}, data=body)
        assert status in {201, 422}
        for path in ("thumbnail", "pages/1", "text") if status == 201 else ():
            begun = time.perf_counter()
            assert (await ask(site.session, "GET", f"/api/attachments/{one['id']}/{path}"))[0] in {200, 404}
            assert time.perf_counter() - begun < 30
        beside.cancel()
        assert max(waited) < 1.0


@pytest.mark.anyio
async def test_a_thousand_who_say_half_a_word_keep_nobody_out(tmp_path):
    async with serving(tmp_path) as site:
        port = int(site.url.rpartition(":")[2])
        silent = [await asyncio.open_connection("127.0.0.1", port) for _ in range(1000)]
        for _, writer in silent:
            writer.write(b"GET /api/me HTT")
        before = time.perf_counter()
        assert (await site.post("hello"))[0] == 200
        assert time.perf_counter() - before < 2
        for _, writer in silent:
            writer.close()
