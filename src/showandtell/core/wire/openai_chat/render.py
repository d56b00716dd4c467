"""Spells entries for OpenAI's Chat Completions, as its many hosts speak it."""

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
from showandtell.core.wire.opaque import arguments_text
from showandtell.core.wire.options import Options, ToolSpec, apart, is_strict
from showandtell.core.wire.tree import Slot, Tree
from showandtell.errors import CannotRender

LIST = "messages"
RAW_BYTES = False

AUDIO = {"audio/wav": "wav", "audio/x-wav": "wav", "audio/mpeg": "mp3"}
#: What the fields hold that end a cached prefix: OpenAI's (openai 3.54), and OpenRouter's for Claude.


def head(target: Target, options: Options) -> dict[str, Tree]:
    """Everything of the body before `messages`; `extra` lies over it."""
    body: dict[str, Tree] = {"model": target.model}
    if options.tools:
        body["tools"] = [_tool(tool) for tool in options.tools]
        body["tool_choice"] = _tool_choice(options.tool_choice)
    if options.temperature is not None:
        body["temperature"] = options.temperature
    if options.max_tokens is not None:
        body[target.dialect.max_tokens] = options.max_tokens
    if options.effort is not None:
        body["reasoning_effort"] = options.effort
    if options.schema is not None:
        body["response_format"] = {"type": "json_schema", "json_schema": _answer_schema(options.schema)}
    if options.stream:
        body |= _stream(target)
    return body | msgspec.json.decode(options.extra or "{}", type=dict[str, msgspec.Raw])


def leading(options: Options, target: Target) -> list[Tree]:
    """The instructions, in the role that this host reads them in."""
    if not options.instructions:
        return []
    return [{"role": target.dialect.system_role, "content": options.instructions}]


def entry(entry: Entry, target: Target) -> list[Tree]:
    """One tool message for each result, then one user message of the rest; or one assistant message."""
    if entry.role == "assistant":
        return _assistant_messages(entry, target)
    results: list[Tree] = []
    content: list[Tree] = []
    for part in entry.parts:
        match part:
            case Result():
                results.append({"role": "tool", "tool_call_id": part.call_id, "content": _result(part, target)})
            case Text(text=words) | Data(text=words):
                content += [{"type": "text", "text": words}] if words else []
            case RenderedFile():
                content.append(_media(part, target))
            case ToolCall() | Opaque():
                raise CannotRender(f"the plan put a {type(part).__name__} into a user message of openai-chat")
            case _ as never:
                assert_never(never)
    return [*results, *_user_messages(entry, content, target)]


def url(target: Target, base: str, *, stream: bool) -> str:  # noqa: ARG001 - every api has the same functions
    """The address of the request; `base` ends where the SDKs' `base_url` does, mostly in `/v1`."""
    return f"{base.rstrip('/')}/chat/completions"


def marked(items: Sequence[Tree], target: Target) -> list[Tree]:
    """The same messages with a cache mark on the last part, where the host doesn't find cached prefixes by itself."""
    match list(items):
        case [*front, Mapping() as message] if target.dialect.mark:
            return [*front, {**message, "content": mark_last(message["content"], target.dialect.mark)}]
        case others:
            return others


def kwargs(body: dict[str, Any], target: Target, options: Options) -> dict[str, Any]:
    """What `client.chat.completions.create` takes; what only `extra` says goes into `extra_body`.

    Mistral's `client.chat.complete` knows no `extra_body`: there every field is an argument.
    """
    if not target.dialect.extra_body:
        return body
    return apart(body, {*head(target, replace(options, extra=None)), LIST})


def _tool(tool: ToolSpec) -> Tree:
    schema = msgspec.Raw(tool.parameters.encode())
    return {
        "type": "function",
        "function": {"name": tool.name, "description": tool.description, "parameters": schema},
    }


def _tool_choice(choice: str) -> Tree:
    if choice in ("auto", "none", "required"):
        return choice
    return {"type": "function", "function": {"name": choice}}


def _answer_schema(schema: str) -> Tree:
    return {"name": "answer", "strict": is_strict(schema), "schema": msgspec.Raw(schema.encode())}


