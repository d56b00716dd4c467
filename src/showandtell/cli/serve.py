"""The command `serve`: the chat server, its page's address, and nothing else on the screen."""

from __future__ import annotations

import functools
import importlib
import os
import socket
import sys
import webbrowser
from collections.abc import Callable
from contextlib import suppress
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from msgspec import Struct

from showandtell.cli import arguments
from showandtell.cli.options import Blobs, Data, Most, Quota, Strip, Url
from showandtell.errors import UsageError
from showandtell.storage.files.file_cache import MAX_FILE_BYTES
from showandtell.storage.location import StorageLocation, check_libraries

if TYPE_CHECKING:
    from showandtell.server.config import Config
    from showandtell.server.state import Server

INSTALL = "the chat server needs more libraries: pip install 'showandtell[history,server]'"
#: A free port behind the usual one is taken, of so many.
NEXT_PORTS = 20
PORT = 8000
ALONE = "127.0.0.1"
#: Proxies on this machine.
NEAR = "127.0.0.1,::1"
#: What the help tells together: a table for each leaves room for the names of the variables.
REACHED, ANSWERS = "How it is reached", "Who answers, and how much"
MEANT = "several workers share one SQLite file: that works, and waits for the disk; PostgreSQL is meant for it"


class LogFormat(StrEnum):
    """How the log is written."""

    text = "text"
    json = "json"


Port = Annotated[
    int | None,
    typer.Option(
        "--port",
        rich_help_panel=REACHED,
        envvar="SHOWANDTELL_PORT",
        min=0,
        max=65535,
        help=f"usual: {PORT}, or the next that is free; 0: any",
    ),
]
Host = Annotated[
    str,
    typer.Option(
        "--host",
        rich_help_panel=REACHED,
        envvar="SHOWANDTELL_HOST",
        help="the address to listen at; others than 127.0.0.1 are reached by all",
    ),
]
Names = Annotated[
    list[str] | None,
    typer.Option(
        "--name",
        rich_help_panel=REACHED,
        envvar="SHOWANDTELL_HOSTS",
        help="a name it is reached by, as chat.example.com",
    ),
]
Origins = Annotated[
    list[str] | None,
    typer.Option(
        "--origin",
        rich_help_panel=REACHED,
        envvar="SHOWANDTELL_ORIGINS",
        help="another page that may ask, as https://app.example.com",
    ),
]
Proxies = Annotated[
    str,
    typer.Option(
        "--proxy",
        rich_help_panel=REACHED,
        envvar="SHOWANDTELL_PROXIES",
        help="addresses and networks of proxies that say truly who asks; commas between",
    ),
]
Open = Annotated[bool, typer.Option("--open", rich_help_panel=REACHED, help="open the page in the browser")]
Folder = Annotated[
    Path | None,
    typer.Option(
        "--folder",
        rich_help_panel=ANSWERS,
        envvar="SHOWANDTELL_FOLDER",
        help="the folder that read_file serves; without one it is off",
    ),
]
Tools = Annotated[
    str | None,
    typer.Option(
        "--tools",
        rich_help_panel=ANSWERS,
        envvar="SHOWANDTELL_TOOLS",
        help="MODULE:NAME, a list of tools in an importable module",
    ),
]
Model = Annotated[
    str,
    typer.Option(
        "--model",
        "-m",
        rich_help_panel=ANSWERS,
        envvar="SHOWANDTELL_MODEL",
        help="who answers: provider:model, or inspector",
    ),
]
Count = Annotated[
    int,
    typer.Option(
        "--workers",
        rich_help_panel=REACHED,
        envvar="SHOWANDTELL_WORKERS",
        min=1,
        max=64,
        help="processes; more than one want PostgreSQL",
    ),
]
Steps = Annotated[
    int,
    typer.Option(
        "--max-steps",
        rich_help_panel=ANSWERS,
        metavar="N",
        envvar="SHOWANDTELL_MAX_STEPS",
        min=1,
        help="the most model calls of one answer",
    ),
]
Seconds = Annotated[
    float,
    typer.Option(
        "--max-seconds",
        rich_help_panel=ANSWERS,
        metavar="S",
        envvar="SHOWANDTELL_MAX_SECONDS",
        min=1,
        help="the longest that one answer may take",
    ),
]
Files = Annotated[
    int,
    typer.Option(
        "--max-message-files",
        rich_help_panel=ANSWERS,
        metavar="N",
        envvar="SHOWANDTELL_MAX_MESSAGE_FILES",
        min=0,
        help="the most files of one message",
    ),
]
Rate = Annotated[
    str,
    typer.Option(
        "--rate",
        rich_help_panel=ANSWERS,
        envvar="SHOWANDTELL_RATE",
        help='how often one user may ask, as "chat=60/minute, uploads=300/minute"',
    ),
]
Log = Annotated[
    LogFormat,
    typer.Option("--log-format", envvar="SHOWANDTELL_LOG_FORMAT", help="lines for people, or one JSON object a line"),
]
Verbose = Annotated[bool, typer.Option("--verbose", "-v", help="log requests, and the traceback of what fails")]


