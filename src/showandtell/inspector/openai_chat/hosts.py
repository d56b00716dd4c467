"""The hosts that speak POST /v1/chat/completions in a dialect: what each takes, how it refuses, how it writes answers.

A row is data: `Rules` for reading, `Manner` for writing, a form for errors. A host's own words stand where a recording
or its source has them; everywhere else it refuses in OpenAI's words, in its own form.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial

from msgspec import Struct
from msgspec.structs import replace

from showandtell.inspector.openai_chat import schema as wire
from showandtell.inspector.openai_chat import write
from showandtell.inspector.openai_chat.mistral import MISTRAL, check_order
from showandtell.inspector.openai_chat.read import OPENAI, TYPED, read_body, say, say_with, spell, spell_refusal
from showandtell.inspector.openai_chat.rules import (
    Path,
    Rules,
    check_image,
    names,
    parts_of,
    read_data_url,
    spell_path,
)
from showandtell.inspector.openai_chat.write import PLAIN, Manner
from showandtell.inspector.pixels import read_pixels
from showandtell.inspector.request import Fault, Host, IncomingRequest, ModelRequest, Refusal, Reply

#: Every optional field that a host of this api is known to take inside messages.
EVERY = OPENAI.options | names(
    """
    text.cache_control image_url.cache_control input_audio.cache_control file.cache_control video_url.cache_control
    assistant.reasoning assistant.reasoning_content assistant.reasoning_details assistant.images assistant.prefix
    tool.name tool_calls.index file.url
    """
)
ASKED_USAGE = "stream_options.include_usage"


# Azure: pydantic-ai #4035 and openai-python #2826 have the words.


def say_azure(fault: Fault) -> Refusal:
    """Azure knows no `file` part on Chat Completions."""
    if fault.path[-1:] == ("type",) and fault.detail == "file":
        words = "Invalid Value: 'file'. This model does not support file content types."
        return Refusal(words, parameter=spell_path(fault.path), code="invalid_value")
    return say(fault)


AZURE = replace(OPENAI, say=say_azure, user_parts=OPENAI.user_parts - {"file"})

# Groq: fields from groq 1.7's types, limits from its docs on vision, words from chatboxai/chatbox #2081 and
# fanenr/chatbot #21; those of the limits are from memory.

GROQ_PIXELS = 33_177_600
GROQ_BASE64 = 4 * 1024 * 1024
GROQ_PARTS = ("text", "image_url", "document")


def say_groq(fault: Fault) -> Refusal:
    """Groq names a place with dots, and nothing by parameter."""
    place = "".join(f".{step}" for step in fault.path).removeprefix(".")
    match fault.shape:
        case "unknown":
            words = f"property '{fault.detail}' is unsupported"
            return Refusal(f"'{place}' : {words}" if place else words)
        case "missing":
            words = f"property '{fault.detail}' is missing"
            return Refusal(f"'{place}' : {words}" if place else words)
        case "type" | "value":
            return Refusal(say_with(*GROQ_PARTS)(fault).message)


def check_groq(body: wire.Body) -> None:
    """Five pictures, 4 MB of base64 in all, 33 megapixels each."""
    urls = [_url_of(part) for message in body.messages for part in parts_of(message) if isinstance(part, wire.Image)]
    if len(urls) > 5:
        raise Refusal("Too many images provided. This model supports up to 5 images")
    if sum(len(url) for url in urls if url.startswith("data:")) > GROQ_BASE64:
        raise Refusal("Request Entity Too Large", status=413, code="request_too_large")
    for url in urls:
        _, data = read_data_url(url) or ("", None)
        width, height = read_pixels(data or b"") or (0, 0)
        if width * height > GROQ_PIXELS:
            raise Refusal(f"image too large: {width}x{height} exceeds maximum {GROQ_PIXELS} pixels")


def _url_of(part: wire.Image) -> str:
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
    options=names("system.name developer.name user.name assistant.name assistant.reasoning") | {ASKED_USAGE},
    say=say_groq,
    user_parts=frozenset(GROQ_PARTS),
    assistant_parts=names("text"),
    result_parts=frozenset(GROQ_PARTS),
    limits=check_groq,
)

# Mistral: fields and parts from mistralai 3.7's types; the form of 422 from anon-kode #53 and eca #231, call ids from
# ironclaw #1241; the table of roles and the words about content and the last role are from memory of mistral-common.


# OpenRouter: parts from openrouter 1.3's types. That it ignores fields which it doesn't know is from memory.


def check_upstream(body: wire.Body) -> None:
    """Mistral's models want their order of roles behind other hosts, too."""
    if body.model.startswith(("mistral/", "mistralai/")):
        check_order(body.messages)


OPENROUTER = Rules(
    fields=TYPED,
    ignores=True,
    options=EVERY,
    say=say_with("text", "image_url", "input_audio", "video_url", "file", "refusal"),
    user_parts=names("text image_url input_audio video_url file"),
    result_parts=names("text image_url input_audio video_url file"),
    hears=re.compile("audio|gemini|voxtral"),
    limits=check_upstream,
)

# Cohere's OpenAI-compatible endpoint: Cohere's docs on images; its fields and error form are from memory.


def check_cohere(body: wire.Body) -> None:
    """Only vision models see; the words are OpenAI's."""
    if "vision" not in body.model and any(isinstance(p, wire.Image) for m in body.messages for p in parts_of(m)):
        raise Refusal("Invalid content type. image_url is only supported by certain models.")


