"""The only function that opens untrusted URLs: off by default, public hosts only, limited in size and time.

The result is a local file and the host's claims about it, to be stored and probed like any other file.
"""

from __future__ import annotations

import asyncio
import re
import tempfile
import zlib
from collections.abc import AsyncIterator, Callable, Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import IO, TYPE_CHECKING, TypeAlias
from urllib.parse import unquote

from showandtell.checking.checked import TakesDict
from showandtell.core.limits import Port
from showandtell.core.media_types.claims import UNKNOWN, normalize_type
from showandtell.core.messages.file import File
from showandtell.errors import BadFile

if TYPE_CHECKING:
    from yarl import URL

    from showandtell.network.fetch_request import Dialer, FetchedResponse

#: Called with the bytes that have arrived, and how many the host announced, if it did.
OnProgress: TypeAlias = Callable[[int, int | None], None]

TIMEOUT_SECONDS = 30.0
MAX_REDIRECTS = 5
REDIRECTS = frozenset({301, 302, 303, 307, 308})
#: Media types that hosts send when they don't know the type.
UNINFORMATIVE_TYPES = frozenset(
    {UNKNOWN, "binary/octet-stream", "application/force-download", "application/x-download"}
)
CHUNK_SIZE = 64 * 1024
#: Longer numbers are rejected unparsed: no file is that large, and Python limits int parsing.
MAX_DIGITS = 18


class TooLargeToFetch(BadFile):
    """A host sends more bytes than allowed."""


@dataclass(frozen=True, slots=True)
class FetchPolicy(TakesDict):
    """What may be fetched from the web. By default, nothing.

    >>> from showandtell import Agent, FetchPolicy, FilePolicy
    >>> policy = FilePolicy(fetch=FetchPolicy(fetch=True, hosts=("example.com",)))
    >>> agent = Agent("inspector", file_policy=policy)

    Args:
        fetch (bool): fetch files of `File.from_uri` that the provider doesn't open: `https:`, and `gs:` with Google's
            default credentials. Default: False.
        http (bool): also allow unencrypted requests, on port 80 and `ports`. Default: False.
        ports (tuple[int, ...]): allowed ports. Default: 443.
        hosts (tuple[str, ...]): allowed hosts: `example.com`, or `.example.com` for its subdomains. The host of `gs:`
            is `storage.googleapis.com`. Default: all.
        private_hosts (tuple[str, ...]): hosts, written like `hosts`, that may be inside a network. All others are only
            fetched from the public internet. Default: none.
        from_tools (bool): also fetch `https:` addresses in content blocks and resource links that tools return, from
            public hosts. Without it, they stay text. Default: False.
    """

    fetch: bool = False
    http: bool = False
    ports: tuple[Port, ...] = (443,)
    hosts: tuple[str, ...] = ()
    private_hosts: tuple[str, ...] = ()
    from_tools: bool = False

    @property
    def for_tools(self) -> FetchPolicy:
        """The policy for addresses that tools return. They are untrusted, so https only, and never inside a network."""
        return replace(self, fetch=self.fetch and self.from_tools, http=False, private_hosts=())

    @property
    def for_people(self) -> FetchPolicy:
        """The policy for addresses that people enter in a page, https only and never inside a network."""
        return replace(self, fetch=True, http=False, private_hosts=())


@dataclass(frozen=True, slots=True)
class FetchedFile:
    """A downloaded file, which the caller deletes, and what its host claims about it.

    `url` is the final URL after redirects, without fragment; its query may contain a secret. `size` is in bytes.
    `media_type` and `name` are None if the host doesn't tell.
    """

    path: Path
    url: str
    media_type: str | None
    name: str | None
    size: int

    @property
    def file(self) -> File:
        """The file, to be stored and probed while `path` exists."""
        return File(self.path, self.media_type, self.name)


