"""Sign in through the accounts' issuer (authorization code flow with PKCE), and sign out."""

from __future__ import annotations

import hashlib
import re
import secrets
from collections.abc import Mapping
from typing import Final
from urllib.parse import urlencode

from fastapi import APIRouter
from msgspec import Struct
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response

from showandtell.core.messages.ids import new_id
from showandtell.server.addresses import public_path, public_url
from showandtell.server.auth.authenticate import (
    COOKIE,
    LOGIN_AGE,
    AuthContext,
    CurrentUser,
    auth_context,
    cookie_session,
    get_cookie,
    local_path,
    set_cookie,
)
from showandtell.server.auth.error_pages import NO_STORE, OPEN_ADDRESS, login_link, message_page
from showandtell.server.auth.errors import Forbidden, LoginUnavailable, Unauthorised
from showandtell.server.auth.keys import Keys, base64url, is_same
from showandtell.server.auth.oidc import Issuer, IssuerMetadata, is_secure_url
from showandtell.server.auth.session_rows import Session
from showandtell.server.auth.token_endpoint import Grant, redeem_code

router = APIRouter(include_in_schema=False)
#: The cookie of a sign-in in progress, and the seconds that it may take.
LOGIN_COOKIE: Final = "showandtell-login"
LOGIN_TIMEOUT: Final = 600
LOGIN_PATH: Final = "/login"
CALLBACK_PATH: Final = "/login/callback"
LOGOUT_PATH: Final = "/logout"
LOGOUT_EVERYWHERE_PATH: Final = "/logout/everywhere"
#: The form of the standard's error codes. Anything else from the issuer is not shown to people.
ERROR_CODE: Final = re.compile(r"[a-z_]{1,40}", re.ASCII)


class PendingLogin(Struct, frozen=True, array_like=True):
    """A sign-in in progress, identified by `state`, from which all else derives. `to` is the path to open next."""

    state: str
    to: str

    def nonce(self, keys: Keys) -> str:
        """Return the nonce that the ID token must contain."""
        return _derive(keys, "nonce", self.state)

    def verifier(self, keys: Keys) -> str:
        """Return the code verifier, which proves to the issuer that both requests come from one client (RFC 7636)."""
        return _derive(keys, "verifier", self.state)


@router.get(LOGIN_PATH)
async def login(request: Request, to: str = "/") -> Response:
    """Redirect to the issuer, which redirects to `/login/callback`, which redirects to `to`, a path on this server."""
    context = auth_context(request)
    if not isinstance(context.accounts, Issuer):
        return RedirectResponse(public_path(request.scope, "/"), 303, NO_STORE)
    now = context.clock()
    try:
        metadata = await context.accounts.metadata(now)
    except LoginUnavailable as error:
        return message_page("Sign-in is not available", str(error), login_link(request.scope), error.status)
    pending = PendingLogin(secrets.token_urlsafe(24), "/" if to.startswith(LOGIN_PATH) else local_path(to))
    set_cookie(request, context.keys.seal("login", pending, now), name=LOGIN_COOKIE, age=LOGIN_TIMEOUT)
    query = _authorization_query(context.accounts, pending, context.keys, public_url(request, CALLBACK_PATH))
    return RedirectResponse(_with_query(metadata.authorization_endpoint, query), 303, NO_STORE)


@router.get(CALLBACK_PATH)
async def callback(request: Request) -> Response:
    """Complete a sign-in: set the session cookie and redirect to the page that was asked for."""
    context = auth_context(request)
    if not isinstance(context.accounts, Issuer):
        return RedirectResponse(public_path(request.scope, "/"), 303, NO_STORE)
    now = context.clock()
    pending = context.keys.unseal("login", get_cookie(request, LOGIN_COOKIE), PendingLogin, now, LOGIN_TIMEOUT)
    set_cookie(request, "", name=LOGIN_COOKIE, age=0)
    if pending is None:
        problem = "This sign-in was not started in this browser, or it took too long."
        return message_page("Not signed in", problem, login_link(request.scope), 403)
    try:
        grant = await _finish_login(request, context.accounts, pending, context.keys, now)
        user = await context.accounts.user_in(grant.claims, now)
    except (Forbidden, Unauthorised, LoginUnavailable) as error:
        return message_page("Not signed in", str(error), login_link(request.scope), error.status)
    session = await _start_session(context, user, grant)
    set_cookie(request, context.keys.sign_cookie(session, now), age=LOGIN_AGE)
    return RedirectResponse(public_path(request.scope, pending.to), 303, NO_STORE)


@router.post(LOGOUT_PATH)
async def log_out(request: Request) -> Response:
    """End the session of this browser. Returns `{"to": …}`, the URL to open next: the issuer may have a logout page."""
    context = auth_context(request)
    try:
        session = await cookie_session(request, context)
        if session is not None:
            await context.sessions.end(session.id)
    finally:
        set_cookie(request, "", name=COOKIE, age=0)
    return JSONResponse({"to": await _logout_url(request)}, headers=NO_STORE)


