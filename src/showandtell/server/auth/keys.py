"""The server's secret, and what derives from it: the single user's token, signed cookies and signed URLs.

Each key is derived from the secret with its own label, so one key's signature is worthless to another.
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

from showandtell.config.private_folder import make_private_folder
from showandtell.errors import BadInput

VARIABLE: Final = "SHOWANDTELL_SECRET"
#: Earlier secrets, separated by commas. They only decrypt what the database holds.
PREVIOUS_VARIABLE: Final = "SHOWANDTELL_PREVIOUS_SECRETS"
FILE_NAME: Final = "secret"
S = TypeVar("S", bound=Struct)
#: Minimum bytes of a secret: a shorter one could be guessed.
MIN_SECRET: Final = 32
DAY: Final = 86_400
#: Seconds that a cookie is valid since it was last written, and seconds after which it is renewed.
COOKIE_AGE: Final = 30 * DAY
RENEW_AFTER: Final = DAY
#: Seconds that a signed URL is valid, and seconds by which the clocks of two server processes may differ.
URL_AGE: Final = 14 * 60
SKEW: Final = 60
#: A signed URL grants reading only.
SIGNED_METHODS: Final = ("GET", "HEAD")
#: The end of a signed URL's query, as `Keys.sign_url` writes it.
SIGNED_QUERY: Final = re.compile(rb"&until=[0-9]+&sig=", re.ASCII)
UNTIL: Final = re.compile(r"[1-9][0-9]{0,11}", re.ASCII)
#: A token chosen by a person: it has to fit into a header and resist guessing.
TOKEN: Final = re.compile(r"[!-~]{12,512}", re.ASCII)


class CookieSession(Struct, frozen=True, array_like=True):
    """Content of a cookie: the id of its session, and when it was written (epoch seconds)."""

    session: str
    written: int


class SignedUrl(Struct, frozen=True):
    """For whom a URL was signed, and until when (epoch seconds)."""

    user: str
    until: int


class _Signer(TimestampSigner):
    """A signer with the time of the caller, `now`."""

    now = 0.0

    def get_timestamp(self) -> int:
        return int(self.now)


class Keys:
    """The keys of one server. Its worker processes share the secret, so each accepts what another one signed.

    `token` is that of the single user: `SHOWANDTELL_TOKEN`, or derived from the secret and the token's generation,
    which is 0 until the token is renewed. Changing the variable voids all cookies; renewing the token ends the sessions
    that they name. Raises `BadInput` for a short secret or an unusable token.
    """

    def __init__(self, secret: bytes, token: str | None = None) -> None:
        if len(secret) < MIN_SECRET:
            raise BadInput(f"the secret has {len(secret)} bytes: use at least {MIN_SECRET} random bytes")
        if token and not TOKEN.fullmatch(token):
            raise BadInput(
                "SHOWANDTELL_TOKEN is not usable: use 12 to 512 ASCII letters, digits and punctuation marks, no spaces"
            )
        self._secret = secret
        #: How often the token was renewed; None for a configured one.
        self.generation: int | None = None if token else 0
        self.token = token or self._token_of(0)
        self._sealing = self.derive(f"seal {self.token}")
        self._url = self.derive("url")
        #: Browsers send cookies to every port of a host: the suffix tells servers apart.
        self.cookie_suffix = self.derive(f"mark {self.token}").hex()[:8]

    def use_generation(self, generation: int) -> bool:
        """Use the token of this generation, unless the token is configured. Returns whether the token changed."""
        previous = self.token
        if self.generation is not None:
            self.generation, self.token = generation, self._token_of(generation)
        return self.token != previous

    def _token_of(self, generation: int) -> str:
        return base64url(self.derive(f"token {generation}" if generation else "token"))

    def derive(self, label: str) -> bytes:
        """Derive the 32-byte key for one purpose."""
        return derive_key(self._secret, label)

    def is_token(self, value: str) -> bool:
        """Whether this is the token, compared in constant time."""
        return is_same(value, self.token)

    def sign_cookie(self, session: str, now: float) -> str:
        """Return the cookie value for a session."""
        return self.seal("session", CookieSession(session, int(now)), now)

    def read_cookie(self, text: str, now: float) -> CookieSession | None:
        """Return the content of a cookie, or None if it has expired or was not signed with this secret."""
        return self.unseal("session", text, CookieSession, now, COOKIE_AGE)

    def seal(self, label: str, value: Struct, now: float) -> str:
        """Serialize and sign a value. The text is readable by clients, and any change to it is detected."""
        return self._signer(label, now).sign(base64.urlsafe_b64encode(msgspec.json.encode(value))).decode()

    def unseal(self, label: str, text: str, kind: type[S], now: float, age: int) -> S | None:
        """Return the value sealed with this label at most `age` seconds ago, or None for any other text."""
        with suppress(BadData, ValueError, msgspec.MsgspecError):
            signed = self._signer(label, now + SKEW).unsign(text, max_age=age + SKEW)
            return msgspec.json.decode(base64.urlsafe_b64decode(signed), type=kind)
        return None

    def sign_url(self, path: str, user: str, now: float) -> str:
        """Return the query (`user=…&until=…&sig=…`) that grants reading `path`, given as written in the URL."""
        until = int(now) + URL_AGE
        return urlencode({"user": user, "until": until, "sig": self._seal(path, user, until)})

    def sign_path(self, path: str, user: str, now: float) -> str:
        """Return the path with the query that grants reading it."""
        return f"{path}?{self.sign_url(path, user, now)}"

    def check_url(self, method: str, path: str, query: str, now: float) -> str | None:
        """Return the user for whom a URL was signed, or None if its signature or time is invalid.

        Other query parameters are ignored: they never select another file.
        """
        signed = self.verify_url(path, query)
        if method not in SIGNED_METHODS or signed is None or not now < signed.until <= now + URL_AGE + SKEW:
            return None
        return signed.user

    def verify_url(self, path: str, query: str) -> SignedUrl | None:
        """Return for whom a URL was signed and until when, which may be over; None if its signature is invalid."""
        signature = _parse_signature(query)
        if signature is None:
            return None
        user, until, seal = signature
        if not UNTIL.fullmatch(until) or not is_same(seal, self._seal(path, user, int(until))):
            return None
        return SignedUrl(user, int(until))

    def _seal(self, path: str, user: str, until: int) -> str:
        # Sign the unescaped path: clients and proxies differ in how they escape it.
        fields = [b"read", unquote_to_bytes(path), user.encode(errors="surrogatepass"), b"%d" % until]
        message = b"".join(len(value).to_bytes(8, "big") + value for value in fields)
        return base64url(hmac.digest(self._url, message, "sha256"))

    def _signer(self, label: str, now: float) -> _Signer:
        signer = _Signer(self._sealing, salt=label.encode(), key_derivation="hmac", digest_method=hashlib.sha256)
        signer.now = now
        return signer


def derive_key(secret: bytes, label: str) -> bytes:
    """Derive a 32-byte key from a secret."""
    return hmac.digest(secret, f"showandtell 1 {label}".encode(), "sha256")


def previous_secrets(environ: Mapping[str, str] = os.environ) -> tuple[bytes, ...]:
    """The secrets of `$SHOWANDTELL_PREVIOUS_SECRETS`. Raises `BadInput` if one is too short."""
    texts = filter(None, (text.strip() for text in environ.get(PREVIOUS_VARIABLE, "").split(",")))
    return tuple(_check_length(text.encode(), f"${PREVIOUS_VARIABLE}") for text in texts)


def load_secret(folder: Path | None, environ: Mapping[str, str] = os.environ) -> bytes:
    """Return `$SHOWANDTELL_SECRET`, else the secret in `folder`, creating it if it is missing.

    Processes that start at the same time get the same secret. Raises `BadInput` if the secret is too short, can't be
    read or written, or is readable by other users of the machine.
    """
    if secret := environ.get(VARIABLE, "").strip():
        return _check_length(secret.encode(), f"${VARIABLE}")
    if folder is None:
        raise BadInput(f"no secret to sign cookies with: set {VARIABLE} to at least {MIN_SECRET} random characters")
    path = folder / FILE_NAME
    try:
        if not path.exists():
            _make_secret(path)
        return _check_length(_read_secret(path), str(path))
    except OSError as error:
        raise BadInput(f"{path} can't be used ({error.strerror or error}): fix that, or set {VARIABLE}") from None


def _make_secret(path: Path) -> None:
    """Write to a temporary file and link it into place, so that a second process finds the first one's complete."""
    make_private_folder(path.parent)
    spooled = path.with_name(f".{path.name}-{secrets.token_hex(8)}")
    try:
        handle = os.open(spooled, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "wb") as sink:
            sink.write(secrets.token_urlsafe(MIN_SECRET).encode())
            sink.flush()
            os.fsync(sink.fileno())
        with suppress(FileExistsError):
            os.link(spooled, path)
    finally:
        spooled.unlink(missing_ok=True)