async def fetch(
    url: str,
    folder: Path,
    *,
    max_bytes: int,
    policy: FetchPolicy | None = None,
    seconds: float = TIMEOUT_SECONDS,
    headers: Mapping[str, str] | None = None,
    dialer: Dialer | None = None,
    on_progress: OnProgress | None = None,
) -> FetchedFile:
    """Download a URL into a new file in `folder`: at most `max_bytes`, within `seconds` in total.

    Follows up to 5 redirects and checks each like the first URL. Raises `BadFile`, with the host and advice, and leaves
    nothing in the folder. Raises `OSError` if the folder is not writable. `headers` are sent to the first URL only, not
    after a redirect. `dialer` sets how requests are sent. `on_progress` is called when bytes have arrived.
    """
    policy = policy or FetchPolicy()
    if not policy.fetch:
        advice = "fetching is off; the program allows it by FetchPolicy(fetch=True)"
        raise BadFile("the address", "was not fetched", advice)
    from showandtell.network.fetch_request import Dialer, read_url  # noqa: PLC0415 - slow, only needed to fetch

    first = read_url(url)
    with _spool(folder) as sink:
        try:
            async with asyncio.timeout(seconds):
                download = _Download(sink, max_bytes, policy, dialer or Dialer(), on_progress)
                return await download.follow(first, headers)
        except TimeoutError:
            raise _error(
                first, f"took longer than {seconds:g} s", "try again, or download the file and add it"
            ) from None


@dataclass(frozen=True, slots=True)
class _Download:
    """One download: where to, how much, what is allowed, and how requests are sent."""

    sink: IO[bytes]
    max_bytes: int
    policy: FetchPolicy
    dialer: Dialer
    on_progress: OnProgress | None

    async def follow(self, first: URL, headers: Mapping[str, str] | None) -> FetchedFile:
        """Request a URL and the URLs that it redirects to."""
        visited = [first]
        while len(visited) <= MAX_REDIRECTS + 1:
            # A public host must not lead into the network.
            private = all(is_listed(url, self.policy.private_hosts) for url in visited)
            try:
                result = await self.request(visited[-1], headers if len(visited) == 1 else None, private=private)
            except BadFile as error:
                if len(visited) == 1:
                    raise
                raise _error(first, f"redirects to {error.name}, which {error.problem}", error.advice) from None
            if isinstance(result, FetchedFile):
                return result if result.name else replace(result, name=name_from_path(first))
            if result in visited:
                advice = "check that the address opens in a browser without a login"
                raise _error(first, "redirects in a circle", advice)
            visited.append(result)
        raise _error(
            first, f"redirects more than {MAX_REDIRECTS} times", "use the address where the file lies in the end"
        )

    async def request(self, url: URL, headers: Mapping[str, str] | None, *, private: bool) -> FetchedFile | URL:
        """Request one URL. Returns the file, or the URL it redirects to."""
        from showandtell.network.fetch_request import get  # noqa: PLC0415 - as above

        check_allowed(url, self.policy)
        async with get(url, self.dialer, private=private, headers=headers) as response:
            if response.status in REDIRECTS:
                return _redirect_target(response, url, self.policy)
            if response.status != 200:
                advice = "check that the address opens in a browser without a login"
                raise _error(url, f"answers {response.status}", advice)
            size = await _save(response, self.sink, self.max_bytes, url, self.on_progress)
        claim = normalize_type(response.headers.get("content-type", ""))
        name = name_of(response.headers.get("content-disposition", "")) or name_from_path(url)
        return FetchedFile(Path(self.sink.name), str(url), None if claim in UNINFORMATIVE_TYPES else claim, name, size)


def check_allowed(url: URL, policy: FetchPolicy) -> None:
    """Raise `BadFile`, which names the setting, if the policy doesn't allow a URL."""
    is_http = url.scheme == "http"
    if is_http and not policy.http:
        raise _error(
            url, "is asked for without encryption", "use https; the program allows http by FetchPolicy(http=True)"
        )
    if url.port not in policy.ports and not (is_http and url.port == 80):
        raise _error(
            url, f"is asked for at port {url.port}", "use port 443; the program allows others by FetchPolicy(ports=…)"
        )
    if policy.hosts and not is_listed(url, (*policy.hosts, *policy.private_hosts)):
        raise _error(url, "is not among the allowed hosts", "the program allows it by FetchPolicy(hosts=…)")


def is_listed(url: URL, hosts: Iterable[str]) -> bool:
    """Whether the host of a URL is in a list of hosts, or a subdomain of one that starts with a dot."""
    host = url.raw_host or ""
    listed = (name.lower().removesuffix(".") for name in hosts)
    return any(host.endswith(name) if name.startswith(".") else host == name for name in listed)


