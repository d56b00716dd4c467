"""Rules of POST /v1/chat/completions across parts and messages: roles, order, pairing; with OpenAI's error messages.

`Rules` holds the differences between hosts of this API. OpenAI's own rules are in `openai_chat.read`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any, cast

from msgspec import UNSET, Struct

from showandtell.inspector.answer_schemas import check_openai_schema
from showandtell.inspector.openai_chat import schema as wire
from showandtell.inspector.openai_chat.file_rules import (
    check_audio,
    check_document,
    check_file,
    check_image,
    check_video,
)
from showandtell.inspector.request import ApiError, Violation

TOOL_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
#: Models that accept audio have it in their name.
AUDIO_MODELS = re.compile("audio")


Path = tuple[str | int, ...]
#: Optional fields of the schema that every host accepts.
COMMON = frozenset({"file.file", "assistant.tool_calls", "tool_calls.type"})


def names(text: str) -> frozenset[str]:
    """The words of a text as a set."""
    return frozenset(text.split())


def misplaced_error(kind: str, role: str, path: Path) -> ApiError:
    """OpenAI's error for a part in a message whose role does not allow it."""
    place = format_path(path)
    if kind == "image_url":
        message = "Image URLs are only allowed for messages with role 'user'"
        message = f"{message}, but this message with role '{role}' contains an image URL."
    else:
        message = f"Content blocks of type '{kind}' are not allowed for messages with role '{role}'."
    return ApiError(f"Invalid '{place}'. {message}", parameter=place, code="invalid_value")


def check_pairs(messages: Sequence[wire.Message]) -> None:
    """Check that the tool messages after an assistant message match its calls."""
    waiting: list[str] = []
    asked: list[str] = []
    for at, message in enumerate(messages):
        match message:
            case wire.ToolMessage():
                if message.tool_call_id not in asked:
                    problem = "messages with role 'tool' must be a response to a preceeding message with 'tool_calls'."
                    raise ApiError(f"Invalid parameter: {problem}", parameter=f"messages.[{at}].role")
                waiting = [call_id for call_id in waiting if call_id != message.tool_call_id]
            case _:
                _check_all_answered(waiting, at)
                waiting = _calls(message, at)
                asked = list(waiting)
    _check_all_answered(waiting, len(messages))


def no_limits(_: wire.Body) -> None:
    """For hosts without request-wide limits."""


class Rules(Struct, frozen=True, kw_only=True):
    """What a host of this API accepts, and its errors for the rest.

    fields: fields of the body. Others are an error, or ignored with `ignores_unknown`.
    options: optional fields inside messages and parts, such as "assistant.reasoning".
    alternate_forms: which of "image_url" and "input_audio" (as strings) and "arguments" (as an object) the host accepts
        in another form than OpenAI's.
    user_parts, assistant_parts, result_parts: part types by the role of the message. System messages hold only text.
    call_id: maximum length of a call's id. None: any.
    audio_models: models that accept audio.
    native_models: models whose tool results keep their files; for others the host moves them to a user message.
    allows_empty: whether an assistant's content may be an empty list. reasons: whether the models always reason.
    violation_error, misplaced: the errors for a schema violation, and for a part in a message that can't hold it.
    check_order, image, check_limits: check the order of messages, one image, and limits over the whole request.
    """

    fields: frozenset[str]
    options: frozenset[str]
    violation_error: Callable[[Violation], ApiError]
    ignores_unknown: bool = False
    alternate_forms: frozenset[str] = frozenset()
    roles: frozenset[str] = frozenset({"system", "developer", "user", "assistant", "tool"})
    user_parts: frozenset[str] = frozenset({"text", "image_url", "input_audio", "file"})
    assistant_parts: frozenset[str] = frozenset({"text", "refusal"})
    result_parts: frozenset[str] = frozenset({"text"})
    tool_choices: frozenset[str] = frozenset({"none", "auto", "required"})
    call_id: int | None = None
    audio_models: re.Pattern[str] = AUDIO_MODELS
    native_models: re.Pattern[str] = re.compile("")
    allows_empty: bool = False
    reasons: bool = False
    misplaced: Callable[[str, str, Path], ApiError] = misplaced_error
    check_order: Callable[[Sequence[wire.Message]], None] = check_pairs
    image: Callable[[str, str], None] = check_image
    check_limits: Callable[[wire.Body], None] = no_limits


def check_body(body: wire.Body, rules: Rules) -> None:
    """Raise `ApiError` for the first rule that a well-typed body breaks."""
    if not body.messages:
        message = (
            "Invalid 'messages': empty array. Expected an array with minimum length 1, but got an empty array instead."
        )
        raise ApiError(message, parameter="messages", code="empty_array")
    _check_stream(body, rules)
    for at, message in enumerate(body.messages):
        _check_fields(message, ("messages", at), rules)
    _check_tools([] if body.tools is UNSET else body.tools)
    _check_choice(body, rules)
    if (answer := answer_format(body)) is not None:
        names = f"response_format '{answer['name']}'", "response_format", "invalid_json_schema"
        check_openai_schema(answer["schema"], names, strict=answer.get("strict") is True)
    rules.check_order(body.messages)
    for at, message in enumerate(body.messages):
        _check_message(message, ("messages", at), body.model, rules)
    rules.check_limits(body)


