"""Writes requests for Anthropic's Messages API, also on Bedrock and Vertex."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, assert_never, cast
from urllib.parse import quote

import msgspec
from msgspec.structs import replace

from showandtell.core.capabilities.cells import Target
from showandtell.core.messages.attachments import Address
from showandtell.core.messages.parts import Approval, Opaque, Text, ToolCall
from showandtell.core.planning.values import ContainerFile, Data, Entry, EntryPart, RenderedBlock, RenderedFile, Result
from showandtell.core.wire.extra_body import merge_extra_body, read_extra_body
from showandtell.core.wire.hosted_blocks import read_citations
from showandtell.core.wire.hosted_tools import HostedTool, UrlContext, WebSearch, host_name
from showandtell.core.wire.opaque import arguments_json, block_tree, opaque_json, without_trailing_reasoning
from showandtell.core.wire.options import Options, ToolSpec, split_extra_body
from showandtell.core.wire.tree import Slot, Tree
from showandtell.errors import BadInput, CannotRender

MESSAGES_KEY = "messages"
SDK_TAKES_BYTES = False

#: The API requires a limit; every current model supports this one.
MAX_TOKENS = 8192
IMAGES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
#: The API's lowest effort is "low".
EFFORTS = {"none": "low", "minimal": "low"}
#: The API version that bodies are written for.
VERSION = "2023-06-01"
#: Hosts that take the model in the URL and the API version in the body.
VERSIONS = {"anthropic-bedrock": "bedrock-2023-05-31", "anthropic-vertex": "vertex-2023-10-16"}


def head(target: Target, options: Options) -> dict[str, Tree]:
    """Return the body without `messages`. Fields of `extra` are merged into it."""
    version = VERSIONS.get(target.provider)
    body: dict[str, Tree] = {"anthropic_version": version} if version else {"model": target.model}
    body["max_tokens"] = MAX_TOKENS if options.max_tokens is None else options.max_tokens
    if options.instructions:
        body["system"] = options.instructions
    hosted = [_hosted_tool(tool, target) for tool in options.hosted]
    if options.tools or hosted:
        body["tools"] = [*hosted, *(_tool(tool) for tool in options.tools)]
        body["tool_choice"] = _tool_choice(options.tool_choice)
    if options.temperature is not None:
        body["temperature"] = options.temperature
    if options.schema is not None and target.dialect.citations:
        raise BadInput(f"{target.name} takes either citations or an output_type: remove one of both")
    if output := _output(options):
        body["output_config"] = output
    # On Bedrock the URL selects streaming, and the field is rejected.
    if options.stream and target.provider != "anthropic-bedrock":
        body["stream"] = True
    return merge_extra_body(body, read_extra_body(options), options, target, MESSAGES_KEY)


def leading_messages(options: Options, target: Target) -> list[Tree]:  # noqa: ARG001 - all APIs have the same functions
    """Return no messages: instructions go into `system`."""
    return []


def render_entry(entry: Entry, target: Target) -> list[Tree]:
    """Return one message, or none if the entry has nothing for this provider."""
    blocks: list[Tree] = []
    for part in without_trailing_reasoning(entry.parts):
        citations = read_citations(part.text) if isinstance(part, Opaque) and target.wrote(part) else None
        if citations is None:
            blocks += _blocks(part, entry, target)
        elif blocks and isinstance(text := blocks[-1], Mapping) and text.get("type") == "text":
            blocks[-1] = {**text, "citations": citations}
    return [{"role": entry.role, "content": blocks}] if blocks else []


def url(target: Target, base: str, *, stream: bool) -> str:
    """Return the request's URL; `base` is the host, without `/v1`."""
    host = base.rstrip("/")
    match target.provider:
        case "anthropic-bedrock":
            verb = "invoke-with-response-stream" if stream else "invoke"
            return f"{host}/model/{quote(target.model, safe='')}/{verb}"
        case "anthropic-vertex":
            project, _, location = (target.account or "PROJECT/LOCATION").partition("/")
            verb = "streamRawPredict" if stream else "rawPredict"
            models = f"projects/{project}/locations/{location}/publishers/anthropic/models"
            return f"{host}/v1/{models}/{quote(target.model, safe='@')}:{verb}"
        case _:
            return f"{host}/v1/messages"


def with_cache_mark(items: Sequence[Tree], target: Target) -> list[Tree]:  # noqa: ARG001 - all APIs have the same functions
    """Return the messages with a cache mark on the last block; a tool result is marked itself, not its content."""
    match list(items):
        case [*front, Mapping() as message]:
            return [*front, {**message, "content": _mark_last(cast("list[Tree]", message["content"]))}]
        case others:
            return others


