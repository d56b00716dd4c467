"""The command `token`: an address that signs in one browser, the token of programs, and a new token.

`serve` prints such an address, too.
"""

from __future__ import annotations

import asyncio
import os
import time
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from showandtell.cli.configured import STORE, with_settings
from showandtell.cli.serve import PORT, missing_libraries
from showandtell.cli.sessions import OWNER, place_of
from showandtell.config.settings import Settings
from showandtell.config.user_settings import data_folder
from showandtell.errors import UsageError
from showandtell.storage.location import StorageLocation, check_libraries

if TYPE_CHECKING:
    from showandtell.server.auth.login_codes import ServerRecord
    from showandtell.storage.conversations.store import Store

VARIABLE = "SHOWANDTELL_TOKEN"
NO_SERVER = "no server has run with this data: use the same --data or --database as `showandtell serve`"
CONFIGURED = f"the server's token is the variable {VARIABLE}"
OTHER_SECRET = (
    f"the server has another secret or token than this command: set SHOWANDTELL_SECRET and {VARIABLE} as for it, "
    "and use the same --data"
)
ONE_BROWSER = "It signs in one browser, once; a newer address replaces it. For programs: showandtell token --show"
NOT_STARTED = "No server has run with this data yet: start it with `showandtell serve`, which prints its address"
RENEWED = (
    "The old token and {ended} have ended; running servers notice within 10 s. "
    "Programs need the new token: showandtell token --show"
)
Show = Annotated[bool, typer.Option("--show", help="print the permanent token, which programs send")]
Renew = Annotated[bool, typer.Option("--renew", help="make a new permanent token; the old one and all sessions end")]


@with_settings(*STORE)
def token(settings: Settings, show: Show = False, renew: Renew = False) -> None:
    """Print an address that signs one browser in to the server of this data. It works once."""
    check_libraries()
    place = place_of(settings)
    if not place.database and not ((place.data or data_folder()) / "showandtell.db").exists():
        raise UsageError(NO_SERVER)
    try:
        output, advice = asyncio.run(make_output(place, settings.server.port, show=show, renew=renew))
    except ImportError as error:
        raise UsageError(missing_libraries()) from error
    typer.echo(output)
    if advice:
        typer.echo(advice, err=True)


async def make_output(place: StorageLocation, port: int | None, *, show: bool, renew: bool) -> tuple[str, str]:
    """Return the token, or an address with a new code, and what to say about it."""
    from showandtell.server.auth import login_codes  # noqa: PLC0415 - an extra

    advice = ""
    async with place.store() as store:
        server = await login_codes.read_server(store.database)
        if server is not None and server.source == "accounts":
            raise UsageError(
                f"the server has accounts: people sign in at {server.address}, programs send a token of the issuer"
            )
        if renew:
            if os.environ.get(VARIABLE) or (server is not None and server.source == "variable"):
                raise UsageError(f"{CONFIGURED}: change it, and start the server again")
            advice = RENEWED.format(ended=await renew_token(store))
        if show:
            return read_token(place, server, await login_codes.read_generation(store.database)), advice
        code = await store.database.write(lambda connection: login_codes.add_code(connection, time.time()))
        if server is None:
            return f"http://127.0.0.1:{port or PORT}/?code={code}", f"{advice or ONE_BROWSER}. {NOT_STARTED}"
        return f"{server.address}/?code={code}", advice or ONE_BROWSER


async def renew_token(store: Store) -> str:
    """Renew the token, and return how many sessions that ended, in words."""
    from showandtell.server.auth import login_codes  # noqa: PLC0415 - an extra

    transaction = partial(login_codes.renew_token, user=OWNER, now=time.time())
    ended = (await store.database.write(transaction)).ended
    return f"{ended} session{'' if ended == 1 else 's'}"


def read_token(place: StorageLocation, server: ServerRecord | None, generation: int) -> str:
    """Return the permanent token. Raises `UsageError` if this command doesn't have the server's secret."""
    from showandtell.server.auth.keys import Keys, load_secret  # noqa: PLC0415 - an extra

    keys = Keys(load_secret(place.data or data_folder()), os.environ.get(VARIABLE) or None)
    keys.use_generation(generation)
    if server is not None and server.mark != keys.cookie_suffix:
        raise UsageError(OTHER_SECRET)
    return keys.token
