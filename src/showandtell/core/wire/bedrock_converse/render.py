"""Spells entries for Amazon Bedrock's Converse API. The model stands in the URL; boto3 wants raw bytes."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from typing import Any, assert_never, cast
from urllib.parse import quote

import msgspec

from showandtell.core.capabilities.cells import Target
from showandtell.core.messages.attachments import Address
from showandtell.core.messages.parts import Opaque, Text, ToolCall
from showandtell.core.planning.values import Data, Entry, RenderedFile, Result
from showandtell.core.wire.opaque import arguments, verbatim, without_last_thoughts
from showandtell.core.wire.options import Options, ToolSpec
from showandtell.core.wire.tree import Slot, Tree
from showandtell.errors import CannotRender

LIST = "messages"
RAW_BYTES = True

#: Media type to the block that carries it and the word for its format; from botocore 1.44.5's service model.
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
#: Which blocks each place takes; an assistant message takes none.
BLOCKS = {
    "tool result": frozenset({"image", "document", "video"}),
    "user message": frozenset({"image", "document", "video", "audio"}),
}
#: The api has no word below "low".
EFFORTS = {"none": "low", "minimal": "low"}
#: Fields of the request itself; what else `extra` holds is the model's and goes into additionalModelRequestFields.
OWN = frozenset(
    {
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


def head(target: Target, options: Options) -> dict[str, Tree]:  # noqa: ARG001 - every api has the same functions
    """Everything of the body before `messages`; `extra` lies over it, fields that Converse doesn't know one deeper."""
    body: dict[str, Tree] = {}
    if options.instructions:
        body["system"] = [{"text": options.instructions}]
    if inference := _inference(options):
        body["inferenceConfig"] = inference
    if options.tools:
        body["toolConfig"] = _tool_config(options)
    if output := _output(options):
        body["outputConfig"] = output
    return body | _extra(options.extra or "{}")


def leading(options: Options, target: Target) -> list[Tree]:  # noqa: ARG001 - every api has the same functions
    """No message comes before the first entry: instructions stand in `system`."""
    return []


def entry(entry: Entry, target: Target) -> list[Tree]:
    """One message, or none where nothing of the entry is for this provider."""
    parts = without_last_thoughts(entry.parts)
    blocks = [block for part in parts for block in _blocks(part, entry, target)]
    return [{"role": entry.role, "content": blocks}] if blocks else []


def url(target: Target, base: str, *, stream: bool) -> str:
    """The address of the request; `base` is the host."""
    verb = "converse-stream" if stream else "converse"
    return f"{base.rstrip('/')}/model/{quote(target.model, safe='')}/{verb}"


def marked(items: Sequence[Tree], target: Target) -> list[Tree]:  # noqa: ARG001 - every api has the same functions
    """The same messages with a cache point in the last one, never behind a document or video: some are refused."""
    match list(items):
        case [*front, Mapping() as message]:
            return [*front, {**message, "content": _mark_last(cast("list[Tree]", message["content"]))}]
        case others:
            return others


def kwargs(body: dict[str, Any], target: Target, options: Options) -> dict[str, Any]:  # noqa: ARG001 - the same
    """What `client.converse` and `client.converse_stream` take."""
    messages = [message | {"content": [_raw_block(block) for block in message["content"]]} for message in body[LIST]]
    return {"modelId": target.model} | body | {LIST: messages}


def _mark_last(blocks: list[Tree]) -> list[Tree]:
    ends = [place for place, block in enumerate(blocks, 1) if isinstance(block, Mapping) and _takes_mark(block)]
    return [*blocks[: ends[-1]], {"cachePoint": {"type": "default"}}, *blocks[ends[-1] :]] if ends else blocks


def _takes_mark(block: Mapping[str, Tree]) -> bool:
    return not ("document" in block or "video" in block)