def _stream(target: Target) -> dict[str, Tree]:
    if not target.dialect.stream_usage:
        return {"stream": True}
    return {"stream": True, "stream_options": {"include_usage": True}}


def _result(result: Result, target: Target) -> Tree:
    """Words joined, as every host takes them; parts where the plan put a file, or where the last one may be marked."""
    if not (target.dialect.mark or any(isinstance(part, RenderedFile) for part in result.parts)):
        return "\n".join(part.text for part in result.parts if not isinstance(part, RenderedFile))
    parts = [part for part in result.parts if isinstance(part, RenderedFile) or part.text]
    return [
        _media(part, target) if isinstance(part, RenderedFile) else {"type": "text", "text": part.text}
        for part in parts
    ] or ""


def _user_messages(entry: Entry, content: list[Tree], target: Target) -> list[Tree]:
    """One message; lone words are a string, but not where their part may be marked: no mark may change other bytes."""
    match entry.parts:
        case (Text(text=words) | Data(text=words),) if not target.dialect.mark:
            return [{"role": "user", "content": words}]
        case _:
            return [{"role": "user", "content": content}] if content else []


def _media(placed: RenderedFile, target: Target) -> Tree:
    file = placed.file
    data = Slot(placed, f"data:{file.media_type};base64,")
    match file.kind, file.form if isinstance(file, Address) else "inline":
        case "image", "inline" | "url":
            return {"type": "image_url", "image_url": {"url": data}}
        case "video", "inline" | "url":
            return {"type": "video_url", "video_url": {"url": data}}
        case "audio", "inline" if target.dialect.bare_audio:
            return {"type": "input_audio", "input_audio": Slot(placed)}
        case "audio", "inline" if file.media_type in AUDIO:
            return {"type": "input_audio", "input_audio": {"data": Slot(placed), "format": AUDIO[file.media_type]}}
        case "document" | "text", form:
            return _document(placed, form, target)
        case _, form:
            raise CannotRender(f"the plan put {file.media_type} ({form}) into a user message of openai-chat")


def _document(placed: RenderedFile, form: str, target: Target) -> Tree:
    data = Slot(placed, f"data:{placed.file.media_type};base64,")
    match target.dialect.document, form:
        case "file", "inline":
            return {"type": "file", "file": {"filename": placed.name, "file_data": data}}
        case "file", "file_id":
            return {"type": "file", "file": {"file_id": data}}
        case "document_url", "inline" | "url":
            return {"type": "document_url", "document_url": data}
        case "document_url", "file_id":
            return {"type": "file", "file_id": data}
        case _:
            raise CannotRender(f"the plan put {placed.file.media_type} ({form}) into a user message of openai-chat")


def _assistant_messages(entry: Entry, target: Target) -> list[Tree]:
    """What a host needs back lies over the message: `reasoning_content`, `reasoning_details` and the like."""
    words = ""
    calls: list[Tree] = []
    kept: dict[str, Tree] = {}
    for part in entry.parts:
        match part:
            case Text(text=text) | Data(text=text):
                words += text
            case ToolCall():
                calls.append(_call(part))
            case Opaque():
                kept |= _fields(part) if part.provider == target.signer else {}
            case RenderedFile() | Result():
                raise CannotRender(f"the plan put a {type(part).__name__} into an assistant message of openai-chat")
            case _ as never:
                assert_never(never)
    if not (words or calls):
        return []
    message: dict[str, Tree] = {"role": "assistant", "content": words or None}
    return [kept | message | ({"tool_calls": calls} if calls else {})]


def _call(call: ToolCall) -> Tree:
    function = {"name": call.tool, "arguments": arguments_text(call.arguments)}
    return {"id": call.call_id, "type": "function", "function": function}


def _fields(opaque: Opaque) -> dict[str, Tree]:
    try:
        return {**msgspec.json.decode(opaque.text, type=dict[str, msgspec.Raw])}
    except msgspec.DecodeError as error:
        raise CannotRender(f"an opaque part of {opaque.provider} is no JSON object: {error}") from error
