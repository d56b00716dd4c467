"""The Files APIs of four providers, as strict as they are, over one store; and a host that serves them beside its models.

What is stored is seen by the models where its id stands; an id that is unknown, deleted or expired is refused.
"""

from __future__ import annotations

import hashlib
import json
import re
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import count
from typing import Any
from urllib.parse import urlsplit

import msgspec

from showandtell.core.wire.http import HttpRequest, HttpResponse
from showandtell.inspector.hosts import find_host
from showandtell.inspector.request import (
    ApiError,
    Call,
    IncomingRequest,
    ModelRequest,
    ReceivedFile,
    Reply,
    RequestTurn,
    Result,
    TextPart,
    files_of,
)
from showandtell.inspector.send import Answerer, error_response, serve
from showandtell.providers.exchange import Exchange

URI = "https://generativelanguage.googleapis.com/v1beta/files/"
#: The prefix of ids, and where each provider takes files below its base.
PREFIX = {"anthropic": "file_011", "openai": "file-", "xai": "file_", "google": URI}
PATHS = {vendor: re.compile(r"/v1/files(?:/(?P<id>[\w-]+))?") for vendor in ("anthropic", "openai", "xai")}
PATHS["google"] = re.compile(r"(?P<upload>/upload)?/v1beta/files(?:/(?P<id>[\w-]+))?")
DAYS_2 = 48 * 3600
#: The most seconds that a provider keeps a file (anthropic 2.12 and openai 3.54 types; docs.x.ai).
MAX_LIFETIME = {"anthropic": 7_776_000, "openai": 2_592_000, "xai": 2_592_000}


@dataclass
class Stored:
    """A file as its provider keeps it; `unread` counts the looks until Gemini has read it."""

    media_type: str
    data: bytes
    created: float
    expires: float
    name: str = ""
    unread: int = 0


@dataclass
class Store:
    """All files by id; no id is given twice. `clock` says what has expired. `begun` are Gemini's uploads of which no byte came yet."""

    clock: Callable[[], float] = time.time
    looks: int = 0
    files: dict[str, Stored] = field(default_factory=dict)
    begun: dict[str, tuple[str, int]] = field(default_factory=dict)
    ids: Iterator[int] = field(default_factory=count)

    def find(self, file_id: str) -> Stored | None:
        found = self.files.get(file_id)
        return found if found is not None and found.expires > self.clock() else None

    def keep(self, vendor: str, file: Stored) -> str:
        file_id = f"{PREFIX[vendor]}{hashlib.sha256(file.data).hexdigest()[:20]}{next(self.ids)}"
        self.files[file_id] = file
        return file_id


def serve_files(incoming: IncomingRequest, store: Store, method: str = "POST") -> HttpResponse | None:
    """Answer a request of a Files API; None where it is none."""
    base, _, rest = incoming.path.removeprefix("/").partition("/")
    match = PATHS[base].fullmatch("/" + rest) if base in PATHS else None
    if match is None:
        return None
    found = match.groupdict()
    try:
        check_beta(base, incoming)
        if method != "POST":
            return answer_json(
                look_or_delete(base, PREFIX[base] + found["id"].removeprefix(PREFIX[base]), store, method)
            )
        return (
            take_google(incoming, store, found) if base == "google" else answer_json(take_form(base, incoming, store))
        )
    except ApiError as refusal:
        return error_response(refusal, find_host(incoming.path)[0])


def check_beta(vendor: str, incoming: IncomingRequest) -> None:
    if vendor == "anthropic" and "files-api-2025-04-14" not in incoming.headers.get("anthropic-beta", ""):
        raise ApiError("the files api wants its beta header")


def answer_json(value: Any, **headers: str) -> HttpResponse:
    return HttpResponse(200, {"content-type": "application/json", **headers}, in_one(json.dumps(value).encode()))


async def in_one(data: bytes) -> AsyncIterator[bytes]:
    yield data


def take_form(vendor: str, incoming: IncomingRequest, store: Store) -> dict[str, Any]:
    """multipart/form-data, every field before the file."""
    fields, name, media_type, data = read_form(incoming)
    if vendor == "openai" and fields.get("purpose") != "user_data":
        raise ApiError("purpose: expected user_data", parameter="purpose")
    given = fields.get("expires_in_seconds" if vendor == "anthropic" else "expires_after")
    kept = int(given or fields.get("expires_after[seconds]", "0"))
    if not 3600 <= kept <= MAX_LIFETIME[vendor]:
        raise ApiError(f"a file can't be kept for {kept} seconds")
    now = store.clock()
    file = Stored(media_type, data, now, now + kept, name)
    return file_json(vendor, store.keep(vendor, file), file)


