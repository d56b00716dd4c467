"""Keeps requests to base URLs that were typed into a page out of the server's network, unless options name the host.

Every connection is checked by the address that it goes to, so that a changed DNS entry doesn't lead in either.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from ipaddress import ip_address
from typing import TypeAlias
from urllib.parse import urlsplit

from showandtell.errors import BadInput
from showandtell.network.public_addresses import Address, is_public

#: Returns the addresses of a host and port as text.
Resolver: TypeAlias = Callable[[str, int], Awaitable[Sequence[str]]]
DEFAULT_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True)
class AddressGuard:
    """Which hosts may be reached: public ones by https, and those of `named`, written `host` or `host:port`.

    `resolver` replaces that of the system. `allowed` are the addresses and ports of named hosts that were resolved.
    """

    named: tuple[str, ...] = ()
    resolver: Resolver | None = None
    allowed: set[tuple[Address, int]] = field(default_factory=set[tuple[Address, int]], compare=False)

    def names(self, host: str, port: int) -> bool:
        """Whether a host is named."""
        host = host.lower().removesuffix(".")
        bracketed = f"[{host}]" if ":" in host else host
        return not {host, bracketed, f"{host}:{port}", f"{bracketed}:{port}"}.isdisjoint(map(str.lower, self.named))

    def check(self, base_url: str) -> None:
        """Raise `BadInput` for a URL that is never allowed. Names are resolved only when a request is sent."""
        host, port = host_and_port(base_url)
        if self.names(host, port):
            return
        if not base_url.startswith("https:"):
            raise BadInput(f"the base URL must begin with https://; {how_to_name(host, port)}")
        try:
            address = ip_address(host)
        except ValueError:
            return
        if not is_public(address):
            raise BadInput(f"{host} is not a public address; {how_to_name(host, port)}")

    def allows(self, host: str, port: int) -> bool:
        """Whether a connection to an address may be opened."""
        address = ip_address(host)
        return is_public(address) or self.names(host, port) or (address, port) in self.allowed


def host_and_port(url: str) -> tuple[str, int]:
    """Host and port of a URL. Raises `ValueError` for an invalid one."""
    parts = urlsplit(url)
    return parts.hostname or "", parts.port or DEFAULT_PORTS.get(parts.scheme, 0)


def how_to_name(host: str, port: int) -> str:
    """What to do for a host inside the network."""
    shown = f"[{host}]" if ":" in host else host
    return f"for a host inside the network, start the server with --provider-host {shown}:{port}"
