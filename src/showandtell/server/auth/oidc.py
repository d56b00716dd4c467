"""Accounts of an OpenID Connect issuer: its settings, what it publishes, and whose its tokens are."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from ipaddress import ip_address
from typing import Any, Final
from urllib.parse import urlsplit

from joserfc.jwk import Key
from msgspec import Struct, ValidationError, convert

from showandtell.core.wire.http import Send
from showandtell.errors import BadInput
from showandtell.providers.uploads import Parcel
from showandtell.server.auth import tokens
from showandtell.server.auth.authenticate import LoginUnavailable
from showandtell.server.auth.cached_fetch import Fetched, fetch_json

PREFIX: Final = "SHOWANDTELL_OIDC_"
DISCOVERY: Final = "/.well-known/openid-configuration"


@dataclass(frozen=True, slots=True)
class Oidc:
    """The issuer, and what it knows this server as. Without a secret this is a public client; PKCE is used always.

    `audience` is what bearer tokens must be made for: where it isn't named, the client.
    """

    issuer: str
    client_id: str
    client_secret: str | None = field(default=None, repr=False)
    audience: str | None = None
    scopes: str = "openid"


def read_oidc(environ: Mapping[str, str] = os.environ) -> Oidc | None:
    """What `SHOWANDTELL_OIDC_ISSUER`, `_CLIENT_ID`, `_CLIENT_SECRET`, `_AUDIENCE` and `_SCOPES` say; None: no accounts.

    Raises `BadInput` where something is missing, or an issuer could be overheard.
    """
    names = ("ISSUER", "CLIENT_ID", "CLIENT_SECRET", "AUDIENCE", "SCOPES")
    issuer, client, secret, audience, scopes = (environ.get(PREFIX + name, "").strip() for name in names)
    if not issuer and not client:
        return None
    if not issuer or not client:
        raise BadInput(f"{PREFIX}{'CLIENT_ID' if issuer else 'ISSUER'} is missing: accounts need both")
    if not is_safe(issuer) or urlsplit(issuer).query or urlsplit(issuer).fragment:
        raise BadInput(
            f"{PREFIX}ISSUER is {issuer!r:.200}: it must begin with https:// (http:// on this machine alone)"
        )
    return Oidc(
        issuer, client, secret or None, audience or None, " ".join({"openid": 0} | dict.fromkeys(scopes.split()))
    )


def is_safe(url: object) -> bool:
    """Whether an address can't be overheard: https, or this very machine."""
    try:
        parts = urlsplit(url if isinstance(url, str) else "")
        host = parts.hostname or ""
        return (
            bool(host) and parts.port != 0 and (parts.scheme == "https" or (parts.scheme == "http" and _is_near(host)))
        )
    except ValueError:
        return False


class Published(Struct, frozen=True):
    """What an issuer says of itself (OpenID Connect Discovery 1.0, section 3)."""

    issuer: str
    authorization_endpoint: str
    token_endpoint: str
    jwks_uri: str
    end_session_endpoint: str | None = None
    token_endpoint_auth_methods_supported: tuple[str, ...] = ("client_secret_basic",)
    authorization_response_iss_parameter_supported: bool = False


class Issuer:
    """The accounts of one issuer. Users are called `sub@issuer`: nobody else's sub is the same name."""

    def __init__(self, oidc: Oidc, send: Send) -> None:
        self.oidc, self.send = oidc, send
        self._suffix = "@" + oidc.issuer.partition("://")[2].rstrip("/")
        self._published = Fetched(self._discover)
        self._keys = Fetched(self._fetch_keys)

    def owns(self, user: str) -> bool:
        """Whether a user is one of its."""
        return user.endswith(self._suffix) and len(user) > len(self._suffix)

    async def user_of(self, token: str, now: float) -> str:
        """The name of the user whom a bearer token belongs to. Raises `Unauthorised`, and `LoginUnavailable`."""
        return self.name_of(await self.read_token(token, self.oidc.audience or self.oidc.client_id, now))

    def name_of(self, claims: Mapping[str, Any]) -> str:
        """What the user of a token is called here. Raises `Unauthorised`."""
        return tokens.user_of(claims) + self._suffix

    async def read_token(self, token: str, audience: str, now: float) -> dict[str, Any]:
        """The claims of a token made for `audience`. Raises `Unauthorised`, and `LoginUnavailable`."""
        expected = tokens.Expected(self.oidc.issuer, audience)
        keys = await self._keys.get(now)
        try:
            return tokens.read_token(token, keys, expected, now)
        except tokens.UnknownKey:
            newer = await self._keys.get(now, missing=keys)
            if newer is keys:
                raise
        return tokens.read_token(token, newer, expected, now)

    async def published(self, now: float) -> Published:
        """Its addresses. Raises `LoginUnavailable`."""
        return await self._published.get(now)

    async def _fetch_keys(self, now: float) -> list[Key]:
        published = await self._published.get(now)
        return tokens.read_keys(await fetch_json(self.send, Parcel(published.jwks_uri, {}, method="GET")))

    async def _discover(self, _: float) -> Published:
        address = self.oidc.issuer.rstrip("/") + DISCOVERY
        said = await fetch_json(self.send, Parcel(address, {}, method="GET"))
        try:
            published = convert(said, Published)
        except ValidationError:
            raise LoginUnavailable(f"{self.oidc.issuer} doesn't say where accounts are: is it an issuer?") from None
        urls = (published.authorization_endpoint, published.token_endpoint, published.jwks_uri)
        if published.issuer != self.oidc.issuer:
            raise LoginUnavailable(
                f"{self.oidc.issuer} calls itself {published.issuer!r:.200}: name it so in {PREFIX}ISSUER"
            )
        if not all(map(is_safe, urls)):
            raise LoginUnavailable(f"{self.oidc.issuer} names addresses that are not https")
        return published


def _is_near(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
