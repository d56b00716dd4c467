"""The server's one secret and what is made of it: the single user's token, signed cookies and signed addresses.

Every key is derived from the secret under a label of its own, so what one of them signed means nothing to another.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import os
import re
import secrets
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final, TypeVar
from urllib.parse import parse_qs, unquote_to_bytes, urlencode

import msgspec
from itsdangerous import BadData, TimestampSigner
from msgspec import Struct

from showandtell.errors import BadInput

VARIABLE: Final = "SHOWANDTELL_SECRET"
NAME: Final = "secret"
S = TypeVar("S", bound=Struct)
#: Bytes of a secret: fewer could be guessed.
LEAST: Final = 32
DAY: Final = 86_400
#: Seconds for which a cookie is valid, from when it was last written; and after which it is written anew.
COOKIE_AGE: Final = 30 * DAY
RENEWED_AFTER: Final = DAY
#: Seconds for which a signed address is valid, and by how many the clocks of two of our processes may differ.
URL_AGE: Final = 14 * 60
SKEW: Final = 60
#: Signed addresses only read.
READING: Final = ("GET", "HEAD")
UNTIL: Final = re.compile(r"[1-9][0-9]{0,11}", re.ASCII)
#: A token that a person chose: it must fit into a header, and not be found by trying.
TOKEN: Final = re.compile(r"[!-~]{12,512}", re.ASCII)


class CookieSession(Struct, frozen=True, array_like=True):
    """What a cookie says: whose it is, when they signed in, and when it was written (both in epoch seconds)."""

    user: str
    since: int
    written: int = 0


class _Signer(TimestampSigner):
    """A signer that goes by the caller's clock, `now`."""

    now = 0.0

    def get_timestamp(self) -> int:
        return int(self.now)


class Keys:
    """The keys of one server. All its worker processes have the same secret, so that each takes what another signed.

    `token` is the single user's own: it is what `SHOWANDTELL_TOKEN` says, or derived from the secret. Where it is
    changed, cookies that were given for the old one are void.
    """

    def __init__(self, secret: bytes, token: str | None = None) -> None:
        if len(secret) < LEAST:
            raise BadInput(f"the secret has {len(secret)} bytes: use at least {LEAST} random ones")
        if token and not TOKEN.fullmatch(token):
            raise BadInput("SHOWANDTELL_TOKEN is not usable: take 12 to 512 letters, digits and signs, without spaces")
        self._secret = secret
        self.token = token or letters(self.derive("token"))
        self._sealing = self.derive(f"seal {self.token}")
        self._url = self.derive("url")
        #: What the names of this server's cookies end in: browsers send them to every port of a host.
        self.mark = self.derive(f"mark {self.token}").hex()[:8]

    def derive(self, label: str) -> bytes:
        """32 bytes for one use alone."""
        return hmac.digest(self._secret, f"showandtell 1 {label}".encode(), "sha256")

    def is_token(self, said: str) -> bool:
        """Whether this is the token; how long that takes tells nothing about it."""
        return is_same(said, self.token)

    def sign_cookie(self, user: str, now: float, since: float | None = None) -> str:
        """A cookie's value for a user who signed in at `since` (now, where it isn't given)."""
        return self.seal("cookie", CookieSession(user, int(now if since is None else since), int(now)), now)

    def read_cookie(self, text: str, now: float) -> CookieSession | None:
        """What a cookie of ours says; None for one that is too old, of another secret, or not ours."""
        return self.unseal("cookie", text, CookieSession, now, COOKIE_AGE)

    def seal(self, label: str, value: Struct, now: float) -> str:
        """A value as text that anybody may carry and read, and nobody change."""
        return self._signer(label, now).sign(base64.urlsafe_b64encode(msgspec.json.encode(value))).decode()

    def unseal(self, label: str, text: str, kind: type[S], now: float, age: int) -> S | None:
        """The value that was sealed under this label at most `age` seconds ago; None for anything else."""
        with suppress(BadData, ValueError, msgspec.MsgspecError):
            signed = self._signer(label, now + SKEW).unsign(text, max_age=age + SKEW)
            return msgspec.json.decode(base64.urlsafe_b64decode(signed), type=kind)
        return None

    def sign_url(self, path: str, user: str, now: float) -> str:
        """The query (`user=…&until=…&sig=…`) that lets whoever has it read `path`, as it stands in the address."""
        until = int(now) + URL_AGE
        return urlencode({"user": user, "until": until, "sig": self._seal(path, user, until)})

    def check_url(self, method: str, path: str, query: str, now: float) -> str | None:
        """The user as whom a signed address may be read; None where its signature or its time says no.

        Other things in the query are not looked at: they mean no other file.
        """
        said = _said_once(query)
        if method not in READING or said is None:
            return None
        user, until, seal = said
        if not UNTIL.fullmatch(until) or not now < int(until) <= now + URL_AGE + SKEW:
            return None
        return user if is_same(seal, self._seal(path, user, int(until))) else None

    def _seal(self, path: str, user: str, until: int) -> str:
        # The path is taken without its escapes: clients and proxies spell those each in their own way.
        fields = [b"read", unquote_to_bytes(path), user.encode(errors="surrogatepass"), b"%d" % until]
        message = b"".join(len(one).to_bytes(8, "big") + one for one in fields)
        return letters(hmac.digest(self._url, message, "sha256"))

    def _signer(self, label: str, now: float) -> _Signer:
        signer = _Signer(self._sealing, salt=label.encode(), key_derivation="hmac", digest_method=hashlib.sha256)
        signer.now = now
        return signer


