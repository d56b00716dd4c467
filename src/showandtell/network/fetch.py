"""The one function that opens URLs from outside: off unless allowed, public hosts alone, bounded in size and time.

What it gives is a file on disk and what the host says of it: a claim, to be stored and proved like any other.
"""

from __future__ import annotations

import asyncio
import re
import tempfile
import zlib
from collections.abc import AsyncIterator, Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import IO, TYPE_CHECKING
from urllib.parse import unquote

from showandtell.core.media_types.claims import UNKNOWN, spell_type
from showandtell.core.messages.file import File
from showandtell.errors import BadFile

if TYPE_CHECKING:
    from yarl import URL

    from showandtell.network.fetch_request import FetchedResponse, Line

SECONDS = 30.0
MOST_REDIRECTS = 5
REDIRECTS = frozenset({301, 302, 303, 307, 308})
#: How hosts say that they don't know.
SAYS_NOTHING = frozenset({UNKNOWN, "binary/octet-stream", "application/force-download", "application/x-download"})
PIECE = 64 * 1024
#: No size has more; Python reads no number of thousands.
MOST_DIGITS = 18


@dataclass(frozen=True, slots=True)
class FetchPolicy:
    """What may be fetched from the web. By default: nothing.

    `fetch` allows it at all; `http` allows unencrypted addresses on port 80 too; `ports` are those that an address may
    name; `hosts`, where it isn't empty, lists all that are allowed: `example.com`, or `.example.com` for those below.
    Hosts that aren't on the public internet are never fetched.
    """

    fetch: bool = False
    http: bool = False
    ports: tuple[int, ...] = (443,)
    hosts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Fetched:
    """A file that was fetched: where it lies (whoever asked for it removes it) and what its host claims.

    `url` is where it came from in the end, after redirects, without fragment; its query may hold a secret. `size` is
    in bytes. `media_type` and `name` are None where the host says nothing.
    """

    path: Path
    url: str
    media_type: str | None
    name: str | None
    size: int

    @property
    def file(self) -> File:
        """The claim to be stored and proved, as long as `path` lies there."""
        return File(self.path, self.media_type, self.name)


async def fetch(
    url: str,
    folder: Path,
    *,
    most: int,
    allow: FetchPolicy | None = None,
    seconds: float = SECONDS,
    line: Line | None = None,
) -> Fetched:
    """Fetch a URL into a new file in `folder`: at most `most` bytes, within `seconds` for everything together.

    Up to 5 redirects are followed, each checked like the first. Raises `BadFile` with the host and what to do; nothing
    is left in the folder then. `OSError` where the folder can't be written. `line` is how requests go out.
    """
    allow = allow or FetchPolicy()
    if not allow.fetch:
        advice = "fetching is off; the program allows it by FetchPolicy(fetch=True)"
        raise BadFile("the address", "was not fetched", advice)
    from showandtell.network.fetch_request import Line, read_url  # noqa: PLC0415 - only who fetches needs the HTTP client

    first = read_url(url)
    with _spool(folder) as sink:
        try:
            async with asyncio.timeout(seconds):
                return await _follow(first, sink, most, allow, line or Line())
        except TimeoutError:
            raise _bad(first, f"took longer than {seconds:g} s", "try again, or download the file and add it") from None


async def _follow(first: URL, sink: IO[bytes], most: int, allow: FetchPolicy, line: Line) -> Fetched:
    seen = [first]
    while len(seen) <= MOST_REDIRECTS + 1:
        try:
            found = await _hop(seen[-1], sink, most, allow, line)
        except BadFile as error:
            if len(seen) == 1:
                raise
            raise _bad(first, f"redirects to {error.name}, which {error.problem}", error.advice) from None
        if isinstance(found, Fetched):
            return found if found.name else replace(found, name=bare(first))
        if found in seen:
            raise _bad(first, "redirects in a circle", "check that the address opens in a browser without a login")
        seen.append(found)
    raise _bad(first, f"redirects more than {MOST_REDIRECTS} times", "use the address where the file lies in the end")


async def _hop(url: URL, sink: IO[bytes], most: int, allow: FetchPolicy, line: Line) -> Fetched | URL:
    """Ask one URL: the file, or where it redirects to."""
    from showandtell.network.fetch_request import ask  # noqa: PLC0415 - as above

    check(url, allow)
    async with ask(url, line) as answer:
        if answer.status in REDIRECTS:
            return _aim(answer, url)
        if answer.status != 200:
            raise _bad(url, f"answers {answer.status}", "check that the address opens in a browser without a login")
        size = await _take(answer, sink, most, url)
    claim = spell_type(answer.headers.get("content-type", ""))
    name = name_of(answer.headers.get("content-disposition", "")) or bare(url)
    return Fetched(Path(sink.name), str(url), None if claim in SAYS_NOTHING else claim, name, size)


