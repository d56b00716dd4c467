"""Files stored at a provider, to be shown by their id: uploaded in pieces, and deleted again.

What failed is told as `Failed`, and ends no run: the file then goes as bytes, or is noted.
"""

from __future__ import annotations

import asyncio
import mimetypes
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Literal, TypeAlias, TypeVar
from urllib.parse import quote, urlsplit, urlunsplit

import msgspec

from showandtell.core.capabilities.cells import Target
from showandtell.core.messages.attachments import Facts
from showandtell.core.messages.blobs import Blobs
from showandtell.core.messages.derivations import Derivative, Failed
from showandtell.core.wire.http import HttpRequest, HttpResponse
from showandtell.core.wire.request import PIECE, Request
from showandtell.core.wire.stream import UNREADABLE
from showandtell.errors import BadAnswer, FileChanged, ProviderError, ProviderUnavailable
from showandtell.providers.exchange import Exchange, beginning, words_of
from showandtell.providers.refusals import refused
from showandtell.providers.retry import RetryPolicy, pause_before
from showandtell.providers.secrets import conceal_error, secrets_in

#: How long a provider keeps what nobody deletes, in seconds. Gemini's own 48 hours can't be chosen.
KEPT = 7 * 24 * 3600
#: Seconds between two looks at a file that Gemini still reads.
LOOK_AGAIN = 2.0
#: The most that is read of an answer.
LARGEST = 64 * 1024

Method: TypeAlias = Literal["POST", "GET", "DELETE"]
Clock: TypeAlias = Callable[[], float]


@dataclass(frozen=True, slots=True)
class Parcel:
    """A request whose body is bytes and files, never joined."""

    url: str
    headers: Mapping[str, str] = field(repr=False)
    pieces: tuple[bytes | Facts, ...] = ()
    blobs: Blobs | None = field(default=None, repr=False)
    method: Method = "POST"

    @property
    def size(self) -> int:
        """The exact content-length."""
        return sum(len(piece) if isinstance(piece, bytes) else piece.size for piece in self.pieces)

    async def body(self) -> AsyncIterator[bytes]:
        """The bytes, anew for each try. Raises `FileChanged`."""
        for piece in self.pieces:
            if isinstance(piece, bytes):
                yield piece
            elif self.blobs is not None:
                for part in self.blobs.chunks(piece, PIECE):
                    yield bytes(part)  # the view is used again, and what is yielded may wait
                    await asyncio.sleep(0)


#: Endings by which houses know a type; `mimetypes` knows the others, as far as this machine does.
ENDINGS = {
    "image/jpeg": ".jpg",
    "image/webp": ".webp",
    "image/heic": ".heic",
    "text/plain": ".txt",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": ".docx",
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": ".xlsx",
    "application/vnd.openxmlformats-officedocument.presentationml.presentation": ".pptx",
}


class _Stored(msgspec.Struct, frozen=True):
    """What Anthropic, OpenAI and xAI say of a stored file; times are RFC 3339, or epoch seconds."""

    id: str
    created_at: datetime | int | None = None
    expires_at: datetime | int | None = None


class _Status(msgspec.Struct, frozen=True):
    message: str = ""


class _GoogleFile(msgspec.Struct, frozen=True, rename="camel"):
    """google-genai 3.4: types.File."""

    name: str
    uri: str
    state: str = "ACTIVE"
    create_time: datetime | None = None
    expiration_time: datetime | None = None
    error: _Status | None = None


class _GoogleAnswer(msgspec.Struct, frozen=True):
    file: _GoogleFile


Read = TypeVar("Read")


@dataclass(frozen=True, slots=True)
class Reach:
    """How a house is reached, how patiently, and by which clock what it keeps grows old."""

    exchange: Exchange
    retry: RetryPolicy = field(default_factory=RetryPolicy)
    clock: Clock = time.time


@dataclass(frozen=True, slots=True)
class FilesApi:
    """How a house keeps files.

    path: where, below the house's base. put: how one gets there. fields: what a form says before the file.
    headers: lists that are asked for with files, and with requests that name one by its id.
    gone: the statuses that say that a file isn't there.
    """

    path: str
    put: Put
    fields: tuple[tuple[str, str], ...] = ()
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    gone: frozenset[int] = frozenset({404})

    def join_headers(self, exchange: Exchange) -> dict[str, str]:
        """The headers, each behind what the program has put in its list already."""
        return {name: _join(exchange.headers.get(name, ""), value) for name, value in self.headers.items()}


def _join(own: str, ours: str) -> str:
    return ",".join(dict.fromkeys((*filter(None, own.split(",")), ours)))


Put: TypeAlias = Callable[[Reach, FilesApi, Facts, Blobs], Awaitable[Derivative]]