class ServeOptions(Struct, frozen=True):
    """What was asked for on the command line, as plain values: each worker makes its own of it."""

    place: StorageLocation
    host: str
    names: tuple[str, ...]
    origins: tuple[str, ...]
    proxies: str
    model: str
    tools: str | None
    folder: Path | None
    max_steps: int
    max_seconds: float
    max_message_files: int
    rates: str
    log_format: LogFormat
    verbose: bool


class Ready(Struct, frozen=True):
    """What is told once the server answers: the single user's token, where there is one, and where all is kept."""

    token: str | None
    kept: str


def serve(  # noqa: PLR0917 - each is an option
    host: Host = ALONE,
    port: Port = None,
    name: Names = None,
    data: Data = None,
    database: Url = None,
    blobs: Blobs = None,
    model: Model = "inspector",
    tools: Tools = None,
    folder: Folder = None,
    workers: Count = 1,
    max_file_bytes: Most = MAX_FILE_BYTES,
    quota: Quota = None,
    strip_location: Strip = False,
    max_steps: Steps = 20,
    max_seconds: Seconds = 900.0,
    max_message_files: Files = 50,
    rate: Rate = "",
    origin: Origins = None,
    proxy: Proxies = NEAR,
    open_page: Open = False,
    log_format: Log = LogFormat.text,
    verbose: Verbose = False,
) -> None:
    """Serve the chat: a page for people, an API for programs.

    These are variables alone:
    SHOWANDTELL_TOKEN: the single user's token, in place of one that is made
    SHOWANDTELL_SECRET: what cookies and addresses are signed with
    SHOWANDTELL_OIDC_ISSUER: makes accounts of an OpenID Connect issuer
    SHOWANDTELL_OIDC_CLIENT_ID, SHOWANDTELL_OIDC_CLIENT_SECRET: its client
    SHOWANDTELL_OIDC_AUDIENCE: for whom programs' tokens are made
    SHOWANDTELL_OIDC_SCOPES: what is asked of the issuer besides openid
    SHOWANDTELL_OVERRIDES: a file of your own knowledge about models
    SHOWANDTELL_TELEMETRY_CONTENT: 1 puts words and arguments into traces
    """
    check_libraries()
    check_server()
    place = StorageLocation(data, database, blobs, max_file_bytes, quota, strip_location)
    names, origins, most = split(name), split(origin), (max_steps, max_seconds, max_message_files)
    asked = ServeOptions(place, host, names, origins, proxy, model, tools, folder, *most, rate, log_format, verbose)
    listening = listen(host, port)

    def tell(ready: Ready) -> None:
        token = f"?token={ready.token}" if ready.token is not None else ""
        announce(f"http://{spell_host(host)}:{listening.getsockname()[1]}/{token}", ready.kept, open_page=open_page)

    if workers == 1:
        work(asked, listening, tell)
    else:
        share(asked, listening, tell, workers)


def split(said: list[str] | None) -> tuple[str, ...]:
    """What was said once or more often, with commas or without."""
    return tuple(one.strip() for some in said or [] for one in some.split(",") if one.strip())


