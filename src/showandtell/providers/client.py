"""Reads the base URL, key and headers of an SDK's client, without importing any SDK.

Some of the attributes are private. Supported are the SDK versions in the project's tests. A key is never shown.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from showandtell.core.capabilities.cells import Target
from showandtell.core.capabilities.google import EXPRESS
from showandtell.core.wire.http import Authorize, HttpRequest
from showandtell.errors import BadInput, MissingKey
from showandtell.network.transport import Transport
from showandtell.providers import aws, google
from showandtell.providers.auth import KeyHeader, check_base, check_headers, check_key, key_header
from showandtell.providers.connect import TRANSPORT, row_of
from showandtell.providers.credentials import get_credentials
from showandtell.providers.exchange import Exchange
from showandtell.providers.hosts import ROWS, all_hosts

SUPPORTED = (
    "OpenAI, AzureOpenAI, Anthropic, AnthropicBedrock, AnthropicVertex, genai.Client, Groq, Mistral, boto3's client"
)
ON_BEDROCK = frozenset({"bedrock", "anthropic-bedrock"})
ON_VERTEX = frozenset({"vertex", "anthropic-vertex"})
#: Headers that google-genai adds by itself.
GENAI_HEADERS = frozenset({"content-type", "user-agent", "x-goog-api-client", "x-goog-api-key"})


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of a client: the providers it can reach, the base URL for our wire modules, and its credentials.

    `account` is the target's account, which `connect.locate` otherwise reads from the environment.
    """

    providers: frozenset[str]
    base: str
    headers: Mapping[str, str] = field(repr=False)
    authorize: Authorize | None = field(default=None, repr=False)
    account: str = ""


def connect_client(target: Target, client: object, *, transport: Transport | None = None) -> Exchange:
    """The exchange with a target's host by a client's settings. Raises `BadInput` for another provider's client."""
    settings = read_client(client)
    providers = providers_at(settings.base) & settings.providers or settings.providers
    if target.provider not in providers:
        raise BadInput(f"{target.name} can't be reached by this {type(client).__name__}, which is for {settings.base}")
    send = (transport or TRANSPORT).send
    return Exchange(send, settings.base, settings.headers, settings.authorize, row_of(target).explain)


def providers_at(base: str) -> frozenset[str]:
    """The providers whose official host this is; none for proxies and local servers."""
    host = urlsplit(base).hostname
    bases = {name: row.base for name, row in all_hosts().items() if isinstance(row.base, str) and row.needs_key}
    return frozenset(name for name, own in bases.items() if urlsplit(own).hostname == host)


def read_client(client: object) -> Settings:
    """The settings of an SDK's client. Raises `BadInput` for an unknown client, `MissingKey` for one without a key."""
    for cls in type(client).__mro__:
        if reader := READERS.get(f"{package_of(cls)}.{cls.__name__.removeprefix('Async')}"):
            return reader(client)
    raise BadInput(f"{type(client).__name__} is not a supported client; supported are {SUPPORTED}")


def package_of(cls: type) -> str:
    """The top package of a class; for Google's namespace package also the second level."""
    top, _, rest = cls.__module__.partition(".")
    return f"{top}.{rest.partition('.')[0]}" if top == "google" else top


def read_openai(client: Any) -> Settings:
    """`OpenAI`, with its organization, project and default headers."""
    named = {"openai-organization": client.organization, "openai-project": client.project}
    headers = {**text_headers(named), **custom_headers(client)}
    if getattr(client, "workload_identity", None) is not None:
        raise BadInput("an OpenAI client with a workload identity is not supported: pass it a key, or a function")
    key, authorize = resolve_key(client.api_key, getattr(client, "_api_key_provider", None), "bearer")
    compatible = frozenset(name for name, row in all_hosts().items() if row.openai_client)
    return Settings(compatible, base_of(client.base_url), {**key, **headers}, authorize)


def read_azure(client: Any) -> Settings:
    """`AzureOpenAI`: the `/openai/v1` of its resource, where the model is a deployment's name."""
    parts = urlsplit(base_of(client.base_url))
    path = f"{parts.path.partition('/openai')[0]}/openai/v1"
    base = urlunsplit((parts.scheme, parts.netloc, path, "", ""))
    token, provider = client._azure_ad_token, client._azure_ad_token_provider  # noqa: SLF001 - nowhere else
    if token or provider:
        key, authorize = resolve_key(token, provider, "bearer")
    else:
        # The SDK's placeholder for a missing key is in angle brackets.
        known_key = None if str(client.api_key).startswith("<") else client.api_key
        key, authorize = resolve_key(known_key, getattr(client, "_api_key_provider", None), "api-key")
    return Settings(frozenset({"azure", "azure-chat"}), base, {**key, **custom_headers(client)}, authorize)


def read_anthropic(client: Any) -> Settings:
    """`Anthropic`, with our own API version, since our requests follow that version."""
    if client.api_key:
        key, _ = resolve_key(client.api_key, None, "x-api-key")
    else:
        key, _ = resolve_key(client.auth_token, None, "bearer")
    own = {name: value for name, value in custom_headers(client).items() if name != "anthropic-version"}
    headers = {**ROWS["anthropic"].headers, **key, **own}
    return Settings(frozenset({"anthropic"}), base_of(client.base_url), headers)


