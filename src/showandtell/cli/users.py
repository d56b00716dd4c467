"""The commands `users list`, `users export` and `users delete`, for all that is stored of one person."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import msgspec
import typer

from showandtell.agent.provider_uploads import delete_upload
from showandtell.cli import sessions
from showandtell.cli.backups import STEP
from showandtell.cli.configured import STORE, with_settings
from showandtell.cli.options import AsJson
from showandtell.cli.progress import progress_bars
from showandtell.cli.sessions import place_of
from showandtell.config.atomic_file import written_atomically
from showandtell.config.settings import Settings
from showandtell.core.display.words import counted, one_line, plain, short
from showandtell.core.planning.labels import format_size
from showandtell.errors import BadInput, UsageError

if TYPE_CHECKING:
    from showandtell.core.messages.derivations import DerivationRequest, Derivative
    from showandtell.storage.conversations.store import Store
    from showandtell.storage.users.erase import Belongings
    from showandtell.storage.users.listing import Person

UserId = Annotated[str, typer.Argument(metavar="USER", help="the account id, as `users list` shows it")]
#: Maximum length of a name in the list, and of the names of tables.
MAX_NAME, WIDTH = 40, 18
#: Seconds that each provider has to delete a copy, and maximum number of requests to providers at once.
COPY_SECONDS, MAX_CONCURRENT = 60.0, 8

users = typer.Typer(
    name="users",
    add_completion=False,
    help="List people, and export or delete all that is stored of one.",
    no_args_is_help=True,
)


@users.command("list")
@with_settings(*STORE)
def list_all(settings: Settings, json: AsJson = False) -> None:
    """List all people of whom something is stored, by account id."""

    async def read(store: Store) -> list[Person]:
        from showandtell.storage.users.listing import list_users  # noqa: PLC0415 - its libraries are an extra

        return await list_users(store.database)

    found = sessions.with_existing(place_of(settings), read)
    if json:
        typer.echo(msgspec.json.encode(found).decode())
        return
    for person in found:
        typer.echo(person_line(person))
    if not found:
        typer.echo("nothing is stored here of anybody")


def person_line(person: Person) -> str:
    """A person in one line: account id, name, last sign-in, conversations, bytes of files."""
    name = f"{one_line(person.name, MAX_NAME)}, " if person.name else ""
    seen = "" if person.seen is None else f"seen {time.strftime('%Y-%m-%d', time.localtime(person.seen))}, "
    return (
        f"{plain(person.id)}  {name}{seen}{counted(person.conversations, 'conversation')}, {format_size(person.bytes)}"
    )


@users.command()
@with_settings(*STORE)
def export(
    settings: Settings,
    user: UserId,
    path: Annotated[Path, typer.Argument(help="the zip file to write")],
) -> None:
    """Write all that belongs to a person to one zip file, without secrets, for `import`."""
    if path.exists():
        raise UsageError(f"{path} exists already: choose another name")

    async def write(store: Store) -> Belongings:
        from showandtell.storage.users.account import export_user  # noqa: PLC0415 - its libraries are an extra
        from showandtell.storage.users.erase import find_belongings  # noqa: PLC0415 - the same

        found = await find_belongings(store, user)
        with progress_bars("exporting") as report, written_atomically(path) as sink:
            async for chunk in export_user(store, user, partial(report, STEP)):
                sink.write(chunk)
        return found

    try:
        found = sessions.with_existing(place_of(settings), write)
    except OSError as error:
        raise BadInput(f"{path} can't be written ({error.strerror or error}): choose another path") from error
    count = counted(found.rows.get("conversations", 0), "conversation")
    typer.echo(f"{plain(user)}: {count} and the account in {plain(path)}, {format_size(path.stat().st_size)}")


@users.command()
@with_settings(*STORE)
def delete(
    settings: Settings,
    user: UserId,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="don't ask")] = False,
    json: AsJson = False,
) -> None:
    """Permanently delete all that is stored of a person, also from providers. A server may be running."""

    async def delete_it(store: Store) -> tuple[Mapping[str, int], Belongings, list[str]]:
        from showandtell.storage.users.erase import erase, find_belongings, list_copies  # noqa: PLC0415 - as above

        found = await find_belongings(store, user)
        if not yes:
            what = ", ".join(f"{name_of(table)}: {number}" for table, number in sorted(found.rows.items()))
            typer.confirm(f"permanently delete all of {plain(user)} ({what or 'files'})?", abort=True, err=True)
        problems = await delete_copies(await list_copies(store.database, user))
        return await erase(store, user), found, problems

    deleted, found, problems = sessions.with_existing(place_of(settings), delete_it, deletes=True)
    if json:
        left = {"written": found.written, "copies": problems}
        typer.echo(msgspec.json.encode({"user": user, "deleted": deleted, "bytes": found.bytes, "left": left}).decode())
    else:
        typer.echo(f"deleted all of {plain(user)}:")
        for table, number in sorted(deleted.items()):
            typer.echo(f"  {name_of(table):{WIDTH}} {number:>9,}")
        typer.echo(f"  {'bytes of files':{WIDTH}} {found.bytes:>9,}")
        if found.written:
            typer.echo(f"{counted(found.written, 'message')} in conversations of others stay")
    for reason in problems:
        typer.echo(f"not deleted: {short(reason)}", err=True)


def name_of(table: str) -> str:
    """A table for people."""
    return table.replace("_", " ")


async def delete_copies(copies: Iterable[tuple[DerivationRequest, Derivative]]) -> list[str]:
    """Delete uploads from providers, with the keys of the environment. Returns why some are still there."""
    slots = asyncio.Semaphore(MAX_CONCURRENT)

    async def delete_copy(scope: str, file_id: str) -> str | None:
        try:
            async with slots, asyncio.timeout(COPY_SECONDS):
                return await delete_upload(scope, file_id)
        except TimeoutError:
            return f"{file_id} is still there: its provider did not answer within {COPY_SECONDS:g} s"

    tasks = (delete_copy(made.scope or "", copy.file_id or "") for made, copy in copies)
    return [reason for reason in await asyncio.gather(*tasks) if reason is not None]
