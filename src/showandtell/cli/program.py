"""Runs a command: prints our errors, and ends with their exit status.

Exit status: 0 complete, 1 error, 2 usage, 3 incomplete, 4 refused, 130 interrupted, 143 and 129 ended by a signal.
"""

from __future__ import annotations

import io
import signal
import sys
import warnings
from types import FrameType

import typer
from typer.exceptions import TyperException

from showandtell.cli.collector import collect_seldom
from showandtell.cli.commands import app
from showandtell.cli.statuses import ENDING, EXIT, INTERRUPTED
from showandtell.core.display.words import plain
from showandtell.errors import ShowAndTellError, UnknownModel, UnsupportedFile, UsageError
from showandtell.media.sandbox import hide_process


def run() -> None:
    """Run the command that the arguments name; each of our errors is one line on stderr and an exit status."""
    collect_seldom()
    replace_unencodable()
    warnings.showwarning = show_warning
    hide_process()  # its environment holds keys
    exit_on_signals()
    try:
        sys.exit(app(standalone_mode=False))
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
    except typer.Abort:
        fail("nothing was changed", 1)
    except TyperException as error:
        if not (text := error.format_message()):  # without a command, typer has printed the help
            sys.exit(error.exit_code)
        fail(f"{text} (see --help)", error.exit_code)
    except UnsupportedFile as error:
        fail(error, EXIT["refused"])
    except (UnknownModel, UsageError) as error:
        fail(error, 2)
    except ShowAndTellError as error:
        fail(error, 1)


def show_warning(message: Warning | str, *_: object) -> None:
    """Print a warning as one line, without the line of code that Python shows with it."""
    typer.echo(f"showandtell: {plain(str(message))}", err=True)


def leave(number: int, _: FrameType | None) -> None:
    """Exit after a signal, so that temporary files are removed."""
    sys.exit(128 + number)


def exit_on_signals() -> None:
    """Exit on SIGTERM and SIGHUP, unless `nohup` ignores them."""
    for number in ENDING:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, leave)


def replace_unencodable() -> None:
    """Print characters outside of the terminal's encoding as question marks."""
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


def fail(error: object, status: int) -> None:
    """Print an error and exit."""
    sys.stderr.write(f"showandtell: {' '.join(plain(error).split())}\n")
    sys.exit(status)
