"""Who asks: by a cookie of the page, a bearer token, or a signed address of a file. Not: what they may do."""

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
from showandtell.server.auth.error_pages import ADDRESS, UNKEPT, closed
from showandtell.server.auth.keys import COOKIE_AGE, DAY, RENEWED_AFTER, Keys

#: The one user where there are no accounts; the command line's conversations are theirs, too.
ALONE: Final = "local"
COOKIE: Final = "showandtell"
#: Seconds after which who has an account signs in again: whether they still have it, only its issuer knows.
ENTRY_AGE: Final = 7 * DAY
#: Where a scope keeps who asks, once that is known, and the cookies that its answer is to set.
KNOWN: Final = "showandtell.user"
COOKIES: Final = "showandtell.cookies"
#: The only addresses that are ever signed.
SIGNED: Final = "/api/attachments/"
#: A path on this server and nothing a browser takes for another one: `//host`, `/\\host`, or what hides in blanks.
OWN_PATH: Final = re.compile(r"/(?!/)[!-\[\]-~]*", re.ASCII)
BEARER: Final = re.compile(r"bearer +([A-Za-z0-9._~+/!-]+=*)", re.ASCII | re.IGNORECASE)


class Unauthorised(ShowAndTellError):
    """Nobody we know asks: 401; `tried`: by a token. `challenge` is what the header `WWW-Authenticate` says."""

    status: Final = 401

    def __init__(self, text: str, *, tried: bool = False) -> None:
        super().__init__(text)
        self.tried = tried
        self.challenge = 'Bearer realm="showandtell"' + (', error="invalid_token"' if tried else "")


class Forbidden(ShowAndTellError):
    """We know who asks, and this is not for them, whatever they send: 403."""

    status: Final = 403


class LoginUnavailable(ShowAndTellError):
    """The issuer of the accounts does not answer, so nobody can be told from anybody else: 503."""

    status: Final = 503


class User(Struct, frozen=True):
    """Who asks, and how we know: `name` is the owner of what they make."""

    name: str
    how: Literal["cookie", "bearer", "signed"]


class Accounts(Protocol):
    """Where users come from when there is more than one."""

    def owns(self, user: str) -> bool:
        """Whether this is the name of one of its users."""
        ...

    async def user_of(self, token: str, now: float) -> str:
        """The name of the user whom a bearer token belongs to. Raises `Unauthorised`, and `LoginUnavailable`."""
        ...


class AuthContext(Protocol):
    """What is needed to tell who asks: `Server` has it. Without `accounts` there is one user, who has the token."""

    @property
    def keys(self) -> Keys:
        """The server's keys."""
        ...

    @property
    def accounts(self) -> Accounts | None:
        """Where users come from."""
        ...

    @property
    def clock(self) -> Callable[[], float]:
        """Epoch seconds."""
        ...


def door_of(request: HTTPConnection) -> AuthContext:
    """The server's own."""
    return cast("AuthContext", request.app.state.server)


async def current_user(request: HTTPConnection) -> User:
    """Who asks; found out once for a request. Raises `Unauthorised`, and `LoginUnavailable`."""
    known: User | None = request.scope.get(KNOWN)
    if known is None:
        known = request.scope[KNOWN] = await recognise(request, door_of(request))
    return known


CurrentUser = Annotated[User, Depends(current_user)]


async def recognise(request: HTTPConnection, door: AuthContext) -> User:
    """Who asks. A request with an `Authorization` is judged by that alone: its cookie could be somebody else's."""
    if said := request.headers.getlist("authorization"):
        return User(await _bearer(said, door), "bearer")
    if signed := _signed(request, door):
        return User(signed, "signed")
    if visitor := _visitor(request, door):
        return User(visitor, "cookie")
    raise Unauthorised(how_to_enter(door))


def how_to_enter(door: AuthContext) -> str:
    """What somebody does whom we don't know."""
    if door.accounts is not None:
        return "not signed in: go to /login, or send `Authorization: Bearer` with a token of this server's issuer"
    return "not signed in: open the address that `showandtell serve` printed, or send `Authorization: Bearer TOKEN`"


