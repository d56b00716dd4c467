"""Read a body of Bedrock's Converse and ConverseStream as strictly as the service does, and refuse in its own words."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec
from msgspec import UNSET
from msgspec.structs import replace

from showandtell.inspector.bedrock import schema as wire
from showandtell.inspector.bedrock import write
from showandtell.inspector.bedrock.errors import spell_fault
from showandtell.inspector.bedrock.families import CLAUDE, MEDIA, find_family
from showandtell.inspector.bedrock.rules import Piece, check_body, pieces_of
from showandtell.inspector.request import (
    Call,
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
    merge_turns,
)

#: Media types by the api's words for formats, where they aren't `<block>/<format>`.
MEDIA_TYPES = {
    ("document", "pdf"): "application/pdf",
    ("document", "csv"): "text/csv",
    ("document", "doc"): "application/msword",
    ("document", "docx"): "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    ("document", "xls"): "application/vnd.ms-excel",
    ("document", "xlsx"): "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    ("document", "html"): "text/html",
    ("document", "txt"): "text/plain",
    ("document", "md"): "text/markdown",
    ("video", "mkv"): "video/x-matroska",
    ("video", "mov"): "video/quicktime",
    ("video", "mpg"): "video/mpeg",
    ("video", "flv"): "video/x-flv",
    ("video", "wmv"): "video/x-ms-wmv",
    ("video", "three_gp"): "video/3gpp",
    ("audio", "mp3"): "audio/mpeg",
    ("audio", "mpga"): "audio/mpeg",
    ("audio", "m4a"): "audio/mp4",
    ("audio", "x-aac"): "audio/aac",
    ("audio", "mka"): "audio/x-matroska",
    ("audio", "mkv"): "audio/x-matroska",
}
#: What stands for the bytes of a file that the api takes and the model doesn't see.
BLIND = "blind"
MODEL = re.compile(r"[a-zA-Z0-9.:/_-]{1,2048}")
#: Exceptions by status, from the service model; a refusal may name another.
EXCEPTIONS = {
    403: "AccessDeniedException",
    404: "ResourceNotFoundException",
    408: "ModelTimeoutException",
    424: "ModelErrorException",
    429: "ThrottlingException",
    500: "InternalServerException",
    503: "ServiceUnavailableException",
}

_decoder = msgspec.json.Decoder(wire.Body)


def read_body(body: bytes, model: str, *, stream: bool) -> ModelRequest:
    """Read a whole request. Raises `Refusal` for what the service would answer with 400."""
    if not MODEL.fullmatch(model):
        raise Refusal("The provided model identifier is invalid.")
    try:
        decoded = _decoder.decode(body)
    except msgspec.ValidationError as error:
        raise Refusal(spell_fault(error)) from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise Refusal("Malformed input request, please reformat your input and try again.") from None
    check_body(decoded, model)
    config = None if decoded.tool_config is UNSET else decoded.tool_config
    maximum = UNSET if decoded.inference_config is UNSET else decoded.inference_config.max_tokens
    return ModelRequest(
        model=model,
        turns=merge_turns(list(_read_turns(decoded.messages, claude=find_family(model) is CLAUDE))),
        tools=tuple(_read_tools(config.tools)) if config else (),
        tool_choice=_read_choice(config),
        system=_read_system(decoded),
        parallel=not _is_single(decoded.additional_model_request_fields),
        stream=stream,
        stream_usage=True,
        max_tokens=None if maximum is UNSET else maximum,
    )


def spell(reply: Reply, asked: ModelRequest, name: str) -> Iterator[bytes]:  # noqa: ARG001 - this api's answers have no id
    """The answer, streamed or whole."""
    return write.spell_stream(reply) if asked.stream else iter((write.spell_answer(reply),))


def spell_refusal(refusal: Refusal) -> bytes:
    """The error form of this api; `__type` says what the header x-amzn-errortype says besides."""
    return msgspec.json.encode({"__type": name_exception(refusal), "message": refusal.message})


def name_exception(refusal: Refusal) -> str:
    """The service's name for a refusal."""
    if refusal.kind.endswith("Exception"):
        return refusal.kind
    return EXCEPTIONS.get(refusal.status, "ValidationException")


def _read_turns(messages: Sequence[wire.Message], *, claude: bool) -> Iterator[RequestTurn]:
    for at, message in enumerate(messages):
        if message.role != "system":
            pieces = pieces_of(message.content, f"messages.{at}.content")
            yield RequestTurn(message.role, tuple(_read_pieces(pieces, "user", None, claude=claude)))


def _read_tools(tools: Sequence[wire.Tool]) -> Iterator[OfferedTool]:
    for tool in tools:
        kind, spec = wire.member_of(tool)
        if kind == "toolSpec":
            yield OfferedTool(spec.name, "" if spec.description is UNSET else spec.description, spec.input_schema.json)


