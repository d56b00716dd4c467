"""Remember who signs in or sends a token, under the display name that the issuer's claims give them."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Final

from showandtell.core.messages.display_names import clean_name
from showandtell.errors import StorageFailed
from showandtell.storage.blobs.bounded_dict import LruDict
from showandtell.storage.conversations import users
from showandtell.storage.database.database import Database

#: Claims of OpenID Connect (Core 1.0, section 5.1) that may hold a display name, best first. Never `email` or `sub`.
NAME_CLAIMS: Final = ("name", "nickname", "preferred_username")
#: Seconds after which a worker stores again that a person was here, and the most people that it knows.
SEEN_SECONDS: Final = 3600.0
MAX_KNOWN: Final = 10_000


class People:
    """Stores people in a database: at most once an hour for each, unless their name or their rights change.

    `admin_claim` is the claim of administrators, and the value that it has for them or contains.
    """

    def __init__(self, database: Database, admin_claim: tuple[str, str] | None = None) -> None:
        self._database, self._admin_claim = database, admin_claim
        self._known: LruDict[str, tuple[str, bool | None, float]] = LruDict(MAX_KNOWN)

    async def remember(self, user: str, claims: Mapping[str, Any], now: float) -> None:
        """Store that a person was here. A database that can't store it now doesn't keep anybody out."""
        name, admin = display_name(claims), self._is_admin(claims)
        known, was_admin, seen = self._known.get(user) or ("", None, -SEEN_SECONDS)
        if name in {"", known} and admin == was_admin and now - seen < SEEN_SECONDS:
            return
        with suppress(StorageFailed):
            await users.remember(self._database, user, name, now, admin=admin)
            self._known.add(user, (name or known, admin, now))

    def _is_admin(self, claims: Mapping[str, Any]) -> bool | None:
        if self._admin_claim is None:
            return None
        claim, wanted = self._admin_claim
        value = claims.get(claim)
        return wanted in (value if isinstance(value, list) else [value])


def display_name(claims: Mapping[str, Any]) -> str:
    """The display name in a token's claims; empty if they hold none, or only an address or the account's id."""
    cleaned = (clean_name(claims.get(claim)) for claim in NAME_CLAIMS)
    return next((name for name in cleaned if name and name != clean_name(claims.get("sub"))), "")