def read_anthropic_bedrock(client: Any) -> Settings:
    """`AnthropicBedrock`: a bearer key, its own access keys, a profile, or AWS's variables."""
    base, region, headers = base_of(client.base_url), client.aws_region, custom_headers(client)
    if client.api_key:
        key, _ = resolve_key(client.api_key, None, "bearer")
        return Settings(ON_BEDROCK, base, {**key, **headers}, None, region)
    load: Callable[[], aws.Credentials] = partial(aws.find_credentials, os.environ)
    if client.aws_access_key and client.aws_secret_key:
        credentials = aws.Credentials(client.aws_access_key, client.aws_secret_key, client.aws_session_token or "")
        load = partial(_same, credentials)
    elif client.aws_profile:
        load = partial(_of_profile, client.aws_profile)
    return Settings(ON_BEDROCK, base, headers, aws.authorize_with(load, region), region)


def _same(credentials: aws.Credentials) -> aws.Credentials:
    return credentials


def _of_profile(profile: str) -> aws.Credentials:
    return aws.freeze(aws.chain(os.environ, profile))


def read_boto(client: Any) -> Settings:
    """boto3's or botocore's `bedrock-runtime`: its self-renewing credentials, or its bearer token."""
    signer, region = client._request_signer, client.meta.region_name  # noqa: SLF001 - credentials are nowhere else
    base = base_of(client.meta.endpoint_url)
    if (token := signer._auth_token) is not None:  # noqa: SLF001 - the same
        renewing = getattr(token, "get_frozen_token", lambda: token)
        return Settings(ON_BEDROCK, base, {}, key_from_function(lambda: renewing().token, "bearer"), region)
    if signer._credentials is None:  # noqa: SLF001 - the same
        raise MissingKey("the client has no credentials: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY")
    load = partial(aws.freeze, signer._credentials)  # noqa: SLF001 - the same
    return Settings(ON_BEDROCK, base, {}, aws.authorize_with(load, region), region)


def read_anthropic_vertex(client: Any) -> Settings:
    """`AnthropicVertex`: its access token, its credentials, or the default credentials."""
    base = base_of(client.base_url).removesuffix("/v1")
    headers = custom_headers(client)
    account = f"{client.project_id}/{client.region}" if client.project_id else ""
    if client.access_token:
        key, _ = resolve_key(client.access_token, None, "bearer")
        return Settings(ON_VERTEX, base, {**key, **headers}, None, account)
    return Settings(ON_VERTEX, base, headers, google_authorize(client.credentials), account)


def read_genai(client: Any) -> Settings:
    """`genai.Client`, for the Gemini API with a key, or for Vertex with credentials or a key."""
    inner = client._api_client  # noqa: SLF001 - settings are nowhere else
    options = inner._http_options  # noqa: SLF001 - the same
    base = base_of(options.base_url)
    headers = check_headers(
        {name: value for name, value in options.headers.items() if name.lower() not in GENAI_HEADERS}
    )
    if inner.api_key or not inner.vertexai:
        key, _ = resolve_key(inner.api_key, None, "x-goog-api-key")
        if inner.vertexai:
            return Settings(frozenset({"vertex"}), base, {**key, **headers}, None, EXPRESS)
        return Settings(frozenset({"google"}), base, {**key, **headers})
    if not inner.project:
        raise BadInput("a genai client for Vertex needs a project, or an API key")
    account = f"{inner.project}/{inner.location}"
    return Settings(ON_VERTEX, base, headers, google_authorize(inner._credentials), account)  # noqa: SLF001 - the same


def google_authorize(credentials: Any) -> Authorize:
    """Authorize with a client's credentials, else with the default credentials."""
    if credentials is None:
        return google.authorize_with(partial(google.default_credentials, os.environ), google.default_key(os.environ))
    return google.authorize_with(lambda: credentials)


def read_groq(client: Any) -> Settings:
    """`Groq`, whose base URL has no `/openai/v1`."""
    key, _ = resolve_key(client.api_key, None, "bearer")
    base = base_of(client.base_url) + ROWS["groq"].prefix
    return Settings(frozenset({"groq"}), base, {**key, **custom_headers(client)})


def read_mistral(client: Any) -> Settings:
    """`Mistral`, whose server URL has no `/v1`."""
    configuration = client.sdk_configuration
    base = base_of(configuration.get_server_details()[0]) + ROWS["mistral"].prefix
    provider = (lambda: configuration.security().api_key) if callable(configuration.security) else None
    key, authorize = resolve_key(getattr(configuration.security, "api_key", None), provider, "bearer")
    return Settings(frozenset({"mistral"}), base, key, authorize)


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


def resolve_key(
    key: str | None, provider: Callable[[], Any] | None, header: KeyHeader
) -> tuple[dict[str, str], Authorize | None]:
    """The header with a key, or a function that makes it for each request. Raises `MissingKey` without a key."""
    if provider is not None:
        return {}, key_from_function(provider, header)
    if not key or not (valid_key := check_key("the client's key", key)):
        raise MissingKey("the client has no key: pass one as an argument, or set a variable")
    return key_header(valid_key, header), None


def key_from_function(provider: Callable[[], Any], header: KeyHeader) -> Authorize:
    """Make the header with a key that a function returns for each request. It may be async, or block."""

    async def authorize(_: HttpRequest) -> dict[str, str]:
        key = await get_credentials(provider, authorize)
        return key_header(check_key("the client's key", str(key)), header)

    return authorize


def base_of(url: object) -> str:
    """A client's base URL without a trailing slash."""
    return check_base("the client's base_url", str(url), "https://host/v1")


def custom_headers(client: Any) -> dict[str, str]:
    """The headers that the user passed to a client, without the SDK's own and omitted ones."""
    return text_headers(getattr(client, "_custom_headers", {}))


def text_headers(headers: Mapping[str, Any]) -> dict[str, str]:
    """The headers whose value is text. Other values mark headers that the SDK omits."""
    return check_headers({name: value for name, value in headers.items() if isinstance(value, str)})
