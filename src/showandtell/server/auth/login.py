"""Signing in at the accounts' issuer and back (authorization code with PKCE), and signing out."""

from __future__ import annotations

import base64
import hashlib
import re
import secrets
from collections.abc import Mapping
from typing import Final
from urllib.parse import quote_plus, urlencode

from fastapi import APIRouter
from msgspec import Struct
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response

from showandtell.providers.uploads import Parcel
from showandtell.server.auth.authenticate import (
    COOKIE,
    ENTRY_AGE,
    Forbidden,
    LoginUnavailable,
    Unauthorised,
    door_of,
    get_cookie,
    own_path,
    set_cookie,
)
from showandtell.server.auth.cached_fetch import fetch_json
from showandtell.server.auth.error_pages import AGAIN, UNKEPT, closed
from showandtell.server.auth.keys import Keys, is_same, letters
from showandtell.server.auth.oidc import Issuer, Published, is_safe

router = APIRouter(include_in_schema=False)
#: The cookie of who is on the way to the issuer and back, and the seconds that this may take.
UNDERWAY: Final = "showandtell-login"
PATIENCE: Final = 600
PLACE: Final = "/login"
BACK: Final = "/login/callback"
LEFT: Final = "/logout"
#: What an issuer may call an error to be repeated to a person: one of the standard's words.
ERROR: Final = re.compile(r"[a-z_]{1,40}", re.ASCII)


class Journey(Struct, frozen=True, array_like=True):
    """One way to the issuer and back: `state` names it, `to` is where it ends. The rest is derived from its name."""

    state: str
    to: str

    def nonce(self, keys: Keys) -> str:
        """What the issuer's answer must hold."""
        return _derive(keys, "nonce", self.state)

    def verifier(self, keys: Keys) -> str:
        """What shows the issuer that who fetches the token is who asked for it (RFC 7636)."""
        return _derive(keys, "verifier", self.state)


@router.get(PLACE)
async def login(request: Request, to: str = "/") -> Response:
    """Send a person to the issuer, who sends them back to `/login/callback`; then they come to `to`, a path of ours."""
    door = door_of(request)
    if not isinstance(door.accounts, Issuer):
        return RedirectResponse("/", 303, UNKEPT)
    now = door.clock()
    try:
        published = await door.accounts.published(now)
    except LoginUnavailable as error:
        return closed("Signing in doesn't work now", str(error), AGAIN, error.status)
    journey = Journey(secrets.token_urlsafe(24), "/" if to.startswith(PLACE) else own_path(to))
    set_cookie(request, door.keys.seal("login", journey, now), name=UNDERWAY, age=PATIENCE)
    asked = _question(door.accounts, journey, door.keys, _address(request, BACK))
    return RedirectResponse(_extended(published.authorization_endpoint, asked), 303, UNKEPT)


@router.get(BACK)
async def come_back(request: Request) -> Response:
    """Where the issuer sends a person back to: they get a cookie, and come to where they were going."""
    door = door_of(request)
    if not isinstance(door.accounts, Issuer):
        return RedirectResponse("/", 303, UNKEPT)
    now = door.clock()
    journey = door.keys.unseal("login", get_cookie(request, UNDERWAY), Journey, now, PATIENCE)
    set_cookie(request, "", name=UNDERWAY, age=0)
    if journey is None:
        return closed("Not signed in", "This sign-in was not begun in this browser, or took too long.", AGAIN, 403)
    try:
        user = await _arrive(request, door.accounts, journey, door.keys, now)
    except (Forbidden, Unauthorised, LoginUnavailable) as error:
        return closed("Not signed in", str(error), AGAIN, error.status)
    set_cookie(request, door.keys.sign_cookie(user, now), age=ENTRY_AGE)
    return RedirectResponse(journey.to, 303, UNKEPT)


@router.post(LEFT)
async def log_out(request: Request) -> Response:
    """Forget who this browser is; answers `{"to": …}`, the address to go to: the issuer may want to know, too."""
    set_cookie(request, "", name=COOKIE, age=0)
    return JSONResponse({"to": await _farewell(request)}, headers=UNKEPT)


@router.get(LEFT)
async def logged_out() -> Response:
    """Where a person is who has signed out."""
    return closed("Signed out", "This browser is not signed in any more.", AGAIN, 200)