async def put_form(reach: Reach, store: FilesApi, facts: Facts, blobs: Blobs) -> Derivative:
    """One multipart/form-data, the file behind the fields."""
    start, end = write_form(store.fields, facts)
    headers = {**store.join_headers(reach.exchange), "content-type": f"multipart/form-data; boundary={facts.sha256}"}
    parcel = Parcel(reach.exchange.base + store.path, headers, (start, facts, end), blobs)
    _, data = await _deliver(reach, parcel)
    stored = _read(data, _Stored)
    return Derivative(file_id=stored.id, expires=_expiry(stored.created_at, stored.expires_at, reach.clock))


def write_form(fields: tuple[tuple[str, str], ...], facts: Facts) -> tuple[bytes, bytes]:
    """What stands before and behind a file in multipart/form-data (RFC 7578).

    The boundary is the file's own sha256, which no file holds.
    """
    line = f"--{facts.sha256}\r\nContent-Disposition: form-data; name="
    said = "".join(f'{line}"{name}"\r\n\r\n{value}\r\n' for name, value in fields)
    said += f'{line}"file"; filename="{name_of(facts)}"\r\nContent-Type: {facts.media_type}\r\n\r\n'
    return said.encode(), f"\r\n--{facts.sha256}--\r\n".encode()


def name_of(facts: Facts) -> str:
    """A name that says nothing of the file but its type: the user's own stays here."""
    ending = ENDINGS.get(facts.media_type) or mimetypes.guess_extension(facts.media_type) or ""
    return facts.sha256[:16] + ending


async def put_resumable(reach: Reach, store: FilesApi, facts: Facts, blobs: Blobs) -> Derivative:
    """Google's resumable upload behind `/upload`, its bytes in one piece (google-genai 3.4: files.upload)."""
    said = msgspec.json.encode({"file": {"mimeType": facts.media_type, "sizeBytes": str(facts.size)}})
    start = {
        "content-type": "application/json",
        "x-goog-upload-protocol": "resumable",
        "x-goog-upload-command": "start",
        "x-goog-upload-header-content-length": str(facts.size),
        "x-goog-upload-header-content-type": facts.media_type,
    }
    base = reach.exchange.base
    answered, _ = await _deliver(reach, Parcel(f"{base}/upload{store.path}", start, (said,)))
    there = _at_home(answered.get("x-goog-upload-url", ""), base)
    last = {"content-type": facts.media_type, "x-goog-upload-command": "upload, finalize", "x-goog-upload-offset": "0"}
    _, data = await _deliver(reach, Parcel(there, last, (facts,), blobs))
    file = await _wait_for(_read(data, _GoogleAnswer).file, reach, store)
    return Derivative(file_id=file.uri, expires=_expiry(file.create_time, file.expiration_time, reach.clock))


def _at_home(url: str, base: str) -> str:
    """The address to upload to, at the host that we talk to anyway: a key goes nowhere else."""
    try:
        parts, home = urlsplit(url), urlsplit(base)
    except ValueError:
        raise BadAnswer("the answer names no address to upload to") from None
    if not parts.path:
        raise BadAnswer("the answer names no address to upload to")
    return urlunsplit((home.scheme, home.netloc, parts.path, parts.query, ""))


async def _wait_for(file: _GoogleFile, reach: Reach, store: FilesApi) -> _GoogleFile:
    """The file once Gemini has read it: a video takes its time."""
    waited = 0.0
    while file.state == "PROCESSING":
        if waited >= reach.retry.seconds:
            raise ProviderUnavailable(f"the file is still being read after {waited:g} s")
        await reach.retry.sleep(LOOK_AGAIN)
        waited += LOOK_AGAIN
        parcel = Parcel(f"{reach.exchange.base}{store.path}/{_last_step(file.name)}", {}, method="GET")
        _, data = await _deliver(reach, parcel)
        file = _read(data, _GoogleFile)
    if file.state == "FAILED":
        raise ProviderError(f"the file can't be read: {file.error.message if file.error else 'no reason is given'}")
    return file


def _last_step(name: str) -> str:
    """A file's id in a path: Gemini's URIs and names end with it, the others' are nothing else."""
    return quote(name.rpartition("/")[2], safe="")


def _read(data: bytes, kind: type[Read]) -> Read:
    try:
        return msgspec.json.decode(data, type=kind)
    except UNREADABLE:
        raise BadAnswer("the answer is not what a Files API says") from None


def _expiry(created: datetime | int | None, ends: datetime | int | None, clock: Clock) -> float | None:
    """Until when a file lives by our own clock, which may be another than the provider's."""
    if ends is None:
        return None
    try:
        return clock() + _seconds(ends) - _seconds(created) if created is not None else _seconds(ends)
    except (ValueError, OverflowError):
        raise BadAnswer("the answer holds a time that is none") from None


