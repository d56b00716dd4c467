"""Writes requests for Amazon Bedrock's Converse API. The model is part of the URL; boto3 takes raw bytes."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from typing import Any, assert_never, cast
from urllib.parse import quote

import msgspec

from showandtell.core.capabilities.cells import Target
from showandtell.core.messages.attachments import Address
from showandtell.core.messages.parts import Approval, Opaque, Text, ToolCall
from showandtell.core.planning.values import ContainerFile, Data, Entry, EntryPart, RenderedBlock, RenderedFile, Result
from showandtell.core.wire.extra_body import merge_extra_body, read_extra_body
from showandtell.core.wire.hosted_blocks import read_citations
from showandtell.core.wire.hosted_tools import host_name
from showandtell.core.wire.opaque import (
    arguments_json,
    block_tree,
    is_reasoning,
    opaque_json,
    without_trailing_reasoning,
)
from showandtell.core.wire.options import Options, ToolSpec
from showandtell.core.wire.tree import Slot, Tree
from showandtell.errors import CannotRender

MESSAGES_KEY = "messages"
SDK_TAKES_BYTES = True

#: RenderedBlock and format name of each media type, from botocore 1.44.5's service model.
FORMATS = {
    "image/png": ("image", "png"),
    "image/jpeg": ("image", "jpeg"),
    "image/gif": ("image", "gif"),
    "image/webp": ("image", "webp"),
    "application/pdf": ("document", "pdf"),
    "application/msword": ("document", "doc"),
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": ("document", "docx"),
    "application/vnd.ms-excel": ("document", "xls"),
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": ("document", "xlsx"),
    "text/csv": ("document", "csv"),
    "text/html": ("document", "html"),
    "text/markdown": ("document", "md"),
    "text/plain": ("document", "txt"),
    "audio/aac": ("audio", "aac"),
    "audio/flac": ("audio", "flac"),
    "audio/mp4": ("audio", "m4a"),
    "audio/mpeg": ("audio", "mp3"),
    "audio/ogg": ("audio", "ogg"),
    "audio/opus": ("audio", "opus"),
    "audio/wav": ("audio", "wav"),
    "audio/webm": ("audio", "webm"),
    "audio/x-wav": ("audio", "wav"),
    "video/3gpp": ("video", "three_gp"),
    "video/mp4": ("video", "mp4"),
    "video/mpeg": ("video", "mpeg"),
    "video/quicktime": ("video", "mov"),
    "video/webm": ("video", "webm"),
    "video/x-flv": ("video", "flv"),
    "video/x-matroska": ("video", "mkv"),
    "video/x-ms-wmv": ("video", "wmv"),
}
#: The blocks that each place accepts. An assistant message accepts none.
BLOCKS = {
    "tool result": frozenset({"image", "document", "video"}),
    "user message": frozenset({"image", "document", "video", "audio"}),
}
#: The API's lowest effort is "low".
EFFORTS = {"none": "low", "minimal": "low"}
#: Fields of the request itself, and those that `extra` can't change. Other fields of `extra` belong to the model and go
#: into additionalModelRequestFields.
REQUEST_FIELDS = frozenset(
    {
        "model",
        "modelId",
        "messages",
        "stream",
        "system",
        "inferenceConfig",
        "toolConfig",
        "guardrailConfig",
        "additionalModelRequestFields",
        "additionalModelResponseFieldPaths",
        "outputConfig",
        "performanceConfig",
        "promptVariables",
        "requestMetadata",
        "serviceTier",
    }
)


def head(target: Target, options: Options) -> dict[str, Tree]:
    """Return the body without `messages`. Fields of `extra` are merged into it; see `REQUEST_FIELDS`."""
    body: dict[str, Tree] = {}
    if options.instructions:
        body["system"] = [{"text": options.instructions}]
    if inference := _inference(options):
        body["inferenceConfig"] = inference
    if options.tools or options.hosted:
        body["toolConfig"] = _tool_config(options, target)
    if output := _output(options):
        body["outputConfig"] = output
    return merge_extra_body(body, _extra(options), options, target, MESSAGES_KEY)


def leading_messages(options: Options, target: Target) -> list[Tree]:  # noqa: ARG001 - all APIs have the same functions
    """Return no messages: instructions go into `system`."""
    return []


def render_entry(entry: Entry, target: Target) -> list[Tree]:
    """Return one message, or none if the entry has nothing for this provider."""
    parts = without_trailing_reasoning(entry.parts)
    blocks: list[Tree] = []
    for part in parts:
        citations = read_citations(part.text) if isinstance(part, Opaque) and target.wrote(part) else None
        if citations is None:
            blocks += _blocks(part, entry, target)
        elif blocks and isinstance(text := blocks[-1], Mapping) and "text" in text:
            blocks[-1] = {"citationsContent": {"content": [text], "citations": citations}}
    return [{"role": entry.role, "content": blocks}] if blocks else []


def url(target: Target, base: str, *, stream: bool) -> str:
    """Return the request's URL; `base` is the host."""
    verb = "converse-stream" if stream else "converse"
    return f"{base.rstrip('/')}/model/{quote(target.model, safe='')}/{verb}"


