"""Writes requests for OpenAI's Responses API: a flat list of items, with files inside tool outputs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, assert_never

import msgspec
from msgspec.structs import replace

from showandtell.core.capabilities.cells import Target
from showandtell.core.messages.attachments import Address
from showandtell.core.messages.parts import Approval, Opaque, Text, ToolCall
from showandtell.core.planning.values import ContainerFile, Data, Entry, EntryPart, RenderedBlock, RenderedFile, Result
from showandtell.core.wire.extra_body import merge_extra_body, read_extra_body
from showandtell.core.wire.hosted_tools import (
    CodeExecution,
    FileSearch,
    HostedTool,
    ImageGeneration,
    WebSearch,
    host_name,
)
from showandtell.core.wire.marks import mark_last
from showandtell.core.wire.opaque import arguments_text, block_tree, opaque_json, without_trailing_reasoning
from showandtell.core.wire.openai_responses.text_fields import TextFields, parse_text_fields
from showandtell.core.wire.options import Options, ToolSpec, is_strict, split_extra_body
from showandtell.core.wire.tree import Slot, Tree
from showandtell.errors import BadInput, CannotRender

MESSAGES_KEY = "input"
SDK_TAKES_BYTES = False

#: The type of a custom tool's call among the fields that go back with it.
CUSTOM = msgspec.Raw(b'"custom_tool_call"')
#: What has to be asked for, so that an answer holds what a hosted tool returned (openai 3.54, `ResponseIncludable`).
INCLUDES: dict[type[HostedTool], str] = {
    WebSearch: "web_search_call.action.sources",
    CodeExecution: "code_interpreter_call.outputs",
    FileSearch: "file_search_call.results",
}


def head(target: Target, options: Options) -> dict[str, Tree]:
    """Return the body without `input`. Fields of `extra` are merged into it."""
    body: dict[str, Tree] = {"model": target.model}
    if options.instructions:
        body["instructions"] = options.instructions
    hosted = [_hosted_tool(tool, target) for tool in options.hosted]
    if options.tools or hosted:
        body["tools"] = [*hosted, *(_tool(tool) for tool in options.tools)]
        body["tool_choice"] = _tool_choice(options.tool_choice)
    if options.temperature is not None:
        body["temperature"] = options.temperature
    if options.max_tokens is not None:
        body["max_output_tokens"] = options.max_tokens
    if options.effort is not None:
        body["reasoning"] = {"effort": options.effort}
    if options.schema is not None:
        body["text"] = {"format": _text_format(options.schema)}
    includes = [INCLUDES[type(tool)] for tool in options.hosted if type(tool) in INCLUDES]
    if target.dialect.stateless:
        body |= {"store": False, "include": ["reasoning.encrypted_content", *includes]}
    elif includes:
        body["include"] = includes
    if options.stream:
        body["stream"] = True
    return merge_extra_body(body, read_extra_body(options), options, target, MESSAGES_KEY)


def leading_messages(options: Options, target: Target) -> list[Tree]:  # noqa: ARG001 - all APIs have the same functions
    """Return no items: instructions are a field of the body."""
    return []


def render_entry(entry: Entry, target: Target) -> list[Tree]:
    """Return the items of an entry: outputs and then one user message, or the assistant's items."""
    if entry.role == "assistant":
        return _assistant_items(entry, target)
    outputs: list[Tree] = []
    content: list[Tree] = []
    for part in entry.parts:
        match part:
            case Result():
                outputs.append(_output_item(part, target))
            case Text() | Data() | RenderedFile():
                content += _content(part, "user message")
            case Approval():
                outputs.append(_approval(part))
            case ContainerFile():
                pass  # the tool has its id
            case ToolCall() | Opaque() | RenderedBlock():
                raise CannotRender(f"the plan put a {type(part).__name__} into a user message of openai-responses")
            case _ as never:
                assert_never(never)
    return [*outputs, *_user_items(entry, content, target)]


def url(target: Target, base: str, *, stream: bool) -> str:  # noqa: ARG001 - all APIs have the same functions
    """Return the request's URL; `base` is what the SDK calls `base_url`, and mostly ends in `/v1`."""
    return f"{base.rstrip('/')}/responses"


def with_cache_mark(items: Sequence[Tree], target: Target) -> list[Tree]:
    """Return the items with a cache mark on the last part, if the host needs marks to find cached prefixes."""
    match list(items):
        case [*front, Mapping() as item] if target.dialect.cache_mark:
            field = "output" if "output" in item else "content"
            return [*front, {**item, field: mark_last(item[field], target.dialect.cache_mark)}]
        case others:
            return others


def kwargs(body: dict[str, Any], target: Target, options: Options) -> dict[str, Any]:
    """Return the arguments of `client.responses.create`; fields from `extra` alone go into `extra_body`."""
    return split_extra_body(body, {*head(target, replace(options, extra=None)), MESSAGES_KEY})


def _tool(tool: ToolSpec) -> Tree:
    # The API's default is strict, which rejects most schemas of plain functions.
    return {
        "type": "function",
        "name": tool.name,
        "description": tool.description,
        "parameters": msgspec.Raw(tool.parameters.encode()),
        "strict": False,
    }


