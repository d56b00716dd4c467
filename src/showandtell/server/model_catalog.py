"""The model catalog: which models are available, and how each one gets files of every kind."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Literal, Protocol, TypeAlias, get_args

from msgspec import Struct

from showandtell.agent.model_knowledge import ModelKnowledge
from showandtell.config.user_settings import find_target, read_overrides
from showandtell.core.capabilities.cells import Target
from showandtell.core.capabilities.family import ANY_MODEL, Family
from showandtell.core.capabilities.matrix import NO_OVERRIDES, PROBES, InResult, Overrides, place_result
from showandtell.core.capabilities.overrides import select
from showandtell.core.capabilities.resolve import families, resolve
from showandtell.core.media_types.kinds import Kind
from showandtell.core.messages.attachments import Attachment, Facts, Origin
from showandtell.core.messages.message import Message
from showandtell.core.planning.placement import decide_placement
from showandtell.core.planning.uses import FileUse
from showandtell.core.planning.values import Policy
from showandtell.errors import BadInput
from showandtell.providers.rows import ROWS, connect, find_base, locate, own_variables
from showandtell.server.auth.cached_fetch import CachedFetch
from showandtell.server.config import DEFAULT_MODEL
from showandtell.server.local_models import LOCAL, list_local

#: Seconds for which the list of models is cached.
CACHE_SECONDS = 30.0
#: The kinds of `sees`: all but text, which every model reads.
TOOL_RESULT_KINDS: tuple[Kind, ...] = tuple(kind for kind in PROBES if kind != "text")
#: How a model gets a user's file: native, unchanged; converted, to images or another format; words, as text only;
#: refused, with the message.
UserFileOutcome: TypeAlias = Literal["native", "converted", "words", "refused"]
#: A representative media type for each kind; for "other", one that no model reads.
MEDIA_TYPES: dict[Kind, str] = {**PROBES, "other": "application/octet-stream"}
#: Conversions to text.
TEXT_CONVERSIONS = frozenset({"text", "transcript", "description"})


class CatalogEntry(Struct, frozen=True):
    """A model, with the reason if it is not available.

    `sees` says how the model gets a tool's file of each kind, `takes` how it gets a user's.
    """

    id: str
    provider: str
    name: str
    available: bool
    why: str | None
    sees: dict[Kind, InResult]
    takes: dict[Kind, UserFileOutcome]


class Catalog(Protocol):
    """What users can choose as the `model` of a message."""

    async def entries(self) -> tuple[CatalogEntry, ...]:
        """Return all models, the available ones first. Raises `BadInput` for invalid overrides."""
        ...

    def choose(self, preferred: str | None) -> str:
        """Return the model for a message that names none: the user's own if there is one, else the default."""
        ...

    def id_of(self, model: str) -> str:
        """Return the id of a model's entry."""
        ...

    def check(self, model: str) -> None:
        """Raise `UnknownModel` if there is no such model."""
        ...


class ModelCatalog:
    """All known models, cached for half a minute. Concurrent callers share one refresh.

    `clock` returns seconds. `describer` is who describes pictures to models without eyes.
    """

    def __init__(
        self,
        environ: Mapping[str, str] = os.environ,
        clock: Callable[[], float] = time.monotonic,
        *,
        default: str = DEFAULT_MODEL,
        describer: str = "",
    ) -> None:
        self._default, self._environ, self._clock, self._describer = default, environ, clock, describer
        self._fetched = CachedFetch(self._fetch, CACHE_SECONDS)

    async def entries(self) -> tuple[CatalogEntry, ...]:
        """Return all models, the available ones first. Raises `BadInput` for invalid overrides."""
        return await self._fetched.get(self._clock())

    def choose(self, preferred: str | None) -> str:
        """Return the user's own model, else the default."""
        return preferred or self._default

    def id_of(self, model: str) -> str:
        """Return the full name of a model."""
        return resolve(model).name

    def check(self, model: str) -> None:
        """Raise `UnknownModel` if there is no such model. Its key need not be set."""
        find_target(model)

    async def _fetch(self, _: float) -> tuple[CatalogEntry, ...]:
        local = await list_local(self._environ)
        return await asyncio.to_thread(self._list, local)

    def _list(self, local: Mapping[str, tuple[str, ...]]) -> tuple[CatalogEntry, ...]:
        overrides = read_overrides(self._environ)
        entries = list(list_entries(local, self._environ, overrides, self._describer))
        return tuple(sorted(entries, key=lambda entry: not entry.available))


def list_entries(
    local: Mapping[str, tuple[str, ...]],
    environ: Mapping[str, str],
    overrides: Overrides = NO_OVERRIDES,
    describer: str = "",
) -> Iterator[CatalogEntry]:
    """Yield the models of the capability table, provider by provider, and those of `local` servers."""
    of_provider: dict[str, list[Family]] = {}
    for family in families():
        if not family.subfamily:
            of_provider.setdefault(family.provider, []).append(family)
    for provider, of_this in of_provider.items():
        why = None if local.get(provider) else explain_unavailable(provider, of_this[0].example, environ)
        examples = [family.example for family in of_this if family.patterns != ANY_MODEL]
        if not local.get(provider) and not examples:  # a provider without known models
            why = why or f"name a model of your own: {provider}:MODEL"
        for name in dict.fromkeys(local.get(provider) or examples or [of_this[0].example]):
            yield make_entry(provider, name, why, environ, overrides, describer=describer)


def make_entry(
    provider: str, name: str, why: str | None, environ: Mapping[str, str], overrides: Overrides, *, describer: str
) -> CatalogEntry:
    """Return the catalog entry of a model, without the kinds of files that it turned out not to take."""
    model = f"{provider}:{name}"
    target = resolve(model, select(overrides, model))
    if why is None:
        located = locate(target, environ)
        target = ModelKnowledge(located, lambda: connect(located, environ=environ)).restricted
    display_name = f"Inspector ({name})" if provider == "inspector" else name
    return entry_of(target, model, display_name, why, describer)


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
    return CatalogEntry(id, target.provider, name, why is None, why, sees, takes)


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
    return "refused" if placement.delivery == "refused" else "native"


def explain_unavailable(provider: str, example: str, environ: Mapping[str, str]) -> str | None:
    """Explain why a provider is not available, and what to do; None if it is."""
    try:
        target = locate(resolve(f"{provider}:{example}"), environ)
        connect(target, environ=environ)
        if provider not in LOCAL:
            return None
        base = find_base(ROWS[provider], provider, target.account, None, environ)[1]
    except BadInput as error:
        return str(error)
    return f"no list of models at {base}: start the server, or set {own_variables(provider)[0]}"
