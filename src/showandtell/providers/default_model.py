"""Decides on the model of somebody who names none, for the page, the commands and `Agent.from_config` alike."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Sequence
from typing import Final, Literal, TypeAlias

from msgspec import Struct

from showandtell.core.capabilities.default_models import CURRENT_MODELS, current_model_of
from showandtell.core.capabilities.registry import INSPECTOR, find_provider, registered
from showandtell.core.capabilities.resolve import split_name
from showandtell.errors import UnknownModel
from showandtell.providers.auth import find_variable
from showandtell.providers.hosts import Environ, all_hosts, find_host, key_provider

#: Why a model is the default: it was configured, it was used last, there is a key for it, or there is none for any.
Reason: TypeAlias = Literal["configured", "used", "key", "no key"]
#: The source of a key that was stored on the page or by `showandtell keys`. The others are names of variables.
STORED: Final = "stored"


class DefaultModel(Struct, frozen=True):
    """The default model, why it is the one, and for a key its source: `STORED`, or the name of a variable."""

    model: str
    reason: Reason
    source: str = ""


def choose_default(
    configured: Sequence[str | None] = (),
    used: str | None = None,
    stored: Collection[str] = (),
    environ: Environ = os.environ,
) -> DefaultModel:
    """Decide on the model of somebody who names none.

    It is the configured one; else the one that this person used last, unless that is the inspector or can't be reached
    any more; else the current model of the first provider with a key (`CURRENT_MODELS`, then those of packages); else
    the inspector.

    Args:
        configured: the settings that name a model, the strongest first.
        used: the model that this person used last.
        stored: the providers with a stored key that this person may use. Keys in `environ` are for everybody.
    """
    if chosen := next(filter(None, configured), None):
        return DefaultModel(chosen, "configured")
    if used and can_reach(used, stored, environ):
        return DefaultModel(used, "used")
    for provider in ranked_providers():
        source = find_key_source(provider, stored, environ)
        model = current_model_of(provider, find_provider(provider))
        if source and model:
            return DefaultModel(model, "key", source)
    return DefaultModel(INSPECTOR, "no key")


def ranked_providers() -> Iterator[str]:
    """The providers that have a current model, the preferred ones first; packages are asked last."""
    yield from (row.provider for row in CURRENT_MODELS)
    yield from registered()


def can_reach(model: str, stored: Collection[str] = (), environ: Environ = os.environ) -> bool:
    """Whether a real model can be asked: its provider needs no key, has one, or uses an account's credentials."""
    try:
        provider, _ = split_name(model)
    except UnknownModel:  # its package is not installed any more
        return False
    host = find_host(provider)
    if host is None:  # the inspector
        return False
    has_account = host.authorize is not None or host.by_key is not None
    return not host.needs_key or has_account or find_key_source(provider, stored, environ) != ""


def find_key_source(provider: str, stored: Collection[str] = (), environ: Environ = os.environ) -> str:
    """Where a provider's key comes from: `STORED` before the name of a variable; empty if it has none."""
    if key_provider(provider) in stored:
        return STORED
    host = find_host(provider)
    found = None if host is None else find_variable([name for name, _ in host.keys], environ)
    return "" if found is None else found[0]


def has_any_key(stored: Collection[str] = (), environ: Environ = os.environ) -> bool:
    """Whether there is a key of any provider that needs one."""
    return any(find_key_source(name, stored, environ) for name, row in all_hosts().items() if row.needs_key)
