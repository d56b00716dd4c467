"""What POST /v1/responses demands across items and parts: places, order, pairing, media; words as the api has them.

Words that no recording or issue shows are those of the same check elsewhere in OpenAI's api, or plain ones.
"""

from __future__ import annotations

import mimetypes
from collections.abc import Iterator, Sequence
from typing import Any, assert_never, cast
from urllib.parse import urlsplit

from msgspec import Struct

from showandtell.inspector.openai_chat.rules import BAD_IMAGE, IMAGE_TYPES, NO_PDF, TOOL_NAME, read_data_url
from showandtell.inspector.openai_responses import schema as wire
from showandtell.inspector.request import MAGIC, Refusal, is_really

NO_IMAGE_URL = (
    "Expected a base64-encoded data URL with an image MIME type (e.g. 'data:image/png;base64,aW1nIGJ5dGVzIGhlcmU=')"
)
#: Beside text/*: the categories are those of OpenAI's guide on file inputs, some MIME names are from memory.
DOCUMENTS = frozenset({
    "application/pdf", "application/json", "application/xml", "application/yaml", "application/x-yaml",
    "application/javascript", "application/typescript", "application/x-sh", "application/csv", "application/rtf",
    "application/msword", "application/vnd.ms-excel", "application/vnd.ms-powerpoint",
    "application/vnd.oasis.opendocument.text",
})  # fmt: skip
OFFICE_XML = "application/vnd.openxmlformats-officedocument."
UNFETCHED = ("audio/", "video/", "image/")
LOOSE = "'additionalProperties' is required to be supplied and to be false."
CHOICES = frozenset({"none", "auto", "required"})
MOST_IMAGES = 1500  # (from memory)
CALL_ID = 64
PREFIXES: dict[type[wire.Item], str] = {wire.Assistant: "msg", wire.FunctionCall: "fc", wire.Reasoning: "rs"}


class Rules(Struct, frozen=True):
    """Where the hosts of this api differ. image_bytes: the most of one picture; ordered: results as their calls."""

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
    """Raise `Refusal` for the first rule that a well-typed body breaks; `items` and `tools` are those decoded."""
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
    """Every input part of an item with its path, such as input[3].output[0]."""
    if isinstance(item, wire.User) and not isinstance(item.content, str):
        yield from ((f"input[{at}].content[{index}]", part) for index, part in enumerate(item.content))
    elif isinstance(item, wire.FunctionOutput | wire.CustomOutput) and not isinstance(item.output, str):
        yield from ((f"input[{at}].output[{index}]", part) for index, part in enumerate(item.output))


def guess_type(name: str) -> str:
    """The media type that the end of a name or URL stands for, or nothing."""
    return mimetypes.guess_type(urlsplit(name).path if "://" in name else name)[0] or ""


def _check_numbers(body: wire.Body) -> None:
    if body.max_output_tokens is not None and body.max_output_tokens < 16:
        words = f"integer below minimum value. Expected a value >= 16, but got {body.max_output_tokens} instead."
        raise _invalid("max_output_tokens", words, "integer_below_min_value")
    for name, value, most in (("temperature", body.temperature, 2), ("top_p", body.top_p, 1)):
        if value is not None and value > most:
            words = f"decimal above maximum value. Expected a value <= {most}, but got {value:g} instead."
            raise _invalid(name, words, "decimal_above_max_value")
        if value is not None and value < 0:
            words = f"decimal below minimum value. Expected a value >= 0, but got {value:g} instead."
            raise _invalid(name, words, "decimal_below_min_value")
    if body.stream_options is not None and not body.stream:
        words = "The 'stream_options' parameter is only allowed when 'stream' is enabled."
        raise Refusal(words, parameter="stream_options")


def _check_state(body: wire.Body) -> None:
    """Nothing is kept here, so that nothing can be continued."""
    if body.previous_response_id is not None:
        words = f"Previous response with id '{body.previous_response_id}' not found."
        raise Refusal(words, parameter="previous_response_id", code="previous_response_not_found")
    for name, value in (("conversation", body.conversation), ("prompt", body.prompt)):
        if value is not None:
            found = value if isinstance(value, str) else value.get("id")
            raise Refusal(f"{name.title()} with id '{found}' not found.", status=404, parameter=name)


