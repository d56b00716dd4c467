"""The options of the command line that say where conversations are kept, and how much; many commands have them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

DATABASE = "sqlite:///path or postgresql://…, in place of the folder's own"
BLOBS = "a folder, s3://…, gs://… or az://… for the bytes of files, in place of the folder's own"
Data = Annotated[
    Path | None, typer.Option("--data", envvar="SHOWANDTELL_DATA", help="the folder where conversations are kept")
]
Url = Annotated[str | None, typer.Option("--database", envvar="SHOWANDTELL_DATABASE", help=DATABASE)]
Blobs = Annotated[str | None, typer.Option("--blobs", envvar="SHOWANDTELL_BLOBS", help=BLOBS)]
Most = Annotated[
    int,
    typer.Option("--max-file-bytes", envvar="SHOWANDTELL_MAX_FILE_BYTES", min=1, help="the most one file may have"),
]
Quota = Annotated[
    int | None, typer.Option("--quota", envvar="SHOWANDTELL_QUOTA", min=1, help="the most bytes of all files kept")
]
Strip = Annotated[
    bool,
    typer.Option(
        "--strip-location",
        envvar="SHOWANDTELL_STRIP_LOCATION",
        help="take the place where photos were made out of them",
    ),
]
