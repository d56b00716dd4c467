"""Imports histories of OpenAI's Chat Completions and Responses APIs, as dicts or SDK objects."""

from __future__ import annotations

from typing import Any

from showandtell.checking.checked import checked
from showandtell.core.capabilities.registry import INSPECTOR, is_known
from showandtell.core.histories.openai_attachments import tag_parts
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
    to_opaque,
    unsupported,
    without_nulls,
)
from showandtell.core.messages.file import File
from showandtell.core.messages.message import Stop
from showandtell.core.messages.parts import Opaque, Text, ToolCall
from showandtell.core.wire.host_fields import JoinedFields
from showandtell.core.wire.openai_chat.chat_types import OURS, fields_of_call
from showandtell.core.wire.openai_chat.parse import STOP_REASONS
from showandtell.core.wire.openai_responses.hosted import describe_item
from showandtell.core.wire.openai_responses.text_fields import format_text_fields
from showandtell.errors import BadInput

#: Items that only OpenAI can use, and that no tool of it made. They go back unchanged.
OPAQUE_TYPES = frozenset({"reasoning", "compaction_trigger", "configuration_update", "item_reference"})
#: Fields of these items that may be null and must be there (openai 3.54 types).
NULLABLE_FIELDS = {"code_interpreter_call": {"code", "outputs"}, "image_generation_call": {"result"}}
#: Our stop reasons by OpenAI's `incomplete_details.reason`.
INCOMPLETE: dict[str, Stop] = {"max_output_tokens": "length", "content_filter": "refusal"}
#: The fields of a chat message that are read, and so not the host's own.
READ_FIELDS = OURS | {"attachments"}
STATUSES: dict[str, Stop] = {"failed": "error", "cancelled": "cancelled", "incomplete": "cut", "in_progress": "cut"}


@checked
def from_openai(messages: object, *, provider: str | None = None) -> History:
    """Import chat messages, Responses items and responses (`ChatCompletion`, its message, `Response`), in any mixture.

    System and developer messages are joined in `instructions`. Adjacent items of one response become one message.
    Raises `BadConversation`, with the place, for an item or part of unknown type and for a result without its call.
    Raises `BadFile` for media that can't be read.

    Files get the name and id in their part's `metadata` or in the message's `attachments`; the id becomes part of the
    description. Attachments without a file are named in the message. No address in them is opened.

    Args:
        messages (object): a list of messages or items, or one of them.
        provider (str | None): the host that wrote them, such as "openrouter". It alone gets back the fields of its
            messages that are its own, such as `reasoning_content`, and reasoning items. None: no host gets such fields,
            and OpenAI the items.

    >>> from showandtell import from_openai
    >>> history = from_openai([{"role": "system", "content": "Be brief."}, {"role": "user", "content": "hello"}])
    >>> history.instructions, len(history)
    ('Be brief.', 1)
    """
    reading = Reading(None if provider is None else signer_of(provider))
    for index, item in enumerate(list_items(messages)):
        with located_errors(place := f"messages[{index}]"):
            _read_item(item, place, reading)
    return reading.history


def signer_of(provider: str) -> str:
    """Who gets the opaque parts of a provider's messages. Raises `BadInput` for what is no provider's name."""
    if not isinstance(provider, str) or not is_known(provider):  # pyright: ignore[reportUnnecessaryIsInstance] - input
        raise BadInput(f"provider is {provider!r}: give the name of a provider, such as 'openrouter', or None")
    return f"{provider}:openai-chat" if provider == INSPECTOR else provider


def _read_item(item: Any, place: str, reading: Reading) -> None:
    match item:
        case str():
            reading.add_user(text_parts(item))
        case {"choices": [{"message": message, **choice}, *_]}:
            _message(message, place, reading)
            reason = choice.get("finish_reason")
            _end(STOP_REASONS.get(reason, "cut") if reason else None, reading)
        case {"output": items, "object": "response"}:
            _response(item, items, place, reading)
        case {"role": _} if item.get("type") in (None, "message"):
            _message(item, place, reading)
        case _:
            _item(item, place, reading)