def set_cookie(request: HTTPConnection, value: str, *, name: str = COOKIE, age: int = COOKIE_AGE) -> None:
    """Have the answer to this request set a cookie that no script reads and no other site's form sends."""
    secure = "; Secure" if _is_secure(request) else ""
    kept = f"{_spelt(request, name)}={value}; Path=/; Max-Age={age}; HttpOnly; SameSite=Lax{secure}"
    request.scope.setdefault(COOKIES, []).append(kept)


def get_cookie(request: HTTPConnection, name: str = COOKIE) -> str:
    """The value of a cookie that `set_cookie` has set; empty where there is none."""
    return request.cookies.get(_spelt(request, name), "")


async def enter(request: HTTPConnection) -> Response | None:
    """The answer to who asks for a page and has to come in first; None: they may have the page.

    `?token=T` becomes a cookie, and leaves the address. Without one, or with a wrong one, a small page says what to do;
    where there are accounts, the way leads to /login.
    """
    door = door_of(request)
    kept = [(name, value) for name, value in parse_qsl(request.url.query) if name != "token"]
    page = own_path(quote(request.scope["path"]) + ("?" + urlencode(kept) if kept else ""))
    tokens = request.query_params.getlist("token")
    if door.accounts is None and any(door.keys.is_token(token) for token in tokens[:1]):
        set_cookie(request, door.keys.sign_cookie(ALONE, door.clock()))
        return RedirectResponse(page, 303, UNKEPT)
    try:
        await current_user(request)
    except Unauthorised:
        if door.accounts is not None:
            return RedirectResponse("/login?" + urlencode({"to": page}), 303, UNKEPT)
        problem = "The token in the address is not this server's." if tokens else "This page needs its token."
        return closed("Not signed in", problem, ADDRESS, 401)
    return RedirectResponse(page, 303, UNKEPT) if tokens else None


def own_path(said: str) -> str:
    """The same path, if it leads nowhere but to this server; else the first page."""
    return said if OWN_PATH.fullmatch(said) else "/"


async def _bearer(said: list[str], door: AuthContext) -> str:
    match = BEARER.fullmatch(said[0].strip()) if len(said) == 1 else None
    if match and door.accounts is not None:
        return await door.accounts.user_of(match[1], door.clock())
    if match and door.keys.is_token(match[1]):
        return ALONE
    raise Unauthorised(how_to_enter(door), tried=True)


def _signed(request: HTTPConnection, door: AuthContext) -> str | None:
    scope = request.scope
    query: str = scope["query_string"].decode("latin-1")
    if "sig=" not in query or not scope["path"].startswith(SIGNED):
        return None
    raw: bytes = scope.get("raw_path") or quote(scope["path"]).encode()
    user = door.keys.check_url(scope["method"], raw.decode("latin-1"), query, door.clock())
    return user if user is not None and _is_ours(user, door) else None


def _visitor(request: HTTPConnection, door: AuthContext) -> str | None:
    """Whose cookie it is. The single user's is written anew when it is a day old, so that who comes often stays in."""
    text, now = get_cookie(request), door.clock()
    visit = door.keys.read_cookie(text, now) if text else None
    if visit is None or not _is_ours(visit.user, door):
        return None
    if door.accounts is not None and now - visit.since > ENTRY_AGE:
        return None
    if door.accounts is None and now - visit.written > RENEWED_AFTER:
        set_cookie(request, door.keys.sign_cookie(visit.user, now, visit.since))
    return visit.user


def _is_secure(request: HTTPConnection) -> bool:
    return request.scope["scheme"] == "https"


def _spelt(request: HTTPConnection, name: str) -> str:
    """A cookie's name: with this prefix, browsers take it from this very host alone, and from no neighbour of it.

    Another server on the same host has cookies of another mark: neither signs the other's users out.
    """
    marked = f"{name}-{door_of(request).keys.mark}"
    return f"__Host-{marked}" if _is_secure(request) else marked


def _is_ours(user: str, door: AuthContext) -> bool:
    """What was signed for the single user is nobody's where there are accounts, and the other way round."""
    return user == ALONE if door.accounts is None else door.accounts.owns(user)
