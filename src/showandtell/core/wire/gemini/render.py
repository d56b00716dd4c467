"""Writes requests for Gemini's generateContent, on the Gemini API and on Vertex. The model is part of the URL."""

from __future__ import annotations

import base64
import re
from collections.abc import Sequence
from typing import Any, assert_never, cast
from urllib.parse import quote

import msgspec

from showandtell.core.capabilities.cells import Target
from showandtell.core.messages.attachments import Address
from showandtell.core.messages.parts import Approval, Opaque, Text, ToolCall
from showandtell.core.planning.values import ContainerFile, Data, Entry, RenderedBlock, RenderedFile, Result
from showandtell.core.wire.extra_body import merge_extra_body, read_extra_body
from showandtell.core.wire.hosted_tools import FileSearch, HostedTool, ImageGeneration, WebSearch, host_name
from showandtell.core.wire.opaque import arguments_json, block_tree
from showandtell.core.wire.options import Options, ToolSpec
from showandtell.core.wire.tree import Slot, Tree
from showandtell.errors import BadInput, CannotRender

MESSAGES_KEY = "contents"
SDK_TAKES_BYTES = True

#: Replaces a missing signature, or one from another host. Both hosts accept it.
DUMMY_SIGNATURE = "skip_thought_signature_validator"
THINKING_LEVELS = {"none": "MINIMAL", "minimal": "MINIMAL", "low": "LOW", "medium": "MEDIUM", "high": "HIGH"}
#: Models up to 2.5 count thinking in tokens; 0 turns it off (google-genai 3.4, ThinkingConfig). The steps are ours.
THINKING_BUDGETS = {"none": 0, "minimal": 512, "low": 1024, "medium": 8192, "high": 24576}
#: What stands for a tool that is no tool of the API, but a modality of its answers.
MODALITY = "modality"
MODES = {"auto": "AUTO", "none": "NONE", "required": "ANY"}
#: Keys whose values are data of tools and schemas, so the keys inside them must not change.
FOREIGN_KEYS = frozenset({"args", "response", "parametersJsonSchema", "responseJsonSchema", "labels"})


def head(target: Target, options: Options) -> dict[str, Tree]:
    """Return the body without `contents`. Fields of `extra` are merged into it."""
    body: dict[str, Tree] = {}
    if options.instructions:
        body["systemInstruction"] = {"parts": [{"text": options.instructions}]}
    hosted = [_hosted_tool(tool, target) for tool in options.hosted if host_name(tool, target) != MODALITY]
    own: list[Tree] = [{"functionDeclarations": [_tool(tool) for tool in options.tools]}] if options.tools else []
    if hosted or own:
        body["tools"] = [*hosted, *own]
    if options.tools:
        body["toolConfig"] = {"functionCallingConfig": _calling_config(options.tool_choice), **_mixed(hosted, target)}
    if config := _generation_config(options, target):
        body["generationConfig"] = config
    return merge_extra_body(body, read_extra_body(options), options, target, MESSAGES_KEY)


def leading_messages(options: Options, target: Target) -> list[Tree]:  # noqa: ARG001 - all APIs have the same functions
    """Return no contents: instructions go into `systemInstruction`."""
    return []


def render_entry(entry: Entry, target: Target) -> list[Tree]:
    """Return one content, or two if an entry has results and other parts.

    In a content with results, Gemini treats other parts as the model's own.
    """
    if entry.role == "assistant":
        parts = _model_parts(entry, target)
        return [{"role": "model", "parts": parts}] if parts else []
    responses: list[Tree] = []
    others: list[Tree] = []
    for part in entry.parts:
        match part:
            case Result():
                responses.append({"functionResponse": _response(part, target)})
            case Text(text=text) | Data(text=text):
                others += [{"text": text}] if text else []
            case RenderedFile():
                others.append(_media(part, "user message"))
            case ToolCall() | Opaque() | RenderedBlock() | Approval() | ContainerFile():
                raise CannotRender(f"the plan put a {type(part).__name__} into a user message of gemini")
            case _ as never:
                assert_never(never)
    return [{"role": "user", "parts": parts} for parts in (responses, others) if parts]


