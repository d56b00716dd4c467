"""What POST /v1/chat/completions demands across parts and messages: places, order, pairing, in its words."""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec import UNSET

from showandtell.inspector import openai_body as wire
from showandtell.inspector.seen import Refusal, decode_base64, is_really

DATA_URL = re.compile(r"data:([\w.+-]+/[\w.+-]+);base64,", re.ASCII)
IMAGE_TYPES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
TOOL_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
#: Models that hear say so in their name.
HEARS = re.compile("audio")
NO_IMAGE = (
    "You uploaded an unsupported image. Please make sure your image has of one the following formats: "
    "['png', 'jpeg', 'gif', 'webp']."
)
BAD_IMAGE = (
    "The image data you provided does not represent a valid image. Please check your input and try again with one of "
    "the following image formats: ['image/jpeg', 'image/png', 'image/gif', 'image/webp']."
)
NO_PDF = (
    "Expected a base64-encoded data URL with an application/pdf MIME type "
    "(e.g. 'data:application/pdf;base64,aW1nIGJ5dGVzIGhlcmU=')"
)


def check_body(body: wire.Body) -> None:
    """Raise `Refusal` for the first rule that a well-typed body breaks."""
    if not body.messages:
        words = (
            "Invalid 'messages': empty array. Expected an array with minimum length 1, but got an empty array instead."
        )
        raise Refusal(words, parameter="messages", code="empty_array")
    if body.stream_options is not None and not body.stream:
        words = "The 'stream_options' parameter is only allowed when 'stream' is enabled."
        raise Refusal(words, parameter="stream_options")
    _check_tools([] if body.tools is UNSET else body.tools)
    _check_choice(body)
    _check_pairs(body.messages)
    for at, message in enumerate(body.messages):
        _check_message(message, f"messages[{at}]", body.model)


def read_data_url(url: str) -> tuple[str, bytes | None] | None:
    """Media type and bytes of a data URL; bytes are None where the base64 is broken, all is None for another URL."""
    if not url.startswith("data:"):
        return None
    head = DATA_URL.match(url)
    return (head[1], decode_base64(url[head.end() :])) if head else ("", None)


def _check_tools(tools: Sequence[wire.Tool]) -> None:
    for at, tool in enumerate(tools):
        function = tool.function
        if not TOOL_NAME.fullmatch(function.name):
            place = f"tools[{at}].function.name"
            words = "string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'."
            raise Refusal(f"Invalid '{place}': {words}", parameter=place, code="invalid_value")
        kind = (function.parameters or {"type": "object"}).get("type")
        if kind != "object":
            words = f"schema must be a JSON Schema of 'type: \"object\"', got 'type: \"{kind}\"'."
            place, code = f"tools[{at}].function.parameters", "invalid_function_parameters"
            raise Refusal(f"Invalid schema for function '{function.name}': {words}", parameter=place, code=code)


def _check_choice(body: wire.Body) -> None:
    names = set[str]() if body.tools is UNSET else {tool.function.name for tool in body.tools}
    if body.tool_choice is UNSET:
        return
    if isinstance(body.tool_choice, str) and body.tool_choice not in {"none", "auto", "required"}:
        words = f"Invalid value: '{body.tool_choice}'. Supported values are: 'none', 'auto', and 'required'."
        raise Refusal(words, parameter="tool_choice", code="invalid_value")
    if not names:
        words = "Invalid value for 'tool_choice': 'tool_choice' is only allowed when 'tools' are specified."
        raise Refusal(words, parameter="tool_choice")
    if isinstance(body.tool_choice, wire.OneTool) and body.tool_choice.function.name not in names:
        words = f"Tool choice '{body.tool_choice.function.name}' not found in 'tools' parameter."
        raise Refusal(words, parameter="tool_choice")


def _check_pairs(messages: Sequence[wire.Message]) -> None:
    waiting: list[str] = []
    asked: list[str] = []
    for at, message in enumerate(messages):
        match message:
            case wire.ToolMessage():
                if message.tool_call_id not in asked:
                    words = "messages with role 'tool' must be a response to a preceeding message with 'tool_calls'."
                    raise Refusal(f"Invalid parameter: {words}", parameter=f"messages.[{at}].role")
                waiting = [call_id for call_id in waiting if call_id != message.tool_call_id]
            case _:
                _check_answered(waiting, at)
                waiting = _calls(message, at)
                asked = list(waiting)
    _check_answered(waiting, len(messages))


