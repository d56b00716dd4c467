"""The command `fsck`, which reads the whole database and every stored file, and says what to do about damage."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Generator, Sequence
from typing import TYPE_CHECKING, Annotated

import msgspec
import typer

from showandtell.cli import sessions
from showandtell.cli.configured import STORE, with_settings
from showandtell.cli.options import AsJson
from showandtell.cli.progress import progress_bars
from showandtell.cli.sessions import place_of
from showandtell.config.settings import Settings
from showandtell.core.display.words import counted, plain
from showandtell.storage.location import DATABASE_NAME, StorageLocation

if TYPE_CHECKING:
    from showandtell.storage.database.fsck import Finding
    from showandtell.storage.database.garbage_collection import Collected

RESTORE = 'see "Backup and restore" in docs/deploy.md'
DAMAGED_DATABASE = f"stop all servers, restore the backup ({RESTORE}), and run fsck again; the files were not checked"
DAMAGED_FILES = f"files are damaged: restore them from the backup ({RESTORE})"
INTACT = "the database and all stored files are intact"


@with_settings(*STORE)
def fsck(
    settings: Settings,
    collect: Annotated[bool, typer.Option("--collect", help="delete bytes that have been unused for a day")] = False,
    json: AsJson = False,
) -> None:
    """Read the whole database, and check every stored file against its hash. Exit status 1 if anything is damaged.

    A server may be running. Leftovers of killed uploads are listed, and are no damage.
    """
    place = place_of(settings)
    missing = place.missing()
    if missing is None or not (missing.name == DATABASE_NAME and (missing.parent / "blobs").is_dir()):
        sessions.check_existing(place)
    with progress_bars() as progress:
        name, findings, collected = asyncio.run(check(place, progress, collect=collect))
    is_damaged = any(finding.kind != "leftover" for finding in findings)
    if json:
        typer.echo(msgspec.json.encode(findings).decode())
    else:
        for line in report(findings, name):
            typer.echo(line)
    if collected is not None:
        typer.echo(f"deleted {counted(collected.blobs + collected.orphans, 'unused file')}", err=json)
    raise typer.Exit(int(is_damaged))


async def check(
    place: StorageLocation, progress: Callable[[str, int, int], None], *, collect: bool
) -> tuple[str, Sequence[Finding], Collected | None]:
    """Check the database, then the files; then delete what is unused, but never by a damaged database.

    Returns the name of the database, what was found, and what was deleted.
    """
    if (missing := place.missing()) is not None:
        from showandtell.storage.database.fsck import Finding  # noqa: PLC0415 - its libraries are an extra

        return str(missing), [Finding("", "", f"there are files, but no {missing}", kind="database")], None
    store = place.store()
    from showandtell.storage.database.fsck import check_database, check_files  # noqa: PLC0415 - its libraries are an extra

    if collect:
        await store.make_room()
    if damage := await check_database(store.database, progress):
        return store.database.name, damage, None
    async with store:
        findings = await check_files(store.database, store.blobs, progress=progress)
        return store.database.name, findings, await store.collect() if collect else None


def report(findings: Sequence[Finding], name: str) -> Generator[str]:
    """The findings as lines for people, and what to do."""
    damage = [finding for finding in findings if finding.kind != "leftover"]
    for finding in damage:
        if finding.kind == "database":
            yield f"database  {plain(finding.problem)}"
        else:
            needed = f"needed by {', '.join(finding.files)}" if finding.files else "needed by no message"
            yield f"{finding.sha256[:16]}…  {finding.problem}  {needed}"
    yield from leftovers([finding for finding in findings if finding.kind == "leftover"])
    if not damage:
        yield INTACT
    else:
        is_database = damage[0].kind == "database"
        advice = f"the database {name} is damaged: {DAMAGED_DATABASE}" if is_database else DAMAGED_FILES
        yield f"{counted(len(damage), 'problem')}: {advice}"


def leftovers(findings: Sequence[Finding]) -> Generator[str]:
    """One line about what killed uploads have left, if they have."""
    unused = sum(1 for finding in findings if finding.sha256)
    kinds = [counted(unused, "unused file")] if unused else []
    kinds += [finding.problem for finding in findings if not finding.sha256]
    if kinds:
        yield f"left over from uploads that were killed, or not finished yet: {', '.join(kinds)}; deleted after a day"
