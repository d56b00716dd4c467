"""Read a body of POST /v1/responses as strictly as OpenAI, Azure and xAI do, with their own error messages."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

import msgspec
from msgspec import Raw

from showandtell.inspector.openai_chat.read import TYPE_NAMES, fill_source, format_error, too_large
from showandtell.inspector.openai_chat.rules import format_path, list_values
from showandtell.inspector.openai_responses import schema as wire
from showandtell.inspector.openai_responses import write
from showandtell.inspector.openai_responses.rules import CHOICES, OPENAI, XAI, Rules, check_body, guess_type
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
    merge_turns,
    read_violation,
)

INPUT_TYPES = "'input_text', 'input_image', and 'input_file'"
#: The types that the API lists for a part type that it does not know (langchainjs #11248).
ALL_TYPES = (
    "'input_text', 'input_image', 'output_text', 'refusal', 'input_file', 'computer_screenshot', 'summary_text', and "
    "'encrypted_content'"
)
SUPPORTED: dict[type[Any], str] = {
    wire.User: INPUT_TYPES,
    wire.FunctionOutput: INPUT_TYPES,
    wire.CustomOutput: INPUT_TYPES,
    wire.Instruction: "'input_text'",
    wire.Assistant: "'output_text' and 'refusal'",
}
ROLES = "'assistant', 'system', 'developer', and 'user'"

Kind = TypeVar("Kind")


def read_body(body: bytes, rules: Rules = OPENAI) -> ModelRequest:
    """Parse a request. Raises `ApiError` if the host would respond with 400 or 404."""
    decoded = _decode(body, wire.Body, "")
    items = _decode_items(decoded.input)
    tools = [tool for at, raw in enumerate(decoded.tools) if (tool := _decode_tool(raw, f"tools[{at}]"))]
    check_body(decoded, items, tools, rules)
    turns = merge_turns([turn for at, item in enumerate(items) for turn in _read_item(item, at)])
    instructions = [_read_text(item.content) for item in items if isinstance(item, wire.Instruction)]
    tools = tuple(OfferedTool(tool.name, tool.description or "", tool.parameters or {}) for tool in tools)
    choice, tools = _read_choice(decoded.tool_choice, tools)
    return ModelRequest(
        model=decoded.model,
        turns=turns or (RequestTurn("user", ()),),
        tools=tools,
        tool_choice=choice,
        system="\n".join([*filter(None, [decoded.instructions]), *instructions]),
        parallel=decoded.parallel_tool_calls is not False,
        stream=bool(decoded.stream),
        stream_usage=True,
        max_tokens=decoded.max_output_tokens,
        answer_schema=_read_format(decoded),
        reasons=decoded.reasoning is not None and decoded.reasoning.effort not in {None, "none"},
    )


def serialize(reply: Reply, request: ModelRequest, name: str) -> Iterator[bytes]:
    """The response: server-sent events or one JSON object."""
    if request.stream:
        return write.serialize_stream(reply, request, name)
    return iter((write.serialize_response(reply, request, name),))


def format_xai_error(error: ApiError) -> bytes:
    """The error format of xAI, with its message for unknown fields (openclaw #12910)."""
    message = error.message
    if error.code == "unknown_parameter":
        message = f"Argument not supported: {error.parameter}"
    return msgspec.json.encode({"code": str(error.status), "error": message})


def _decode(raw: bytes | Raw, kind: type[Kind], place: str) -> Kind:
    try:
        return msgspec.json.decode(raw, type=kind)
    except msgspec.ValidationError as error:
        raise _violation_error(read_violation(error), kind, place) from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        message = "We could not parse the JSON body of your request. (HINT: it isn't valid JSON.)"
        raise ApiError(message) from None


def _decode_items(given: str | list[Raw]) -> list[wire.Item]:
    if isinstance(given, str):
        return [wire.User(role="user", content=given)]
    return [_decode_item(raw, f"input[{at}]") for at, raw in enumerate(given)]


def _decode_item(raw: Raw, place: str) -> wire.Item:
    header = _decode(raw, wire.Peek, place)
    if header.type == "message" or (header.type is None and header.role is not None):
        if header.role not in wire.ROLES:
            raise _unsupported(header.role, ROLES, f"{place}.role")
        return _decode(raw, wire.ROLES[header.role], place)
    if header.type is None:
        return _decode(raw, wire.Reference, place)
    if header.type in wire.HOSTED_CALLS | wire.HOSTED_OUTPUTS:
        return _decode(raw, wire.Hosted, place)
    if header.type not in wire.ITEMS:
        known = sorted({"message", *wire.ITEMS, *wire.HOSTED_CALLS, *wire.HOSTED_OUTPUTS})
        raise _unsupported(header.type, list_values(known), f"{place}.type")
    return _decode(raw, wire.ITEMS[header.type], place)


def _decode_tool(raw: Raw, place: str) -> wire.Tool | None:
    """Decode a function tool. None for a tool that the host provides."""
    header = _decode(raw, wire.Hosted, place)
    if header.type in wire.HOSTED_TOOLS:
        return None
    if header.type != "function":
        raise _unsupported(header.type, list_values(sorted({"function", *wire.HOSTED_TOOLS})), f"{place}.type")
    return _decode(raw, wire.Tool, place)


def _read_choice(choice: str | wire.Choice, tools: tuple[OfferedTool, ...]) -> tuple[str, tuple[OfferedTool, ...]]:
    """`ModelRequest.tool_choice`, and the tools that it allows. Tools that the host provides can't be called here."""
    if isinstance(choice, str):
        return choice if tools or choice not in CHOICES - {"none"} else "auto", tools
    if choice.type == "function" and choice.name is not None:
        return choice.name, tools
    if choice.type != "allowed_tools":
        return "auto", tools
    allowed = {tool.get("name") for tool in choice.tools} if isinstance(choice.tools, list) else set[Any]()
    remaining = tuple(tool for tool in tools if tool.name in allowed)
    return "required" if choice.mode == "required" and remaining else "auto", remaining


def _read_format(body: wire.Body) -> dict[str, Any] | None:
    chosen = body.text.format if isinstance(body.text, wire.TextOptions) else None
    return chosen.schema if isinstance(chosen, wire.SchemaFormat) else None


def _read_text(content: str | Sequence[Any]) -> str:
    """The texts of a message, one per line."""
    if isinstance(content, str):
        return content
    return "\n".join(part.text for part in content if isinstance(part, wire.Text | wire.OutputText))


def _read_item(item: wire.Item, at: int) -> list[RequestTurn]:
    match item:
        case wire.User():
            return [RequestTurn("user", tuple(_read_parts(item.content, f"input[{at}].content", "user", None)))]
        case wire.Assistant():
            text = _read_text(item.content)
            return [RequestTurn("assistant", (TextPart(text),))] if text else []
        case wire.FunctionCall():
            return [RequestTurn("assistant", (Call(item.call_id, item.name, item.arguments),))]
        case wire.CustomCall():
            arguments = msgspec.json.encode({"input": item.input}).decode()
            return [RequestTurn("assistant", (Call(item.call_id, item.name, arguments),))]
        case wire.FunctionOutput() | wire.CustomOutput():
            parts = tuple(_read_parts(item.output, f"input[{at}].output", "tool_result", item.call_id))
            return [RequestTurn("user", (Result(item.call_id, parts, _is_failure(parts)),))]
        case wire.Hosted():
            files = tuple(_read_hosted(item, f"input[{at}]"))
            return [RequestTurn("assistant", files)] if files else []
        case wire.Instruction() | wire.Reasoning() | wire.Reference():
            return []


def _read_hosted(item: wire.Hosted, path: str) -> Iterator[ReceivedFile]:
    """The files that the model or code of the host made."""
    if item.type == "image_generation_call" and item.result:
        media_type = f"image/{item.output_format}"
        yield fill_source(ReceivedFile("answer", "", f"{path}.result"), f"data:{media_type};base64,{item.result}", "")
    for index, output in enumerate(item.outputs or ()):
        if output.url:
            yield fill_source(ReceivedFile("answer", "", f"{path}.outputs[{index}]"), output.url, "image/*")


def _is_failure(parts: Sequence[TextPart | ReceivedFile]) -> bool:
    """Whether a result is `{"error": …}`: the API has no field for failures, so clients write them like this."""
    first = next((part.text for part in parts if isinstance(part, TextPart)), "")
    try:
        return first.startswith('{"error"') and set(msgspec.json.decode(first, type=dict[str, Raw])) == {"error"}
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return False


def _read_parts(
    content: str | Sequence[wire.Input], path: str, place: Place, call_id: str | None
) -> Iterator[TextPart | ReceivedFile]:
    if isinstance(content, str):
        yield from [TextPart(content)] if content else []
        return
    label, piece = "", 0
    for index, part in enumerate(content):
        if isinstance(part, wire.Text):
            label, piece = part.text, 0
            yield TextPart(label)
        else:
            piece += 1
            file = ReceivedFile(place, "", f"{path}[{index}]", call_id=call_id, label=label, piece=piece)
            yield _read_image(part, file) if isinstance(part, wire.Image) else _read_file(part, file)


def _read_image(part: wire.Image, file: ReceivedFile) -> ReceivedFile:
    return fill_source(file, part.image_url or part.file_id or "", "image/*")


def _read_file(part: wire.File, file: ReceivedFile) -> ReceivedFile:
    source = part.file_data or part.file_url or part.file_id or ""
    guess = guess_type(part.filename or part.file_url or "") or "application/pdf"
    return fill_source(file, source, guess, part.filename or "")


def _violation_error(violation: Violation, kind: type[Any], prefix: str) -> ApiError:
    """The error of the API's validator. `prefix` is the path of the decoded object."""
    place = format_path((prefix, *violation.path) if prefix else violation.path)
    name = f"{place}.{violation.detail}".removeprefix(".")
    match violation.kind:
        case "unknown":
            return ApiError(f"Unknown parameter: '{name}'.", parameter=name, code="unknown_parameter")
        case "missing":
            return ApiError(f"Missing required parameter: '{name}'.", parameter=name, code="missing_required_parameter")
        case "type":
            message = (
                f"expected {_expected(violation.detail)}, but got {TYPE_NAMES.get(violation.got, 'another')} instead."
            )
            return ApiError(f"Invalid type for '{place}': {message}", parameter=place, code="invalid_type")
        case "value" if violation.detail == OUT_OF_RANGE:
            message = f"Invalid value for '{place}': expected a finite number."
            return ApiError(message, parameter=place, code="invalid_value")
        case "value":
            nested = kind in SUPPORTED and len(violation.path) == 3 and violation.path[-1] == "type"
            is_known = violation.detail in ALL_TYPES.replace("'", "").replace("and ", "").split(", ")
            allowed = "" if not nested else SUPPORTED[kind] if is_known else ALL_TYPES
            return _unsupported(violation.detail, allowed, place)


def _expected(detail: str) -> str:
    """List types as the API does: one of a string or array of objects."""
    kinds = [TYPE_NAMES.get(kind, kind) for kind in detail.split(" | ") if kind != "null"]
    if len(kinds) == 1:
        return kinds[0]
    names = [re.sub("^an? ", "", kind).replace("array", "array of objects") for kind in kinds]
    return f"one of a {' or '.join(sorted(names, reverse=True))}"


def _unsupported(value: str | None, allowed: str, place: str) -> ApiError:
    message = f"Invalid value: '{value}'." + (f" Supported values are: {allowed}." if allowed else "")
    return ApiError(message, parameter=place, code="invalid_value")


def _reader(rules: Rules) -> Callable[[IncomingRequest], ModelRequest]:
    return lambda incoming: read_body(incoming.body, rules)


def _make_host(base: str, path: str, rules: Rules, refuse: Callable[[ApiError], bytes] = format_error) -> Host:
    return Host(
        base=base,
        path=re.compile(re.escape(path)),
        read=_reader(rules),
        serialize=serialize,
        format_error=refuse,
        max_body=50 * 1024 * 1024,
        too_large=too_large,
    )


HOSTS: tuple[Host, ...] = (
    _make_host("openai", "/v1/responses", OPENAI),
    _make_host("azure", "/openai/v1/responses", OPENAI),
    _make_host("xai", "/v1/responses", XAI, format_xai_error),
)
