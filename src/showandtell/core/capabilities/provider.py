"""`Provider`: a host of models as one value. Packages of others and programs add theirs by it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Final, TypeAlias

from msgspec import Meta, Struct, field

from showandtell.checking.checked import Checked
from showandtell.core.capabilities.apis import NAME
from showandtell.core.capabilities.base_urls import FRAMING_HEADERS, HEADER_NAME, HEADER_VALUE, base_url_problem
from showandtell.core.capabilities.cells import Api
from showandtell.core.capabilities.family import Family
from showandtell.errors import BadInput

#: Printable ASCII, as headers are sent.
HeaderName: TypeAlias = Annotated[str, Meta(pattern=rf"\A{HEADER_NAME}\Z")]
HeaderValue: TypeAlias = Annotated[str, Meta(pattern=rf"\A{HEADER_VALUE}\Z")]
#: What carries a key: `BEARER` for `Authorization: Bearer KEY`, the name of a header, or a name and what stands before
#: the key, such as "Authorization: Token".
KeyHeader: TypeAlias = str
BEARER: Final = "bearer"
KEY_HEADER: Final = re.compile(rf"{HEADER_NAME}(: ?[\x21-\x7e]{HEADER_VALUE})?")
#: The form of the name of a variable.
VARIABLE: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")

#: What a call id becomes that an API doesn't take: nine letters and digits.
PLAIN_ID: Final = "aB3aB3aB3"


class ApiKey(Checked, Struct, frozen=True):
    """A provider's key: the environment variable that has it, and the header that carries it.

    >>> from showandtell.extending import ApiKey
    >>> ApiKey("ACME_API_KEY", header="Authorization: Token").header
    'Authorization: Token'

    Args:
        header: "bearer" for `Authorization: Bearer KEY`; else the name of a header, with a colon and what stands before
            the key if something does.
        required: False for a host that also answers without one.
    """

    variable: str
    header: KeyHeader = BEARER
    required: bool = True


class Provider(Checked, Struct, frozen=True, kw_only=True):
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
        Checked.__post_init__(self)
        if not NAME.fullmatch(self.name):
            raise BadInput(f"{self.name!r} is no name of a provider: use lower-case letters, digits and hyphens")
        if problem := base_url_problem(self.base_url):
            raise BadInput(f"the base URL of {self.name} {problem}: write one like https://api.acme.example/v1")
        check_own_headers(self)
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


def check_own_headers(provider: Provider) -> None:
    """Raise `BadInput` for a key that can't be sent, and for a header that is not the provider's to set."""
    own, auth = {name.lower() for name in provider.headers}, provider.auth
    if taken := own & FRAMING_HEADERS:
        raise BadInput(f"the header {min(taken)} of {provider.name} controls how a request is sent: leave it out")
    if auth is None:
        return
    if not VARIABLE.fullmatch(auth.variable):
        raise BadInput(f"{auth.variable!r} of {provider.name} is no name of an environment variable for its key")
    if not KEY_HEADER.fullmatch(auth.header):
        raise BadInput(
            f"{auth.header!r} of {provider.name} is no header for a key: write {BEARER!r}, the name of a header, or a "
            "name and what stands before the key, such as 'Authorization: Token'"
        )
    name = "authorization" if auth.header == BEARER else auth.header.partition(":")[0].lower()
    if name in own | FRAMING_HEADERS:
        raise BadInput(f"the header {name} of {provider.name} carries its key: leave it out of headers")


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
