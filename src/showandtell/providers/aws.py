"""Bedrock: regions, credentials from botocore's chain (the extra `bedrock`), and signatures of streamed bodies.

Requests are signed here, since botocore logs what it signs, including session tokens.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import re
from collections.abc import Awaitable, Callable, Hashable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import lru_cache, reduce
from importlib import import_module
from typing import Any
from urllib.parse import quote, urlsplit

from showandtell.core.wire.http import HttpRequest
from showandtell.errors import BadInput, MissingKey, ProviderUnavailable
from showandtell.installation import ADVICE
from showandtell.providers.auth import check_key, find_variable
from showandtell.providers.credentials import get_credentials

#: Service name in signatures (botocore 1.44: signingName of bedrock-runtime).
SERVICE = "bedrock"
REGION_VARIABLES = ("AWS_REGION", "AWS_DEFAULT_REGION")
REGION = re.compile(r"[a-z0-9-]+")
#: AWS's error texts for a wrong clock.
CLOCK_SKEW = re.compile(r"Signature (expired|not yet current)|RequestTimeTooSkewed|RequestExpired")
PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True)
class Credentials:
    """An access key, its secret, and a session token for temporary credentials."""

    access_key: str
    secret_key: str = field(repr=False)
    token: str = field(default="", repr=False)


def region_of(environ: Mapping[str, str]) -> str:
    """The region from variables or AWS's own files; empty if none is set. Raises `BadInput` for an invalid one."""
    source, region = find_variable(REGION_VARIABLES, environ) or ("the AWS profile", configured_region(environ))
    if region and not REGION.fullmatch(region):
        raise BadInput(f"{source} is {region!r}, which is not an AWS region: use one like us-east-1")
    return region


def configured_region(environ: Mapping[str, str]) -> str:
    """The region of the current profile; empty if botocore isn't installed. Raises `BadInput`."""
    try:
        session, errors = session_of(environ), import_module("botocore.exceptions")
    except ImportError:
        return ""
    try:
        return session.get_config_variable("region") or ""
    except errors.BotoCoreError as error:
        raise BadInput(f"the AWS configuration can't be used: {type(error).__name__}") from None


def base_of(region: str) -> str:
    """The base URL of a region. Raises `MissingKey` for an empty one."""
    return f"https://bedrock-runtime.{check_region(region)}.amazonaws.com"


def check_region(region: str) -> str:
    """The region. Raises `MissingKey` if it is empty."""
    if not region:
        raise MissingKey("Bedrock needs your region: set AWS_REGION, for example to us-east-1")
    return region


def authorize_with(
    load: Callable[[], Credentials], region: str, key: Hashable = None
) -> Callable[[HttpRequest], Awaitable[dict[str, str]]]:
    """A function that signs requests. `load` returns the credentials and may block.

    Requests with the same `key`, by default `load`, share a renewal.
    """
    check_region(region)

    async def authorize(request: HttpRequest) -> dict[str, str]:
        credentials: Credentials = await get_credentials(load, load if key is None else key)
        digest = await hash_body(request)
        kind = request.headers.get("content-type", "application/json")
        return sign(request.url, kind, digest, credentials=credentials, region=region, now=datetime.now(UTC))

    return authorize


async def hash_body(request: HttpRequest) -> str:
    """The sha256 of a body in hex. Yields to the event loop between chunks."""
    digest = hashlib.sha256()
    async for chunk in request.body():
        digest.update(chunk)
        await asyncio.sleep(0)  # a body in memory never waits by itself
    return digest.hexdigest()


