"""The command `serve`, which starts the chat server and prints the address of its page."""

from __future__ import annotations

import asyncio
import importlib
import logging
import os
import socket
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import typer
from msgspec import Struct

from showandtell.agent.decide import OnFull
from showandtell.cli import arguments
from showandtell.cli.announce import Codes, Ready, announce, write_apart
from showandtell.cli.options import Blobs, Data, Describe, FullContext, MaxFileBytes, Quota, Strip, Url
from showandtell.cli.serve_options import (
    PORT,
    Count,
    Deps,
    Files,
    Folder,
    Host,
    Log,
    LogClients,
    LogFormat,
    Model,
    Names,
    Open,
    Origins,
    Port,
    Proxies,
    PublicUrl,
    Rate,
    Seconds,
    Steps,
    Tools,
    Verbose,
)
from showandtell.errors import UsageError
from showandtell.media.sandbox import hide_process, list_missing_walls
from showandtell.storage.files.file_cache import MAX_FILE_BYTES
from showandtell.storage.location import StorageLocation, check_libraries

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from showandtell.server.config import Config
    from showandtell.server.state import Server

log = logging.getLogger(__name__)

INSTALL = "the chat server needs more libraries: pip install 'showandtell[history,server]'"
#: How many ports to try, from `PORT` on.
PORTS = 20
LOOPBACK = "127.0.0.1"
LOCAL_PROXIES = "127.0.0.1,::1"
USE_POSTGRESQL = "several workers share one SQLite file and wait for the disk; PostgreSQL is faster"


class ServeOptions(Struct, frozen=True):
    """The options as plain values, from which each worker makes its own configuration."""

    place: StorageLocation
    host: str
    names: tuple[str, ...]
    origins: tuple[str, ...]
    proxies: str
    public_url: str | None
    model: str
    tools: str | None
    deps: str | None
    folder: Path | None
    describe: str | None
    max_steps: int
    max_seconds: float
    on_full: OnFull
    max_message_files: int
    rates: str
    log_format: LogFormat
    verbose: bool
    log_clients: bool


def serve(  # noqa: PLR0917 - each is an option
    host: Host = LOOPBACK,
    port: Port = None,
    name: Names = None,
    data: Data = None,
    database: Url = None,
    blobs: Blobs = None,
    model: Model = "inspector",
    tools: Tools = None,
    deps: Deps = None,
    folder: Folder = None,
    describe: Describe = None,
    workers: Count = 1,
    max_file_bytes: MaxFileBytes = MAX_FILE_BYTES,
    quota: Quota = None,
    strip_location: Strip = False,
    max_steps: Steps = 20,
    max_seconds: Seconds = 900.0,
    on_full: FullContext = "error",
    max_message_files: Files = 50,
    rate: Rate = "",
    origin: Origins = None,
    proxy: Proxies = LOCAL_PROXIES,
    public_url: PublicUrl = None,
    open_page: Open = False,
    log_format: Log = LogFormat.text,
    verbose: Verbose = False,
    log_clients: LogClients = False,
) -> None:
    """Serve the chat: a page for people, an API for programs.

    More settings are environment variables only:
    SHOWANDTELL_TOKEN: the single user's token; default: the one that
    `showandtell token --show` prints
    SHOWANDTELL_SECRET: the secret for cookies and signed URLs
    SHOWANDTELL_OIDC_ISSUER: sign in with an OpenID Connect issuer
    SHOWANDTELL_OIDC_CLIENT_ID, SHOWANDTELL_OIDC_CLIENT_SECRET: its client
    SHOWANDTELL_OIDC_AUDIENCE: the audience of programs' tokens
    SHOWANDTELL_OIDC_SCOPES: scopes to request in addition to openid
    SHOWANDTELL_OVERRIDES: a file with your own verdicts about models
    SHOWANDTELL_TELEMETRY_CONTENT: 1 adds texts and arguments to traces
    """
    check_libraries()
    check_server()
    place = StorageLocation(data, database, blobs, max_file_bytes, quota, strip_location)
    runs = (model, tools, deps, folder, describe, max_steps, max_seconds, on_full)
    network = (host, split(name), split(origin), proxy, public_url)
    options = ServeOptions(place, *network, *runs, max_message_files, rate, log_format, verbose, log_clients)
    listening = listen(host, port)
    address = f"http://{format_host(host)}:{listening.getsockname()[1]}"

    def on_started(server: Server) -> None:
        def write(transaction: Callable[[Connection], Codes]) -> Codes:
            return asyncio.run_coroutine_threadsafe(server.store.database.write(transaction), loop).result()

        def on_ready() -> None:
            warn_of_missing_walls()
            announce(address, ready_of(server), write, open_page=open_page)

        loop = asyncio.get_running_loop()
        threading.Thread(target=on_ready, daemon=True).start()  # a browser may start slowly

    def on_ready(ready: Ready) -> None:
        warn_of_missing_walls()
        announce(address, ready, partial(write_apart, place), open_page=open_page)

    if workers == 1:
        run_server(options, listening, on_started)
    else:
        run_workers(options, listening, on_ready, workers)


