"""Read a body of POST /v1/messages as strictly as its api does, and refuse in the api's own words."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec import UNSET

from showandtell.inspector.anthropic import schema as wire
from showandtell.inspector.anthropic import write
from showandtell.inspector.anthropic.rules import check_body
from showandtell.inspector.request import (
    OUT_OF_RANGE,
    Call,
    Fault,
    Host,
    IncomingRequest,
    ModelRequest,
    OfferedTool,
    Place,
    ReceivedFile,
    Refusal,
    Reply,
    RequestTurn,
    Result,
    Words,
    decode_base64,
    fault_of,
    merge_turns,
)

PYDANTIC = {"str": "string", "int": "integer", "float": "number", "bool": "boolean", "array": "list"}

_decoder = msgspec.json.Decoder(wire.Body)


def read_body(body: bytes) -> ModelRequest:
    """Read a whole request. Raises `Refusal` for what the api would answer with 400."""
    try:
        decoded = _decoder.decode(body)
    except msgspec.ValidationError as error:
        raise Refusal(spell_fault(fault_of(error), _read_loosely(body))) from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise Refusal(f"The request body is not valid JSON: {error}") from None
    return read_decoded(decoded)


def read_decoded(decoded: wire.Body) -> ModelRequest:
    """Read a request that fits its types, from whichever host it came. Raises `Refusal` for the rest."""
    check_body(decoded)
    return ModelRequest(
        model=decoded.model,
        turns=merge_turns([_read_message(message, at) for at, message in enumerate(decoded.messages)]),
        tools=tuple(OfferedTool(tool.name, tool.description, tool.input_schema) for tool in decoded.tools),
        tool_choice=_read_choice(decoded.tool_choice),
        system=_join(decoded.system),
        parallel=not getattr(decoded.tool_choice, "disable_parallel_tool_use", False),
        stream=decoded.stream,
        stream_usage=True,
        max_tokens=decoded.max_tokens,
    )


def spell(reply: Reply, asked: ModelRequest, name: str) -> Iterator[bytes]:
    """The answer, streamed or whole."""
    if asked.stream:
        return write.spell_stream(reply, asked.model, name)
    return iter((write.spell_message(reply, asked.model, name),))


def _read_loosely(body: bytes) -> Any:
    """The body as far as its tags are needed; None where a number in it fits no type."""
    try:
        return msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def spell_refusal(refusal: Refusal) -> bytes:
    """The error form of this api."""
    error = {"type": refusal.kind, "message": refusal.message}
    return msgspec.json.encode({"type": "error", "error": error, "request_id": "req_inspector"})


def _join(text: str | list[wire.Text]) -> str:
    return text if isinstance(text, str) else "\n".join(block.text for block in text)


def _read_choice(choice: wire.Auto | wire.AnyTool | wire.OneTool | wire.NoTool | None) -> str:
    match choice:
        case wire.AnyTool():
            return "required"
        case wire.OneTool():
            return choice.name
        case wire.NoTool():
            return "none"
        case wire.Auto() | None:
            return "auto"


def _read_message(message: wire.Message, at: int) -> RequestTurn:
    content = message.content
    blocks = [wire.Text(content)] if isinstance(content, str) else content
    role = "assistant" if message.role == "assistant" else "user"
    return RequestTurn(role, tuple(_read_blocks(blocks, f"messages.{at}.content", "user", None)))


def _read_blocks(
    blocks: list[Any], path: str, place: Place, call_id: str | None
) -> list[Words | ReceivedFile | Call | Result]:
    parts: list[Words | ReceivedFile | Call | Result] = []
    label, piece = "", 0
    for index, block in enumerate(blocks):
        position = f"{path}.{index}"
        match block:
            case wire.Text():
                label, piece = block.text, 0
                parts.append(Words(block.text))
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
        block.tool_use_id, tuple(part for part in parts if isinstance(part, Words | ReceivedFile)), block.is_error
    )


def _read_file(block: wire.Image | wire.Document, seen: ReceivedFile) -> list[Words | ReceivedFile]:
    """Fill in what the source says; `seen` already knows its place and label."""
    named = msgspec.structs.replace(seen, name=getattr(block, "title", None) or "")
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
            inner = _read_blocks(blocks, f"{seen.position}.source.content", seen.place, seen.call_id)
            return [part for part in inner if isinstance(part, Words | ReceivedFile)]


def spell_fault(fault: Fault, body: Any) -> str:
    """Say a fault as the api's own validator does, with the union's tags in the path."""
    if fault.shape == "value" and fault.path[-1:] == ("type",):
        place = _place(fault.path[:-1], body).removesuffix(f".{fault.detail}")
        return f"{place}: Input tag '{fault.detail}' found using 'type' does not match any of the expected tags"
    field = (fault.detail,) if fault.shape in {"unknown", "missing"} else ()
    place = _place((*fault.path, *field), body) or "body"
    match fault.shape:
        case "unknown":
            return f"{place}: Extra inputs are not permitted"
        case "missing":
            return f"{place}: Field required"
        case "value" if fault.detail == OUT_OF_RANGE:
            return f"{place}: Input should be a finite number"
        case "value":
            return f"{place}: Input should be one of the permitted values, not '{fault.detail}'"
        case "type":
            wanted = fault.detail.split(" | ")[-1] if "array" in fault.detail else fault.detail.split(" | ")[0]
            return f"{place}: Input should be a valid {PYDANTIC.get(wanted, 'dictionary')}"


def _place(path: tuple[str | int, ...], body: Any) -> str:
    """A dotted path; a tagged object's tag follows its own step: messages.0.content.1.image.source.base64.data."""
    words: list[str] = []
    here = body
    for step in path:
        words.append(str(step))
        here = _enter(here, step)
        tag = _enter(here, "type")
        if isinstance(tag, str):
            words.append(tag)
    return ".".join(words)


def _enter(here: Any, step: str | int) -> Any:
    """What lies one step down in a JSON value, or None."""
    try:
        return here[step]
    except (LookupError, TypeError):
        return None


def _read(incoming: IncomingRequest) -> ModelRequest:
    return read_body(incoming.body)


def _too_large() -> Refusal:
    return Refusal("Request exceeds the maximum size", status=413, kind="request_too_large")


HOUSES = (
    Host(
        base="anthropic",
        path=re.compile("/v1/messages"),
        read=_read,
        spell=spell,
        refuse=spell_refusal,
        too_large=_too_large,
        unknown="not_found_error",
    ),
)