async def _arrive(request: Request, issuer: Issuer, journey: Journey, keys: Keys, now: float) -> str:
    """The user whom the issuer sends back. Raises `Forbidden`, `Unauthorised`, and `LoginUnavailable`."""
    published = await issuer.published(now)
    code = _code(request, issuer.oidc.issuer, published, journey)
    call = _exchange(issuer, published, code, journey.verifier(keys), _address(request, BACK))
    answer = await fetch_json(issuer.send, call)
    client = issuer.oidc.client_id
    claims = await issuer.read_token(str(answer.get("id_token")), client, now)
    if not _is(claims.get("nonce"), journey.nonce(keys)) or claims.get("azp", client) != client:
        raise Forbidden("The issuer's answer belongs to another sign-in.")
    return issuer.name_of(claims)


def _code(request: Request, name: str, published: Published, journey: Journey) -> str:
    """The code that the issuer has sent along. Raises `Forbidden` where that isn't an answer to our question."""
    all_said = request.query_params.multi_items()
    said = dict(all_said)
    if len(said) != len(all_said) or not _is(said.get("state"), journey.state):
        raise Forbidden("This sign-in is not the one that was begun last in this browser.")
    usual = None if published.authorization_response_iss_parameter_supported else name
    if said.get("iss", usual) != name:  # RFC 9207
        raise Forbidden("Another issuer than this server's has sent you back.")
    if "error" in said or "code" not in said:
        why = said.get("error", "")
        raise Forbidden(f"The issuer did not let you in{f': {why}' if ERROR.fullmatch(why) else ''}.")
    return said["code"]


def _question(issuer: Issuer, journey: Journey, keys: Keys, back: str) -> dict[str, str]:
    """What the issuer is asked (OpenID Connect Core 1.0, section 3.1.2.1; RFC 7636)."""
    return {
        "response_type": "code",
        "client_id": issuer.oidc.client_id,
        "redirect_uri": back,
        "scope": issuer.oidc.scopes,
        "state": journey.state,
        "nonce": journey.nonce(keys),
        "code_challenge": letters(hashlib.sha256(journey.verifier(keys).encode()).digest()),
        "code_challenge_method": "S256",
    }


def _exchange(issuer: Issuer, published: Published, code: str, verifier: str, back: str) -> Parcel:
    """The request that gets the token for a code (RFC 6749, sections 2.3.1 and 4.1.3)."""
    oidc, headers = issuer.oidc, {"content-type": "application/x-www-form-urlencoded", "accept": "application/json"}
    form = {"grant_type": "authorization_code", "code": code, "redirect_uri": back, "code_verifier": verifier}
    if oidc.client_secret and "client_secret_basic" in published.token_endpoint_auth_methods_supported:
        named = f"{quote_plus(oidc.client_id)}:{quote_plus(oidc.client_secret)}"
        headers["authorization"] = "Basic " + base64.b64encode(named.encode()).decode()
    else:
        form["client_id"] = oidc.client_id
        if oidc.client_secret:
            form["client_secret"] = oidc.client_secret
    return Parcel(published.token_endpoint, headers, (urlencode(form).encode(),))


async def _farewell(request: Request) -> str:
    door = door_of(request)
    if not isinstance(door.accounts, Issuer):
        return "/"
    try:
        published = await door.accounts.published(door.clock())
    except LoginUnavailable:
        return LEFT
    if not is_safe(published.end_session_endpoint):
        return LEFT
    said = {"client_id": door.accounts.oidc.client_id, "post_logout_redirect_uri": _address(request, LEFT)}
    return _extended(published.end_session_endpoint or "", said)


def _address(request: Request, path: str) -> str:
    """An address of ours, by the host that the gate let pass."""
    return f"{request.url.scheme}://{request.url.netloc}{path}"


def _extended(address: str, query: Mapping[str, str]) -> str:
    return f"{address}{'&' if '?' in address else '?'}{urlencode(query)}"


def _is(said: object, meant: str) -> bool:
    return isinstance(said, str) and is_same(said, meant)


def _derive(keys: Keys, end: str, state: str) -> str:
    return letters(keys.derive(f"login {end} {state}"))