def kwargs(body: dict[str, Any], target: Target, options: Options) -> dict[str, Any]:
    """Return the arguments of `client.messages.create`.

    Fields from `extra` alone, and those that the SDK has no parameter for, go into `extra_body`. anthropic 2.12 sends
    version 2026-10-21, which has no `temperature`, and which Bedrock rejects for some models. If that matters, the
    arguments set the API version that our body is written for.
    """
    own = {*head(target, replace(options, extra=None)), MESSAGES_KEY} - {"temperature", "anthropic_version"}
    arguments = {"model": target.model, "stream": True} if options.stream else {"model": target.model}
    needs_version = target.provider not in VERSIONS and options.temperature is not None
    headers = {"extra_headers": {"anthropic-version": VERSION}} if needs_version else {}
    return arguments | split_extra_body(body, own) | headers


def _mark_last(blocks: list[Tree]) -> list[Tree]:
    # Blocks that aren't mappings are opaque reasoning, which accepts no mark.
    last = max((index for index, block in enumerate(blocks) if isinstance(block, Mapping)), default=None)
    if last is None:
        return blocks
    block = cast("Mapping[str, Tree]", blocks[last])
    return [*blocks[:last], {**block, "cache_control": {"type": "ephemeral"}}, *blocks[last + 1 :]]


def _tool(tool: ToolSpec) -> Tree:
    schema = msgspec.Raw(tool.parameters.encode())
    return {"name": tool.name, "description": tool.description, "input_schema": schema}


def _hosted_tool(tool: HostedTool, target: Target) -> Tree:
    fields: dict[str, Tree] = {}
    name = "code_execution"
    match tool:
        case WebSearch():
            fields = {
                "max_uses": tool.max_uses,
                "allowed_domains": tool.allowed_domains or None,
                "blocked_domains": tool.blocked_domains or None,
            }
            name = "web_search"
        case UrlContext():
            fields = {"max_uses": tool.max_uses, "citations": {"enabled": True}}
            name = "web_fetch"
        case _:
            pass
    own = {key: value for key, value in fields.items() if value is not None}
    return {"type": host_name(tool, target), "name": name, **own}


def _tool_choice(choice: str) -> Tree:
    match choice:
        case "auto" | "none":
            return {"type": choice}
        case "required":
            return {"type": "any"}
        case name:
            return {"type": "tool", "name": name}


def _output(options: Options) -> dict[str, Tree]:
    output: dict[str, Tree] = {}
    if options.effort is not None:
        output["effort"] = EFFORTS.get(options.effort, options.effort)
    if options.schema is not None:
        output["format"] = {"type": "json_schema", "schema": msgspec.Raw(options.schema.encode())}
    return output


def _blocks(part: EntryPart, entry: Entry, target: Target) -> list[Tree]:
    match part:
        case Text(text=text) | Data(text=text):
            return _text(text)
        case RenderedFile():
            return [_media(part, f"{entry.role} message", target)]
        case Result():
            return [_result(part, target)]
        case ToolCall():
            arguments = arguments_json(part.arguments)
            return [{"type": "tool_use", "id": part.call_id, "name": part.tool, "input": arguments, **_caller(part)}]
        case Opaque():
            return [opaque_json(part)] if target.wrote(part) else []
        case RenderedBlock():
            return [block_tree(part)]
        case ContainerFile(file_id):
            return [{"type": "container_upload", "file_id": file_id}]
        case Approval():
            raise CannotRender("the plan put an approval into a message of anthropic-messages")
        case _ as never:
            assert_never(never)


def _caller(call: ToolCall) -> dict[str, Tree]:
    """Return the code of the provider that made a call; framing leaves out the fields of other providers."""
    return {} if call.opaque is None else {**msgspec.json.decode(call.opaque.text, type=dict[str, msgspec.Raw])}


def _text(text: str) -> list[Tree]:
    # A text block without a visible character is rejected with 400.
    return [{"type": "text", "text": text}] if text.strip() else []


def _result(result: Result, target: Target) -> Tree:
    place = "error result" if result.is_error else "tool result"
    content: list[Tree] = []
    for part in result.parts:
        content += [_media(part, place, target)] if isinstance(part, RenderedFile) else _text(part.text)
    block: dict[str, Tree] = {"type": "tool_result", "tool_use_id": result.call_id, "is_error": result.is_error}
    # An empty list is rejected; a missing `content` is not.
    return block | {"content": content} if content else block


def _media(rendered: RenderedFile, place: str, target: Target) -> Tree:
    media_type = rendered.file.media_type
    if place in ("tool result", "user message"):
        if media_type in IMAGES:
            return {"type": "image", "source": _source(rendered)}
        if media_type == "application/pdf":
            cited: dict[str, Tree] = {"citations": {"enabled": True}} if target.dialect.citations else {}
            return {"type": "document", "title": rendered.name, "source": _source(rendered), **cited}
    raise CannotRender(f"the plan put {media_type} into a {place} of anthropic-messages")


def _source(rendered: RenderedFile) -> Tree:
    match rendered.file:
        case Address(form="url"):
            return {"type": "url", "url": Slot(rendered)}
        case Address():
            return {"type": "file", "file_id": Slot(rendered)}
        case facts:
            return {"type": "base64", "media_type": facts.media_type, "data": Slot(rendered)}