def _inference(options: Options) -> dict[str, Tree]:
    inference: dict[str, Tree] = {}
    if options.max_tokens is not None:
        inference["maxTokens"] = options.max_tokens
    if options.temperature is not None:
        inference["temperature"] = options.temperature
    return inference


def _tool_config(options: Options) -> Tree:
    config: dict[str, Tree] = {"tools": [{"toolSpec": _tool(tool)} for tool in options.tools]}
    # There is no word for "none", and the tools must stay while the history has calls.
    return config if options.tool_choice == "none" else config | {"toolChoice": _tool_choice(options.tool_choice)}


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


def _extra(text: str) -> dict[str, Tree]:
    fields = msgspec.json.decode(text, type=dict[str, msgspec.Raw])
    own: dict[str, Tree] = {key: fields[key] for key in fields if key in OWN}
    model = {key: fields[key] for key in fields if key not in OWN}
    if not model:
        return own
    given = msgspec.json.decode(fields.get("additionalModelRequestFields", b"{}"), type=dict[str, msgspec.Raw])
    return own | {"additionalModelRequestFields": given | model}


def _blocks(part: Text | Data | RenderedFile | Result | ToolCall | Opaque, entry: Entry, target: Target) -> list[Tree]:
    match part:
        case Text(text=words) | Data(text=words):
            return _words(words)
        case RenderedFile():
            return [_media(part, f"{entry.role} message", target)]
        case Result():
            return [{"toolResult": _result(part, target)}]
        case ToolCall():
            called = {"toolUseId": part.call_id, "name": part.tool, "input": arguments(part.arguments)}
            return [{"toolUse": called}]
        case Opaque():
            return [verbatim(part)] if part.provider == target.signer and target.dialect.thoughts else []
        case _ as never:
            assert_never(never)


def _words(words: str) -> list[Tree]:
    # A text block without a visible character is answered with 400.
    return [{"text": words}] if words.strip() else []


def _result(result: Result, target: Target) -> Tree:
    content: list[Tree] = []
    for part in result.parts:
        content += [_media(part, "tool result", target)] if isinstance(part, RenderedFile) else _words(part.text)
    # `content` may not be left out, and an empty object says nothing in no words.
    block: dict[str, Tree] = {"toolUseId": result.call_id, "content": content or [{"json": {}}]}
    status = "error" if result.is_error else "success"
    return block | {"status": status} if target.dialect.status else block


def _media(placed: RenderedFile, place: str, target: Target) -> Tree:
    block, spelling = FORMATS.get(placed.file.media_type, ("none", ""))
    if block not in BLOCKS.get(place, frozenset()):
        raise CannotRender(f"the plan put {placed.file.media_type} into a {place} of bedrock-converse")
    body: dict[str, Tree] = {"format": spelling, "source": _source(placed, place)}
    if block == "document":
        body["name"] = _document_name(placed)
        if target.dialect.citations and place == "user message":
            body["citations"] = {"enabled": True}
    return {block: body}


def _document_name(placed: RenderedFile) -> str:
    """A neutral name, the same each time and unique in the request: no dot or underscore may stand in it."""
    kind = "file" if placed.file.kind == "other" else placed.file.kind
    return f"{kind} {placed.number}" if placed.nth <= 1 else f"{kind} {placed.number} ({placed.nth})"


def _source(placed: RenderedFile, place: str) -> Tree:
    match placed.file:
        case Address(form="url", value=value) if value.startswith("s3://"):
            return {"s3Location": {"uri": Slot(placed)}}
        case Address(form=form):
            raise CannotRender(f"the plan put a {form} that is not s3 into a {place} of bedrock-converse")
        case _:
            return {"bytes": Slot(placed)}


def _raw_block(block: dict[str, Any]) -> dict[str, Any]:
    """boto3 wants redacted reasoning as bytes, too."""
    match block:
        case {"reasoningContent": {"redactedContent": str() as text}}:
            return {"reasoningContent": {"redactedContent": base64.b64decode(text)}}
        case _:
            return block