def url(target: Target, base: str, *, stream: bool) -> str:
    """Return the request's URL; `base` is the host. On Vertex, the target's account is `project/location`.

    An account without a location is that of a key alone, whose requests name no project.
    """
    verb = "streamGenerateContent?alt=sse" if stream else "generateContent"
    model = quote(target.model.removeprefix("models/"), safe="@")
    if target.provider != "vertex":
        return f"{base.rstrip('/')}/v1beta/models/{model}:{verb}"
    project, _, location = (target.account or "PROJECT/LOCATION").partition("/")
    resource = f"projects/{project}/locations/{location}/" if location else ""
    return f"{base.rstrip('/')}/v1beta1/{resource}publishers/google/models/{model}:{verb}"


def with_cache_mark(items: Sequence[Tree], target: Target) -> list[Tree]:  # noqa: ARG001 - all APIs have the same functions
    """Return the contents unchanged: both hosts find cached prefixes without marks."""
    return list(items)


def kwargs(body: dict[str, Any], target: Target, options: Options) -> dict[str, Any]:  # noqa: ARG001 - all APIs have the same functions
    """Return the arguments of `client.models.generate_content`: model, contents, and a config in snake case."""
    config = {key: value for key, value in body.items() if key not in (MESSAGES_KEY, "generationConfig")}
    config |= body.get("generationConfig", {})
    return {"model": target.model, "contents": _snake_keys(body[MESSAGES_KEY]), "config": _snake_keys(config)}


def _tool(tool: ToolSpec) -> Tree:
    schema = msgspec.Raw(tool.parameters.encode())
    return {"name": tool.name, "description": tool.description, "parametersJsonSchema": schema}


def _hosted_tool(tool: HostedTool, target: Target) -> Tree:
    fields: dict[str, Tree] = {}
    if isinstance(tool, FileSearch):
        fields = {"fileSearchStoreNames": tool.stores, **({"topK": tool.max_results} if tool.max_results else {})}
    elif isinstance(tool, WebSearch) and tool.blocked_domains:
        fields = {"excludeDomains": tool.blocked_domains}
    if isinstance(tool, WebSearch) and tool.allowed_domains:
        raise BadInput(f"{target.name} takes no allowed_domains of WebSearch: give blocked_domains")
    return {host_name(tool, target): fields}


def _mixed(hosted: Sequence[Tree], target: Target) -> dict[str, Tree]:
    """Return the field that functions beside hosted tools need, of models that take both (Gemini 3 and newer)."""
    if not hosted:
        return {}
    if target.dialect.thinking == "budget":
        raise BadInput(f"{target.name} takes either functions or tools that Google runs: remove one of both")
    return {} if target.provider == "vertex" else {"includeServerSideToolInvocations": True}


def _calling_config(choice: str) -> Tree:
    if choice in MODES:
        return {"mode": MODES[choice]}
    return {"mode": "ANY", "allowedFunctionNames": [choice]}


def _generation_config(options: Options, target: Target) -> dict[str, Tree]:
    config: dict[str, Tree] = {}
    if options.temperature is not None:
        config["temperature"] = options.temperature
    if options.max_tokens is not None:
        config["maxOutputTokens"] = options.max_tokens
    if options.effort is not None:
        by_level = target.dialect.thinking == "level"
        thinking: Tree = (
            {"thinkingLevel": THINKING_LEVELS[options.effort]}
            if by_level
            else {"thinkingBudget": THINKING_BUDGETS[options.effort]}
        )
        config["thinkingConfig"] = thinking
    if any(isinstance(tool, ImageGeneration) for tool in options.hosted):
        config["responseModalities"] = ["TEXT", "IMAGE"]
    if options.schema is not None:
        config["responseMimeType"] = "application/json"
        config["responseJsonSchema"] = msgspec.Raw(options.schema.encode())
    return config


