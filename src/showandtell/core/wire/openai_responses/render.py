"""Spells entries for OpenAI's Responses API: a flat list of items, with files inside tool outputs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, assert_never

import msgspec
from msgspec.structs import replace

from showandtell.core.capabilities.cells import Target
from showandtell.core.messages.attachments import Address
from showandtell.core.messages.parts import Opaque, Text, ToolCall
from showandtell.core.planning.values import Data, Entry, RenderedFile, Result
from showandtell.core.wire.marks import mark_last
from showandtell.core.wire.opaque import arguments_text, verbatim, without_last_thoughts
from showandtell.core.wire.options import Options, ToolSpec, apart, is_strict
from showandtell.core.wire.tree import Slot, Tree
from showandtell.errors import CannotRender

LIST = "input"
RAW_BYTES = False

#: What ends a cached prefix, on the part that ends it (openai 3.54).
STATELESS: dict[str, Tree] = {"store": False, "include": ["reasoning.encrypted_content"]}


def head(target: Target, options: Options) -> dict[str, Tree]:
    """Everything of the body before `input`; `extra` lies over it."""
    body: dict[str, Tree] = {"model": target.model}
    if options.instructions:
        body["instructions"] = options.instructions
    if options.tools:
        body["tools"] = [_tool(tool) for tool in options.tools]
        body["tool_choice"] = _tool_choice(options.tool_choice)
    if options.temperature is not None:
        body["temperature"] = options.temperature
    if options.max_tokens is not None:
        body["max_output_tokens"] = options.max_tokens
    if options.effort is not None:
        body["reasoning"] = {"effort": options.effort}
    if options.schema is not None:
        body["text"] = {"format": _answer_format(options.schema)}
    if target.dialect.stateless:
        body |= STATELESS
    if options.stream:
        body["stream"] = True
    return body | msgspec.json.decode(options.extra or "{}", type=dict[str, msgspec.Raw])


def leading(options: Options, target: Target) -> list[Tree]:  # noqa: ARG001 - every api has the same functions
    """No item comes before the first entry: instructions are a field."""
    return []


def entry(entry: Entry, target: Target) -> list[Tree]:
    """The items of an entry: outputs and then one user message, or what the assistant said, thought and called."""
    if entry.role == "assistant":
        return [item for part in without_last_thoughts(entry.parts) for item in _assistant_items(part, target)]
    outputs: list[Tree] = []
    content: list[Tree] = []
    for part in entry.parts:
        match part:
            case Result():
                outputs.append(_output_item(part, target))
            case Text() | Data() | RenderedFile():
                content += _content(part, "user message")
            case ToolCall() | Opaque():
                raise CannotRender(f"the plan put a {type(part).__name__} into a user message of openai-responses")
            case _ as never:
                assert_never(never)
    return [*outputs, *_user_items(entry, content, target)]


def url(target: Target, base: str, *, stream: bool) -> str:  # noqa: ARG001 - every api has the same functions
    """The address of the request; `base` ends where the SDK's `base_url` does, mostly in `/v1`."""
    return f"{base.rstrip('/')}/responses"


def marked(items: Sequence[Tree], target: Target) -> list[Tree]:
    """The same items with a cache mark on the last part, where the host doesn't find cached prefixes by itself."""
    match list(items):
        case [*front, Mapping() as item] if target.dialect.mark:
            field = "output" if "output" in item else "content"
            return [*front, {**item, field: mark_last(item[field], target.dialect.mark)}]
        case others:
            return others


def kwargs(body: dict[str, Any], target: Target, options: Options) -> dict[str, Any]:
    """What `client.responses.create` takes; what only `extra` says goes into `extra_body`."""
    return apart(body, {*head(target, replace(options, extra=None)), LIST})


def _tool(tool: ToolSpec) -> Tree:
    # Unsaid, `strict` is on here, and then most schemas of plain functions are rejected.
    return {
        "type": "function",
        "name": tool.name,
        "description": tool.description,
        "parameters": msgspec.Raw(tool.parameters.encode()),
        "strict": False,
    }


def _tool_choice(choice: str) -> Tree:
    return choice if choice in ("auto", "none", "required") else {"type": "function", "name": choice}


def _answer_format(schema: str) -> Tree:
    return {
        "type": "json_schema",
        "name": "answer",
        "strict": is_strict(schema),
        "schema": msgspec.Raw(schema.encode()),
    }


def _content(part: Text | Data | RenderedFile, place: str) -> list[Tree]:
    if isinstance(part, RenderedFile):
        return [_media(part, place)]
    return [{"type": "input_text", "text": part.text}] if part.text else []


def _user_items(entry: Entry, content: list[Tree], target: Target) -> list[Tree]:
    """One message; lone words are a string, but not where their part may be marked: no mark may change other bytes."""
    match entry.parts:
        case (Text(text=words) | Data(text=words),) if not target.dialect.mark:
            return [{"type": "message", "role": "user", "content": words}]
        case _:
            return [{"type": "message", "role": "user", "content": content}] if content else []


def _output_item(result: Result, target: Target) -> Tree:
    return {"type": "function_call_output", "call_id": result.call_id, "output": _output(result, target)}


def _output(result: Result, target: Target) -> Tree:
    """A string, or an array where files are or a mark may be; an error has no field of its own and is wrapped."""
    words = [part.text for part in result.parts if not isinstance(part, RenderedFile)]
    text = "\n".join(words)
    if result.is_error:
        text = msgspec.json.encode({"error": text}).decode()
    files = [part for part in result.parts if isinstance(part, RenderedFile)]
    if not (files or target.dialect.mark):
        return text
    if result.is_error:
        return [{"type": "input_text", "text": text}, *(_media(file, "tool result") for file in files)]
    return [item for part in result.parts for item in _content(part, "tool result")] or text


def _media(placed: RenderedFile, place: str) -> Tree:
    file = placed.file
    data = Slot(placed, f"data:{file.media_type};base64,")
    match file.kind, file.form if isinstance(file, Address) else "inline":
        case "image", "file_id":
            return {"type": "input_image", "file_id": data, "detail": "auto"}
        case "image", _:
            return {"type": "input_image", "image_url": data, "detail": "auto"}
        case "document" | "text", "file_id":
            return {"type": "input_file", "file_id": data}
        case "document" | "text", "url":
            return {"type": "input_file", "file_url": data}
        case "document" | "text", _:
            return {"type": "input_file", "filename": placed.name, "file_data": data}
        case _:
            raise CannotRender(f"the plan put {file.media_type} into a {place} of openai-responses")


def _assistant_items(part: Text | Data | RenderedFile | Result | ToolCall | Opaque, target: Target) -> list[Tree]:
    match part:
        case Text(text=words) | Data(text=words):
            return [{"type": "message", "role": "assistant", "content": words}] if words else []
        case ToolCall():
            return [_call(part)]
        case Opaque():
            return [verbatim(part)] if part.provider == target.signer else []
        case RenderedFile() | Result():
            raise CannotRender(f"the plan put a {type(part).__name__} into an assistant message of openai-responses")
        case _ as never:
            assert_never(never)


def _call(call: ToolCall) -> Tree:
    text = arguments_text(call.arguments)
    return {"type": "function_call", "call_id": call.call_id, "name": call.tool, "arguments": text}
