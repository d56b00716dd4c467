"""Spells entries for Anthropic's Messages API, at home, on Bedrock and on Vertex; the plan decided order and words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, assert_never, cast
from urllib.parse import quote

import msgspec
from msgspec.structs import replace

from showandtell.core.capabilities.cells import Target
from showandtell.core.messages.attachments import Address
from showandtell.core.messages.parts import Opaque, Text, ToolCall
from showandtell.core.planning.values import Data, Entry, RenderedFile, Result
from showandtell.core.wire.opaque import arguments, verbatim, without_last_thoughts
from showandtell.core.wire.options import Options, ToolSpec, apart
from showandtell.core.wire.tree import Slot, Tree
from showandtell.errors import CannotRender

LIST = "messages"
RAW_BYTES = False

#: The api demands a limit; this one every current model can give.
MAX_TOKENS = 8192
IMAGES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
#: The api has no word below "low".
EFFORTS = {"none": "low", "minimal": "low"}
#: The version of the api that our bodies are written in.
VERSION = "2023-06-01"
#: Hosts that want the model in the URL and the api's version in the body.
VERSIONS = {"anthropic-bedrock": "bedrock-2023-05-31", "anthropic-vertex": "vertex-2023-10-16"}


def head(target: Target, options: Options) -> dict[str, Tree]:
    """Everything of the body before `messages`; `extra` lies over it."""
    version = VERSIONS.get(target.provider)
    body: dict[str, Tree] = {"anthropic_version": version} if version else {"model": target.model}
    body["max_tokens"] = MAX_TOKENS if options.max_tokens is None else options.max_tokens
    if options.instructions:
        body["system"] = options.instructions
    if options.tools:
        body["tools"] = [_tool(tool) for tool in options.tools]
        body["tool_choice"] = _tool_choice(options.tool_choice)
    if options.temperature is not None:
        body["temperature"] = options.temperature
    if output := _output(options):
        body["output_config"] = output
    # On Bedrock the URL says it, and the field is refused.
    if options.stream and target.provider != "anthropic-bedrock":
        body["stream"] = True
    return body | msgspec.json.decode(options.extra or "{}", type=dict[str, msgspec.Raw])


def leading(options: Options, target: Target) -> list[Tree]:  # noqa: ARG001 - every api has the same functions
    """No message comes before the first entry: instructions stand in `system`."""
    return []


def entry(entry: Entry, target: Target) -> list[Tree]:
    """One message, or none where nothing of the entry is for this provider."""
    parts = without_last_thoughts(entry.parts)
    blocks = [block for part in parts for block in _blocks(part, entry, target)]
    return [{"role": entry.role, "content": blocks}] if blocks else []


def url(target: Target, base: str, *, stream: bool) -> str:
    """The address of the request; `base` is the host, without `/v1`."""
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


def marked(items: Sequence[Tree], target: Target) -> list[Tree]:  # noqa: ARG001 - every api has the same functions
    """The same messages with a cache mark on the last block: on a tool result as a whole, never inside it."""
    match list(items):
        case [*front, Mapping() as message]:
            return [*front, {**message, "content": _mark_last(cast("list[Tree]", message["content"]))}]
        case others:
            return others


def kwargs(body: dict[str, Any], target: Target, options: Options) -> dict[str, Any]:
    """What `client.messages.create` takes: what only `extra` says, and what the SDK has no word for, in `extra_body`.

    anthropic 2.12 asks for version 2026-10-21, which has no `temperature`, and which Bedrock refuses for some models:
    where that matters, the version that our body is written in is said.
    """
    own = {*head(target, replace(options, extra=None)), LIST} - {"temperature", "anthropic_version"}
    asked = {"model": target.model, "stream": True} if options.stream else {"model": target.model}
    is_home = target.provider not in VERSIONS
    said = {"extra_headers": {"anthropic-version": VERSION}} if is_home and options.temperature is not None else {}
    return asked | apart(body, own) | said


def _mark_last(blocks: list[Tree]) -> list[Tree]:
    # What goes back verbatim is thought, and a thought takes no mark.
    last = max((place for place, block in enumerate(blocks) if isinstance(block, Mapping)), default=None)
    if last is None:
        return blocks
    block = cast("Mapping[str, Tree]", blocks[last])
    return [*blocks[:last], {**block, "cache_control": {"type": "ephemeral"}}, *blocks[last + 1 :]]


def _tool(tool: ToolSpec) -> Tree:
    schema = msgspec.Raw(tool.parameters.encode())
    return {"name": tool.name, "description": tool.description, "input_schema": schema}


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


def _blocks(part: Text | Data | RenderedFile | Result | ToolCall | Opaque, entry: Entry, target: Target) -> list[Tree]:
    match part:
        case Text(text=words) | Data(text=words):
            return _words(words)
        case RenderedFile():
            return [_media(part, f"{entry.role} message")]
        case Result():
            return [_result(part)]
        case ToolCall():
            return [{"type": "tool_use", "id": part.call_id, "name": part.tool, "input": arguments(part.arguments)}]
        case Opaque():
            return [verbatim(part)] if part.provider == target.signer else []
        case _ as never:
            assert_never(never)


def _words(words: str) -> list[Tree]:
    # A text block without a visible character is answered with 400.
    return [{"type": "text", "text": words}] if words.strip() else []


def _result(result: Result) -> Tree:
    place = "error result" if result.is_error else "tool result"
    content: list[Tree] = []
    for part in result.parts:
        content += [_media(part, place)] if isinstance(part, RenderedFile) else _words(part.text)
    block: dict[str, Tree] = {"type": "tool_result", "tool_use_id": result.call_id, "is_error": result.is_error}
    # An empty list is rejected, no content at all is not.
    return block | {"content": content} if content else block


def _media(placed: RenderedFile, place: str) -> Tree:
    media_type = placed.file.media_type
    if place in ("tool result", "user message"):
        if media_type in IMAGES:
            return {"type": "image", "source": _source(placed)}
        if media_type == "application/pdf":
            return {"type": "document", "title": placed.name, "source": _source(placed)}
    raise CannotRender(f"the plan put {media_type} into a {place} of anthropic-messages")


def _source(placed: RenderedFile) -> Tree:
    match placed.file:
        case Address(form="url"):
            return {"type": "url", "url": Slot(placed)}
        case Address():
            return {"type": "file", "file_id": Slot(placed)}
        case facts:
            return {"type": "base64", "media_type": facts.media_type, "data": Slot(placed)}
