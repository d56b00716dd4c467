"""All providers: those of the table, those that a program registered, and those that installed packages bring."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from msgspec.structs import replace

from showandtell.checking.checked import checked
from showandtell.core.capabilities.apis import REGISTRY as REGISTRY_OF_APIS
from showandtell.core.capabilities.family import Family
from showandtell.core.capabilities.provider import Provider
from showandtell.core.capabilities.table import FAMILIES, PROVIDERS
from showandtell.plugins import Registry, expect, instances_of

#: The provider of the embedded model.
INSPECTOR: Final = "inspector"


REGISTRY: Final = Registry(
    "showandtell.providers",
    "provider",
    instances_of(Provider),
    name_of=lambda provider: provider.name,
    is_built_in=PROVIDERS.__contains__,
)


@checked
def register_provider(provider: Provider) -> None:
    """Make a provider known to everything in this process: runs, `render`, the server and its page, the matrix.

    Registering the same value again changes nothing. Raises `BadInput` for a name that another provider has.
    """
    REGISTRY.register(expect(provider, Provider))


def registered_so_far() -> Mapping[str, Provider]:
    """Those that a program registered or that something has needed, by name. Asks no packages."""
    return REGISTRY.so_far()


def registered() -> Mapping[str, Provider]:
    """The providers besides those of the table, by name."""
    return REGISTRY.all()


def find_provider(name: str) -> Provider | None:
    """The provider of a name, unless it is one of the table or unknown. Packages are asked only for other names."""
    return REGISTRY.find(name)


def is_known(provider: str) -> bool:
    """Whether there is a provider of this name."""
    return provider in PROVIDERS or find_provider(provider) is not None


def families() -> tuple[Family, ...]:
    """All rows, in order, those of the table first. `find_family` says which of them a model belongs to."""
    return (*FAMILIES, *strict_families(), *(family for known in registered().values() for family in known.families))


def families_of(provider: str) -> tuple[Family, ...]:
    """The rows of a provider, in order; none of an unknown one."""
    if (known := find_provider(provider)) is not None:
        return known.families
    return (*table_rows(provider), *(strict_families() if provider == INSPECTOR else ()))


def table_rows(provider: str) -> tuple[Family, ...]:
    """The rows of the table for a provider, in order."""
    return tuple(row for row in FAMILIES if row.provider == provider)


def strict_families() -> tuple[Family, ...]:
    """The inspector's rows for APIs of packages with rules: copies of the first row that speaks each."""
    first: dict[str, Family] = {}
    for family in (family for provider in registered().values() for family in provider.families):
        first.setdefault(family.api, family)
    return tuple(
        replace(family, provider=INSPECTOR, patterns=(api,), example=api, subfamily=False)
        for api, family in first.items()
        if (known := REGISTRY_OF_APIS.find(api)) is not None and known.is_strict
    )


def providers() -> tuple[str, ...]:
    """The names of all providers."""
    return (*PROVIDERS, *registered())
