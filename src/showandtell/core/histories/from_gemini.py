"""Imports histories of Gemini and Vertex AI: contents and parts as REST or SDK dicts, or as SDK objects."""

from __future__ import annotations

import re
from itertools import groupby
from typing import Any, cast

import pybase64

from showandtell.checking.checked import checked
from showandtell.core.histories.reading import (
    History,
    Item,
    Parts,
    Reading,
    decode_file,
    linked_file,
    list_items,
    located_errors,
    text_parts,
    to_json,
    unsupported,
)
from showandtell.core.messages.message import Stop
from showandtell.core.messages.parts import Json, Opaque, Text, ToolCall
from showandtell.core.wire.gemini.hosted import ADDED, CODE, describe_part

PROVIDER = "google"
#: Our stop reasons by Gemini's `finishReason`. Others are refusals or errors.
STOPS: dict[str, Stop] = {"STOP": "end", "MAX_TOKENS": "length"}
REFUSALS = frozenset(
    {
        "SAFETY",
        "RECITATION",
        "BLOCKLIST",
        "PROHIBITED_CONTENT",
        "SPII",
        "IMAGE_SAFETY",
        "IMAGE_PROHIBITED_CONTENT",
        "IMAGE_RECITATION",
        "MODEL_ARMOR",
    }
)
#: Fields of the model's parts with a meaning of their own. All others are of tools that Google runs, or newer ones.
OWN_FIELDS = frozenset({"text", "inlineData", "fileData"})
#: Fields that a content or a response has, and a part has not. A blocked prompt has no candidates.
RESPONSE_FIELDS = frozenset({"parts", "candidates", "promptFeedback", "prompt_feedback"})
#: Fields with keys of the program, which aren't converted to camelCase.
FREE_FORM_FIELDS = frozenset({"args", "response"})


@checked
def from_gemini(contents: object) -> History:
    """Import contents, parts, texts and `GenerateContentResponse` objects, mixed in any way.

    Every functionResponse becomes its own message. Without ids, which are optional, calls are numbered, and responses
    belong to the first open call of that name. Raises `BadConversation`, with the place, for a part of unknown type and
    for a response without its call. Raises `BadFile` for media that can't be read.

    >>> from showandtell import from_gemini
    >>> history = from_gemini([{"role": "user", "parts": [{"text": "hello"}]}])
    >>> history[0].role, history[0].parts[0].text
    ('user', 'hello')
    """
    reading = Reading()
    waiting: list[ToolCall] = []
    for is_user_part, group in groupby(
        enumerate(list_items(contents, "contents")), lambda pair: _is_user_part(pair[1])
    ):
        places = [(f"contents[{index}]", item) for index, item in group]
        if is_user_part:
            # As in the SDK, adjacent parts and texts are one user message.
            with located_errors(places[0][0]):
                _user([(place, _part(item)) for place, item in places], reading, waiting)
            continue
        for place, item in places:
            with located_errors(place):
                _read_item(item, place, reading, waiting)
    return reading.history


def _is_user_part(item: Any) -> bool:
    return isinstance(item, str) or (isinstance(item, dict) and not RESPONSE_FIELDS & item.keys())


def _part(item: Any) -> Item:
    """A text, a part or an uploaded `File` of the SDK as a part."""
    match item:
        case str():
            return {"text": item}
        case {"uri": str() as uri}:
            fields = {"displayName": item.get("display_name"), "mimeType": item.get("mime_type")}
            return {"fileData": {"fileUri": uri, **fields}}
        case _:
            return _to_rest(item)


def _read_item(item: Any, place: str, reading: Reading, waiting: list[ToolCall]) -> None:
    match item:
        case {"candidates": [candidate, *_]}:
            ended: Item = _to_rest(candidate)
            content: Item = ended.get("content") or {}
            _model(content.get("parts"), place, reading, waiting)
            reading.set_stop(_stop(ended.get("finishReason"), reading))
        case {"candidates": _} | {"promptFeedback": _} | {"prompt_feedback": _}:
            reading.add_assistant([], "refusal")  # the prompt was blocked
        case {"role": "model", "parts": parts}:
            _model(parts, place, reading, waiting)
        case {"parts": parts}:
            _user(_places(parts, place), reading, waiting)
        case _:
            raise unsupported(place, item)


def _model(parts: list[Item] | None, place: str, reading: Reading, waiting: list[ToolCall]) -> None:
    reading.add_assistant(
        [part for at, item in _places(parts, place) for part in _model_part(item, at, reading, waiting)]
    )


