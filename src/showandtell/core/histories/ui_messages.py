"""Imports UI messages of npm's `ai`, which the client holds: see `client_history` for what of them enters."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, cast

import msgspec

from showandtell.core.histories.client_history import (
    CallSeals,
    ClientReading,
    attachment_id,
    claim_file,
    claim_hosted,
    claim_result_file,
    claim_source,
)
from showandtell.core.histories.reading import Item, Parts, list_items, located_errors, unsupported
from showandtell.core.messages.file import File
from showandtell.core.messages.parts import HostedBlock, HostedState, Json, Source, Text, ToolCall
from showandtell.core.ui_stream.chunks import Input, replace_surrogates
from showandtell.core.ui_stream.step_writer import input_chunk
from showandtell.errors import BadInput

MAX_MESSAGES, MAX_PARTS = 10_000, 10_000
#: Maximum characters of all data URLs in a request: 20 MB of files.
MAX_DATA = 28_000_000
DENIED = "the user denied this call"
#: Integers from here on are not exact in JavaScript.
MAX_SAFE = 2**53


@dataclass(slots=True)
class UiHistory:
    """What is read of UI messages. `answers` are the decisions in the newest message, `message_id` its answer's id."""

    reading: ClientReading = field(default_factory=ClientReading)
    answers: dict[str, tuple[bool, str]] = field(default_factory=dict[str, tuple[bool, str]])
    message_id: str | None = None
    data_room: int = MAX_DATA


def read_ui_history(messages: object, seals: CallSeals | None = None) -> UiHistory:
    """Read messages, the newest last. Without `seals` no call can be approved. Raises `BadInput`."""
    history = UiHistory()
    items = list_items(messages)
    if len(items) > MAX_MESSAGES:
        raise BadInput(f"the request has more than {MAX_MESSAGES} messages: send fewer")
    for index, message in enumerate(items):
        with located_errors(f"messages[{index}]"):
            parts = cast("list[Item]", message["parts"])
            if len(parts) > MAX_PARTS:
                raise BadInput(f"messages[{index}] has more than {MAX_PARTS} parts: send fewer")
            match message["role"]:
                case "user":
                    history.reading.add_user(user_parts(parts, history))
                case "assistant":
                    _read_answer(parts, history, seals, is_last=index == len(items) - 1)
                    is_last_with_id = index == len(items) - 1 and isinstance(message.get("id"), str)
                    history.message_id = message["id"] if is_last_with_id else None
                case "system":
                    pass
                case _:
                    raise unsupported(f"messages[{index}]", message)
    return history


def user_parts(parts: Iterable[Item], history: UiHistory) -> Parts:
    """The texts and files of a user's message. A file that is named repeatedly counts once."""
    read: Parts = []
    named = set[str]()
    for part in parts:
        match part:
            case {"type": "text", "text": str() as text} if text.strip():
                read.append(_text(text))
            case {"type": "file", "url": str() as url}:
                history.data_room -= len(url) if url.startswith("data:") else 0
                if history.data_room < 0:
                    raise BadInput(f"the files in the messages have more than {MAX_DATA * 3 // 4:,} bytes: upload them")
                if url not in named and attachment_id(url) not in named:
                    named |= {url, attachment_id(url) or url}
                    read.append(claim_file(url, _string(part, "mediaType"), _string(part, "filename")))
            case {"type": "data-attachment", "data": {"id": str() as file_id, **data}}:
                if file_id not in named:
                    named.add(file_id)
                    read.append(claim_file(file_id, _string(data, "media_type"), _name(data)))
            case _:  # parts for the client's own use
                pass
    return read


def _read_answer(parts: Iterable[Item], history: UiHistory, seals: CallSeals | None, *, is_last: bool) -> None:
    """Read an answer step by step: each is a message of the model, with the results of its calls."""
    step: Parts = []
    results: list[tuple[str, Parts, bool]] = []
    placed = set[str]()

    def end_step() -> None:
        history.reading.add_assistant([*step])
        for call_id, result, is_error in results:
            history.reading.add_result(call_id, result, is_error=is_error)
        step.clear()
        results.clear()

    for part in parts:
        match part:
            case {"type": "step-start"}:
                end_step()
            case {"type": "text", "text": str() as text} if text.strip():
                step.append(_text(text))
            case {"type": "file", "url": str() as url} if attachment_id(url) not in placed:
                placed.add(attachment_id(url) or url)
                step.append(claim_result_file(url, _string(part, "mediaType"), _string(part, "filename")))
            case {"type": "data-attachment", "data": {"id": str() as file_id, "origin": {"by": by}, **data}}:
                if by in {"assistant", "provider"} and file_id not in placed:
                    step.append(claim_result_file(file_id, _string(data, "media_type"), _name(data)))
                placed.add(file_id)
            case {"type": "source-url" | "source-document"}:
                step += [source] if (source := source_of(part)) else []
            case {"type": str() as kind, "toolCallId": str() as call_id, "state": str() as state, **rest}:
                name = rest["toolName"] if kind == "dynamic-tool" else kind.removeprefix("tool-")
                if state == "input-streaming" or any(call_id == getattr(one, "call_id", None) for one in step):
                    continue
                if rest.get("providerExecuted") is True:
                    step.append(hosted_of(call_id, str(name), state, rest))
                    continue
                call = ToolCall(call_id, str(name), arguments_of(rest))
                if state == "approval-responded" and is_last:
                    call = _read_approval(call, rest, history, seals)
                step.append(call)
                if (result := result_of(state, rest, placed)) is not None:
                    results.append((call_id, *result))
            case _:  # reasoning, and parts for the client's own use
                pass
    end_step()


