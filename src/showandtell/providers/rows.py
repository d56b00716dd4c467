"""A table of hosts: base URLs, variables of keys, and `connect`, which makes an `Exchange` for a target."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pkgutil import resolve_name
from typing import TypeAlias

import msgspec

from showandtell.core.capabilities.cells import Api, Target
from showandtell.core.capabilities.google import EXPRESS, in_express_mode
from showandtell.core.wire.anthropic_messages.render import VERSION
from showandtell.core.wire.http import Authorize
from showandtell.errors import MissingKey
from showandtell.network.transport import Transport
from showandtell.providers import aws, google, modality_sources
from showandtell.providers.auth import (
    KeyHeader,
    check_base,
    check_headers,
    check_key,
    find_variable,
    join_base,
    key_header,
    read_headers,
)
from showandtell.providers.exchange import Exchange
from showandtell.providers.modality_sources import ModalitySource
from showandtell.providers.refusals import Explain, unexplained

#: The inspector's `send`. It is imported at its first use, since it is larger than this package.
INSPECTOR = "showandtell.inspector.send:send"
#: The inspector's base URL for each API, as the vendor's SDK expects it: with /v1 for OpenAI.
BASES: dict[Api, str] = {
    "anthropic-messages": "http://inspector/anthropic",
    "openai-chat": "http://inspector/openai/v1",
    "openai-responses": "http://inspector/openai/v1",
    "gemini": "http://inspector/google",
    "bedrock-converse": "http://inspector/bedrock",
}

#: The default transport. Entering it as a context manager keeps connections open between runs.
TRANSPORT = Transport()

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
        # The version that our requests follow. The next one, 2026-10-21, rejects temperature.
        headers={"anthropic-version": VERSION},
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


def connect(
    target: Target,
    *,
    base_url: str | None = None,
    api_key: str | None = None,
    headers: Mapping[str, str] | None = None,
    transport: Transport | None = None,
    environ: Environ = os.environ,
) -> Exchange:
    """The exchange with a target's host, by arguments, else by variables, else by the host's defaults.

    `base_url` is as the host's own SDK expects it. `headers` replace default headers. Raises, before anything is sent,
    `MissingKey`, which names the variable to set, and `BadInput` for an invalid base URL, key or header.
    """
    if target.provider == "inspector":
        return Exchange(resolve_name(INSPECTOR), BASES[target.api], {})
    target = locate(target, environ, base_url=base_url, api_key=api_key)
    account = target.account
    row = row_of(target)
    from_variables = {
        header: value
        for header, variable in row.header_variables
        if (value := check_key(variable, environ.get(variable, "")))
    }
    key_from, key = find_key(row, target.provider, api_key, environ)
    base_from, base = find_base(row, target.provider, account, base_url, environ)
    # They often hold a gateway's key, which no other host may get.
    more = read_headers(own_variables(target.provider, "HEADERS"), environ) if base_url is None else {}
    return Exchange(
        send=(transport or TRANSPORT).send,
        base=base,
        headers={**row.headers, **from_variables, **key, **more, **check_headers(headers or {})},
        authorize=None if key or row.authorize is None else row.authorize(account, environ),
        explain=partial(explain_error, row=row, provider=target.provider, key_from=key_from, base_from=base_from),
    )


def explain_error(status: int, message: str, *, row: HostRow, provider: str, key_from: str, base_from: str) -> str:
    """Make a host's error text clearer, and add the source of the setting that caused it."""
    message = row.explain(status, message)
    match status:
        case 401 | 403 if key_from:
            return f"{message} (the key is from {key_from})"
        case 404 if base_from:
            return f"{message} (the base URL is from {base_from})"
        case 0 if not row.needs_key:
            return f"{message}; start it, or set {own_variables(provider)[0]}"
        case _:
            return message


def row_of(target: Target) -> HostRow:
    """The row of a target's host."""
    row = ROWS[target.provider]
    return row.by_key if row.by_key is not None and target.account == EXPRESS else row


def locate(
    target: Target, environ: Environ = os.environ, *, base_url: str | None = None, api_key: str | None = None
) -> Target:
    """The target with its account from variables: `project/location` on Vertex, the region on Bedrock, else empty.

    URLs on Vertex contain the account, and rejected files are remembered per account. An account that is already set
    is not changed. Raises `BadInput` for invalid names.
    """
    row = ROWS.get(target.provider)
    if target.account or row is None or row.account is None:
        return target
    account = row.account(environ)
    # As in google-genai, a key that is passed takes precedence over the environment's account, and that one over the
    # environment's key. Behind another base URL, a key that is passed may be a gateway's own, so the account stays.
    if row.by_key is not None:
        base = base_url or find_variable((*own_variables(target.provider), *row.variables), environ)
        found = find_variable([name for name, _ in row.by_key.keys], environ) if api_key is None else api_key
        if (api_key and not base) if account else found:
            return in_express_mode(target)
    return msgspec.structs.replace(target, account=account)


def find_base(row: HostRow, provider: str, account: str, argument: str | None, environ: Environ) -> tuple[str, str]:
    """The source of the base URL (empty for the default), and the base URL for the wire modules.

    Raises `BadInput` for an invalid one, and `MissingKey` if there is none.
    """
    variables = (*own_variables(provider), *row.variables)
    setting = ("base_url", argument) if argument is not None else find_variable(variables, environ)
    default = "" if setting and not row.account_in_url else default_base(row, account)
    if not (setting or default):
        raise MissingKey(f"{provider} has no default base URL: set {variables[-1]}, for example to {row.example}")
    source, value = setting or ("the default base URL", default)
    named_source = source if (argument is not None or environ.get(source, "").strip()) else ""
    return named_source, join_base(check_base(source, row.read(value), row.example), row.prefix, row.drop)


def default_base(row: HostRow, account: str) -> str:
    """The host's default base URL; empty if each account has its own."""
    return row.base(account) if callable(row.base) else row.base


def find_key(row: HostRow, provider: str, argument: str | None, environ: Environ) -> tuple[str, dict[str, str]]:
    """The source of the key, and its header; both empty if no key is needed, or each request is authorized."""
    headers = dict(row.keys)
    setting = ("api_key", argument) if argument is not None else find_variable(tuple(headers), environ)
    if setting is not None and (key := check_key(*setting)):
        return setting[0], key_header(key, headers.get(setting[0], row.key_header))
    if row.needs_key and row.authorize is None:
        preferred_first = sorted(headers, key=lambda name: headers[name] != row.key_header)
        raise MissingKey(
            f"{provider} needs a key: set {' or '.join(preferred_first)}, or use the model inspector, which needs none"
        )
    return "", {}


def own_variables(provider: str, name: str = "BASE_URL") -> tuple[str, ...]:
    """Our variables for a provider's base URL or headers. `openai-chat` falls back to the variable of `openai`."""
    providers = dict.fromkeys((provider, provider.removesuffix("-chat")))
    return tuple(f"SHOWANDTELL_{prefix.upper().replace('-', '_')}_{name}" for prefix in providers)


def variables_of(provider: str) -> dict[str, Sequence[str]]:
    """All variables for a provider's base URL, key and headers; the first that is set counts."""
    if (row := ROWS.get(provider)) is None:
        return {}
    return {
        "base_url": (*own_variables(provider), *row.variables),
        "api_key": tuple(dict(row.keys)),
        "headers": own_variables(provider, "HEADERS"),
    }
