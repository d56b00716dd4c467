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
from starlette.types import Scope

from showandtell.media.turns import Caller, caller
from showandtell.server.addresses import prefix_of, public_path
from showandtell.server.auth.error_pages import NO_STORE, OPEN_ADDRESS, chat_link, message_page
from showandtell.server.auth.errors import LoginUnavailable, Unauthorised
from showandtell.server.auth.host_user import HostUsers
from showandtell.server.auth.keys import COOKIE_AGE, DAY, RENEW_AFTER, Keys
from showandtell.server.auth.session_rows import Session

#: The single user of a server without accounts. The command line's conversations belong to this user as well.
ALONE: Final = "local"
COOKIE: Final = "showandtell"
#: Seconds until a user with an account has to sign in again, also if the issuer still confirms the user.
LOGIN_AGE: Final = 7 * DAY
#: Key of the ASGI scope: the server that handles a request.
SERVER_KEY: Final = "showandtell.server"
#: Keys of the ASGI scope: the identified user, the cookies that the response sets, and that a URL had a wrong token.
USER_KEY: Final = "showandtell.user"
COOKIES_KEY: Final = "showandtell.cookies"
GUESSED_KEY: Final = "showandtell.guessed"
#: Names in the query of a page: a one-time code, and the single user's token.
CODE, TOKEN = "code", "token"
#: Where the accounts' issuer reports who has signed out, in a form as its standard wants it.
BACKCHANNEL_PATH: Final = "/login/backchannel"
#: Only URLs below this path are ever signed.
SIGNED_PREFIX: Final = "/api/attachments/"
#: A path on this server. Browsers read `//host`, `/\\host` and some paths with whitespace as another server.
LOCAL_PATH: Final = re.compile(r"/(?!/)[!-\[\]-~]*", re.ASCII)
USED_ADDRESS: Final = (
    "This address does not sign you in: it was used before, it is too old, or a newer one replaced it."
)
BEARER: Final = re.compile(r"bearer +([A-Za-z0-9._~+/!-]+=*)", re.ASCII | re.IGNORECASE)


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


class Sessions(Protocol):
    """The sessions in browsers."""

    async def start(self, user: str, *, code: str | None = None, generation: int | None = None) -> str | None:
        """Start a session of a user by a one-time code, or by the token of this generation. Returns its id.

        Returns None if the code is not good, or if the token was renewed.
        """
        ...

    async def find(self, session_id: str) -> Session | None:
        """Return a session, or None if it has ended. Raises `LoginUnavailable` if that can't be checked."""
        ...

    async def add(self, session: Session) -> str:
        """Store a new session, and return its id."""
        ...

    def encrypt(self, refresh_token: str, session_id: str) -> str:
        """Encrypt the issuer's refresh token for the row of a session."""
        ...

    async def end(self, session_id: str) -> None:
        """End a session."""
        ...

    async def end_all(self, user: str, *, before: float | None = None, issuer_session: str | None = None) -> None:
        """End sessions of a user: all, those started before a time, those of a session at the issuer."""
        ...

    async def end_at_issuer(self, issuer_session: str, *, before: float) -> None:
        """End what belongs to a session at the issuer and was started before a time."""
        ...


class AuthContext(Protocol):
    """What identifying a user needs; `Server` implements it.

    With `host_users`, the program around this application knows the users. Without them and without `accounts` there
    is one user, with one token.
    """

    @property
    def host_users(self) -> HostUsers | None:
        """The users of the program around this application, or None."""
        ...

    @property
    def keys(self) -> Keys:
        """The keys for tokens, cookies and signed URLs."""
        ...

    @property
    def accounts(self) -> Accounts | None:
        """The accounts, or None for a single user."""
        ...

    @property
    def sessions(self) -> Sessions:
        """The sessions in browsers."""
        ...

    @property
    def clock(self) -> Callable[[], float]:
        """Epoch seconds."""
        ...


def auth_context(request: HTTPConnection) -> AuthContext:
    """Return the server that handles the request."""
    return cast("AuthContext", request.scope[SERVER_KEY])


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
    if context.host_users is not None:
        return await _host_user(request, context, context.host_users)
    if headers := request.headers.getlist("authorization"):
        return User(await _bearer_user(headers, context), "bearer")
    if user := _signed_user(request, context):
        return User(user, "signed")
    if session := await cookie_session(request, context):
        return User(session.user, "cookie")
    raise Unauthorised(how_to_sign_in(context))


async def _host_user(request: HTTPConnection, context: AuthContext, users: HostUsers) -> User:
    """Return the user that the program around this application names, or that of a signed URL."""
    if user := _signed_user(request, context):
        return User(user, "signed")
    has_cookie = "cookie" in request.headers and "authorization" not in request.headers
    return User(await users.identify(request), "cookie" if has_cookie else "bearer")


async def is_signed_in(request: HTTPConnection) -> bool:
    """Whether the request has a user."""
    try:
        await current_user(request)
    except (Unauthorised, LoginUnavailable):
        return False
    return True


def how_to_sign_in(context: AuthContext) -> str:
    """Return the advice for a client that is not signed in."""
    if context.accounts is not None:
        return "not signed in: open /login, or send `Authorization: Bearer` with a token from this server's issuer"
    return (
        "not signed in: run `showandtell token` and open the address that it prints, "
        "or send `Authorization: Bearer TOKEN` with the token that `showandtell token --show` prints"
    )


def set_cookie(request: HTTPConnection, value: str, *, name: str = COOKIE, age: int = COOKIE_AGE) -> None:
    """Set a cookie on the response. Scripts can't read it, and forms of other sites don't send it."""
    secure = "; Secure" if _is_secure(request) else ""
    path = public_path(request.scope, "/")
    cookie = f"{_cookie_name(request, name)}={value}; Path={path}; Max-Age={age}; HttpOnly; SameSite=Lax{secure}"
    request.scope.setdefault(COOKIES_KEY, []).append(cookie)


