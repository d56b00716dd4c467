"""Histories of Gemini and Vertex as drafts: contents and parts in REST's spelling, the SDK's, or its objects."""

from __future__ import annotations

import re
from itertools import groupby
from typing import Any, cast

import pybase64

from showandtell.core.histories.reading import (
    History,
    Item,
    Parts,
    Reading,
    inline,
    items_of,
    link,
    shaped,
    to_json,
    unknown,
    words,
)
from showandtell.core.messages.messages import Stop
from showandtell.core.messages.parts import Json, Opaque, Text, ToolCall

PROVIDER = "google"
#: Why a candidate ended, in Gemini's words and ours; other words say that something went wrong.
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
#: Parts that only Google can use: they go back as they came.
OWN = ("executableCode", "codeExecutionResult", "toolCall", "toolResponse")
#: Fields whose keys are the program's own, and stay as they are.
VALUES = frozenset({"args", "response"})


def from_gemini(contents: object) -> History:
    """Adopt contents, parts, texts and whole `GenerateContentResponse` answers, in any mixture.

    Every functionResponse becomes a message of its own; where ids are left out, as hosts allow, calls are numbered
    and answered in order by name. Raises `BadConversation` for a part of unknown type, naming its place, and for a
    response without its call; `BadFile` for media that can't be read.
    """
    reading = Reading()
    waiting: list[ToolCall] = []
    for is_bare, group in groupby(enumerate(items_of(contents, "contents")), lambda pair: _is_bare(pair[1])):
        places = [(f"contents[{index}]", item) for index, item in group]
        if is_bare:
            # As in the SDK, parts and texts side by side are one message of the user.
            with shaped(places[0][0]):
                _user([(place, _part(item)) for place, item in places], reading, waiting)
            continue
        for place, item in places:
            with shaped(place):
                _take(item, place, reading, waiting)
    return reading.history


def _is_bare(item: Any) -> bool:
    return isinstance(item, str) or (isinstance(item, dict) and not {"parts", "candidates"} & item.keys())


def _part(item: Any) -> Item:
    """A lone text, part or uploaded `File` of the SDK as a part."""
    match item:
        case str():
            return {"text": item}
        case {"uri": str() as uri}:
            kept = {"displayName": item.get("display_name"), "mimeType": item.get("mime_type")}
            return {"fileData": {"fileUri": uri, **kept}}
        case _:
            return _rest(item)


def _take(item: Any, place: str, reading: Reading, waiting: list[ToolCall]) -> None:
    match item:
        case {"candidates": [candidate, *_]}:
            found: Item = _rest(candidate)
            content: Item = found.get("content") or {}
            _model(content.get("parts"), place, reading, waiting)
            reading.stop(_stop(found.get("finishReason"), reading))
        case {"candidates": _}:
            reading.answer([], "refusal")  # the prompt was blocked
        case {"role": "model", "parts": parts}:
            _model(parts, place, reading, waiting)
        case {"parts": parts}:
            _user(_places(parts, place), reading, waiting)
        case _:
            raise unknown(place, item)


def _model(parts: list[Item] | None, place: str, reading: Reading, waiting: list[ToolCall]) -> None:
    reading.answer([part for at, held in _places(parts, place) for part in _said(held, at, reading, waiting)])


def _stop(reason: str | None, reading: Reading) -> Stop | None:
    """What the reason says; None where the message says it already, for Gemini's STOP comes after calls as well."""
    stop = "refusal" if reason in REFUSALS else STOPS.get(reason or "STOP", "error")
    return None if stop == "end" and reading.history[-1].stop == "tool_calls" else stop


def _places(parts: list[Item] | None, place: str) -> list[tuple[str, Item]]:
    return [(f"{place}.parts[{index}]", _rest(part)) for index, part in enumerate(parts or ())]


def _rest(value: Any) -> Any:
    """A value as REST spells it: camelCase keys, empty fields left out, bytes (signatures) in base64."""
    match value:
        case dict():
            fields = cast("Item", value)
            return {
                (name := re.sub(r"_([a-z])", lambda found: found[1].upper(), key)): (
                    held if name in VALUES or name == "data" else _rest(held)
                )
                for key, held in fields.items()
                if held is not None
            }
        case list():
            return [_rest(held) for held in cast("list[Any]", value)]
        case bytes():
            return pybase64.b64encode(value).decode()
        case _:
            return value


def _user(parts: list[tuple[str, Item]], reading: Reading, waiting: list[ToolCall]) -> None:
    """Part a content into tools' results and what the user says, in the order of the parts."""
    said: Parts = []
    for place, part in parts:
        if "functionResponse" not in part:
            said += _seen(part, place)
            continue
        if said:
            reading.ask(said)
            said = []
        _result(part["functionResponse"], place, reading, waiting)
    if said or not parts:
        reading.ask(said)


def _result(response: Item, place: str, reading: Reading, waiting: list[ToolCall]) -> None:
    name, call_id = response.get("name"), response.get("id")
    found = next((call for call in waiting if (call.call_id == call_id if call_id else call.tool == name)), None)
    if found:
        waiting.remove(found)
        call_id = found.call_id
    said, is_error = _output(response.get("response") or {})
    files = [part for at, held in _places(response.get("parts"), place) for part in _seen(held, at)]
    reading.result(call_id or f"of {name}", said + files, place, is_error=is_error)


def _output(response: Item) -> tuple[Parts, bool]:
    """What a response says, and whether it is an error: Gemini's convention is one key, output or error."""
    match response:
        case {"output": value, **rest} | {"result": value, **rest} if not rest:
            return _value(value), False
        case {"error": value, **rest} if not rest:
            return _value(value), True
        case _:
            return ([Json(to_json(response))] if response else []), False


def _value(value: object) -> Parts:
    return words(value) if isinstance(value, str) else [Json(to_json(value))]


def _said(part: Item, place: str, reading: Reading, waiting: list[ToolCall]) -> Parts:
    """A model's part. A signature stays with its call, or stands behind the text that it came with."""
    signature = part.get("thoughtSignature")
    if "functionCall" in part:
        call = part["functionCall"]
        call_id = call.get("id") or _new_id(reading)
        kept = Opaque(PROVIDER, signature) if signature else None
        made = ToolCall(call_id, call["name"], to_json(call.get("args") or {}), kept)
        reading.calls[call_id] = made.tool
        waiting.append(made)
        return [made]
    if part.get("thought") or any(key in part for key in OWN):
        return [Opaque(PROVIDER, to_json(part))] if signature or not part.get("thought") else []
    bare = Opaque(PROVIDER, to_json({"text": "", "thoughtSignature": signature}))
    return _seen(part, place) + ([bare] if signature else [])


def _new_id(reading: Reading) -> str:
    number = len(reading.calls) + 1
    while f"call_{number}" in reading.calls:
        number += 1
    return f"call_{number}"


def _seen(part: Item, place: str) -> Parts:
    match part:
        case {"text": str() as text}:
            return [Text(text)] if text else []
        case {"inlineData": {"data": data, **blob}}:
            return [inline(data, blob.get("mimeType"), blob.get("displayName"))]
        case {"fileData": {"fileUri": uri, **blob}}:
            return [link(uri, None, blob.get("displayName"), blob.get("mimeType"))]
        case {"thoughtSignature": _}:
            return []
        case _:
            raise unknown(place, part)
