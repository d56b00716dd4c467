"""What POST /v1/chat/completions demands across parts and messages: places, order, pairing, in OpenAI's words.

`Rules` are what a host that speaks this api demands differently; OpenAI's own are in `openai_chat`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from msgspec import UNSET, Struct

from showandtell.inspector.openai_chat import schema as wire
from showandtell.inspector.request import Fault, Refusal, decode_base64, is_really

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


Path = tuple[str | int, ...]
#: Optional fields of the schema that every host knows.
COMMON = frozenset({"file.file", "assistant.tool_calls", "tool_calls.type"})


def names(text: str) -> frozenset[str]:
    """The words of a text, as a set."""
    return frozenset(text.split())


def refuse_place(kind: str, role: str, path: Path) -> Refusal:
    """What OpenAI says of a part in a message whose role can't hold it."""
    place = spell_path(path)
    if kind == "image_url":
        words = "Image URLs are only allowed for messages with role 'user'"
        words = f"{words}, but this message with role '{role}' contains an image URL."
    else:
        words = f"Content blocks of type '{kind}' are not allowed for messages with role '{role}'."
    return Refusal(f"Invalid '{place}'. {words}", parameter=place, code="invalid_value")


def check_pairs(messages: Sequence[wire.Message]) -> None:
    """Every call must be answered by tool messages right after it, and they answer nothing else."""
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


def check_image(url: str, place: str) -> None:
    """A picture by web address, or a data URL of one of four types that are what they say."""
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


def allow(_: wire.Body) -> None:
    """A host without limits of its own."""


class Rules(Struct, frozen=True, kw_only=True):
    """What one host takes of this api, and in which words it refuses the rest.

    fields: the fields of the body; others are refused, or dropped unread where it `ignores` them.
    options: optional fields inside messages and parts, as "assistant.reasoning". bare: which of "image_url",
        "input_audio" (a string, both) and "arguments" (an object) may have another form than OpenAI's.
    user_parts, assistant_parts, result_parts: types of parts by the role of the message; system takes text alone.
    hears: models that take sound. native: models in whose tool results the host leaves files; for others it moves them
        to a user message. empty: whether an assistant's content may be an empty list.
    say: spells a fault of the schema; misplaced: a part in a message that can't hold it; order: checks roles and pairs;
        image: one picture; limits: what is counted over a whole request.
    """

    fields: frozenset[str]
    options: frozenset[str]
    say: Callable[[Fault], Refusal]
    ignores: bool = False
    bare: frozenset[str] = frozenset()
    roles: frozenset[str] = frozenset({"system", "developer", "user", "assistant", "tool"})
    user_parts: frozenset[str] = frozenset({"text", "image_url", "input_audio", "file"})
    assistant_parts: frozenset[str] = frozenset({"text", "refusal"})
    result_parts: frozenset[str] = frozenset({"text"})
    choices: frozenset[str] = frozenset({"none", "auto", "required"})
    hears: re.Pattern[str] = HEARS
    native: re.Pattern[str] = re.compile("")
    empty: bool = False
    misplaced: Callable[[str, str, Path], Refusal] = refuse_place
    order: Callable[[Sequence[wire.Message]], None] = check_pairs
    image: Callable[[str, str], None] = check_image
    limits: Callable[[wire.Body], None] = allow


def check_body(body: wire.Body, rules: Rules) -> None:
    """Raise `Refusal` for the first rule that a well-typed body breaks."""
    if not body.messages:
        words = (
            "Invalid 'messages': empty array. Expected an array with minimum length 1, but got an empty array instead."
        )
        raise Refusal(words, parameter="messages", code="empty_array")
    _check_stream(body, rules)
    for at, message in enumerate(body.messages):
        _check_words(message, ("messages", at), rules)
    _check_tools([] if body.tools is UNSET else body.tools)
    _check_choice(body, rules)
    rules.order(body.messages)
    for at, message in enumerate(body.messages):
        _check_message(message, ("messages", at), body.model, rules)
    rules.limits(body)


def spell_path(path: Path) -> str:
    """A path as OpenAI writes it: messages[0].content[1]."""
    return "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path).removeprefix(".")


def list_values(values: Sequence[str]) -> str:
    """Values as OpenAI lists those that it takes: 'text', 'image_url', and 'file'; two have no comma."""
    quoted = [f"'{value}'" for value in values]
    comma = "," if len(quoted) > 2 else ""
    return f"{', '.join(quoted[:-1])}{comma} and {quoted[-1]}"


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


