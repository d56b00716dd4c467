"""All providers: those of the table, those that a program registered, and those that installed packages bring."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from functools import cache
from types import MappingProxyType
from typing import Final

from showandtell.core.capabilities.family import Family
from showandtell.core.capabilities.provider import Provider
from showandtell.core.capabilities.table import FAMILIES, PROVIDERS
from showandtell.errors import BadInput
from showandtell.plugins import load_plugins

#: Entry points of installed packages; each names a `Provider`.
GROUP: Final = "showandtell.providers"

_registered: dict[str, Provider] = {}


def register_provider(provider: Provider) -> None:
    """Make a provider known to everything in this process: runs, `render`, the server and its page, the matrix.

    Registering the same value again changes nothing. Raises `BadInput` for a name that another provider has.
    """
    if provider.name in PROVIDERS or _registered.setdefault(provider.name, provider) != provider:
        raise BadInput(f"there is another provider {provider.name!r} already: give yours a name of its own")


def registered_so_far() -> Mapping[str, Provider]:
    """Those that a program registered or that something has needed, by name. Asks no packages."""
    return MappingProxyType(_registered)


def registered() -> Mapping[str, Provider]:
    """The providers besides those of the table, by name."""
    _register_installed()
    return MappingProxyType(_registered)


@cache
def _register_installed() -> None:
    """Register what installed packages bring. A mistake in one of them is a warning, and the others are there."""
    for found in load_plugins(GROUP):
        try:
            register_provider(checked(found))
        except BadInput as error:
            warnings.warn(f"an entry point of {GROUP} is left out: {error}", RuntimeWarning, stacklevel=3)


def checked(found: object) -> Provider:
    """What an entry point names, if that is a provider."""
    if isinstance(found, Provider):
        return found
    raise BadInput(f"it names {type(found).__name__}, not a Provider")


def find_provider(name: str) -> Provider | None:
    """The provider of a name, unless it is one of the table or unknown. Packages are asked only for other names."""
    return None if name in PROVIDERS else _registered.get(name) or registered().get(name)


def is_known(provider: str) -> bool:
    """Whether there is a provider of this name."""
    return provider in PROVIDERS or find_provider(provider) is not None


def families() -> tuple[Family, ...]:
    """All rows, in order, those of the table first. `find_family` says which of them a model belongs to."""
    return (*FAMILIES, *(family for provider in registered().values() for family in provider.families))


def families_of(provider: str) -> tuple[Family, ...]:
    """The rows of a provider, in order; none of an unknown one."""
    known = find_provider(provider)
    return known.families if known is not None else tuple(row for row in FAMILIES if row.provider == provider)


def providers() -> tuple[str, ...]:
    """The names of all providers."""
    return (*PROVIDERS, *registered())
