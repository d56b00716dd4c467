"""Rules of POST /v1/responses across items and parts: order, pairing, media; with the API's error messages.

Messages that no recording or issue shows are those of the same check elsewhere in OpenAI's API, or made up.
"""

from __future__ import annotations

import mimetypes
import re
from collections.abc import Iterator, Sequence
from typing import assert_never
from urllib.parse import urlsplit

from msgspec import Struct

from showandtell.inspector.answer_schemas import check_openai_schema
from showandtell.inspector.openai_chat.file_rules import BAD_IMAGE, IMAGE_TYPES, NO_PDF, read_data_url
from showandtell.inspector.openai_chat.rules import TOOL_NAME
from showandtell.inspector.openai_responses import schema as wire
from showandtell.inspector.request import MAGIC, ApiError, matches_type
from showandtell.inspector.signatures import is_valid

NO_IMAGE_URL = (
    "Expected a base64-encoded data URL with an image MIME type (e.g. 'data:image/png;base64,aW1nIGJ5dGVzIGhlcmU=')"
)
#: In addition to text/*. The categories are from OpenAI's guide on file inputs, some MIME types from memory.
DOCUMENTS = frozenset({
    "application/pdf", "application/json", "application/xml", "application/yaml", "application/x-yaml",
    "application/javascript", "application/typescript", "application/x-sh", "application/csv", "application/rtf",
    "application/msword", "application/vnd.ms-excel", "application/vnd.ms-powerpoint",
    "application/vnd.oasis.opendocument.text",
})  # fmt: skip
OFFICE_XML = "application/vnd.openxmlformats-officedocument."
UNFETCHED = ("audio/", "video/", "image/")
CHOICES = frozenset({"none", "auto", "required"})
MAX_IMAGES = 1500  # (from memory)
MAX_CALL_ID = 64
ITEM_ID = re.compile(r"[a-zA-Z0-9_-]+")
#: As recorded, for the types of which answers are at hand.
HOSTED_PREFIXES = {
    "code_interpreter_call": "ci",
    "compaction": "cmp",
    "file_search_call": "fs",
    "image_generation_call": "ig",
    "mcp_call": "mcp",
    "mcp_list_tools": "mcpl",
    "tool_search_call": "tsc",
    "tool_search_output": "tso",
    "web_search_call": "ws",
}
PREFIXES: dict[type[wire.Item], str] = {wire.Assistant: "msg", wire.FunctionCall: "fc", wire.Reasoning: "rs"}


class Rules(Struct, frozen=True):
    """Differences between hosts. image_bytes: maximum size of an image; ordered: results in the order of calls."""

    image_types: frozenset[str] = IMAGE_TYPES
    image_bytes: int | None = None
    inline_files: bool = True
    ordered: bool = False
    system_first: bool = False
    item_ids: bool = True


OPENAI = Rules()
XAI = Rules(
    image_types=frozenset({"image/png", "image/jpeg"}),
    image_bytes=10 * 1024 * 1024,
    inline_files=False,
    ordered=True,
    system_first=True,
    item_ids=False,
)


def check_body(body: wire.Body, items: Sequence[wire.Item], tools: Sequence[wire.Tool], rules: Rules) -> None:
    """Raise `ApiError` for the first rule that a well-typed body breaks. `items` and `tools` are its decoded ones."""
    _check_numbers(body)
    _check_state(body)
    _check_tools(tools)
    _check_format(body)
    _check_choice(body, tools)
    _check_items(items, rules)
    _check_pairs(items, rules)
    _check_reasoning(items, stored=body.store is not False)
    _check_parts(items, rules)


def parts_of(item: wire.Item, at: int) -> Iterator[tuple[str, wire.Input]]:
    """Each input part of an item with its path, such as input[3].output[0]."""
    if isinstance(item, wire.User) and not isinstance(item.content, str):
        yield from ((f"input[{at}].content[{index}]", part) for index, part in enumerate(item.content))
    elif isinstance(item, wire.FunctionOutput | wire.CustomOutput) and not isinstance(item.output, str):
        yield from ((f"input[{at}].output[{index}]", part) for index, part in enumerate(item.output))


def guess_type(name: str) -> str:
    """The media type for the extension of a name or URL, or an empty string."""
    return mimetypes.guess_type(urlsplit(name).path if "://" in name else name)[0] or ""


