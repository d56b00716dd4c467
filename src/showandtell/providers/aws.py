"""Bedrock: regions, credentials by botocore's chain (the extra `bedrock`), and signatures over a streamed body.

Signing is our own, since botocore writes what it signs, session tokens included, into its log.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import lru_cache, reduce
from importlib import import_module
from typing import Any
from urllib.parse import quote, urlsplit

from showandtell.core.wire.http import HttpRequest
from showandtell.errors import BadInput, MissingKey, ProviderUnavailable
from showandtell.providers.auth import check_key, find

#: What Bedrock's runtime is signed as (botocore 1.44: signingName of bedrock-runtime).
SERVICE = "bedrock"
REGIONS = ("AWS_REGION", "AWS_DEFAULT_REGION")
REGION = re.compile(r"[a-z0-9-]+")
#: How AWS says that a signature's time is not its own.
SKEWED = re.compile(r"Signature (expired|not yet current)|RequestTimeTooSkewed|RequestExpired")
PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True)
class Credentials:
    """An access key, its secret, and the token of a session that expires, where it is one."""

    access_key: str
    secret_key: str = field(repr=False)
    token: str = field(default="", repr=False)


def region_of(environ: Mapping[str, str]) -> str:
    """The region that variables or AWS's own files name; empty where none does. Raises `BadInput` for no region."""
    source, region = find(REGIONS, environ) or ("the AWS profile", configured_region(environ))
    if region and not REGION.fullmatch(region):
        raise BadInput(f"{source} holds {region!r}, which is no region of AWS: write it as in us-east-1")
    return region


def configured_region(environ: Mapping[str, str]) -> str:
    """The region of the profile in use; empty where botocore isn't installed. Raises `BadInput`."""
    try:
        session, errors = session_of(environ), import_module("botocore.exceptions")
    except ImportError:
        return ""
    try:
        return session.get_config_variable("region") or ""
    except errors.BotoCoreError as error:
        raise BadInput(f"AWS's own settings can't be used: {type(error).__name__}") from None


def base_of(region: str) -> str:
    """The host of a region. Raises `MissingKey` without one."""
    return f"https://bedrock-runtime.{check_region(region)}.amazonaws.com"


def check_region(region: str) -> str:
    """A region that is known. Raises `MissingKey`."""
    if not region:
        raise MissingKey("Bedrock needs to know your region: set AWS_REGION, as in us-east-1")
    return region


def authorise_with(load: Callable[[], Credentials], region: str) -> Callable[[HttpRequest], Awaitable[dict[str, str]]]:
    """Headers with a signature over the request; `load` gives the credentials, and may block."""
    check_region(region)

    async def authorise(request: HttpRequest) -> dict[str, str]:
        credentials = await asyncio.to_thread(load)
        digest = await hash_body(request)
        kind = request.headers.get("content-type", "application/json")
        return sign(request.url, kind, digest, credentials=credentials, region=region, now=datetime.now(UTC))

    return authorise


async def hash_body(request: HttpRequest) -> str:
    """A body's sha256, over its pieces; between them others have their turn."""
    digest = hashlib.sha256()
    async for piece in request.body():
        digest.update(piece)
        await asyncio.sleep(0)  # pieces that lie in memory don't wait for anything by themselves
    return digest.hexdigest()


def sign(
    url: str, content_type: str, digest: str, *, credentials: Credentials, region: str, now: datetime
) -> dict[str, str]:
    """AWS's Signature Version 4 of a POST, as headers; `digest` is the body's sha256."""
    moment = now.strftime("%Y%m%dT%H%M%SZ")
    dated = {"x-amz-date": moment, **({"x-amz-security-token": credentials.token} if credentials.token else {})}
    headers = {"content-type": content_type, "host": host_of(url), **dated}
    names = ";".join(sorted(headers))
    parts = urlsplit(url)
    canonical = "\n".join(
        (
            "POST",
            quote(parts.path or "/", safe="/~"),  # a path that is percent-encoded already is so once more
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
    said = f"Credential={credentials.access_key}/{scope}, SignedHeaders={names}, Signature={_digest(key, text).hex()}"
    return {**dated, "authorization": f"AWS4-HMAC-SHA256 {said}"}


def _digest(key: bytes, text: str) -> bytes:
    return hmac.digest(key, text.encode(), "sha256")


def host_of(url: str) -> str:
    """A host as an HTTP client names it: with its port where that isn't the scheme's own."""
    parts = urlsplit(url)
    host = (parts.hostname or "") if ":" not in (parts.hostname or "") else f"[{parts.hostname}]"
    return host if parts.port in {None, PORTS[parts.scheme]} else f"{host}:{parts.port}"


def find_credentials(environ: Mapping[str, str]) -> Credentials:
    """Keys from variables, else what botocore's chain finds: profiles, roles, the machine's own. May block.

    Raises `MissingKey` where there are none, and `ProviderUnavailable` where only botocore could find some and isn't
    installed.
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
    """The chain's credentials, which renew themselves. Raises `MissingKey`, also where botocore would be needed."""
    advice = "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_BEARER_TOKEN_BEDROCK"
    try:
        session, errors = session_of(environ, profile), import_module("botocore.exceptions")
    except ImportError:
        advice += "; profiles and roles need botocore: pip install 'showandtell[bedrock]'"
        raise MissingKey(f"Bedrock needs a key: {advice}") from None
    try:
        found = session.get_credentials()
    except errors.BotoCoreError as error:
        raise MissingKey(f"AWS's credentials can't be used ({type(error).__name__}): {advice}") from None
    if found is None:
        raise MissingKey(f"Bedrock needs a key: {advice}, or log in to an AWS profile")
    return found


def freeze(credentials: Any) -> Credentials:
    """The chain's credentials as they are now. Blocks where they are renewed. Raises `ProviderUnavailable`."""
    errors = import_module("botocore.exceptions")
    try:
        now = credentials.get_frozen_credentials()
    except (errors.BotoCoreError, errors.ClientError, OSError) as error:
        raise ProviderUnavailable(f"AWS credentials can't be renewed: {type(error).__name__}") from None
    return Credentials(now.access_key, now.secret_key, now.token or "")


def session_of(environ: Mapping[str, str], profile: str | None = None) -> Any:
    """A session of botocore, which reads the process's own environment. Raises `ImportError` without botocore."""
    seen = tuple(sorted((name, value) for name, value in environ.items() if name.startswith("AWS_")))
    return _session(seen, profile)


@lru_cache(maxsize=4)
def _session(_: tuple[tuple[str, str], ...], profile: str | None) -> Any:
    return import_module("botocore.session").Session(profile=profile)


def explain_skew(_: int, text: str) -> str:
    """What to say of an error of AWS that is about time; the words of any other as they are."""
    return f"the clock of this machine is off, so AWS takes no signature of it: {text}" if SKEWED.search(text) else text
