"""The program `showandtell`."""

from __future__ import annotations

import sys

from showandtell.version import VERSION


def main() -> None:
    """Run the command line."""
    if sys.argv[1:] == ["--version"]:
        sys.stdout.write(f"showandtell {VERSION}\n")
        return
    from showandtell.cli.program import run  # noqa: PLC0415 - slow to import: the version is printed without it

    run()
