"""Identify the user of a request by cookie, bearer token or signed file URL. Permissions are checked elsewhere."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Annotated, Final, Literal, Protocol, cast
from urllib.parse import parse_qsl, quote, urlencode

from fastapi import Depends
from msgspec import Struct
from starlette.requests import HTTPConnection
from starlette.responses import RedirectResponse, Response

from showandtell.errors import ShowAndTellError
from showandtell.media.turns import Caller, caller
from showandtell.server.auth.error_pages import NO_STORE, OPEN_ADDRESS, message_page
from showandtell.server.auth.keys import COOKIE_AGE, DAY, RENEW_AFTER, Keys

#: The single user of a server without accounts. The command line's conversations belong to this user as well.
ALONE: Final = "local"
COOKIE: Final = "showandtell"
#: Seconds until a user with an account has to sign in again. Only the issuer knows if the account still exists.
LOGIN_AGE: Final = 7 * DAY
#: Keys of the ASGI scope: the identified user, and the cookies that the response sets.
USER_KEY: Final = "showandtell.user"
COOKIES_KEY: Final = "showandtell.cookies"
#: Only URLs below this path are ever signed.
SIGNED_PREFIX: Final = "/api/attachments/"
#: A path on this server. Browsers read `//host`, `/\\host` and some paths with whitespace as another server.
LOCAL_PATH: Final = re.compile(r"/(?!/)[!-\[\]-~]*", re.ASCII)
BEARER: Final = re.compile(r"bearer +([A-Za-z0-9._~+/!-]+=*)", re.ASCII | re.IGNORECASE)


class Unauthorised(ShowAndTellError):
    """Status 401. `invalid_token`: the request had credentials. `challenge` is the header `WWW-Authenticate`."""

    status: Final = 401

    def __init__(self, text: str, *, invalid_token: bool = False) -> None:
        super().__init__(text)
        self.invalid_token = invalid_token
        self.challenge = 'Bearer realm="showandtell"' + (', error="invalid_token"' if invalid_token else "")


class Forbidden(ShowAndTellError):
    """The user is known and not allowed to do this: status 403."""

    status: Final = 403


class LoginUnavailable(ShowAndTellError):
    """The issuer of the accounts does not respond, so users can't be identified: status 503."""

    status: Final = 503


class User(Struct, frozen=True):
    """An identified user, and the method of identification. `name` is the owner of what the user creates."""

    name: str
    method: Literal["cookie", "bearer", "signed"]


class Accounts(Protocol):
    """The users of a server with more than one, such as those of an OpenID Connect issuer."""

    def owns(self, user: str) -> bool:
        """Whether a user name belongs to these accounts."""
        ...

    async def user_of(self, token: str, now: float) -> str:
        """Return the user name of a bearer token. Raises `Unauthorised` or `LoginUnavailable`."""
        ...


class AuthContext(Protocol):
    """What identifying a user needs; `Server` implements it. Without `accounts` there is one user, with one token."""

    @property
    def keys(self) -> Keys:
        """The keys for tokens, cookies and signed URLs."""
        ...

    @property
    def accounts(self) -> Accounts | None:
        """The accounts, or None for a single user."""
        ...

    @property
    def clock(self) -> Callable[[], float]:
        """Epoch seconds."""
        ...


def auth_context(request: HTTPConnection) -> AuthContext:
    """Return the server that handles the request."""
    return cast("AuthContext", request.app.state.server)


async def current_user(request: HTTPConnection) -> User:
    """Return the user of a request, identified once per request. Raises `Unauthorised` or `LoginUnavailable`."""
    known: User | None = request.scope.get(USER_KEY)
    if known is None:
        known = request.scope[USER_KEY] = await identify_user(request, auth_context(request))
        caller.set(Caller(known.name))  # whose turn it is, and whose budget, wherever the request is handled
    return known


CurrentUser = Annotated[User, Depends(current_user)]


async def identify_user(request: HTTPConnection, context: AuthContext) -> User:
    """Return the user of a request.

    An `Authorization` header decides alone: the cookie could belong to another user. Raises like `current_user`.
    """
    if headers := request.headers.getlist("authorization"):
        return User(await _bearer_user(headers, context), "bearer")
    if user := _signed_user(request, context):
        return User(user, "signed")
    if user := _cookie_user(request, context):
        return User(user, "cookie")
    raise Unauthorised(how_to_sign_in(context))


