"""An SDK's client as settings: its base URL, key and headers, taken over without importing any SDK.

What it knows is read from its attributes, of which some are private to it: the versions read are those in the
project's own tests. A key is never shown.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from inspect import isawaitable
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from showandtell.core.capabilities.cells import Target
from showandtell.core.capabilities.resolve import families
from showandtell.core.wire.http import Authorise, HttpRequest
from showandtell.errors import BadInput, MissingKey
from showandtell.network.transport import Transport
from showandtell.providers import aws, google
from showandtell.providers.auth import Form, check_base, check_headers, check_key, spell
from showandtell.providers.exchange import Exchange
from showandtell.providers.rows import ROWS, TRANSPORT

KNOWN = "OpenAI, AzureOpenAI, Anthropic, AnthropicBedrock, AnthropicVertex, genai.Client, Groq, Mistral, boto3's client"
ON_BEDROCK = frozenset({"bedrock", "anthropic-bedrock"})
ON_VERTEX = frozenset({"vertex", "anthropic-vertex"})
#: OpenAI's client is used for every host that speaks as OpenAI does.
LIKE_OPENAI = frozenset(family.provider for family in families() if family.api.startswith("openai")) & frozenset(ROWS)
#: What google-genai adds to headers by itself.
OF_GENAI = frozenset({"content-type", "user-agent", "x-goog-api-client", "x-goog-api-key"})


@dataclass(frozen=True, slots=True)
class Settings:
    """What a client knows: the providers it may stand for, the base URL as our wire takes it, and how to be let in.

    `account` is what `rows.locate` finds elsewhere: the target needs it, since addresses and rejections hold it.
    """

    providers: frozenset[str]
    base: str
    headers: Mapping[str, str] = field(repr=False)
    authorise: Authorise | None = field(default=None, repr=False)
    account: str = ""


def connect_client(target: Target, client: object, *, transport: Transport | None = None) -> Exchange:
    """The way to a target's host as a client goes. Raises `BadInput` for one of another house, or of no house."""
    settings = read_client(client)
    homes = home_of(settings.base) & settings.providers or settings.providers
    if target.provider not in homes:
        raise BadInput(f"{target.name} can't be asked by this {type(client).__name__}, which goes to {settings.base}")
    send = (transport or TRANSPORT).send
    return Exchange(send, settings.base, settings.headers, settings.authorise, ROWS[target.provider].explain)


def home_of(base: str) -> frozenset[str]:
    """The providers whose own host this is; none for a proxy's or this machine's."""
    host = urlsplit(base).hostname
    bases = {name: row.base for name, row in ROWS.items() if isinstance(row.base, str) and row.needs_key}
    return frozenset(name for name, own in bases.items() if urlsplit(own).hostname == host)


def read_client(client: object) -> Settings:
    """What an SDK's client knows. Raises `BadInput` for what is no such client, `MissingKey` for one without a key."""
    for cls in type(client).__mro__:
        if reader := READERS.get(f"{package_of(cls)}.{cls.__name__.removeprefix('Async')}"):
            return reader(client)
    raise BadInput(f"{type(client).__name__} is no client that is understood: there are {KNOWN}")


def package_of(cls: type) -> str:
    """The package of a class; Google has many under one roof."""
    top, _, rest = cls.__module__.partition(".")
    return f"{top}.{rest.partition('.')[0]}" if top == "google" else top


def read_openai(client: Any) -> Settings:
    """`OpenAI`: organisation, project and default headers are taken over, too."""
    named = {"openai-organization": client.organization, "openai-project": client.project}
    headers = {**only_texts(named), **custom_headers(client)}
    if getattr(client, "workload_identity", None) is not None:
        raise BadInput("an OpenAI client with a workload identity can't be taken over: give it a key, or a function")
    key, authorise = admit(client.api_key, getattr(client, "_api_key_provider", None), "bearer")
    return Settings(LIKE_OPENAI, base_of(client.base_url), {**key, **headers}, authorise)