def _response(response: Item, items: list[Item], place: str, reading: Reading) -> None:
    """Read a `Response`: its items become one new message, even after another message of the model."""
    reading.add_assistant([])
    for index, item in enumerate(items):
        _read_item(item, f"{place}.output[{index}]", reading)
    details: Item = response.get("incomplete_details") or {}
    reading.set_stop(INCOMPLETE.get(details.get("reason") or "") or STATUSES.get(response.get("status") or ""))


def _end(stop: Stop | None, reading: Reading) -> None:
    # Several hosts send "stop" after calls, and the message already has the right reason.
    if stop != "end":
        reading.set_stop(stop)


def _message(message: Item, place: str, reading: Reading) -> None:
    match message:
        case {"role": "system" | "developer", "content": content}:
            reading.add_instructions(_text(content, place))
        case {"role": "user", "content": content}:
            reading.add_user(_content(content, place, message.get("attachments")))
        case {"role": "assistant"}:
            stop = "refusal" if message.get("refusal") else None
            reading.add_assistant(_assistant_parts(message, place, reading), stop, extend="type" in message)
        case {"role": "tool", "tool_call_id": call_id, "content": content}:
            reading.add_result(call_id, _content(content, place, message.get("attachments")), place)
        case {"role": "function", "name": name, "content": content}:
            reading.add_result(_last_call_id(name, reading), _content(content, place), place)
        case _:
            raise unsupported(place, message)


def _item(item: Any, place: str, reading: Reading) -> None:
    match item:
        case {"type": "function_call", "call_id": call_id, "name": name, "arguments": arguments}:
            fields = {key: item[key] for key in ("namespace", "caller") if item.get(key)}
            own = to_opaque(reading.provider or "openai", fields) if fields else None
            reading.add_assistant([ToolCall(call_id, name, arguments, own)], extend=True)
        case {"type": "custom_tool_call", "call_id": call_id, "name": name, "input": arguments}:
            own = Opaque(reading.provider or "openai", to_json({"type": "custom_tool_call"}))
            reading.add_assistant([ToolCall(call_id, name, to_json({"input": arguments}), own)], extend=True)
        case {"type": "function_call_output" | "custom_tool_call_output", "call_id": call_id, "output": output}:
            reading.add_result(call_id, _content(output, f"{place}.output"), place)
        case {"type": "image_generation_call", "result": str() as data}:
            form = item.get("output_format") or "png"
            reading.add_assistant(
                [decode_file(data, f"image/{form}", description=item.get("revised_prompt"))], extend=True
            )
        case {"type": str() as kind} if kind in OPAQUE_TYPES:
            reading.add_assistant([to_opaque(reading.provider or "openai", item)], extend=True)
        case {"type": str() as kind}:
            whole = without_nulls(item, NULLABLE_FIELDS.get(kind, ()))
            block = reading.keep(describe_item(whole, len(reading.hosted)), reading.provider or "openai")
            reading.add_assistant([block], extend=True)
        case _:
            raise unsupported(place, item)


def _assistant_parts(message: Item, place: str, reading: Reading) -> Parts:
    """The parts of an assistant message: text and audio, then tool calls, and the fields that are the host's own."""
    parts = _content(message.get("content"), place, message.get("attachments"), reading.provider)
    parts += text_parts(message.get("refusal"))
    is_item = "type" in message or reading.provider is None
    if is_item and (phase := format_text_fields(message.get("phase"))):
        parts = [piece for part in parts for piece in (part, Opaque(reading.provider or "openai", phase))]
    if audio := message.get("audio"):
        parts += _audio(audio)
    for index, call in enumerate(message.get("tool_calls") or ()):
        parts.append(_call(call, f"{place}.tool_calls[{index}]", reading.provider))
    if function_call := message.get("function_call"):
        parts.append(ToolCall(f"call_{len(reading.calls) + 1}", function_call["name"], function_call["arguments"]))
    fields = {} if is_item else {name: value for name, value in message.items() if name not in READ_FIELDS}
    return [*parts, *_own(fields, reading.provider)]


