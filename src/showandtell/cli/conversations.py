"""The commands for stored conversations: `list`, `show`, `export`, `import`, `delete`, `fsck`."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import msgspec
import typer

from showandtell.agent.provider_uploads import delete_uploads
from showandtell.cli import arguments, sessions
from showandtell.cli.backups import export_all, import_all
from showandtell.cli.configured import STORE, with_settings
from showandtell.cli.options import AsJson
from showandtell.cli.sessions import place_of
from showandtell.cli.transcript import counts_of, file_line, transcript
from showandtell.config.settings import Settings
from showandtell.core.display.words import counted, one_line, plain, short
from showandtell.core.histories.from_anthropic import from_anthropic
from showandtell.core.histories.from_gemini import from_gemini
from showandtell.core.histories.from_openai import from_openai
from showandtell.core.messages.attachments import find_attachment
from showandtell.core.messages.message import History
from showandtell.core.planning.labels import format_size
from showandtell.errors import BadConversation, NotFound, UsageError
from showandtell.storage.conversations.archive import is_backup
from showandtell.storage.conversations.memory_conversation import MemoryConversation
from showandtell.storage.files.conversation_file import load

if TYPE_CHECKING:
    from showandtell.storage.conversations.imports import Imported
    from showandtell.storage.conversations.store import Store
    from showandtell.storage.conversations.stored_conversation import StoredConversation
    from showandtell.storage.conversations.summaries import Summary

Which = Annotated[str, typer.Argument(help="the id of a conversation, or last")]
ALL, LAST, ZIP = "all", sessions.LAST, ".zip"
#: What `import` takes.
IMPORTS = (
    "`import` takes a zip file that `export` wrote, a conversation file, or with --from the messages of an API; "
    "`ask --attach` sends any other file"
)
#: Printed if a file's bytes were not deleted with it.
BYTES_STAY = "; its bytes stay: another file has the same, or was just added (fsck --collect deletes unused bytes)"
#: Maximum length of a title in a list.
MAX_TITLE = 60


class ExportFormat(StrEnum):
    """The API whose message format is imported."""

    openai = "openai"
    anthropic = "anthropic"
    gemini = "gemini"


READERS: dict[ExportFormat, Callable[[Any], History]] = {
    ExportFormat.openai: from_openai,
    ExportFormat.anthropic: from_anthropic,
    ExportFormat.gemini: from_gemini,
}


@with_settings(*STORE)
def list_all(
    settings: Settings,
    limit: Annotated[int, typer.Option("--most", "-n", min=1, help="maximum number, newest first")] = 20,
    json: AsJson = False,
) -> None:
    """List the stored conversations, the most recently changed first."""
    location = place_of(settings)
    try:
        summaries = sessions.with_existing(location, lambda store: store.list(sessions.OWNER, limit=limit))
    except NotFound:
        summaries = ()
    if json:
        typer.echo(msgspec.json.encode(summaries).decode())
        return
    for summary in summaries:
        typer.echo(summary_line(summary))
    if not summaries:
        typer.echo("no conversation is stored here yet")


def summary_line(summary: Summary) -> str:
    """A conversation in one line: id, time of the last change, numbers of messages and files, title."""
    when = time.strftime("%Y-%m-%d %H:%M", time.localtime(summary.changed))
    counts = f"{counted(summary.messages, 'message'):>14}  {counted(summary.files, 'file'):>9}"
    return f"{summary.id}  {when}{counts}  {one_line(summary.title, MAX_TITLE)}"


@with_settings(*STORE)
def show(
    settings: Settings,
    conversation: Which = sessions.LAST,
    json: AsJson = False,
) -> None:
    """Print a conversation: messages, files with their numbers, and how each file was sent to the model."""

    async def read(store: Store) -> tuple[MemoryConversation, int]:
        found = await sessions.find(store, conversation)
        return found, len(await found.everything()) - len(found.messages)

    found, elsewhere = sessions.with_existing(place_of(settings), read)
    if json:
        value = {
            "id": found.id,
            "messages": found.messages,
            "attachments": [*found.attachments.values()],
            "receipts": [receipt.record() for receipt in found.receipts.values()],
        }
        typer.echo(msgspec.json.encode(value).decode())
        return
    for line in transcript(found, elsewhere):
        typer.echo(line)


@with_settings(*STORE)
def export(
    settings: Settings,
    conversation: Annotated[str | None, typer.Argument(help="the id of a conversation, last, or all")] = None,
    path: Annotated[Path | None, typer.Argument(help="the zip file to write")] = None,
) -> None:
    """Write a conversation with its files, or all of them, to one zip file, for `import`."""
    if conversation is None or path is None or conversation.endswith(ZIP):
        which, name = (LAST, conversation) if conversation and conversation.endswith(ZIP) else (conversation, path)
        raise UsageError(
            "name a conversation and the zip file to write, as in "
            f"`showandtell export {which or LAST} {name or 'conversation.zip'}`"
        )
    if path.is_dir():
        raise UsageError(f"{path} is a folder: name a zip file in it")
    if path.exists():
        raise UsageError(f"{path} exists already: choose another name")
    if conversation == ALL:
        export_all(settings, path)
        return

    async def write(store: Store) -> MemoryConversation:
        from showandtell.storage.conversations.transfer import export_conversation  # noqa: PLC0415 - its libraries are an extra

        found = await sessions.find(store, conversation)
        await export_conversation(found, path)
        return found

    found = sessions.with_existing(place_of(settings), write)
    typer.echo(f"{found.id}: {counts_of(found)} in {plain(path)}, {format_size(path.stat().st_size)}")
    for line in without_bytes(found):
        typer.echo(f"without its bytes: {line}", err=True)


def without_bytes(conversation: MemoryConversation) -> Iterator[str]:
    """One line for each file of a conversation whose bytes are not stored here."""
    for _, file in sorted(conversation.attachments.items()):
        if file.facts is None or file.problem is not None:
            yield file_line(file)


@with_settings("storage.", "file_policy.max_file_bytes")
def import_file(
    settings: Settings,
    path: Annotated[Path | None, typer.Argument(help="a file written by `export`, or a conversation file")] = None,
    form: Annotated[ExportFormat | None, typer.Option("--from", help="the API of a JSON file with messages")] = None,
) -> None:
    """Store conversations from a file: written by `export` or by hand, or with --from the messages of an API."""
    if path is None:
        raise UsageError(f"name a file: {IMPORTS}")
    if form is None:
        check_own(arguments.existing(path))
        if is_backup(path):
            import_all(settings, path)
            return
    arguments.existing(path)

    def read(file: Path) -> History:
        history = load(file) if form is None else read_foreign(file, form)
        if history.instructions:
            typer.echo("its instructions are dropped: they belong to the program, not to the conversation", err=True)
        return history

    async def store_history(store: Store) -> Imported:
        from showandtell.storage.conversations.imports import import_once  # noqa: PLC0415 - its libraries are an extra

        return await import_once(store, path, sessions.OWNER, read=read)

    imported = sessions.with_store(place_of(settings), store_history)
    found = imported.conversation
    added = f"{counted(imported.added, 'message')} added, " if imported.added else ""
    typer.echo(f"{found.id}: {counts_of(found)}{'' if imported.is_new else f' ({added}{imported.known} here already)'}")
    for _, file in sorted(found.attachments.items()):
        if file.problem is not None:
            typer.echo(file_line(file), err=True)


def check_own(path: Path) -> None:
    """Raise `BadConversation` for a file that isn't ours, with a hint at --from for the messages of an API."""
    is_list = arguments.starts_with(path, b"[")
    if is_list or (arguments.starts_with(path, b"{") and arguments.is_request(path)):
        what, names = "a list of messages" if is_list else "a request with messages", ", ".join(ExportFormat)
        raise BadConversation(f"{path.name} is {what}: name its API with --from, one of {names}")
    arguments.check_conversation(path, IMPORTS)


