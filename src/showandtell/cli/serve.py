"""The command `serve`, which starts the chat server and prints the address of its page."""

from __future__ import annotations

import asyncio
import importlib
import logging
import os
import socket
import threading
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer
from msgspec import Struct

from showandtell.agent.from_settings import limits_of, model_settings_of, retry_of
from showandtell.agent.named import import_function
from showandtell.cli import arguments
from showandtell.cli.agents import file_policy, folder_of, named_tools
from showandtell.cli.announce import Codes, Ready, announce, write_apart
from showandtell.cli.collector import collect_what_is_new
from showandtell.cli.configured import AGENT, with_settings
from showandtell.cli.sessions import place_of
from showandtell.config.read import read_instructions
from showandtell.config.settings import Settings
from showandtell.errors import UsageError
from showandtell.installation import install_command
from showandtell.media.sandbox import hide_process, list_missing_walls

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from showandtell.server.config import Config
    from showandtell.server.state import Server

log = logging.getLogger(__name__)

#: The first port to try, and how many.
PORT, PORTS = 8000, 20
#: Seconds of a run without a limit of its own.
MAX_SECONDS = 900.0
LOOPBACK = "127.0.0.1"
USE_POSTGRESQL = "several workers share one SQLite file and wait for the disk; PostgreSQL is faster"


Open = Annotated[bool, typer.Option("--open", help="open the page in the browser")]
Verbose = Annotated[bool, typer.Option("--verbose", "-v", help="log requests and tracebacks")]


class ServeOptions(Struct, frozen=True):
    """The options as plain values, from which each worker makes its own configuration."""

    settings: Settings
    verbose: bool


@with_settings(*AGENT, "storage.", "server.")
def serve(settings: Settings, open_page: Open = False, verbose: Verbose = False) -> None:
    """Serve the chat: a page for people, an API for programs.

    More settings are environment variables only:
    SHOWANDTELL_CONFIG: a configuration file
    SHOWANDTELL_TOKEN: the single user's token; default: the one that
    `showandtell token --show` prints
    SHOWANDTELL_SECRET: the secret for cookies, signed URLs and stored keys
    SHOWANDTELL_PREVIOUS_SECRETS: earlier ones, comma-separated, which only
    read stored keys
    SHOWANDTELL_OIDC_ISSUER: sign in with an OpenID Connect issuer
    SHOWANDTELL_OIDC_CLIENT_ID, SHOWANDTELL_OIDC_CLIENT_SECRET: its client
    SHOWANDTELL_OIDC_AUDIENCE: the audience of programs' tokens
    SHOWANDTELL_OIDC_SCOPES: scopes to request in addition to openid
    SHOWANDTELL_OIDC_ADMIN_CLAIM: the claim of administrators: groups=admins
    SHOWANDTELL_OVERRIDES: a file with your own verdicts about models
    SHOWANDTELL_TELEMETRY_CONTENT: 1 adds texts and arguments to traces
    """
    check_server()
    place, own = place_of(settings), settings.server
    options = ServeOptions(settings, verbose)
    listening = listen(own.host, own.port)
    address = f"http://{format_host(own.host)}:{listening.getsockname()[1]}"

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

    with listening:
        if own.workers == 1:
            run_server(options, listening, on_started)
        else:
            run_workers(options, listening, on_ready, own.workers)


def warn_of_missing_walls() -> None:
    """Log which walls the decoders lack, if any."""
    if missing := list_missing_walls():
        words = "files are decoded without %s: a hostile file could take over this user; see `showandtell doctor`"
        log.warning(words, " and ".join(missing))


def missing_libraries() -> str:
    """The error if the server's libraries are missing."""
    return f"the chat server needs more libraries: {install_command('server')}"


def check_server() -> None:
    """Raise `UsageError` if the server's libraries are missing."""
    try:
        importlib.import_module("showandtell.server.app")
    except ImportError as error:
        raise UsageError(missing_libraries()) from error


def config_of(options: ServeOptions) -> Config:
    """The server's configuration. Raises `UsageError`, and `BadInput` for an invalid variable."""
    from showandtell.server.auth.oidc import read_oidc  # noqa: PLC0415 - the same
    from showandtell.server.config import Config  # noqa: PLC0415 - an extra

    settings, own = options.settings, options.settings.server
    return Config(
        place=place_of(settings),
        token=os.environ.get("SHOWANDTELL_TOKEN") or None,
        bind=own.host,
        hosts=own.hosts,
        origins=own.origins,
        public_url=own.public_url or None,
        default_model=settings.model,
        instructions=read_instructions(settings.instructions),
        builtin=settings.builtin,
        tools=tuple(named_tools(settings)),
        deps=arguments.imported(import_function, "--deps", own.deps) if own.deps else None,
        folder=folder_of(settings),
        model_settings=model_settings_of(settings),
        limits=replace(limits_of(settings), seconds=settings.limits.seconds or MAX_SECONDS),
        retry=retry_of(settings),
        file_policy=file_policy(settings),
        max_message_files=own.max_message_files,
        lift_audience=own.lift_audience,
        rates=own.rate,
        admins=own.admins,
        user_keys=own.user_keys,
        provider_hosts=own.provider_hosts,
        attach_addresses=own.attach_addresses,
        oidc=read_oidc(),
        log_clients=own.log_clients,
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
    configure_logging(options.settings.server.log_format, verbose=options.verbose)
    app = make_app(config_of(options))

    def on_ready(server: Server) -> None:
        collect_what_is_new()
        on_started(server)

    run(app, listening, on_ready, options.settings.server.proxies)


def run_workers(options: ServeOptions, listening: socket.socket, on_ready: Callable[[Ready], None], count: int) -> None:
    """Run several workers until a signal ends them."""
    from showandtell.server.observability.logs import configure_logging  # noqa: PLC0415 - an extra
    from showandtell.server.workers import Workers  # noqa: PLC0415 - the same

    configure_logging(options.settings.server.log_format, verbose=options.verbose)
    if not (options.settings.storage.database or "").startswith("postgres"):
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