def _seconds(moment: datetime | int) -> float:
    return moment.timestamp() if isinstance(moment, datetime) else float(moment)


async def _deliver(reach: Reach, parcel: Parcel) -> tuple[Mapping[str, str], bytes]:
    """Send until it is answered, as often as a model would be asked: the answer's headers and bytes."""
    patience, waited, tried = reach.retry, 0.0, 0
    while True:
        try:
            return await _send(reach.exchange, parcel)
        except ProviderError as error:
            pause = pause_before(error, tried, patience)
            if pause is None or tried == patience.tries or waited + pause > patience.seconds:
                raise
        waited, tried = waited + pause, tried + 1
        await patience.sleep(pause)


async def _send(exchange: Exchange, parcel: Parcel) -> tuple[Mapping[str, str], bytes]:
    headers = {**exchange.headers, **parcel.headers, "content-length": str(parcel.size)}
    request: HttpRequest = replace(parcel, headers=headers)
    if exchange.authorise is not None:
        request = replace(parcel, headers={**headers, **await exchange.authorise(request)})
    try:
        return await _ask(exchange, request)
    except ProviderError as error:
        failed = conceal_error(error, secrets_in(request.headers))
    raise failed


async def _ask(exchange: Exchange, request: HttpRequest) -> tuple[Mapping[str, str], bytes]:
    try:
        async with exchange.send(request) as answer:
            data = await _beginning(answer)
            if answer.status >= 300:
                raise refused(answer, data)
            return answer.headers, data
    except OSError as error:
        raise ProviderUnavailable(f"{urlsplit(request.url).netloc} can't be reached: {words_of(error)}") from error


async def _beginning(answer: HttpResponse) -> bytes:
    try:
        return await beginning(answer.body, LARGEST)
    finally:
        close: Callable[[], Awaitable[None]] | None = getattr(answer.body, "aclose", None)
        if close is not None:
            await close()


STORES: dict[str, FilesApi] = {
    # anthropic 2.12: files.upload; the beta is asked for with requests that name an id, too (docs, "Files API")
    "anthropic": FilesApi(
        "/v1/files",
        put_form,
        (("expires_in_seconds", str(KEPT)),),
        headers={"anthropic-beta": "files-api-2025-04-14"},
    ),
    # openai 3.54: files.create; the SDK spells a nested field with brackets
    "openai": FilesApi(
        "/files",
        put_form,
        (("purpose", "user_data"), ("expires_after[anchor]", "created_at"), ("expires_after[seconds]", str(KEPT))),
    ),
    # Gemini doesn't tell a file that is gone from another's (googleapis/python-genai #1218).
    "google": FilesApi("/v1beta/files", put_resumable, gone=frozenset({403, 404})),
    # docs.x.ai, REST API reference, files: the file must come last
    "xai": FilesApi("/files", put_form, (("purpose", "assistants"), ("expires_after", str(KEPT)))),
}


async def upload(reach: Reach, target: Target, facts: Facts, blobs: Blobs) -> Derivative | Failed:
    """Store a file at a target's house: its id, and until when it lives there by our clock; or why it isn't there."""
    store = STORES.get(target.vendor)
    if store is None:
        return Failed(f"{target.vendor} has no place for files", "files api")
    try:
        return await store.put(reach, store, facts, blobs)
    except (ProviderError, FileChanged) as error:
        return Failed(f"the upload to {target.vendor} failed: {str(error)[:300]}", "files api")


async def delete(reach: Reach, target: Target, file_id: str) -> Failed | None:
    """Delete a file at a target's house; None where it is gone, also where it was before."""
    store = STORES.get(target.vendor)
    if store is None:
        return Failed(f"{target.vendor} has no place for files, so none can be deleted: {file_id}", "files api")
    url = f"{reach.exchange.base}{store.path}/{_last_step(file_id)}"
    try:
        await _deliver(reach, Parcel(url, store.join_headers(reach.exchange), method="DELETE"))
    except ProviderError as error:
        if error.status not in store.gone:
            return Failed(f"{target.vendor} keeps {file_id}: {str(error)[:300]}", "files api")
    return None


def allow_ids(exchange: Exchange, request: Request) -> Exchange:
    """The exchange for a request: some houses want to be told where one names files by id."""
    store = STORES.get(request.target.vendor)
    named = any(one.cell is not None and one.cell.form == "file_id" for one in request.receipts)
    if store is None or not named:
        return exchange
    return replace(exchange, headers={**exchange.headers, **store.join_headers(exchange)})
