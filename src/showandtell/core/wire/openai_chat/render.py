"""Writes requests for OpenAI's Chat Completions API and its many compatible hosts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, assert_never

import msgspec
from msgspec.structs import replace

from showandtell.core.capabilities.cells import Target
from showandtell.core.messages.attachments import Address
from showandtell.core.messages.parts import Approval, Opaque, Text, ToolCall
from showandtell.core.planning.values import ContainerFile, Data, Entry, RenderedBlock, RenderedFile, Result
from showandtell.core.wire.extra_body import merge_extra_body, read_extra_body
from showandtell.core.wire.hosted_tools import host_name
from showandtell.core.wire.marks import mark_last
from showandtell.core.wire.opaque import arguments_text, opaque_fields
from showandtell.core.wire.options import Options, ToolSpec, is_strict, split_extra_body
from showandtell.core.wire.tree import Slot, Tree
from showandtell.errors import CannotRender

MESSAGES_KEY = "messages"
SDK_TAKES_BYTES = False

AUDIO_FORMATS = {"audio/wav": "wav", "audio/x-wav": "wav", "audio/mpeg": "mp3"}


def head(target: Target, options: Options) -> dict[str, Tree]:
    """Return the body without `messages`. Fields of `extra` are merged into it."""
    body: dict[str, Tree] = {"model": target.model}
    if options.tools:
        body["tools"] = [_tool(tool) for tool in options.tools]
        body["tool_choice"] = _tool_choice(options.tool_choice)
    body |= _hosted_tools(options, target)
    if options.temperature is not None:
        body["temperature"] = options.temperature
    if options.max_tokens is not None:
        body[target.dialect.max_tokens] = options.max_tokens
    if options.effort is not None:
        body["reasoning_effort"] = options.effort
    if options.schema is not None:
        body["response_format"] = {"type": "json_schema", "json_schema": _json_schema(options.schema)}
    if options.stream:
        body |= _stream_fields(target)
    return merge_extra_body(body, read_extra_body(options), options, target, MESSAGES_KEY)


def leading_messages(options: Options, target: Target) -> list[Tree]:
    """Return the instructions as a message with the host's role for them."""
    if not options.instructions:
        return []
    return [{"role": target.dialect.system_role, "content": options.instructions}]


def render_entry(entry: Entry, target: Target) -> list[Tree]:
    """Return a tool message for each result and a user message of the other parts, or one assistant message."""
    if entry.role == "assistant":
        return _assistant_messages(entry, target)
    results: list[Tree] = []
    content: list[Tree] = []
    for part in entry.parts:
        match part:
            case Result():
                results.append({"role": "tool", "tool_call_id": part.call_id, "content": _result_content(part, target)})
            case Text(text=text) | Data(text=text):
                content += [{"type": "text", "text": text}] if text else []
            case RenderedFile():
                content.append(_media(part, target))
            case ToolCall() | Opaque() | RenderedBlock() | Approval() | ContainerFile():
                raise CannotRender(f"the plan put a {type(part).__name__} into a user message of openai-chat")
            case _ as never:
                assert_never(never)
    return [*results, *_user_messages(entry, content, target)]


def url(target: Target, base: str, *, stream: bool) -> str:  # noqa: ARG001 - all APIs have the same functions
    """Return the request's URL; `base` is what SDKs call `base_url`, and mostly ends in `/v1`."""
    return f"{base.rstrip('/')}/chat/completions"


def with_cache_mark(items: Sequence[Tree], target: Target) -> list[Tree]:
    """Return the messages with a cache mark on the last part, if the host needs marks to find cached prefixes."""
    match list(items):
        case [*front, Mapping() as message] if target.dialect.cache_mark:
            return [*front, {**message, "content": mark_last(message["content"], target.dialect.cache_mark)}]
        case others:
            return others


def kwargs(body: dict[str, Any], target: Target, options: Options) -> dict[str, Any]:
    """Return the arguments of `client.chat.completions.create`; fields from `extra` alone go into `extra_body`.

    Mistral's `client.chat.complete` has no `extra_body`, so there every field is an argument.
    """
    if not target.dialect.extra_body:
        return body
    return split_extra_body(body, {*head(target, replace(options, extra=None)), MESSAGES_KEY} - {"plugins"})


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


def _hosted_tools(options: Options, target: Target) -> dict[str, Tree]:
    """Return the fields that turn on tools of the host: OpenAI's, Groq's and OpenRouter's differ."""
    names = [host_name(tool, target).partition(":") for tool in options.hosted]
    by_place = {place: [name for own, _, name in names if own == place] for place, _, _ in names}
    fields: dict[str, Tree] = {name: {} for name in by_place.get("field", ())}
    if plugins := by_place.get("plugin"):
        fields["plugins"] = [{"id": name} for name in plugins]
    if enabled := by_place.get("compound"):
        fields["compound_custom"] = {"tools": {"enabled_tools": enabled}}
    return fields


def _json_schema(schema: str) -> Tree:
    return {"name": "answer", "strict": is_strict(schema), "schema": msgspec.Raw(schema.encode())}