def how_to_sign_in(context: AuthContext) -> str:
    """Return the advice for a client that is not signed in."""
    if context.accounts is not None:
        return "not signed in: open /login, or send `Authorization: Bearer` with a token from this server's issuer"
    return "not signed in: open the address that `showandtell serve` printed, or send `Authorization: Bearer TOKEN`"


def set_cookie(request: HTTPConnection, value: str, *, name: str = COOKIE, age: int = COOKIE_AGE) -> None:
    """Set a cookie on the response. Scripts can't read it, and forms of other sites don't send it."""
    secure = "; Secure" if _is_secure(request) else ""
    cookie = f"{_cookie_name(request, name)}={value}; Path=/; Max-Age={age}; HttpOnly; SameSite=Lax{secure}"
    request.scope.setdefault(COOKIES_KEY, []).append(cookie)


def get_cookie(request: HTTPConnection, name: str = COOKIE) -> str:
    """Return the value of a cookie set by `set_cookie`, or an empty string."""
    return request.cookies.get(_cookie_name(request, name), "")


async def require_login(request: HTTPConnection) -> Response | None:
    """Return None if the user may see the page, else the response that signs them in or says how to.

    `?token=T` becomes a cookie, and a redirect removes it from the address. Without a valid token, a server with
    accounts redirects to /login; other servers return a short page with advice.
    """
    context = auth_context(request)
    query = [(name, value) for name, value in parse_qsl(request.url.query) if name != "token"]
    page = local_path(quote(request.scope["path"]) + ("?" + urlencode(query) if query else ""))
    tokens = request.query_params.getlist("token")
    if context.accounts is None and any(context.keys.is_token(token) for token in tokens[:1]):
        set_cookie(request, context.keys.sign_cookie(ALONE, context.clock()))
        return RedirectResponse(page, 303, NO_STORE)
    try:
        await current_user(request)
    except Unauthorised:
        if context.accounts is not None:
            return RedirectResponse("/login?" + urlencode({"to": page}), 303, NO_STORE)
        problem = "The token in the address does not belong to this server." if tokens else "This page needs a token."
        return message_page("Not signed in", problem, OPEN_ADDRESS, 401)
    return RedirectResponse(page, 303, NO_STORE) if tokens else None


def local_path(path: str) -> str:
    """Return the path if it stays on this server, else `/`."""
    return path if LOCAL_PATH.fullmatch(path) else "/"


async def _bearer_user(headers: list[str], context: AuthContext) -> str:
    match = BEARER.fullmatch(headers[0].strip()) if len(headers) == 1 else None
    if match and context.accounts is not None:
        return await context.accounts.user_of(match[1], context.clock())
    if match and context.keys.is_token(match[1]):
        return ALONE
    raise Unauthorised(how_to_sign_in(context), invalid_token=True)


def _signed_user(request: HTTPConnection, context: AuthContext) -> str | None:
    scope = request.scope
    query: str = scope["query_string"].decode("latin-1")
    if "sig=" not in query or not scope["path"].startswith(SIGNED_PREFIX):
        return None
    raw: bytes = scope.get("raw_path") or quote(scope["path"]).encode()
    user = context.keys.check_url(scope["method"], raw.decode("latin-1"), query, context.clock())
    return user if user is not None and _is_known(user, context) else None


def _cookie_user(request: HTTPConnection, context: AuthContext) -> str | None:
    """Return the user of the cookie.

    The single user's cookie is renewed once a day, so that regular visitors stay signed in.
    """
    text, now = get_cookie(request), context.clock()
    session = context.keys.read_cookie(text, now) if text else None
    if session is None or not _is_known(session.user, context):
        return None
    if context.accounts is not None and now - session.since > LOGIN_AGE:
        return None
    if context.accounts is None and now - session.written > RENEW_AFTER:
        set_cookie(request, context.keys.sign_cookie(session.user, now, session.since))
    return session.user


def _is_secure(request: HTTPConnection) -> bool:
    return request.scope["scheme"] == "https"


def _cookie_name(request: HTTPConnection, name: str) -> str:
    """Return the cookie's full name.

    Browsers accept the prefix `__Host-` only from this very host, not from sibling domains. The suffix differs between
    servers on one host, so that they don't sign each other's users out.
    """
    full_name = f"{name}-{auth_context(request).keys.cookie_suffix}"
    return f"__Host-{full_name}" if _is_secure(request) else full_name


def _is_known(user: str, context: AuthContext) -> bool:
    """Whether the user exists here: signatures for the single user are void once there are accounts, and vice versa."""
    return user == ALONE if context.accounts is None else context.accounts.owns(user)
