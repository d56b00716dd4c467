"""Hosts with a dialect of POST /v1/chat/completions: what each accepts, its errors, and the style of its responses.

A row is data: `Rules` for reading, `ReplyStyle` for writing, and a function that formats errors. A host has its own
error messages if a recording or its source shows them, else OpenAI's messages in the host's error format.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial

from msgspec import Struct
from msgspec.structs import replace

from showandtell.inspector.openai_chat import schema as wire
from showandtell.inspector.openai_chat import write
from showandtell.inspector.openai_chat.file_rules import check_image, read_data_url
from showandtell.inspector.openai_chat.mistral import MISTRAL, check_order
from showandtell.inspector.openai_chat.read import (
    BODY_FIELDS,
    OPENAI,
    format_error,
    openai_error,
    openai_error_with,
    read_body,
    serialize,
)
from showandtell.inspector.openai_chat.rules import Path, Rules, format_path, names, parts_of
from showandtell.inspector.openai_chat.write import DEFAULT_STYLE, ReplyStyle
from showandtell.inspector.pixels import read_pixels
from showandtell.inspector.request import ApiError, Host, IncomingRequest, ModelRequest, Reply, Violation

#: Every optional field that any host of this API is known to accept inside messages.
ALL_OPTIONS = OPENAI.options | names(
    """
    text.cache_control image_url.cache_control input_audio.cache_control file.cache_control video_url.cache_control
    assistant.reasoning assistant.reasoning_content assistant.reasoning_details assistant.images assistant.prefix
    tool.name tool_calls.index file.url
    """
)
INCLUDE_USAGE = "stream_options.include_usage"


# Azure: messages from pydantic-ai #4035 and openai-python #2826.


def azure_error(violation: Violation) -> ApiError:
    """Azure has no `file` part on Chat Completions."""
    if violation.path[-1:] == ("type",) and violation.detail == "file":
        message = "Invalid Value: 'file'. This model does not support file content types."
        return ApiError(message, parameter=format_path(violation.path), code="invalid_value")
    return openai_error(violation)


AZURE = replace(OPENAI, violation_error=azure_error, user_parts=OPENAI.user_parts - {"file"})

# Groq: fields from groq 1.7's types, limits from its docs on vision, messages from chatboxai/chatbox #2081 and
# fanenr/chatbot #21; the messages about limits are from memory.

GROQ_PIXELS = 33_177_600
GROQ_BASE64 = 4 * 1024 * 1024
GROQ_PARTS = ("text", "image_url", "document")


def groq_error(violation: Violation) -> ApiError:
    """Groq writes paths with dots and leaves out `param`."""
    place = "".join(f".{step}" for step in violation.path).removeprefix(".")
    match violation.kind:
        case "unknown":
            message = f"property '{violation.detail}' is unsupported"
            return ApiError(f"'{place}' : {message}" if place else message)
        case "missing":
            message = f"property '{violation.detail}' is missing"
            return ApiError(f"'{place}' : {message}" if place else message)
        case "type" | "value":
            return ApiError(openai_error_with(*GROQ_PARTS)(violation).message)


def check_groq(body: wire.Body) -> None:
    """At most five images, 4 MB of base64 in total, 33 megapixels each."""
    urls = [_get_url(part) for message in body.messages for part in parts_of(message) if isinstance(part, wire.Image)]
    if len(urls) > 5:
        raise ApiError("Too many images provided. This model supports up to 5 images")
    if sum(len(url) for url in urls if url.startswith("data:")) > GROQ_BASE64:
        raise ApiError("Request Entity Too Large", status=413, code="request_too_large")
    for url in urls:
        _, data = read_data_url(url) or ("", None)
        width, height = read_pixels(data or b"") or (0, 0)
        if width * height > GROQ_PIXELS:
            raise ApiError(f"image too large: {width}x{height} exceeds maximum {GROQ_PIXELS} pixels")


def _get_url(part: wire.Image) -> str:
    return part.image_url if isinstance(part.image_url, str) else part.image_url.url


GROQ = Rules(
    fields=names(
        """
        messages model citation_options compound_custom disable_tool_validation documents exclude_domains
        frequency_penalty function_call functions include_domains include_reasoning logit_bias logprobs
        max_completion_tokens max_tokens metadata n parallel_tool_calls presence_penalty reasoning_effort
        reasoning_format response_format search_settings seed service_tier stop store stream stream_options temperature
        tool_choice tools top_logprobs top_p user
        """
    ),
    options=names("system.name developer.name user.name assistant.name assistant.reasoning") | {INCLUDE_USAGE},
    violation_error=groq_error,
    user_parts=frozenset(GROQ_PARTS),
    assistant_parts=names("text"),
    result_parts=frozenset(GROQ_PARTS),
    check_limits=check_groq,
)

# Mistral: fields and parts from mistralai 3.7's types, the 422 format from anon-kode #53 and eca #231, call ids from
# ironclaw #1241; the table of roles and the messages about content and the last role are from memory of mistral-common.


# OpenRouter: parts from openrouter 1.3's types. That it ignores unknown fields is from memory.


def check_upstream(body: wire.Body) -> None:
    """Mistral's models require their order of roles on other hosts too."""
    if body.model.startswith(("mistral/", "mistralai/")):
        check_order(body.messages)