def with_cache_mark(items: Sequence[Tree], target: Target) -> list[Tree]:  # noqa: ARG001 - all APIs have the same functions
    """Return the messages with a cache point in the last one, never after a document or video: some are rejected."""
    match list(items):
        case [*front, Mapping() as message]:
            return [*front, {**message, "content": _mark_last(cast("list[Tree]", message["content"]))}]
        case others:
            return others


def kwargs(body: dict[str, Any], target: Target, options: Options) -> dict[str, Any]:  # noqa: ARG001 - all APIs have the same functions
    """Return the arguments of `client.converse` and `client.converse_stream`."""
    messages = [
        message | {"content": [_raw_block(block) for block in message["content"]]} for message in body[MESSAGES_KEY]
    ]
    return {"modelId": target.model} | body | {MESSAGES_KEY: messages}


def _mark_last(blocks: list[Tree]) -> list[Tree]:
    ends = [end for end, block in enumerate(blocks, 1) if isinstance(block, Mapping) and _accepts_mark(block)]
    return [*blocks[: ends[-1]], {"cachePoint": {"type": "default"}}, *blocks[ends[-1] :]] if ends else blocks


def _accepts_mark(block: Mapping[str, Tree]) -> bool:
    return not ("document" in block or "video" in block)


def _inference(options: Options) -> dict[str, Tree]:
    inference: dict[str, Tree] = {}
    if options.max_tokens is not None:
        inference["maxTokens"] = options.max_tokens
    if options.temperature is not None:
        inference["temperature"] = options.temperature
    return inference


def _tool_config(options: Options, target: Target) -> Tree:
    hosted = [{"systemTool": {"name": host_name(tool, target)}} for tool in options.hosted]
    config: dict[str, Tree] = {"tools": [*hosted, *({"toolSpec": _tool(tool)} for tool in options.tools)]}
    # Converse has no "none", and the tools must stay while the history has calls.
    return (
        config
        if options.tool_choice == "none" or not options.tools
        else config | {"toolChoice": _tool_choice(options.tool_choice)}
    )


def _tool_choice(choice: str) -> Tree:
    match choice:
        case "auto":
            return {"auto": {}}
        case "required":
            return {"any": {}}
        case name:
            return {"tool": {"name": name}}


def _tool(tool: ToolSpec) -> Tree:
    spec: dict[str, Tree] = {"name": tool.name, "inputSchema": {"json": msgspec.Raw(tool.parameters.encode())}}
    # An empty description is rejected.
    return spec | {"description": tool.description} if tool.description else spec