def _check_choice(body: wire.Body, rules: Rules) -> None:
    names = set[str]() if body.tools is UNSET else {tool.function.name for tool in body.tools}
    if body.tool_choice is UNSET:
        return
    if isinstance(body.tool_choice, str) and body.tool_choice not in rules.choices:
        words = f"Invalid value: '{body.tool_choice}'. Supported values are: 'none', 'auto', and 'required'."
        raise Refusal(words, parameter="tool_choice", code="invalid_value")
    if not names:
        words = "Invalid value for 'tool_choice': 'tool_choice' is only allowed when 'tools' are specified."
        raise Refusal(words, parameter="tool_choice")
    if isinstance(body.tool_choice, wire.OneTool) and body.tool_choice.function.name not in names:
        words = f"Tool choice '{body.tool_choice.function.name}' not found in 'tools' parameter."
        raise Refusal(words, parameter="tool_choice")


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


def _check_stream(body: wire.Body, rules: Rules) -> None:
    if body.stream_options is None:
        return
    if not body.stream:
        words = "The 'stream_options' parameter is only allowed when 'stream' is enabled."
        raise Refusal(words, parameter="stream_options")
    _check_options("stream_options", body.stream_options, ("stream_options",), rules)


def _check_words(message: wire.Message, path: Path, rules: Rules) -> None:
    """Whether this host knows the role, and every type and field of the message."""
    role = tag_of(message)
    if role not in rules.roles:
        raise rules.say(Fault("value", (*path, "role"), role))
    _check_options(role, message, path, rules)
    if isinstance(message, wire.Assistant) and message.tool_calls is not UNSET:
        for at, call in enumerate(message.tool_calls):
            _check_call(call, (*path, "tool_calls", at), rules)
    for at, part in enumerate(parts_of(message)):
        _check_form(part, (*path, "content", at), rules)


def _check_options(tag: str, value: Struct, path: Path, rules: Rules) -> None:
    for name in _options(value):
        if f"{tag}.{name}" not in rules.options | COMMON:
            raise rules.say(Fault("unknown", path, name))


def _options(value: Struct) -> Iterator[str]:
    """The optional fields that a value has."""
    defaults = value.__struct_defaults__
    optional = value.__struct_fields__[len(value.__struct_fields__) - len(defaults) :]
    unset = (name for name, default in zip(optional, defaults, strict=True) if default is UNSET)
    return (name for name in unset if getattr(value, name) is not UNSET)


def _check_call(call: wire.ToolCall, path: Path, rules: Rules) -> None:
    _check_options("tool_calls", call, path, rules)
    if call.type is UNSET and "tool_calls.index" not in rules.options:
        raise rules.say(Fault("missing", path, "type"))
    if not isinstance(call.function.arguments, str) and "arguments" not in rules.bare:
        raise rules.say(Fault("type", (*path, "function", "arguments"), "str", "object"))


def _check_form(part: wire.Anything, path: Path, rules: Rules) -> None:
    kind = tag_of(part)
    if kind not in rules.user_parts | rules.assistant_parts | rules.result_parts:
        raise rules.say(Fault("value", (*path, "type"), kind))
    _check_options(kind, part, path, rules)
    _check_bare(part, path, rules)
    if isinstance(part, wire.File) and (part.file is UNSET) == (part.file_id is UNSET):
        raise rules.say(Fault("missing", path, "file_id" if "file.file_id" in rules.options else "file"))


def _check_bare(part: wire.Anything, path: Path, rules: Rules) -> None:
    """Who takes sound bare takes it in no other form; pictures may come in both."""
    match part:
        case wire.Image(image_url=str()) if "image_url" not in rules.bare:
            raise rules.say(Fault("type", (*path, "image_url"), "object", "str"))
        case wire.Audio(input_audio=str()) if "input_audio" not in rules.bare:
            raise rules.say(Fault("type", (*path, "input_audio"), "object", "str"))
        case wire.Audio(input_audio=wire.AudioData()) if "input_audio" in rules.bare:
            raise rules.say(Fault("type", (*path, "input_audio"), "str", "object"))
        case _:
            return