def answer_format(body: wire.Body) -> dict[str, Any] | None:
    """The name and schema of the answer, if there is one. Raises `ApiError` if one of them is missing."""
    if body.response_format is None or body.response_format.get("type") != "json_schema":
        return None
    answer = body.response_format.get("json_schema")
    for name in ("name", "schema"):
        if not isinstance(answer, dict) or name not in answer:
            place = f"response_format.json_schema.{name}"
            raise ApiError(
                f"Missing required parameter: '{place}'.", parameter=place, code="missing_required_parameter"
            )
    return cast("dict[str, Any]", answer)


def format_path(path: Path) -> str:
    """Format a path as OpenAI does: messages[0].content[1]."""
    return "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path).removeprefix(".")


def list_values(values: Sequence[str]) -> str:
    """List values as OpenAI does: 'text', 'image_url', and 'file'; two have no comma."""
    quoted = [f"'{value}'" for value in values]
    comma = "," if len(quoted) > 2 else ""
    return f"{', '.join(quoted[:-1])}{comma} and {quoted[-1]}"


def _check_tools(tools: Sequence[wire.Tool]) -> None:
    for at, tool in enumerate(tools):
        function = tool.function
        if not TOOL_NAME.fullmatch(function.name):
            place = f"tools[{at}].function.name"
            message = "string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'."
            raise ApiError(f"Invalid '{place}': {message}", parameter=place, code="invalid_value")
        kind = (function.parameters or {"type": "object"}).get("type")
        if kind != "object":
            message = f"schema must be a JSON Schema of 'type: \"object\"', got 'type: \"{kind}\"'."
            place, code = f"tools[{at}].function.parameters", "invalid_function_parameters"
            raise ApiError(f"Invalid schema for function '{function.name}': {message}", parameter=place, code=code)


def _check_choice(body: wire.Body, rules: Rules) -> None:
    names = set[str]() if body.tools is UNSET else {tool.function.name for tool in body.tools}
    if body.tool_choice is UNSET:
        return
    if isinstance(body.tool_choice, str) and body.tool_choice not in rules.tool_choices:
        message = f"Invalid value: '{body.tool_choice}'. Supported values are: 'none', 'auto', and 'required'."
        raise ApiError(message, parameter="tool_choice", code="invalid_value")
    if not names:
        message = "Invalid value for 'tool_choice': 'tool_choice' is only allowed when 'tools' are specified."
        raise ApiError(message, parameter="tool_choice")
    if isinstance(body.tool_choice, wire.NamedToolChoice) and body.tool_choice.function.name not in names:
        message = f"Tool choice '{body.tool_choice.function.name}' not found in 'tools' parameter."
        raise ApiError(message, parameter="tool_choice")


def _calls(message: wire.Message, at: int) -> list[str]:
    if not isinstance(message, wire.AssistantMessage) or message.tool_calls is UNSET:
        return []
    if not message.tool_calls:
        place = f"messages[{at}].tool_calls"
        problem = "empty array. Expected an array with minimum length 1, but got an empty array instead."
        raise ApiError(f"Invalid '{place}': {problem}", parameter=place, code="empty_array")
    return [call.id for call in message.tool_calls]


def _check_all_answered(waiting: Sequence[str], at: int) -> None:
    if waiting:
        message = (
            "An assistant message with 'tool_calls' must be followed by tool messages responding to each "
            "'tool_call_id'. The following tool_call_ids did not have response messages: "
        )
        raise ApiError(message + ", ".join(waiting), parameter=f"messages.[{at}].role")


def _check_stream(body: wire.Body, rules: Rules) -> None:
    if body.stream_options is None:
        return
    if not body.stream:
        message = "The 'stream_options' parameter is only allowed when 'stream' is enabled."
        raise ApiError(message, parameter="stream_options")
    _check_options("stream_options", body.stream_options, ("stream_options",), rules)


def _check_fields(message: wire.Message, path: Path, rules: Rules) -> None:
    """Check that the host accepts the role and every type and field of the message."""
    role = tag_of(message)
    if role not in rules.roles:
        raise rules.violation_error(Violation("value", (*path, "role"), role))
    _check_options(role, message, path, rules)
    if isinstance(message, wire.AssistantMessage) and message.tool_calls is not UNSET:
        for at, call in enumerate(message.tool_calls):
            _check_call(call, (*path, "tool_calls", at), rules)
    if isinstance(message, wire.ToolMessage):
        _check_call_id(message.tool_call_id, (*path, "tool_call_id"), rules)
    for at, part in enumerate(parts_of(message)):
        _check_part_fields(part, (*path, "content", at), rules)


