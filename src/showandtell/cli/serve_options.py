"""Options of the command `serve`."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

PORT = 8000
#: Panels of the help: a table for each leaves room for the names of the variables.
NETWORK, RUNS = "Network", "Models, tools and limits"


class LogFormat(StrEnum):
    """How the log is written."""

    text = "text"
    json = "json"


Port = Annotated[
    int | None,
    typer.Option(
        "--port",
        rich_help_panel=NETWORK,
        envvar="SHOWANDTELL_PORT",
        min=0,
        max=65535,
        help=f"default: {PORT} or the next free port; 0 for any",
    ),
]
Host = Annotated[
    str,
    typer.Option(
        "--host",
        rich_help_panel=NETWORK,
        envvar="SHOWANDTELL_HOST",
        help="the address to listen on; any address but 127.0.0.1 is reachable from the network",
    ),
]
Names = Annotated[
    list[str] | None,
    typer.Option(
        "--name",
        rich_help_panel=NETWORK,
        envvar="SHOWANDTELL_HOSTS",
        help="a host name of the server, such as chat.example.com",
    ),
]
Origins = Annotated[
    list[str] | None,
    typer.Option(
        "--origin",
        rich_help_panel=NETWORK,
        envvar="SHOWANDTELL_ORIGINS",
        help="an origin that may send requests, such as https://app.example.com",
    ),
]
Proxies = Annotated[
    str,
    typer.Option(
        "--proxy",
        rich_help_panel=NETWORK,
        envvar="SHOWANDTELL_PROXIES",
        help="trusted proxies, comma-separated addresses or networks",
    ),
]
PublicUrl = Annotated[
    str | None,
    typer.Option(
        "--public-url",
        rich_help_panel=NETWORK,
        envvar="SHOWANDTELL_PUBLIC_URL",
        help="the address for clients behind a proxy with a prefix, such as https://example.com/chat",
    ),
]
Open = Annotated[bool, typer.Option("--open", rich_help_panel=NETWORK, help="open the page in the browser")]
Folder = Annotated[
    Path | None,
    typer.Option(
        "--folder",
        rich_help_panel=RUNS,
        envvar="SHOWANDTELL_FOLDER",
        help="the folder that read_file serves; default: no read_file",
    ),
]
Tools = Annotated[
    str | None,
    typer.Option(
        "--tools",
        rich_help_panel=RUNS,
        envvar="SHOWANDTELL_TOOLS",
        help="MODULE:NAME, a list of tools in an importable module",
    ),
]
Deps = Annotated[
    str | None,
    typer.Option(
        "--deps",
        rich_help_panel=RUNS,
        envvar="SHOWANDTELL_DEPS",
        help="MODULE:NAME, a function that makes the tools' RunContext.deps from a user's id",
    ),
]
Model = Annotated[
    str,
    typer.Option(
        "--model",
        "-m",
        rich_help_panel=RUNS,
        envvar="SHOWANDTELL_MODEL",
        help="the default model: provider:model, or inspector",
    ),
]
Count = Annotated[
    int,
    typer.Option(
        "--workers",
        rich_help_panel=NETWORK,
        envvar="SHOWANDTELL_WORKERS",
        min=1,
        max=64,
        help="number of processes; use PostgreSQL for more than one",
    ),
]
Steps = Annotated[
    int,
    typer.Option(
        "--max-steps",
        rich_help_panel=RUNS,
        metavar="N",
        envvar="SHOWANDTELL_MAX_STEPS",
        min=1,
        help="maximum model calls per run",
    ),
]
Seconds = Annotated[
    float,
    typer.Option(
        "--max-seconds",
        rich_help_panel=RUNS,
        metavar="S",
        envvar="SHOWANDTELL_MAX_SECONDS",
        min=1,
        help="maximum duration of a run in seconds",
    ),
]
Files = Annotated[
    int,
    typer.Option(
        "--max-message-files",
        rich_help_panel=RUNS,
        metavar="N",
        envvar="SHOWANDTELL_MAX_MESSAGE_FILES",
        min=0,
        help="maximum files per message",
    ),
]
Rate = Annotated[
    str,
    typer.Option(
        "--rate",
        rich_help_panel=RUNS,
        envvar="SHOWANDTELL_RATE",
        help='rate limits per user, such as "chat=60/minute, uploads=300/minute"',
    ),
]
Log = Annotated[
    LogFormat,
    typer.Option("--log-format", envvar="SHOWANDTELL_LOG_FORMAT", help="plain lines, or one JSON object per line"),
]
LogClients = Annotated[
    bool,
    typer.Option("--log-clients", envvar="SHOWANDTELL_LOG_CLIENTS", help="log clients' addresses and users' names"),
]
Verbose = Annotated[bool, typer.Option("--verbose", "-v", help="log requests and tracebacks")]
