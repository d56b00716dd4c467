"""Options for the location and size of stored conversations, shared by many commands."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from showandtell.agent.decide import OnFull

DATABASE = "sqlite:///path or postgresql://…, instead of the data folder"
BLOBS = "a folder, s3://…, gs://… or az://… for the bytes of files, instead of the data folder"
Data = Annotated[
    Path | None, typer.Option("--data", envvar="SHOWANDTELL_DATA", help="the data folder, for conversations and files")
]
Url = Annotated[str | None, typer.Option("--database", envvar="SHOWANDTELL_DATABASE", help=DATABASE)]
Blobs = Annotated[str | None, typer.Option("--blobs", envvar="SHOWANDTELL_BLOBS", help=BLOBS)]
MaxFileBytes = Annotated[
    int,
    typer.Option(
        "--max-file-bytes", envvar="SHOWANDTELL_MAX_FILE_BYTES", min=1, help="maximum size of a file in bytes"
    ),
]
Quota = Annotated[
    int | None,
    typer.Option("--quota", envvar="SHOWANDTELL_QUOTA", min=1, help="maximum size of all stored files in bytes"),
]
Strip = Annotated[
    bool,
    typer.Option(
        "--strip-location",
        envvar="SHOWANDTELL_STRIP_LOCATION",
        help="remove locations from photos",
    ),
]
FullContext = Annotated[
    OnFull,
    typer.Option(
        "--on-full",
        envvar="SHOWANDTELL_ON_FULL",
        metavar="HOW",
        help="what to do if the model's context window is full: error, drop_oldest or summarize",
    ),
]
DESCRIBE = "provider:model that describes pictures to models without eyes, and is sent these pictures"
Describe = Annotated[str | None, typer.Option("--describe", envvar="SHOWANDTELL_DESCRIBE", help=DESCRIBE)]
AsJson = Annotated[bool, typer.Option("--json", help="one JSON value")]
