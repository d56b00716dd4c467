"""The commands about kept conversations: `list`, `show`, `export`, `import`, `delete`, `fsck`."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterator
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar, cast

import msgspec
import typer

from showandtell.agent.provider_uploads import delete_uploads
from showandtell.cli import arguments, sessions
from showandtell.cli.options import Blobs, Data, Most, Quota, Strip, Url
from showandtell.cli.terminal import counted, plain, short
from showandtell.cli.transcript import counts_of, file_line, transcript
from showandtell.core.capabilities.matrix import one_line
from showandtell.core.histories.from_anthropic import from_anthropic
from showandtell.core.histories.from_gemini import from_gemini
from showandtell.core.histories.from_openai import from_openai
from showandtell.core.messages.attachments import find
from showandtell.core.messages.messages import History
from showandtell.core.planning.labels import size_of
from showandtell.errors import BadConversation, UsageError
from showandtell.storage.conversations.memory_conversation import MemoryConversation
from showandtell.storage.files.conversation_file import load
from showandtell.storage.files.file_cache import MAX_FILE_BYTES
from showandtell.storage.location import StorageLocation

if TYPE_CHECKING:
    from showandtell.storage.conversations.store import Store, Summary
    from showandtell.storage.conversations.stored_conversation import StoredConversation

T = TypeVar("T")

Which = Annotated[str, typer.Argument(help="the id of a conversation, or last")]
AsJson = Annotated[bool, typer.Option("--json", help="one JSON value")]
#: What is said of a file whose bytes were not deleted with it.
STAYS = "; its bytes stay: another file has the same, or was just added (fsck --collect deletes what nothing needs)"
#: The most letters of a title in a list.
TITLE = 60


class ExportFormat(StrEnum):
    """Whose form a history has that is imported."""

    openai = "openai"
    anthropic = "anthropic"
    gemini = "gemini"


READERS: dict[ExportFormat, Callable[[Any], History]] = {
    ExportFormat.openai: from_openai,
    ExportFormat.anthropic: from_anthropic,
    ExportFormat.gemini: from_gemini,
}


def within(place: StorageLocation, work: Callable[[Store], Awaitable[T]]) -> T:
    """Do something with the store that the options name."""

    async def go() -> T:
        async with place.store() as store:
            return await work(store)

    return asyncio.run(go())


def list_all(
    most: Annotated[int, typer.Option("--most", "-n", min=1, help="how many, the newest first")] = 20,
    data: Data = None,
    database: Url = None,
    blobs: Blobs = None,
    json: AsJson = False,
) -> None:
    """List the conversations that are kept, the one that changed last first."""
    found = within(StorageLocation(data, database, blobs), lambda store: store.list(sessions.OWNER, limit=most))
    if json:
        typer.echo(msgspec.json.encode(found).decode())
        return
    for one in found:
        typer.echo(summary_line(one))
    if not found:
        typer.echo("no conversation is kept here yet")


def summary_line(one: Summary) -> str:
    """A conversation in one line: its id, when it changed, how much is in it, how it begins."""
    when = time.strftime("%Y-%m-%d %H:%M", time.localtime(one.changed))
    counts = f"{counted(one.messages, 'message'):>14}  {counted(one.files, 'file'):>9}"
    return f"{one.id}  {when}{counts}  {one_line(one.title, TITLE)}"


def show(
    conversation: Which = sessions.LAST,
    data: Data = None,
    database: Url = None,
    blobs: Blobs = None,
    json: AsJson = False,
) -> None:
    """Print a conversation: what was said, its files with their numbers, and what the model was given of each."""

    async def work(store: Store) -> tuple[MemoryConversation, int]:
        found = await sessions.find(store, conversation)
        return found, len(await found.everything()) - len(found.messages)

    found, elsewhere = within(StorageLocation(data, database, blobs), work)
    if json:
        value = {
            "id": found.id,
            "messages": found.messages,
            "attachments": [*found.attachments.values()],
            "receipts": [one.record() for one in found.receipts.values()],
        }
        typer.echo(msgspec.json.encode(value).decode())
        return
    for line in transcript(found, elsewhere):
        typer.echo(line)


def export(
    conversation: Which,
    path: Annotated[Path, typer.Argument(help="the zip file to write")],
    data: Data = None,
    database: Url = None,
    blobs: Blobs = None,
) -> None:
    """Write a conversation with its files to one zip file, which `import` reads."""
    if path.exists():
        raise UsageError(f"{path} is there already: name another file")

    async def work(store: Store) -> MemoryConversation:
        from showandtell.storage.conversations.transfer import export_conversation  # noqa: PLC0415 - its libraries are an extra

        found = await sessions.find(store, conversation)
        await export_conversation(found, path)
        return found

    found = within(StorageLocation(data, database, blobs), work)
    typer.echo(f"{found.id}: {counts_of(found)} in {plain(path)}, {size_of(path.stat().st_size)}")
    for line in without_bytes(found):
        typer.echo(f"without its bytes: {line}", err=True)


def without_bytes(conversation: MemoryConversation) -> Iterator[str]:
    """The files of a conversation that have no bytes here, a line for each."""
    for _, file in sorted(conversation.attachments.items()):
        if file.facts is None or file.problem is not None:
            yield file_line(file)


def import_file(  # noqa: PLR0917 - each is an option
    path: Annotated[Path, typer.Argument(help="what `export` wrote, or a conversation file")],
    form: Annotated[
        ExportFormat | None, typer.Option("--from", help="the messages of this API's form, as JSON")
    ] = None,
    max_file_bytes: Most = MAX_FILE_BYTES,
    data: Data = None,
    database: Url = None,
    blobs: Blobs = None,
    quota: Quota = None,
    strip_location: Strip = False,
) -> None:
    """Keep a conversation from a file: one of ours, or with --from the messages of another API."""
    arguments.existing(path)

    def read(file: Path) -> History:
        history = load_own(file) if form is None else read_foreign(file, form)
        if history.instructions:
            typer.echo("its instructions are not kept: they are the program's, not the conversation's", err=True)
        return history

    async def work(store: Store) -> MemoryConversation:
        from showandtell.storage.conversations.transfer import import_conversation  # noqa: PLC0415 - its libraries are an extra

        return await import_conversation(store, path, sessions.OWNER, read)

    found = within(StorageLocation(data, database, blobs, max_file_bytes, quota, strip_location), work)
    typer.echo(f"{found.id}: {counts_of(found)}")
    for _, file in sorted(found.attachments.items()):
        if file.problem is not None:
            typer.echo(file_line(file), err=True)


def load_own(path: Path) -> History:
    """A conversation file of ours; of a list of messages, as another API has them, it is said how it is imported."""
    if arguments.begins(path, b"["):
        names = ", ".join(ExportFormat)
        raise BadConversation(f"{path.name} is a list of messages: say whose with --from, one of {names}")
    return load(path)


def read_foreign(path: Path, form: ExportFormat) -> History:
    """The messages of an API, alone or in the request that held them."""
    try:
        value: Any = msgspec.json.decode(path.read_bytes())
    except (msgspec.DecodeError, UnicodeDecodeError, OSError) as error:
        raise BadConversation(f"{path.name} is no JSON: {error}") from error
    if isinstance(value, dict):
        request = cast("dict[str, Any]", value)
        value = next((request[key] for key in ("messages", "input", "contents") if key in request), request)
    return READERS[form](value)


def delete(  # noqa: PLR0917 - each is an option
    conversation: Annotated[str, typer.Argument(help="the id of a conversation, or last")],
    file: Annotated[int | None, typer.Option("--file", help="delete this file alone, by its number")] = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="don't ask")] = False,
    data: Data = None,
    database: Url = None,
    blobs: Blobs = None,
) -> None:
    """Delete a conversation and its files, or one file of it, for good, also where it was uploaded to."""

    async def work(store: Store) -> None:
        found = await sessions.find(store, conversation)
        what = f"{found.id} ({counts_of(found)})" if file is None else f"{name_of(found, file)} of {found.id}"
        if not yes:
            typer.confirm(f"delete {what}, for good?", abort=True)
        kept, stays = await drop(store, found, file)
        typer.echo(f"deleted {what}{STAYS if stays else ''}")
        for reason in kept:
            typer.echo(f"not deleted: {short(reason)}", err=True)

    within(StorageLocation(data, database, blobs), work)


def name_of(conversation: MemoryConversation, number: int) -> str:
    """A file by its label and name. Raises `BadInput` where there is none of this number."""
    one = find(conversation.attachments, number)
    return f"{one.label} ({plain(one.name)})"


async def drop(store: Store, conversation: StoredConversation, number: int | None) -> tuple[tuple[str, ...], bool]:
    """Delete a conversation or one of its files, its uploads first.

    Says which of these stay at their provider and why, and whether the bytes of that one file stay here.
    """
    kept = await delete_uploads(conversation, None if number is None else [number])
    if number is None:
        await store.delete(conversation.id, sessions.OWNER)
        return kept, False
    facts = find(conversation.attachments, number).facts
    await store.delete_file(conversation, number)
    return kept, facts is not None and await asyncio.to_thread(conversation.blobs.check, facts) is None


def fsck(
    collect: Annotated[bool, typer.Option("--collect", help="delete bytes that nothing has needed for a day")] = False,
    data: Data = None,
    database: Url = None,
    blobs: Blobs = None,
    json: AsJson = False,
) -> None:
    """Check every stored file against its hash: missing, short, changed, and bytes that belong to nothing."""

    async def work(store: Store) -> tuple[Any, Any]:
        return await store.fsck(), (await store.collect() if collect else None)

    findings, collected = within(StorageLocation(data, database, blobs), work)
    if json:
        typer.echo(msgspec.json.encode(findings).decode())
    else:
        for one in findings:
            needed = f"needed by {', '.join(one.files)}" if one.files else "needed by nothing"
            typer.echo(f"{one.sha256[:16]}…  {one.problem}  {needed}")
        typer.echo(f"{len(findings)} wrong" if findings else "all stored files are whole")
    if collected is not None:
        needless = counted(collected.blobs + collected.orphans, "stored file")
        typer.echo(f"deleted {needless} that nothing needed", err=json)
    raise typer.Exit(int(any(one.files for one in findings)))


#: The commands by name.
COMMANDS: dict[str, Callable[..., None]] = {
    "list": list_all,
    "show": show,
    "export": export,
    "import": import_file,
    "delete": delete,
    "fsck": fsck,
}
