"""Read a body of POST /v1/messages as strictly as the API does, with the API's own error messages."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec import UNSET

from showandtell.inspector.anthropic import schema as wire
from showandtell.inspector.anthropic import write
from showandtell.inspector.anthropic.rules import answer_schema, check_body, is_thinking
from showandtell.inspector.request import (
    OUT_OF_RANGE,
    ApiError,
    Call,
    Host,
    IncomingRequest,
    ModelRequest,
    OfferedTool,
    Place,
    ReceivedFile,
    Reply,
    RequestTurn,
    Result,
    TextPart,
    Violation,
    decode_base64,
    merge_turns,
    read_violation,
)

PYDANTIC_TYPES = {"str": "string", "int": "integer", "float": "number", "bool": "boolean", "array": "list"}

_decoder = msgspec.json.Decoder(wire.Body)


def read_body(body: bytes) -> ModelRequest:
    """Parse a request. Raises `ApiError` if the API would respond with 400."""
    try:
        decoded = _decoder.decode(body)
    except msgspec.ValidationError as error:
        raise ApiError(format_violation(read_violation(error), _read_loosely(body))) from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ApiError(f"The request body is not valid JSON: {error}") from None
    return read_decoded(decoded)


def read_decoded(decoded: wire.Body) -> ModelRequest:
    """Convert a well-typed body, from any host. Raises `ApiError` if it breaks a rule."""
    check_body(decoded)
    return ModelRequest(
        model=decoded.model,
        turns=merge_turns([_read_message(message, at) for at, message in enumerate(decoded.messages)]),
        tools=tuple(
            OfferedTool(tool.name, tool.description, tool.input_schema)
            for tool in decoded.tools
            if tool.input_schema is not None
        ),
        tool_choice=_read_choice(decoded.tool_choice),
        system=_join(decoded.system),
        parallel=not getattr(decoded.tool_choice, "disable_parallel_tool_use", False),
        stream=decoded.stream,
        stream_usage=True,
        max_tokens=decoded.max_tokens,
        answer_schema=answer_schema(decoded),
        reasons=is_thinking(decoded),
    )


def serialize(reply: Reply, request: ModelRequest, name: str) -> Iterator[bytes]:
    """The response: server-sent events or one JSON object."""
    if request.stream:
        return write.serialize_stream(reply, request.model, name)
    return iter((write.serialize_message(reply, request.model, name),))


def _read_loosely(body: bytes) -> Any:
    """The body without types, to look up tags. None if it holds a number out of range."""
    try:
        return msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def format_error(error: ApiError) -> bytes:
    """The JSON body of an error response."""
    fields = {"type": error.kind, "message": error.message}
    return msgspec.json.encode({"type": "error", "error": fields, "request_id": "req_inspector"})


def _join(text: str | list[wire.Text]) -> str:
    return text if isinstance(text, str) else "\n".join(block.text for block in text)


def _read_choice(
    choice: wire.AutoToolChoice | wire.AnyToolChoice | wire.NamedToolChoice | wire.NoToolChoice | None,
) -> str:
    match choice:
        case wire.AnyToolChoice():
            return "required"
        case wire.NamedToolChoice():
            return choice.name
        case wire.NoToolChoice():
            return "none"
        case wire.AutoToolChoice() | None:
            return "auto"


def _read_message(message: wire.Message, at: int) -> RequestTurn:
    content = message.content
    blocks = [wire.Text(content)] if isinstance(content, str) else content
    role = "assistant" if message.role == "assistant" else "user"
    return RequestTurn(role, tuple(_read_blocks(blocks, f"messages.{at}.content", "user", None)))


def _read_blocks(
    blocks: list[Any], path: str, place: Place, call_id: str | None
) -> list[TextPart | ReceivedFile | Call | Result]:
    parts: list[TextPart | ReceivedFile | Call | Result] = []
    label, piece = "", 0
    for index, block in enumerate(blocks):
        position = f"{path}.{index}"
        match block:
            case wire.Text():
                label, piece = block.text, 0
                parts.append(TextPart(block.text))
            case wire.Image() | wire.Document():
                piece += 1
                parts += _read_file(block, ReceivedFile(place, "", position, call_id=call_id, label=label, piece=piece))
            case wire.ToolUse():
                parts.append(Call(block.id, block.name, msgspec.json.encode(block.input).decode()))
            case wire.ToolResult():
                parts.append(_read_result(block, position))
            case _:
                continue
    return parts


def _read_result(block: wire.ToolResult, position: str) -> Result:
    content = block.content
    if content is UNSET:
        return Result(block.tool_use_id, (), block.is_error)
    blocks: list[Any] = [wire.Text(content)] if isinstance(content, str) else content
    parts = _read_blocks(blocks, f"{position}.content", "tool_result", block.tool_use_id)
    return Result(
        block.tool_use_id, tuple(part for part in parts if isinstance(part, TextPart | ReceivedFile)), block.is_error
    )


def _read_file(block: wire.Image | wire.Document, file: ReceivedFile) -> list[TextPart | ReceivedFile]:
    """Add the content of the source to `file`, which already has its position and label."""
    named = msgspec.structs.replace(file, name=getattr(block, "title", None) or "")
    guess = "image/*" if isinstance(block, wire.Image) else "application/pdf"
    match block.source:
        case wire.Base64(media_type=media_type, data=data):
            return [msgspec.structs.replace(named, media_type=media_type, data=decode_base64(data))]
        case wire.PlainText(data=data):
            return [msgspec.structs.replace(named, media_type="text/plain", data=data.encode())]
        case wire.Url(url=reference) | wire.FileId(file_id=reference):
            return [msgspec.structs.replace(named, media_type=guess, reference=reference)]
        case wire.Content(content=content):
            blocks: list[Any] = [wire.Text(content)] if isinstance(content, str) else content
            inner = _read_blocks(blocks, f"{file.position}.source.content", file.place, file.call_id)
            return [part for part in inner if isinstance(part, TextPart | ReceivedFile)]


def format_violation(violation: Violation, body: Any) -> str:
    """The message of the API's validator, with union tags in the path."""
    if violation.kind == "value" and violation.path[-1:] == ("type",):
        place = _place(violation.path[:-1], body).removesuffix(f".{violation.detail}")
        return f"{place}: Input tag '{violation.detail}' found using 'type' does not match any of the expected tags"
    field = (violation.detail,) if violation.kind in {"unknown", "missing"} else ()
    place = _place((*violation.path, *field), body) or "body"
    match violation.kind:
        case "unknown":
            return f"{place}: Extra inputs are not permitted"
        case "missing":
            return f"{place}: Field required"
        case "value" if violation.detail == OUT_OF_RANGE:
            return f"{place}: Input should be a finite number"
        case "value":
            return f"{place}: Input should be one of the permitted values, not '{violation.detail}'"
        case "type":
            wanted = (
                violation.detail.split(" | ")[-1] if "array" in violation.detail else violation.detail.split(" | ")[0]
            )
            return f"{place}: Input should be a valid {PYDANTIC_TYPES.get(wanted, 'dictionary')}"


def _place(path: tuple[str | int, ...], body: Any) -> str:
    """A dotted path. The tag of a tagged object follows its step: messages.0.content.1.image.source.base64.data."""
    words: list[str] = []
    value = body
    for step in path:
        words.append(str(step))
        value = _get_step(value, step)
        tag = _get_step(value, "type")
        if isinstance(tag, str):
            words.append(tag)
    return ".".join(words)


def _get_step(value: Any, step: str | int) -> Any:
    """The element of a JSON value at a key or index, or None."""
    try:
        return value[step]
    except (LookupError, TypeError):
        return None


def _read(incoming: IncomingRequest) -> ModelRequest:
    return read_body(incoming.body)


def _too_large() -> ApiError:
    return ApiError("Request exceeds the maximum size", status=413, kind="request_too_large")


HOSTS = (
    Host(
        base="anthropic",
        path=re.compile("/v1/messages"),
        read=_read,
        serialize=serialize,
        format_error=format_error,
        too_large=_too_large,
        unknown_path_kind="not_found_error",
    ),
)
