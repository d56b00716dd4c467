"""How the runs of a user reach a provider: with a stored key, else by the server's options and environment."""

from __future__ import annotations

import logging
import os
from collections.abc import AsyncGenerator, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass

from showandtell.network.address_guard import AddressGuard, host_and_port
from showandtell.network.transport import Transport
from showandtell.providers.auth import find_variable
from showandtell.providers.connect import own_variables
from showandtell.providers.hosts import all_hosts
from showandtell.server.auth.stored_secrets import StoredSecrets
from showandtell.server.config import Config
from showandtell.server.provider_keys.provider_key import Transports
from showandtell.server.provider_keys.stored_keys import StoredKeys
from showandtell.storage.database.database import Database

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ProviderAccess:
    """The stored keys of a server, what sends requests with them, and what base URLs of the page may reach."""

    keys: StoredKeys
    transports: Transports
    guard: AddressGuard


@asynccontextmanager
async def open_access(
    config: Config, database: Database, secrets: StoredSecrets, environ: Mapping[str, str] = os.environ
) -> AsyncGenerator[ProviderAccess]:
    """Open the connections to providers. Keys that a previous secret encrypted are encrypted with the current one."""
    keys = StoredKeys(database, secrets, config.clock, own_keys=config.oidc is not None and config.user_keys)
    alone = config.oidc is None and config.user is None
    guard = AddressGuard((*config.provider_hosts, *named_hosts(environ, local_defaults=alone)))
    if secrets.has_previous and (renewed := await keys.renew_encryption()):
        log.info("%d stored keys of providers were encrypted with the new secret", renewed)
    async with Transport(environ=environ) as direct, Transport(environ=environ, guard=guard) as guarded:
        yield ProviderAccess(keys, Transports(direct, guarded), guard)


def named_hosts(environ: Mapping[str, str], *, local_defaults: bool) -> Iterator[str]:
    """The hosts, as `host:port`, that the environment names as base URLs, and those of local servers by default."""
    for provider, row in all_hosts().items():
        found = find_variable((*own_variables(provider), *row.variables), environ)
        if found is not None:
            yield netloc_of(row.read(found[1]))
        elif local_defaults and not row.needs_key and isinstance(row.base, str):
            yield netloc_of(row.base)


def netloc_of(url: str) -> str:
    """Host and port of a URL; empty if it has none."""
    try:
        host, port = host_and_port(url)
    except ValueError:
        return ""
    return f"{host}:{port}" if host else ""
