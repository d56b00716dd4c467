"""Histories of openai-chat and openai-responses as drafts: messages, items and answers, as dicts or SDK objects."""

from __future__ import annotations

from typing import Any

from showandtell.core.histories.reading import (
    History,
    Item,
    Parts,
    Reading,
    inline,
    items_of,
    link,
    opaque,
    shaped,
    to_json,
    unknown,
    words,
)
from showandtell.core.messages.file import File
from showandtell.core.messages.messages import Stop
from showandtell.core.messages.parts import Text, ToolCall
from showandtell.core.wire.openai_chat.parse import STOPS

#: Items that only OpenAI can use: they go back as they came.
OWN = frozenset(
    {
        "reasoning",
        "compaction",
        "web_search_call",
        "file_search_call",
        "code_interpreter_call",
        "tool_search_call",
        "tool_search_output",
        "mcp_call",
        "mcp_list_tools",
        "mcp_approval_request",
        "mcp_approval_response",
        "item_reference",
    }
)
#: Why a Responses answer is not complete, in OpenAI's words and ours.
INCOMPLETE: dict[str, Stop] = {"max_output_tokens": "length", "content_filter": "refusal"}
STATUSES: dict[str, Stop] = {"failed": "error", "cancelled": "cancelled", "incomplete": "cut", "in_progress": "cut"}


def from_openai(messages: object) -> History:
    """Adopt chat messages, Responses items, and answers (`ChatCompletion`, its message, `Response`), in any mixture.

    System and developer messages are joined in `instructions`. Neighbouring items of one answer become one message.
    Raises `BadConversation` for an item or a part of unknown type, naming its place, and for a tool's result without
    its call; `BadFile` for media that can't be read.
    """
    reading = Reading()
    for index, item in enumerate(items_of(messages)):
        with shaped(place := f"messages[{index}]"):
            _take(item, place, reading)
    return reading.history


def _take(item: Any, place: str, reading: Reading) -> None:
    match item:
        case str():
            reading.ask(words(item))
        case {"choices": [{"message": message, **choice}, *_]}:
            _message(message, place, reading)
            _end(STOPS.get(choice.get("finish_reason") or ""), reading)
        case {"output": items, "object": "response"}:
            _answer(item, items, place, reading)
        case {"role": _}:
            _message(item, place, reading)
        case _:
            _item(item, place, reading)


def _answer(answer: Item, items: list[Item], place: str, reading: Reading) -> None:
    """Read a `Response`: its items are one message, also behind another one of the model's."""
    reading.answer([])
    for index, item in enumerate(items):
        _take(item, f"{place}.output[{index}]", reading)
    details: Item = answer.get("incomplete_details") or {}
    reading.stop(INCOMPLETE.get(details.get("reason") or "") or STATUSES.get(answer.get("status") or ""))


def _end(stop: Stop | None, reading: Reading) -> None:
    # Several hosts say "stop" after calls; the message knows better.
    if stop != "end":
        reading.stop(stop)


def _message(message: Item, place: str, reading: Reading) -> None:
    match message:
        case {"role": "system" | "developer", "content": content}:
            reading.instruct(_text(content, place))
        case {"role": "user", "content": content}:
            reading.ask(_content(content, place))
        case {"role": "assistant"}:
            stop = "refusal" if message.get("refusal") else None
            reading.answer(_said(message, place, reading), stop, same="type" in message)
        case {"role": "tool", "tool_call_id": call_id, "content": content}:
            reading.result(call_id, _content(content, place), place)
        case {"role": "function", "name": name, "content": content}:
            reading.result(_called(name, reading), _content(content, place), place)
        case _:
            raise unknown(place, message)


