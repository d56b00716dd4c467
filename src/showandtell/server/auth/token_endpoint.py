"""Requests to the issuer's token endpoint: exchange a code, and use a refresh token."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Final
from urllib.parse import quote_plus, urlencode

from msgspec import Struct

from showandtell.providers.uploads import UploadRequest
from showandtell.server.auth.cached_fetch import fetch_json
from showandtell.server.auth.errors import LoginUnavailable, Unauthorised
from showandtell.server.auth.oidc import Issuer, IssuerMetadata, tokens

#: Errors after which the user has to sign in again (RFC 6749, section 5.2; OpenID Connect Core 1.0, section 3.1.2.6).
#: All others may be mistakes of an operator, and count as an issuer that doesn't respond.
USER_ERRORS: Final = ("invalid_grant", "interaction_required", "login_required", "consent_required")
#: Seconds until the user has to be confirmed again: the default, if the issuer doesn't say, and the minimum.
DEFAULT_SECONDS: Final = 3600.0
MIN_SECONDS: Final = 60.0


class Grant(Struct, frozen=True):
    """What the issuer granted: the claims of the ID token, and until when it confirms the user (epoch seconds).

    Without a `refresh_token`, it can't be asked again.
    """

    claims: Mapping[str, Any]
    confirmed_until: float
    refresh_token: str | None = None


async def redeem_code(issuer: Issuer, code: str, verifier: str, redirect_uri: str, now: float) -> Grant:
    """Exchange a code (RFC 6749, section 4.1.3; RFC 7636). Raises `Unauthorised` or `LoginUnavailable`."""
    form = {"grant_type": "authorization_code", "code": code, "redirect_uri": redirect_uri, "code_verifier": verifier}
    metadata = await issuer.metadata(now)
    response = await fetch_json(issuer.send, _token_request(issuer, metadata, form))
    return _grant(response, await issuer.read_token(str(response.get("id_token")), issuer.oidc.client_id, now), now)


async def refresh(issuer: Issuer, refresh_token: str, user: str, now: float) -> Grant:
    """Use a refresh token (RFC 6749, section 6). Most issuers answer with another one and void the used one.

    Raises `Unauthorised` if the user is gone or has to sign in again, `LoginUnavailable` if the issuer gives no answer.
    """
    form = {"grant_type": "refresh_token", "refresh_token": refresh_token}
    metadata = await issuer.metadata(now)
    response = await fetch_json(issuer.send, _token_request(issuer, metadata, form), 400, 401)
    if "error" in response or "access_token" not in response:
        error = str(response.get("error"))[:60]
        if error in USER_ERRORS:
            raise Unauthorised(f"the issuer does not confirm the user any more: {error}")
        raise LoginUnavailable(f"the issuer did not confirm the user: {error!r}")
    claims: Mapping[str, Any] = {}
    if "id_token" in response:  # optional here; OpenID Connect Core 1.0, section 12.2
        try:
            claims = await issuer.read_token(str(response["id_token"]), issuer.oidc.client_id, now)
        except tokens.UnknownKey as error:
            raise LoginUnavailable(str(error)) from error
        if issuer.name_of(claims) != user:
            raise Unauthorised("the issuer answered with the token of another user")
    return _grant(response, claims, now)


def _grant(response: Mapping[str, Any], claims: Mapping[str, Any], now: float) -> Grant:
    seconds = DEFAULT_SECONDS
    for value in (claims.get("exp", now) - now, response.get("expires_in")):
        with suppress(TypeError, ValueError):
            seconds = float(value) if value else seconds
    token = response.get("refresh_token")
    return Grant(claims, now + max(seconds, MIN_SECONDS), token if isinstance(token, str) and token else None)


def _token_request(issuer: Issuer, metadata: IssuerMetadata, grant: Mapping[str, str]) -> UploadRequest:
    """Build a request to the token endpoint, with the client's credentials (RFC 6749, section 2.3.1)."""
    oidc, headers = issuer.oidc, {"content-type": "application/x-www-form-urlencoded", "accept": "application/json"}
    form = dict(grant)
    if oidc.client_secret and "client_secret_basic" in metadata.token_endpoint_auth_methods_supported:
        credentials = f"{quote_plus(oidc.client_id)}:{quote_plus(oidc.client_secret)}"
        headers["authorization"] = "Basic " + base64.b64encode(credentials.encode()).decode()
    else:
        form["client_id"] = oidc.client_id
        if oidc.client_secret:
            form["client_secret"] = oidc.client_secret
    return UploadRequest(metadata.token_endpoint, headers, (urlencode(form).encode(),))
