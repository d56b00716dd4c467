"""The lists of models that hosts give for a key: where they are, and what they tell of each model."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TypeAlias, cast

import msgspec
from msgspec import Struct

from showandtell.core.capabilities.cells import Api
from showandtell.core.capabilities.registry import find_provider, registered
from showandtell.core.media_types.kinds import Kind
from showandtell.errors import BadAnswer
from showandtell.providers.exchange import Exchange, close_body, error_text, read_limited
from showandtell.providers.modality_sources import MODALITIES, at, entries, kinds_of, smallest_window
from showandtell.providers.refusals import MAX_ERROR_BODY, parse_error
from showandtell.providers.secrets import conceal, secrets_in
from showandtell.providers.uploads import UploadRequest

#: Maximum bytes of a list, models of it, and length of a model's name.
MAX_LIST, MAX_MODELS, MAX_NAME = 8 * 1024 * 1024, 2000, 200
#: Names of models that don't chat, in lists that say nothing else about them.
NOT_CHAT = re.compile(
    r"embed|whisper|tts|transcri|moderation|dall-e|realtime|sora|babbage|davinci|rerank|-ocr|gpt-image|gpt-audio"
    r"|imagen|veo-|aqa|guard|orpheus|grok-.*-image|turbo-instruct",
    re.IGNORECASE,
)


#: A release date; Anthropic gives the epoch for models without one.
DAY = re.compile(r"20[0-9]{2}-[0-9]{2}-[0-9]{2}", re.ASCII)


class ListedModel(Struct, frozen=True, omit_defaults=True):
    """A model of a list. None for what the list doesn't tell.

    `kinds` are the kinds of files that it takes, `window` its context in tokens, `released` a date like "2026-11-27".
    """

    id: str
    name: str = ""
    kinds: tuple[Kind, ...] | None = None
    window: int | None = None
    released: str | None = None


Rows: TypeAlias = Iterator[ListedModel]


@dataclass(frozen=True, slots=True)
class ModelList:
    """Where a host lists its models: a path below the base URL without the suffix `drop`.

    key_path: the endpoint that refuses a wrong key, if the list itself is public.
    """

    path: str
    read: Callable[[bytes], Rows]
    drop: str = ""
    key_path: str = ""

    def url(self, base: str, path: str) -> str:
        """The URL of a path at the host of `base`."""
        return base.removesuffix(self.drop) + path


class KeyRefused(BadAnswer):
    """The host refused the key."""


class _OpenAi(Struct):
    """An entry in OpenAI's form, with what OpenRouter, Mistral, Groq and vLLM added to it (read 2026-11)."""

    id: str
    name: object = None
    created: object = None
    architecture: object = None
    capabilities: object = None
    context_length: object = None
    context_window: object = None
    max_context_length: object = None
    max_model_len: object = None
    active: object = None


class _Anthropic(Struct):
    """platform.claude.com/docs, "List Models" (read 2026-11). `created_at` is the epoch if the date is unknown."""

    id: str
    display_name: str = ""
    created_at: str = ""
    max_input_tokens: object = None


class _Gemini(Struct, rename="camel"):
    """ai.google.dev/api/models (read 2026-11)."""

    name: str
    display_name: str = ""
    input_token_limit: object = None
    supported_generation_methods: tuple[str, ...] = ()


class _Cohere(Struct):
    """docs.cohere.com, "List Models" (read 2026-11)."""

    name: str
    context_length: object = None


def read_openai(data: bytes) -> Rows:
    """Read a list in OpenAI's form."""
    for entry in entries(data, "data", _OpenAi):
        outputs = at(entry.architecture, "output_modalities")
        no_text = isinstance(outputs, list) and "text" not in outputs
        if no_text or entry.active is False or at(entry.capabilities, "completion_chat") is False:
            continue
        if at(entry.capabilities, "completion_chat") is not True and outputs is None and NOT_CHAT.search(entry.id):
            continue
        yield ListedModel(
            entry.id,
            entry.name if isinstance(entry.name, str) else "",
            openrouter_kinds(entry),
            smallest_window(
                (entry.context_length, entry.context_window, entry.max_context_length, entry.max_model_len)
            ),
            day_of(entry.created),
        )


def openrouter_kinds(entry: _OpenAi) -> tuple[Kind, ...] | None:
    """The kinds of an entry of OpenRouter, whose file parser reads documents for models that can't."""
    inputs = at(entry.architecture, "input_modalities")
    if not isinstance(inputs, list):
        return None
    words = [word for word in cast("list[object]", inputs) if isinstance(word, str)]
    return tuple(sorted(kinds_of([*words, "file"], MODALITIES)))


def read_anthropic(data: bytes) -> Rows:
    """Read Anthropic's list."""
    for entry in entries(data, "data", _Anthropic):
        released = entry.created_at[:10]
        yield ListedModel(
            entry.id,
            entry.display_name,
            None,
            smallest_window([entry.max_input_tokens]),
            released if DAY.fullmatch(released) else None,
        )


