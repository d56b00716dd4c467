"""Print the address of a server that is ready, with a code that signs in once, and open it."""

from __future__ import annotations

import asyncio
import sys
import time
import webbrowser
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, TypeAlias

import typer
from msgspec import Struct

from showandtell.errors import ShowAndTellError

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from showandtell.server.auth.login_codes import TokenSource
    from showandtell.storage.location import StorageLocation

#: Seconds that the code for the opened browser works.
OPEN_SECONDS = 60.0
#: Two codes, or None for each that isn't needed.
Codes: TypeAlias = tuple[str | None, str | None]


class Ready(Struct, frozen=True):
    """Reported when the server is ready: where its token comes from, its cookies' suffix, the location of the data."""

    source: TokenSource
    mark: str
    location: str


def announce(
    address: str, ready: Ready, write: Callable[[Callable[[Connection], Codes]], Codes], *, open_page: bool
) -> None:
    """Print the address of the page, and open it on request. Without accounts, it has a code that signs in once.

    `write` runs a transaction in the server's database.

    The browser gets a code of its own, because other users of the machine can read its command line: it works for
    `OPEN_SECONDS`, and nobody else can use it after the browser has.
    """
    try:
        code, browser_code = write(lambda connection: make_codes(connection, address, ready, open_page=open_page))
        typer.echo(f"Show & Tell is ready: {address}/{with_code(code)}")
    except ShowAndTellError as error:
        typer.echo(f"Show & Tell is ready: {address}/")
        typer.echo(f"showandtell: no address to sign in could be made: {error}", err=True)
        browser_code = code = None
    typer.echo(f"Conversations are stored in {ready.location}. Press Ctrl-C to stop.")
    if code:
        typer.echo("The address signs in one browser; `showandtell token` prints another.")
    sys.stdout.flush()
    if open_page:
        with suppress(webbrowser.Error):
            webbrowser.open(f"{address}/{with_code(browser_code)}")


def make_codes(connection: Connection, address: str, ready: Ready, *, open_page: bool) -> Codes:
    """Record which server runs, and return a code until it is used, and one for the browser that is opened now."""
    from showandtell.server.auth.login_codes import ServerRecord, add_code, set_server  # noqa: PLC0415 - an extra

    set_server(connection, ServerRecord(address, ready.source, ready.mark))
    if ready.source == "accounts":
        return None, None
    now = time.time()
    return add_code(connection, now), add_code(connection, now, OPEN_SECONDS) if open_page else None


def with_code(code: str | None) -> str:
    """The query of an address with a code."""
    return f"?code={code}" if code else ""


def write_apart(place: StorageLocation, transaction: Callable[[Connection], Codes]) -> Codes:
    """Run a transaction in the database of this place, from a process that doesn't have it open."""

    async def write() -> Codes:
        async with place.store() as store:
            return await store.database.write(transaction)

    return asyncio.run(write())