def _item(item: Any, place: str, reading: Reading) -> None:
    match item:
        case {"type": "function_call", "call_id": call_id, "name": name, "arguments": given}:
            reading.answer([ToolCall(call_id, name, given)], same=True)
        case {"type": "custom_tool_call", "call_id": call_id, "name": name, "input": given}:
            reading.answer([ToolCall(call_id, name, given)], same=True)
        case {"type": "function_call_output" | "custom_tool_call_output", "call_id": call_id, "output": output}:
            reading.result(call_id, _content(output, f"{place}.output"), place)
        case {"type": "image_generation_call", "result": str() as data}:
            form = item.get("output_format") or "png"
            reading.answer([inline(data, f"image/{form}", description=item.get("revised_prompt"))], same=True)
        case {"type": kind} if kind in OWN:
            reading.answer([opaque("openai", item)], same=True)
        case _:
            raise unknown(place, item)


def _said(message: Item, place: str, reading: Reading) -> Parts:
    """The parts of an assistant message: what it says, then what it calls."""
    parts = _content(message.get("content"), place) + words(message.get("refusal"))
    if audio := message.get("audio"):
        parts += _audio(audio)
    for index, call in enumerate(message.get("tool_calls") or ()):
        parts.append(_call(call, f"{place}.tool_calls[{index}]"))
    if old := message.get("function_call"):
        parts.append(ToolCall(f"call_{len(reading.calls) + 1}", old["name"], old["arguments"]))
    return parts


def _call(call: Item, place: str) -> ToolCall:
    match call:
        case {"id": call_id, "function": {"name": name, "arguments": given}}:
            # Some hosts and libraries hold arguments as an object.
            return ToolCall(call_id, name, given if isinstance(given, str) else to_json(given or {}))
        case {"id": call_id, "custom": {"name": name, "input": given}}:
            return ToolCall(call_id, name, given)
        case _:
            raise unknown(place, call)


def _called(name: str, reading: Reading) -> str:
    """The id under which the old api's function was called last."""
    ids = [call_id for call_id, tool in reading.calls.items() if tool == name]
    return ids[-1] if ids else f"of {name}"


def _audio(audio: Item) -> Parts:
    """A spoken answer: the sound where it is there, and its words."""
    sound: Parts = [inline(audio["data"], None)] if audio.get("data") else []
    return sound + words(audio.get("transcript"))


def _content(content: str | list[Item] | None, place: str) -> Parts:
    if isinstance(content, str):
        return words(content)
    return [part for index, held in enumerate(content or ()) for part in _part(held, f"{place}.content[{index}]")]


def _text(content: str | list[Item] | None, place: str) -> str:
    return "\n\n".join(part.text for part in _content(content, place) if isinstance(part, Text))


def _part(part: Any, place: str) -> Parts:
    match part:
        case {"type": "text" | "input_text" | "output_text", "text": text} | {"type": "refusal", "refusal": text}:
            return words(text)
        case {"type": "image_url", "image_url": {"url": url} | str(url)}:
            return [link(url, "image/png")]
        case {"type": "document_url", "document_url": {"url": url} | str(url)}:
            return [link(url, "application/pdf", part.get("document_name"))]
        case {"type": "video_url", "video_url": {"url": url} | str(url)}:
            return [link(url, "video/mp4")]
        case {"type": "input_image", "image_url": str() as url}:
            return [link(url, "image/png")]
        case {"type": "input_image", "file_id": str() as file_id}:
            return [File.from_uri(f"openai:{file_id}", "image/png")]
        case {"type": "input_audio", "input_audio": {"data": data, "format": form}}:
            return [inline(data, f"audio/{form}")]
        case {"type": "input_audio", "input_audio": str() as data}:
            return [inline(data, None)]
        case {"type": "file", "file": file} | {"type": "input_file", **file}:
            return [_file(file, place)]
        case {"type": "thinking"}:
            return []  # a thought without a signature is not kept, as in a stream
        case _:
            raise unknown(place, part)


def _file(file: Item, place: str) -> File:
    name = file.get("filename")
    match file:
        case {"file_data": str() as data} if data.startswith("data:"):
            return link(data, name=name)
        case {"file_data": str() as data}:
            return inline(data, None, name)
        case {"file_url": str() as url}:
            return link(url, "application/pdf", name)
        case {"file_id": str() as file_id}:
            return File.from_uri(f"openai:{file_id}", "application/pdf", name)
        case _:
            raise unknown(place, file)
