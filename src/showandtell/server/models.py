"""Which models may be asked, and what each sees: those whose key is set, servers that answer, and the inspector."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Literal

from fastapi import APIRouter
from msgspec import Struct
from pydantic import ConfigDict, Field
from starlette.requests import Request
from starlette.responses import Response

from showandtell.capabilities.matrix import NOTHING, PROBES, InResult, Overrides, matrix, place_result, to_json
from showandtell.capabilities.overrides import select
from showandtell.capabilities.family import ANY_MODEL, Family
from showandtell.capabilities.resolve import families, resolve
from showandtell.errors import BadInput
from showandtell.files import Kind
from showandtell.history.library import read_preferences
from showandtell.providers.rows import ROWS, connect, find_base, locate, own_variables
from showandtell.server.local import LOCAL, list_local
from showandtell.server.shapes import Shape, answer, errors
from showandtell.server.state import Here
from showandtell.server.who import Who
from showandtell.settings import all_overrides

router = APIRouter(prefix="/api", tags=["models"])

#: How long a list of models is told again before anybody is asked anew, in seconds.
FRESH = 30.0
#: What is told of a model's eyes: all kinds but text, which every model reads.
SEEN: tuple[Kind, ...] = tuple(kind for kind in PROBES if kind != "text")


class Choice(Struct, frozen=True):
    """A model that may be asked, or why not. `sees` says by kind what becomes of a file that a tool shows it."""

    id: str
    provider: str
    name: str
    available: bool
    why: str | None
    sees: dict[Kind, InResult]


class Menu:
    """The models there are, looked for anew after half a minute; many who ask at once wait for one look.

    `clock` gives seconds.
    """

    def __init__(self, environ: Mapping[str, str] = os.environ, clock: Callable[[], float] = time.monotonic) -> None:
        self._environ, self._clock = environ, clock
        self._looking = asyncio.Lock()
        self._found: tuple[Choice, ...] = ()
        self._until = float("-inf")

    async def choices(self) -> tuple[Choice, ...]:
        """All models; those that can be asked now come first. Raises `BadInput` for broken overrides."""
        async with self._looking:
            if self._clock() >= self._until:
                there = await list_local(self._environ)
                self._found = await asyncio.to_thread(self._list, there)
                self._until = self._clock() + FRESH
            return self._found

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
    return Choice(model, provider, shown, why is None, why, {kind: place_result(target, kind) for kind in SEEN})


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


class SeesShape(Shape):
    """What becomes of a file that a tool shows: native in its result, relocated behind it, converted, or noted."""

    image: Literal["native", "relocated", "converted", "noted"]
    document: Literal["native", "relocated", "converted", "noted"]
    audio: Literal["native", "relocated", "converted", "noted"]
    video: Literal["native", "relocated", "converted", "noted"]


class ModelShape(Shape):
    """A model."""

    id: str = Field(description="what a message names as its `model`")
    provider: str
    name: str
    available: bool
    why: str | None = Field(description="why it can't be asked, and what to do")
    sees: SeesShape


SEES = {"image": "native", "document": "native", "audio": "converted", "video": "converted"}
INSPECTOR: dict[str, Any] = {
    "id": "inspector:anthropic-messages",
    "provider": "inspector",
    "name": "anthropic-messages",
    "available": True,
    "why": None,
    "sees": SEES,
}


class ModelsShape(Shape):
    """All models that the table names; any other `provider:model` may be asked as well."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"default": "inspector", "models": [INSPECTOR]}]})

    default: str = Field(description="who answers where neither a message nor the conversation names a model")
    models: list[ModelShape]


class MatrixShape(Shape):
    """The capability matrix, as `showandtell matrix --json` prints it, with this machine's own eye tests."""

    rows: list[dict[str, Any]]


@router.get("/models", operation_id="list_models", responses={200: {"model": ModelsShape}, **errors(422)})
async def list_models(request: Request, here: Here, user: Who) -> Response:
    """List the models, those that can be asked now first."""
    wanted = await read_preferences(here.store.database, user.name)
    return answer({"default": resolve(wanted.model or here.config.default_model).name, "models": await menu_of(request).choices()})


@router.get("/matrix", operation_id="get_matrix", responses={200: {"model": MatrixShape}, **errors(422)})
async def get_matrix(user: Who) -> Response:
    """What becomes of each kind of file with each family of models, with evidence."""
    del user
    rows = await asyncio.to_thread(lambda: to_json(matrix(all_overrides())))
    return Response(f'{{"rows":{rows}}}', 200, {"cache-control": "no-store"}, "application/json")


def menu_of(request: Request) -> Menu:
    """The menu of a worker, made when somebody first asks."""
    state = request.app.state
    if not hasattr(state, "menu"):
        state.menu = Menu()
    return state.menu