def _read_choice(config: wire.ToolConfig | None) -> str:
    if config is None or config.tool_choice is UNSET:
        return "auto"
    match wire.member_of(config.tool_choice):
        case "any", _:
            return "required"
        case "tool", tool:
            return str(tool.name)
        case _:
            return "auto"


def _read_system(body: wire.Body) -> str:
    """The instructions, and what the system says between messages."""
    later = [block for message in body.messages if message.role == "system" for block in message.content]
    pieces = [*pieces_of(body.system, ""), *pieces_of(later, "")]
    return "\n".join(text for piece in pieces if (text := _text_of(piece)))


def _is_single(fields: dict[str, Any]) -> bool:
    """Whether Claude's own field forbids several calls at once; Converse has no word of its own for it."""
    choice = fields.get("tool_choice")
    return isinstance(choice, dict) and choice.get("disable_parallel_tool_use") is True  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType] - a field of the model's, of any shape


def _read_pieces(
    pieces: Iterator[Piece], place: Place, call_id: str | None, *, claude: bool
) -> Iterator[Words | ReceivedFile | Call | Result]:
    label, count = "", 0
    for piece in pieces:
        if (text := _text_of(piece)) is not None:
            label, count = text, 0
            yield Words(text)
        elif piece.kind in MEDIA:
            count += 1
            seen = ReceivedFile(place, "", piece.path, call_id=call_id, label=label, piece=count)
            yield _read_file(piece, seen, claude=claude)
        elif piece.kind == "toolUse":
            yield Call(piece.value.tool_use_id, piece.value.name, msgspec.json.encode(piece.value.input).decode())
        elif piece.kind == "toolResult":
            yield _read_result(piece, claude=claude)


def _read_result(piece: Piece, *, claude: bool) -> Result:
    result: wire.ToolResult = piece.value
    inner = pieces_of(result.content, f"{piece.path}.toolResult.content")
    parts = _read_pieces(inner, "tool_result", result.tool_use_id, claude=claude)
    held = tuple(part for part in parts if isinstance(part, Words | ReceivedFile))
    return Result(result.tool_use_id, held, result.status == "error")


def _text_of(piece: Piece) -> str | None:
    """The words of a block that has some."""
    match piece.kind, piece.value:
        case "text", str() as text:
            return text
        case "json", value:
            return msgspec.json.encode(value).decode()
        case "guardContent", wire.Guard(text=wire.GuardText(text=text)):
            return text
        case "searchResult", wire.SearchResult(title=title, content=content):
            return "\n".join((title, *(found.text for found in content)))
        case "citationsContent", wire.Cited(content=list() as content):
            return "".join(str(wire.member_of(found)[1]) for found in content)
        case _:
            return None


def _read_file(piece: Piece, seen: ReceivedFile, *, claude: bool) -> ReceivedFile:
    """Fill in what the block says; `seen` already knows its place and label."""
    block: Any = piece.value
    form = block.format
    media_type = MEDIA_TYPES.get((piece.kind, form), f"{piece.kind}/{form}")
    named = replace(seen, media_type=media_type, name=getattr(block, "name", ""))
    match wire.member_of(block.source):
        case "bytes", _ if claude and seen.place == "tool_result" and _is_unseen(block):
            return replace(named, reference=BLIND)
        case "bytes", data:
            return replace(named, data=decode_base64(data))
        case "text", text:
            return replace(named, media_type="text/plain", data=text.encode())
        case "content", content:
            text = "\n".join(str(wire.member_of(part)[1]) for part in content)
            return replace(named, media_type="text/plain", data=text.encode())
        case _, location:
            return replace(named, reference=location.uri)


def _is_unseen(block: wire.Image | wire.Document | wire.Video | wire.Audio) -> bool:
    """Whether Claude is blind for it in a tool result: a PDF without citations (recorded 2026-03-16)."""
    match block:
        case wire.Document(format="pdf", citations=wire.Citations(enabled=True)):
            return False
        case _:
            return isinstance(block, wire.Document) and block.format == "pdf"


def _read(incoming: IncomingRequest) -> ModelRequest:
    stream = incoming.groups["verb"] == "converse-stream"
    return read_body(incoming.body, incoming.groups["model"], stream=stream)


def name_in_headers(refusal: Refusal) -> Mapping[str, str]:
    """Where AWS says the name of an error."""
    return {"x-amzn-errortype": name_exception(refusal)}


HOUSES: tuple[Host, ...] = (
    Host(
        base="bedrock",
        path=re.compile(r"/model/(?P<model>[^/]+)/(?P<verb>converse|converse-stream)"),
        read=_read,
        spell=spell,
        refuse=spell_refusal,
        stream_type="application/vnd.amazon.eventstream",
        unknown="UnknownOperationException",
        error_headers=name_in_headers,
    ),
)
