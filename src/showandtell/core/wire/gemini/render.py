"""Spells entries for Gemini's generateContent, on the Gemini API and on Vertex. The model stands in the URL."""

from __future__ import annotations

import base64
import re
from collections.abc import Sequence
from typing import Any, assert_never, cast
from urllib.parse import quote

import msgspec

from showandtell.core.capabilities.cells import Target
from showandtell.core.messages.attachments import Address
from showandtell.core.messages.parts import Opaque, Text, ToolCall
from showandtell.core.planning.values import Data, Entry, RenderedFile, Result
from showandtell.core.wire.opaque import arguments
from showandtell.core.wire.options import Options, ToolSpec
from showandtell.core.wire.tree import Slot, Tree
from showandtell.errors import BadInput, CannotRender

LIST = "contents"
RAW_BYTES = True

#: Stands for a signature that we don't have, or that another host gave: both hosts take it.
DUMMY_SIGNATURE = "skip_thought_signature_validator"
EFFORTS = {"none": "MINIMAL", "minimal": "MINIMAL", "low": "LOW", "medium": "MEDIUM", "high": "HIGH"}
#: Models up to 2.5 count thinking in tokens; 0 turns it off (google-genai 3.4, ThinkingConfig). The steps are ours.
TOKENS = {"none": 0, "minimal": 512, "low": 1024, "medium": 8192, "high": 24576}
MODES = {"auto": "AUTO", "none": "NONE", "required": "ANY"}
#: Below these keys stands data of tools and schemas, whose own keys are not ours to respell.
FOREIGN = frozenset({"args", "response", "parametersJsonSchema", "responseJsonSchema", "labels"})


def head(target: Target, options: Options) -> dict[str, Tree]:
    """Everything of the body before `contents`; `extra` lies over it, its `generationConfig` field by field."""
    body: dict[str, Tree] = {}
    if options.instructions:
        body["systemInstruction"] = {"parts": [{"text": options.instructions}]}
    if options.tools:
        body["tools"] = [{"functionDeclarations": [_tool(tool) for tool in options.tools]}]
        body["toolConfig"] = {"functionCallingConfig": _calling(options.tool_choice)}
    extra = msgspec.json.decode(options.extra or "{}", type=dict[str, msgspec.Raw])
    if config := _generation(options, target) | _further(extra.pop("generationConfig", None)):
        body["generationConfig"] = config
    return body | extra


def _further(config: msgspec.Raw | None) -> dict[str, msgspec.Raw]:
    try:
        return {} if config is None else msgspec.json.decode(config, type=dict[str, msgspec.Raw])
    except msgspec.ValidationError:
        raise BadInput("extra: generationConfig is no JSON object") from None


def leading(options: Options, target: Target) -> list[Tree]:  # noqa: ARG001 - every api has the same functions
    """No content comes before the first entry: instructions stand in `systemInstruction`."""
    return []


def entry(entry: Entry, target: Target) -> list[Tree]:
    """One content; two where results and other parts meet, for beside results the others count as the model's own."""
    if entry.role == "assistant":
        parts = _model_parts(entry, target)
        return [{"role": "model", "parts": parts}] if parts else []
    answers: list[Tree] = []
    others: list[Tree] = []
    for part in entry.parts:
        match part:
            case Result():
                answers.append({"functionResponse": _response(part, target)})
            case Text(text=words) | Data(text=words):
                others += [{"text": words}] if words else []
            case RenderedFile():
                others.append(_media(part, "user message"))
            case ToolCall() | Opaque():
                raise CannotRender(f"the plan put a {type(part).__name__} into a user message of gemini")
            case _ as never:
                assert_never(never)
    return [{"role": "user", "parts": parts} for parts in (answers, others) if parts]


def url(target: Target, base: str, *, stream: bool) -> str:
    """The address of the request; `base` is the host, and on Vertex the account is `project/location`."""
    verb = "streamGenerateContent?alt=sse" if stream else "generateContent"
    model = quote(target.model.removeprefix("models/"), safe="@")
    if target.provider != "vertex":
        return f"{base.rstrip('/')}/v1beta/models/{model}:{verb}"
    project, _, location = (target.account or "PROJECT/LOCATION").partition("/")
    path = f"projects/{project}/locations/{location}/publishers/google/models/{model}"
    return f"{base.rstrip('/')}/v1beta1/{path}:{verb}"


def marked(items: Sequence[Tree], target: Target) -> list[Tree]:  # noqa: ARG001 - every api has the same functions
    """The same, for both hosts find cached prefixes by themselves."""
    return list(items)


def kwargs(body: dict[str, Any], target: Target, options: Options) -> dict[str, Any]:  # noqa: ARG001 - the same
    """What `client.models.generate_content` takes: model, contents, and all else in config, in snake case."""
    config = {key: value for key, value in body.items() if key not in (LIST, "generationConfig")}
    config |= body.get("generationConfig", {})
    return {"model": target.model, "contents": _snaked(body[LIST]), "config": _snaked(config)}


