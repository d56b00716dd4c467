"""Verify an issuer's signed tokens (JWT), only with its public keys and the algorithms listed here."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any, Final, cast

from joserfc import jwt
from joserfc.errors import ClaimError, ExpiredTokenError, JoseError, UnsupportedAlgorithmError
from joserfc.jwk import ECKey, JWKRegistry, Key, OKPKey, RSAKey
from joserfc.jws import JWSRegistry, extract_compact
from joserfc.jwt import ClaimsOption, JWTClaimsRegistry
from msgspec import Struct

from showandtell.server.auth.errors import Unauthorised

#: Accepted algorithms and their key types. Not HS…, where a public key would pass as the shared secret, and not "none".
ALGORITHMS: Final[Mapping[str, type]] = {"RS256": RSAKey, "ES256": ECKey, "EdDSA": OKPKey, "Ed25519": OKPKey}
#: Accepted values of `typ` (RFC 9068 defines the second). Tokens of other types serve other purposes, such as logout.
TYPES: Final = ("jwt", "at+jwt", "application/at+jwt", "none")
#: Seconds by which the issuer's clock may differ. Base64 characters of the shortest RSA modulus, 2048 bits.
LEEWAY: Final = 60
MIN_RSA_CHARACTERS: Final = 342
MAX_USER_CHARACTERS: Final = 255


class UnknownKey(Unauthorised):
    """A token's key is not among the known ones. The issuer may have published a new one."""


class Expected(Struct, frozen=True):
    """The issuer and the audience that a token must have, its types (header `typ`), and claims that it needs."""

    issuer: str
    audience: str
    types: tuple[str, ...] = TYPES
    claims: tuple[str, ...] = ("sub",)


class _Registry(JWSRegistry):
    """Accepts only `ALGORITHMS`. Ignores unknown headers, as the standard requires."""

    max_header_length = 8192

    def __init__(self) -> None:
        super().__init__(algorithms=[*ALGORITHMS], strict_check_header=False)

    def get_alg(self, name: str) -> Any:
        """Return an algorithm by name, without the library's warning that EdDSA has a newer name."""
        if name not in ALGORITHMS:
            raise UnsupportedAlgorithmError
        return self.algorithms[name]


REGISTRY: Final = _Registry()


def read_keys(jwks: Mapping[str, Any]) -> list[Key]:
    """Return the keys of a JWKS that can verify a token. Skips invalid keys and keys for other uses."""
    entries: object = jwks.get("keys")
    keys: list[Key] = []
    for entry in cast("Iterable[object]", entries if isinstance(entries, list) else ()):
        with suppress(JoseError, ValueError, TypeError, KeyError):
            if isinstance(entry, dict) and _may_verify(key := cast("dict[str, Any]", entry)):
                keys.append(JWKRegistry.import_key(key))
    return keys


def _may_verify(key: Mapping[str, Any]) -> bool:
    strong = key.get("kty") in {"EC", "OKP"} or (key.get("kty") == "RSA" and len(key["n"]) >= MIN_RSA_CHARACTERS)
    return strong and isinstance(key.get("kid"), str) and key.get("use", "sig") == "sig" and "d" not in key


def read_token(token: str, keys: Iterable[Key], expected: Expected, now: float) -> dict[str, Any]:
    """Return the claims of a token that is valid at `now`. Raises `Unauthorised`, or `UnknownKey` for a missing key."""
    try:
        header = extract_compact(token.encode(), registry=REGISTRY).headers()
        claims = jwt.decode(token, _key_of(header, keys, expected.types), registry=REGISTRY).claims
        _rules(expected, now).validate(claims)
    except ExpiredTokenError:
        raise _invalid_token("it has expired") from None
    except ClaimError as error:
        raise _invalid_token(f"its claim {error.claim!r} is wrong") from None
    except (JoseError, ValueError, TypeError, RecursionError):
        raise _invalid_token("this server's issuer did not sign it") from None
    return claims


def user_of(claims: Mapping[str, Any]) -> str:
    """Return the claim `sub`. Raises `Unauthorised` if it can't serve as a stored user name."""
    name = claims["sub"]
    if not name.isprintable() or not 0 < len(name) <= MAX_USER_CHARACTERS:
        raise _invalid_token("its claim 'sub' is empty, too long or not printable")
    return name


def _key_of(header: Mapping[str, Any], keys: Iterable[Key], types: tuple[str, ...]) -> Key:
    """Return the published key that the header names, never a key inside the header."""
    if "crit" in header or str(header.get("typ", "none")).lower() not in types:
        raise _invalid_token("it is a token for another purpose")
    kind, kid = ALGORITHMS.get(str(header.get("alg"))), header.get("kid")
    if kind is None or not isinstance(kid, str):
        raise _invalid_token("its header names no key, or an unsupported algorithm")
    for key in keys:
        if key.kid == kid and isinstance(key, kind):
            return key
    raise UnknownKey(
        "this token is signed with a key that its issuer doesn't publish: get a new token", invalid_token=True
    )


def _rules(expected: Expected, now: float) -> JWTClaimsRegistry:
    return JWTClaimsRegistry(
        now=int(now),
        leeway=LEEWAY,
        iss={"essential": True, "value": expected.issuer},
        aud={"essential": True, "value": expected.audience},
        exp={"essential": True},
        **{claim: ClaimsOption(essential=True) for claim in expected.claims},
    )


def _invalid_token(reason: str) -> Unauthorised:
    return Unauthorised(f"invalid token, {reason}: get a new one from this server's issuer", invalid_token=True)
