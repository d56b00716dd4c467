"""The endpoints of hosts that tell which files a model takes and how many tokens, with readers. Sends nothing."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias, TypeVar, cast

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from showandtell.core.media_types.kinds import Kind

Kinds: TypeAlias = frozenset[Kind]
T = TypeVar("T")
#: Windows that are believed, in tokens. Others are a mistake, or stand for "no limit".
MIN_WINDOW, MAX_WINDOW = 256, 100_000_000

#: Kinds by the words of `input_modalities`.
MODALITIES: dict[str, Kind] = {"image": "image", "file": "document", "audio": "audio", "video": "video"}
#: Kinds by the words for capabilities. Ollama's "image" is not among them: it stands for models that draw.
CAPABILITIES: dict[str, Kind] = {"vision": "image", "audio": "audio", "video": "video"}
#: Kinds by LiteLLM's flags.
FLAGS: dict[str, Kind] = {
    "supports_vision": "image",
    "supports_pdf_input": "document",
    "supports_audio_input": "audio",
    "supports_video_input": "video",
}


class ModelFacts(Struct, frozen=True):
    """What a host tells about a model: the kinds of files that it takes, and the tokens of its context window.

    None for what it doesn't tell.
    """

    kinds: Kinds | None = None
    window: int | None = None

    def completed(self, other: ModelFacts) -> ModelFacts:
        """These facts, and those of another answer where these tell nothing."""
        kinds = other.kinds if self.kinds is None else self.kinds
        return ModelFacts(kinds, other.window if self.window is None else self.window)


#: Reads an answer for a model. Raises msgspec's errors for an answer in another form.
ReadFacts: TypeAlias = Callable[[bytes, str], ModelFacts]

#: The context of an Ollama model in its `parameters`, a text of one parameter a line.
NUM_CTX = re.compile(r"^num_ctx[ \t]+([0-9]{1,9})[ \t]*$", re.MULTILINE | re.ASCII)


@dataclass(frozen=True, slots=True)
class ModalitySource:
    """An endpoint that tells the kinds of files that a model takes, and maybe its context window.

    path: its path below the base URL, or with `at_root` below the base URL without /v1.
    posts_model: whether the model is posted as `{"model": name}`; else the request is a GET.
    max_bytes: the longest answer that is read.
    """

    path: str
    read: ReadFacts
    at_root: bool = False
    posts_model: bool = False
    max_bytes: int = 4 * 1024 * 1024

    def url(self, base: str) -> str:
        """The URL of the endpoint, which is on the host of `base`."""
        return (base.removesuffix("/v1") if self.at_root else base) + self.path


class _Architecture(Struct):
    input_modalities: tuple[str, ...]


class _Listed(Struct):
    id: str
    architecture: _Architecture | None = None
    aliases: tuple[str, ...] = ()
    max_model_len: object = None
    context_length: object = None
    top_provider: object = None

    @property
    def facts(self) -> ModelFacts:
        """The modalities, and the smallest of the windows: a model can be served by hosts with different ones."""
        kinds = None if self.architecture is None else kinds_of(self.architecture.input_modalities, MODALITIES)
        windows = (self.max_model_len, self.context_length, at(self.top_provider, "context_length"))
        return ModelFacts(kinds, smallest_window(windows))


class _Shown(Struct):
    capabilities: tuple[str, ...] | None = None
    parameters: object = None


class _Props(Struct):
    role: str = ""
    modalities: dict[str, bool] | None = None
    default_generation_settings: object = None


class _Instance(Struct):
    id: str
    config: object = None


class _Capabilities(Struct):
    vision: bool


class _Local(Struct):
    key: str
    capabilities: _Capabilities
    variants: tuple[str, ...] = ()
    loaded_instances: tuple[_Instance, ...] = ()

    @property
    def names(self) -> set[str]:
        """All names under which the model can be requested."""
        return {self.key, *self.variants, *(instance.id for instance in self.loaded_instances)}

    def window(self, name: str) -> int | None:
        """The window of the loaded instance of this name, or the smallest of all instances."""
        named = [instance for instance in self.loaded_instances if instance.id == name]
        return smallest_window(at(instance.config, "context_length") for instance in named or self.loaded_instances)


class _Typed(Struct):
    id: str
    type: str
    loaded_context_length: object = None


class _Deployment(Struct):
    model_name: str
    model_info: dict[str, object]


def kinds_of(words: Iterable[str], known: Mapping[str, Kind]) -> Kinds:
    """The kinds that some words name. Words such as "text" or "tools" name none."""
    return frozenset(known[word] for word in words if word in known)


def at(value: object, key: str) -> object:
    """A field of an object in an answer; None if it isn't an object."""
    return cast("dict[str, object]", value).get(key) if isinstance(value, dict) else None


def smallest_window(values: Iterable[object]) -> int | None:
    """The smallest of the values that can be windows; None if none can."""
    windows = (value for value in values if isinstance(value, int) and not isinstance(value, bool))
    return min((tokens for tokens in windows if MIN_WINDOW <= tokens <= MAX_WINDOW), default=None)


def entries(data: bytes, key: str, kind: type[T]) -> Iterator[T]:
    """The entries of a list in an answer; those in another form are left out. Raises msgspec's errors."""
    answer = msgspec.json.decode(data, type=dict[str, msgspec.Raw])
    for entry in msgspec.json.decode(answer.get(key, b"[]"), type=list[msgspec.Raw]):
        try:
            yield msgspec.json.decode(entry, type=kind)
        except msgspec.ValidationError:
            continue


