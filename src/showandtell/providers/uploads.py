"""Uploads files to a provider's Files API, to refer to them by id, and deletes them again.

Failures are returned as `Failed` and never end a run: the file is then sent as bytes, or noted.
"""

from __future__ import annotations

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
from showandtell.core.planning.values import ContainerFile
from showandtell.core.wire.http import HttpRequest, HttpResponse
from showandtell.core.wire.request import Request
from showandtell.core.wire.stream import DECODE_ERRORS
from showandtell.errors import BadAnswer, FileChanged, ProviderError, ProviderUnavailable
from showandtell.providers.bodies import read_body
from showandtell.providers.exchange import Exchange, close_body, error_text, read_limited, read_prefix
from showandtell.providers.refusals import provider_error
from showandtell.providers.retry import RetryPolicy, pause_before
from showandtell.providers.secrets import conceal_error, secrets_in

#: Lifetime of uploads in seconds. Gemini's own 48 hours can't be changed.
RETENTION_SECONDS = 7 * 24 * 3600
#: Seconds between two polls of a file that Gemini is processing.
POLL_SECONDS = 2.0
#: Maximum number of bytes read of a response.
MAX_RESPONSE = 64 * 1024

Method: TypeAlias = Literal["POST", "GET", "DELETE"]
Clock: TypeAlias = Callable[[], float]


@dataclass(frozen=True, slots=True)
class UploadRequest:
    """A request whose body is a sequence of bytes and stored files, which are never joined in memory."""

    url: str
    headers: Mapping[str, str] = field(repr=False)
    pieces: tuple[bytes | Facts, ...] = ()
    blobs: Blobs | None = field(default=None, repr=False)
    method: Method = "POST"

    @property
    def size(self) -> int:
        """The exact content-length."""
        return sum(len(piece) if isinstance(piece, bytes) else piece.size for piece in self.pieces)

    def body(self) -> AsyncIterator[bytes]:
        """The chunks of the body; from the start for each try. Raises `FileChanged`."""
        return read_body(self.pieces, self.blobs, bytes)


#: File name extensions that providers recognize. For other types `mimetypes` is used, which depends on the machine.
ENDINGS = {
    "image/jpeg": ".jpg",
    "image/webp": ".webp",
    "image/heic": ".heic",
    "text/plain": ".txt",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": ".docx",
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": ".xlsx",
    "application/vnd.openxmlformats-officedocument.presentationml.presentation": ".pptx",
}


class _StoredFile(msgspec.Struct, frozen=True):
    """A stored file at Anthropic, OpenAI or xAI. Times are RFC 3339, or epoch seconds."""

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
class FilesAccess:
    """How to reach a provider's Files API. `clock` gives epoch seconds, for expiry times."""

    exchange: Exchange
    retry: RetryPolicy = field(default_factory=RetryPolicy)
    clock: Clock = time.time


@dataclass(frozen=True, slots=True)
class FilesApi:
    """A provider's Files API.

    path: its path below the base URL. put: the function that uploads. fields: form fields before the file.
    headers: list headers for its requests, and for requests that refer to a file by id.
    missing_statuses: statuses that report a missing file.
    """

    path: str
    put: Put
    fields: tuple[tuple[str, str], ...] = ()
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    missing_statuses: frozenset[int] = frozenset({404})

    def join_headers(self, exchange: Exchange) -> dict[str, str]:
        """The headers, each appended to the exchange's own list of that name."""
        return join_headers(self.headers, exchange)


def join_headers(headers: Mapping[str, str], exchange: Exchange) -> dict[str, str]:
    """List headers, each appended to the exchange's own list of that name."""
    return {name: _join(exchange.headers.get(name, ""), ours) for name, ours in headers.items()}


def _join(own: str, ours: str) -> str:
    return ",".join(dict.fromkeys((*filter(None, own.split(",")), ours)))


Put: TypeAlias = Callable[[FilesAccess, FilesApi, Facts, Blobs], Awaitable[Derivative]]


async def put_form(access: FilesAccess, api: FilesApi, facts: Facts, blobs: Blobs) -> Derivative:
    """Upload as multipart/form-data, with the file after the fields."""
    start, end = write_form(api.fields, facts)
    headers = {**api.join_headers(access.exchange), "content-type": f"multipart/form-data; boundary={facts.sha256}"}
    request = UploadRequest(access.exchange.base + api.path, headers, (start, facts, end), blobs)
    _, data = await deliver(access, request)
    file = _read(data, _StoredFile)
    return Derivative(file_id=file.id, expires=_expiry(file.created_at, file.expires_at, access.clock))