def read_gemini(data: bytes) -> Rows:
    """Read Gemini's list. Its names begin with `models/`."""
    for entry in entries(data, "models", _Gemini):
        name = entry.name.removeprefix("models/")
        if "generateContent" in entry.supported_generation_methods and not NOT_CHAT.search(name):
            yield ListedModel(name, entry.display_name, None, smallest_window([entry.input_token_limit]))


def read_cohere(data: bytes) -> Rows:
    """Read Cohere's list of models for chats."""
    for entry in entries(data, "models", _Cohere):
        yield ListedModel(entry.name, "", None, smallest_window([entry.context_length]))


def day_of(created: object) -> str | None:
    """The date of epoch seconds; None for none, and for placeholders that some servers send."""
    if not isinstance(created, int) or not 1_500_000_000 < created < 10_000_000_000:
        return None
    return datetime.fromtimestamp(created, UTC).date().isoformat()


OPENAI = ModelList("/models", read_openai)
#: openrouter.ai/docs, "Get current API key" (read 2026-11): the list itself is public.
OPENROUTER = ModelList("/models", read_openai, key_path="/key")
ANTHROPIC = ModelList("/v1/models?limit=1000", read_anthropic)
GEMINI = ModelList("/v1beta/models?pageSize=1000", read_gemini)
COHERE = ModelList("/v1/models?endpoint=chat&page_size=1000", read_cohere, drop="/compatibility/v1")
#: By provider. The others have no list for a key: Azure lists what could be deployed, Bedrock at another host.
MODEL_LISTS: Mapping[str, ModelList] = {
    "anthropic": ANTHROPIC,
    "google": GEMINI,
    "openrouter": OPENROUTER,
    "cohere": COHERE,
    **dict.fromkeys(("openai", "xai", "groq", "mistral", "ollama", "vllm", "llamacpp", "lmstudio", "litellm"), OPENAI),
}


#: Of providers that were registered, by their API: what speaks it mostly has its vendor's list as well.
LISTS_BY_API: Mapping[Api, ModelList] = {
    "anthropic-messages": ANTHROPIC,
    "openai-chat": OPENAI,
    "openai-responses": OPENAI,
    "gemini": GEMINI,
}


def model_list_of(provider: str) -> ModelList | None:
    """Where a provider's host lists its models; None if it doesn't."""
    known = find_provider(provider)
    return MODEL_LISTS.get(provider) if known is None else LISTS_BY_API.get(known.api)


def providers_with_lists() -> tuple[str, ...]:
    """The providers whose hosts list their models."""
    return (*MODEL_LISTS, *(name for name, known in registered().items() if known.api in LISTS_BY_API))


async def list_models(exchange: Exchange, models: ModelList, *, check_key: bool = False) -> tuple[ListedModel, ...]:
    """The models that a host lists, without those that don't chat.

    Raises `KeyRefused` (with `check_key` also if the list is public), `OSError`, and `BadAnswer` for an answer that is
    no list. No text of them has the key.
    """
    if check_key and models.key_path:
        await get(exchange, models.url(exchange.base, models.key_path))
    data = await get(exchange, models.url(exchange.base, models.path))
    try:
        found = {model.id: model for model in models.read(data) if is_name(model.id)}
    except (msgspec.MsgspecError, UnicodeDecodeError):
        raise BadAnswer("the host did not answer with a list of models") from None
    return tuple(clean(model) for model in list(found.values())[:MAX_MODELS])


async def get(exchange: Exchange, url: str) -> bytes:
    """The body of a response. Raises as `list_models`."""
    request = UploadRequest(url, {**exchange.headers, "content-length": "0"}, method="GET")
    secrets = secrets_in(exchange.headers)
    try:
        async with exchange.send(request) as response:
            try:
                if response.status == 200:
                    data = await read_limited(response.body, MAX_LIST + 1)
                else:
                    data = await read_limited(response.body, MAX_ERROR_BODY)
            finally:
                await close_body(response)
    except OSError as error:
        problem = OSError(error.errno, conceal(error_text(error), secrets))
    else:
        if response.status == 200 and len(data) <= MAX_LIST:
            return data
        text = conceal(parse_error(data).message, secrets) or "without a reason"
        kind = KeyRefused if response.status in {401, 403} else BadAnswer
        problem = kind(f"the host answered {response.status}: {text}", response.status)
    raise problem


def clean(model: ListedModel) -> ListedModel:
    """The model with a name that can be shown on one line."""
    name = " ".join(model.name.split())[:MAX_NAME]
    return msgspec.structs.replace(model, name=name if name.isprintable() else "")


def is_name(name: str) -> bool:
    """Whether a model's name is one that a person could type."""
    return 0 < len(name) <= MAX_NAME and name.isprintable() and not any(map(str.isspace, name))
