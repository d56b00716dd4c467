"""The commands about kept conversations: `list`, `show`, `export`, `import`, `delete`, `fsck`."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar, cast

import msgspec
import typer

from showandtell import given, keeping
from showandtell.adopt.anthropic import from_anthropic
from showandtell.adopt.gemini import from_gemini
from showandtell.adopt.openai import from_openai
from showandtell.attachments.shelf import MAX_FILE_BYTES
from showandtell.capabilities.matrix import one_line
from showandtell.content import History
from showandtell.delivery.labels import size_of
from showandtell.errors import BadConversation
from showandtell.files import find
from showandtell.given import WrongUsage
from showandtell.history.memory import MemoryConversation
from showandtell.records import load
from showandtell.terminal import plain, short
from showandtell.transcript import file_line, transcript

if TYPE_CHECKING:
    from showandtell.history.garbage import Collected
    from showandtell.history.store import Store, Summary

T = TypeVar("T")

DATABASE = "sqlite:///path or postgresql://…, in place of the folder's own"
BLOBS = "a folder, s3://…, gs://… or az://… for the bytes of files, in place of the folder's own"
Data = Annotated[
    Path | None, typer.Option("--data", envvar="SHOWANDTELL_DATA", help="the folder where conversations are kept")
]
Url = Annotated[str | None, typer.Option("--database", envvar="SHOWANDTELL_DATABASE", help=DATABASE)]
Blobs = Annotated[str | None, typer.Option("--blobs", envvar="SHOWANDTELL_BLOBS", help=BLOBS)]
Which = Annotated[str, typer.Argument(help="the id of a conversation, or last")]
AsJson = Annotated[bool, typer.Option("--json", help="one JSON value")]
Most = Annotated[
    int,
    typer.Option("--max-file-bytes", envvar="SHOWANDTELL_MAX_FILE_BYTES", min=1, help="the most one file may have"),
]
#: The most letters of a title in a list.
TITLE = 60


class Form(StrEnum):
    """Whose form a history has that is imported."""

    openai = "openai"
    anthropic = "anthropic"
    gemini = "gemini"


READERS: dict[Form, Callable[[Any], History]] = {
    Form.openai: from_openai,
    Form.anthropic: from_anthropic,
    Form.gemini: from_gemini,
}


def within(
    data: Path | None,
    database: str | None,
    blobs: str | None,
    work: Callable[[Store], Awaitable[T]],
    most: int = MAX_FILE_BYTES,
) -> T:
    """Do something with the store that the options name."""
    place = keeping.place(data, database, blobs, most, which=keeping.LAST)
    assert place is not None  # noqa: S101 - else it has raised

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
    found = within(data, database, blobs, lambda store: store.list(keeping.OWNER, limit=most))
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


def counted(number: int, what: str) -> str:
    """So many of something."""
    return f"{number} {what}{'' if number == 1 else 's'}"


def counts_of(conversation: MemoryConversation) -> str:
    """How much is in a conversation."""
    return f"{counted(len(conversation.messages), 'message')}, {counted(len(conversation.attachments), 'file')}"


def show(
    conversation: Which = keeping.LAST,
    data: Data = None,
    database: Url = None,
    blobs: Blobs = None,
    json: AsJson = False,
) -> None:
    """Print a conversation: what was said, its files with their numbers, and what the model was given of each."""

    async def work(store: Store) -> tuple[MemoryConversation, int]:
        found = await keeping.find(store, conversation)
        return found, len(await found.everything()) - len(found.messages)

    found, elsewhere = within(data, database, blobs, work)
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
        raise WrongUsage(f"{path} is there already: name another file")

    async def work(store: Store) -> MemoryConversation:
        from showandtell.history.transfer import export_conversation  # noqa: PLC0415 - its libraries are an extra

        found = await keeping.find(store, conversation)
        await export_conversation(found, path)
        return found

    found = within(data, database, blobs, work)
    typer.echo(f"{found.id}: {counts_of(found)} in {plain(path)}, {size_of(path.stat().st_size)}")


def import_file(  # noqa: PLR0917 - each is an option
    path: Annotated[Path, typer.Argument(help="what `export` wrote, or a conversation file")],
    form: Annotated[Form | None, typer.Option("--from", help="the messages of this API's form, as JSON")] = None,
    max_file_bytes: Most = MAX_FILE_BYTES,
    data: Data = None,
    database: Url = None,
    blobs: Blobs = None,
) -> None:
    """Keep a conversation from a file: one of ours, or with --from the messages of another API."""
    given.existing(path)

    def read(file: Path) -> History:
        history = load(file) if form is None else read_foreign(file, form)
        if history.instructions:
            typer.echo("its instructions are not kept: they are the program's, not the conversation's", err=True)
        return history

    async def work(store: Store) -> MemoryConversation:
        from showandtell.history.transfer import import_conversation  # noqa: PLC0415 - its libraries are an extra

        return await import_conversation(store, path, keeping.OWNER, read)

    found = within(data, database, blobs, work, max_file_bytes)
    typer.echo(f"{found.id}: {counts_of(found)}")
    for _, file in sorted(found.attachments.items()):
        if file.problem is not None:
            typer.echo(file_line(file), err=True)


def read_foreign(path: Path, form: Form) -> History:
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
    found = within(data, database, blobs, lambda store: keeping.find(store, conversation))
    if file is None:
        what = f"{found.id} ({counts_of(found)})"
    else:
        one = find(found.attachments, file)
        what = f"{one.label} ({plain(one.name)}) of {found.id}"
    if not yes:
        typer.confirm(f"delete {what}, for good?", abort=True)
    kept, gone = within(data, database, blobs, lambda store: drop(store, found.id, file))
    typer.echo(f"deleted {what}: {size_of(gone.bytes)} freed")
    for reason in kept:
        typer.echo(f"not deleted: {short(reason)}", err=True)


async def drop(store: Store, which: str, number: int | None) -> tuple[tuple[str, ...], Collected]:
    """Delete a conversation or one of its files, its uploads first; says which of these stay, and why."""
    conversation = await keeping.find(store, which)
    kept = await keeping.delete_uploads(conversation, None if number is None else [number])
    if number is None:
        return kept, await store.delete(conversation.id, keeping.OWNER)
    return kept, await store.delete_file(conversation, number)


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

    findings, collected = within(data, database, blobs, work)
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
