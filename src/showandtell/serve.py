"""The command `serve`: the chat server, its page's address, and nothing else on the screen."""

from __future__ import annotations

import logging
import os
import socket
import sys
import webbrowser
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from showandtell import given
from showandtell.attachments.shelf import MAX_FILE_BYTES
from showandtell.given import WrongUsage
from showandtell.keeping import Place, check_libraries
from showandtell.options import Blobs, Data, Most, Quota, Strip, Url
from showandtell.settings import data_folder

if TYPE_CHECKING:
    from fastapi import FastAPI

INSTALL = "the chat server needs more libraries: pip install 'showandtell[history,server]'"
#: How long a connection without a request is kept, and how long open streams may take to end, in seconds.
KEEP_ALIVE, GRACE = 65, 2
#: The most bytes of a request's line and headers.
MOST_HEAD = 64 * 1024
#: A free port behind the usual one is taken, of so many.
NEXT_PORTS = 20
PORT = 8000

Port = Annotated[
    int | None, typer.Option("--port", min=0, max=65535, help=f"usual: {PORT}, or the next that is free; 0: any")
]
Host = Annotated[str, typer.Option("--host", help="the address to listen at; others than 127.0.0.1 are reached by all")]
Names = Annotated[
    list[str] | None,
    typer.Option("--name", envvar="SHOWANDTELL_HOSTS", help="a name it is reached by, as chat.example.com"),
]
Open = Annotated[bool, typer.Option("--open", help="open the page in the browser")]
Folder = Annotated[Path | None, typer.Option("--folder", help="a folder for the tool read_file; without one it is off")]
Tools = Annotated[str | None, typer.Option("--tools", help="MODULE:NAME, a list of tools in an importable module")]
Model = Annotated[
    str, typer.Option("--model", "-m", envvar="SHOWANDTELL_MODEL", help="who answers: provider:model, or inspector")
]
Workers = Annotated[int, typer.Option("--workers", min=1, max=64, help="processes; more than one need PostgreSQL")]

Verbose = Annotated[bool, typer.Option("--verbose", "-v", help="log requests, and the traceback of what fails")]


def serve(  # noqa: PLR0917 - each is an option
    host: Host = "127.0.0.1",
    port: Port = None,
    name: Names = None,
    data: Data = None,
    database: Url = None,
    blobs: Blobs = None,
    model: Model = "inspector",
    tools: Tools = None,
    folder: Folder = None,
    workers: Workers = 1,
    max_file_bytes: Most = MAX_FILE_BYTES,
    quota: Quota = None,
    strip_location: Strip = False,
    open_page: Open = False,
    verbose: Verbose = False,
) -> None:
    """Serve the chat: a page for people, an API for programs. SHOWANDTELL_TOKEN sets the single user's token."""
    check_libraries()
    try:
        from showandtell.server.app import make_app  # noqa: PLC0415 - an extra
        from showandtell.server.config import Config  # noqa: PLC0415 - the same
    except ImportError as error:
        raise WrongUsage(INSTALL) from error
    if folder is not None and not folder.is_dir():
        raise WrongUsage(f"--folder: {folder} is no folder")
    config = Config(
        place=Place(data, database, blobs, max_file_bytes, quota, strip_location),
        token=os.environ.get("SHOWANDTELL_TOKEN") or None,
        bind=host,
        hosts=tuple(one for names in name or [] for one in names.split(",")),
        default_model=model,
        tools=tuple(given.import_tools(tools)) if tools is not None else (),
        folder=folder,
    )
    del workers
    logging.basicConfig(level=logging.INFO if verbose else logging.WARNING, stream=sys.stderr)
    app, listening = make_app(config), listen(host, port)

    def tell() -> None:
        address = f"http://{spell_host(host)}:{listening.getsockname()[1]}/?token={app.state.server.keys.token}"
        announce(address, data, open_page=open_page)

    if not run(app, listening, tell, verbose=verbose):
        raise typer.Exit(1)


def run(app: FastAPI, listening: socket.socket, tell: Callable[[], None], *, verbose: bool) -> bool:
    """Serve until a signal ends it; `tell` is called once it answers. Gives whether it ever did."""
    import uvicorn  # noqa: PLC0415 - an extra

    class Announced(uvicorn.Server):
        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets)
            if self.started:
                tell()

    settings = uvicorn.Config(
        app,
        access_log=verbose,
        log_config=None,
        lifespan="on",
        timeout_keep_alive=KEEP_ALIVE,
        timeout_graceful_shutdown=GRACE,
        server_header=False,
        h11_max_incomplete_event_size=MOST_HEAD,
    )
    server = Announced(settings)
    server.run(sockets=[listening])
    return server.started


def listen(host: str, port: int | None) -> socket.socket:
    """A socket at an address; without a port, at the usual one or the next that is free."""
    wanted = range(PORT, PORT + NEXT_PORTS) if port is None else (port,)
    for one in wanted:
        try:
            family = socket.getaddrinfo(host, one, type=socket.SOCK_STREAM)[0][0]
            found = socket.create_server((host, one), family=family, backlog=2048)
        except socket.gaierror as error:
            raise WrongUsage(f"--host {host}: there is no such address here ({error.strerror})") from None
        except OSError as error:
            if one == wanted[-1]:
                told = error.strerror or str(error)
                raise WrongUsage(f"{host} port {one} can't be used ({told}): name another with --port") from None
        else:
            return found
    raise AssertionError(wanted)


def spell_host(host: str) -> str:
    """A host as it stands in an address that can be opened on this machine."""
    if host in {"0.0.0.0", "::", ""}:  # noqa: S104 - only compared with
        return "127.0.0.1"
    return f"[{host}]" if ":" in host else host


def announce(address: str, data: Path | None, *, open_page: bool) -> None:
    """Say where the page is, and open it if that is wanted."""
    typer.echo(f"Show & Tell is ready: {address}")
    typer.echo(f"Conversations are kept in {data or data_folder()}. Ctrl-C ends it.")
    sys.stdout.flush()
    if open_page:
        with suppress(webbrowser.Error):
            webbrowser.open(address)