def _hosted_tool(tool: HostedTool, target: Target) -> Tree:
    fields: dict[str, Tree] = {}
    match tool:
        case WebSearch():
            if tool.blocked_domains:
                raise BadInput(f"{target.name} takes no blocked_domains of WebSearch: give allowed_domains")
            if tool.allowed_domains:
                fields["filters"] = {"allowed_domains": tool.allowed_domains}
        case CodeExecution():
            ids: dict[str, Tree] = {"file_ids": tool.ids} if tool.ids else {}
            fields["container"] = {"type": "auto", **ids}
        case FileSearch():
            fields = {"vector_store_ids": tool.stores, "max_num_results": tool.max_results}
        case ImageGeneration():
            fields = {"size": tool.size, "quality": tool.quality}
        case _:
            pass
    own = {key: value for key, value in fields.items() if value is not None}
    return {"type": host_name(tool, target), **own}


def _tool_choice(choice: str) -> Tree:
    return choice if choice in ("auto", "none", "required") else {"type": "function", "name": choice}


def _text_format(schema: str) -> Tree:
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
    """Return one message. A single text is a string, unless marks are used: a mark must not change other bytes."""
    match entry.parts:
        case (Text(text=text) | Data(text=text),) if not target.dialect.cache_mark:
            return [{"type": "message", "role": "user", "content": text}]
        case _:
            return [{"type": "message", "role": "user", "content": content}] if content else []


def _approval(approval: Approval) -> Tree:
    reason: dict[str, Tree] = {"reason": approval.reason} if approval.reason else {}
    answer = {"approval_request_id": approval.call_id, "approve": approval.approved}
    return {"type": "mcp_approval_response", **answer, **reason}


def _output_item(result: Result, target: Target) -> Tree:
    own = _call_fields(result.opaque)
    kind = "custom_tool_call_output" if own.get("type") == CUSTOM else "function_call_output"
    caller: dict[str, Tree] = {"caller": own["caller"]} if "caller" in own else {}
    return {"type": kind, "call_id": result.call_id, "output": _output(result, target), **caller}


def _output(result: Result, target: Target) -> Tree:
    """Return a string, or a list if there are files or marks. Errors are wrapped: the API has no field for them."""
    text = "\n".join(part.text for part in result.parts if not isinstance(part, RenderedFile))
    if result.is_error:
        text = msgspec.json.encode({"error": text}).decode()
    files = [part for part in result.parts if isinstance(part, RenderedFile)]
    if not (files or target.dialect.cache_mark):
        return text
    if result.is_error:
        return [{"type": "input_text", "text": text}, *(_media(file, "tool result") for file in files)]
    return [item for part in result.parts for item in _content(part, "tool result")] or text


def _media(rendered: RenderedFile, place: str) -> Tree:
    file = rendered.file
    data = Slot(rendered, f"data:{file.media_type};base64,")
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
            return {"type": "input_file", "filename": rendered.name, "file_data": data}
        case _:
            raise CannotRender(f"the plan put {file.media_type} into a {place} of openai-responses")


def _assistant_items(entry: Entry, target: Target) -> list[Tree]:
    """Return a message for each text, and the calls and opaque items, in order."""
    parts: list[EntryPart] = []
    fields: dict[int, TextFields] = {}
    for part in entry.parts:
        if not isinstance(part, Opaque) or (found := parse_text_fields(part.text)) is None:
            parts.append(part)
        elif parts and isinstance(parts[-1], Text) and target.wrote(part):
            fields[len(parts) - 1] = found
    items: list[Tree] = []
    for index, part in enumerate(without_trailing_reasoning(parts)):
        items += _assistant_item(part, fields.get(index, TextFields()), target)
    return items


def _assistant_item(part: EntryPart, fields: TextFields, target: Target) -> list[Tree]:
    match part:
        case Text(text=text) | Data(text=text):
            return [_assistant_text(text, fields)] if text else []
        case ToolCall():
            return [_call(part)]
        case Opaque():
            return [opaque_json(part)] if target.wrote(part) else []
        case RenderedBlock():
            return [block_tree(part)]
        case RenderedFile() | Result() | Approval() | ContainerFile():
            raise CannotRender(f"the plan put a {type(part).__name__} into an assistant message of openai-responses")
        case _ as never:
            assert_never(never)


def _assistant_text(text: str, fields: TextFields) -> Tree:
    content: Tree = text
    if fields.annotations:
        annotations = msgspec.Raw(msgspec.json.encode(fields.annotations))
        content = [{"type": "output_text", "text": text, "annotations": annotations}]
    phase: dict[str, Tree] = {"phase": fields.phase} if fields.phase else {}
    return {"type": "message", "role": "assistant", **phase, "content": content}


def _call(call: ToolCall) -> Tree:
    own = _call_fields(call.opaque)
    item: dict[str, Tree] = {"type": "function_call", "call_id": call.call_id, "name": call.tool}
    if own.get("type") == CUSTOM:
        text = msgspec.json.decode(call.arguments, type=dict[str, str]).get("input", "")
        return item | {**own, "type": "custom_tool_call", "input": text}
    return item | {"arguments": arguments_text(call.arguments)} | own


def _call_fields(opaque: Opaque | None) -> dict[str, Tree]:
    """Return the fields of a call that go back with it, and those of its output."""
    return {} if opaque is None else {**msgspec.json.decode(opaque.text, type=dict[str, msgspec.Raw])}
