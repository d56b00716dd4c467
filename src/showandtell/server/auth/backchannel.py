"""OpenID Connect Back-Channel Logout 1.0: the accounts' issuer reports who has signed out or was removed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, cast
from urllib.parse import parse_qs

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from showandtell.server.auth.authenticate import BACKCHANNEL_PATH, auth_context
from showandtell.server.auth.error_pages import NO_STORE
from showandtell.server.auth.errors import LoginUnavailable, Unauthorised
from showandtell.server.auth.oidc import Issuer, tokens

router = APIRouter(include_in_schema=False)
#: Accepted values of `typ`: the standard recommends the first one, and older issuers send the others.
TYPES: Final = ("logout+jwt", "application/logout+jwt", "jwt", "none")
EVENT: Final = "http://schemas.openid.net/event/backchannel-logout"


@router.post(BACKCHANNEL_PATH)
async def backchannel_logout(request: Request) -> Response:
    """End the sessions that a logout token names: those of a session at the issuer, or all of a user.

    A token that is sent again ends nothing new: it counts for sessions that were started before it was issued.
    """
    context = auth_context(request)
    if not isinstance(context.accounts, Issuer):
        return _refuse("this server has no accounts")
    try:
        claims = await _read_logout_token(context.accounts, await request.body(), context.clock())
        user = context.accounts.name_of(claims) if "sub" in claims else None
    except Unauthorised as error:
        return _refuse(str(error))
    except LoginUnavailable as error:
        return JSONResponse({"error": "temporarily_unavailable", "error_description": str(error)}, 503, NO_STORE)
    before, session = claims["iat"] + tokens.LEEWAY, claims.get("sid")
    if user is not None:
        await context.sessions.end_all(user, before=before, issuer_session=session)
    else:
        await context.sessions.end_at_issuer(str(session), before=before)
    return Response(status_code=200, headers=NO_STORE)


async def _read_logout_token(issuer: Issuer, body: bytes, now: float) -> Mapping[str, Any]:
    """Return the claims of the form's logout token (section 2.6). Raises `Unauthorised` or `LoginUnavailable`."""
    try:
        [token] = parse_qs(body.decode(), max_num_fields=16)["logout_token"]
    except (ValueError, KeyError):
        raise Unauthorised("send one logout_token, as a form") from None
    expected = tokens.Expected(issuer.oidc.issuer, issuer.oidc.client_id, TYPES, ("iat", "jti", "events"))
    claims = await issuer.read_expected(token, expected, now)
    events, session = claims["events"], claims.get("sid")
    is_logout = isinstance(events, dict) and isinstance(cast("dict[str, Any]", events).get(EVENT), dict)
    if not is_logout or "nonce" in claims:  # an ID token has no such event, and a nonce
        raise Unauthorised("it is not a logout token")
    if any(name in claims and not (isinstance(claims[name], str) and claims[name]) for name in ("sid", "sub")):
        raise Unauthorised("its claim 'sid' or 'sub' is wrong")
    if "sub" not in claims and session is None:
        raise Unauthorised("it names neither a user nor a session")
    return claims


def _refuse(problem: str) -> Response:
    return JSONResponse({"error": "invalid_request", "error_description": problem}, 400, NO_STORE)