def get_cookie(request: HTTPConnection, name: str = COOKIE) -> str:
    """Return the value of a cookie set by `set_cookie`, or an empty string."""
    return request.cookies.get(_cookie_name(request, name), "")


def has_query_token(scope: Scope) -> bool:
    """Whether the query of a page has a token or a one-time code."""
    query: str = scope["query_string"].decode("latin-1")
    return any(name in {CODE, TOKEN} for name, _ in parse_qsl(query, keep_blank_values=True))


async def require_login(request: HTTPConnection) -> Response | None:
    """Return None if the user may see the page, else the response that signs them in or says how to.

    `?code=C` or `?token=T` becomes a session, and a redirect removes it from the address. Otherwise, a server with
    accounts redirects to /login; other servers return a short page with advice.
    """
    context = auth_context(request)
    query = [(name, value) for name, value in parse_qsl(request.url.query) if name not in {CODE, TOKEN}]
    page = local_path(quote(request.scope["path"]) + ("?" + urlencode(query) if query else ""))
    has_token = has_query_token(request.scope) and context.host_users is None
    here = public_path(request.scope, page)
    if has_token and context.accounts is None and (session := await _start_session(request, context)):
        set_cookie(request, context.keys.sign_cookie(session, context.clock()))
        return RedirectResponse(here, 303, NO_STORE)
    try:
        await current_user(request)
    except Unauthorised as error:
        if context.host_users is not None:
            return message_page("Not signed in", f"{str(error).capitalize()}.", "", 401)
        if context.accounts is not None:
            login = public_path(request.scope, "/login?") + urlencode({"to": page})
            return RedirectResponse(login, 303, NO_STORE)
        request.scope[GUESSED_KEY] = has_token
        problem = USED_ADDRESS if has_token else "This browser is not signed in."
        return message_page("Not signed in", problem, OPEN_ADDRESS, 401)
    except LoginUnavailable as error:
        return message_page("Sign-in is not available", str(error), chat_link(request.scope), error.status)
    return RedirectResponse(here, 303, NO_STORE) if has_token else None


async def _start_session(request: HTTPConnection, context: AuthContext) -> str | None:
    """Start a session if the query has the right token, or a code that is good. Only the first of each counts."""
    tokens, codes = (request.query_params.getlist(name)[:1] for name in (TOKEN, CODE))
    if any(context.keys.is_token(token) for token in tokens):
        return await context.sessions.start(ALONE, generation=context.keys.generation)
    return await context.sessions.start(ALONE, code=codes[0]) if codes else None


def local_path(path: str) -> str:
    """Return the path if it stays on this server, else `/`."""
    return path if LOCAL_PATH.fullmatch(path) else "/"


def bearer_token(headers: list[str]) -> str | None:
    """Return the token in the `Authorization` headers of a request (RFC 6750); None for any other credentials.

    Browsers never send one by themselves, unlike the credentials of the schemes Basic, Digest, NTLM and Negotiate.
    """
    match = BEARER.fullmatch(headers[0].strip(" \t")) if len(headers) == 1 else None
    return match[1] if match else None


async def _bearer_user(headers: list[str], context: AuthContext) -> str:
    token = bearer_token(headers)
    if token is not None and context.accounts is not None:
        return await context.accounts.user_of(token, context.clock())
    if token is not None and context.keys.is_token(token):
        return ALONE
    raise Unauthorised(how_to_sign_in(context), invalid_token=True)


def _signed_user(request: HTTPConnection, context: AuthContext) -> str | None:
    scope = request.scope
    query: str = scope["query_string"].decode("latin-1")
    if "sig=" not in query or not scope["path"].startswith(SIGNED_PREFIX):
        return None
    # The path that the router takes, and not `raw_path`: what is checked is what is opened.
    user = context.keys.check_url(scope["method"], quote(scope["path"]), query, context.clock())
    return user if user is not None and _is_known(user, context) else None


async def cookie_session(request: HTTPConnection, context: AuthContext) -> Session | None:
    """Return the session that the cookie names, or None.

    The single user's cookie is renewed once a day, so that regular visitors stay signed in. Raises `LoginUnavailable`.
    """
    text, now = get_cookie(request), context.clock()
    cookie = context.keys.read_cookie(text, now) if text else None
    session = await context.sessions.find(cookie.session) if cookie else None
    if cookie is None or session is None or not _is_known(session.user, context):
        return None
    if context.accounts is not None and now - session.created > LOGIN_AGE:
        return None
    if context.accounts is None and now - cookie.written > RENEW_AFTER:
        set_cookie(request, context.keys.sign_cookie(session.id, now))
    return session


def _is_secure(request: HTTPConnection) -> bool:
    return request.scope["scheme"] == "https"


def _cookie_name(request: HTTPConnection, name: str) -> str:
    """Return the cookie's full name.

    Browsers accept the prefix `__Host-` only from this very host, not from sibling domains, and only for all of its
    paths. The suffix differs between servers on one host, so that they don't sign each other's users out.
    """
    full_name = f"{name}-{auth_context(request).keys.cookie_suffix}"
    if not _is_secure(request):
        return full_name
    return f"__Secure-{full_name}" if prefix_of(request.scope) else f"__Host-{full_name}"


def _is_known(user: str, context: AuthContext) -> bool:
    """Whether the user exists here: signatures for the single user are void once there are accounts, and vice versa."""
    if context.host_users is not None:
        return True  # a signature with this application's key is enough
    return user == ALONE if context.accounts is None else context.accounts.owns(user)