def _check_tools(tools: Sequence[wire.Tool]) -> None:
    for at, tool in enumerate(tools):
        _check_name(tool.name, f"tools[{at}].name")
        if tool.parameters is not None:
            where = f"function '{tool.name}'", f"tools[{at}].parameters", "invalid_function_parameters"
            _check_schema(tool.parameters, where, strict=tool.strict is True)


def _check_format(body: wire.Body) -> None:
    chosen = body.text.format if isinstance(body.text, wire.TextOptions) else None
    if isinstance(chosen, wire.SchemaFormat):
        _check_name(chosen.name, "text.format.name")
        where = f"response_format '{chosen.name}'", "text.format.schema", "invalid_json_schema"
        _check_schema(chosen.schema, where, strict=chosen.strict is True)


def _check_name(name: str, place: str) -> None:
    if not TOOL_NAME.fullmatch(name):
        words = "string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'."
        raise _invalid(place, words, "invalid_value")


def _check_schema(schema: dict[str, Any], where: tuple[str, str, str], *, strict: bool) -> None:
    owner, place, code = where
    if schema.get("type") != "object":
        words = f"schema must be a JSON Schema of 'type: \"object\"', got 'type: \"{schema.get('type')}\"'."
        raise Refusal(f"Invalid schema for {owner}: {words}", parameter=place, code=code)
    for context, problem in _find_loose(schema, ()) if strict else ():
        words = f"Invalid schema for {owner}: In context={context}, {problem}"
        raise Refusal(words, parameter=place, code=code)


def _find_loose(schema: dict[str, Any], context: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], str]]:
    """Every object of a schema that is not strict: one that lets other fields in, or leaves some out."""
    properties = _entries(schema.get("properties"))
    if schema.get("type") == "object" or properties:
        if schema.get("additionalProperties") is not False:
            yield context, LOOSE
        required = schema.get("required")
        for name in properties:
            if not isinstance(required, list) or name not in required:
                words = "to be an array including every key in properties."
                yield context, f"'required' is required to be supplied and {words} Missing '{name}'."
    for key in ("properties", "$defs", "definitions"):
        for name, inner in _entries(schema.get(key)).items():
            yield from _find_loose(_entries(inner), (*context, key, name))
    yield from _find_loose(_entries(schema["items"]), (*context, "items")) if "items" in schema else ()
    options = schema.get("anyOf")
    for at, inner in enumerate(cast("list[Any]", options) if isinstance(options, list) else ()):
        yield from _find_loose(_entries(inner), (*context, "anyOf", str(at)))


