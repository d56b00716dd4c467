"""A provider's key that was entered, and the connection that is made with it. Needs none of the server's libraries."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Final

from msgspec import Struct

from showandtell.agent.settings import Connection
from showandtell.errors import MissingKey
from showandtell.network.transport import Transport
from showandtell.providers.exchange import Exchange

#: The owner of keys for all users.
EVERYONE: Final = ""


class ProviderKey(Struct, frozen=True):
    """A key, empty for servers that need none, with the base URL that was given beside it, if any.

    `host` is the base URL of the requests that it was tested with. It is sent to no other.
    """

    api_key: str
    base_url: str | None
    host: str

    def __repr__(self) -> str:
        return f"ProviderKey(base_url={self.base_url!r}, host={self.host!r})"


class StoredKey(Struct, frozen=True):
    """A row: the key, None if it can't be decrypted, its owner, and when it was stored (epoch seconds)."""

    owner: str
    key: ProviderKey | None
    changed: float


class UnusableKey(MissingKey):
    """A stored key can't be decrypted, or belongs to another host."""


def usable_key(provider: str, stored: StoredKey) -> ProviderKey:
    """The key of a row. Raises `UnusableKey` if it can't be decrypted."""
    if stored.key is None:
        raise UnusableKey(f"the stored key for {provider} can't be read with this server's secret: enter it again")
    return stored.key


def usable_providers(keys: Mapping[str, StoredKey]) -> Collection[str]:
    """The providers whose stored key can be decrypted."""
    return [provider for provider, stored in keys.items() if stored.key is not None]


@dataclass(frozen=True, slots=True)
class Transports:
    """`direct` reaches hosts of the environment and of providers, `guarded` those that were given on the page."""

    direct: Transport
    guarded: Transport

    def connection(self, key: ProviderKey | None = None) -> Connection:
        """A connection with a stored key, else by the environment."""
        if key is None:
            return Connection(transport=self.direct)
        return Connection(base_url=key.base_url, api_key=key.api_key, transport=self.of(key))

    def of(self, key: ProviderKey) -> Transport:
        """The transport for a stored key."""
        return self.direct if key.base_url is None else self.guarded


def check_host(provider: str, exchange: Exchange, key: ProviderKey | None) -> None:
    """Raise `UnusableKey` before a stored key is sent to another host than the one that it was tested with."""
    if key is not None and exchange.base != key.host:
        raise UnusableKey(
            f"the stored key for {provider} belongs to {key.host}, but the base URL is now {exchange.base}: enter the "
            "key again"
        )