def _check_numbers(body: wire.Body) -> None:
    if body.max_output_tokens is not None and body.max_output_tokens < 16:
        message = f"integer below minimum value. Expected a value >= 16, but got {body.max_output_tokens} instead."
        raise _invalid("max_output_tokens", message, "integer_below_min_value")
    for name, value, maximum in (("temperature", body.temperature, 2), ("top_p", body.top_p, 1)):
        if value is not None and value > maximum:
            message = f"decimal above maximum value. Expected a value <= {maximum}, but got {value:g} instead."
            raise _invalid(name, message, "decimal_above_max_value")
        if value is not None and value < 0:
            message = f"decimal below minimum value. Expected a value >= 0, but got {value:g} instead."
            raise _invalid(name, message, "decimal_below_min_value")
    if body.stream_options is not None and not body.stream:
        message = "The 'stream_options' parameter is only allowed when 'stream' is enabled."
        raise ApiError(message, parameter="stream_options")


def _check_state(body: wire.Body) -> None:
    """Reject references to stored state: the inspector stores nothing."""
    if body.previous_response_id is not None:
        message = f"Previous response with id '{body.previous_response_id}' not found."
        raise ApiError(message, parameter="previous_response_id", code="previous_response_not_found")
    for name, value in (("conversation", body.conversation), ("prompt", body.prompt)):
        if value is not None:
            parsed = value if isinstance(value, str) else value.get("id")
            raise ApiError(f"{name.title()} with id '{parsed}' not found.", status=404, parameter=name)


def _check_tools(tools: Sequence[wire.Tool]) -> None:
    for at, tool in enumerate(tools):
        _check_name(tool.name, f"tools[{at}].name")
        if tool.parameters is not None:
            names = f"function '{tool.name}'", f"tools[{at}].parameters", "invalid_function_parameters"
            check_openai_schema(tool.parameters, names, strict=tool.strict is True)


def _check_format(body: wire.Body) -> None:
    chosen = body.text.format if isinstance(body.text, wire.TextOptions) else None
    if isinstance(chosen, wire.SchemaFormat):
        _check_name(chosen.name, "text.format.name")
        names = f"response_format '{chosen.name}'", "text.format.schema", "invalid_json_schema"
        check_openai_schema(chosen.schema, names, strict=chosen.strict is True)


def _check_name(name: str, place: str) -> None:
    if not TOOL_NAME.fullmatch(name):
        message = "string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'."
        raise _invalid(place, message, "invalid_value")


def _check_choice(body: wire.Body, tools: Sequence[wire.Tool]) -> None:
    choice = body.tool_choice
    if isinstance(choice, str):
        if choice not in CHOICES:
            message = f"Invalid value: '{choice}'. Supported values are: 'none', 'auto', and 'required'."
            raise ApiError(message, parameter="tool_choice", code="invalid_value")
        named = []
    elif choice.type == "allowed_tools":
        allowed = choice.tools if isinstance(choice.tools, list) else []
        named = [str(tool.get("name")) for tool in allowed if tool.get("type") == "function"]
    else:
        named = [str(choice.name)] if choice.type == "function" else []
    if choice not in ("none", "auto") and not body.tools:
        message = "Invalid value for 'tool_choice': 'tool_choice' is only allowed when 'tools' are specified."
        raise ApiError(message, parameter="tool_choice")
    for name in named:
        if name not in {tool.name for tool in tools}:
            raise ApiError(f"Tool choice '{name}' not found in 'tools' parameter.", parameter="tool_choice")


def _check_items(items: Sequence[wire.Item], rules: Rules) -> None:
    if not items:
        raise _empty_array("input")
    known: set[str] = set()
    past_system = False
    for at, item in enumerate(items):
        if isinstance(item, wire.Reference):
            raise _not_found(item.id)
        if item.id is not None and rules.item_ids:
            _check_id(item, item.id, at)
        if item.id is not None and item.id in known:
            message = f"Duplicate item found with id {item.id}. Remove duplicate items from your input and try again."
            raise ApiError(message, parameter="input")
        known |= {item.id} if item.id is not None else set()
        if isinstance(item, wire.FunctionCall | wire.CustomCall | wire.FunctionOutput | wire.CustomOutput):
            _check_call(item, at)
        if rules.system_first and isinstance(item, wire.Instruction) and past_system:
            raise ApiError("A system message must be the first message.", parameter=f"input[{at}]")
        past_system = past_system or not isinstance(item, wire.Instruction)