def _check_options(tag: str, value: Struct, path: Path, rules: Rules) -> None:
    for name in _options(value):
        if f"{tag}.{name}" not in rules.options | COMMON:
            raise rules.violation_error(Violation("unknown", path, name))


def _options(value: Struct) -> Iterator[str]:
    """The optional fields that are set."""
    defaults = value.__struct_defaults__
    optional = value.__struct_fields__[len(value.__struct_fields__) - len(defaults) :]
    unset = (name for name, default in zip(optional, defaults, strict=True) if default is UNSET)
    return (name for name in unset if getattr(value, name) is not UNSET)


def _check_call(call: wire.ToolCall, path: Path, rules: Rules) -> None:
    _check_options("tool_calls", call, path, rules)
    if call.type is UNSET and "tool_calls.index" not in rules.options:
        raise rules.violation_error(Violation("missing", path, "type"))
    _check_call_id(call.id, (*path, "id"), rules)
    if not isinstance(call.function.arguments, str) and "arguments" not in rules.alternate_forms:
        raise rules.violation_error(Violation("type", (*path, "function", "arguments"), "str", "object"))


def _check_call_id(call_id: str, path: Path, rules: Rules) -> None:
    if rules.call_id is not None and len(call_id) > rules.call_id:
        place = format_path(path)
        message = (
            f"Invalid '{place}': string too long. Expected a string with maximum length {rules.call_id}, but got a "
            f"string with length {len(call_id)} instead."
        )
        raise ApiError(message, parameter=place, code="string_above_max_length")


def _check_part_fields(part: wire.AnyPart, path: Path, rules: Rules) -> None:
    kind = tag_of(part)
    if kind not in rules.user_parts | rules.assistant_parts | rules.result_parts:
        raise rules.violation_error(Violation("value", (*path, "type"), kind))
    _check_options(kind, part, path, rules)
    _check_alternate_form(part, path, rules)
    if isinstance(part, wire.File) and (part.file is UNSET) == (part.file_id is UNSET):
        raise rules.violation_error(
            Violation("missing", path, "file_id" if "file.file_id" in rules.options else "file")
        )


def _check_alternate_form(part: wire.AnyPart, path: Path, rules: Rules) -> None:
    """Hosts that accept audio as a string accept no other form; images are accepted in both."""
    match part:
        case wire.Image(image_url=str()) if "image_url" not in rules.alternate_forms:
            raise rules.violation_error(Violation("type", (*path, "image_url"), "object", "str"))
        case wire.Audio(input_audio=str()) if "input_audio" not in rules.alternate_forms:
            raise rules.violation_error(Violation("type", (*path, "input_audio"), "object", "str"))
        case wire.Audio(input_audio=wire.AudioData()) if "input_audio" in rules.alternate_forms:
            raise rules.violation_error(Violation("type", (*path, "input_audio"), "str", "object"))
        case _:
            return


def _check_message(message: wire.Message, path: Path, model: str, rules: Rules) -> None:
    role, place = tag_of(message), format_path(path)
    if isinstance(message, wire.AssistantMessage) and message.content is None and message.tool_calls is UNSET:
        raise ApiError("Invalid value for 'content': expected a string, got null.", parameter=f"{place}.content")
    if message.content == [] and not (rules.allows_empty and role == "assistant"):
        problem = "empty array. Expected an array with minimum length 1, but got an empty array instead."
        raise ApiError(f"Invalid '{place}.content': {problem}", parameter=f"{place}.content", code="empty_array")
    allowed = {"user": rules.user_parts, "assistant": rules.assistant_parts, "tool": rules.result_parts}
    for index, part in enumerate(parts_of(message)):
        if tag_of(part) not in allowed.get(role, {"text"}):
            raise rules.misplaced(tag_of(part), role, path)
        _check_part(part, f"{place}.content[{index}]", place, model, rules)


def tag_of(value: Struct) -> str:
    """The type of a part, or the role of a message."""
    return str(value.__struct_config__.tag)


def parts_of(message: wire.Message) -> Sequence[wire.AnyPart]:
    """The parts of a message; empty if its content is a string."""
    return message.content if isinstance(message.content, list) else ()


def _check_part(part: wire.AnyPart, place: str, message: str, model: str, rules: Rules) -> None:
    match part:
        case wire.Image(image_url=str(url)):
            rules.image(url, f"{place}.image_url")
        case wire.Image(image_url=wire.ImageUrl(url=url)):
            rules.image(url, f"{place}.image_url.url")
        case wire.Audio():
            check_audio(part.input_audio, f"{place}.input_audio", message, rules.audio_models.search(model) is not None)
        case wire.File(file=wire.FileData() as file):
            check_file(file, f"{place}.file", is_linked="file.url" in rules.options)
        case wire.DocumentUrl():
            check_document(part.document_url, f"{place}.document_url", is_linked=True)
        case wire.Video():
            check_video(part.video_url.url, f"{place}.video_url.url")
        case _:
            return
