"""Which models may be asked, and what each sees and takes: whose key is set, servers that answer, the inspector."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Literal, TypeAlias, get_args

from msgspec import Struct

from showandtell.config.user_settings import all_overrides
from showandtell.core.capabilities.cells import Target
from showandtell.core.capabilities.family import ANY_MODEL, Family
from showandtell.core.capabilities.matrix import NOTHING, PROBES, InResult, Overrides, place_result
from showandtell.core.capabilities.overrides import select
from showandtell.core.capabilities.resolve import families, resolve
from showandtell.core.media_types.kinds import Kind
from showandtell.core.messages.attachments import Attachment, Facts, Origin
from showandtell.core.messages.messages import Message
from showandtell.core.planning.placement import FileUse, decide_placement
from showandtell.core.planning.values import Policy
from showandtell.errors import BadInput
from showandtell.providers.rows import ROWS, connect, find_base, locate, own_variables
from showandtell.server.auth.cached_fetch import Fetched
from showandtell.server.local_models import LOCAL, list_local

#: How long a list of models is told again before anybody is asked anew, in seconds.
FRESH = 30.0
#: What is told of a model's eyes: all kinds but text, which every model reads.
SEEN: tuple[Kind, ...] = tuple(kind for kind in PROBES if kind != "text")
#: What becomes of a file that a person sends: native, as it is; converted, to pictures of it or another format; words,
#: the text that is in it; refused, and the whole message with it.
Taken: TypeAlias = Literal["native", "converted", "words", "refused"]
#: One representative type for each kind; of those that are none of ours, one that nobody reads.
SENT: dict[Kind, str] = {**PROBES, "other": "application/octet-stream"}
#: The conversions whose outcome is text alone.
AS_WORDS = frozenset({"text", "transcript"})


class Choice(Struct, frozen=True):
    """A model that may be asked, or why not.

    `sees` says by kind what becomes of a file that a tool shows it, `takes` of one that a person sends.
    """

    id: str
    provider: str
    name: str
    available: bool
    why: str | None
    sees: dict[Kind, InResult]
    takes: dict[Kind, Taken]


class ModelCatalog:
    """The models there are, looked for anew after half a minute; many who ask at once wait for one look.

    `clock` gives seconds.
    """

    def __init__(self, environ: Mapping[str, str] = os.environ, clock: Callable[[], float] = time.monotonic) -> None:
        self._environ, self._clock = environ, clock
        self._fetched = Fetched(self._look, FRESH)

    async def choices(self) -> tuple[Choice, ...]:
        """All models; those that can be asked now come first. Raises `BadInput` for broken overrides."""
        return await self._fetched.get(self._clock())

    async def _look(self, _: float) -> tuple[Choice, ...]:
        there = await list_local(self._environ)
        return await asyncio.to_thread(self._list, there)

    def _list(self, there: Mapping[str, tuple[str, ...]]) -> tuple[Choice, ...]:
        overrides = all_overrides(self._environ)
        found = list(list_choices(there, self._environ, overrides))
        return tuple(sorted(found, key=lambda one: not one.available))


def list_choices(
    there: Mapping[str, tuple[str, ...]], environ: Mapping[str, str], overrides: Overrides = NOTHING
) -> Iterator[Choice]:
    """Every model that the table names, provider by provider, and those of servers that are `there`."""
    of_provider: dict[str, list[Family]] = {}
    for family in families():
        of_provider.setdefault(family.provider, []).append(family)
    for provider, found in of_provider.items():
        why = None if there.get(provider) else why_not(provider, found[0].example, environ)
        named = [family.example for family in found if family.patterns != ANY_MODEL]
        if not there.get(provider) and not named:  # whose models nobody can list
            why = why or f"name one of yours: write {provider}:MODEL"
        for name in dict.fromkeys(there.get(provider) or named or [found[0].example]):
            yield describe(provider, name, why, overrides)


def describe(provider: str, name: str, why: str | None, overrides: Overrides) -> Choice:
    """A model with what becomes of each kind of file."""
    model = f"{provider}:{name}"
    target = resolve(model, select(overrides, model))
    shown = f"Inspector ({name})" if provider == "inspector" else name
    sees: dict[Kind, InResult] = {kind: place_result(target, kind) for kind in SEEN}
    return Choice(model, provider, shown, why is None, why, sees, {kind: take(target, kind) for kind in get_args(Kind)})


def take(target: Target, kind: Kind) -> Taken:
    """What becomes of a file of a kind that a person sends: the first rung that the planner finds for it.

    A conversion may still fail, and a file be too large; then it is refused when it is sent.
    """
    facts = Facts("0" * 64, SENT[kind], 1)
    file = Attachment("att_probe", 1, "probe", Origin("user"), "", facts)
    message = Message("msg_probe", "user", ())
    found = decide_placement(FileUse(file, 1, message, "", True, True, True, True), target, {}, Policy())
    if found.pending is not None:
        return "words" if found.pending.conversion in AS_WORDS else "converted"
    return "refused" if found.delivery == "refused" else "native"


def why_not(provider: str, example: str, environ: Mapping[str, str]) -> str | None:
    """Why a provider's models can't be asked, with what to do; None where they can."""
    try:
        target = locate(resolve(f"{provider}:{example}"), environ)
        connect(target, environ=environ)
        if provider not in LOCAL:
            return None
        base = find_base(ROWS[provider], provider, target.account, None, environ)[1]
    except BadInput as error:
        return str(error)
    return f"no list of models comes from {base}: start the server, or set {own_variables(provider)[0]}"
