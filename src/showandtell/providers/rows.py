"""Hosts as rows: where each is, what its key is called, and how `connect` gets from a target to an `Exchange`."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pkgutil import resolve_name
from typing import TypeAlias

import msgspec

from showandtell.core.capabilities.cells import Api, Target
from showandtell.core.wire.anthropic_messages.render import VERSION
from showandtell.core.wire.http import Authorise
from showandtell.errors import MissingKey
from showandtell.network.transport import Transport
from showandtell.providers import aws, google
from showandtell.providers.auth import Form, check_base, check_headers, check_key, find, join, spell
from showandtell.providers.exchange import Exchange
from showandtell.providers.refusals import Explain, leave_words

#: What answers for the inspector: it is loaded when it is asked, because it is larger than all of this.
INSPECTOR = "showandtell.inspector.send:send"
#: Where the inspector speaks each api, as the SDK of the api's own house takes it: with /v1 for OpenAI.
BASES: dict[Api, str] = {
    "anthropic-messages": "http://inspector/anthropic",
    "openai-chat": "http://inspector/openai/v1",
    "openai-responses": "http://inspector/openai/v1",
    "gemini": "http://inspector/google",
    "bedrock-converse": "http://inspector/bedrock",
}

#: What carries requests where nothing else is said. Whoever holds it open keeps its connections from run to run.
TRANSPORT = Transport()

Environ: TypeAlias = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class HostRow:
    """How a host is reached.

    base: its base URL as its own SDK takes it, or how that follows from the account; empty where everybody has another.
    prefix, drop: what stands between that and the paths of our wire modules, and what they add themselves.
    variables: the SDK's own names for the base URL, behind `SHOWANDTELL_<PROVIDER>_BASE_URL`.
    keys: the variables of keys and how each is sent; the first that is set counts. `form` is an argument's.
    needs_key: whether the host answers nobody without one.
    headers, named: headers that every request has, and those that a variable fills.
    account: finds what tells this account from others, where an address or a signature needs it.
    addressed: whether every address below the base URL names the account.
    authorise: makes headers anew for each request, where no key is given.
    explain: says in plainer words what some of its errors mean. read: makes a URL of what a variable holds.
    """

    base: str | Callable[[str], str]
    variables: tuple[str, ...] = ()
    keys: tuple[tuple[str, Form], ...] = ()
    form: Form = "bearer"
    prefix: str = ""
    drop: str = ""
    needs_key: bool = True
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    named: tuple[tuple[str, str], ...] = ()
    account: Callable[[Environ], str] | None = None
    addressed: bool = False
    authorise: Callable[[str, Environ], Authorise] | None = None
    explain: Explain = leave_words
    read: Callable[[str], str] = str.strip
    example: str = "https://host/v1"


def read_ollama_host(value: str) -> str:
    """Ollama's variable may leave out scheme and port, and 0.0.0.0 is where its server listens, not where it is."""
    if "://" in value:
        return value.strip()
    host, _, port = value.strip().removesuffix("/").partition(":")
    return f"http://{'localhost' if host in {'', '0.0.0.0'} else host}:{port or 11434}"  # noqa: S104 - it is replaced


OPENAI = HostRow(
    "https://api.openai.com/v1",
    ("OPENAI_BASE_URL",),  # openai 3.54
    (("OPENAI_API_KEY", "bearer"),),
    named=(("openai-organization", "OPENAI_ORG_ID"), ("openai-project", "OPENAI_PROJECT_ID")),
)
AZURE = HostRow(
    "",
    ("AZURE_OPENAI_ENDPOINT",),  # openai 3.54; a token goes before a key there, too
    (("AZURE_OPENAI_AD_TOKEN", "bearer"), ("AZURE_OPENAI_API_KEY", "api-key")),
    form="api-key",
    prefix="/openai/v1",
    example="https://resource.openai.azure.com",
)
BEDROCK = HostRow(
    aws.base_of,
    ("AWS_ENDPOINT_URL_BEDROCK_RUNTIME", "AWS_ENDPOINT_URL"),  # botocore 1.44
    (("AWS_BEARER_TOKEN_BEDROCK", "bearer"),),
    account=aws.region_of,
    # A partial would show all of the environment when it is printed.
    authorise=lambda region, environ: aws.authorise_with(lambda: aws.find_credentials(environ), region),
    explain=aws.explain_skew,
    example="https://bedrock-runtime.us-east-1.amazonaws.com",
)
VERTEX = HostRow(
    google.base_of,
    ("GOOGLE_VERTEX_BASE_URL",),  # google-genai 3.4
    account=google.account_of,
    addressed=True,
    authorise=lambda _, environ: google.authorise_with(lambda: google.default_credentials(environ)),
    example="https://aiplatform.googleapis.com",
)
#: A server on this machine, or one that its owner protects or not.
LOCAL = HostRow("http://localhost:8000/v1", needs_key=False, example="http://localhost:8000/v1")