def _check_message(message: wire.Message, path: Path, model: str, rules: Rules) -> None:
    role, place = tag_of(message), spell_path(path)
    if isinstance(message, wire.Assistant) and message.content is None and message.tool_calls is UNSET:
        raise Refusal("Invalid value for 'content': expected a string, got null.", parameter=f"{place}.content")
    if message.content == [] and not (rules.empty and role == "assistant"):
        words = "empty array. Expected an array with minimum length 1, but got an empty array instead."
        raise Refusal(f"Invalid '{place}.content': {words}", parameter=f"{place}.content", code="empty_array")
    held = {"user": rules.user_parts, "assistant": rules.assistant_parts, "tool": rules.result_parts}
    for index, part in enumerate(parts_of(message)):
        if tag_of(part) not in held.get(role, {"text"}):
            raise rules.misplaced(tag_of(part), role, path)
        _check_part(part, f"{place}.content[{index}]", place, model, rules)


def tag_of(value: Struct) -> str:
    """The type of a part, the role of a message."""
    return str(value.__struct_config__.tag)


def parts_of(message: wire.Message) -> Sequence[wire.Anything]:
    """The parts of a message; none where its content is a string."""
    return message.content if isinstance(message.content, list) else ()


def _check_part(part: wire.Anything, place: str, message: str, model: str, rules: Rules) -> None:
    match part:
        case wire.Image(image_url=str(url)):
            rules.image(url, f"{place}.image_url")
        case wire.Image(image_url=wire.ImageUrl(url=url)):
            rules.image(url, f"{place}.image_url.url")
        case wire.Audio():
            _check_audio(part.input_audio, f"{place}.input_audio", message, rules.hears.search(model) is not None)
        case wire.File(file=wire.FileData() as file):
            _check_file(file, f"{place}.file", is_linked="file.url" in rules.options)
        case wire.DocumentUrl():
            _check_paper(part.document_url, f"{place}.document_url", is_linked=True)
        case wire.Video():
            _check_video(part.video_url.url, f"{place}.video_url.url")
        case _:
            return


def _check_audio(audio: wire.AudioData | str, place: str, message: str, hears: bool) -> None:
    if not hears:
        words = "Content blocks are expected to be either text or image_url type."
        raise Refusal(f"Invalid '{message}'. {words}", parameter=message, code="invalid_value")
    if isinstance(audio, str):
        form, text, place = "audio", audio, place.removesuffix(".data")
        if text.startswith("https://"):
            return
    else:
        form, text, place = audio.format, audio.data, f"{place}.data"
    if sound_type(text, form) is None:
        words = f"The data provided for 'input_audio' is not of valid {form} format."
        raise Refusal(f"Invalid value: '{place}'. {words}", parameter=place, code="invalid_value")


def sound_type(text: str, form: str = "audio") -> str | None:
    """The media type of base64 sound; None for what isn't, or isn't of that form."""
    data = decode_base64(text)
    types = {"wav": ("audio/wav",), "mp3": ("audio/mpeg",)}.get(form, ("audio/wav", "audio/mpeg"))
    return next((kind for kind in types if data is not None and is_really(data, kind)), None)


def _check_file(file: wire.FileData, place: str, *, is_linked: bool) -> None:
    if (file.file_data is UNSET) == (file.file_id is UNSET):
        words = f"Missing required parameter: '{place}.file_id'."
        raise Refusal(words, parameter=f"{place}.file_id", code="missing_required_parameter")
    if file.file_data is not UNSET:
        _check_paper(file.file_data, f"{place}.file_data", is_linked=is_linked)


def _check_paper(url: str, place: str, *, is_linked: bool) -> None:
    found = read_data_url(url)
    if found is None:
        if is_linked and url.startswith("https://"):
            return
        problem = f"{NO_PDF}, but got a value without the 'data:' prefix."
    elif found[0] != "application/pdf":
        problem = f"{NO_PDF}, but got unsupported MIME type '{found[0]}'."
    elif found[1] is None or not is_really(found[1], "application/pdf"):
        problem = f"{NO_PDF}, but got data that is not a PDF."
    else:
        return
    raise Refusal(f"Invalid file data: '{place}'. {problem}", parameter=place, code="invalid_value")


def _check_video(url: str, place: str) -> None:
    media_type, data = read_data_url(url) or ("video/*" if url.startswith("https://") else "", b"")
    if not media_type.startswith("video/") or data is None:
        words = f"Invalid '{place}'. Expected a video by URL or base64 data URL."
        raise Refusal(words, parameter=place, code="invalid_value")
