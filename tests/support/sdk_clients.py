"""Other people's types testify on our requests, and the conversation that they are shown."""

import base64
import functools
from typing import Any

import msgspec
from pydantic import ConfigDict, TypeAdapter
from pydantic_core import SchemaValidator

from showandtell.core.capabilities.cells import Api, Dialect, Target, fill_in
from showandtell.core.messages.attachments import Address, Facts
from showandtell.core.messages.parts import Text, ToolCall
from showandtell.core.planning.values import Entry, RenderedFile, Result
from showandtell.core.wire.options import Options, ToolSpec
from showandtell.core.wire.renderers import renderer_of
from showandtell.core.wire.tree import Slot, to_segments, to_values

HOSTS: dict[Api, tuple[str, str]] = {
    "anthropic-messages": ("anthropic", "claude-sonnet-4-5"),
    "openai-chat": ("openai", "gpt-5-mini"),
    "openai-responses": ("openai", "gpt-5-mini"),
    "gemini": ("google", "gemini-3-flash-preview"),
    "bedrock-converse": ("bedrock", "us.anthropic.claude-sonnet-4-5-20250929-v1:0"),
}

#: What each test file holds: a word that base64 turns into another, so that a snapshot shows which is which.
PNG = Facts("a" * 64, "image/png", 3, pixels=(1, 1))
PDF = Facts("b" * 64, "application/pdf", 3, pages=1)
WAV = Facts("c" * 64, "audio/wav", 3, seconds=1.0)
WORDS = Facts("d" * 64, "text/plain", 3)
MP4 = Facts("e" * 64, "video/mp4", 3, seconds=1.0)
BYTES = {PNG: b"png", PDF: b"pdf", WAV: b"wav", WORDS: b"txt", MP4: b"mp4"}
NAMES = {PNG: "chart.png", PDF: "report.pdf", WAV: "beep.wav", WORDS: "notes.txt", MP4: "clip.mp4"}

CALL = ToolCall("call_1", "get", "{}")
ADD = ToolSpec("get", "Get the report.", '{"type":"object","properties":{},"additionalProperties":false}')
SCHEMA = '{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"],"additionalProperties":false}'
OPTIONS = Options(instructions="Be brief.", tools=(ADD,), temperature=0.5, max_tokens=100, effort="low", schema=SCHEMA)


def aim(api: Api, provider: str = "", model: str = "", **dialect: Any) -> Target:
    """A target of this api without cells: renderers don't read them."""
    host = HOSTS[api]
    return Target(provider or host[0], api, model or host[1], (), dialect=fill_in(Dialect(**dialect), api))


def placed(file: Facts | Address, number: int = 1, *, place: str = "tool_result", nth: int = 1) -> RenderedFile:
    name = NAMES[file] if isinstance(file, Facts) else "linked"
    return RenderedFile(number, nth, name, file, place)  # pyright: ignore[reportArgumentType] - a word of two


def user(*parts: Any) -> Entry:
    return Entry("user", tuple(Text(part) if isinstance(part, str) else part for part in parts))


def model(*parts: Any) -> Entry:
    return Entry("assistant", tuple(Text(part) if isinstance(part, str) else part for part in parts))


def result(*parts: Any, is_error: bool = False) -> Result:
    content = tuple(Text(part) if isinstance(part, str) else part for part in parts)
    return Result("call_1", "get", content, is_error)


#: Where tool results hold files, and where they hold none.
NATIVE = (
    user("Show me the report."),
    model("One moment.", CALL),
    user(result("Report and chart:", placed(PNG, 1), placed(PDF, 2))),
    model("Here they are."),
    user("What does image 1 show?"),
)
RELOCATED = (
    user("Show me the report."),
    model("One moment.", CALL),
    user(result("image 1: shown below", "document 2: shown below"), "[image 1]", placed(PNG, 1), placed(PDF, 2)),
    model("Here they are."),
    user("What does image 1 show?"),
)


def tree(entries: tuple[Entry, ...], target: Target, options: Options) -> dict[str, Any]:
    module = renderer_of(target.api)
    turns = [turn for entry in entries for turn in module.render_entry(entry, target)]
    return {**module.head(target, options), module.MESSAGES_KEY: [*module.leading_messages(options, target), *turns]}


