"""Read a body of Bedrock's Converse and ConverseStream as strictly as the service does, with its error messages."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec
from msgspec import UNSET
from msgspec.structs import replace

from showandtell.inspector.bedrock import schema as wire
from showandtell.inspector.bedrock import write
from showandtell.inspector.bedrock.errors import format_violation
from showandtell.inspector.bedrock.families import CLAUDE, MEDIA, find_family
from showandtell.inspector.bedrock.rules import LocatedBlock, answer_schema, check_body, locate_blocks
from showandtell.inspector.request import (
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
    decode_base64,
    merge_turns,
)

#: Media types of formats for which `<block>/<format>` is wrong.
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
#: The `reference` of a file that the API accepts but the model doesn't see.
UNSEEN = "blind"
MODEL = re.compile(r"[a-zA-Z0-9.:/_-]{1,2048}")
#: Exceptions by status, from the service model. `ApiError.kind` may name another.
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
    """Parse a request. Raises `ApiError` if the service would respond with 400."""
    if not MODEL.fullmatch(model):
        raise ApiError("The provided model identifier is invalid.")
    try:
        decoded = _decoder.decode(body)
    except msgspec.ValidationError as error:
        raise ApiError(format_violation(error)) from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise ApiError("Malformed input request, please reformat your input and try again.") from None
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
        answer_schema=answer_schema(decoded),
    )


def serialize(reply: Reply, request: ModelRequest, name: str) -> Iterator[bytes]:  # noqa: ARG001 - responses of this API have no id
    """The response: event-stream frames or one JSON object."""
    call_type = find_family(request.model).call_type
    if request.stream:
        return write.serialize_stream(reply, call_type)
    return iter((write.serialize_message(reply, call_type),))


def format_error(error: ApiError) -> bytes:
    """The JSON body of an error. `__type` repeats the header x-amzn-errortype."""
    return msgspec.json.encode({"__type": name_exception(error), "message": error.message})


def name_exception(error: ApiError) -> str:
    """The name of the service's exception for an error."""
    if error.kind.endswith("Exception"):
        return error.kind
    return EXCEPTIONS.get(error.status, "ValidationException")


def _read_turns(messages: Sequence[wire.Message], *, claude: bool) -> Iterator[RequestTurn]:
    for at, message in enumerate(messages):
        if message.role != "system":
            blocks = locate_blocks(message.content, f"messages.{at}.content")
            yield RequestTurn(message.role, tuple(_read_blocks(blocks, "user", None, claude=claude)))


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
    """The instructions, and the content of system messages."""
    later = [content for message in body.messages if message.role == "system" for content in message.content]
    blocks = [*locate_blocks(body.system, ""), *locate_blocks(later, "")]
    return "\n".join(text for block in blocks if (text := _text_of(block)))


def _is_single(fields: dict[str, Any]) -> bool:
    """Whether Claude's own field disables parallel calls. Converse has no field for it."""
    choice = fields.get("tool_choice")
    return isinstance(choice, dict) and choice.get("disable_parallel_tool_use") is True  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType] - a model-specific field of any shape


def _read_blocks(
    blocks: Iterator[LocatedBlock], place: Place, call_id: str | None, *, claude: bool
) -> Iterator[TextPart | ReceivedFile | Call | Result]:
    label, count = "", 0
    for block in blocks:
        if (text := _text_of(block)) is not None:
            label, count = text, 0
            yield TextPart(text)
        elif block.kind in MEDIA:
            count += 1
            file = ReceivedFile(place, "", block.path, call_id=call_id, label=label, piece=count)
            yield _read_file(block, file, claude=claude)
        elif block.kind == "toolUse":
            yield Call(block.value.tool_use_id, block.value.name, msgspec.json.encode(block.value.input).decode())
        elif block.kind == "toolResult":
            yield _read_result(block, claude=claude)


def _read_result(block: LocatedBlock, *, claude: bool) -> Result:
    result: wire.ToolResult = block.value
    inner = locate_blocks(result.content, f"{block.path}.toolResult.content")
    blocks = _read_blocks(inner, "tool_result", result.tool_use_id, claude=claude)
    parts = tuple(part for part in blocks if isinstance(part, TextPart | ReceivedFile))
    return Result(result.tool_use_id, parts, result.status == "error")


def _text_of(block: LocatedBlock) -> str | None:
    """The text of a block, or None."""
    match block.kind, block.value:
        case "text", str() as text:
            return text
        case "json", value:
            return msgspec.json.encode(value).decode()
        case "guardContent", wire.Guard(text=wire.GuardText(text=text)):
            return text
        case "searchResult", wire.SearchResult(title=title, content=content):
            return "\n".join((title, *(passage.text for passage in content)))
        case "citationsContent", wire.CitationsContent(content=list() as content):
            return "".join(str(wire.member_of(passage)[1]) for passage in content)
        case _:
            return None


def _read_file(block: LocatedBlock, file: ReceivedFile, *, claude: bool) -> ReceivedFile:
    """Add the content of the block to `file`, which already has its position and label."""
    value: Any = block.value
    form = value.format
    media_type = MEDIA_TYPES.get((block.kind, form), f"{block.kind}/{form}")
    named = replace(file, media_type=media_type, name=getattr(value, "name", ""))
    match wire.member_of(value.source):
        case "bytes", _ if claude and file.place == "tool_result" and _is_unseen(value):
            return replace(named, reference=UNSEEN)
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
    """Whether Claude can't see it in a tool result: a PDF without citations (recorded 2026-03-16)."""
    match block:
        case wire.Document(format="pdf", citations=wire.Citations(enabled=True)):
            return False
        case _:
            return isinstance(block, wire.Document) and block.format == "pdf"


def _read(incoming: IncomingRequest) -> ModelRequest:
    stream = incoming.groups["verb"] == "converse-stream"
    return read_body(incoming.body, incoming.groups["model"], stream=stream)


def error_headers(error: ApiError) -> Mapping[str, str]:
    """The header with the name of the exception."""
    return {"x-amzn-errortype": name_exception(error)}


HOSTS: tuple[Host, ...] = (
    Host(
        base="bedrock",
        path=re.compile(r"/model/(?P<model>[^/]+)/(?P<verb>converse|converse-stream)"),
        read=_read,
        serialize=serialize,
        format_error=format_error,
        stream_type="application/vnd.amazon.eventstream",
        unknown_path_kind="UnknownOperationException",
        error_headers=error_headers,
    ),
)