OPENROUTER = Rules(
    fields=BODY_FIELDS,
    ignores_unknown=True,
    options=ALL_OPTIONS,
    violation_error=openai_error_with("text", "image_url", "input_audio", "video_url", "file", "refusal"),
    user_parts=names("text image_url input_audio video_url file"),
    result_parts=names("text image_url input_audio video_url file"),
    audio_models=re.compile("audio|gemini|voxtral"),
    check_limits=check_upstream,
)

# Cohere's OpenAI-compatible endpoint: images from Cohere's docs; its fields and error format are from memory.


def check_cohere(body: wire.Body) -> None:
    """Only vision models accept images. The message is OpenAI's."""
    if "vision" not in body.model and any(isinstance(p, wire.Image) for m in body.messages for p in parts_of(m)):
        raise ApiError("Invalid content type. image_url is only supported by certain models.")


COHERE = Rules(
    fields=BODY_FIELDS,
    options=names("assistant.refusal stream_options.include_usage"),
    violation_error=openai_error_with("text", "image_url", "refusal"),
    user_parts=names("text image_url"),
    check_limits=check_cohere,
)

# Ollama: openai/openai.go. Fields missing from its Go structs are ignored, including tool_choice and
# max_completion_tokens.


def generic_error(message: str, violation: Violation) -> ApiError:
    """For hosts with one error message for anything wrong in `messages`."""
    return ApiError(message) if violation.path[:1] == ("messages",) else openai_error(violation)


def generic_misplaced_error(message: str, _kind: str, _role: str, _path: Path) -> ApiError:
    """Like `generic_error`, for a part in a message whose role does not allow it."""
    return ApiError(message)


INVALID_FORMAT = "invalid message format"


def check_ollama(messages: Sequence[wire.Message]) -> None:
    """Stricter than Ollama, which splits a tool message into one message per part and drops its tool_call_id."""
    for at, message in enumerate(messages):
        if isinstance(message, wire.ToolMessage) and not isinstance(message.content, str):
            problem = "a tool message of parts is split into several that have lost their tool_call_id"
            raise ApiError(f"{INVALID_FORMAT}: messages[{at}]: {problem}")
    OPENAI.check_order(messages)


def check_ollama_image(url: str, place: str) -> None:
    """Base64 of three types. Ollama does not fetch URLs."""
    if not url.startswith(tuple(f"data:image/{form};base64," for form in ("jpeg", "png", "webp"))):
        raise ApiError("invalid image input")
    check_image(url, place)


OLLAMA = Rules(
    fields=names(
        """
        model messages stream stream_options max_tokens seed stop temperature frequency_penalty presence_penalty top_p
        response_format tools reasoning reasoning_effort
        """
    ),
    ignores_unknown=True,
    options=ALL_OPTIONS,
    violation_error=partial(generic_error, INVALID_FORMAT),
    user_parts=names("text image_url"),
    misplaced=partial(generic_misplaced_error, INVALID_FORMAT),
    check_order=check_ollama,
    image=check_ollama_image,
)

# LM Studio: messages and error format from qwen-code #3616 and #3437 and SwarmUI-MagicPromptExtension #51.

INVALID_MESSAGES = "Invalid 'messages' in payload. Please check the structure of your 'messages' and try again."