def _stop(reason: str | None, reading: Reading) -> Stop | None:
    """The stop reason. None if the message has a better one, because Gemini sends STOP after calls, too."""
    stop = "refusal" if reason in REFUSALS else STOPS.get(reason or "STOP", "error")
    return None if stop == "end" and reading.history[-1].stop == "tool_calls" else stop


def _places(parts: list[Item] | None, place: str) -> list[tuple[str, Item]]:
    return [(f"{place}.parts[{index}]", _to_rest(part)) for index, part in enumerate(parts or ())]


def _to_rest(value: Any) -> Any:
    """A value as REST sends it: camelCase keys, no empty fields, bytes (signatures) as base64."""
    match value:
        case dict():
            fields = cast("Item", value)
            return {
                (name := re.sub(r"_([a-z])", lambda match: match[1].upper(), key)): (
                    item if name in FREE_FORM_FIELDS or name == "data" else _to_rest(item)
                )
                for key, item in fields.items()
                if item is not None
            }
        case list():
            return [_to_rest(item) for item in cast("list[Any]", value)]
        case bytes():
            return pybase64.b64encode(value).decode()
        case _:
            return value


def _user(parts: list[tuple[str, Item]], reading: Reading, waiting: list[ToolCall]) -> None:
    """Split a content into tool results and user messages, in the order of the parts."""
    pending: Parts = []
    for place, part in parts:
        if "functionResponse" not in part:
            pending += _media_part(part, place)
            continue
        if pending:
            reading.add_user(pending)
            pending = []
        _result(part["functionResponse"], place, reading, waiting)
    if pending or not parts:
        reading.add_user(pending)


def _result(response: Item, place: str, reading: Reading, waiting: list[ToolCall]) -> None:
    name, call_id = response.get("name"), response.get("id")
    match = next((call for call in waiting if (call.call_id == call_id if call_id else call.tool == name)), None)
    if match:
        waiting.remove(match)
        call_id = match.call_id
    output, is_error = _output(response.get("response") or {})
    files = [part for at, item in _places(response.get("parts"), place) for part in _media_part(item, at)]
    reading.add_result(call_id or f"of {name}", output + files, place, is_error=is_error)


def _output(response: Item) -> tuple[Parts, bool]:
    """The parts of a response, and whether it is an error. By convention it has one key, `output` or `error`."""
    match response:
        case {"output": value, **rest} | {"result": value, **rest} if not rest:
            return _value(value), False
        case {"error": value, **rest} if not rest:
            return _value(value), True
        case _:
            return ([Json(to_json(response))] if response else []), False


def _value(value: object) -> Parts:
    return text_parts(value) if isinstance(value, str) else [Json(to_json(value))]


def _model_part(part: Item, place: str, reading: Reading, waiting: list[ToolCall]) -> Parts:
    """The parts of a model's part. A signature stays with its call, or follows its text as an opaque part."""
    signature = part.get("thoughtSignature")
    if "functionCall" in part:
        call = part["functionCall"]
        call_id = call.get("id") or _new_id(reading)
        opaque = Opaque(PROVIDER, signature) if signature else None
        tool_call = ToolCall(call_id, call["name"], to_json(call.get("args") or {}), opaque)
        reading.calls[call_id] = tool_call.tool
        waiting.append(tool_call)
        return [tool_call]
    if not OWN_FIELDS & part.keys() and part.keys() - ADDED:
        code = next((name for name in reversed(reading.hosted) if reading.hosted[name] == CODE), "")
        return [reading.keep(describe_part(part, len(reading.hosted), code), PROVIDER)]
    if part.get("thought"):
        return [Opaque(PROVIDER, to_json(part))] if signature else []
    opaque = Opaque(PROVIDER, to_json({"text": "", "thoughtSignature": signature}))
    return _media_part(part, place) + ([opaque] if signature else [])


def _new_id(reading: Reading) -> str:
    number = len(reading.calls) + 1
    while f"call_{number}" in reading.calls:
        number += 1
    return f"call_{number}"


def _media_part(part: Item, place: str) -> Parts:
    match part:
        case {"text": str() as text}:
            return [Text(text)] if text else []
        case {"inlineData": {"data": data, **blob}}:
            return [decode_file(data, blob.get("mimeType"), blob.get("displayName"))]
        case {"fileData": {"fileUri": uri, **blob}}:
            return [linked_file(uri, None, blob.get("displayName"), blob.get("mimeType"))]
        case {"thoughtSignature": _}:
            return []
        case _:
            raise unsupported(place, part)