def check(url: URL, allow: FetchPolicy) -> None:
    """Whether the program's settings allow a URL. Raises `BadFile` that names the setting."""
    host = url.raw_host or ""
    plain = url.scheme == "http"
    if plain and not allow.http:
        raise _bad(
            url, "is asked for without encryption", "use https; the program allows http by FetchPolicy(http=True)"
        )
    if url.port not in allow.ports and not (plain and url.port == 80):
        raise _bad(
            url, f"is asked for at port {url.port}", "use port 443; the program allows others by FetchPolicy(ports=…)"
        )
    if allow.hosts and not any(_covers(one, host) for one in allow.hosts):
        raise _bad(url, "is not among the allowed hosts", "the program allows it by FetchPolicy(hosts=…)")


def _covers(allowed: str, host: str) -> bool:
    allowed = allowed.lower().removesuffix(".")
    return host.endswith(allowed) if allowed.startswith(".") else host == allowed


def _aim(answer: FetchedResponse, here: URL) -> URL:
    """Where a redirect leads; from https it leads to https alone."""
    from showandtell.network.fetch_request import read_url  # noqa: PLC0415 - as above

    if not (location := answer.headers.get("location")):
        raise _bad(here, "redirects to nowhere", "check the address")
    try:
        aim = read_url(location, here)
    except BadFile as error:
        raise _bad(here, f"redirects to an address that {error.problem}", "use the file's own address") from None
    if here.scheme == "https" and aim.scheme != "https":
        raise _bad(here, "redirects to an address without encryption", "use an address that stays with https")
    return aim


@contextmanager
def _spool(folder: Path) -> Generator[IO[bytes]]:
    """A new file that is gone again where it doesn't get whole."""
    with tempfile.NamedTemporaryFile(dir=folder, prefix="fetched-", delete=False) as sink:
        try:
            yield sink
            sink.flush()
        except BaseException:
            Path(sink.name).unlink(missing_ok=True)
            raise


async def _take(answer: FetchedResponse, sink: IO[bytes], most: int, url: URL) -> int:
    """Write the body down as it comes; gives its size. More than `most` bytes are never written."""
    declared = answer.headers.get("content-length", "0")
    if declared.isdecimal() and (len(declared) > MOST_DIGITS or int(declared) > most):
        raise _too_large(url, most)
    size = 0
    async for piece in _plain(answer, most, url):
        size += len(piece)
        if size > most:
            raise _too_large(url, most)
        await asyncio.to_thread(sink.write, piece)
    return size


async def _plain(answer: FetchedResponse, most: int, url: URL) -> AsyncIterator[bytes]:
    """The body without compression, which wasn't asked for: some hosts store files so, and can't do else."""
    coding = answer.headers.get("content-encoding", "").strip().lower()
    if coding in {"", "identity"}:
        async for piece in answer.pieces:
            yield piece
        return
    if coding not in {"gzip", "x-gzip"}:
        raise _bad(url, f"sends it compressed ({bare_word(coding)})", "download the file and add it")
    inflated, came = Inflated(), 0
    async for piece in answer.pieces:
        came += len(piece)
        if came > most:  # what is inflated to nothing has no end otherwise
            raise _too_large(url, most)
        try:
            for some in inflated.feed(piece):
                yield some
        except zlib.error:
            raise _bad(url, "sends broken gzip", "download the file and add it") from None
    if not inflated.is_whole:
        raise _bad(url, "broke off", "try again, or download the file and add it")


class Inflated:
    """Gzip, member by member, in pieces of at most 64 KiB however much is behind them."""

    def __init__(self) -> None:
        self._member = zlib.decompressobj(zlib.MAX_WBITS | 16)
        self.is_whole = False

    def feed(self, data: bytes) -> Iterator[bytes]:
        """What these bytes give. Raises `zlib.error` for what is no gzip."""
        while data:
            if self._member.eof:
                self._member = zlib.decompressobj(zlib.MAX_WBITS | 16)
            if piece := self._member.decompress(data, PIECE):
                yield piece
            data = self._member.unused_data or self._member.unconsumed_tail
        self.is_whole = self._member.eof


def name_of(disposition: str) -> str | None:
    """The file's name by a Content-Disposition header, without any folder."""
    from email.message import Message  # noqa: PLC0415 - nobody else here reads headers of this kind

    headers = Message()
    headers["content-disposition"] = " ".join(disposition.split())
    name = headers.get_filename() or ""
    return PurePosixPath(name.replace("\\", "/")).name or None


def bare(url: URL) -> str | None:
    """The last word of a URL's path."""
    word = unquote(url.raw_path.rpartition("/")[2])
    return PurePosixPath(word.replace("\\", "/")).name or None


def bare_word(text: str) -> str:
    """A word of a header, short and plain enough to be repeated."""
    return re.sub(r"[^a-z0-9, -]", "", text)[:20] or "unknown"


def _bad(url: URL, problem: str, advice: str) -> BadFile:
    return BadFile(url.raw_host or "the address", problem, advice)


def _too_large(url: URL, most: int) -> BadFile:
    return _bad(url, f"sends more than {most} bytes", "use a smaller file, or raise the limit max_file_bytes")