def sign(
    url: str, content_type: str, digest: str, *, credentials: Credentials, region: str, now: datetime
) -> dict[str, str]:
    """The headers with AWS's Signature Version 4 of a POST. `digest` is the body's sha256 in hex."""
    moment = now.strftime("%Y%m%dT%H%M%SZ")
    dated = {"x-amz-date": moment, **({"x-amz-security-token": credentials.token} if credentials.token else {})}
    headers = {"content-type": content_type, "host": host_of(url), **dated}
    names = ";".join(sorted(headers))
    parts = urlsplit(url)
    canonical = "\n".join(
        (
            "POST",
            quote(parts.path or "/", safe="/~"),  # a percent-encoded path is encoded again
            "&".join(sorted(parts.query.split("&"))),
            *(f"{name}:{' '.join(headers[name].split())}" for name in sorted(headers)),
            "",
            names,
            digest,
        )
    )
    steps = (moment[:8], region, SERVICE, "aws4_request")
    scope = "/".join(steps)
    text = "\n".join(("AWS4-HMAC-SHA256", moment, scope, hashlib.sha256(canonical.encode()).hexdigest()))
    key = reduce(_digest, steps, f"AWS4{credentials.secret_key}".encode())
    fields = f"Credential={credentials.access_key}/{scope}, SignedHeaders={names}, Signature={_digest(key, text).hex()}"
    return {**dated, "authorization": f"AWS4-HMAC-SHA256 {fields}"}


def _digest(key: bytes, text: str) -> bytes:
    return hmac.digest(key, text.encode(), "sha256")


def host_of(url: str) -> str:
    """A URL's host as in the Host header: with the port unless it is the scheme's default."""
    parts = urlsplit(url)
    host = (parts.hostname or "") if ":" not in (parts.hostname or "") else f"[{parts.hostname}]"
    return host if parts.port in {None, PORTS[parts.scheme]} else f"{host}:{parts.port}"


def find_credentials(environ: Mapping[str, str]) -> Credentials:
    """Credentials from variables, else from botocore's chain: profiles, roles, the machine's own. May block.

    Raises `MissingKey` if there are none or botocore isn't installed, and `ProviderUnavailable` if renewal fails.
    """
    access, secret = environ.get("AWS_ACCESS_KEY_ID"), environ.get("AWS_SECRET_ACCESS_KEY")
    if access and secret:
        token = environ.get("AWS_SESSION_TOKEN", "")
        return Credentials(
            check_key("AWS_ACCESS_KEY_ID", access),
            check_key("AWS_SECRET_ACCESS_KEY", secret),
            check_key("AWS_SESSION_TOKEN", token),
        )
    return freeze(chain(environ))


def chain(environ: Mapping[str, str], profile: str | None = None) -> Any:
    """The chain's self-renewing credentials. Raises `MissingKey`, also if botocore isn't installed."""
    advice = "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_BEARER_TOKEN_BEDROCK"
    try:
        session, errors = session_of(environ, profile), import_module("botocore.exceptions")
    except ImportError:
        advice += f"; profiles and roles need botocore, of showandtell[bedrock]: {ADVICE}"
        raise MissingKey(f"Bedrock needs a key: {advice}") from None
    try:
        credentials = session.get_credentials()
    except errors.BotoCoreError as error:
        raise MissingKey(f"the AWS credentials can't be used ({type(error).__name__}): {advice}") from None
    if credentials is None:
        raise MissingKey(f"Bedrock needs a key: {advice}, or log in to an AWS profile")
    return credentials


def freeze(credentials: Any) -> Credentials:
    """The current values of the chain's credentials. Blocks during renewal. Raises `ProviderUnavailable`."""
    errors = import_module("botocore.exceptions")
    try:
        now = credentials.get_frozen_credentials()
    except (errors.BotoCoreError, errors.ClientError, OSError) as error:
        raise ProviderUnavailable(f"AWS credentials can't be renewed: {type(error).__name__}") from None
    return Credentials(now.access_key, now.secret_key, now.token or "")


def session_of(environ: Mapping[str, str], profile: str | None = None) -> Any:
    """A cached botocore session. It reads the process's environment. Raises `ImportError` without botocore."""
    return _session(variables_in(environ), profile)


def variables_in(environ: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    """AWS's variables, which identify the credentials of an environment."""
    return tuple(sorted((name, value) for name, value in environ.items() if name.startswith("AWS_")))


@lru_cache(maxsize=4)
def _session(_: tuple[tuple[str, str], ...], profile: str | None) -> Any:
    return import_module("botocore.session").Session(profile=profile)


def explain_skew(_: int, text: str) -> str:
    """Explain AWS's errors about a wrong clock. Returns any other text as it is."""
    return (
        f"the clock of this machine is wrong, so AWS rejects its signatures: {text}"
        if CLOCK_SKEW.search(text)
        else text
    )
