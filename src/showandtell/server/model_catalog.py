"""The model catalog: which models are available, and how each one gets files of every kind."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias, get_args

from msgspec import Struct
from msgspec.structs import replace

from showandtell.agent.model_knowledge import ModelKnowledge
from showandtell.config.user_settings import find_target, read_overrides
from showandtell.core.capabilities.cells import Target
from showandtell.core.capabilities.family import Family
from showandtell.core.capabilities.matrix import NO_OVERRIDES, PROBES, InResult, Overrides, place_result
from showandtell.core.capabilities.modalities import Modality, restrict
from showandtell.core.capabilities.overrides import select
from showandtell.core.capabilities.registry import families
from showandtell.core.capabilities.resolve import resolve
from showandtell.core.media_types.kinds import Kind
from showandtell.core.messages.attachments import Attachment, Facts, Origin
from showandtell.core.messages.message import Message
from showandtell.core.planning.placement import decide_placement
from showandtell.core.planning.uses import FileUse
from showandtell.core.planning.values import Policy
from showandtell.errors import BadInput
from showandtell.network.transport import Transport
from showandtell.providers.connect import locate, own_variables
from showandtell.providers.default_model import choose_default
from showandtell.providers.hosts import find_host, needs_no_key
from showandtell.providers.model_lists import ListedModel, providers_with_lists
from showandtell.server.auth.cached_fetch import CachedFetch
from showandtell.server.listed_models import kept_lists
from showandtell.server.provider_keys.provider_key import (
    NO_KEYS,
    StoredKey,
    Transports,
    connect_with,
    usable_providers,
)
from showandtell.storage.blobs.bounded_dict import LruDict

if TYPE_CHECKING:
    from showandtell.server.provider_keys.access import ProviderAccess

#: Seconds for which the list of models is cached.
CACHE_SECONDS = 30.0
#: Maximum number of cached lists: one for all users without keys of their own.
MAX_CACHED = 64
#: The kinds of `sees`: all but text, which every model reads.
TOOL_RESULT_KINDS: tuple[Kind, ...] = tuple(kind for kind in PROBES if kind != "text")
#: How a model gets a user's file: native, unchanged; converted, to images or another format; words, as text only;
#: refused, with the message; for_tools, which get it by its number.
UserFileOutcome: TypeAlias = Literal["native", "converted", "words", "refused", "for_tools"]
#: A representative media type for each kind; for "other", one that no model reads.
MEDIA_TYPES: dict[Kind, str] = {**PROBES, "other": "application/octet-stream"}
#: Conversions to text.
TEXT_CONVERSIONS = frozenset({"text", "transcript", "description"})


class CatalogEntry(Struct, frozen=True):
    """A model, with the reason if it is not available.

    `sees` says how the model gets a tool's file of each kind, `takes` how it gets a user's. `context` is its window in
    tokens, and `released` a date, where they are known.
    """

    id: str
    provider: str
    name: str
    available: bool
    why: str | None
    sees: dict[Kind, InResult]
    takes: dict[Kind, UserFileOutcome]
    context: int | None = None
    released: str | None = None


class Catalog(Protocol):
    """What users can choose as the `model` of a message."""

    async def entries(self, user: str) -> tuple[CatalogEntry, ...]:
        """Return all models, those that are available to the user first. Raises `BadInput` for invalid overrides."""
        ...

    async def choose(self, preferred: str | None, user: str, used: str | None) -> str:
        """Return the model for a message of a user that names none. Raises `StorageFailed`.

        preferred: the setting of the conversation or of the user. used: the model that the user used last.
        """
        ...

    def id_of(self, model: str) -> str:
        """Return the id of a model's entry."""
        ...

    def check(self, model: str) -> None:
        """Raise `UnknownModel` if there is no such model."""
        ...


