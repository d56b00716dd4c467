"""Read a body of POST /v1/responses as strictly as its hosts do (OpenAI, Azure, xAI), and refuse in their own words."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

import msgspec
from msgspec import Raw

from showandtell.inspector.openai_chat.read import KINDS, fill, spell_refusal, too_large
from showandtell.inspector.openai_chat.rules import list_values, spell_path
from showandtell.inspector.openai_responses import schema as wire
from showandtell.inspector.openai_responses import write
from showandtell.inspector.openai_responses.rules import CHOICES, OPENAI, XAI, Rules, check_body, guess_type
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
    fault_of,
    merge_turns,
)

INPUT_TYPES = "'input_text', 'input_image', and 'input_file'"
#: What the api names where a part's type is known nowhere (langchainjs #11248).
EVERY_TYPE = (
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
    """Read a whole request. Raises `Refusal` for what the host would answer with 400 or 404."""
    decoded = _decode(body, wire.Body, "")
    items = _decode_items(decoded.input)
    tools = [tool for at, raw in enumerate(decoded.tools) if (tool := _decode_tool(raw, f"tools[{at}]"))]
    check_body(decoded, items, tools, rules)
    turns = merge_turns([turn for at, item in enumerate(items) for turn in _read_item(item, at)])
    instructions = [_read_text(item.content) for item in items if isinstance(item, wire.Instruction)]
    offers = tuple(OfferedTool(tool.name, tool.description or "", tool.parameters or {}) for tool in tools)
    choice, offers = _read_choice(decoded.tool_choice, offers)
    return ModelRequest(
        model=decoded.model,
        turns=turns or (RequestTurn("user", ()),),
        tools=offers,
        tool_choice=choice,
        system="\n".join([*filter(None, [decoded.instructions]), *instructions]),
        parallel=decoded.parallel_tool_calls is not False,
        stream=bool(decoded.stream),
        stream_usage=True,
        max_tokens=decoded.max_output_tokens,
    )


def spell(reply: Reply, asked: ModelRequest, name: str) -> Iterator[bytes]:
    """The answer, streamed or whole."""
    if asked.stream:
        return write.spell_stream(reply, asked, name)
    return iter((write.spell_response(reply, asked, name),))


def spell_xai_refusal(refusal: Refusal) -> bytes:
    """The error form of xAI, and its words for a field that it doesn't know (openclaw #12910)."""
    words = refusal.message
    if refusal.code == "unknown_parameter":
        words = f"Argument not supported: {refusal.parameter}"
    return msgspec.json.encode({"code": str(refusal.status), "error": words})


def _decode(raw: bytes | Raw, kind: type[Kind], place: str) -> Kind:
    try:
        return msgspec.json.decode(raw, type=kind)
    except msgspec.ValidationError as error:
        raise _refuse(fault_of(error), kind, place) from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        words = "We could not parse the JSON body of your request. (HINT: it isn't valid JSON.)"
        raise Refusal(words) from None


def _decode_items(given: str | list[Raw]) -> list[wire.Item]:
    if isinstance(given, str):
        return [wire.User(role="user", content=given)]
    return [_decode_item(raw, f"input[{at}]") for at, raw in enumerate(given)]


def _decode_item(raw: Raw, place: str) -> wire.Item:
    peek = _decode(raw, wire.Peek, place)
    if peek.type == "message" or (peek.type is None and peek.role is not None):
        if peek.role not in wire.ROLES:
            raise _unsupported(peek.role, ROLES, f"{place}.role")
        return _decode(raw, wire.ROLES[peek.role], place)
    if peek.type is None:
        return _decode(raw, wire.Reference, place)
    if peek.type in wire.HOSTED_CALLS | wire.HOSTED_OUTPUTS:
        return _decode(raw, wire.Hosted, place)
    if peek.type not in wire.ITEMS:
        known = sorted({"message", *wire.ITEMS, *wire.HOSTED_CALLS, *wire.HOSTED_OUTPUTS})
        raise _unsupported(peek.type, list_values(known), f"{place}.type")
    return _decode(raw, wire.ITEMS[peek.type], place)


def _decode_tool(raw: Raw, place: str) -> wire.Tool | None:
    """A function; None for a tool of the host's own."""
    peek = _decode(raw, wire.Hosted, place)
    if peek.type in wire.HOSTED_TOOLS:
        return None
    if peek.type != "function":
        raise _unsupported(peek.type, list_values(sorted({"function", *wire.HOSTED_TOOLS})), f"{place}.type")
    return _decode(raw, wire.Tool, place)


def _read_choice(choice: str | wire.Choice, offers: tuple[OfferedTool, ...]) -> tuple[str, tuple[OfferedTool, ...]]:
    """The choice in words of no api, and the tools that it leaves; the host's own tools can't be called here."""
    if isinstance(choice, str):
        return choice if offers or choice not in CHOICES - {"none"} else "auto", offers
    if choice.type == "function" and choice.name is not None:
        return choice.name, offers
    if choice.type != "allowed_tools":
        return "auto", offers
    allowed = {tool.get("name") for tool in choice.tools} if isinstance(choice.tools, list) else set[Any]()
    left = tuple(offer for offer in offers if offer.name in allowed)
    return "required" if choice.mode == "required" and left else "auto", left


