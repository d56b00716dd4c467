"""The hosts of the table and of registered providers: base URLs, variables of keys, and what is special about each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TypeAlias

from showandtell.core.capabilities.provider import BEARER, KeyHeader, Provider
from showandtell.core.capabilities.registry import find_provider, registered
from showandtell.core.wire.anthropic_messages.render import VERSION
from showandtell.core.wire.http import Authorize
from showandtell.providers import aws, google, modality_sources
from showandtell.providers.modality_sources import ModalitySource
from showandtell.providers.refusals import Explain, unexplained

Environ: TypeAlias = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class HostRow:
    """How to reach a host.

    base: the base URL as the host's own SDK expects it, or a function from the account to it; empty if each account
    has its own.
    prefix, drop: what to add between the base URL and the paths of our wire modules, and a suffix that these add.
    variables: the SDK's variables for the base URL, tried after `SHOWANDTELL_<PROVIDER>_BASE_URL`.
    keys: the variables of keys and the header for each; the first that is set counts.
    key_header: the header for a key that is passed as an argument.
    needs_key: whether the host requires a key.
    headers, header_variables: headers of every request, and headers with the variables that fill them.
    account: finds the account, if URLs or signatures contain it.
    account_in_url: whether every URL contains the account.
    authorize: makes headers for each request, if no key is set.
    by_key: the row for requests with an API key instead of an account.
    explain: makes some of the host's error texts clearer. read: makes a base URL of a variable's value.
    openai_client: whether OpenAI's own SDK can reach the host.
    modalities: the host's endpoints that tell what kinds of files a model takes, in the order in which they are asked.
    """

    base: str | Callable[[str], str]
    variables: tuple[str, ...] = ()
    keys: tuple[tuple[str, KeyHeader], ...] = ()
    key_header: KeyHeader = "bearer"
    prefix: str = ""
    drop: str = ""
    needs_key: bool = True
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    header_variables: tuple[tuple[str, str], ...] = ()
    account: Callable[[Environ], str] | None = None
    account_in_url: bool = False
    authorize: Callable[[str, Environ], Authorize] | None = None
    by_key: HostRow | None = None
    explain: Explain = unexplained
    read: Callable[[str], str] = str.strip
    example: str = "https://host/v1"
    openai_client: bool = True
    modalities: tuple[ModalitySource, ...] = ()


def read_ollama_host(value: str) -> str:
    """Complete Ollama's variable, which may lack scheme and port. Replaces 0.0.0.0, the server's listen address."""
    if "://" in value:
        return value.strip()
    host, _, port = value.strip().removesuffix("/").partition(":")
    return f"http://{'localhost' if host in {'', '0.0.0.0'} else host}:{port or 11434}"  # noqa: S104 - it is replaced


#: Headers that an API needs on every host of its own. That of Claude is the version that our requests follow: the next
#: one, 2026-10-21, rejects temperature.
API_HEADERS = {"anthropic-messages": {"anthropic-version": VERSION}}

OPENAI = HostRow(
    "https://api.openai.com/v1",
    ("OPENAI_BASE_URL",),  # openai 3.54
    (("OPENAI_API_KEY", "bearer"),),
    header_variables=(("openai-organization", "OPENAI_ORG_ID"), ("openai-project", "OPENAI_PROJECT_ID")),
)
AZURE = HostRow(
    "",
    ("AZURE_OPENAI_ENDPOINT",),  # openai 3.54, where a token takes precedence over a key, too
    (("AZURE_OPENAI_AD_TOKEN", "bearer"), ("AZURE_OPENAI_API_KEY", "api-key")),
    key_header="api-key",
    prefix="/openai/v1",
    example="https://resource.openai.azure.com",
)
BEDROCK = HostRow(
    aws.base_of,
    ("AWS_ENDPOINT_URL_BEDROCK_RUNTIME", "AWS_ENDPOINT_URL"),  # botocore 1.44
    (("AWS_BEARER_TOKEN_BEDROCK", "bearer"),),
    account=aws.region_of,
    # Not a partial, which would show the complete environment when printed.
    authorize=lambda region, environ: aws.authorize_with(
        lambda: aws.find_credentials(environ), region, aws.variables_in(environ)
    ),
    explain=aws.explain_skew,
    openai_client=False,
    example="https://bedrock-runtime.us-east-1.amazonaws.com",
)
VERTEX = HostRow(
    google.base_of,
    ("GOOGLE_VERTEX_BASE_URL",),  # google-genai 3.4
    account=google.account_of,
    account_in_url=True,
    authorize=lambda _, environ: google.authorize_with(
        lambda: google.default_credentials(environ), google.default_key(environ)
    ),
    example="https://aiplatform.googleapis.com",
    openai_client=False,
)
#: Express mode: the same host with a key, and without project and location (google-genai 3.4).
VERTEX_BY_KEY = replace(
    VERTEX, keys=(("GOOGLE_API_KEY", "x-goog-api-key"),), key_header="x-goog-api-key", authorize=None
)
#: A self-hosted server, which may or may not require a key.
LOCAL = HostRow("http://localhost:8000/v1", needs_key=False, example="http://localhost:8000/v1")

ROWS: dict[str, HostRow] = {
    "anthropic": HostRow(
        "https://api.anthropic.com",
        ("ANTHROPIC_BASE_URL",),  # anthropic 2.12
        (("ANTHROPIC_API_KEY", "x-api-key"), ("ANTHROPIC_AUTH_TOKEN", "bearer")),
        key_header="x-api-key",
        headers=API_HEADERS["anthropic-messages"],
        example="https://api.anthropic.com",
        openai_client=False,
    ),
    "anthropic-bedrock": replace(BEDROCK, variables=("ANTHROPIC_BEDROCK_BASE_URL", *BEDROCK.variables)),
    "anthropic-vertex": replace(
        VERTEX,
        variables=("ANTHROPIC_VERTEX_BASE_URL",),  # anthropic 2.12, where it ends in /v1
        drop="/v1",
        account=partial(
            google.account_of,
            projects=("ANTHROPIC_VERTEX_PROJECT_ID", *google.PROJECT_VARIABLES),
            locations=("CLOUD_ML_REGION", *google.LOCATION_VARIABLES),
        ),
    ),
    "openai": OPENAI,
    "openai-chat": OPENAI,
    "azure": AZURE,
    "azure-chat": AZURE,
    "google": HostRow(
        "https://generativelanguage.googleapis.com",
        ("GOOGLE_GEMINI_BASE_URL",),  # google-genai 3.4, where GOOGLE_API_KEY takes precedence, too
        (("GOOGLE_API_KEY", "x-goog-api-key"), ("GEMINI_API_KEY", "x-goog-api-key")),
        key_header="x-goog-api-key",
        example="https://generativelanguage.googleapis.com",
        openai_client=False,
    ),
    "vertex": replace(VERTEX, by_key=VERTEX_BY_KEY),
    "bedrock": BEDROCK,
    "xai": HostRow("https://api.x.ai/v1", keys=(("XAI_API_KEY", "bearer"),)),
    "groq": HostRow(
        "https://api.groq.com",
        ("GROQ_BASE_URL",),  # groq 1.7
        (("GROQ_API_KEY", "bearer"),),
        prefix="/openai/v1",
        example="https://api.groq.com",
    ),
    "openrouter": HostRow(
        "https://openrouter.ai/api/v1",
        keys=(("OPENROUTER_API_KEY", "bearer"),),
        modalities=modality_sources.OPENROUTER,
    ),
    "mistral": HostRow(
        "https://api.mistral.ai",  # mistralai 3.7, which has no variable for it
        keys=(("MISTRAL_API_KEY", "bearer"),),
        prefix="/v1",
        example="https://api.mistral.ai",
    ),
    "cohere": HostRow(
        "https://api.cohere.ai",
        ("CO_API_URL",),  # Cohere's Python client
        (("CO_API_KEY", "bearer"),),
        prefix="/compatibility/v1",
        example="https://api.cohere.ai",
    ),
    # Ollama's client and server read OLLAMA_HOST, which may lack a scheme (from memory).
    "ollama": replace(
        LOCAL,
        base="http://localhost:11434",
        variables=("OLLAMA_HOST",),
        keys=(("OLLAMA_API_KEY", "bearer"),),
        prefix="/v1",
        read=read_ollama_host,
        modalities=modality_sources.OLLAMA,
        example="http://localhost:11434",
    ),
    "vllm": replace(
        LOCAL,
        keys=(("VLLM_API_KEY", "bearer"),),  # vLLM's docs: the server's own variable
        modalities=modality_sources.LISTED,
    ),
    "llamacpp": replace(
        LOCAL,
        base="http://localhost:8080/v1",
        keys=(("LLAMA_API_KEY", "bearer"),),  # from memory
        modalities=modality_sources.LLAMACPP,
    ),
    "lmstudio": replace(
        LOCAL,
        base="http://localhost:1234/v1",
        keys=(("LM_API_TOKEN", "bearer"),),  # LM Studio's docs
        modalities=modality_sources.LMSTUDIO,
    ),
    "litellm": replace(
        LOCAL,
        base="http://localhost:4000",
        variables=("LITELLM_PROXY_API_BASE",),  # LiteLLM's docs, "LiteLLM Proxy"
        keys=(("LITELLM_PROXY_API_KEY", "bearer"), ("LITELLM_API_KEY", "bearer")),
        modalities=modality_sources.LITELLM,
        example="http://localhost:4000",
    ),
}


#: Providers that share the key of another one, because they are the same host.
SAME_KEY: Mapping[str, str] = {
    "openai-chat": "openai",
    "azure-chat": "azure",
    "anthropic-bedrock": "bedrock",
}


def key_provider(provider: str) -> str:
    """The provider whose key a provider uses."""
    return SAME_KEY.get(provider, provider)


def find_host(provider: str) -> HostRow | None:
    """How to reach a provider's host; None for the inspector and for an unknown provider."""
    if row := ROWS.get(provider):
        return row
    known = find_provider(provider)
    return None if known is None else make_row(known)


def host_of(provider: str) -> HostRow:
    """How to reach the host of a known provider."""
    return ROWS.get(provider) or make_row(registered()[provider])


def all_hosts() -> dict[str, HostRow]:
    """How to reach each provider's host, by the provider's name."""
    return ROWS | {name: make_row(provider) for name, provider in registered().items()}


def keyed_providers() -> tuple[str, ...]:
    """The providers whose keys can be stored: those that take one, each under one name."""
    return tuple(name for name, row in all_hosts().items() if row.keys and name not in SAME_KEY)


def needs_no_key(provider: str) -> bool:
    """Whether a host answers without a key, as local servers do."""
    host = find_host(provider)
    return host is not None and not host.needs_key


def make_row(provider: Provider) -> HostRow:
    """The host of a registered provider."""
    key = provider.auth
    return HostRow(
        provider.base_url,
        keys=() if key is None else ((key.variable, key.header),),
        key_header=BEARER if key is None else key.header,
        needs_key=key is not None and key.required,
        headers=API_HEADERS.get(provider.api, {}) | {name.lower(): value for name, value in provider.headers.items()},
        example=provider.base_url,
        openai_client=provider.api in {"openai-chat", "openai-responses"},
    )
