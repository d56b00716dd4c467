"""Forms as the server reads them: names and heads of parts, and what a file's name becomes until it is shown."""

import asyncio
from collections.abc import AsyncIterator
from itertools import groupby
from pathlib import Path

import msgspec
from atheris import FuzzedDataProvider
from given import choose, cut, draw_places, each_byte, read_rest, seed
from hostile_names import PLAIN, TYPES

from showandtell.core.media_types.claims import find_wrong_claim, normalize_claim, read_claim
from showandtell.errors import BadInput
from showandtell.server.files.parts import End, Head, read_parts
from showandtell.server.files.receiving import MAX_FILES, receive_form
from showandtell.server.files.serving_files import disposition
from showandtell.storage.blobs.base import Spooled, TooLarge
from showandtell.storage.files.file_cache import MAX_NAME, clean_name

KIND = "multipart/form-data; boundary=xX"
LARGEST = 600
LOOP = asyncio.new_event_loop()


def try_form(data: bytes) -> None:
    """A form that comes in pieces is read as in one; what is received is what was read, or nothing stays."""
    given = FuzzedDataProvider(data)
    says_kind, is_received, places = choose(given, 2), choose(given, 4) == 0, draw_places(given)
    kind, body = KIND, read_rest(given)
    if says_kind:
        head, _, body = body.partition(b"\n")
        kind = head.decode("latin-1")
    read = LOOP.run_until_complete(read_form([body], kind))
    check_pieces(read, LOOP.run_until_complete(read_form(cut(body, places), kind)))
    check_pieces(read, LOOP.run_until_complete(read_form(each_byte(body), kind)))
    for event in read[0]:
        if isinstance(event, Head):
            check_name(event.filename or "", event.media_type)
    check_name(body.decode("utf-8", "surrogateescape"), kind)
    if is_received:
        check_received(read, cut(body, places), kind)


async def flow(pieces: list[bytes]) -> AsyncIterator[bytes]:
    """A body."""
    for piece in pieces:
        yield piece


async def read_form(pieces: list[bytes], kind: str) -> tuple[list[Head | bytes | End], bool]:
    """What a form holds, neighbouring data joined, and whether it was read to its end."""
    events: list[Head | bytes | End] = []
    try:
        async for event in read_parts(flow(pieces), kind):
            events.append(event)  # noqa: PERF401 - what came before an error is kept
    except BadInput:
        return join_data(events), False
    return join_data(events), True


def join_data(events: list[Head | bytes | End]) -> list[Head | bytes | End]:
    """The same, with data in one piece."""
    joined: list[Head | bytes | End] = []
    for is_data, group in groupby(events, lambda event: isinstance(event, bytes)):
        together = [*group]
        joined += [b"".join(together)] if is_data else together
    return [event for event in joined if event != b""]


def check_pieces(read: tuple[list, bool], again: tuple[list, bool]) -> None:
    """However it comes, a form is read to its end or not, with the same events; what is refused may end sooner."""
    assert read[1] == again[1], "the pieces decide whether a form is read"
    if read[1]:
        assert read[0] == again[0], "the pieces decide what a form holds"


def check_name(name: str, media_type: str | None) -> None:
    """A name is one line that can be stored, and its header is one of ASCII."""
    shown = clean_name(name)
    assert len(shown) <= MAX_NAME
    assert all(ord(letter) >= 32 for letter in shown)
    assert not {"/", "\\", "\x7f", "\u2028", "\u202e"} & {*shown}
    claimed = normalize_claim(media_type)
    msgspec.json.encode([shown, claimed])
    for inline in (True, False):
        header = disposition(shown, inline=inline)
        assert header.isascii()
        assert header.isprintable()
        assert header.count('"') == 2
    claim = read_claim(media_type, shown)
    msgspec.json.encode(find_wrong_claim(media_type, claim, "image/png"))