def _own(fields: Item, provider: str | None) -> list[Opaque]:
    """The fields of a message or call that are the host's own, for the host alone."""
    joined = JoinedFields()
    joined.add(fields)
    text = joined.to_json() if provider else None
    return [Opaque(provider, text)] if provider and text else []


def _call(call: Item, place: str, provider: str | None) -> ToolCall:
    match call:
        case {"id": call_id, "function": {"name": name, "arguments": arguments}}:
            # Some hosts and libraries give arguments as an object.
            text = arguments if isinstance(arguments, str) else to_json(arguments or {})
            return ToolCall(call_id, name, text, next(iter(_own(fields_of_call(call), provider)), None))
        case {"id": call_id, "custom": {"name": name, "input": arguments}}:
            return ToolCall(call_id, name, arguments)
        case _:
            raise unsupported(place, call)


def _last_call_id(name: str, reading: Reading) -> str:
    """The id of the last call of a function, for the old function-call API."""
    ids = [call_id for call_id, tool in reading.calls.items() if tool == name]
    return ids[-1] if ids else f"of {name}"


def _audio(audio: Item) -> Parts:
    """A spoken answer: its audio, if included, and its transcript."""
    files: Parts = [decode_file(audio["data"], None)] if audio.get("data") else []
    return files + text_parts(audio.get("transcript"))


def _content(
    content: str | list[Item] | None, place: str, attachments: object = None, provider: str | None = None
) -> Parts:
    if isinstance(content, str):
        content = [{"type": "text", "text": content}]
    items = [
        (item, part)
        for index, item in enumerate(content or ())
        for part in _part(item, f"{place}.content[{index}]", provider)
    ]
    return tag_parts(items, attachments)


def _text(content: str | list[Item] | None, place: str) -> str:
    return "\n\n".join(part.text for part in _content(content, place) if isinstance(part, Text))


def _part(part: Any, place: str, provider: str | None) -> Parts:
    match part:
        case {"type": "text" | "input_text" | "output_text", "text": text} | {"type": "refusal", "refusal": text}:
            return text_parts(text)
        case {"type": "image_url", "image_url": {"url": url} | str(url)}:
            return [linked_file(url, "image/png")]
        case {"type": "document_url", "document_url": {"url": url} | str(url)}:
            return [linked_file(url, "application/pdf", part.get("document_name"))]
        case {"type": "video_url", "video_url": {"url": url} | str(url)}:
            return [linked_file(url, "video/mp4")]
        case {"type": "input_image", "image_url": str() as url}:
            return [linked_file(url, "image/png")]
        case {"type": "input_image", "file_id": str() as file_id}:
            return [File.from_uri(f"openai:{file_id}", "image/png")]
        case {"type": "input_audio", "input_audio": {"data": data, "format": form}}:
            return [decode_file(data, f"audio/{form}")]
        case {"type": "input_audio", "input_audio": str() as data}:
            return [decode_file(data, None)]
        case {"type": "file", "file": file} | {"type": "input_file", **file}:
            return [_file(file, place)]
        case {"type": "thinking"}:
            return [*_own(part, provider)]
        case _:
            raise unsupported(place, part)


def _file(file: Item, place: str) -> File | Text:
    name = file.get("filename")
    match file:
        case {"file_data": str() as data} if data.startswith("data:"):
            return linked_file(data, name=name)
        case {"file_data": str() as data}:
            return decode_file(data, None, name)
        case {"file_url": str() as url}:
            return linked_file(url, "application/pdf", name)
        case {"file_id": str() as file_id}:
            return File.from_uri(f"openai:{file_id}", "application/pdf", name)
        case _:
            raise unsupported(place, file)