def check_server() -> None:
    """Raise `UsageError` where the server's libraries are missing."""
    try:
        importlib.import_module("showandtell.server.app")
    except ImportError as error:
        raise UsageError(INSTALL) from error


def config_of(asked: ServeOptions) -> Config:
    """The server's own settings. Raises `UsageError`, and `BadInput` for what stands wrongly in a variable."""
    from showandtell.server.auth.oidc import read_oidc  # noqa: PLC0415 - the same
    from showandtell.server.config import Config  # noqa: PLC0415 - an extra

    if asked.folder is not None and not asked.folder.is_dir():
        raise UsageError(f"--folder: {asked.folder} is no folder")
    return Config(
        place=asked.place,
        token=os.environ.get("SHOWANDTELL_TOKEN") or None,
        bind=asked.host,
        hosts=asked.names,
        origins=asked.origins,
        default_model=asked.model,
        tools=tuple(arguments.import_tools(asked.tools)) if asked.tools is not None else (),
        folder=asked.folder,
        max_steps=asked.max_steps,
        max_seconds=asked.max_seconds,
        max_message_files=asked.max_message_files,
        rates=asked.rates,
        oidc=read_oidc(),
    )


def work(asked: ServeOptions, listening: socket.socket, tell: Callable[[Ready], None]) -> None:
    """One worker, until a signal ends it. Raises what of ours keeps it from starting."""
    from showandtell.server.app import make_app  # noqa: PLC0415 - an extra
    from showandtell.server.observability.logs import set_up  # noqa: PLC0415 - the same
    from showandtell.server.process import run  # noqa: PLC0415 - the same

    set_up(asked.log_format.value, verbose=asked.verbose)
    app = make_app(config_of(asked))
    run(app, listening, lambda server: tell(ready_of(server)), asked.proxies)


def share(asked: ServeOptions, listening: socket.socket, tell: Callable[[Ready], None], count: int) -> None:
    """Several workers, until a signal ends them all."""
    from showandtell.server.observability.logs import set_up  # noqa: PLC0415 - an extra
    from showandtell.server.workers import Workers  # noqa: PLC0415 - the same

    set_up(asked.log_format.value, verbose=asked.verbose)
    if not (asked.place.database or "").startswith("postgres"):
        typer.echo(f"showandtell: {MEANT}", err=True)
    signalled = Workers(functools.partial(work, asked), listening, count, tell).run()
    raise SystemExit(128 + signalled)


def ready_of(server: Server) -> Ready:
    """What is told of a server that answers."""
    return Ready(None if server.accounts is not None else server.keys.token, server.config.place.tell(server.store))


def listen(host: str, port: int | None) -> socket.socket:
    """A socket at an address; without a port, at the usual one or the next that is free."""
    wanted = range(PORT, PORT + NEXT_PORTS) if port is None else (port,)
    for one in wanted:
        try:
            family = socket.getaddrinfo(host, one, type=socket.SOCK_STREAM)[0][0]
            found = socket.create_server((host, one), family=family, backlog=2048)
            # asyncio does so only for sockets that name their protocol: without it, small answers wait 40 ms.
            found.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        except socket.gaierror as error:
            raise UsageError(f"--host {host}: there is no such address here ({error.strerror})") from None
        except OSError as error:
            if one == wanted[-1]:
                told = error.strerror or str(error)
                raise UsageError(f"{host} port {one} can't be used ({told}): name another with --port") from None
        else:
            return found
    raise AssertionError(wanted)


def spell_host(host: str) -> str:
    """A host as it stands in an address that can be opened on this machine."""
    if host in {"0.0.0.0", "::", ""}:  # noqa: S104 - only compared with
        return ALONE
    return f"[{host}]" if ":" in host else host


def announce(address: str, kept: str, *, open_page: bool) -> None:
    """Say where the page is, and open it if that is wanted."""
    typer.echo(f"Show & Tell is ready: {address}")
    typer.echo(f"Conversations are kept in {kept}. Ctrl-C ends it.")
    sys.stdout.flush()
    if open_page:
        with suppress(webbrowser.Error):
            webbrowser.open(address)