def read_form(incoming: IncomingRequest) -> tuple[dict[str, str], str, str, bytes]:
    """The fields of a form, and its one file: name, type and bytes."""
    kind, _, boundary = incoming.headers["content-type"].partition("; boundary=")
    assert kind == "multipart/form-data"
    first, *parts, last = (b"\r\n" + incoming.body).split(b"\r\n--" + boundary.encode())
    assert (first, last) == (b"", b"--\r\n")
    fields: dict[str, str] = {}
    for at, part in enumerate(parts):
        head, _, data = part.removeprefix(b"\r\n").partition(b"\r\n\r\n")
        output = dict(re.findall(r'(name|filename)="([^"]*)"', head.decode()))
        if "filename" in output:
            assert (output["name"], at) == ("file", len(parts) - 1)
            return fields, output["filename"], head.decode().rpartition("Content-Type: ")[2], data
        fields[output["name"]] = data.decode()
    raise ApiError("file: Field required")


def take_google(incoming: IncomingRequest, store: Store, found: dict[str, str | None]) -> HttpResponse:
    """The resumable protocol: begun with a size and a type, then all bytes at once."""
    if not found["upload"]:
        raise ApiError("Invalid upload", status=404)
    headers = incoming.headers
    if headers.get("x-goog-upload-command") == "start":
        size, media_type = (
            int(headers["x-goog-upload-header-content-length"]),
            headers["x-goog-upload-header-content-type"],
        )
        file = json.loads(incoming.body)["file"]
        given = file.get("mimeType") or file["mime_type"], int(file.get("sizeBytes") or file["size_bytes"])
        assert given == (media_type, size)
        session = f"session{len(store.begun)}"
        store.begun[session] = media_type, size
        # Without a host that serves it, an address that nobody may follow: ours stays at the base that it was given.
        there = f"http://{headers.get('host', 'upload.invalid')}/google/upload/v1beta/files?upload_id={session}&upload_protocol=resumable"
        return answer_json({}, **{"x-goog-upload-url": there, "x-goog-upload-status": "active"})
    assert (headers["x-goog-upload-command"], headers["x-goog-upload-offset"]) == ("upload, finalize", "0")
    media_type, size = store.begun.pop(incoming.query.partition("upload_id=")[2].partition("&")[0])
    assert len(incoming.body) == size
    now = store.clock()
    file = Stored(media_type, incoming.body, now, now + DAYS_2, unread=store.looks)
    output = file_json("google", store.keep("google", file), file)
    return answer_json({"file": output}, **{"x-goog-upload-status": "final"})


def look_or_delete(vendor: str, file_id: str, store: Store, method: str) -> dict[str, Any]:
    file = store.find(file_id)
    if file is None:
        raise missing(vendor, file_id)
    if method == "DELETE":
        del store.files[file_id]
        gone = {"anthropic": {"id": file_id, "type": "file_deleted"}, "google": {}}
        return gone.get(vendor, {"id": file_id, "object": "file", "deleted": True})
    file.unread = max(0, file.unread - 1)
    return file_json(vendor, file_id, file)


def file_json(vendor: str, file_id: str, file: Stored) -> dict[str, Any]:
    """A stored file in its provider's words."""
    created, expires = (datetime.fromtimestamp(at, UTC).isoformat() for at in (file.created, file.expires))
    match vendor:
        case "anthropic":
            output = {"filename": file.name, "mime_type": file.media_type, "size_bytes": len(file.data), "type": "file"}
            return {"id": file_id, **output, "created_at": created, "expires_at": expires}
        case "google":
            output = {"name": "files/" + file_id.removeprefix(URI), "uri": file_id, "mimeType": file.media_type}
            state = "PROCESSING" if file.unread else "ACTIVE"
            return {**output, "createTime": created, "expirationTime": expires, "state": state}
        case _:
            output = {"object": "file", "bytes": len(file.data), "filename": file.name, "purpose": "user_data"}
            return {"id": file_id, **output, "created_at": int(file.created), "expires_at": int(file.expires)}