def read_azure(client: Any) -> Settings:
    """`AzureOpenAI`: its resource's `/openai/v1`, which takes a deployment's name as the model's."""
    parts = urlsplit(base_of(client.base_url))
    path = f"{parts.path.partition('/openai')[0]}/openai/v1"
    base = urlunsplit((parts.scheme, parts.netloc, path, "", ""))
    token, ask = client._azure_ad_token, client._azure_ad_token_provider  # noqa: SLF001 - nowhere else
    if token or ask:
        key, authorise = admit(token, ask, "bearer")
    else:
        # What stands for a missing key there is in angle brackets.
        own = None if str(client.api_key).startswith("<") else client.api_key
        key, authorise = admit(own, getattr(client, "_api_key_provider", None), "api-key")
    return Settings(frozenset({"azure", "azure-chat"}), base, {**key, **custom_headers(client)}, authorise)


def read_anthropic(client: Any) -> Settings:
    """`Anthropic`: with our own version of its API, since that is what our requests are written in."""
    if client.api_key:
        key, _ = admit(client.api_key, None, "x-api-key")
    else:
        key, _ = admit(client.auth_token, None, "bearer")
    own = {name: value for name, value in custom_headers(client).items() if name != "anthropic-version"}
    headers = {**ROWS["anthropic"].headers, **key, **own}
    return Settings(frozenset({"anthropic"}), base_of(client.base_url), headers)


def read_anthropic_bedrock(client: Any) -> Settings:
    """`AnthropicBedrock`: a bearer key, keys of its own, a profile, or what AWS's variables say."""
    base, region, headers = base_of(client.base_url), client.aws_region, custom_headers(client)
    if client.api_key:
        key, _ = admit(client.api_key, None, "bearer")
        return Settings(ON_BEDROCK, base, {**key, **headers}, None, region)
    load: Callable[[], aws.Credentials] = partial(aws.find_credentials, os.environ)
    if client.aws_access_key and client.aws_secret_key:
        own = aws.Credentials(client.aws_access_key, client.aws_secret_key, client.aws_session_token or "")
        load = partial(_same, own)
    elif client.aws_profile:
        load = partial(_of_profile, client.aws_profile)
    return Settings(ON_BEDROCK, base, headers, aws.authorise_with(load, region), region)


def _same(credentials: aws.Credentials) -> aws.Credentials:
    return credentials


def _of_profile(profile: str) -> aws.Credentials:
    return aws.freeze(aws.chain(os.environ, profile))


def read_boto(client: Any) -> Settings:
    """boto3's or botocore's `bedrock-runtime`: its credentials, which renew themselves, or its bearer token."""
    signer, region = client._request_signer, client.meta.region_name  # noqa: SLF001 - credentials are nowhere else
    base = base_of(client.meta.endpoint_url)
    if (token := signer._auth_token) is not None:  # noqa: SLF001 - the same
        renewing = getattr(token, "get_frozen_token", lambda: token)
        return Settings(ON_BEDROCK, base, {}, asking(lambda: renewing().token, "bearer"), region)
    if signer._credentials is None:  # noqa: SLF001 - the same
        raise MissingKey("the client has no credentials: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY")
    load = partial(aws.freeze, signer._credentials)  # noqa: SLF001 - the same
    return Settings(ON_BEDROCK, base, {}, aws.authorise_with(load, region), region)


def read_anthropic_vertex(client: Any) -> Settings:
    """`AnthropicVertex`: its access token, its credentials, or this machine's."""
    base = base_of(client.base_url).removesuffix("/v1")
    headers = custom_headers(client)
    account = f"{client.project_id}/{client.region}" if client.project_id else ""
    if client.access_token:
        key, _ = admit(client.access_token, None, "bearer")
        return Settings(ON_VERTEX, base, {**key, **headers}, None, account)
    return Settings(ON_VERTEX, base, headers, by_google(client.credentials), account)