def _output(options: Options) -> dict[str, Tree]:
    output: dict[str, Tree] = {}
    if options.effort is not None:
        output["effort"] = EFFORTS.get(options.effort, options.effort)
    if options.schema is not None:
        schema = {"name": "answer", "schema": options.schema}
        output["textFormat"] = {"type": "json_schema", "structure": {"jsonSchema": schema}}
    return output


def _extra(options: Options) -> dict[str, Tree]:
    """Return the fields of `extra`, with the model's own where Converse takes them."""
    fields = read_extra_body(options)
    own: dict[str, Tree] = {key: fields[key] for key in fields if key in REQUEST_FIELDS}
    model = {key: fields[key] for key in fields if key not in own}
    if not model:
        return own
    additional = msgspec.json.decode(fields.get("additionalModelRequestFields", b"{}"), type=dict[str, msgspec.Raw])
    return own | {"additionalModelRequestFields": additional | model}


def _blocks(part: EntryPart, entry: Entry, target: Target) -> list[Tree]:
    match part:
        case Text(text=text) | Data(text=text):
            return _text(text)
        case RenderedFile():
            return [_media(part, f"{entry.role} message", target)]
        case Result():
            return [{"toolResult": _result(part, target)}]
        case ToolCall():
            call = {"toolUseId": part.call_id, "name": part.tool, "input": arguments_json(part.arguments)}
            return [{"toolUse": call}]
        case Opaque():
            is_taken = target.dialect.takes_reasoning or not is_reasoning(part)
            return [opaque_json(part)] if target.wrote(part) and is_taken else []
        case RenderedBlock():
            return [block_tree(part)]
        case Approval() | ContainerFile():
            raise CannotRender(f"the plan put a {type(part).__name__} into a message of bedrock-converse")
        case _ as never:
            assert_never(never)


def _text(text: str) -> list[Tree]:
    # A text block without a visible character is rejected with 400.
    return [{"text": text}] if text.strip() else []


def _result(result: Result, target: Target) -> Tree:
    content: list[Tree] = []
    for part in result.parts:
        content += [_media(part, "tool result", target)] if isinstance(part, RenderedFile) else _text(part.text)
    # `content` is required, and an empty object is the shortest valid one.
    block: dict[str, Tree] = {"toolUseId": result.call_id, "content": content or [{"json": {}}]}
    status = "error" if result.is_error else "success"
    return block | {"status": status} if target.dialect.flags_errors else block


def _media(rendered: RenderedFile, place: str, target: Target) -> Tree:
    block, format_name = FORMATS.get(rendered.file.media_type, ("none", ""))
    if block not in BLOCKS.get(place, frozenset()):
        raise CannotRender(f"the plan put {rendered.file.media_type} into a {place} of bedrock-converse")
    body: dict[str, Tree] = {"format": format_name, "source": _source(rendered, place)}
    if block == "document":
        body["name"] = _document_name(rendered)
        if target.dialect.citations and place == "user message":
            body["citations"] = {"enabled": True}
    return {block: body}


def _document_name(rendered: RenderedFile) -> str:
    """Return a neutral name, stable and unique in the request. Dots and underscores are not allowed."""
    kind = "file" if rendered.file.kind == "other" else rendered.file.kind
    return f"{kind} {rendered.number}" if rendered.nth <= 1 else f"{kind} {rendered.number} ({rendered.nth})"


def _source(rendered: RenderedFile, place: str) -> Tree:
    match rendered.file:
        case Address(form="url", value=value) if value.startswith("s3://"):
            return {"s3Location": {"uri": Slot(rendered)}}
        case Address(form=form):
            raise CannotRender(f"the plan put a {form} that is not on S3 into a {place} of bedrock-converse")
        case _:
            return {"bytes": Slot(rendered)}


def _raw_block(block: dict[str, Any]) -> dict[str, Any]:
    """Decode redacted reasoning, which boto3 takes as bytes."""
    match block:
        case {"reasoningContent": {"redactedContent": str() as text}}:
            return {"reasoningContent": {"redactedContent": base64.b64decode(text)}}
        case _:
            return block