def read_foreign(path: Path, form: ExportFormat) -> History:
    """The messages of an API, alone or inside a request."""
    try:
        value: Any = msgspec.json.decode(path.read_bytes())
    except (msgspec.DecodeError, UnicodeDecodeError, OSError) as error:
        raise BadConversation(f"{path.name} is not JSON: {error}") from error
    if isinstance(value, dict):
        request = cast("dict[str, Any]", value)
        value = next((request[key] for key in ("messages", "input", "contents") if key in request), request)
    return READERS[form](value)


@with_settings(*STORE)
def delete(
    settings: Settings,
    conversation: Annotated[str, typer.Argument(help="the id of a conversation, or last")],
    file: Annotated[int | None, typer.Option("--file", help="delete only the file with this number")] = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="don't ask")] = False,
) -> None:
    """Permanently delete a conversation and its files, or one file, also from providers that it was uploaded to."""

    async def delete_it(store: Store) -> None:
        found = await sessions.find(store, conversation)
        what = f"{found.id} ({counts_of(found)})" if file is None else f"{name_of(found, file)} of {found.id}"
        if not yes:
            typer.confirm(f"permanently delete {what}?", abort=True)
        problems, stays = await drop(store, found, file)
        typer.echo(f"deleted {what}{BYTES_STAY if stays else ''}")
        for reason in problems:
            typer.echo(f"not deleted: {short(reason)}", err=True)

    sessions.with_existing(place_of(settings), delete_it, deletes=True)


def name_of(conversation: MemoryConversation, number: int) -> str:
    """A file's label and name. Raises `BadInput` if there is no such number."""
    file = find_attachment(conversation.attachments, number)
    return f"{file.label} ({plain(file.name)})"


async def drop(store: Store, conversation: StoredConversation, number: int | None) -> tuple[tuple[str, ...], bool]:
    """Delete a conversation or one of its files, its uploads first.

    Returns why uploads could not be deleted, and whether the bytes of that one file stay here.
    """
    problems = await delete_uploads(conversation, None if number is None else [number])
    if number is None:
        await store.delete(conversation.id, sessions.OWNER)
        return problems, False
    facts = find_attachment(conversation.attachments, number).facts
    await store.delete_file(conversation, number)
    return problems, facts is not None and await asyncio.to_thread(conversation.blobs.check, facts) is None
