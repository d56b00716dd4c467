"""`connect` makes an `Exchange` with a target's host, from arguments, variables and the table of hosts."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from functools import partial
from pkgutil import resolve_name

import msgspec

from showandtell.core.capabilities.cells import Api, Target
from showandtell.core.capabilities.google import EXPRESS, in_express_mode
from showandtell.core.wire.http import KEYS_HEADER
from showandtell.errors import MissingKey
from showandtell.network.transport import Transport
from showandtell.providers.auth import (
    check_base,
    check_headers,
    check_key,
    find_variable,
    join_base,
    key_header,
    read_headers,
)
from showandtell.providers.default_model import has_any_key
from showandtell.providers.exchange import Exchange
from showandtell.providers.hosts import Environ, HostRow, find_host, host_of

#: The inspector's `send`. It is imported at its first use, since it is larger than this package.
INSPECTOR = "showandtell.inspector.send:send"
#: The inspector's base URL for each API that is built in, as the vendor's SDK expects it: with /v1 for OpenAI.
BASES: dict[Api, str] = {
    "anthropic-messages": "http://inspector/anthropic",
    "openai-chat": "http://inspector/openai/v1",
    "openai-responses": "http://inspector/openai/v1",
    "gemini": "http://inspector/google",
    "bedrock-converse": "http://inspector/bedrock",
}

#: The default transport. Entering it as a context manager keeps connections open between runs.
TRANSPORT = Transport()


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
        known = {KEYS_HEADER: "yes"} if has_any_key(environ=environ) else {}
        return Exchange(resolve_name(INSPECTOR), inspector_base(target.api), {**known, **check_headers(headers or {})})
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


def inspector_base(api: Api) -> str:
    """The inspector's base URL for an API. That of a package has the API's name as its host."""
    return BASES.get(api, f"http://inspector/{api}")


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
    row = host_of(target.provider)
    return row.by_key if row.by_key is not None and target.account == EXPRESS else row


def locate(
    target: Target, environ: Environ = os.environ, *, base_url: str | None = None, api_key: str | None = None
) -> Target:
    """The target with its account from variables: `project/location` on Vertex, the region on Bedrock, else empty.

    URLs on Vertex contain the account, and rejected files are remembered per account. An account that is already set
    is not changed. Raises `BadInput` for invalid names.
    """
    row = find_host(target.provider)
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
    if (row := find_host(provider)) is None:
        return {}
    return {
        "base_url": (*own_variables(provider), *row.variables),
        "api_key": tuple(dict(row.keys)),
        "headers": own_variables(provider, "HEADERS"),
    }