def missing(vendor: str, file_id: str) -> ApiError:
    """How each provider says that it has no such file. All but Google's words are from memory."""
    match vendor:
        case "google":  # googleapis/python-genai #1218
            name = file_id.removeprefix(URI)
            return ApiError(f"You do not have permission to access the File {name} or it may not exist.", status=403)
        case "anthropic":
            return ApiError(f"File not found: {file_id}", status=404, kind="not_found_error")
        case _:
            return ApiError(f"No such File object: {file_id}", status=404, parameter="id")


def resolve(asked: ModelRequest, store: Store, vendor: str) -> ModelRequest:
    """The request with the bytes of every stored file; a Gemini model sees none that a function response names."""

    def fill(part: Any) -> Any:
        match part:
            case Result(parts=parts):
                return msgspec.structs.replace(part, parts=tuple(map(fill, parts)))
            case ReceivedFile(data=None, reference=file_id) if file_id.startswith(PREFIX[vendor]):
                file = store.find(file_id)
                if file is None:
                    raise missing(vendor, file_id)
                blind = vendor == "google" and part.place == "tool_result"
                return part if blind else msgspec.structs.replace(part, data=file.data, media_type=file.media_type)
            case _:
                return part

    return msgspec.structs.replace(
        asked, turns=tuple(RequestTurn(turn.role, tuple(map(fill, turn.parts))) for turn in asked.turns)
    )


def reply_hashes(asked: ModelRequest) -> Reply:
    """The mind of a model that only says which bytes it saw, in order."""
    seen = [file.data for turn in asked.turns for file in files_of(turn) if file.data is not None]
    return Reply(" ".join(hashlib.sha256(data).hexdigest()[:8] for data in seen) or "nothing")


def draw_until(count: int) -> Answerer:
    """A mind that calls `draw` so often, and then says what it saw."""

    def mind(asked: ModelRequest) -> Reply:
        calls = [part for turn in asked.turns for part in turn.parts if isinstance(part, Call)]
        last = asked.turns[-1].parts
        output = any(isinstance(part, TextPart) and "look again" in part.text for part in last)
        if output or len(calls) >= count:
            return reply_hashes(asked)
        return Reply("", (Call(f"call{len(calls)}abc", "draw", json.dumps({"number": len(calls)})),))

    return mind


@dataclass
class Host:
    """A host of all providers: every request to it as (method, path, size), and the headers and body of the last one.

    `broken` is answered to every upload, where it is a status.
    """

    mind: Answerer = reply_hashes
    store: Store = field(default_factory=Store)
    broken: int = 0
    requests: list[tuple[str, str, int]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    bodies: list[bytes] = field(default_factory=list)

    def exchange(self, provider: str) -> Exchange:
        vendor = provider.removesuffix("-chat")
        return Exchange(self.send, f"http://host/{vendor}{'/v1' if vendor in {'openai', 'xai'} else ''}", {})

    @asynccontextmanager
    async def send(self, request: HttpRequest) -> AsyncIterator[HttpResponse]:
        parts, method = urlsplit(request.url), request.method
        assert (parts.scheme, parts.netloc) == ("http", "host"), "a key goes to no other host"
        body = b"".join([piece async for piece in request.body()])
        assert request.headers["content-length"] == str(request.size) == str(len(body))
        incoming = IncomingRequest(parts.path, parts.query, request.headers, body)
        self.requests.append((method, parts.path, len(body)))
        self.headers.append(dict(request.headers))
        self.bodies.append(body)
        yield await self.answer(incoming, method)

    async def answer(self, incoming: IncomingRequest, method: str) -> HttpResponse:
        vendor = incoming.path.split("/")[1]
        if self.broken and method == "POST" and "/files" in incoming.path:
            return HttpResponse(self.broken, {}, in_one(b'{"error": {"message": "no uploads today"}}'))
        found = serve_files(incoming, self.store, method)
        if found is not None:
            return found
        return await serve(incoming, lambda asked: self.mind(resolve(asked, self.store, vendor)))

    @property
    def uploads(self) -> list[int]:
        """The sizes of the files' own requests."""
        return [size for method, path, size in self.requests if method == "POST" and "/files" in path]

    @property
    def asked(self) -> list[int]:
        """The sizes of the requests to models."""
        return [size for _, path, size in self.requests if "/files" not in path]