def _read_secret(path: Path) -> bytes:
    with path.open("rb") as source:
        if os.fstat(source.fileno()).st_mode & 0o077:
            raise BadInput(
                f"{path} is readable by other users of this machine: run chmod 600 on it, or delete it to get a new one"
            )
        return source.read(4096).strip()


def _check_length(secret: bytes, name: str) -> bytes:
    if len(secret) < MIN_SECRET:
        raise BadInput(
            f"{name} has {len(secret)} bytes: use at least {MIN_SECRET} random bytes, as from `openssl rand -hex 32`"
        )
    return secret


def _parse_signature(query: str) -> tuple[str, str, str] | None:
    """Return user, expiry and seal of a signed URL's query, or None if one is missing or repeated."""
    try:
        values = parse_qs(query, keep_blank_values=True, max_num_fields=16, errors="strict")
    except ValueError:
        return None
    match [values.get(name) for name in ("user", "until", "sig")]:
        case [[user], [until], [seal]]:
            return user, until, seal
        case _:
            return None


def is_same(value: str, expected: str) -> bool:
    """Whether two texts are equal. Compares digests, so that the time taken reveals neither content nor length."""
    digests = (hashlib.sha256(text.encode(errors="surrogatepass")).digest() for text in (value, expected))
    return hmac.compare_digest(*digests)


def base64url(data: bytes) -> str:
    """Encode bytes as unpadded base64url, which is safe in URLs and headers."""
    return base64.urlsafe_b64encode(data).decode().rstrip("=")
