"""Accounts of an OpenID Connect issuer: settings, discovery, and the users of its tokens."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any, Final, TypeAlias
from urllib.parse import urlsplit

from msgspec import Struct, ValidationError, convert

from showandtell.core.wire.http import Send
from showandtell.errors import BadInput
from showandtell.lazy import LazyModule
from showandtell.providers.uploads import UploadRequest
from showandtell.server.auth.cached_fetch import CachedFetch, fetch_json
from showandtell.server.auth.errors import LoginUnavailable

if TYPE_CHECKING:
    from joserfc.jwk import Key

    from showandtell.server.auth import tokens
else:  # few servers have accounts, and its libraries are large
    tokens = LazyModule("showandtell.server.auth.tokens")

PREFIX: Final = "SHOWANDTELL_OIDC_"
DISCOVERY: Final = "/.well-known/openid-configuration"


@dataclass(frozen=True, slots=True)
class Oidc:
    """The issuer, and this server's registration there. Without a secret this is a public client; PKCE is always used.

    `audience` is the one that bearer tokens must have (default: the client id). `admin_claim` is the claim that
    administrators have, and its value, such as ("groups", "admins").
    """

    issuer: str
    client_id: str
    client_secret: str | None = field(default=None, repr=False)
    audience: str | None = None
    scopes: str = "openid profile"
    admin_claim: tuple[str, str] | None = None


def read_oidc(environ: Mapping[str, str] = os.environ) -> Oidc | None:
    """Read `SHOWANDTELL_OIDC_ISSUER`, `_CLIENT_ID`, `_CLIENT_SECRET`, `_AUDIENCE`, `_SCOPES` and `_ADMIN_CLAIM`.

    Returns None if there are no accounts. Raises `BadInput` if the issuer or the client id is missing, if the issuer is
    neither https nor on this machine, or if the claim of administrators has no value.
    """
    names = ("ISSUER", "CLIENT_ID", "CLIENT_SECRET", "AUDIENCE", "SCOPES", "ADMIN_CLAIM")
    issuer, client, secret, audience, scopes, admin = (environ.get(PREFIX + name, "").strip() for name in names)
    if not issuer and not client:
        return None
    if not issuer or not client:
        raise BadInput(
            f"{PREFIX}{'CLIENT_ID' if issuer else 'ISSUER'} is missing: accounts need both the issuer and the client id"
        )
    if not is_secure_url(issuer) or urlsplit(issuer).query or urlsplit(issuer).fragment:
        raise BadInput(
            f"{PREFIX}ISSUER is {issuer!r:.200}: it must begin with https:// (http:// is allowed on this machine only)"
        )
    claim, equals, wanted = (part.strip() for part in admin.partition("="))
    if admin and not (claim and equals and wanted):
        raise BadInput(f"{PREFIX}ADMIN_CLAIM is {admin!r:.80}: write it as CLAIM=VALUE, such as groups=admins")
    return Oidc(
        issuer,
        client,
        secret or None,
        audience or None,
        " ".join({"openid": 0} | dict.fromkeys((scopes or "profile").split())),
        (claim, wanted) if admin else None,
    )


def is_secure_url(url: object) -> bool:
    """Whether a URL is safe from eavesdropping: https, or http on this machine."""
    try:
        parts = urlsplit(url if isinstance(url, str) else "")
        host = parts.hostname or ""
        return (
            bool(host)
            and parts.port != 0
            and (parts.scheme == "https" or (parts.scheme == "http" and _is_loopback(host)))
        )
    except ValueError:
        return False


#: Called with the user name and the claims of everybody who signs in or sends a token, and the time.
Remember: TypeAlias = Callable[[str, Mapping[str, Any], float], Awaitable[None]]


class IssuerMetadata(Struct, frozen=True):
    """An issuer's metadata (OpenID Connect Discovery 1.0, section 3)."""

    issuer: str
    authorization_endpoint: str
    token_endpoint: str
    jwks_uri: str
    end_session_endpoint: str | None = None
    token_endpoint_auth_methods_supported: tuple[str, ...] = ("client_secret_basic",)
    authorization_response_iss_parameter_supported: bool = False


class Issuer:
    """The accounts of one issuer. Users are named `sub@issuer`, which is unique across issuers."""

    def __init__(self, oidc: Oidc, send: Send, remember: Remember | None = None) -> None:
        self.oidc, self.send, self._remember = oidc, send, remember
        self._suffix = "@" + oidc.issuer.partition("://")[2].rstrip("/")
        self._metadata = CachedFetch(self._discover)
        self._keys = CachedFetch(self._fetch_keys)

    def owns(self, user: str) -> bool:
        """Whether a user name ends in this issuer's name."""
        return user.endswith(self._suffix) and len(user) > len(self._suffix)

    async def user_of(self, token: str, now: float) -> str:
        """Return the user name of a bearer token. Raises `Unauthorised` or `LoginUnavailable`."""
        return await self.user_in(await self.read_token(token, self.oidc.audience or self.oidc.client_id, now), now)

    async def user_in(self, claims: Mapping[str, Any], now: float) -> str:
        """Return the user name for a token's claims, and remember the person. Raises like `name_of`."""
        user = self.name_of(claims)
        if self._remember is not None:
            await self._remember(user, claims, now)
        return user

    def name_of(self, claims: Mapping[str, Any]) -> str:
        """Return the user name for a token's claims. Raises `Unauthorised` for an unusable `sub`."""
        return tokens.user_of(claims) + self._suffix

    async def read_token(self, token: str, audience: str, now: float) -> dict[str, Any]:
        """Return the claims of a valid token for `audience`. Raises `Unauthorised` or `LoginUnavailable`."""
        return await self.read_expected(token, tokens.Expected(self.oidc.issuer, audience), now)

    async def read_expected(self, token: str, expected: tokens.Expected, now: float) -> dict[str, Any]:
        """Return the claims of a token with these properties. Raises `Unauthorised` or `LoginUnavailable`."""
        keys = await self._keys.get(now)
        try:
            return tokens.read_token(token, keys, expected, now)
        except tokens.UnknownKey:
            newer = await self._keys.get(now, newer_than=keys)
            if newer is keys:
                raise
        return tokens.read_token(token, newer, expected, now)

    async def metadata(self, now: float) -> IssuerMetadata:
        """Return the issuer's metadata, cached. Raises `LoginUnavailable`."""
        return await self._metadata.get(now)

    async def _fetch_keys(self, now: float) -> list[Key]:
        metadata = await self._metadata.get(now)
        return tokens.read_keys(await fetch_json(self.send, UploadRequest(metadata.jwks_uri, {}, method="GET")))

    async def _discover(self, _: float) -> IssuerMetadata:
        address = self.oidc.issuer.rstrip("/") + DISCOVERY
        document = await fetch_json(self.send, UploadRequest(address, {}, method="GET"))
        try:
            metadata = convert(document, IssuerMetadata)
        except ValidationError:
            raise LoginUnavailable(
                f"{self.oidc.issuer} has no usable OpenID Connect metadata: check {PREFIX}ISSUER"
            ) from None
        urls = (metadata.authorization_endpoint, metadata.token_endpoint, metadata.jwks_uri)
        if metadata.issuer != self.oidc.issuer:
            raise LoginUnavailable(
                f"{self.oidc.issuer} calls itself {metadata.issuer!r:.200}: set {PREFIX}ISSUER to that"
            )
        if not all(map(is_secure_url, urls)):
            raise LoginUnavailable(f"{self.oidc.issuer} publishes endpoints that are not https: contact its operator")
        return metadata


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