def _check_id(item: wire.Item, item_id: str, at: int) -> None:
    prefix = HOSTED_PREFIXES.get(item.type, "") if isinstance(item, wire.Hosted) else PREFIXES.get(type(item), "")
    place = f"input[{at}].id"
    if not ITEM_ID.fullmatch(item_id):
        message = "Expected an ID that contains letters, numbers, underscores, or dashes, but this value contained "
        raise ApiError(f"Invalid '{place}': '{item_id}'. {message}additional characters.", parameter=place,
                       code="invalid_value")  # fmt: skip
    if not item_id.startswith(prefix):
        message = f"Invalid '{place}': '{item_id}'. Expected an ID that begins with '{prefix}'."
        raise ApiError(message, parameter=place, code="invalid_value")


def _check_call(item: wire.Call | wire.Output, at: int) -> None:
    place, length = f"input[{at}].call_id", len(item.call_id)
    if not length:
        message = "empty string. Expected a string with minimum length 1, but got an empty string instead."
        raise _invalid(place, message, "empty_string")
    if length > MAX_CALL_ID:
        message = f"Expected a string with maximum length {MAX_CALL_ID}, but got a string with length {length} instead."
        raise _invalid(place, f"string too long. {message}", "string_above_max_length")
    if isinstance(item, wire.FunctionCall):
        _check_name(item.name, f"input[{at}].name")


def _check_pairs(items: Sequence[wire.Item], rules: Rules) -> None:
    """Check that each call has exactly one later output, and each output a call."""
    waiting: list[tuple[str, str]] = []
    for at, item in enumerate(items):
        match item:
            case wire.FunctionCall(call_id=call_id):
                waiting.append(("function", call_id))
            case wire.CustomCall(call_id=call_id):
                waiting.append(("custom tool", call_id))
            case wire.FunctionOutput(call_id=call_id):
                _answer(waiting, ("function", call_id), at, rules)
            case wire.CustomOutput(call_id=call_id):
                _answer(waiting, ("custom tool", call_id), at, rules)
            case _:
                continue
    for kind, call_id in waiting:
        raise ApiError(f"No tool output found for {kind} call {call_id}.", parameter="input")


def _answer(waiting: list[tuple[str, str]], call: tuple[str, str], at: int, rules: Rules) -> None:
    if call not in waiting:
        kind, call_id = call
        raise ApiError(f"No tool call found for {kind} call output with call_id {call_id}.", parameter="input")
    if rules.ordered and waiting[0] != call:
        raise ApiError("Tool results must be in the order of their tool calls.", parameter=f"input[{at}]")
    waiting.remove(call)


def _check_reasoning(items: Sequence[wire.Item], *, stored: bool) -> None:
    for at, item in enumerate(items):
        if not isinstance(item, wire.Reasoning):
            continue
        if not item.encrypted_content and item.id is None:
            message = f"Missing required parameter: 'input[{at}].id'."
            raise ApiError(message, parameter=f"input[{at}].id", code="missing_required_parameter")
        if not item.encrypted_content and not stored:
            raise _not_found(str(item.id))
        if item.encrypted_content and not is_valid(item.encrypted_content, "openai", str(item.id)):
            message = f"The encrypted content for item {item.id} could not be verified."
            raise ApiError(message, code="invalid_encrypted_content")
        following = next(
            (following_item for following_item in items[at + 1 :] if not isinstance(following_item, wire.Reasoning)),
            None,
        )
        if not _is_model_item(following):
            message = f"Item '{item.id}' of type 'reasoning' was provided without its required following item."
            raise ApiError(message, parameter="input")


def _is_model_item(item: wire.Item | None) -> bool:
    if isinstance(item, wire.Hosted):
        return item.type in wire.HOSTED_CALLS or item.type == "compaction"
    return isinstance(item, wire.Assistant | wire.FunctionCall | wire.CustomCall)


def _check_parts(items: Sequence[wire.Item], rules: Rules) -> None:
    images = 0
    for at, item in enumerate(items):
        if isinstance(item, wire.User | wire.Instruction | wire.Assistant) and item.content == []:
            raise _empty_array(f"input[{at}].content")
        if isinstance(item, wire.FunctionOutput | wire.CustomOutput) and item.output == []:
            raise _empty_array(f"input[{at}].output")
        for place, part in parts_of(item, at):
            match part:
                case wire.Image():
                    images += 1
                    _check_image(part, place, rules)
                case wire.File():
                    _check_file(part, place, rules)
                case wire.Text():
                    continue
                case _ as never:
                    assert_never(never)
    if images > MAX_IMAGES:
        raise ApiError(f"Too many images in request. Max is {MAX_IMAGES}.", parameter="input")