def load_secret(folder: Path | None, environ: Mapping[str, str] = os.environ) -> bytes:
    """The server's secret: `$SHOWANDTELL_SECRET`, else that in `folder`, where it is made when it isn't there yet.

    Of processes that start at once, one makes it and all get the same. Raises `BadInput` where it is too short, can't
    be read or written, or could be read by others.
    """
    if named := environ.get(VARIABLE, "").strip():
        return _long_enough(named.encode(), f"${VARIABLE}")
    if folder is None:
        raise BadInput(f"no secret to sign cookies with: set {VARIABLE} to {LEAST} random bytes or more, as text")
    path = folder / NAME
    try:
        if not path.exists():
            _make_secret(path)
        return _long_enough(_read_secret(path), str(path))
    except OSError as error:
        raise BadInput(f"{path} can't be used: {error.strerror or error}; or set {VARIABLE}") from None


def _make_secret(path: Path) -> None:
    """Write it beside its place and link it there: whoever is second finds the first one's, whole."""
    path.parent.mkdir(parents=True, exist_ok=True)
    spooled = path.with_name(f".{path.name}-{secrets.token_hex(8)}")
    try:
        handle = os.open(spooled, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "wb") as sink:
            sink.write(secrets.token_urlsafe(LEAST).encode())
            sink.flush()
            os.fsync(sink.fileno())
        with suppress(FileExistsError):
            os.link(spooled, path)
    finally:
        spooled.unlink(missing_ok=True)


def _read_secret(path: Path) -> bytes:
    with path.open("rb") as source:
        if os.fstat(source.fileno()).st_mode & 0o077:
            raise BadInput(f"{path} can be read by others on this machine: chmod 600 it, or delete it to get a new one")
        return source.read(4096).strip()


def _long_enough(secret: bytes, name: str) -> bytes:
    if len(secret) < LEAST:
        raise BadInput(f"{name} has {len(secret)} bytes: use at least {LEAST} random ones, `openssl rand -hex 32`")
    return secret


def _said_once(query: str) -> tuple[str, str, str] | None:
    """User, time and seal of a signed address' query; None where one is missing or said twice."""
    try:
        found = parse_qs(query, keep_blank_values=True, max_num_fields=16, errors="strict")
    except ValueError:
        return None
    match [found.get(name) for name in ("user", "until", "sig")]:
        case [[user], [until], [seal]]:
            return user, until, seal
        case _:
            return None


def is_same(said: str, meant: str) -> bool:
    """Whether two texts are the same, compared by digests: neither content nor length shows in the time it takes."""
    digests = (hashlib.sha256(one.encode(errors="surrogatepass")).digest() for one in (said, meant))
    return hmac.compare_digest(*digests)


def letters(data: bytes) -> str:
    """Bytes as letters that may stand in an address and in a header."""
    return base64.urlsafe_b64encode(data).decode().rstrip("=")
