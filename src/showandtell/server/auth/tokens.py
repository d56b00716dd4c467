"""Signed tokens (JWT) of an issuer: read with its public keys alone, and only by the algorithms named here."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any, Final, cast

from joserfc import jwt
from joserfc.errors import ClaimError, ExpiredTokenError, JoseError, UnsupportedAlgorithmError
from joserfc.jwk import ECKey, JWKRegistry, Key, OKPKey, RSAKey
from joserfc.jws import JWSRegistry, extract_compact
from joserfc.jwt import JWTClaimsRegistry
from msgspec import Struct

from showandtell.server.auth.authenticate import Unauthorised

#: What may sign, and by which kind of key. No shared secret (HS…) and no "none": a public key would pass for one.
ALGORITHMS: Final[Mapping[str, type]] = {"RS256": RSAKey, "ES256": ECKey, "EdDSA": OKPKey, "Ed25519": OKPKey}
#: What a token may say it is (RFC 9068 names the second): others are made for other ends, a logout for one.
TYPES: Final = ("jwt", "at+jwt", "application/at+jwt", "none")
#: Seconds by which the issuer's clock may differ from ours, and the base64 letters of the shortest RSA key, 2048 bits.
LEEWAY: Final = 60
RSA_LETTERS: Final = 342
USER_LETTERS: Final = 255


class UnknownKey(Unauthorised):
    """A token is signed with a key that we haven't got; its issuer may have a new one."""


class Expected(Struct, frozen=True):
    """What a token must say: who issued it, and for whom."""

    issuer: str
    audience: str


class _Registry(JWSRegistry):
    """Takes our algorithms alone. Headers that we don't know mean nothing, as the standard has it."""

    max_header_length = 8192

    def __init__(self) -> None:
        super().__init__(algorithms=[*ALGORITHMS], strict_check_header=False)

    def get_alg(self, name: str) -> Any:
        """The algorithm of that name, without the library's warning that EdDSA has a newer name."""
        if name not in ALGORITHMS:
            raise UnsupportedAlgorithmError
        return self.algorithms[name]


REGISTRY: Final = _Registry()


def read_keys(published: Mapping[str, Any]) -> list[Key]:
    """The keys of a JWKS that can verify a token: those for something else, and those that are none, are left out."""
    found: object = published.get("keys")
    keys: list[Key] = []
    for one in cast("Iterable[object]", found if isinstance(found, list) else ()):
        with suppress(JoseError, ValueError, TypeError, KeyError):
            if isinstance(one, dict) and _may_verify(key := cast("dict[str, Any]", one)):
                keys.append(JWKRegistry.import_key(key))
    return keys


def _may_verify(key: Mapping[str, Any]) -> bool:
    strong = key.get("kty") in {"EC", "OKP"} or (key.get("kty") == "RSA" and len(key["n"]) >= RSA_LETTERS)
    return strong and isinstance(key.get("kid"), str) and key.get("use", "sig") == "sig" and "d" not in key


def read_token(token: str, keys: Iterable[Key], expected: Expected, now: float) -> dict[str, Any]:
    """The claims of a token that is good now. Raises `Unauthorised`, and `UnknownKey` where its key isn't there."""
    try:
        header = extract_compact(token.encode(), registry=REGISTRY).headers()
        claims = jwt.decode(token, _key_of(header, keys), registry=REGISTRY).claims
        _rules(expected, now).validate(claims)
    except ExpiredTokenError:
        raise _refused("it has expired") from None
    except ClaimError as error:
        raise _refused(f"its claim {error.claim!r} is not what it must be") from None
    except (JoseError, ValueError, TypeError, RecursionError):
        raise _refused("it is none that this server's issuer signed") from None
    return claims


def user_of(claims: Mapping[str, Any]) -> str:
    """The issuer's name of the user. Raises `Unauthorised` for one that nothing could be stored under."""
    name = claims["sub"]
    if not name.isprintable() or not 0 < len(name) <= USER_LETTERS:
        raise _refused("its claim 'sub' is not what it must be")
    return name


def _key_of(header: Mapping[str, Any], keys: Iterable[Key]) -> Key:
    """The key that a header names, and never one that it holds."""
    if "crit" in header or str(header.get("typ", "none")).lower() not in TYPES:
        raise _refused("it is made for something else")
    kind, kid = ALGORITHMS.get(str(header.get("alg"))), header.get("kid")
    if kind is None or not isinstance(kid, str):
        raise _refused("its header names no key, or an algorithm that is not taken")
    for key in keys:
        if key.kid == kid and isinstance(key, kind):
            return key
    raise UnknownKey("this token is signed with a key that its issuer doesn't publish: get a new one", tried=True)


def _rules(expected: Expected, now: float) -> JWTClaimsRegistry:
    return JWTClaimsRegistry(
        now=int(now),
        leeway=LEEWAY,
        iss={"essential": True, "value": expected.issuer},
        aud={"essential": True, "value": expected.audience},
        exp={"essential": True},
        sub={"essential": True},
    )


def _refused(why: str) -> Unauthorised:
    return Unauthorised(f"this token is not taken, {why}: get a new one from this server's issuer", tried=True)
