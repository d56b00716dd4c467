"""Read a body of POST /v1/chat/completions as strictly as the API does, with the API's own error messages."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial

import msgspec
from msgspec import UNSET

from showandtell.inspector.openai_chat import schema as wire
from showandtell.inspector.openai_chat import write
from showandtell.inspector.openai_chat.file_rules import audio_type, read_data_url
from showandtell.inspector.openai_chat.rules import (
    Path,
    Rules,
    answer_format,
    check_body,
    format_path,
    list_values,
    parts_of,
)
from showandtell.inspector.openai_chat.write import DEFAULT_STYLE, ReplyStyle
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

TYPE_NAMES = {"str": "a string", "int": "an integer", "float": "a decimal", "bool": "a boolean", "array": "an array",
         "object": "an object", "null": "null"}  # fmt: skip
ROLES = "'system', 'assistant', 'user', 'function', 'tool', and 'developer'"
TYPES = "'text', 'image_url', 'input_audio', 'refusal', 'audio', and 'file'"

#: OpenAI's type of fields for which some hosts accept another type.
OPENAI_FORMS = {"image_url": "object", "input_audio": "object", "arguments": "str"}
#: Body fields whose types are checked.
BODY_FIELDS = frozenset(wire.Body.__struct_fields__)

_decoder = msgspec.json.Decoder(wire.Body)
_outline = msgspec.json.Decoder(dict[str, msgspec.Raw])


def openai_error(violation: Violation, types: str = TYPES) -> ApiError:
    """The error of OpenAI's validator. `types` are the part types that it lists for an unknown one."""
    place = format_path(violation.path)
    match violation.kind:
        case "unknown":
            name = f"{place}.{violation.detail}" if place else violation.detail
            message = f"Unknown parameter: '{name}'." if place else f"Unrecognized request argument supplied: {name}"
            return ApiError(message, parameter=name if place else None, code="unknown_parameter" if place else None)
        case "missing":
            name = f"{place}.{violation.detail}" if place else violation.detail
            return ApiError(f"Missing required parameter: '{name}'.", parameter=name, code="missing_required_parameter")
        case "type":
            expected = " or ".join(TYPE_NAMES.get(kind, kind) for kind in violation.detail.split(" | "))
            message = f"expected {_join_types(expected)}, but got {TYPE_NAMES.get(violation.got, 'another')} instead."
            return ApiError(f"Invalid type for '{place}': {message}", parameter=place, code="invalid_type")
        case "value" if violation.detail == OUT_OF_RANGE:
            message = f"Invalid value for '{place}': expected a finite number."
            return ApiError(message, parameter=place, code="invalid_value")
        case "value":
            allowed = {"role": ROLES, "type": types}.get(str(violation.path[-1]) if violation.path else "", "")
            message = f"Invalid value: '{violation.detail}'." + (
                f" Supported values are: {allowed}." if allowed else ""
            )
            return ApiError(message, parameter=place, code="invalid_value")


def openai_error_with(*types: str) -> Callable[[Violation], ApiError]:
    """`openai_error` with the part types of another host."""
    return partial(openai_error, types=list_values(types))


CACHE_OPTIONS = frozenset(f"{kind}.prompt_cache_breakpoint" for kind in ("text", "image_url", "input_audio", "file"))
OPENAI = Rules(
    fields=BODY_FIELDS,
    options=CACHE_OPTIONS
    | {f"{role}.name" for role in ("system", "developer", "user", "assistant")}
    | {"assistant.refusal", "assistant.audio", "stream_options.include_usage", "stream_options.include_obfuscation"},
    call_id=40,
    violation_error=openai_error,
)


def read_body(body: bytes, rules: Rules = OPENAI) -> ModelRequest:
    """Parse a request. Raises `ApiError` if the host would respond with 4xx."""
    decoded = _decode(body, rules)
    check_body(decoded, rules)
    tools = [] if decoded.tools is UNSET else decoded.tools
    return ModelRequest(
        model=decoded.model,
        turns=_read_turns(decoded, rules),
        tools=tuple(OfferedTool(t.function.name, t.function.description, t.function.parameters or {}) for t in tools),
        tool_choice=_read_choice(decoded.tool_choice),
        system="\n".join(
            _text(m.content) for m in decoded.messages if isinstance(m, wire.SystemMessage | wire.DeveloperMessage)
        ),
        parallel=decoded.parallel_tool_calls,
        stream=bool(decoded.stream),
        stream_usage=decoded.stream_options is not None and decoded.stream_options.include_usage is True,
        max_tokens=decoded.max_completion_tokens or decoded.max_tokens,
        answer_schema=(answer_format(decoded) or {}).get("schema"),
        reasons=rules.reasons,
    )


