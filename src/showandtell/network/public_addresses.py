"""Decides whether an IP address is on the public internet, by the resolved address and never by the host's text.

An IPv6 address that embeds an IPv4 address is public only if that one is.
"""

from __future__ import annotations

from collections.abc import Iterable
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from typing import TypeAlias

Address: TypeAlias = IPv4Address | IPv6Address

#: IANA's special-purpose registry for IPv4, as of November 2026, and the metadata services of clouds.
NOT_PUBLIC = tuple(
    IPv4Network(network)
    for network in (
        "0.0.0.0/8",  # this network
        "10.0.0.0/8",  # private
        "100.64.0.0/10",  # behind a carrier's NAT; 100.100.100.200 is Alibaba's metadata
        "127.0.0.0/8",  # loopback
        "168.63.129.16/32",  # Azure's host, in a public range
        "169.254.0.0/16",  # link-local; 169.254.169.254 is most clouds' metadata
        "172.16.0.0/12",  # private
        "192.0.0.0/24",  # protocol assignments; 192.0.0.192 is Oracle's metadata
        "192.0.2.0/24",  # documentation
        "192.88.99.0/24",  # relays of 6to4
        "192.168.0.0/16",  # private
        "198.18.0.0/15",  # benchmarks
        "198.51.100.0/24",  # documentation
        "203.0.113.0/24",  # documentation
        "224.0.0.0/4",  # multicast
        "240.0.0.0/4",  # reserved, and broadcast
    )
)
#: All public IPv6 hosts are in this range; local, mapped, compatible, multicast and unassigned ones are not.
GLOBAL_UNICAST = IPv6Network("2000::/3")
#: Ranges inside it that are not public. Same source.
NOT_PUBLIC_WITHIN = tuple(
    IPv6Network(network)
    for network in (
        "2001::/23",  # protocol assignments: Teredo, ORCHID, benchmarks
        "2001:db8::/32",  # documentation
        "2002::/16",  # 6to4
        "3fff::/20",  # documentation
    )
)
#: How an IPv6-only network reaches IPv4 (RFC 6052): its DNS returns such addresses for hosts without IPv6.
NAT64 = IPv6Network("64:ff9b::/96")
#: The middle of an address whose last four bytes are an IPv4 address (ISATAP, RFC 5214).
ISATAP = (0x00005EFE, 0x02005EFE)


def is_public(address: Address) -> bool:
    """Whether an address is on the public internet."""
    match address:
        case IPv4Address():
            return not _lies_in(address, NOT_PUBLIC)
        case IPv6Address(scope_id=str()):
            return False
        case IPv6Address() if address in NAT64:
            return is_public(_embedded_ipv4(address))
        case IPv6Address():
            return (
                address in GLOBAL_UNICAST
                and not _lies_in(address, NOT_PUBLIC_WITHIN)
                and (int(address) >> 32 & 0xFFFFFFFF not in ISATAP or is_public(_embedded_ipv4(address)))
            )


def parse_public(texts: Iterable[str]) -> tuple[Address, ...]:
    """A host's addresses without duplicates; empty if any of them isn't public. Raises `ValueError` if invalid."""
    addresses = tuple(dict.fromkeys(ip_address(text) for text in texts))
    return addresses if all(map(is_public, addresses)) else ()


def _embedded_ipv4(address: IPv6Address) -> IPv4Address:
    return IPv4Address(int(address) & 0xFFFFFFFF)


def _lies_in(address: Address, networks: Iterable[IPv4Network | IPv6Network]) -> bool:
    return any(address in network for network in networks)
