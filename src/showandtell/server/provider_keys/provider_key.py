"""A provider's key that was entered, and the connection that is made with it. Needs none of the server's libraries."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Final

from msgspec import Struct

from showandtell.agent.settings import Connection
from showandtell.core.capabilities.resolve import examples_of, resolve
from showandtell.core.wire.http import KEYS_HEADER
from showandtell.errors import MissingKey
from showandtell.network.transport import Transport
from showandtell.providers.connect import connect
from showandtell.providers.exchange import Exchange
from showandtell.providers.hosts import key_provider

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


#: No stored keys.
NO_KEYS: Mapping[str, StoredKey] = {}


def usable_providers(keys: Mapping[str, StoredKey]) -> Collection[str]:
    """The providers whose stored key can be decrypted."""
    return [provider for provider, stored in keys.items() if stored.key is not None]


class Way(Struct, frozen=True):
    """How a run reaches its model: with a stored key, if any. For the inspector, whether there is a key of others."""

    key: ProviderKey | None = None
    has_keys: bool = False


@dataclass(frozen=True, slots=True)
class Transports:
    """`direct` reaches hosts of the environment and of providers, `guarded` those that were given on the page."""

    direct: Transport
    guarded: Transport

    def connection(self, way: Way) -> Connection:
        """A connection with a stored key, else by the environment."""
        key = way.key
        if key is None:
            return Connection(transport=self.direct, headers={KEYS_HEADER: "yes"} if way.has_keys else None)
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


def connect_with(
    provider: str, keys: Mapping[str, StoredKey], environ: Mapping[str, str], transports: Transports | None = None
) -> Exchange:
    """The exchange with a provider, by a stored key, else by the environment. Raises `BadInput` if there is no way."""
    target, stored = resolve(f"{provider}:{examples_of(provider)[0]}"), keys.get(key_provider(provider))
    if stored is None:
        return connect(target, environ=environ, transport=None if transports is None else transports.direct)
    key = usable_key(provider, stored)
    transport = None if transports is None else transports.of(key)
    exchange = connect(target, base_url=key.base_url, api_key=key.api_key, environ=environ, transport=transport)
    check_host(provider, exchange, key)
    return exchange
