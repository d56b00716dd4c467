"""The commands `render`, `explain` and `matrix`: what a model is given, without sending it."""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from showandtell.agent.from_settings import model_of
from showandtell.agent.render import explain as explain_files
from showandtell.agent.render import render as render_request
from showandtell.cli import arguments, terminal
from showandtell.cli.agents import file_policy
from showandtell.cli.configured import with_settings
from showandtell.cli.options import AsJsonLines, Strict
from showandtell.config.settings import Settings
from showandtell.config.user_settings import read_overrides
from showandtell.core.capabilities import matrix as table
from showandtell.core.display.words import plain
from showandtell.errors import UsageError
from showandtell.storage.files import conversation_file

#: What `render` takes.
TAKES = (
    "`render` takes a conversation file, or a zip file that `export` wrote; `explain` shows how any other file is sent"
)
#: The settings that decide how files are sent.
PLAN = ("model", "file_policy.on_unsupported", "file_policy.max_in_context", "file_policy.context_share")


class FileSource(StrEnum):
    """The origin of the files to explain."""

    tool = "tool"
    user = "user"


@with_settings(*PLAN)
def render(
    settings: Settings,
    conversation: Annotated[Path | None, typer.Argument(help="a conversation file, or a zip of `export`")] = None,
    strict: Strict = False,
) -> None:
    """Print the exact request body that would be sent."""
    if conversation is None:
        raise UsageError(f"name a file: {TAKES}")
    from showandtell.storage.conversations.archive import unpacked  # noqa: PLC0415 - `matrix` needs none

    arguments.check_conversation(arguments.existing(conversation), TAKES)
    with unpacked(conversation, settings.file_policy.max_file_bytes) as path:
        if path == conversation and arguments.is_request(path):
            raise UsageError(f"{path.name} is a request already: {TAKES}")
        history = conversation_file.load(path)
        request = render_request(
            history, model=model_of(settings).model, file_policy=file_policy(settings, strict=strict)
        )
        for piece in request.chunks():
            sys.stdout.buffer.write(piece)
    sys.stdout.buffer.write(b"\n")


@with_settings(*PLAN)
def explain(
    settings: Settings,
    paths: Annotated[list[Path], typer.Argument(help="a conversation file, or any files")],
    place: Annotated[
        FileSource | None, typer.Option("--as", help="whether the files come from a tool (default) or the user")
    ] = None,
    strict: Strict = False,
    json: AsJsonLines = False,
) -> None:
    """Print how each file would be sent to a model, why, and the evidence."""
    history = arguments.conversation(paths)
    if history is not None and place is not None:
        raise UsageError(f"{paths[0]} is a conversation, which has the origin of its files: omit --as")
    files = arguments.files_from_user if place is FileSource.user else arguments.files_from_tool
    source = history if history is not None else files(paths)
    model = model_of(settings).model
    receipts = explain_files(source, model=model, file_policy=file_policy(settings, strict=strict))
    hint_at_conversations(paths)
    if json:
        typer.echo(msgspec.json.encode([receipt.record() for receipt in receipts]).decode())
        return
    origin = None if history is not None else f"from {'the user' if place is FileSource.user else 'a tool'}"
    for line in terminal.format_receipts(receipts, model, origin):
        typer.echo(line)


def hint_at_conversations(paths: list[Path]) -> None:
    """Print a hint if a conversation among other files is explained as a file."""
    for path in paths if len(paths) > 1 else []:
        if arguments.is_conversation(path):
            hint = f"{path} is explained as a file: name it alone to explain the conversation in it"
            typer.echo(f"showandtell: {plain(hint)}", err=True)


def matrix(
    json: Annotated[bool, typer.Option("--json", help="one JSON array with an object per row")] = False,
) -> None:
    """Print how each kind of file is sent, for every known model and those that you verified, as Markdown."""
    rows = table.matrix(read_overrides())
    typer.echo(table.to_json(rows) if json else table.markdown(rows))