def _decode(body: bytes, rules: Rules) -> wire.Body:
    try:
        return _decoder.decode(_select(body, rules))
    except msgspec.ValidationError as error:
        raise rules.violation_error(_narrow(read_violation(error), rules)) from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        message = "We could not parse the JSON body of your request. (HINT: it isn't valid JSON.)"
        raise ApiError(message) from None


def _select(body: bytes, rules: Rules) -> bytes:
    """The body with the fields that the host reads and that are checked here. Raises `ApiError` for unknown fields."""
    arguments = _outline.decode(body)
    for name in arguments:
        if name not in rules.fields and not rules.ignores_unknown:
            raise rules.violation_error(Violation("unknown", (), name))
    known = arguments.keys() & rules.fields & BODY_FIELDS
    return (
        body if known == arguments.keys() else msgspec.json.encode({n: v for n, v in arguments.items() if n in known})
    )


def _narrow(violation: Violation, rules: Rules) -> Violation:
    """Name only the type that this host accepts if the schema also lists another host's type."""
    field = str(violation.path[-1]) if violation.path else ""
    if violation.kind != "type" or field not in OPENAI_FORMS or field in rules.alternate_forms:
        return violation
    return msgspec.structs.replace(violation, detail=OPENAI_FORMS[field])


def serialize(reply: Reply, request: ModelRequest, name: str, style: ReplyStyle = DEFAULT_STYLE) -> Iterator[bytes]:
    """The response in the host's style: server-sent events or one JSON object."""
    if request.stream:
        return write.serialize_stream(reply, request.model, name, usage=request.stream_usage, style=style)
    return iter((write.serialize_completion(reply, request.model, name, style),))


def format_error(error: ApiError) -> bytes:
    """The JSON body of an error response."""
    fields = {
        "message": error.message,
        "type": error.kind,
        "param": error.parameter,
        "code": error.code,
    }
    return msgspec.json.encode({"error": fields})


def _read_choice(choice: str | wire.NamedToolChoice | msgspec.UnsetType) -> str:
    match choice:
        case "any":
            return "required"
        case str():
            return choice
        case wire.NamedToolChoice():
            return choice.function.name
        case msgspec.UnsetType():
            return "auto"


def _text(content: str | list[wire.AnyPart] | None) -> str:
    if content is None or isinstance(content, str):
        return content or ""
    return "\n".join(part.text for part in content if isinstance(part, wire.Text))


def _read_turns(body: wire.Body, rules: Rules) -> tuple[RequestTurn, ...]:
    """The turns. Files that the host moves out of tool results follow all results of their step."""
    turns: list[RequestTurn] = []
    moved: tuple[TextPart | ReceivedFile, ...] = ()
    for at, message in enumerate(body.messages):
        if not isinstance(message, wire.ToolMessage) and moved:
            turns.append(RequestTurn("user", moved))
            moved = ()
        turn = _read_message(message, ("messages", at, "content"))
        if isinstance(message, wire.ToolMessage) and rules.native_models.match(body.model) is None:
            turn, files = _move_files(turn)
            moved += files
        turns += [turn] if turn else []
    return merge_turns([*turns, RequestTurn("user", moved)] if moved else turns)


def _move_files(turn: RequestTurn | None) -> tuple[RequestTurn | None, tuple[TextPart | ReceivedFile, ...]]:
    """Split a turn with one result into the turn without its files, and the files as user parts."""
    if turn is None or not isinstance(result := turn.parts[0], Result):
        return turn, ()
    message = tuple(part for part in result.parts if isinstance(part, TextPart))
    files = [part for part in result.parts if isinstance(part, ReceivedFile)]
    moved = tuple(msgspec.structs.replace(file, place="user", call_id=None) for file in files)
    return RequestTurn("user", (msgspec.structs.replace(result, parts=message),)), moved