def hosted_of(call_id: str, tool: str, state: str, part: Mapping[str, Any]) -> HostedBlock:
    """A tool that a provider ran."""
    outputs: dict[str, tuple[HostedState, object]] = {
        "output-available": ("done", part.get("output")),
        "output-error": ("error", str(part.get("errorText"))),
    }
    ended, output = outputs.get(state, ("running", None))
    return claim_hosted(call_id, tool, _json(part.get("input") or {}), "" if output is None else _json(output), ended)


def source_of(part: Item) -> Source | None:
    """A source as our stream sends it, or as another server does."""
    url, title = _string(part, "url") or "", _string(part, "title") or ""
    match part:
        case {"providerMetadata": {"showandtell": {**fields}}}:
            return claim_source(replace_surrogates({**fields, "type": "source"}))
        case _:
            return claim_source({"type": "source", "url": url, "title": title, "name": _string(part, "filename") or ""})


def _read_approval(call: ToolCall, part: Item, history: UiHistory, seals: CallSeals | None) -> ToolCall:
    """The call that a user decided about: as it was signed, if this is what the user saw of it."""
    approval: Item = part["approval"]
    if not isinstance(approval.get("approved"), bool):
        return call
    history.answers[call.call_id] = (approval["approved"], "")
    signed = seals.open(call.call_id, call.tool, approval.get("signature")) if seals is not None else None
    if signed is None or not is_shown(signed, part):
        return call
    history.reading.sealed.add(call.call_id)
    return signed


def arguments_of(part: Mapping[str, Any]) -> str:
    """The arguments of a call as the model's text."""
    value = part.get("input")
    if value is None:
        value = part.get("rawInput")
    return replace_surrogates(value) if isinstance(value, str) else _json({} if value is None else value)


def result_of(state: str, part: Mapping[str, Any], placed: set[str]) -> tuple[Parts, bool] | None:
    """The result of a call, and whether it is an error; None if it has none. `placed` gets the ids of its files."""
    match state:
        case "output-available" if not part.get("preliminary"):
            return output_parts(part.get("output"), placed), False
        case "output-error":
            return [_text(str(part.get("errorText")))], True
        case "output-denied":
            return [Text(DENIED)], True
        case _:
            return None


def output_parts(output: object, placed: set[str]) -> Parts:
    """An output as parts: words and JSON, with the files of ours that it refers to where they stand in a list."""
    items: list[object] = cast("list[object]", output) if isinstance(output, list) else [output]
    if all(_reference(item) is None for item in items):
        items = [output]
    parts: Parts = []
    for item in items:
        if item is None:
            continue
        if isinstance(item, str):
            parts.append(_text(item))
            continue
        files: Parts = []
        value = _without_references(item, files, placed)
        parts += [*([] if _reference(item) else [Json(_json(value))]), *files]
    return parts


def _without_references(value: object, files: Parts, placed: set[str]) -> object:
    """A value with names in place of references to files, which are added to `files`."""
    if (reference := _reference(value)) is not None:
        placed.add(reference["id"])
        claim = claim_result_file(reference["id"], _string(reference, "mediaType"), _string(reference, "name"))
        files.append(claim)
        return claim.name if isinstance(claim, File) else claim.text
    match value:
        case dict():
            fields = cast("dict[str, object]", value)
            return {key: _without_references(item, files, placed) for key, item in fields.items()}
        case list():
            return [_without_references(item, files, placed) for item in cast("list[object]", value)]
        case _:
            return value


def _reference(value: object) -> Item | None:
    """A reference to a file, as `file_reference` makes it; None for any other value."""
    fields = cast("Item", value) if isinstance(value, dict) else {}
    return fields if fields.get("type") == "file" and isinstance(fields.get("id"), str) else None


def is_shown(call: ToolCall, part: Item) -> bool:
    """Whether a client's part has the arguments that it was sent, as JavaScript reads and writes them."""
    sent = input_chunk(call.call_id, call.tool, call.arguments or "{}")
    return isinstance(sent, Input) and _javascript(msgspec.json.decode(sent.input)) == _javascript(part.get("input"))


def _javascript(value: object) -> str:
    """A JSON value's text, the same before and after JavaScript has read and written it."""
    return _json(normalize(value))


def normalize(value: object) -> object:
    """A JSON value with sorted keys, and numbers as JavaScript knows them."""
    match value:
        case bool():
            return value
        case int():
            return float(value) if abs(value) > MAX_SAFE else value
        case float():
            return int(value) if value.is_integer() and abs(value) <= MAX_SAFE else value
        case dict():
            fields = cast("dict[str, object]", value)
            return {key: normalize(fields[key]) for key in sorted(fields)}
        case list():
            return [normalize(item) for item in cast("list[object]", value)]
        case _:
            return value


def _json(value: object) -> str:
    """JSON text of a value, without lone surrogates."""
    try:
        return msgspec.json.encode(value).decode()
    except UnicodeEncodeError:
        return msgspec.json.encode(replace_surrogates(value)).decode()


def _text(text: str) -> Text:
    return Text(replace_surrogates(text))


def _name(attachment: Mapping[str, Any]) -> str | None:
    """The name of a file, unless it is for the user alone: a file that isn't found is named instead."""
    return None if attachment.get("audience") == "user" else _string(attachment, "name")


def _string(fields: Mapping[str, Any], name: str) -> str | None:
    value = fields.get(name)
    return replace_surrogates(value) if isinstance(value, str) else None