def write_form(fields: tuple[tuple[str, str], ...], facts: Facts) -> tuple[bytes, bytes]:
    """The bytes before and after a file in multipart/form-data (RFC 7578).

    The boundary is the file's sha256, which the file itself can't contain.
    """
    boundary = f"--{facts.sha256}\r\nContent-Disposition: form-data; name="
    text = "".join(f'{boundary}"{name}"\r\n\r\n{value}\r\n' for name, value in fields)
    text += f'{boundary}"file"; filename="{upload_name(facts)}"\r\nContent-Type: {facts.media_type}\r\n\r\n'
    return text.encode(), f"\r\n--{facts.sha256}--\r\n".encode()


def upload_name(facts: Facts) -> str:
    """A file name that reveals only the type. The user's own name is not sent."""
    ending = ENDINGS.get(facts.media_type) or mimetypes.guess_extension(facts.media_type) or ""
    return facts.sha256[:16] + ending


async def put_resumable(access: FilesAccess, api: FilesApi, facts: Facts, blobs: Blobs) -> Derivative:
    """Google's resumable upload at `/upload`, with all bytes in one request (google-genai 3.4: files.upload)."""
    metadata = msgspec.json.encode({"file": {"mimeType": facts.media_type, "sizeBytes": str(facts.size)}})
    start = {
        "content-type": "application/json",
        "x-goog-upload-protocol": "resumable",
        "x-goog-upload-command": "start",
        "x-goog-upload-header-content-length": str(facts.size),
        "x-goog-upload-header-content-type": facts.media_type,
    }
    base = access.exchange.base
    headers, _ = await deliver(access, UploadRequest(f"{base}/upload{api.path}", start, (metadata,)))
    url = _on_same_host(headers.get("x-goog-upload-url", ""), base)
    finish = {
        "content-type": facts.media_type,
        "x-goog-upload-command": "upload, finalize",
        "x-goog-upload-offset": "0",
    }
    _, data = await deliver(access, UploadRequest(url, finish, (facts,), blobs))
    file = await _wait_for(_read(data, _GoogleAnswer).file, access, api)
    return Derivative(file_id=file.uri, expires=_expiry(file.create_time, file.expiration_time, access.clock))


def _on_same_host(url: str, base: str) -> str:
    """The URL to upload to, on the host of `base`, so that the key is sent to no other host."""
    try:
        parts, host = urlsplit(url), urlsplit(base)
    except ValueError:
        raise BadAnswer("the response contains no upload URL") from None
    if not parts.path:
        raise BadAnswer("the response contains no upload URL")
    return urlunsplit((host.scheme, host.netloc, parts.path, parts.query, ""))


async def _wait_for(file: _GoogleFile, access: FilesAccess, api: FilesApi) -> _GoogleFile:
    """Poll until Gemini has processed the file, which takes a while for video."""
    waited = 0.0
    while file.state == "PROCESSING":
        if waited >= access.retry.seconds:
            raise ProviderUnavailable(f"the file is still being processed after {waited:g} s")
        await access.retry.sleep(POLL_SECONDS)
        waited += POLL_SECONDS
        request = UploadRequest(f"{access.exchange.base}{api.path}/{_last_segment(file.name)}", {}, method="GET")
        _, data = await deliver(access, request)
        file = _read(data, _GoogleFile)
    if file.state == "FAILED":
        raise ProviderError(f"the file can't be read: {file.error.message if file.error else 'no reason is given'}")
    return file


def _last_segment(name: str) -> str:
    """A file's id, quoted for a path. Gemini's URIs and names end with it; other ids have no slash."""
    return quote(name.rpartition("/")[2], safe="")


def _read(data: bytes, kind: type[Read]) -> Read:
    try:
        return msgspec.json.decode(data, type=kind)
    except DECODE_ERRORS:
        raise BadAnswer("the response is not that of a Files API") from None


def _expiry(created: datetime | int | None, ends: datetime | int | None, clock: Clock) -> float | None:
    """A file's expiry time by our own clock, which may differ from the provider's."""
    if ends is None:
        return None
    try:
        return clock() + _seconds(ends) - _seconds(created) if created is not None else _seconds(ends)
    except (ValueError, OverflowError):
        raise BadAnswer("the response contains an invalid time") from None


def _seconds(moment: datetime | int) -> float:
    return moment.timestamp() if isinstance(moment, datetime) else float(moment)