def read_genai(client: Any) -> Settings:
    """`genai.Client`, for the Gemini API by its key or for Vertex by credentials."""
    inner = client._api_client  # noqa: SLF001 - settings are nowhere else
    options = inner._http_options  # noqa: SLF001 - the same
    base = base_of(options.base_url)
    headers = check_headers({name: value for name, value in options.headers.items() if name.lower() not in OF_GENAI})
    if not inner.vertexai:
        key, _ = admit(inner.api_key, None, "x-goog-api-key")
        return Settings(frozenset({"google"}), base, {**key, **headers})
    if not inner.project:
        raise BadInput("a genai client for Vertex needs a project: a key alone (express mode) can't be taken over")
    account = f"{inner.project}/{inner.location}"
    return Settings(ON_VERTEX, base, headers, by_google(inner._credentials), account)  # noqa: SLF001 - the same


def by_google(credentials: Any) -> Authorise:
    """A client's own credentials, else what this machine may."""
    return google.authorise_with(
        partial(google.default_credentials, os.environ) if credentials is None else lambda: credentials
    )


def read_groq(client: Any) -> Settings:
    """`Groq`, whose base URL leaves out `/openai/v1`."""
    key, _ = admit(client.api_key, None, "bearer")
    base = base_of(client.base_url) + ROWS["groq"].prefix
    return Settings(frozenset({"groq"}), base, {**key, **custom_headers(client)})


def read_mistral(client: Any) -> Settings:
    """`Mistral`, whose server's URL leaves out `/v1`."""
    own = client.sdk_configuration
    base = base_of(own.get_server_details()[0]) + ROWS["mistral"].prefix
    ask = (lambda: own.security().api_key) if callable(own.security) else None
    key, authorise = admit(getattr(own.security, "api_key", None), ask, "bearer")
    return Settings(frozenset({"mistral"}), base, key, authorise)


READERS: dict[str, Callable[[Any], Settings]] = {
    "openai.OpenAI": read_openai,
    "openai.AzureOpenAI": read_azure,
    "anthropic.Anthropic": read_anthropic,
    "anthropic.AnthropicBedrock": read_anthropic_bedrock,
    "anthropic.AnthropicVertex": read_anthropic_vertex,
    "google.genai.Client": read_genai,
    "groq.Groq": read_groq,
    "mistralai.Mistral": read_mistral,
    "botocore.BedrockRuntime": read_boto,
}


def admit(key: str | None, ask: Callable[[], Any] | None, form: Form) -> tuple[dict[str, str], Authorise | None]:
    """A key as a header, or a function that gives one as what makes the header. Raises `MissingKey` for neither."""
    if ask is not None:
        return {}, asking(ask, form)
    if not key or not (checked := check_key("the client's key", key)):
        raise MissingKey("the client has no key that can be taken over: give it one, as an argument or a variable")
    return spell(checked, form), None


def asking(ask: Callable[[], Any], form: Form) -> Authorise:
    """Headers with a key that a function gives for each request, be it async or one that blocks."""

    async def authorise(_: HttpRequest) -> dict[str, str]:
        given = await asyncio.to_thread(ask)
        key: object = await given if isawaitable(given) else given
        return spell(check_key("the client's key", str(key)), form)

    return authorise


def base_of(url: object) -> str:
    """A client's base URL, without a slash at its end."""
    return check_base("the client's base_url", str(url), "https://host/v1")


def custom_headers(client: Any) -> dict[str, str]:
    """The headers that somebody gave a client, without those of its own and those that it was told to leave out."""
    return only_texts(getattr(client, "_custom_headers", {}))


def only_texts(headers: Mapping[str, Any]) -> dict[str, str]:
    """Headers that have a text."""
    return check_headers({name: value for name, value in headers.items() if isinstance(value, str)})