def rest(entries: tuple[Entry, ...], target: Target, options: Options) -> dict[str, Any]:
    """The body as REST has it, and that its segments say the same."""

    def leaf(slot: Slot) -> str:
        file = slot.rendered.file
        return slot.prefix + base64.b64encode(BYTES[file]).decode() if isinstance(file, Facts) else file.value

    trunk = tree(entries, target, options)
    body = to_values(trunk, leaf)
    pieces = [base64.b64encode(BYTES[piece]) if isinstance(piece, Facts) else piece for piece in to_segments(trunk)]
    assert msgspec.json.decode(b"".join(pieces)) == body
    return body


def arguments(entries: tuple[Entry, ...], target: Target, options: Options) -> dict[str, Any]:
    """What the SDK's call takes."""
    module = renderer_of(target.api)

    def raw(slot: Slot) -> bytes | str:
        file = slot.rendered.file
        return BYTES[file] if isinstance(file, Facts) else file.value

    if not module.SDK_TAKES_BYTES:
        return module.kwargs(rest(entries, target, options), target, options)
    return module.kwargs(to_values(tree(entries, target, options), raw), target, options)


def check(entries: tuple[Entry, ...], target: Target, options: Options = OPTIONS) -> dict[str, Any]:
    """Let the SDK's own types judge the call, and give the REST body for a closer look."""
    called = arguments(entries, target, options)
    witness = {"groq": _groq, "mistral": _mistral}.get(target.provider) or WITNESSES[target.api]
    witness(called)
    return rest(entries, target, options)


@functools.cache
def _validator(kind: Any) -> SchemaValidator:
    # A union or list hands its config down, a lone TypedDict takes none.
    return SchemaValidator(_eager(TypeAdapter(list[kind], config=ConfigDict(extra="forbid")).core_schema))  # pyright: ignore[reportInvalidTypeForm] - a type at run time


def _eager(schema: Any) -> Any:
    """Look into every list, which SDKs type as iterables, and forbid unknown keys everywhere."""
    if isinstance(schema, list | tuple):
        return type(schema)(_eager(item) for item in schema)
    if not isinstance(schema, dict):
        return schema
    eager = {key: value if key == "metadata" else _eager(value) for key, value in schema.items()}
    # Answers put back into a question may grow fields, and some types bring a config of their own; we add nothing.
    eager |= {key: "forbid" for key in ("extra_behavior", "extra_fields_behavior") if key in eager}
    return eager | {"type": "list"} if eager.get("type") == "generator" else eager


def _typed(kind: Any, called: dict[str, Any]) -> None:
    """Validate a TypedDict in depth; a key that it doesn't know is an error."""
    _validator(kind).validate_python(
        [{key: item for key, item in called.items() if key not in {"extra_body", "extra_headers"}}]
    )


def _anthropic(called: dict[str, Any]) -> None:
    from anthropic.types.message_create_params import MessageCreateParams

    _typed(MessageCreateParams, called)


def _chat(called: dict[str, Any]) -> None:
    from openai.types.chat.completion_create_params import CompletionCreateParams

    _typed(CompletionCreateParams, called)


def _responses(called: dict[str, Any]) -> None:
    from openai.types.responses.response_create_params import ResponseCreateParams

    _typed(ResponseCreateParams, called)


def _groq(called: dict[str, Any]) -> None:
    from groq.types.chat.completion_create_params import CompletionCreateParams

    _typed(CompletionCreateParams, called)


def _mistral(called: dict[str, Any]) -> None:
    from mistralai.client.models import ChatCompletionRequest

    seen = ChatCompletionRequest.model_validate(called).model_dump(mode="json", by_alias=True)
    assert set(called) <= set(seen)
    # An unknown chunk is let through under this name.
    assert "UNKNOWN" not in str(seen)
    for message, kept in zip(called["messages"], seen["messages"], strict=True):
        assert set(message) <= set(kept)


def _google(called: dict[str, Any]) -> None:
    from google.genai import types

    assert set(called) == {"model", "contents", "config"}
    types.GenerateContentConfig.model_validate(called["config"])
    for content in called["contents"]:
        types.Content.model_validate(content)


@functools.cache
def _converse_shape() -> Any:
    from botocore.loaders import Loader
    from botocore.model import ServiceModel

    description = Loader().load_service_model("bedrock-runtime", "service-2")
    return ServiceModel(description).operation_model("Converse").input_shape


def _botocore(called: dict[str, Any]) -> None:
    from botocore.validate import ParamValidator

    report = ParamValidator().validate(called, _converse_shape()).generate_report()
    if report:
        raise ValueError(report)


WITNESSES = {
    "anthropic-messages": _anthropic,
    "openai-chat": _chat,
    "openai-responses": _responses,
    "gemini": _google,
    "bedrock-converse": _botocore,
}
