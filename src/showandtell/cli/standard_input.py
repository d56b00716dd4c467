"""Standard input of `ask`: the question, or a file beside it."""

from __future__ import annotations

import os
import select
import sys
from collections.abc import Sequence
from io import UnsupportedOperation
from stat import S_ISFIFO, S_ISREG

import typer

from showandtell.core.messages.file import File
from showandtell.errors import UsageError

#: The name of standard input, as a question or a file.
DASH = "-"
NAME = "stdin"
#: Seconds after which `WAITING` is printed.
NOTICE = 2.0
WAITING = "reading standard input until it ends (Ctrl-D, or < /dev/null for none)"
NOTHING = "there is nothing to ask: write a message, or attach a file with --attach"
TWICE = "standard input can't be both the question and a file"


def read_input(text: str | None, attached: Sequence[str], max_bytes: int) -> tuple[str, File | None]:
    """The question, and standard input as a file. Raises `UsageError`.

    Standard input is the question if that is `-`, or if there is none and the input is no terminal. With a question it
    is a file, if `--attach -` asks for it, or if it is a pipe or a file with something in it.
    """
    as_file = DASH in attached
    if text is None and not as_file and not sys.stdin.isatty() and (not attached or is_piped()):
        text = DASH
    if text == DASH and as_file:
        raise UsageError(TWICE)
    if text == DASH:
        return read_question(max_bytes), None
    if as_file or (text is not None and is_piped()):
        data = read_bytes(max_bytes)
        return text or "", File.from_bytes(data, name=NAME) if data or as_file else None
    return text or "", None


def is_piped() -> bool:
    """Whether standard input is a pipe or a file, and not a terminal, a socket or a device such as /dev/null."""
    try:
        mode = os.fstat(sys.stdin.fileno()).st_mode
    except (UnsupportedOperation, OSError, ValueError):  # closed, or replaced by the program that calls this one
        return False
    return S_ISFIFO(mode) or S_ISREG(mode)


def read_bytes(max_bytes: int) -> bytes:
    """All of standard input, with a notice if nothing comes. Raises `UsageError` if it is too large."""
    if is_piped() and not select.select([sys.stdin], [], [], NOTICE)[0]:
        typer.echo(f"showandtell: {WAITING}", err=True)
    data = sys.stdin.buffer.read(max_bytes + 1)
    if len(data) > max_bytes:
        raise UsageError(f"standard input is larger than {max_bytes} bytes, the maximum of --max-file-bytes")
    return data


def read_question(max_bytes: int) -> str:
    """Standard input as text. Raises `UsageError`."""
    if sys.stdin.isatty():
        typer.echo(f"showandtell: {WAITING}", err=True)
    try:
        return read_bytes(max_bytes).decode("utf-8-sig").rstrip("\n")
    except UnicodeDecodeError:
        raise UsageError("standard input is not text: to attach it, write a question and --attach -") from None
