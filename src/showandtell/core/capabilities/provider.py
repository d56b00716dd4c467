"""`Provider`: a host of models as one value. Packages of others and programs add theirs by it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Final, Literal, TypeAlias

from msgspec import Meta, Struct, field

from showandtell.core.capabilities.apis import NAME
from showandtell.core.capabilities.cells import Api
from showandtell.core.capabilities.family import Family
from showandtell.errors import BadInput
from showandtell.plugins import check_types

#: Printable ASCII, as headers are sent.
HeaderName: TypeAlias = Annotated[str, Meta(pattern=r"\A[A-Za-z0-9!#$%&'*+.^_`|~-]+\Z")]
HeaderValue: TypeAlias = Annotated[str, Meta(pattern=r"\A[\x20-\x7e]*\Z")]
#: The header that carries a key.
KeyHeader: TypeAlias = Literal["bearer", "x-api-key", "x-goog-api-key", "api-key"]


#: What a call id becomes that an API doesn't take: nine letters and digits.
PLAIN_ID: Final = "aB3aB3aB3"


class ApiKey(Struct, frozen=True):
    """A provider's key: the environment variable that has it, and the header that carries it.

    Args:
        required: False for a host that also answers without one.
    """

    variable: str
    header: KeyHeader = "bearer"
    required: bool = True


class Provider(Struct, frozen=True, kw_only=True):
    """A host of models: where it is, the API that it speaks, its key, and what its models take.

    >>> from showandtell.extending import ANY_MODEL, ApiKey, Family, Provider
    >>> models = Family("acme", "openai-chat", ANY_MODEL, "acme-1", ())
    >>> Provider(name="acme", base_url="https://api.acme.example/v1", api="openai-chat", families=(models,)).auth

    Args:
        name: what stands before the colon of its models' names: lower-case letters, digits and hyphens.
        base_url: where the paths of the API begin, as the vendor's SDK of that API expects it: with /v1 for OpenAI's.
        auth: None if the host takes no key.
        families: the models. The first that matches counts; the last one, with the patterns `ANY_MODEL`, is for all
            others.
        headers: sent with every request.
        title: the name that people read; empty for `name`.
    """

    name: str
    base_url: str
    api: Api
    families: tuple[Family, ...]
    auth: ApiKey | None = None
    headers: Mapping[HeaderName, HeaderValue] = field(default_factory=dict[str, str])
    title: str = ""

    def __post_init__(self) -> None:
        check_types(self, f"the provider {self.name!r}")
        if not NAME.fullmatch(self.name):
            raise BadInput(f"{self.name!r} is no name of a provider: use lower-case letters, digits and hyphens")
        if not self.base_url.startswith(("https://", "http://")):
            raise BadInput(f"{self.base_url!r} is no base URL: let it start with https:// or http://")
        if not self.families:
            raise BadInput(f"the provider {self.name} has no families of models: add one, with the patterns ANY_MODEL")
        for family in self.families:
            if (family.provider, family.api) != (self.name, self.api):
                raise BadInput(
                    f"the family of {family.example} is one of {family.provider!r} with {family.api!r}: it belongs to "
                    f"{self.name!r} with {self.api!r}"
                )
            check_example(family)
            check_expressions(family)


def check_example(family: Family) -> None:
    """Raise `BadInput` for an example that is no model of its family."""
    if not family.has(family.example):
        raise BadInput(f"the example {family.example!r} is no model of its family: {', '.join(family.patterns)}")


def check_expressions(family: Family) -> None:
    """Raise `BadInput` for an invalid regular expression, and for call ids that leave none to fall back on."""
    words = family.dialect.errors
    kinds = [expression for _, expression in words.not_taken]
    for expression in (family.order.call_ids, words.about_files, words.too_long, *kinds):
        try:
            re.compile(expression)
        except re.error as error:
            raise BadInput(f"{expression!r} of {family.example} is not a regular expression: {error}") from None
    if not re.fullmatch(family.order.call_ids, PLAIN_ID):
        raise BadInput(f"call_ids of {family.example} must match nine letters and digits, such as {PLAIN_ID}")