COHERE = Rules(
    fields=TYPED,
    options=names("assistant.refusal stream_options.include_usage"),
    say=say_with("text", "image_url", "refusal"),
    user_parts=names("text image_url"),
    limits=check_cohere,
)

# Ollama: openai/openai.go. What its Go structs don't name is dropped unread, tool_choice and max_completion_tokens too.


def say_bluntly(words: str, fault: Fault) -> Refusal:
    """Hosts that have one sentence for whatever is wrong with messages."""
    return Refusal(words) if fault.path[:1] == ("messages",) else say(fault)


def misplace_bluntly(words: str, _kind: str, _role: str, _path: Path) -> Refusal:
    """The same sentence for a part in the wrong message."""
    return Refusal(words)


INVALID_FORMAT = "invalid message format"


def check_ollama(messages: Sequence[wire.Message]) -> None:
    """Stricter than Ollama, which makes a message of every part and forgets whose result it is."""
    for at, message in enumerate(messages):
        if isinstance(message, wire.ToolMessage) and not isinstance(message.content, str):
            words = "a tool message of parts is split into several that have lost their tool_call_id"
            raise Refusal(f"{INVALID_FORMAT}: messages[{at}]: {words}")
    OPENAI.order(messages)


def check_ollama_image(url: str, place: str) -> None:
    """Base64 of three types; web addresses are not opened."""
    if not url.startswith(tuple(f"data:image/{form};base64," for form in ("jpeg", "png", "webp"))):
        raise Refusal("invalid image input")
    check_image(url, place)


OLLAMA = Rules(
    fields=names(
        """
        model messages stream stream_options max_tokens seed stop temperature frequency_penalty presence_penalty top_p
        response_format tools reasoning reasoning_effort
        """
    ),
    ignores=True,
    options=EVERY,
    say=partial(say_bluntly, INVALID_FORMAT),
    user_parts=names("text image_url"),
    misplaced=partial(misplace_bluntly, INVALID_FORMAT),
    order=check_ollama,
    image=check_ollama_image,
)

# LM Studio: qwen-code #3616 and #3437, SwarmUI-MagicPromptExtension #51 have the words and the form.

INVALID_MESSAGES = "Invalid 'messages' in payload. Please check the structure of your 'messages' and try again."


def check_lmstudio_image(url: str, place: str) -> None:
    """Web addresses are not opened."""
    if not url.startswith("data:"):
        raise Refusal("'url' field must be a base64 encoded image.")
    check_image(url, place)


LMSTUDIO = Rules(
    fields=TYPED,
    ignores=True,
    options=EVERY,
    say=partial(say_bluntly, INVALID_MESSAGES),
    user_parts=names("text image_url"),
    misplaced=partial(misplace_bluntly, INVALID_MESSAGES),
    image=check_lmstudio_image,
)

# vLLM and llama.cpp take what the loaded model's template takes; that they ignore unknown fields is from memory.

VLLM = Rules(
    fields=TYPED,
    ignores=True,
    options=EVERY,
    say=say_with("text", "image_url", "input_audio", "video_url", "refusal"),
    user_parts=names("text image_url input_audio video_url"),
    result_parts=names("text image_url"),
    hears=re.compile(""),
)

# LiteLLM's proxy: common_utils.py and factory.py of 1.109 leave files in results for these models, and move them for
# all others.

LITELLM = Rules(
    fields=TYPED,
    ignores=True,
    options=EVERY,
    say=say_with("text", "image_url", "input_audio", "video_url", "file", "refusal"),
    user_parts=names("text image_url input_audio video_url file"),
    result_parts=names("text image_url file"),
    hears=re.compile("audio|gemini|voxtral"),
    native=re.compile("anthropic/|bedrock/.*(claude|nova)|(gemini|vertex_ai)/gemini-[3-9]"),
    limits=check_upstream,
)


class HostRow(Struct, frozen=True):
    """One host's row: where it listens, what it takes, and how it writes answers and errors."""

    base: str
    path: str
    rules: Rules
    manner: Manner = PLAIN
    refuse: Callable[[Refusal], bytes] = spell_refusal


V1 = "/v1/chat/completions"
HOSTS = (
    HostRow("azure", f"/openai{V1}", AZURE),
    HostRow("groq", f"/openai{V1}", GROQ, write.GROQ, write.spell_groq),
    HostRow("openrouter", V1, OPENROUTER, write.OPENROUTER, write.spell_openrouter),
    HostRow("mistral", V1, MISTRAL, write.MISTRAL, write.spell_mistral),
    HostRow("cohere", f"/compatibility{V1}", COHERE, PLAIN, write.spell_message),
    HostRow("ollama", V1, OLLAMA, write.OLLAMA),
    HostRow("vllm", V1, VLLM, write.VLLM, write.spell_vllm),
    HostRow("llamacpp", V1, VLLM, write.LLAMACPP, write.spell_llamacpp),
    HostRow("lmstudio", V1, LMSTUDIO, write.LMSTUDIO, write.spell_lmstudio),
    HostRow("litellm", "(?:/v1)?/chat/completions", LITELLM, PLAIN, write.spell_proxied),
)


def open_house(host: HostRow) -> Host:
    """The door of a host."""

    def read(incoming: IncomingRequest) -> ModelRequest:
        return read_body(incoming.body, host.rules)

    def write_reply(reply: Reply, asked: ModelRequest, name: str) -> Iterator[bytes]:
        return spell(reply, asked, name, write.fit_manner(host.manner, reply, asked))

    return Host(base=host.base, path=re.compile(host.path), read=read, spell=write_reply, refuse=host.refuse)


HOUSES: tuple[Host, ...] = tuple(map(open_house, HOSTS))