def _entries(value: Any) -> dict[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def _check_choice(body: wire.Body, tools: Sequence[wire.Tool]) -> None:
    choice = body.tool_choice
    if isinstance(choice, str):
        if choice not in CHOICES:
            words = f"Invalid value: '{choice}'. Supported values are: 'none', 'auto', and 'required'."
            raise Refusal(words, parameter="tool_choice", code="invalid_value")
        named = []
    elif choice.type == "allowed_tools":
        allowed = choice.tools if isinstance(choice.tools, list) else []
        named = [str(tool.get("name")) for tool in allowed if tool.get("type") == "function"]
    else:
        named = [str(choice.name)] if choice.type == "function" else []
    if choice not in ("none", "auto") and not body.tools:
        words = "Invalid value for 'tool_choice': 'tool_choice' is only allowed when 'tools' are specified."
        raise Refusal(words, parameter="tool_choice")
    for name in named:
        if name not in {tool.name for tool in tools}:
            raise Refusal(f"Tool choice '{name}' not found in 'tools' parameter.", parameter="tool_choice")


def _check_items(items: Sequence[wire.Item], rules: Rules) -> None:
    if not items:
        raise _empty_array("input")
    known: set[str] = set()
    spoken = False
    for at, item in enumerate(items):
        if isinstance(item, wire.Reference):
            raise _not_found(item.id)
        if item.id is not None and rules.item_ids:
            _check_id(item, item.id, at)
        if item.id is not None and item.id in known:
            words = f"Duplicate item found with id {item.id}. Remove duplicate items from your input and try again."
            raise Refusal(words, parameter="input")
        known |= {item.id} if item.id is not None else set()
        if isinstance(item, wire.FunctionCall | wire.CustomCall | wire.FunctionOutput | wire.CustomOutput):
            _check_call(item, at)
        if rules.system_first and isinstance(item, wire.Instruction) and spoken:
            raise Refusal("A system message must be the first message.", parameter=f"input[{at}]")
        spoken = spoken or not isinstance(item, wire.Instruction)


def _check_id(item: wire.Item, item_id: str, at: int) -> None:
    prefix = PREFIXES.get(type(item), "")
    if not item_id.startswith(prefix):
        words = f"Invalid 'input[{at}].id': '{item_id}'. Expected an ID that begins with '{prefix}'."
        raise Refusal(words, parameter=f"input[{at}].id", code="invalid_value")


def _check_call(item: wire.Call | wire.Output, at: int) -> None:
    place, length = f"input[{at}].call_id", len(item.call_id)
    if not length:
        words = "empty string. Expected a string with minimum length 1, but got an empty string instead."
        raise _invalid(place, words, "empty_string")
    if length > CALL_ID:
        words = f"Expected a string with maximum length {CALL_ID}, but got a string with length {length} instead."
        raise _invalid(place, f"string too long. {words}", "string_above_max_length")
    if isinstance(item, wire.FunctionCall):
        _check_name(item.name, f"input[{at}].name")


def _check_pairs(items: Sequence[wire.Item], rules: Rules) -> None:
    """Every output answers one earlier call that no other has answered, and no call stays without one."""
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
        raise Refusal(f"No tool output found for {kind} call {call_id}.", parameter="input")


def _answer(waiting: list[tuple[str, str]], call: tuple[str, str], at: int, rules: Rules) -> None:
    if call not in waiting:
        kind, call_id = call
        raise Refusal(f"No tool call found for {kind} call output with call_id {call_id}.", parameter="input")
    if rules.ordered and waiting[0] != call:
        raise Refusal("Tool results must be in the order of their tool calls.", parameter=f"input[{at}]")
    waiting.remove(call)


def _check_reasoning(items: Sequence[wire.Item], *, stored: bool) -> None:
    for at, item in enumerate(items):
        if not isinstance(item, wire.Reasoning):
            continue
        if not item.encrypted_content and item.id is None:
            words = f"Missing required parameter: 'input[{at}].id'."
            raise Refusal(words, parameter=f"input[{at}].id", code="missing_required_parameter")
        if not item.encrypted_content and not stored:
            raise _not_found(str(item.id))
        following = next((one for one in items[at + 1 :] if not isinstance(one, wire.Reasoning)), None)
        if not _is_models(following):
            words = f"Item '{item.id}' of type 'reasoning' was provided without its required following item."
            raise Refusal(words, parameter="input")


def _is_models(item: wire.Item | None) -> bool:
    if isinstance(item, wire.Hosted):
        return item.type in wire.HOSTED_CALLS
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
    if images > MOST_IMAGES:
        raise Refusal(f"Too many images in request. Max is {MOST_IMAGES}.", parameter="input")


def _check_image(part: wire.Image, place: str, rules: Rules) -> None:
    _check_one(place, {"image_url": part.image_url, "file_id": part.file_id})
    if part.image_url is None:
        return
    place, found = f"{place}.image_url", read_data_url(part.image_url)
    if found is None:
        if not part.image_url.startswith("https://"):
            words = "Expected a valid URL, but got a value with an invalid format."
            raise Refusal(f"Invalid '{place}'. {words}", parameter=place, code="invalid_value")
        return
    media_type, data = found
    if media_type not in rules.image_types:
        problem = f"but got unsupported MIME type '{media_type}'."
    elif data is None:
        problem = f"but got {_bad_base64(part.image_url)}."
    elif not is_really(data, media_type):
        raise Refusal(BAD_IMAGE, parameter=place, code="invalid_value")
    elif rules.image_bytes is not None and len(data) > rules.image_bytes:
        problem = f"but got {len(data)} bytes. The largest image has {rules.image_bytes} bytes."
    else:
        return
    raise Refusal(f"Invalid '{place}'. {NO_IMAGE_URL}, {problem}", parameter=place, code="invalid_value")


def _check_file(part: wire.File, place: str, rules: Rules) -> None:
    _check_one(place, {"file_data": part.file_data, "file_url": part.file_url, "file_id": part.file_id})
    if part.file_url is not None:
        _check_file_url(part.file_url, f"{place}.file_url")
    elif part.file_data is not None and not rules.inline_files:
        words = "Inline file data is not supported. Use file_id or file_url."
        raise Refusal(f"Invalid '{place}.file_data'. {words}", parameter=f"{place}.file_data", code="invalid_value")
    elif part.file_data is not None and not part.filename:
        words = f"Missing required parameter: '{place}.filename'."
        raise Refusal(words, parameter=f"{place}.filename", code="missing_required_parameter")
    elif part.file_data is not None and (problem := _find_fault(part.file_data)):
        words = f"Invalid file data: '{place}.file_data'. {NO_PDF}, but got {problem}."
        raise Refusal(words, parameter=f"{place}.file_data", code="invalid_value")


def _check_file_url(url: str, place: str) -> None:
    if not url.startswith("https://"):
        words = "Expected a valid URL, but got a value with an invalid format."
        raise Refusal(f"Invalid '{place}'. {words}", parameter=place, code="invalid_value")
    if guess_type(url).startswith(UNFETCHED):
        words = "The file type you uploaded is not supported. Please try again with a pdf"
        raise Refusal(words, parameter="input", code="unsupported_file")


def _find_fault(url: str) -> str:
    """What is wrong with a file's data URL; nothing where it is right."""
    found = read_data_url(url)
    if found is None:
        return "a value without the 'data:' prefix"
    media_type, data = found
    if not (media_type in DOCUMENTS or media_type.startswith(("text/", OFFICE_XML))):
        return f"unsupported MIME type '{media_type}'"
    if data is None:
        return _bad_base64(url)
    return "" if _fits(data, media_type) else f"data that is not of type '{media_type}'"


def _fits(data: bytes, media_type: str) -> bool:
    if media_type in MAGIC:
        return is_really(data, media_type)
    if media_type.startswith(OFFICE_XML):
        return data.startswith(b"PK")
    return not any(is_really(data, other) for other in MAGIC)


def _bad_base64(url: str) -> str:
    empty = url.endswith(";base64,")
    return "empty base64-encoded bytes" if empty else "an invalid base64-encoded value"


def _check_one(place: str, sources: dict[str, str | None]) -> None:
    """Bytes come from exactly one of these fields."""
    given = [name for name, value in sources.items() if value is not None]
    if not given:
        first = f"{place}.{next(iter(sources))}"
        raise Refusal(f"Missing required parameter: '{first}'.", parameter=first, code="missing_required_parameter")
    if len(given) > 1:
        words = f"Mutually exclusive parameters: '{place}.{given[0]}' and '{place}.{given[1]}'."
        raise Refusal(words, parameter=f"{place}.{given[1]}", code="mutually_exclusive_parameters")


def _not_found(item_id: str) -> Refusal:
    words = "Items are not persisted when `store` is set to false."
    advice = "Try again with `store` set to true, or remove this item from your input."
    return Refusal(f"Item with id '{item_id}' not found. {words} {advice}", status=404, parameter="input")


def _empty_array(place: str) -> Refusal:
    words = "empty array. Expected an array with minimum length 1, but got an empty array instead."
    return _invalid(place, words, "empty_array")


def _invalid(place: str, words: str, code: str) -> Refusal:
    return Refusal(f"Invalid '{place}': {words}", parameter=place, code=code)
