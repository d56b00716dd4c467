"""The commands `keys`: which providers have a key and where it comes from, and how to store and remove one.

They store keys as the page does: tested, encrypted, in the database. A server with the same data uses them, too.
"""

from __future__ import annotations

import asyncio
import getpass
import os
import sys
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from showandtell.cli.configured import STORE, with_settings
from showandtell.cli.person import read_keys
from showandtell.cli.serve import missing_libraries
from showandtell.cli.sessions import is_there, place_of
from showandtell.config.settings import Settings
from showandtell.config.user_settings import data_folder
from showandtell.core.display.words import plain
from showandtell.errors import BadInput, NotFound, UsageError
from showandtell.plugins import suggestion
from showandtell.providers.default_model import STORED, find_key_source
from showandtell.providers.hosts import host_of, keyed_providers
from showandtell.server.provider_keys.provider_key import EVERYONE, StoredKey, connect_with
from showandtell.storage.location import StorageLocation, check_libraries

if TYPE_CHECKING:
    from showandtell.server.provider_keys.access import ProviderAccess

keys = typer.Typer(
    name="keys",
    add_completion=False,
    help="Store, list and remove the keys of providers, as the settings of the page do.",
    no_args_is_help=True,
)
Provider = Annotated[str, typer.Argument(help="the name of a provider, such as anthropic")]
BaseUrl = Annotated[str | None, typer.Option("--base-url", help="where the key belongs to, if not to the provider")]
HOSTS = ("server.provider_hosts",)


@keys.command("list")
@with_settings(*STORE)
def list_keys(settings: Settings) -> None:
    """List the providers, where their keys come from, and where requests go. No key is printed."""
    stored = asyncio.run(read_stored(place_of(settings)))
    for provider in keyed_providers():
        typer.echo(plain(describe(provider, stored)))


@keys.command("set")
@with_settings(*STORE, *HOSTS)
def set_key(settings: Settings, provider: Provider, base_url: BaseUrl = None) -> None:
    """Test a key and store it, encrypted. It is read from the terminal, which doesn't show it, or from standard input.

    It counts before a key of the environment, for `chat` and `ask` and on the page; a running server uses it within
    10 seconds.
    """
    check_provider(provider)
    check_libraries()
    needs_key = host_of(provider).needs_key
    key = read_key(provider, needed=needs_key)
    if needs_key and not key:
        raise UsageError("the key is empty: type the one that the provider shows, or give it on standard input")
    asyncio.run(store_key(place_of(settings), settings, provider, key, base_url))
    typer.echo(f"The key for {provider} works and is stored.")


@keys.command("remove")
@with_settings(*STORE)
def remove_key(settings: Settings, provider: Provider) -> None:
    """Remove a stored key. The environment's counts again, if there is one."""
    check_provider(provider)
    place = place_of(settings)
    if provider not in asyncio.run(read_stored(place)):
        raise NotFound(f"no key is stored for {provider}")

    async def remove() -> None:
        async with opened_access(place, settings) as access:
            await access.keys.delete(EVERYONE, provider)

    asyncio.run(remove())
    typer.echo(f"The key for {provider} is removed.")


def check_provider(provider: str) -> None:
    """Raise `UsageError` for a provider whose key can't be stored."""
    known = keyed_providers()
    if provider not in known:
        hint = suggestion(provider, known) or f" There are {', '.join(known)}."
        raise UsageError(f"there is no provider {provider!r:.60} with a key that can be stored.{hint}")


def read_key(provider: str, *, needed: bool) -> str:
    """A key from the terminal, which doesn't show it, or from standard input."""
    if not sys.stdin.isatty():
        return sys.stdin.read().strip()
    optional = "" if needed else ", or nothing if the server needs none"
    return getpass.getpass(f"Key for {provider}{optional}: ").strip()


async def read_stored(place: StorageLocation) -> Mapping[str, StoredKey]:
    """The stored keys by provider. Creates nothing."""
    if not is_there(place):
        return {}
    async with place.store() as store:
        return await read_keys(store, place)


async def store_key(place: StorageLocation, settings: Settings, provider: str, key: str, base_url: str | None) -> None:
    """Test a key with its provider and store it for everyone. Raises `BadInput`, with nothing stored then."""
    async with opened_access(place, settings) as access:
        from showandtell.server.provider_keys.key_check import store_tested  # noqa: PLC0415 - an extra

        await store_tested(access, EVERYONE, provider, key, base_url)


@asynccontextmanager
async def opened_access(place: StorageLocation, settings: Settings) -> AsyncGenerator[ProviderAccess]:
    """The stored keys, and what tests them. Raises `UsageError` if the server's libraries are missing."""
    try:
        from showandtell.server.auth.keys import load_secret, previous_secrets  # noqa: PLC0415 - an extra
        from showandtell.server.auth.stored_secrets import StoredSecrets  # noqa: PLC0415 - the same
        from showandtell.server.config import Config  # noqa: PLC0415 - the same
        from showandtell.server.provider_keys.access import open_access  # noqa: PLC0415 - the same
    except ImportError as error:
        raise UsageError(missing_libraries()) from error
    async with place.store() as store:
        secrets = StoredSecrets(load_secret(place.data or data_folder()), *previous_secrets())
        config = Config(place=place, provider_hosts=settings.server.provider_hosts)
        async with open_access(config, store.database, secrets) as access:
            yield access


def describe(provider: str, stored: Mapping[str, StoredKey]) -> str:
    """A provider, where its key comes from, and where requests go, or why it can't be used."""
    source = find_key_source(provider, stored)
    words = {"": "no key", STORED: "stored key"}.get(source, f"key of {source}")
    if not source and host_of(provider).needs_key:
        return f"{provider}: {words}"
    try:
        return f"{provider}: {words}, for {connect_with(provider, stored, os.environ).base}"
    except BadInput as error:
        return f"{provider}: {words}, but {error}"