def _read_message(message: wire.Message, path: Path) -> RequestTurn | None:
    match message:
        case wire.UserMessage(content=str(text)):
            return RequestTurn("user", (TextPart(text),))
        case wire.UserMessage():
            return RequestTurn("user", _read_parts(parts_of(message), path, "user", None))
        case wire.ToolMessage():
            return RequestTurn("user", (Result(message.tool_call_id, _read_result(message, path)),))
        case wire.AssistantMessage():
            calls = [] if message.tool_calls is UNSET else message.tool_calls
            text = _text(message.content)
            return RequestTurn("assistant", (*([TextPart(text)] if text else []), *map(_read_call, calls)))
        case wire.SystemMessage() | wire.DeveloperMessage():
            return None


def _read_call(call: wire.ToolCall) -> Call:
    arguments = call.function.arguments
    return Call(
        call.id,
        call.function.name,
        arguments if isinstance(arguments, str) else msgspec.json.encode(arguments).decode(),
    )


def _read_result(message: wire.ToolMessage, path: Path) -> tuple[TextPart | ReceivedFile, ...]:
    parts = _read_parts(parts_of(message), path, "tool_result", message.tool_call_id)
    if any(isinstance(part, ReceivedFile) for part in parts):
        return parts
    text = _text(message.content)
    return (TextPart(text),) if text else ()


def _read_parts(
    parts: Sequence[wire.AnyPart], path: Path, place: Place, call_id: str | None
) -> tuple[TextPart | ReceivedFile, ...]:
    read: list[TextPart | ReceivedFile] = []
    label, piece = "", 0
    for index, part in enumerate(parts):
        match part:
            case wire.Text():
                label, piece = part.text, 0
                read.append(TextPart(label))
            case wire.JsonDocument():
                read.append(TextPart(msgspec.json.encode(part.document).decode()))
            case wire.RefusalPart() | wire.Thinking():
                continue
            case _:
                piece += 1
                file = _read_file(part, ReceivedFile(place, "", format_path((*path, index)), call_id=call_id))
                read.append(msgspec.structs.replace(file, label=label, piece=piece))
    return tuple(read)


def _read_file(
    part: wire.Image | wire.Audio | wire.File | wire.DocumentUrl | wire.Video, file: ReceivedFile
) -> ReceivedFile:
    """Add the content of the part to `file`, which already has its position."""
    match part:
        case wire.Image(image_url=image):
            return fill_source(file, image if isinstance(image, str) else image.url, "image/*")
        case wire.Video():
            return fill_source(file, part.video_url.url, "video/*")
        case wire.DocumentUrl():
            return fill_source(file, part.document_url, "application/pdf", part.document_name or "")
        case wire.Audio(input_audio=str(text)):
            return _fill_audio(file, text)
        case wire.Audio(input_audio=wire.AudioData() as audio):
            return _fill_audio(file, audio.data, audio.format)
        case wire.File(file=wire.FileData() as data):
            name = data.filename if data.filename is not UNSET else ""
            source = data.file_data if data.file_data is not UNSET else data.file_id
            return fill_source(file, str(source), "application/pdf", name)
        case wire.File():
            return fill_source(file, str(part.file_id), "application/pdf")
        case _:
            raise TypeError(f"{file.position} is not a file")


def _fill_audio(file: ReceivedFile, text: str, form: str = "audio") -> ReceivedFile:
    media_type = audio_type(text, form)
    if media_type is None:
        return msgspec.structs.replace(file, media_type="audio/*", reference=text)
    return msgspec.structs.replace(file, media_type=media_type, data=decode_base64(text))


def fill_source(file: ReceivedFile, url: str, guess: str, name: str | msgspec.UnsetType = "") -> ReceivedFile:
    """Add the bytes of a data URL, or any other URL or id as reference, to `file`."""
    named = msgspec.structs.replace(file, name=name or "")
    found = read_data_url(url)
    if found is None:
        return msgspec.structs.replace(named, media_type=guess, reference=url)
    return msgspec.structs.replace(named, media_type=found[0], data=found[1])


def _join_types(expected: str) -> str:
    return f"one of {expected}" if " or " in expected else expected


def _read(incoming: IncomingRequest) -> ModelRequest:
    return read_body(incoming.body)


def too_large() -> ApiError:
    """OpenAI's error for a body over the limit."""
    return ApiError("The data you are trying to upload is too large.", status=413)


HOSTS = (
    Host(
        base="openai",
        path=re.compile("/v1/chat/completions"),
        read=_read,
        serialize=serialize,
        format_error=format_error,
        too_large=too_large,
    ),
)