def read_list(data: bytes, model: str) -> ModelFacts:
    """Read a list of models in OpenAI's form, with what OpenRouter (`architecture`) and vLLM added to it."""
    facts = ModelFacts()
    for entry in entries(data, "data", _Listed):
        if model in {entry.id, *entry.aliases}:
            facts = facts.completed(entry.facts)
    return facts


def read_openrouter(data: bytes, model: str) -> ModelFacts:
    """Read OpenRouter's list. A model's variant, such as `:nitro`, may have no entry of its own.

    Documents are always among the kinds: for models that read none, OpenRouter's file-parser plugin does.
    """
    name = model.lower()
    facts = read_list(data, name)
    if facts.kinds is None:
        facts = facts.completed(read_list(data, name.partition(":")[0]))
    return facts if facts.kinds is None else replace(facts, kinds=facts.kinds | kinds_of(["file"], MODALITIES))


def read_ollama(data: bytes, _: str) -> ModelFacts:
    """Read the answer of Ollama's `/api/show`. Servers before 0.6.4 tell no capabilities (from memory).

    Its `context_length` is what the model was trained for. What the server gives it, 4,096 tokens by default on small
    machines, isn't told, except for a model whose own parameters set it.
    """
    shown = msgspec.json.decode(data, type=_Shown)
    kinds = None if shown.capabilities is None else kinds_of(shown.capabilities, CAPABILITIES)
    return ModelFacts(kinds, smallest_window(map(int, NUM_CTX.findall(str(shown.parameters)))))


def read_props(data: bytes, _: str) -> ModelFacts:
    """Read llama-server's properties, which are those of its one model, or of a router to several."""
    props = msgspec.json.decode(data, type=_Props)
    if props.role == "router":
        return ModelFacts()
    window = smallest_window([at(props.default_generation_settings, "n_ctx")])
    if props.modalities is None:
        return ModelFacts(None, window)
    return ModelFacts(kinds_of((name for name, takes in props.modalities.items() if takes), CAPABILITIES), window)


def read_lmstudio(data: bytes, model: str) -> ModelFacts:
    """Read LM Studio's list of models. A model that isn't loaded yet has no window: its maximum is rarely loaded."""
    for entry in entries(data, "models", _Local):
        if model in entry.names:
            kinds = kinds_of(["vision"] if entry.capabilities.vision else [], CAPABILITIES)
            return ModelFacts(kinds, entry.window(model))
    return ModelFacts()


def read_lmstudio_v0(data: bytes, model: str) -> ModelFacts:
    """Read LM Studio's older list of models, where the type tells whether a model takes images."""
    entry = {entry.id: entry for entry in entries(data, "data", _Typed)}.get(model)
    if entry is None:
        return ModelFacts()
    kinds = {"vlm": kinds_of(["vision"], CAPABILITIES), "llm": kinds_of([], CAPABILITIES)}.get(entry.type)
    return ModelFacts(kinds, smallest_window([entry.loaded_context_length]))


def read_litellm(data: bytes, model: str) -> ModelFacts:
    """Read a LiteLLM proxy's deployments. What several of one name take is what each of them takes.

    `supports_vision` is null for models that LiteLLM's table doesn't mark, some of which do take images (1.109: Llama 4
    on Bedrock), so only true and false tell something.
    """
    flags = [entry.model_info for entry in entries(data, "data", _Deployment) if entry.model_name == model]
    window = smallest_window(info.get("max_input_tokens") for info in flags)
    if not flags or not all(isinstance(info.get("supports_vision"), bool) for info in flags):
        return ModelFacts(None, window)
    flags_of_all = (flag for flag in FLAGS if all(info.get(flag) is True for info in flags))
    return ModelFacts(kinds_of(flags_of_all, FLAGS), window)


#: Lists whose entries may tell modalities. vLLM's own don't (its ModelCard, read 2026-11), and no other endpoint of it
#: does, but servers that are reached as vLLM may. ModelCard has `max_model_len`, null for adapters.
LISTED = (ModalitySource("/models", read_list),)
#: openrouter.ai/docs, "Models" (read 2026-11): `architecture.input_modalities`, `context_length`, and
#: `top_provider.context_length` of the host that most requests go to. The list has hundreds of models.
OPENROUTER = (ModalitySource("/models", read_openrouter, max_bytes=8 * 1024 * 1024),)
#: docs.ollama.com, "Show model details"; types/model/capability.go; context-length.mdx (read 2026-11).
OLLAMA = (ModalitySource("/api/show", read_ollama, at_root=True, posts_model=True),)
#: llama.cpp tools/server/README.md (read 2026-11). A router lists modalities since pull request 22952; asking for the
#: properties of one of its models would load the model. `default_generation_settings.n_ctx` is what one request has,
#: not what all slots share, since pull request 10704 (2024-12).
LLAMACPP = (ModalitySource("/props", read_props, at_root=True), *LISTED)
#: lmstudio.ai/docs, "List your models" (0.4.0 and newer), and "REST API v0" (0.3.6 and newer) (read 2026-11).
#: `loaded_context_length` isn't in the docs of v0, but in answers that its clients' tests keep (read 2026-11).
LMSTUDIO = (
    ModalitySource("/api/v1/models", read_lmstudio, at_root=True),
    ModalitySource("/api/v0/models", read_lmstudio_v0, at_root=True),
)
#: litellm 1.109 proxy_server.py:17857: `/model/info`, filled from its own table and from the proxy's settings.
#: `max_input_tokens` is one of the table's fields.
LITELLM = (ModalitySource("/model/info", read_litellm, at_root=True),)
