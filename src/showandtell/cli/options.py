"""Options that several commands have, and that are no settings."""

from __future__ import annotations

from typing import Annotated

import typer

AsJson = Annotated[bool, typer.Option("--json", help="one JSON value")]
AsJsonLines = Annotated[bool, typer.Option("--json", help="one JSON value per line")]
Strict = Annotated[bool, typer.Option("--strict", help="fail if the model doesn't support a file")]
