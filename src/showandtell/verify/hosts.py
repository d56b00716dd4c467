"""Detects vision checks that are answered by another host than the provider's, which prove nothing about it."""

from __future__ import annotations

from urllib.parse import urlsplit

from showandtell.core.capabilities.cells import Target
from showandtell.errors import MissingKey
from showandtell.providers.connect import default_base
from showandtell.providers.hosts import HostRow, find_host


def find_other_host(target: Target, base: str) -> str:
    """The host of a base URL, if it isn't the provider's own but a gateway, proxy or fake; else empty.

    If each account has its own host, as on Azure, those with the domain of the row's example are the provider's.
    """
    row = find_host(target.provider)
    if row is None:  # the inspector
        return ""
    host = host_of(base)
    usual = default_host(row, target.account)
    domain = "." + ".".join(host_of(row.example).split(".")[-2:])
    return "" if host == usual or (not row.base and host.endswith(domain)) else host


def default_host(row: HostRow, account: str) -> str:
    """The provider's default host; empty if it needs an account, or if each account has its own."""
    try:
        return host_of(default_base(row, account))
    except MissingKey:
        return ""


def host_of(url: str) -> str:
    """The host of a URL in lower case, with the port if the URL has one."""
    return urlsplit(url).netloc.lower()