def _redirect_target(response: FetchedResponse, url: URL, policy: FetchPolicy) -> URL:
    """The URL of a redirect. From https it leads to http only if the policy allows http."""
    from showandtell.network.fetch_request import read_url  # noqa: PLC0415 - as above

    if not (location := response.headers.get("location")):
        raise _error(url, "redirects to nowhere", "check the address")
    try:
        target = read_url(location, url)
    except BadFile as error:
        raise _error(url, f"redirects to an address that {error.problem}", "use the file's own address") from None
    if target.scheme == "http" and not policy.http:
        advice = "use an address that stays with https; the program allows http by FetchPolicy(http=True)"
        raise _error(url, "redirects to an address without encryption", advice)
    return target


@contextmanager
def _spool(folder: Path) -> Generator[IO[bytes]]:
    """A new file, deleted if the download fails."""
    with tempfile.NamedTemporaryFile(dir=folder, prefix="fetched-", delete=False) as sink:
        try:
            yield sink
            sink.flush()
        except BaseException:
            Path(sink.name).unlink(missing_ok=True)
            raise


async def _save(
    response: FetchedResponse, sink: IO[bytes], max_bytes: int, url: URL, on_progress: OnProgress | None = None
) -> int:
    """Write the body to the file and return its size. Never writes more than `max_bytes`."""
    declared = response.headers.get("content-length", "0")
    if declared.isdecimal() and (len(declared) > MAX_DIGITS or int(declared) > max_bytes):
        raise _too_large(url, max_bytes)
    # What is sent compressed has another size here.
    total = int(declared) if declared.isdecimal() and "content-encoding" not in response.headers else 0
    size = 0
    async for chunk in _decoded(response, max_bytes, url):
        size += len(chunk)
        if size > max_bytes:
            raise _too_large(url, max_bytes)
        await asyncio.to_thread(sink.write, chunk)
        if on_progress is not None:
            on_progress(size, total or None)
    return size


async def _decoded(response: FetchedResponse, max_bytes: int, url: URL) -> AsyncIterator[bytes]:
    """The body, decompressed. Some hosts serve files with gzip even though it wasn't requested."""
    coding = response.headers.get("content-encoding", "").strip().lower()
    if coding in {"", "identity"}:
        async for chunk in response.chunks:
            yield chunk
        return
    if coding not in {"gzip", "x-gzip"}:
        raise _error(url, f"sends it compressed ({printable(coding)})", "download the file and add it")
    decoder, received = GzipDecoder(), 0
    async for chunk in response.chunks:
        received += len(chunk)
        if received > max_bytes:  # otherwise data that decompresses to nothing would never end
            raise _too_large(url, max_bytes)
        try:
            for decoded in decoder.feed(chunk):
                yield decoded
        except zlib.error:
            raise _error(url, "sends broken gzip", "download the file and add it") from None
    if not decoder.is_complete:
        raise _error(url, "broke off", "try again, or download the file and add it")


class GzipDecoder:
    """Decompresses gzip, with several members, in chunks of at most 64 KiB."""

    def __init__(self) -> None:
        self._member = zlib.decompressobj(zlib.MAX_WBITS | 16)
        self.is_complete = False

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Decompress data. Raises `zlib.error` if it is not gzip."""
        while data:
            if self._member.eof:
                self._member = zlib.decompressobj(zlib.MAX_WBITS | 16)
            if chunk := self._member.decompress(data, CHUNK_SIZE):
                yield chunk
            data = self._member.unused_data or self._member.unconsumed_tail
        self.is_complete = self._member.eof


def name_of(disposition: str) -> str | None:
    """The file name of a Content-Disposition header, without folders."""
    from email.message import Message  # noqa: PLC0415 - slow, and seldom needed

    headers = Message()
    headers["content-disposition"] = " ".join(disposition.split())
    name = headers.get_filename() or ""
    return PurePosixPath(name.replace("\\", "/")).name or None


def name_from_path(url: URL) -> str | None:
    """The last segment of a URL's path."""
    name = unquote(url.raw_path.rpartition("/")[2])
    return PurePosixPath(name.replace("\\", "/")).name or None


def printable(text: str) -> str:
    """A header token, shortened to safe characters."""
    return re.sub(r"[^a-z0-9, -]", "", text)[:20] or "unknown"


def _error(url: URL, problem: str, advice: str) -> BadFile:
    return BadFile(url.raw_host or "the address", problem, advice)


def _too_large(url: URL, max_bytes: int) -> BadFile:
    advice = "use a smaller file, or raise the limit max_file_bytes"
    return TooLargeToFetch(url.raw_host or "the address", f"sends more than {max_bytes} bytes", advice)