def _calls(message: wire.Message, at: int) -> list[str]:
    if not isinstance(message, wire.Assistant) or message.tool_calls is UNSET:
        return []
    if not message.tool_calls:
        place = f"messages[{at}].tool_calls"
        words = "empty array. Expected an array with minimum length 1, but got an empty array instead."
        raise Refusal(f"Invalid '{place}': {words}", parameter=place, code="empty_array")
    return [call.id for call in message.tool_calls]


def _check_answered(waiting: Sequence[str], at: int) -> None:
    if waiting:
        words = (
            "An assistant message with 'tool_calls' must be followed by tool messages responding to each "
            "'tool_call_id'. The following tool_call_ids did not have response messages: "
        )
        raise Refusal(words + ", ".join(waiting), parameter=f"messages.[{at}].role")


def _check_message(message: wire.Message, path: str, model: str) -> None:
    role = str(message.__struct_config__.tag)
    if isinstance(message, wire.Assistant) and message.content is None and message.tool_calls is UNSET:
        raise Refusal("Invalid value for 'content': expected a string, got null.", parameter=f"{path}.content")
    if message.content is None or isinstance(message.content, str):
        return
    if not message.content:
        words = "empty array. Expected an array with minimum length 1, but got an empty array instead."
        raise Refusal(f"Invalid '{path}.content': {words}", parameter=f"{path}.content", code="empty_array")
    for index, part in enumerate(message.content):
        _check_place(part, role, path)
        _check_part(part, f"{path}.content[{index}]", path, model)


def _check_place(part: wire.Anything, role: str, path: str) -> None:
    kind = str(part.__struct_config__.tag)
    if kind == "text" or (kind == "refusal" and role == "assistant"):
        return
    if kind == "image_url" and role != "user":
        words = "Image URLs are only allowed for messages with role 'user'"
        words = f"{words}, but this message with role '{role}' contains an image URL."
        raise Refusal(f"Invalid '{path}'. {words}", parameter=path, code="invalid_value")
    if role != "user" or kind == "refusal":
        words = f"Content blocks of type '{kind}' are not allowed for messages with role '{role}'."
        raise Refusal(f"Invalid '{path}'. {words}", parameter=path, code="invalid_value")


def _check_part(part: wire.Anything, place: str, message: str, model: str) -> None:
    match part:
        case wire.Image():
            _check_image(part.image_url.url, f"{place}.image_url.url")
        case wire.Audio():
            _check_audio(part.input_audio, f"{place}.input_audio", message, model)
        case wire.File():
            _check_file(part.file, f"{place}.file")
        case wire.Text() | wire.Refused():
            return


def _check_image(url: str, place: str) -> None:
    found = read_data_url(url)
    if found is None:
        if not url.startswith(("https://", "http://")):
            words = f"Invalid '{place}'. Expected a valid URL, but got a value with an invalid format."
            raise Refusal(words, parameter=place, code="invalid_value")
        return
    media_type, data = found
    if media_type not in IMAGE_TYPES:
        raise Refusal(NO_IMAGE, code="invalid_image_format")
    if data is None:
        raise Refusal("Invalid base64 image_url.", parameter=place, code="invalid_base64")
    if not is_really(data, media_type):
        raise Refusal(BAD_IMAGE, parameter=place, code="invalid_value")


def _check_audio(audio: wire.AudioData, place: str, message: str, model: str) -> None:
    if not HEARS.search(model):
        words = "Content blocks are expected to be either text or image_url type."
        raise Refusal(f"Invalid '{message}'. {words}", parameter=message, code="invalid_value")
    data = decode_base64(audio.data)
    if data is None or not is_really(data, {"wav": "audio/wav", "mp3": "audio/mpeg"}[audio.format]):
        words = f"The data provided for 'input_audio' is not of valid {audio.format} format."
        raise Refusal(f"Invalid value: '{place}.data'. {words}", parameter=f"{place}.data", code="invalid_value")


def _check_file(file: wire.FileData, place: str) -> None:
    if (file.file_data is UNSET) == (file.file_id is UNSET):
        words = f"Missing required parameter: '{place}.file_id'."
        raise Refusal(words, parameter=f"{place}.file_id", code="missing_required_parameter")
    if file.file_data is UNSET:
        return
    found = read_data_url(file.file_data)
    if found is None:
        problem = f"{NO_PDF}, but got a value without the 'data:' prefix."
    elif found[0] != "application/pdf":
        problem = f"{NO_PDF}, but got unsupported MIME type '{found[0]}'."
    elif found[1] is None or not is_really(found[1], "application/pdf"):
        problem = f"{NO_PDF}, but got data that is not a PDF."
    else:
        return
    raise Refusal(
        f"Invalid file data: '{place}.file_data'. {problem}", parameter=f"{place}.file_data", code="invalid_value"
    )