def _stream_fields(target: Target) -> dict[str, Tree]:
    if not target.dialect.stream_usage:
        return {"stream": True}
    return {"stream": True, "stream_options": {"include_usage": True}}


def _result_content(result: Result, target: Target) -> Tree:
    """Return the texts joined, which every host accepts, or a list if there are files or marks."""
    if not (target.dialect.cache_mark or any(isinstance(part, RenderedFile) for part in result.parts)):
        return "\n".join(part.text for part in result.parts if not isinstance(part, RenderedFile))
    parts = [part for part in result.parts if isinstance(part, RenderedFile) or part.text]
    return [
        _media(part, target) if isinstance(part, RenderedFile) else {"type": "text", "text": part.text}
        for part in parts
    ] or ""


def _user_messages(entry: Entry, content: list[Tree], target: Target) -> list[Tree]:
    """Return one message. Texts alone are joined, because some hosts take no lists for models without eyes (Groq).

    With marks they stay a list: a mark must not change other bytes.
    """
    texts = [part.text for part in entry.parts if isinstance(part, Text | Data)]
    if len(texts) == len(entry.parts) and not target.dialect.cache_mark:
        return [{"role": "user", "content": "\n".join(texts)}]
    return [{"role": "user", "content": content}] if content else []


def _media(rendered: RenderedFile, target: Target) -> Tree:
    file = rendered.file
    data = Slot(rendered, f"data:{file.media_type};base64,")
    match file.kind, file.form if isinstance(file, Address) else "inline":
        case "image", "inline" | "url":
            return {"type": "image_url", "image_url": {"url": data}}
        case "video", "inline" | "url":
            return {"type": "video_url", "video_url": {"url": data}}
        case "audio", "inline" if target.dialect.raw_audio:
            return {"type": "input_audio", "input_audio": Slot(rendered)}
        case "audio", "inline" if file.media_type in AUDIO_FORMATS:
            return {
                "type": "input_audio",
                "input_audio": {"data": Slot(rendered), "format": AUDIO_FORMATS[file.media_type]},
            }
        case "document" | "text", form:
            return _document(rendered, form, target)
        case _, form:
            raise CannotRender(f"the plan put {file.media_type} ({form}) into a user message of openai-chat")


def _document(rendered: RenderedFile, form: str, target: Target) -> Tree:
    data = Slot(rendered, f"data:{rendered.file.media_type};base64,")
    match target.dialect.document, form:
        case "file", "inline":
            return {"type": "file", "file": {"filename": rendered.name, "file_data": data}}
        case "file", "file_id":
            return {"type": "file", "file": {"file_id": data}}
        case "document_url", "inline" | "url":
            return {"type": "document_url", "document_url": data}
        case "document_url", "file_id":
            return {"type": "file", "file_id": data}
        case _:
            raise CannotRender(f"the plan put {rendered.file.media_type} ({form}) into a user message of openai-chat")


def _assistant_messages(entry: Entry, target: Target) -> list[Tree]:
    """Return one message, with the fields that are the host's own, such as `reasoning_content`."""
    text = ""
    calls: list[Tree] = []
    items: list[Tree] = []
    fields: dict[str, Tree] = dict.fromkeys(target.required_fields, "")
    for part in entry.parts:
        match part:
            case Text(text=piece) | Data(text=piece):
                text += piece
            case ToolCall():
                calls.append(_call(part))
            case Opaque() if target.wrote(part):
                own = opaque_fields(part)
                if "type" in own:
                    items += [{"type": "text", "text": text}] if text else []
                    items.append(own)
                    text = ""
                elif "annotations" not in own or target.dialect.takes_annotations:
                    fields |= own
            case Opaque():
                pass
            case RenderedFile() | Result() | RenderedBlock() | Approval() | ContainerFile():
                raise CannotRender(f"the plan put a {type(part).__name__} into an assistant message of openai-chat")
            case _ as never:
                assert_never(never)
    if not (text or calls or items):
        return []
    content: Tree = [*items, *([{"type": "text", "text": text}] if text else [])] if items else text or None
    message: dict[str, Tree] = {"role": "assistant", "content": content}
    return [fields | message | ({"tool_calls": calls} if calls else {})]


def _call(call: ToolCall) -> Tree:
    """Return a call, with the fields that are the host's own, such as `extra_content`."""
    own = {} if call.opaque is None else opaque_fields(call.opaque)
    if own.get("type") == msgspec.Raw(b'"custom"'):
        text = msgspec.json.decode(call.arguments, type=dict[str, str]).get("input", "")
        return own | {"id": call.call_id, "type": "custom", "custom": {"name": call.tool, "input": text}}
    function: dict[str, Tree] = {"name": call.tool, "arguments": arguments_text(call.arguments)}
    if isinstance(more := own.get("function"), msgspec.Raw):
        function = msgspec.json.decode(more, type=dict[str, msgspec.Raw]) | function
    return own | {"id": call.call_id, "type": "function", "function": function}