class ModelCatalog:
    """All known models and those that hosts list, cached for half a minute. Concurrent callers share one refresh.

    `default` is the server's configured model. `clock` returns seconds. `describer` is who describes pictures to models
    without eyes. `access` has the stored keys.
    """

    def __init__(
        self,
        environ: Mapping[str, str] = os.environ,
        clock: Callable[[], float] = time.monotonic,
        *,
        default: str | None = None,
        describer: str = "",
        access: ProviderAccess | None = None,
    ) -> None:
        self._default, self._environ, self._clock, self._describer = default, environ, clock, describer
        self._keys = None if access is None else access.keys
        alone = Transport(environ=environ)
        self._transports = Transports(alone, alone) if access is None else access.transports
        self.lists = kept_lists(environ)
        self._fetched: LruDict[object, CachedFetch[tuple[CatalogEntry, ...]]] = LruDict(MAX_CACHED)

    async def entries(self, user: str = "") -> tuple[CatalogEntry, ...]:
        """Return all models, those that are available to the user first. Raises `BadInput` for invalid overrides."""
        keys = await self._keys_of(user)
        which = frozenset((provider, stored.owner, stored.changed) for provider, stored in keys.items())
        fetched = self._fetched.get(which)
        if fetched is None:
            fetched = CachedFetch(lambda _: self.fetch(keys), CACHE_SECONDS)
            self._fetched.add(which, fetched)
        return await fetched.get(self._clock())

    async def _keys_of(self, user: str) -> Mapping[str, StoredKey]:
        return NO_KEYS if self._keys is None else await self._keys.of(user)

    async def choose(self, preferred: str | None, user: str, used: str | None) -> str:
        """Return the user's own model, else the server's, else as `choose_default` decides. Raises `StorageFailed`."""
        if configured := preferred or self._default:
            return configured
        stored = usable_providers(await self._keys_of(user))
        return choose_default(used=used, stored=stored, environ=self._environ).model

    def id_of(self, model: str) -> str:
        """Return the full name of a model."""
        return resolve(model).name

    def check(self, model: str) -> None:
        """Raise `UnknownModel` if there is no such model. Its key need not be set."""
        find_target(model)

    async def fetch(self, keys: Mapping[str, StoredKey]) -> tuple[CatalogEntry, ...]:
        """Return all models as they are now with these keys and those of the environment, available ones first."""
        listed = await self._list_all(keys)
        return await asyncio.to_thread(self._make_entries, listed, keys)

    async def _list_all(self, keys: Mapping[str, StoredKey]) -> dict[str, tuple[ListedModel, ...]]:
        """The lists of all hosts that give one, by provider."""

        async def ask(provider: str) -> tuple[ListedModel, ...] | None:
            try:
                exchange = connect_with(provider, keys, self._environ, self._transports)
            except BadInput:
                return None
            return await self.lists.of(provider, exchange)

        asked = providers_with_lists()
        lists = await asyncio.gather(*map(ask, asked))
        return {provider: found for provider, found in zip(asked, lists, strict=True) if found is not None}

    def _make_entries(
        self, listed: Mapping[str, Sequence[ListedModel]], keys: Mapping[str, StoredKey]
    ) -> tuple[CatalogEntry, ...]:
        overrides = read_overrides(self._environ)
        entries = list_entries(listed, self._environ, overrides, self._describer, keys)
        return tuple(sorted(entries, key=lambda entry: not entry.available))


def list_entries(
    listed: Mapping[str, Sequence[ListedModel]],
    environ: Mapping[str, str],
    overrides: Overrides = NO_OVERRIDES,
    describer: str = "",
    keys: Mapping[str, StoredKey] = NO_KEYS,
) -> Iterator[CatalogEntry]:
    """Yield the models that hosts list, and those of the capability table for the other hosts, by provider."""
    of_provider: dict[str, list[Family]] = {}
    for family in families():
        if not family.subfamily:
            of_provider.setdefault(family.provider, []).append(family)
    entries = EntryMaker(environ, overrides, describer, keys)
    for provider, of_this in of_provider.items():
        if found := listed.get(provider):
            for model in {model.id: model for model in found}.values():
                yield entries.make(provider, model, None)
            continue
        why = explain_unavailable(provider, environ, keys)
        examples = [family.example for family in of_this if family.has_example]
        if not examples:  # a provider without known models
            why = why or f"name a model of your own: {provider}:MODEL"
        for name in dict.fromkeys(examples or [of_this[0].example]):
            yield entries.make(provider, ListedModel(name), why)