def _read_text(content: str | Sequence[Any]) -> str:
    """The texts of a message, a line each."""
    if isinstance(content, str):
        return content
    return "\n".join(part.text for part in content if isinstance(part, wire.Text | wire.Said))


def _read_item(item: wire.Item, at: int) -> list[RequestTurn]:
    match item:
        case wire.User():
            return [RequestTurn("user", tuple(_read_parts(item.content, f"input[{at}].content", "user", None)))]
        case wire.Assistant():
            text = _read_text(item.content)
            return [RequestTurn("assistant", (Words(text),))] if text else []
        case wire.FunctionCall():
            return [RequestTurn("assistant", (Call(item.call_id, item.name, item.arguments),))]
        case wire.CustomCall():
            arguments = msgspec.json.encode({"input": item.input}).decode()
            return [RequestTurn("assistant", (Call(item.call_id, item.name, arguments),))]
        case wire.FunctionOutput() | wire.CustomOutput():
            parts = tuple(_read_parts(item.output, f"input[{at}].output", "tool_result", item.call_id))
            return [RequestTurn("user", (Result(item.call_id, parts, _tells_failure(parts)),))]
        case wire.Instruction() | wire.Reasoning() | wire.Reference() | wire.Hosted():
            return []


def _tells_failure(parts: Sequence[Words | ReceivedFile]) -> bool:
    """Whether a result says `{"error": …}`, as clients write a failure where the api has no field for it."""
    first = next((part.text for part in parts if isinstance(part, Words)), "")
    try:
        return first.startswith('{"error"') and set(msgspec.json.decode(first, type=dict[str, Raw])) == {"error"}
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return False


def _read_parts(
    content: str | Sequence[wire.Input], path: str, place: Place, call_id: str | None
) -> Iterator[Words | ReceivedFile]:
    if isinstance(content, str):
        yield from [Words(content)] if content else []
        return
    label, piece = "", 0
    for index, part in enumerate(content):
        if isinstance(part, wire.Text):
            label, piece = part.text, 0
            yield Words(label)
        else:
            piece += 1
            seen = ReceivedFile(place, "", f"{path}[{index}]", call_id=call_id, label=label, piece=piece)
            yield _read_image(part, seen) if isinstance(part, wire.Image) else _read_file(part, seen)


def _read_image(part: wire.Image, seen: ReceivedFile) -> ReceivedFile:
    return fill(seen, part.image_url or part.file_id or "", "image/*")


def _read_file(part: wire.File, seen: ReceivedFile) -> ReceivedFile:
    source = part.file_data or part.file_url or part.file_id or ""
    guess = guess_type(part.filename or part.file_url or "") or "application/pdf"
    return fill(seen, source, guess, part.filename or "")


def _refuse(fault: Fault, kind: type[Any], prefix: str) -> Refusal:
    """Say a fault as the api's own validator does; `prefix` is where the faulty object stands."""
    place = spell_path((prefix, *fault.path) if prefix else fault.path)
    name = f"{place}.{fault.detail}".removeprefix(".")
    match fault.shape:
        case "unknown":
            return Refusal(f"Unknown parameter: '{name}'.", parameter=name, code="unknown_parameter")
        case "missing":
            return Refusal(f"Missing required parameter: '{name}'.", parameter=name, code="missing_required_parameter")
        case "type":
            words = f"expected {_wanted(fault.detail)}, but got {KINDS.get(fault.got, 'another')} instead."
            return Refusal(f"Invalid type for '{place}': {words}", parameter=place, code="invalid_type")
        case "value" if fault.detail == OUT_OF_RANGE:
            words = f"Invalid value for '{place}': expected a finite number."
            return Refusal(words, parameter=place, code="invalid_value")
        case "value":
            nested = kind in SUPPORTED and len(fault.path) == 3 and fault.path[-1] == "type"
            known = fault.detail in EVERY_TYPE.replace("'", "").replace("and ", "").split(", ")
            allowed = "" if not nested else SUPPORTED[kind] if known else EVERY_TYPE
            return _unsupported(fault.detail, allowed, place)


def _wanted(detail: str) -> str:
    """Types as the api lists them: one of a string or array of objects."""
    kinds = [KINDS.get(kind, kind) for kind in detail.split(" | ") if kind != "null"]
    if len(kinds) == 1:
        return kinds[0]
    bare = [re.sub("^an? ", "", kind).replace("array", "array of objects") for kind in kinds]
    return f"one of a {' or '.join(sorted(bare, reverse=True))}"


def _unsupported(value: str | None, allowed: str, place: str) -> Refusal:
    words = f"Invalid value: '{value}'." + (f" Supported values are: {allowed}." if allowed else "")
    return Refusal(words, parameter=place, code="invalid_value")


def _reader(rules: Rules) -> Callable[[IncomingRequest], ModelRequest]:
    return lambda incoming: read_body(incoming.body, rules)


def _house(base: str, path: str, rules: Rules, refuse: Callable[[Refusal], bytes] = spell_refusal) -> Host:
    return Host(
        base=base,
        path=re.compile(re.escape(path)),
        read=_reader(rules),
        spell=spell,
        refuse=refuse,
        largest=50 * 1024 * 1024,
        too_large=too_large,
    )


HOUSES: tuple[Host, ...] = (
    _house("openai", "/v1/responses", OPENAI),
    _house("azure", "/openai/v1/responses", OPENAI),
    _house("xai", "/v1/responses", XAI, spell_xai_refusal),
)
