"""Who answers an eye test: the provider itself, or somebody in its place, whose eyes say nothing about it."""

from __future__ import annotations

from urllib.parse import urlsplit

from showandtell.core.capabilities.cells import Target
from showandtell.errors import MissingKey
from showandtell.providers.rows import ROWS, HostRow, usual_base


def find_stranger(target: Target, base: str) -> str:
    """The host of a base URL, where it isn't the provider's own: a gateway, a proxy, a stand-in; else empty.

    Where each account has an address of its own, as on Azure, those that end as the row's example are the provider's.
    """
    row = ROWS.get(target.provider)
    if row is None:  # the inspector
        return ""
    host = host_of(base)
    usual = usual_host(row, target.account)
    domain = "." + ".".join(host_of(row.example).split(".")[-2:])
    return "" if host == usual or (not row.base and host.endswith(domain)) else host


def usual_host(row: HostRow, account: str) -> str:
    """Where the house has always been; empty where no account says where, and where everybody has another address."""
    try:
        return host_of(usual_base(row, account))
    except MissingKey:
        return ""


def host_of(url: str) -> str:
    """The host of an address, with its port where it names one."""
    return urlsplit(url).netloc.lower()
