"""Resolves a name, `provider:model`, to a `Target` with everything that is known about it."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from functools import lru_cache
from operator import attrgetter

from msgspec.structs import replace

from showandtell.checking.checked import checked
from showandtell.core.capabilities.answer_formats import find_answer_format
from showandtell.core.capabilities.cells import Capability, Target
from showandtell.core.capabilities.family import ANY_MODEL, Family
from showandtell.core.capabilities.provider_tools import find_hosted
from showandtell.core.capabilities.registry import INSPECTOR, families, families_of, is_known, providers, table_rows
from showandtell.core.capabilities.windows import costs_of, window_of
from showandtell.errors import UnknownModel


@checked
def resolve(model: str, overrides: Sequence[Capability] = ()) -> Target:
    """Look up `provider:model` (the model may hold colons and slashes), or just `inspector`.

    `overrides` take precedence over the row's own cells. A model that no row names gets its provider's default. Raises
    `UnknownModel` for an unknown provider, a missing colon or an empty model.

    >>> from showandtell import resolve
    >>> target = resolve("anthropic:claude-sonnet-5")
    >>> target.provider, target.model, target.api
    ('anthropic', 'claude-sonnet-5', 'anthropic-messages')
    """
    target = _resolve_row(model)
    return replace(target, cells=(*overrides, *target.cells)) if overrides else target


@lru_cache(maxsize=1024)
def _resolve_row(name: str) -> Target:
    provider, model = split_name(name)
    family = find_family(provider, model)
    if family is None:
        examples = examples_of(provider)
        similar = get_close_matches(model, examples, cutoff=0.5)
        hint = f".{_suggestion(similar)}" if similar else ""
        raise UnknownModel(f"{name!r}: {provider} has no such model, only {', '.join(examples)}{hint}")
    return Target(
        provider,
        family.api,
        model,
        family.cells,
        family.order,
        family.budget,
        family.dialect,
        window=family.window or window_of(provider, model),
        costs=family.costs or costs_of(model),
        answer_format=family.answer_format or find_answer_format(provider, model),
        hosted=find_hosted(provider, model) if family.hosted is None else family.hosted,
    )


def split_name(name: str) -> tuple[str, str]:
    """Split at the first colon. Raises `UnknownModel` for an unknown provider or an empty model."""
    if name == INSPECTOR:
        return INSPECTOR, examples_of(INSPECTOR)[0]
    provider, colon, model = name.partition(":")
    if colon and model.strip() and is_known(provider):
        return provider, model
    if is_known(provider):
        raise UnknownModel(f"{name!r} names no model: write it as in {provider}:{examples_of(provider)[0]}")
    if not colon:
        similar = _providers_of(name) or get_close_matches(name, providers(), cutoff=0.6)
        raise UnknownModel(
            f"{name!r} is not written as provider:model.{_suggestion(similar)} Providers: {', '.join(providers())}"
        )
    similar = [f"{match}:{model}" for match in get_close_matches(provider, providers(), cutoff=0.6)]
    raise UnknownModel(f"unknown provider {provider!r}.{_suggestion(similar)} Providers: {', '.join(providers())}")


def find_family(provider: str, model: str) -> Family | None:
    """The first subfamily of the provider that matches the model, else the first row that does.

    None only if the provider has no default. Packages are asked only if the table has no row for the model.
    """
    matches = [family for family in table_rows(provider) if family.has(model)]
    matches = matches or [family for family in families_of(provider) if family.has(model)]
    return max(matches, key=attrgetter("subfamily"), default=None)


def examples_of(provider: str) -> list[str]:
    """The models of a provider that users are offered; the last one stands for any other model."""
    return [family.example for family in families_of(provider) if not family.subfamily]


def _providers_of(model: str) -> list[str]:
    """Up to three full names of a model whose provider is missing: `openai:gpt-5` for `gpt-5`."""
    found = [family.provider for family in families() if family.patterns != ANY_MODEL and family.has(model)]
    return [f"{provider}:{model}" for provider in dict.fromkeys(found)][:3]


def _suggestion(names: Sequence[str]) -> str:
    return f" Did you mean {' or '.join(names)}?" if names else ""
