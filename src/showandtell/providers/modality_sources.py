"""The endpoints of hosts that tell what kinds of files a model takes, and readers of their answers. Sends nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias, TypeVar

import msgspec
from msgspec import Struct

from showandtell.core.media_types.kinds import Kind

Kinds: TypeAlias = frozenset[Kind]
#: Reads an answer for a model; None if it doesn't tell. Raises msgspec's errors for an answer in another form.
ReadKinds: TypeAlias = Callable[[bytes, str], Kinds | None]
T = TypeVar("T")

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


@dataclass(frozen=True, slots=True)
class ModalitySource:
    """An endpoint that tells the kinds of files that a model takes.

    path: its path below the base URL, or with `at_root` below the base URL without /v1.
    posts_model: whether the model is posted as `{"model": name}`; else the request is a GET.
    max_bytes: the longest answer that is read.
    """

    path: str
    read: ReadKinds
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
    architecture: _Architecture
    aliases: tuple[str, ...] = ()


class _Shown(Struct):
    capabilities: tuple[str, ...] | None = None


class _Props(Struct):
    role: str = ""
    modalities: dict[str, bool] | None = None


class _Instance(Struct):
    id: str


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


class _Typed(Struct):
    id: str
    type: str


class _Deployment(Struct):
    model_name: str
    model_info: dict[str, object]


def kinds_of(words: Iterable[str], known: Mapping[str, Kind]) -> Kinds:
    """The kinds that some words name. Words such as "text" or "tools" name none."""
    return frozenset(known[word] for word in words if word in known)


def entries(data: bytes, key: str, kind: type[T]) -> Iterator[T]:
    """The entries of a list in an answer; those in another form are left out. Raises msgspec's errors."""
    answer = msgspec.json.decode(data, type=dict[str, msgspec.Raw])
    for entry in msgspec.json.decode(answer.get(key, b"[]"), type=list[msgspec.Raw]):
        try:
            yield msgspec.json.decode(entry, type=kind)
        except msgspec.ValidationError:
            continue


def read_list(data: bytes, model: str) -> Kinds | None:
    """Read a list of models in OpenAI's form, with the `architecture` that OpenRouter added to it."""
    for entry in entries(data, "data", _Listed):
        if model in {entry.id, *entry.aliases}:
            return kinds_of(entry.architecture.input_modalities, MODALITIES)
    return None


def read_openrouter(data: bytes, model: str) -> Kinds | None:
    """Read OpenRouter's list. A model's variant, such as `:nitro`, may have no entry of its own.

    Documents are always among the kinds: for models that read none, OpenRouter's file-parser plugin does.
    """
    name = model.lower()
    kinds = read_list(data, name)
    if kinds is None:
        kinds = read_list(data, name.partition(":")[0])
    return None if kinds is None else kinds | kinds_of(["file"], MODALITIES)


def read_ollama(data: bytes, _: str) -> Kinds | None:
    """Read the answer of Ollama's `/api/show`. Servers before 0.6.4 tell no capabilities (from memory)."""
    words = msgspec.json.decode(data, type=_Shown).capabilities
    return None if words is None else kinds_of(words, CAPABILITIES)


def read_props(data: bytes, _: str) -> Kinds | None:
    """Read llama-server's properties, which are those of its one model, or of a router to several."""
    props = msgspec.json.decode(data, type=_Props)
    if props.modalities is None or props.role == "router":
        return None
    return kinds_of((name for name, takes in props.modalities.items() if takes), CAPABILITIES)


def read_lmstudio(data: bytes, model: str) -> Kinds | None:
    """Read LM Studio's list of models."""
    for entry in entries(data, "models", _Local):
        if model in entry.names:
            return kinds_of(["vision"] if entry.capabilities.vision else [], CAPABILITIES)
    return None


def read_lmstudio_v0(data: bytes, model: str) -> Kinds | None:
    """Read LM Studio's older list of models, where the type tells whether a model takes images."""
    types = {entry.id: entry.type for entry in entries(data, "data", _Typed)}
    return {"vlm": kinds_of(["vision"], CAPABILITIES), "llm": kinds_of([], CAPABILITIES)}.get(types.get(model, ""))


def read_litellm(data: bytes, model: str) -> Kinds | None:
    """Read a LiteLLM proxy's deployments. What several of one name take is what each of them takes.

    `supports_vision` is null for models that LiteLLM's table doesn't mark, some of which do take images (1.109: Llama 4
    on Bedrock), so only true and false tell something.
    """
    flags = [entry.model_info for entry in entries(data, "data", _Deployment) if entry.model_name == model]
    if not flags or not all(isinstance(info.get("supports_vision"), bool) for info in flags):
        return None
    return frozenset(kind for flag, kind in FLAGS.items() if all(info.get(flag) is True for info in flags))


#: Lists whose entries may tell modalities. vLLM's own don't (its ModelCard, read 2026-11), and no other endpoint of it
#: does, but servers that are reached as vLLM may.
LISTED = (ModalitySource("/models", read_list),)
#: openrouter.ai/docs, "Models" (read 2026-11): `architecture.input_modalities`. The list has hundreds of models.
OPENROUTER = (ModalitySource("/models", read_openrouter, max_bytes=8 * 1024 * 1024),)
#: docs.ollama.com, "Show model details"; types/model/capability.go (read 2026-11).
OLLAMA = (ModalitySource("/api/show", read_ollama, at_root=True, posts_model=True),)
#: llama.cpp tools/server/README.md (read 2026-11). A router lists modalities since pull request 22952; asking for the
#: properties of one of its models would load the model.
LLAMACPP = (ModalitySource("/props", read_props, at_root=True), *LISTED)
#: lmstudio.ai/docs, "List your models" (0.4.0 and newer), and "REST API v0" (0.3.6 and newer) (read 2026-11).
LMSTUDIO = (
    ModalitySource("/api/v1/models", read_lmstudio, at_root=True),
    ModalitySource("/api/v0/models", read_lmstudio_v0, at_root=True),
)
#: litellm 1.109 proxy_server.py:17857: `/model/info`, filled from its own table and from the proxy's settings.
LITELLM = (ModalitySource("/model/info", read_litellm, at_root=True),)
