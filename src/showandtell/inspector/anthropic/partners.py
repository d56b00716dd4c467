"""Anthropic's Messages API on Bedrock (InvokeModel) and Vertex: the model is in the path, files are base64.

Paths and fields are those of the clients for these hosts in anthropic 2.12.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import msgspec

from showandtell.core.wire.aws_eventstream import encode
from showandtell.inspector.anthropic import schema as wire
from showandtell.inspector.anthropic import write
from showandtell.inspector.anthropic.read import format_error, format_violation, read_decoded, serialize
from showandtell.inspector.bedrock.read import error_headers
from showandtell.inspector.bedrock.read import format_error as format_aws_error
from showandtell.inspector.request import ApiError, Host, IncomingRequest, ModelRequest, Reply, files_of, read_violation

#: The versions that each host accepts. anthropic 2.12 sends 2026-10-21 to both by default. Bedrock rejects that for
#: some models (pydantic-ai's note, verified live). No rejection by Vertex is known.
BEDROCK_VERSIONS, VERTEX_VERSIONS = ("bedrock-2023-05-31",), ("vertex-2023-10-16", "2026-10-21")
#: Maximum bytes of InvokeModel's body, from botocore 1.44.5.
MAX_INVOKE_BODY = 25_000_000


def read_body(body: bytes, model: str, versions: Sequence[str], *, stream: bool | None) -> ModelRequest:
    """Parse a request. `stream` comes from the path, or is None if the body has it. Raises `ApiError`."""
    fields = _read_fields(body)
    _check_version(fields.pop("anthropic_version", None), versions)
    for field in ("model", *(() if stream is None else ("stream",))):
        if field in fields:
            raise ApiError(f"{field}: Extra inputs are not permitted")
    _check_betas(fields.pop("anthropic_beta", []))
    complete = {**fields, "model": model, "stream": fields.get("stream", False) if stream is None else stream}
    try:
        decoded = msgspec.convert(complete, wire.Body)
    except msgspec.ValidationError as error:
        raise ApiError(format_violation(read_violation(error), complete)) from None
    return _check_sources(read_decoded(decoded))


def _read_fields(body: bytes) -> dict[str, Any]:
    try:
        return msgspec.json.decode(body, type=dict[str, Any])
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ApiError(f"The request body is not valid JSON: {error}") from None


def _check_version(version: object, versions: Sequence[str]) -> None:
    if version not in versions:
        raise ApiError("anthropic_version: Field required" if version is None else "Invalid API version")


def _check_betas(betas: object) -> None:
    try:
        msgspec.convert(betas, list[str])
    except msgspec.ValidationError:
        raise ApiError("anthropic_beta: Input should be a valid list") from None


def _check_sources(request: ModelRequest) -> ModelRequest:
    """Reject references: neither host fetches URLs or has files uploaded to Anthropic."""
    for file in (file for turn in request.turns for file in files_of(turn) if file.reference):
        kind = "image" if file.media_type.startswith("image/") else "document"
        form = "URL" if "://" in file.reference else "File"
        raise ApiError(f"{file.position}.{kind}.source.base64.data: {form} sources are not supported")
    return request


def serialize_chunks(reply: Reply, request: ModelRequest, name: str) -> Iterator[bytes]:
    """The response: one JSON message, or a frame per event of the stream."""
    if not request.stream:
        yield write.serialize_message(reply, request.model, name)
        return
    for event in write.serialize_stream(reply, request.model, name):
        data = event.partition(b"\ndata: ")[2].rstrip(b"\n")
        yield encode("chunk", msgspec.json.encode({"bytes": base64.b64encode(data).decode()}))


def _read_bedrock(incoming: IncomingRequest) -> ModelRequest:
    stream = incoming.groups["verb"] == "invoke-with-response-stream"
    return read_body(incoming.body, incoming.groups["model"], BEDROCK_VERSIONS, stream=stream)


def _read_vertex(incoming: IncomingRequest) -> ModelRequest:
    return read_body(incoming.body, incoming.groups["model"], VERTEX_VERSIONS, stream=None)


HOSTS: tuple[Host, ...] = (
    Host(
        base="anthropic-bedrock",
        path=re.compile(r"/model/(?P<model>[^/]+)/(?P<verb>invoke|invoke-with-response-stream)"),
        read=_read_bedrock,
        serialize=serialize_chunks,
        format_error=format_aws_error,
        stream_type="application/vnd.amazon.eventstream",
        max_body=MAX_INVOKE_BODY,
        too_large=partial(
            ApiError, "The request body exceeds the maximum size.", status=413, kind="ValidationException"
        ),
        error_headers=error_headers,
        unknown_path_kind="UnknownOperationException",
    ),
    Host(
        base="anthropic-vertex",
        path=re.compile(
            r"/v1/projects/(?P<project>[^/]+)/locations/(?P<location>[^/]+)/publishers/anthropic"
            r"/models/(?P<model>[^/:]+):(?P<verb>rawPredict|streamRawPredict)"
        ),
        read=_read_vertex,
        serialize=serialize,
        format_error=format_error,
        unknown_path_kind="not_found_error",
    ),
)