@dataclass(frozen=True, slots=True)
class EntryMaker:
    """Makes entries for one environment, the vision checks of a user, and stored keys."""

    environ: Mapping[str, str]
    overrides: Overrides
    describer: str
    keys: Mapping[str, StoredKey]

    def make(self, provider: str, listed: ListedModel, why: str | None) -> CatalogEntry:
        """Return the entry of a model, without the kinds of files that it turned out not to take."""
        model = f"{provider}:{listed.id}"
        target = resolve(model, select(self.overrides, model))
        if why is None:
            located = locate(target, self.environ)
            knowledge = ModelKnowledge(located, lambda: connect_with(provider, self.keys, self.environ))
            target = restrict(knowledge.restricted, kinds_of_list(provider, listed))
        display_name = f"Inspector ({listed.id})" if provider == "inspector" else listed.name or listed.id
        entry = entry_of(target, model, display_name, why, self.describer)
        return replace(entry, context=listed.window or entry.context, released=listed.released)


def kinds_of_list(provider: str, listed: ListedModel) -> tuple[Modality, ...]:
    """What a list tells of a model, if runs ask the same list."""
    host = find_host(provider)
    if listed.kinds is None or host is None or not host.modalities:
        return ()
    return tuple(Modality(kind, kind in listed.kinds, "its host lists it", "", 0.0) for kind in TOOL_RESULT_KINDS)


def entry_of(
    target: Target,
    id: str,  # noqa: A002 - it is one
    name: str,
    why: str | None,
    describer: str = "",
) -> CatalogEntry:
    """Return the entry of a target, by the id that users choose it by."""
    sees: dict[Kind, InResult] = {kind: place_result(target, kind) for kind in TOOL_RESULT_KINDS}
    takes: dict[Kind, UserFileOutcome] = {kind: user_file_outcome(target, kind, describer) for kind in get_args(Kind)}
    context = None if target.window is None else target.window.tokens
    return CatalogEntry(id, target.provider, name, why is None, why, sees, takes, context)


def user_file_outcome(target: Target, kind: Kind, describer: str = "") -> UserFileOutcome:
    """How a model gets a user's file of a kind: the first option that the planner finds.

    The file may still be refused when it is sent, if its conversion fails or it is too large.
    """
    facts = Facts("0" * 64, MEDIA_TYPES[kind], 1)
    file = Attachment("att_probe", 1, "probe", Origin("user"), "", facts)
    message = Message("msg_probe", "user", ())
    use, policy = FileUse(file, 1, message, "", True, True, True, True), Policy(describer=describer)
    placement = decide_placement(use, target, {}, policy)
    if placement.pending is not None:
        return "words" if placement.pending.conversion.partition("?")[0] in TEXT_CONVERSIONS else "converted"
    match placement.delivery:
        case "refused" | "for_tools" as delivery:
            return delivery
        case _:
            return "native"


def explain_unavailable(
    provider: str, environ: Mapping[str, str], keys: Mapping[str, StoredKey] = NO_KEYS
) -> str | None:
    """Explain why a provider without a list is not available, and what to do; None if it is."""
    try:
        exchange = connect_with(provider, keys, environ)
    except BadInput as error:
        return str(error)
    if not needs_no_key(provider):
        return None
    return f"no list of models at {exchange.base}: start the server, or set {own_variables(provider)[0]}"