def _model_parts(entry: Entry, target: Target) -> list[Tree]:
    parts: list[Tree] = []
    signature = DUMMY_SIGNATURE if target.dialect.needs_signature else None
    for part in entry.parts:
        match part:
            case Text(text=text) | Data(text=text):
                parts += [{"text": text}] if text else []
            case ToolCall():
                parts.append(_call(part, target, signature))
                # Of parallel calls, only the first is signed.
                signature = None
            case Opaque():
                parts += [_opaque_part(part)] if target.wrote(part) else []
            case RenderedBlock():
                parts.append(block_tree(part))
            case RenderedFile() | Result() | Approval() | ContainerFile():
                raise CannotRender(f"the plan put a {type(part).__name__} into an assistant message of gemini")
            case _ as never:
                assert_never(never)
    return parts


def _call(call: ToolCall, target: Target, signature: str | None) -> Tree:
    identity = _identity(call.call_id, call.tool, target)
    part: dict[str, Tree] = {"functionCall": {**identity, "args": arguments_json(call.arguments)}}
    if call.opaque and target.wrote(call.opaque):
        signature = call.opaque.text
    return part | {"thoughtSignature": signature} if signature else part


def _identity(call_id: str, tool: str, target: Target) -> dict[str, Tree]:
    return {"id": call_id, "name": tool} if target.dialect.takes_call_ids else {"name": tool}


def _response(result: Result, target: Target) -> Tree:
    values = [_result_value(part) for part in result.parts if not isinstance(part, RenderedFile)]
    output: Tree = values[0] if len(values) == 1 else values or ""
    identity = _identity(result.call_id, result.tool, target)
    response: dict[str, Tree] = {**identity, "response": {"error" if result.is_error else "output": output}}
    media = [_media(part, "tool result") for part in result.parts if isinstance(part, RenderedFile)]
    return response | {"parts": media} if media else response


def _result_value(part: Text | Data) -> Tree:
    if isinstance(part, Text):
        return part.text
    try:
        value: object = msgspec.json.decode(part.text)
    except (msgspec.DecodeError, RecursionError):
        return part.text
    # Gemini reads `$ref` as the name of a part, and rejects the request if there is none of that name.
    return part.text if _has_ref(value) else msgspec.Raw(part.text.encode())


def _has_ref(value: object) -> bool:
    match value:
        case dict():
            items = cast("dict[str, object]", value)
            return "$ref" in items or any(_has_ref(item) for item in items.values())
        case list():
            return any(_has_ref(item) for item in cast("list[object]", value))
        case _:
            return False


def _media(rendered: RenderedFile, place: str) -> Tree:
    file = rendered.file
    if file.kind == "other":
        raise CannotRender(f"the plan put {file.media_type} into a {place} of gemini")
    if isinstance(file, Address):
        return {"fileData": {"mimeType": file.media_type, "fileUri": Slot(rendered)}}
    return {"inlineData": {"mimeType": file.media_type, "data": Slot(rendered)}}


def _opaque_part(opaque: Opaque) -> Tree:
    """Return a complete part unchanged, or a signature on an empty text, as the API streams it."""
    try:
        return msgspec.json.decode(opaque.text, type=dict[str, msgspec.Raw])
    except msgspec.DecodeError:
        return {"text": "", "thoughtSignature": opaque.text}


def _snake_keys(value: Any) -> Any:
    match value:
        case dict():
            items = cast("dict[str, Any]", value)
            return {_snake_case(key): _sdk_value(key, item) for key, item in items.items()}
        case list():
            return [_snake_keys(item) for item in cast("list[Any]", value)]
        case _:
            return value


def _sdk_value(key: str, value: Any) -> Any:
    if key == "thoughtSignature":
        # The SDK stores signatures as bytes, and writes them in the URL-safe alphabet.
        return base64.urlsafe_b64decode(value.replace("+", "-").replace("/", "_"))
    return value if key in FOREIGN_KEYS else _snake_keys(value)


def _snake_case(key: str) -> str:
    return re.sub(r"[A-Z]", lambda letter: "_" + letter[0].lower(), key)
