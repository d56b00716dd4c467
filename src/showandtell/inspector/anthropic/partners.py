"""Claude's Messages on two other hosts, Bedrock's InvokeModel and Vertex: the model is in the path, files in base64.

Paths and fields are those that anthropic 2.12's own clients for these hosts send.
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
from showandtell.inspector.anthropic.read import read_decoded, spell, spell_fault, spell_refusal
from showandtell.inspector.bedrock.read import name_in_headers
from showandtell.inspector.bedrock.read import spell_refusal as spell_aws_refusal
from showandtell.inspector.request import Host, IncomingRequest, ModelRequest, Refusal, Reply, fault_of, files_of

#: The versions that each host takes. anthropic 2.12 writes its own, 2026-10-21, for both where the caller says none.
#: Bedrock refuses that for some models (pydantic-ai's note, verified live); of Vertex no refusal was read.
BEDROCK_VERSIONS, VERTEX_VERSIONS = ("bedrock-2023-05-31",), ("vertex-2023-10-16", "2026-10-21")
#: The most bytes of InvokeModel's body, from botocore 1.44.5.
LARGEST_INVOKE = 25_000_000


def read_body(body: bytes, model: str, versions: Sequence[str], *, stream: bool | None) -> ModelRequest:
    """Read a whole request. `stream` is what the path says of it, None where the body does. Raises `Refusal`."""
    fields = _read_fields(body)
    _check_version(fields.pop("anthropic_version", None), versions)
    for field in ("model", *(() if stream is None else ("stream",))):
        if field in fields:
            raise Refusal(f"{field}: Extra inputs are not permitted")
    _check_betas(fields.pop("anthropic_beta", []))
    whole = {**fields, "model": model, "stream": fields.get("stream", False) if stream is None else stream}
    try:
        decoded = msgspec.convert(whole, wire.Body)
    except msgspec.ValidationError as error:
        raise Refusal(spell_fault(fault_of(error), whole)) from None
    return _check_sources(read_decoded(decoded))


def _read_fields(body: bytes) -> dict[str, Any]:
    try:
        return msgspec.json.decode(body, type=dict[str, Any])
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise Refusal(f"The request body is not valid JSON: {error}") from None


def _check_version(said: object, versions: Sequence[str]) -> None:
    if said not in versions:
        raise Refusal("anthropic_version: Field required" if said is None else "Invalid API version")


def _check_betas(betas: object) -> None:
    try:
        msgspec.convert(betas, list[str])
    except msgspec.ValidationError:
        raise Refusal("anthropic_beta: Input should be a valid list") from None


def _check_sources(asked: ModelRequest) -> ModelRequest:
    """Neither host fetches from the web, or knows the files that were uploaded at home."""
    for seen in (seen for turn in asked.turns for seen in files_of(turn) if seen.reference):
        kind = "image" if seen.media_type.startswith("image/") else "document"
        form = "URL" if "://" in seen.reference else "File"
        raise Refusal(f"{seen.position}.{kind}.source.base64.data: {form} sources are not supported")
    return asked


def spell_chunks(reply: Reply, asked: ModelRequest, name: str) -> Iterator[bytes]:
    """The answer, whole, or each event of Claude's stream in a frame of its own."""
    if not asked.stream:
        yield write.spell_message(reply, asked.model, name)
        return
    for event in write.spell_stream(reply, asked.model, name):
        data = event.partition(b"\ndata: ")[2].rstrip(b"\n")
        yield encode("chunk", msgspec.json.encode({"bytes": base64.b64encode(data).decode()}))


def _read_bedrock(incoming: IncomingRequest) -> ModelRequest:
    stream = incoming.groups["verb"] == "invoke-with-response-stream"
    return read_body(incoming.body, incoming.groups["model"], BEDROCK_VERSIONS, stream=stream)


def _read_vertex(incoming: IncomingRequest) -> ModelRequest:
    return read_body(incoming.body, incoming.groups["model"], VERTEX_VERSIONS, stream=None)


HOUSES: tuple[Host, ...] = (
    Host(
        base="anthropic-bedrock",
        path=re.compile(r"/model/(?P<model>[^/]+)/(?P<verb>invoke|invoke-with-response-stream)"),
        read=_read_bedrock,
        spell=spell_chunks,
        refuse=spell_aws_refusal,
        stream_type="application/vnd.amazon.eventstream",
        largest=LARGEST_INVOKE,
        too_large=partial(
            Refusal, "The request body exceeds the maximum size.", status=413, kind="ValidationException"
        ),
        error_headers=name_in_headers,
        unknown="UnknownOperationException",
    ),
    Host(
        base="anthropic-vertex",
        path=re.compile(
            r"/v1/projects/(?P<project>[^/]+)/locations/(?P<location>[^/]+)/publishers/anthropic"
            r"/models/(?P<model>[^/:]+):(?P<verb>rawPredict|streamRawPredict)"
        ),
        read=_read_vertex,
        spell=spell,
        refuse=spell_refusal,
        unknown="not_found_error",
    ),
)