@router.post(LOGOUT_EVERYWHERE_PATH)
async def log_out_everywhere(request: Request, user: CurrentUser) -> Response:
    """End all sessions of the user, in every browser. Returns the same as `log_out`."""
    await auth_context(request).sessions.end_all(user.name)
    set_cookie(request, "", name=COOKIE, age=0)
    return JSONResponse({"to": await _logout_url(request)}, headers=NO_STORE)


@router.get(LOGOUT_PATH)
async def logged_out(request: Request) -> Response:
    """Show that the browser is signed out."""
    advice = OPEN_ADDRESS if auth_context(request).accounts is None else login_link(request.scope)
    return message_page("Signed out", "This browser is no longer signed in.", advice, 200)


async def _finish_login(request: Request, issuer: Issuer, pending: PendingLogin, keys: Keys, now: float) -> Grant:
    """Return the grant for the user whom the issuer redirected here.

    Raises `Forbidden`, `Unauthorised` or `LoginUnavailable`.
    """
    code = _code(request, issuer.oidc.issuer, await issuer.metadata(now), pending)
    grant = await redeem_code(issuer, code, pending.verifier(keys), public_url(request, CALLBACK_PATH), now)
    claims, client = grant.claims, issuer.oidc.client_id
    if not _matches(claims.get("nonce"), pending.nonce(keys)) or claims.get("azp", client) != client:
        raise Forbidden("The issuer's token belongs to another sign-in.")
    return grant


async def _start_session(context: AuthContext, user: str, grant: Grant) -> str:
    """Store a session that the issuer has to confirm when its token expires. Returns its id."""
    session_id, now, issuer_session = new_id("session"), context.clock(), grant.claims.get("sid")
    sealed = grant.refresh_token and context.sessions.encrypt(grant.refresh_token, session_id)
    return await context.sessions.add(
        Session(
            session_id,
            user,
            now,
            now,
            issuer_session=issuer_session if isinstance(issuer_session, str) else None,
            refresh_token=sealed or None,
            confirmed_until=grant.confirmed_until,
        )
    )


def _code(request: Request, name: str, metadata: IssuerMetadata, pending: PendingLogin) -> str:
    """Return the code from the issuer's redirect. Raises `Forbidden` if it doesn't belong to this sign-in."""
    items = request.query_params.multi_items()
    query = dict(items)
    if len(query) != len(items) or not _matches(query.get("state"), pending.state):
        raise Forbidden("This is not the sign-in that was last started in this browser.")
    default = None if metadata.authorization_response_iss_parameter_supported else name
    if query.get("iss", default) != name:  # RFC 9207
        raise Forbidden("You were sent back by an issuer that this server doesn't use.")
    if "error" in query or "code" not in query:
        error = query.get("error", "")
        raise Forbidden(f"The issuer did not let you in{f': {error}' if ERROR_CODE.fullmatch(error) else ''}.")
    return query["code"]


def _authorization_query(issuer: Issuer, pending: PendingLogin, keys: Keys, redirect_uri: str) -> dict[str, str]:
    """Return the query of an authorization request (OpenID Connect Core 1.0, section 3.1.2.1; RFC 7636)."""
    return {
        "response_type": "code",
        "client_id": issuer.oidc.client_id,
        "redirect_uri": redirect_uri,
        "scope": issuer.oidc.scopes,
        "state": pending.state,
        "nonce": pending.nonce(keys),
        "code_challenge": base64url(hashlib.sha256(pending.verifier(keys).encode()).digest()),
        "code_challenge_method": "S256",
    }


async def _logout_url(request: Request) -> str:
    context = auth_context(request)
    if not isinstance(context.accounts, Issuer):
        return public_path(request.scope, LOGOUT_PATH)
    try:
        metadata = await context.accounts.metadata(context.clock())
    except LoginUnavailable:
        return public_path(request.scope, LOGOUT_PATH)
    if not is_secure_url(metadata.end_session_endpoint):
        return public_path(request.scope, LOGOUT_PATH)
    query = {"client_id": context.accounts.oidc.client_id, "post_logout_redirect_uri": public_url(request, LOGOUT_PATH)}
    return _with_query(metadata.end_session_endpoint or "", query)


def _with_query(url: str, query: Mapping[str, str]) -> str:
    return f"{url}{'&' if '?' in url else '?'}{urlencode(query)}"


def _matches(value: object, expected: str) -> bool:
    return isinstance(value, str) and is_same(value, expected)


def _derive(keys: Keys, purpose: str, state: str) -> str:
    return base64url(keys.derive(f"login {purpose} {state}"))
