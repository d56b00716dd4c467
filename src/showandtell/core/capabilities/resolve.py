"""From a name as people write it, `provider:model`, to the `Target` with everything that is known of it."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from functools import lru_cache

from msgspec.structs import replace

from showandtell.core.capabilities.cells import Capability, Target
from showandtell.core.capabilities.family import ANY_MODEL, Family
from showandtell.core.capabilities.table import FAMILIES, PROVIDERS
from showandtell.errors import UnknownModel

INSPECTOR = "inspector"


def families() -> tuple[Family, ...]:
    """Every row of the table, in order; within a provider the first match wins."""
    return FAMILIES


def resolve(model: str, overrides: Sequence[Capability] = ()) -> Target:
    """Look up `provider:model` (the model may hold colons and slashes), or `inspector` alone.

    `overrides` stand before the row's own cells, so the first match is theirs. A model that no row names gets its
    provider's default. Raises `UnknownModel` for an unknown provider, a missing colon or an empty model.
    """
    target = _resolve_row(model)
    return replace(target, cells=(*overrides, *target.cells)) if overrides else target


@lru_cache(maxsize=1024)
def _resolve_row(name: str) -> Target:
    provider, model = split_name(name)
    family = find_family(provider, model)
    if family is None:
        raise UnknownModel(
            f"{name!r}: {provider} has {_listed(_examples(provider))}{_hint(model, _examples(provider))}"
        )
    return Target(provider, family.api, model, family.cells, family.order, family.budget, family.dialect)


def split_name(name: str) -> tuple[str, str]:
    """Split at the first colon. Raises `UnknownModel` where that gives no known provider and a model."""
    if name == INSPECTOR:
        return INSPECTOR, _examples(INSPECTOR)[0]
    provider, colon, model = name.partition(":")
    if provider in PROVIDERS and model.strip():
        return provider, model
    if provider in PROVIDERS:
        raise UnknownModel(f"{name!r} names no model: write it as in {provider}:{_examples(provider)[0]}")
    if not colon:
        near = _homes(name) or get_close_matches(name, PROVIDERS, cutoff=0.6)
        raise UnknownModel(
            f"{name!r} is not written as provider:model.{_or_near(near)} Providers: {_listed(PROVIDERS)}"
        )
    near = [f"{found}:{model}" for found in get_close_matches(provider, PROVIDERS, cutoff=0.6)]
    raise UnknownModel(f"{provider!r} is no provider.{_or_near(near)} Providers: {_listed(PROVIDERS)}")


def find_family(provider: str, model: str) -> Family | None:
    """The first row of the provider that fits the model; None only where the provider has no default."""
    return next((family for family in FAMILIES if family.provider == provider and family.has(model)), None)


def _examples(provider: str) -> list[str]:
    return [family.example for family in FAMILIES if family.provider == provider]


def _homes(model: str) -> list[str]:
    """Where a bare model name is known: `gpt-5` is `openai:gpt-5`."""
    known = [family.provider for family in FAMILIES if family.patterns != ANY_MODEL and family.has(model)]
    return [f"{provider}:{model}" for provider in dict.fromkeys(known)][:3]


def _hint(word: str, known: Sequence[str]) -> str:
    near = get_close_matches(word, known, cutoff=0.5)
    return f".{_or_near(near)}" if near else ""


def _or_near(near: Sequence[str]) -> str:
    return f" Did you mean {' or '.join(near)}?" if near else ""


def _listed(words: Sequence[str]) -> str:
    return ", ".join(words)