def warn_of_missing_walls() -> None:
    """Log which walls the decoders lack, if any."""
    if missing := list_missing_walls():
        words = "files are decoded without %s: a hostile file could take over this user; see `showandtell doctor`"
        log.warning(words, " and ".join(missing))


def split(values: list[str] | None) -> tuple[str, ...]:
    """The values of an option that may be repeated or comma-separated."""
    return tuple(name.strip() for value in values or [] for name in value.split(",") if name.strip())


def check_server() -> None:
    """Raise `UsageError` if the server's libraries are missing."""
    try:
        importlib.import_module("showandtell.server.app")
    except ImportError as error:
        raise UsageError(INSTALL) from error


def config_of(options: ServeOptions) -> Config:
    """The server's configuration. Raises `UsageError`, and `BadInput` for an invalid variable."""
    from showandtell.server.auth.oidc import read_oidc  # noqa: PLC0415 - the same
    from showandtell.server.config import Config  # noqa: PLC0415 - an extra

    if options.folder is not None and not options.folder.is_dir():
        raise UsageError(f"--folder: {options.folder} is not a folder")
    return Config(
        place=options.place,
        token=os.environ.get("SHOWANDTELL_TOKEN") or None,
        bind=options.host,
        hosts=options.names,
        origins=options.origins,
        public_url=options.public_url or None,
        default_model=options.model,
        tools=tuple(arguments.import_tools(options.tools)) if options.tools is not None else (),
        deps=arguments.import_deps(options.deps) if options.deps is not None else None,
        folder=options.folder,
        describe=options.describe or None,
        max_steps=options.max_steps,
        max_seconds=options.max_seconds,
        on_full=options.on_full,
        max_message_files=options.max_message_files,
        rates=options.rates,
        oidc=read_oidc(),
        log_clients=options.log_clients,
    )


def run_worker(options: ServeOptions, listening: socket.socket, report: Callable[[Ready], None]) -> None:
    """Run one of several workers, like `run_server`."""
    run_server(options, listening, lambda server: report(ready_of(server)))


def run_server(options: ServeOptions, listening: socket.socket, on_started: Callable[[Server], None]) -> None:
    """Run a worker until a signal ends it. `on_started` is called in its loop. Raises our errors if it can't start."""
    from showandtell.server.app import make_app  # noqa: PLC0415 - an extra
    from showandtell.server.observability.logs import configure_logging  # noqa: PLC0415 - the same
    from showandtell.server.process import run  # noqa: PLC0415 - the same

    hide_process()  # a worker is a new process
    configure_logging(options.log_format.value, verbose=options.verbose)
    app = make_app(config_of(options))
    run(app, listening, on_started, options.proxies)


def run_workers(options: ServeOptions, listening: socket.socket, on_ready: Callable[[Ready], None], count: int) -> None:
    """Run several workers until a signal ends them."""
    from showandtell.server.observability.logs import configure_logging  # noqa: PLC0415 - an extra
    from showandtell.server.workers import Workers  # noqa: PLC0415 - the same

    configure_logging(options.log_format.value, verbose=options.verbose)
    if not (options.place.database or "").startswith("postgres"):
        typer.echo(f"showandtell: {USE_POSTGRESQL}", err=True)
    signalled = Workers(partial(run_worker, options), listening, count, on_ready).run()
    raise SystemExit(128 + signalled)


def ready_of(server: Server) -> Ready:
    """The report of a server that is ready."""
    own = "variable" if server.config.token else "secret"
    token = own if server.accounts is None else "accounts"
    return Ready(token, server.keys.cookie_suffix, server.config.place.describe(server.store))


def listen(host: str, port: int | None) -> socket.socket:
    """A listening socket; without a port, on the default one or the next free one."""
    ports = range(PORT, PORT + PORTS) if port is None else (port,)
    for number in ports:
        try:
            family = socket.getaddrinfo(host, number, type=socket.SOCK_STREAM)[0][0]
            listening = socket.create_server((host, number), family=family, backlog=2048)
            # asyncio sets it only on sockets with an explicit protocol; without it, small responses wait 40 ms.
            listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        except socket.gaierror as error:
            raise UsageError(f"--host {host}: no such address on this machine ({error.strerror})") from None
        except OSError as error:
            if number == ports[-1]:
                reason = error.strerror or str(error)
                raise UsageError(f"{host} port {number} can't be used ({reason}): choose another with --port") from None
        else:
            return listening
    raise AssertionError(ports)


def format_host(host: str) -> str:
    """A host as part of an address that works on this machine."""
    if host in {"0.0.0.0", "::", ""}:  # noqa: S104 - only compared with
        return LOOPBACK
    return f"[{host}]" if ":" in host else host
