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
    """Stores people in a database: at most once an hour for each, unless their name changes."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._known: LruDict[str, tuple[str, float]] = LruDict(MAX_KNOWN)

    async def remember(self, user: str, claims: Mapping[str, Any], now: float) -> None:
        """Store that a person was here. A database that can't store it now doesn't keep anybody out."""
        name = display_name(claims)
        known, seen = self._known.get(user) or ("", -SEEN_SECONDS)
        if name in {"", known} and now - seen < SEEN_SECONDS:
            return
        with suppress(StorageFailed):
            await users.remember(self._database, user, name, now)
            self._known.add(user, (name or known, now))


def display_name(claims: Mapping[str, Any]) -> str:
    """The display name in a token's claims; empty if they hold none, or only an address or the account's id."""
    cleaned = (clean_name(claims.get(claim)) for claim in NAME_CLAIMS)
    return next((name for name in cleaned if name and name != clean_name(claims.get("sub"))), "")
