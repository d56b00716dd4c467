"""All conversations in one zip file: `export all`, and `import` of such a file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING
from zipfile import ZipFile

import typer

from showandtell.cli import sessions
from showandtell.cli.progress import progress_bars
from showandtell.cli.sessions import place_of
from showandtell.config.atomic_file import written_atomically
from showandtell.config.settings import Settings
from showandtell.core.display.words import counted, plain
from showandtell.core.planning.labels import format_size
from showandtell.errors import BadConversation, BadInput

if TYPE_CHECKING:
    from showandtell.storage.conversations.store import Store
    from showandtell.storage.users.account import Restored

#: The step of the progress bars.
STEP = "conversations"


def export_all(settings: Settings, path: Path) -> None:
    """Write all conversations to one zip file, with a progress bar."""

    async def write(store: Store) -> None:
        from showandtell.storage.conversations.backup import back_up  # noqa: PLC0415 - its libraries are an extra

        with progress_bars("exporting") as report, written_atomically(path) as sink:
            async for chunk in back_up(store, sessions.OWNER, report=partial(report, STEP)):
                sink.write(chunk)

    try:
        sessions.with_existing(place_of(settings), write)
    except OSError as error:
        raise BadInput(f"{path} can't be written ({error.strerror or error}): choose another path") from error
    with ZipFile(path) as archive:
        count = len(archive.infolist())
    typer.echo(f"{counted(count, 'conversation')} in {plain(path)}, {format_size(path.stat().st_size)}")


def import_all(settings: Settings, path: Path) -> None:
    """Store the conversations of a zip file, with a progress bar. To those that are here, what they lack is added.

    A conversation that can't be read is reported, and the others are stored. Raises `BadConversation` if any was.
    """

    async def store_all(store: Store) -> tuple[Counter[str], Restored, list[str]]:
        from showandtell.storage.conversations.backup import exports_in  # noqa: PLC0415 - as above
        from showandtell.storage.conversations.imports import import_once  # noqa: PLC0415 - as above
        from showandtell.storage.users.account import import_account  # noqa: PLC0415 - as above

        counts, problems = Counter[str](), list[str]()
        with progress_bars("importing") as report, closing(exports_in(path)) as exports:
            for export in exports:
                try:
                    imported = await import_once(store, export.path, sessions.OWNER)
                    counts["new" if imported.is_new else "known"] += 1
                    counts["added"] += 0 if imported.is_new else imported.added
                except BadInput as error:
                    problems.append(f"{plain(export.name)}: {error}")
                report(STEP, export.number, export.count)
        return counts, await import_account(store, path, sessions.OWNER), problems

    counts, account, problems = sessions.with_store(place_of(settings), store_all)
    known = f", {counts['known']} here already" if counts["known"] else ""
    added = f", {counted(counts['added'], 'message')} added to these" if counts["added"] else ""
    typer.echo(f"{counted(counts['new'], 'conversation')} imported{known}{added}")
    for line in account_lines(account):
        typer.echo(line)
    problems += [f"the preset {plain(name)}: one with this name is here, with other settings" for name in account.taken]
    for problem in problems:
        typer.echo(f"not imported: {problem}", err=True)
    if problems:
        raise BadConversation(f"{counted(len(problems), 'conversation')} of {path.name} can't be imported")


def account_lines(account: Restored) -> Iterator[str]:
    """What was stored of a person's account, if the file has one."""
    if account.new or account.known:
        known = f", {account.known} here already" if account.known else ""
        yield f"{counted(account.new, 'preset')} imported{known}"
    if account.preferences:
        yield "settings imported"