def _check_image(part: wire.Image, place: str, rules: Rules) -> None:
    _check_one_source(place, {"image_url": part.image_url, "file_id": part.file_id})
    if part.image_url is None:
        return
    place, parsed = f"{place}.image_url", read_data_url(part.image_url)
    if parsed is None:
        if not part.image_url.startswith("https://"):
            message = "Expected a valid URL, but got a value with an invalid format."
            raise ApiError(f"Invalid '{place}'. {message}", parameter=place, code="invalid_value")
        return
    media_type, data = parsed
    if media_type not in rules.image_types:
        problem = f"but got unsupported MIME type '{media_type}'."
    elif data is None:
        problem = f"but got {_bad_base64(part.image_url)}."
    elif not matches_type(data, media_type):
        raise ApiError(BAD_IMAGE, parameter=place, code="invalid_value")
    elif rules.image_bytes is not None and len(data) > rules.image_bytes:
        problem = f"but got {len(data)} bytes. The largest image has {rules.image_bytes} bytes."
    else:
        return
    raise ApiError(f"Invalid '{place}'. {NO_IMAGE_URL}, {problem}", parameter=place, code="invalid_value")


def _check_file(part: wire.File, place: str, rules: Rules) -> None:
    _check_one_source(place, {"file_data": part.file_data, "file_url": part.file_url, "file_id": part.file_id})
    if part.file_url is not None:
        _check_file_url(part.file_url, f"{place}.file_url")
    elif part.file_data is not None and not rules.inline_files:
        message = "Inline file data is not supported. Use file_id or file_url."
        raise ApiError(f"Invalid '{place}.file_data'. {message}", parameter=f"{place}.file_data", code="invalid_value")
    elif part.file_data is not None and not part.filename:
        message = f"Missing required parameter: '{place}.filename'."
        raise ApiError(message, parameter=f"{place}.filename", code="missing_required_parameter")
    elif part.file_data is not None and (problem := _find_problem(part.file_data)):
        message = f"Invalid file data: '{place}.file_data'. {NO_PDF}, but got {problem}."
        raise ApiError(message, parameter=f"{place}.file_data", code="invalid_value")


def _check_file_url(url: str, place: str) -> None:
    if not url.startswith("https://"):
        message = "Expected a valid URL, but got a value with an invalid format."
        raise ApiError(f"Invalid '{place}'. {message}", parameter=place, code="invalid_value")
    if guess_type(url).startswith(UNFETCHED):
        message = "The file type you uploaded is not supported. Please try again with a pdf"
        raise ApiError(message, parameter="input", code="unsupported_file")


def _find_problem(url: str) -> str:
    """What is wrong with a file's data URL, or an empty string."""
    parsed = read_data_url(url)
    if parsed is None:
        return "a value without the 'data:' prefix"
    media_type, data = parsed
    if not (media_type in DOCUMENTS or media_type.startswith(("text/", OFFICE_XML))):
        return f"unsupported MIME type '{media_type}'"
    if data is None:
        return _bad_base64(url)
    return "" if _matches(data, media_type) else f"data that is not of type '{media_type}'"


def _matches(data: bytes, media_type: str) -> bool:
    if media_type in MAGIC:
        return matches_type(data, media_type)
    if media_type.startswith(OFFICE_XML):
        return data.startswith(b"PK")
    return not any(matches_type(data, other) for other in MAGIC)


def _bad_base64(url: str) -> str:
    empty = url.endswith(";base64,")
    return "empty base64-encoded bytes" if empty else "an invalid base64-encoded value"


def _check_one_source(place: str, sources: dict[str, str | None]) -> None:
    """Check that exactly one of these fields is set."""
    present = [name for name, value in sources.items() if value is not None]
    if not present:
        first = f"{place}.{next(iter(sources))}"
        raise ApiError(f"Missing required parameter: '{first}'.", parameter=first, code="missing_required_parameter")
    if len(present) > 1:
        message = f"Mutually exclusive parameters: '{place}.{present[0]}' and '{place}.{present[1]}'."
        raise ApiError(message, parameter=f"{place}.{present[1]}", code="mutually_exclusive_parameters")


def _not_found(item_id: str) -> ApiError:
    message = "Items are not persisted when `store` is set to false."
    advice = "Try again with `store` set to true, or remove this item from your input."
    return ApiError(f"Item with id '{item_id}' not found. {message} {advice}", status=404, parameter="input")


def _empty_array(place: str) -> ApiError:
    message = "empty array. Expected an array with minimum length 1, but got an empty array instead."
    return _invalid(place, message, "empty_array")


def _invalid(place: str, message: str, code: str) -> ApiError:
    return ApiError(f"Invalid '{place}': {message}", parameter=place, code=code)