ROWS: dict[str, HostRow] = {
    "anthropic": HostRow(
        "https://api.anthropic.com",
        ("ANTHROPIC_BASE_URL",),  # anthropic 2.12
        (("ANTHROPIC_API_KEY", "x-api-key"), ("ANTHROPIC_AUTH_TOKEN", "bearer")),
        form="x-api-key",
        # The version that our requests are written in: the next one, 2026-10-21, refuses temperature.
        headers={"anthropic-version": VERSION},
        example="https://api.anthropic.com",
    ),
    "anthropic-bedrock": replace(BEDROCK, variables=("ANTHROPIC_BEDROCK_BASE_URL", *BEDROCK.variables)),
    "anthropic-vertex": replace(
        VERTEX,
        variables=("ANTHROPIC_VERTEX_BASE_URL",),  # anthropic 2.12, where it ends in /v1
        drop="/v1",
        account=partial(
            google.account_of,
            projects=("ANTHROPIC_VERTEX_PROJECT_ID", *google.PROJECTS),
            locations=("CLOUD_ML_REGION", *google.LOCATIONS),
        ),
    ),
    "openai": OPENAI,
    "openai-chat": OPENAI,
    "azure": AZURE,
    "azure-chat": AZURE,
    "google": HostRow(
        "https://generativelanguage.googleapis.com",
        ("GOOGLE_GEMINI_BASE_URL",),  # google-genai 3.4, where GOOGLE_API_KEY goes first, too
        (("GOOGLE_API_KEY", "x-goog-api-key"), ("GEMINI_API_KEY", "x-goog-api-key")),
        form="x-goog-api-key",
        example="https://generativelanguage.googleapis.com",
    ),
    "vertex": VERTEX,
    "bedrock": BEDROCK,
    "xai": HostRow("https://api.x.ai/v1", keys=(("XAI_API_KEY", "bearer"),)),
    "groq": HostRow(
        "https://api.groq.com",
        ("GROQ_BASE_URL",),  # groq 1.7
        (("GROQ_API_KEY", "bearer"),),
        prefix="/openai/v1",
        example="https://api.groq.com",
    ),
    "openrouter": HostRow("https://openrouter.ai/api/v1", keys=(("OPENROUTER_API_KEY", "bearer"),)),
    "mistral": HostRow(
        "https://api.mistral.ai",  # mistralai 3.7, which reads no variable for it
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
    # Ollama's client and server read OLLAMA_HOST, which may be no URL (from memory).
    "ollama": replace(
        LOCAL,
        base="http://localhost:11434",
        variables=("OLLAMA_HOST",),
        keys=(("OLLAMA_API_KEY", "bearer"),),
        prefix="/v1",
        read=read_ollama_host,
        example="http://localhost:11434",
    ),
    "vllm": replace(LOCAL, keys=(("VLLM_API_KEY", "bearer"),)),  # vLLM's docs: the server's own variable
    "llamacpp": replace(LOCAL, base="http://localhost:8080/v1", keys=(("LLAMA_API_KEY", "bearer"),)),  # from memory
    "lmstudio": replace(LOCAL, base="http://localhost:1234/v1", keys=(("LM_API_TOKEN", "bearer"),)),  # LM Studio's docs
    "litellm": replace(
        LOCAL,
        base="http://localhost:4000",
        variables=("LITELLM_PROXY_API_BASE",),  # LiteLLM's docs, "LiteLLM Proxy"
        keys=(("LITELLM_PROXY_API_KEY", "bearer"), ("LITELLM_API_KEY", "bearer")),
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
    """The way to a target's host, by arguments, else by variables, else by what its house has always been.

    `base_url` is what the host's own SDK takes; `headers` lie over ours. Raises `MissingKey`, which names the variable
    to set, and `BadInput` for a base URL, key or header that is none, before anything is sent.
    """
    if target.provider == "inspector":
        return Exchange(resolve_name(INSPECTOR), BASES[target.api], {})
    row = ROWS[target.provider]
    account = locate(target, environ).account
    known = {name: value for name, one in row.named if (value := check_key(one, environ.get(one, "")))}
    key_from, key = find_key(row, target.provider, api_key, environ)
    base_from, base = find_base(row, target.provider, account, base_url, environ)
    return Exchange(
        send=(transport or TRANSPORT).send,
        base=base,
        headers={**row.headers, **known, **key, **check_headers(headers or {})},
        authorise=None if key or row.authorise is None else row.authorise(account, environ),
        explain=partial(tell, row=row, provider=target.provider, key_from=key_from, base_from=base_from),
    )


def tell(status: int, words: str, *, row: HostRow, provider: str, key_from: str, base_from: str) -> str:
    """A host's error in plainer words, with where the setting that it may be about came from."""
    words = row.explain(status, words)
    match status:
        case 401 | 403 if key_from:
            return f"{words} (the key is from {key_from})"
        case 404 if base_from:
            return f"{words} (the address is from {base_from})"
        case 0 if not row.needs_key:
            return f"{words}; start it, or set {own_variables(provider)[0]}"
        case _:
            return words


def locate(target: Target, environ: Environ = os.environ) -> Target:
    """The target with its account: `project/location` on Vertex, the region on Bedrock; others have none.

    A Vertex address holds it, and what one account rejects stays apart from others. An account that is there already
    stays; one that no variable names stays empty. Raises `BadInput` for names that can't be any.
    """
    row = ROWS.get(target.provider)
    if target.account or row is None or row.account is None:
        return target
    return msgspec.structs.replace(target, account=row.account(environ))


def find_base(row: HostRow, provider: str, account: str, given: str | None, environ: Environ) -> tuple[str, str]:
    """Who says the base URL (nobody of the usual one), and the base URL as the wire modules take it.

    Raises `BadInput`, or `MissingKey` where nobody says where.
    """
    names = (*own_variables(provider), *row.variables)
    found = ("base_url", given) if given is not None else find(names, environ)
    usual = "" if found and not row.addressed else usual_base(row, account)
    if not (found or usual):
        raise MissingKey(f"{provider} has no common address: set {names[-1]}, as in {row.example}")
    source, value = found or ("the usual base URL", usual)
    asked = source if (given is not None or environ.get(source, "").strip()) else ""
    return asked, join(check_base(source, row.read(value), row.example), row.prefix, row.drop)


def usual_base(row: HostRow, account: str) -> str:
    """Where the house has always been; empty where everybody has another address."""
    return row.base(account) if callable(row.base) else row.base


def find_key(row: HostRow, provider: str, given: str | None, environ: Environ) -> tuple[str, dict[str, str]]:
    """Who says the key, and the key as a header; none where the host asks for none, or each request is authorised."""
    forms = dict(row.keys)
    found = ("api_key", given) if given is not None else find(tuple(forms), environ)
    if found is not None and (key := check_key(*found)):
        return found[0], spell(key, forms.get(found[0], row.form))
    if row.needs_key and row.authorise is None:
        usual_first = sorted(forms, key=lambda name: forms[name] != row.form)
        raise MissingKey(
            f"{provider} needs a key: set {' or '.join(usual_first)}, or ask the model inspector, which needs none"
        )
    return "", {}


def own_variables(provider: str) -> tuple[str, ...]:
    """Our names for a provider's base URL; `openai-chat` goes where `openai` goes unless it has its own."""
    names = dict.fromkeys((provider, provider.removesuffix("-chat")))
    return tuple(f"SHOWANDTELL_{name.upper().replace('-', '_')}_BASE_URL" for name in names)
