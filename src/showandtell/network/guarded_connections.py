"""Connections of the HTTP client to the addresses that a guard allows, and to no other."""

from __future__ import annotations

import errno
import socket
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Any

from aiohttp.abc import AbstractResolver, ResolveResult

from showandtell.network.address_guard import AddressGuard
from showandtell.network.fetch_request import PinnedResolver, SocketFactory, resolve_host
from showandtell.network.public_addresses import parse_public


class GuardedResolver(AbstractResolver):
    """Resolves names to addresses that the guard allows."""

    def __init__(self, guard: AddressGuard) -> None:
        self._guard = guard

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        """Return the allowed addresses. Raises the same `OSError` for unknown and for private hosts."""
        named = self._guard.names(host, port)
        try:
            found = await (self._guard.resolver or resolve_host)(host, port)
            addresses = tuple(map(ip_address, dict.fromkeys(found))) if named else parse_public(found)
        except (OSError, ValueError):
            addresses = ()
        if not addresses:
            raise OSError(errno.EADDRNOTAVAIL, "no public address")
        if named:
            self._guard.allowed.update((address, port) for address in addresses)
        return await PinnedResolver(addresses).resolve(host, port, family)

    async def close(self) -> None:
        """Does nothing."""


@dataclass(frozen=True, slots=True)
class GuardedSockets:
    """A socket factory that refuses other addresses: a URL with an address in it is never resolved."""

    guard: AddressGuard
    make: SocketFactory

    def __call__(self, info: tuple[Any, ...]) -> Any:
        """Make a socket for an address."""
        if not self.guard.allows(str(info[4][0]), int(info[4][1])):
            raise OSError(errno.EADDRNOTAVAIL, "no public address")
        return self.make(info)