def check_lmstudio_image(url: str, place: str) -> None:
    """LM Studio does not fetch URLs."""
    if not url.startswith("data:"):
        raise ApiError("'url' field must be a base64 encoded image.")
    check_image(url, place)


LMSTUDIO = Rules(
    fields=BODY_FIELDS,
    ignores_unknown=True,
    options=ALL_OPTIONS,
    violation_error=partial(generic_error, INVALID_MESSAGES),
    user_parts=names("text image_url"),
    misplaced=partial(generic_misplaced_error, INVALID_MESSAGES),
    image=check_lmstudio_image,
)

# DeepSeek: the error from earendil-works/pi #3636, that it is about every message of the model from NousResearch/
# hermes-agent #15325, that an empty text is enough from there and Oaklight/llm-rosetta #356, the error for images from
# memory.


def check_reasoning(body: wire.Body) -> None:
    """While the model thinks, which it does by default, each of its messages must have its reasoning."""
    for message in body.messages:
        if isinstance(message, wire.AssistantMessage) and not isinstance(message.reasoning_content, str):
            raise ApiError("The `reasoning_content` in the thinking mode must be passed back to the API.")


DEEPSEEK = Rules(
    fields=BODY_FIELDS,
    ignores_unknown=True,
    options=ALL_OPTIONS,
    violation_error=openai_error_with("text"),
    user_parts=names("text"),
    check_limits=check_reasoning,
    reasons=True,
)

# vLLM and llama.cpp accept what the loaded model's template accepts. That they ignore unknown fields is from memory.

VLLM = Rules(
    fields=BODY_FIELDS,
    ignores_unknown=True,
    options=ALL_OPTIONS,
    violation_error=openai_error_with("text", "image_url", "input_audio", "video_url", "refusal"),
    user_parts=names("text image_url input_audio video_url"),
    result_parts=names("text image_url"),
    audio_models=re.compile(""),
)

# LiteLLM's proxy: common_utils.py and factory.py of 1.109 leave files in tool results for these models and move them
# to a user message for all others.

LITELLM = replace(
    OPENROUTER,
    result_parts=names("text image_url file"),
    native_models=re.compile("anthropic/|bedrock/.*(claude|nova)|(gemini|vertex_ai)/gemini-[3-9]"),
)


class HostRow(Struct, frozen=True):
    """A host: its path, its rules, and how it writes responses and errors."""

    base: str
    path: str
    rules: Rules
    style: ReplyStyle = DEFAULT_STYLE
    format_error: Callable[[ApiError], bytes] = format_error


V1 = "/v1/chat/completions"
ROWS = (
    HostRow("azure", f"/openai{V1}", AZURE),
    HostRow("groq", f"/openai{V1}", GROQ, write.GROQ, write.format_groq_error),
    HostRow("openrouter", V1, OPENROUTER, write.OPENROUTER, write.format_openrouter_error),
    HostRow("mistral", V1, MISTRAL, write.MISTRAL, write.format_mistral_error),
    HostRow("cohere", f"/compatibility{V1}", COHERE, DEFAULT_STYLE, write.format_cohere_error),
    HostRow("deepseek", V1, DEEPSEEK, write.DEEPSEEK),
    HostRow("ollama", V1, OLLAMA, write.OLLAMA),
    HostRow("vllm", V1, VLLM, write.VLLM, write.format_vllm_error),
    HostRow("llamacpp", V1, VLLM, write.LLAMACPP, write.format_llamacpp_error),
    HostRow("lmstudio", V1, LMSTUDIO, write.LMSTUDIO, write.format_lmstudio_error),
    HostRow("litellm", "(?:/v1)?/chat/completions", LITELLM, DEFAULT_STYLE, write.format_litellm_error),
)


def make_host(row: HostRow) -> Host:
    """The inspector's host for a row."""

    def read(incoming: IncomingRequest) -> ModelRequest:
        return read_body(incoming.body, row.rules)

    def write_reply(reply: Reply, request: ModelRequest, name: str) -> Iterator[bytes]:
        return serialize(reply, request, name, write.fit_style(row.style, reply, request))

    return Host(
        base=row.base, path=re.compile(row.path), read=read, serialize=write_reply, format_error=row.format_error
    )


HOSTS: tuple[Host, ...] = tuple(map(make_host, ROWS))
