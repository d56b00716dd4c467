"""Keys of providers in the database: encrypted, for all users or for one, and cached by each worker."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from typing import Final

import msgspec
from sqlalchemy import Connection, bindparam, delete, select, update

from showandtell.errors import StorageFailed
from showandtell.server.auth.stored_secrets import StoredSecrets, WrongSecret
from showandtell.server.provider_keys.provider_key import EVERYONE, ProviderKey, StoredKey
from showandtell.storage.blobs.bounded_dict import LruDict
from showandtell.storage.database.database import Database, Row
from showandtell.storage.database.rows import serialize
from showandtell.storage.database.tables import provider_keys
from showandtell.storage.database.upserts import upsert

log = logging.getLogger(__name__)

#: Seconds after which a worker sees what another one has stored.
MAX_AGE: Final = 10.0
#: Maximum number of users whose keys are cached.
MAX_CACHED: Final = 10_000
SELECT_KEYS = select(provider_keys.c.provider, provider_keys.c.encrypted, provider_keys.c.changed).where(
    provider_keys.c.owner == bindparam("who")
)
SELECT_ALL = select(provider_keys.c.owner, provider_keys.c.provider, provider_keys.c.encrypted).with_for_update()
DELETE_KEY = delete(provider_keys).where(
    provider_keys.c.owner == bindparam("who"), provider_keys.c.provider == bindparam("which")
)
UPDATE_KEY = (
    update(provider_keys)
    .where(provider_keys.c.owner == bindparam("who"), provider_keys.c.provider == bindparam("which"))
    .values(encrypted=bindparam("new"))
)


class StoredKeys:
    """The stored keys of one database. With `own_keys`, each user may have keys besides those for everyone.

    `clock` returns epoch seconds.
    """

    def __init__(
        self, database: Database, secrets: StoredSecrets, clock: Callable[[], float], *, own_keys: bool = False
    ) -> None:
        self._database, self._secrets, self._clock, self._own_keys = database, secrets, clock, own_keys
        self._cached: LruDict[str, tuple[Mapping[str, StoredKey], float]] = LruDict(MAX_CACHED)

    async def of(self, user: str) -> Mapping[str, StoredKey]:
        """The keys that a user's runs use, by provider: the user's own before those for everyone."""
        for_all = await self.stored_for(EVERYONE)
        return {**for_all, **await self.stored_for(user)} if self._own_keys and user else for_all

    async def stored_for(self, owner: str) -> Mapping[str, StoredKey]:
        """The keys of one owner by provider. If the database fails, those that were read last."""
        now = self._clock()
        cached = self._cached.get(owner)
        if cached is not None and abs(now - cached[1]) < MAX_AGE:
            return cached[0]
        try:
            rows = await self._database.read(SELECT_KEYS, who=owner)
        except StorageFailed:
            if cached is None:
                raise
            return cached[0]
        keys = {row[0]: self._read(owner, row) for row in rows}
        self._cached.add(owner, (keys, now))
        return keys

    async def save(self, owner: str, provider: str, key: ProviderKey) -> None:
        """Store a key in place of an older one. It works here at once, at other workers within `MAX_AGE` seconds."""
        encrypted = self._secrets.encrypt(serialize(key), purpose_of(owner, provider))
        row = {"owner": owner, "provider": provider, "encrypted": encrypted, "changed": self._clock()}
        values = {name: row[name] for name in ("encrypted", "changed")}

        def transaction(connection: Connection) -> None:
            statement = upsert(connection, provider_keys)
            keys = ["owner", "provider"]
            connection.execute(statement.on_conflict_do_update(index_elements=keys, set_=values), row)

        await self._database.write(transaction)
        self._cached.drop(owner)

    async def delete(self, owner: str, provider: str) -> None:
        """Delete a key, if there is one."""
        values = {"who": owner, "which": provider}
        await self._database.write(lambda connection: connection.execute(DELETE_KEY, values))
        self._cached.drop(owner)

    async def renew_encryption(self) -> int:
        """Encrypt with the current secret what a previous one encrypted. Returns how many keys."""

        def transaction(connection: Connection) -> int:
            count = 0
            for owner, provider, encrypted in connection.execute(SELECT_ALL).all():
                purpose = purpose_of(owner, provider)
                if not self._secrets.is_current(encrypted) and (text := self._decrypt(encrypted, purpose)) is not None:
                    new = self._secrets.encrypt(text, purpose)
                    connection.execute(UPDATE_KEY, {"who": owner, "which": provider, "new": new})
                    count += 1
            return count

        return await self._database.write(transaction)

    def _read(self, owner: str, row: Row) -> StoredKey:
        provider, encrypted, changed = row
        text = self._decrypt(encrypted, purpose_of(owner, provider))
        return StoredKey(owner, None if text is None else msgspec.json.decode(text, type=ProviderKey), changed)

    def _decrypt(self, encrypted: str, purpose: str) -> str | None:
        try:
            return self._secrets.decrypt(encrypted, purpose)
        except WrongSecret as error:
            log.warning("a stored key of a provider can't be read: %s", error)
            return None


def purpose_of(owner: str, provider: str) -> str:
    """What a key is encrypted for."""
    return msgspec.json.encode(["provider key", owner, provider]).decode()