class Kept:
    """A file on its way in, in memory."""

    def __init__(self, site: "Site", max_bytes: int) -> None:
        self.site, self.max_bytes, self.data = site, max_bytes, b""
        site.open.add(self)

    def write(self, piece: memoryview) -> None:
        if len(self.data) + len(piece) > self.max_bytes:
            raise TooLarge("a file", self.max_bytes)
        self.data += piece

    def end(self) -> Spooled:
        self.site.ended.append(self.data)
        return Spooled(Path("/dev/null"), "", len(self.data))

    def drop(self) -> None:
        self.site.open.discard(self)


class Site:
    """Where uploads go, in memory: it is all that `receive_form` knows of a store."""

    user, max_file_bytes = "local", LARGEST

    def __init__(self) -> None:
        self.store = self.blobs = self
        self.open, self.ended, self.uploads = set(), [], {}

    def of(self, _: str) -> "Site":
        return self

    def receive(self, _: str, max_bytes: int) -> Kept:
        return Kept(self, max_bytes)

    async def add(self, file) -> "Added":
        added = Added(len(self.uploads), file.name, file.media_type, self.ended[-1])
        self.uploads[added.id] = added
        return added

    async def drop(self, name: int) -> None:
        del self.uploads[name]


class Added(msgspec.Struct, frozen=True):
    """A file that was taken."""

    id: int
    name: str
    claimed: str | None
    data: bytes


def check_received(read: tuple[list, bool], pieces: list[bytes], kind: str) -> None:
    """Every file of a form that could be read, or none."""
    site = Site()
    try:
        LOOP.run_until_complete(receive_form(site, flow(pieces), kind))
    except BadInput:
        assert not site.uploads, "something of a refused form stays"
    else:
        assert read[1]
        assert [(upload.name, upload.data) for upload in site.uploads.values()] == [*files_of(read[0])]
        assert len(site.uploads) <= MAX_FILES
    assert not site.open, "a file on its way in was forgotten"


def files_of(events: list[Head | bytes | End]) -> list[tuple[str, bytes]]:
    """Names and bytes of the parts that are files."""
    found: list[tuple[str, bytes]] = []
    wanted = False
    for event in events:
        if isinstance(event, Head):
            wanted = event.field == "file"
            found += [(event.filename or "", b"")] if wanted else []
        elif isinstance(event, bytes) and wanted:
            found[-1] = (found[-1][0], event)
    return found


def form_part(name: str, media_type: str = "image/png", field: str = "file", data: bytes = b"some\r\nbytes") -> bytes:
    """A part as browsers write it."""
    named = name.encode(errors="replace").replace(b'"', b"%22")
    head = b'--xX\r\nContent-Disposition: form-data; name="%b"; filename="%b"\r\nContent-Type: %b\r\n\r\n%b\r\n'
    return head % (field.encode(), named, media_type.encode(errors="replace"), data)


END = b"--xX--\r\n"
EXTENDED = (
    b'--xX\r\nContent-Disposition: form-data; name=file; filename*=UTF-8\'\'%e2%82%ac%20rates.png; filename="a\\"b"\r\n'
    b"content-transfer-encoding: base64\r\n\r\nAAAA\r\n"
)
SEEDS = [
    seed(
        form_part("kiwi.png") + form_part("note", field="note") + form_part("ü.txt", "text/plain") + END,
        0,
        0,
        2,
        9,
        9,
        9,
        9,
    ),
    seed(KIND.encode() + b"\n" + form_part("kiwi.png") + END, 1, 0, 1, 0, 40),
    seed(b'Multipart/Form-Data; charset=utf-8; boundary="xX"\n' + form_part("") + END, 1, 1, 0),
    seed(EXTENDED + END, 0, 0, 0),
    seed(form_part("big.png", data=bytes(LARGEST + 1)) + END, 0, 0, 0),
    seed(form_part("a.png") * 3, 0, 0, 0),
    *(seed(form_part(name) + END, 0, 0, 0) for name in PLAIN[::3]),
    *(seed(form_part("a.png", media_type) + END, 0, 0, 0) for media_type in TYPES),
]
RUN = try_form