def _tool(tool: ToolSpec) -> Tree:
    schema = msgspec.Raw(tool.parameters.encode())
    return {"name": tool.name, "description": tool.description, "parametersJsonSchema": schema}


def _calling(choice: str) -> Tree:
    if choice in MODES:
        return {"mode": MODES[choice]}
    return {"mode": "ANY", "allowedFunctionNames": [choice]}


def _generation(options: Options, target: Target) -> dict[str, Tree]:
    config: dict[str, Tree] = {}
    if options.temperature is not None:
        config["temperature"] = options.temperature
    if options.max_tokens is not None:
        config["maxOutputTokens"] = options.max_tokens
    if options.effort is not None:
        by_level = target.dialect.thinking == "level"
        thinking: Tree = (
            {"thinkingLevel": EFFORTS[options.effort]} if by_level else {"thinkingBudget": TOKENS[options.effort]}
        )
        config["thinkingConfig"] = thinking
    if options.schema is not None:
        config["responseMimeType"] = "application/json"
        config["responseJsonSchema"] = msgspec.Raw(options.schema.encode())
    return config


def _model_parts(entry: Entry, target: Target) -> list[Tree]:
    parts: list[Tree] = []
    signature = DUMMY_SIGNATURE if target.dialect.signed else None
    for part in entry.parts:
        match part:
            case Text(text=words) | Data(text=words):
                parts += [{"text": words}] if words else []
            case ToolCall():
                parts.append(_call(part, target, signature))
                # Of calls made side by side only the first is signed.
                signature = None
            case Opaque():
                parts += [_kept(part)] if part.provider == target.signer else []
            case RenderedFile() | Result():
                raise CannotRender(f"the plan put a {type(part).__name__} into an assistant message of gemini")
            case _ as never:
                assert_never(never)
    return parts


def _call(call: ToolCall, target: Target, signature: str | None) -> Tree:
    named = _identity(call.call_id, call.tool, target)
    part: dict[str, Tree] = {"functionCall": {**named, "args": arguments(call.arguments)}}
    if call.opaque and call.opaque.provider == target.signer:
        signature = call.opaque.text
    return part | {"thoughtSignature": signature} if signature else part


def _identity(call_id: str, tool: str, target: Target) -> dict[str, Tree]:
    return {"id": call_id, "name": tool} if target.dialect.call_names else {"name": tool}


def _response(result: Result, target: Target) -> Tree:
    words = [_value(part) for part in result.parts if not isinstance(part, RenderedFile)]
    said: Tree = words[0] if len(words) == 1 else words or ""
    named = _identity(result.call_id, result.tool, target)
    response: dict[str, Tree] = {**named, "response": {"error" if result.is_error else "output": said}}
    media = [_media(part, "tool result") for part in result.parts if isinstance(part, RenderedFile)]
    return response | {"parts": media} if media else response


def _value(part: Text | Data) -> Tree:
    if isinstance(part, Text):
        return part.text
    try:
        value: object = msgspec.json.decode(part.text)
    except (msgspec.DecodeError, RecursionError):
        return part.text
    # `$ref` is read as the name of a part, and the request is rejected where there is none.
    return part.text if _refers(value) else msgspec.Raw(part.text.encode())


def _refers(value: object) -> bool:
    match value:
        case dict():
            items = cast("dict[str, object]", value)
            return "$ref" in items or any(_refers(item) for item in items.values())
        case list():
            return any(_refers(item) for item in cast("list[object]", value))
        case _:
            return False


def _media(placed: RenderedFile, place: str) -> Tree:
    file = placed.file
    if file.kind == "other":
        raise CannotRender(f"the plan put {file.media_type} into a {place} of gemini")
    if isinstance(file, Address):
        return {"fileData": {"mimeType": file.media_type, "fileUri": Slot(placed)}}
    return {"inlineData": {"mimeType": file.media_type, "data": Slot(placed)}}


def _kept(opaque: Opaque) -> Tree:
    """A whole part as JSON goes back as it is; a bare signature goes on an empty text, as the api streams it."""
    try:
        return msgspec.json.decode(opaque.text, type=dict[str, msgspec.Raw])
    except msgspec.DecodeError:
        return {"text": "", "thoughtSignature": opaque.text}


def _snaked(value: Any) -> Any:
    match value:
        case dict():
            items = cast("dict[str, Any]", value)
            return {_snake(key): _field(key, item) for key, item in items.items()}
        case list():
            return [_snaked(item) for item in cast("list[Any]", value)]
        case _:
            return value


def _field(key: str, value: Any) -> Any:
    if key == "thoughtSignature":
        # The SDK holds signatures as bytes, and writes them in the url-safe alphabet.
        return base64.urlsafe_b64decode(value.replace("+", "-").replace("/", "_"))
    return value if key in FOREIGN else _snaked(value)


def _snake(key: str) -> str:
    return re.sub(r"[A-Z]", lambda letter: "_" + letter[0].lower(), key)