async def deliver(
    access: FilesAccess, request: UploadRequest, limit: int = MAX_RESPONSE
) -> tuple[Mapping[str, str], bytes]:
    """Send with retries, like a model call. Returns the response's headers and its first `limit` bytes."""
    retry, waited, retries = access.retry, 0.0, 0
    while True:
        try:
            return await _send(access.exchange, request, limit)
        except ProviderError as error:
            pause = pause_before(error, retries, retry)
            if pause is None or retries == retry.tries or waited + pause > retry.seconds:
                raise
        waited, retries = waited + pause, retries + 1
        await retry.sleep(pause)


async def _send(exchange: Exchange, upload_request: UploadRequest, limit: int) -> tuple[Mapping[str, str], bytes]:
    headers = {**exchange.headers, **upload_request.headers, "content-length": str(upload_request.size)}
    request: HttpRequest = replace(upload_request, headers=headers)
    if exchange.authorize is not None:
        request = replace(upload_request, headers={**headers, **await exchange.authorize(request)})
    try:
        return await _ask(exchange, request, limit)
    except ProviderError as error:
        redacted = conceal_error(error, secrets_in(request.headers))
    raise redacted


async def _ask(exchange: Exchange, request: HttpRequest, limit: int) -> tuple[Mapping[str, str], bytes]:
    try:
        async with exchange.send(request) as response:
            data = await _read_response(response, limit)
            if response.status >= 300:
                raise provider_error(response, data)
            return response.headers, data
    except OSError as error:
        raise ProviderUnavailable(f"{urlsplit(request.url).netloc} can't be reached: {error_text(error)}") from error


async def _read_response(response: HttpResponse, limit: int) -> bytes:
    """The bytes of a response. A file that breaks off is an error; of an error text, the start is enough."""
    try:
        return await (read_limited if response.status < 300 else read_prefix)(response.body, limit)
    finally:
        await close_body(response)


FILES_APIS: dict[str, FilesApi] = {
    # anthropic 2.12: files.upload; the beta header is needed for requests that refer to an id, too (docs, "Files API")
    "anthropic": FilesApi(
        "/v1/files",
        put_form,
        (("expires_in_seconds", str(RETENTION_SECONDS)),),
        headers={"anthropic-beta": "files-api-2025-04-14"},
    ),
    # openai 3.54: files.create; the SDK writes nested fields with brackets
    "openai": FilesApi(
        "/files",
        put_form,
        (
            ("purpose", "user_data"),
            ("expires_after[anchor]", "created_at"),
            ("expires_after[seconds]", str(RETENTION_SECONDS)),
        ),
    ),
    # Gemini doesn't distinguish missing files from those of others (googleapis/python-genai #1218).
    "google": FilesApi("/v1beta/files", put_resumable, missing_statuses=frozenset({403, 404})),
    # docs.x.ai, REST API reference, files: the file must come last
    "xai": FilesApi("/files", put_form, (("purpose", "assistants"), ("expires_after", str(RETENTION_SECONDS)))),
}


async def upload(access: FilesAccess, target: Target, facts: Facts, blobs: Blobs) -> Derivative | Failed:
    """Upload a file to a target's vendor. Returns its id and its expiry time by our clock, or the failure."""
    api = FILES_APIS.get(target.vendor)
    if api is None:
        return Failed(f"{target.vendor} has no place for files", "files api")
    try:
        return await api.put(access, api, facts, blobs)
    except (ProviderError, FileChanged) as error:
        return Failed(f"the upload to {target.vendor} failed: {str(error)[:300]}", "files api")


async def delete(access: FilesAccess, target: Target, file_id: str) -> Failed | None:
    """Delete a file from a target's vendor. Returns None if it is deleted or was missing, else the failure."""
    api = FILES_APIS.get(target.vendor)
    if api is None:
        return Failed(f"{target.vendor} has no place for files, so none can be deleted: {file_id}", "files api")
    url = f"{access.exchange.base}{api.path}/{_last_segment(file_id)}"
    try:
        await deliver(access, UploadRequest(url, api.join_headers(access.exchange), method="DELETE"))
    except ProviderError as error:
        if error.status not in api.missing_statuses:
            return Failed(f"{target.vendor} keeps {file_id}: {str(error)[:300]}", "files api")
    return None


def with_file_headers(exchange: Exchange, request: Request) -> Exchange:
    """The exchange with the headers that some providers require for requests with file ids."""
    api = FILES_APIS.get(request.target.vendor)
    uses_ids = any(receipt.cell is not None and receipt.cell.form == "file_id" for receipt in request.receipts)
    if request.options.hosted and not uses_ids:
        uses_ids = any(isinstance(part, ContainerFile) for entry in request.plan.entries for part in entry.parts)
    if api is None or not uses_ids:
        return exchange
    return replace(exchange, headers={**exchange.headers, **api.join_headers(exchange)})
