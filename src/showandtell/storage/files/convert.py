"""Runs the conversions that a plan requests, in temporary folders. Outputs are stored and probed like any file."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from pathlib import Path

from showandtell.core.messages.attachments import Facts
from showandtell.core.messages.conversion import MAX_CHARACTERS
from showandtell.core.messages.derivations import DerivationRequest, Derivations, Derivative, Failed
from showandtell.core.messages.file import File
from showandtell.errors import BadFile, BadInput, FileChanged, TooBusy
from showandtell.media import gate
from showandtell.media.gate import ConversionOutput
from showandtell.media.turns import Turns, caller
from showandtell.storage.blobs.threads import LONG_JOBS
from showandtell.storage.files.file_cache import FileCache

#: Concurrent conversions of one message; the gate has as many child processes for one user.
MAX_CONCURRENT = 2
#: Messages whose files are converted at once, in this process. Each takes a thread.
LOADS = Turns("conversions", 8, each=2)
#: Seconds that a conversion waits for its turn.
WAIT_SECONDS = 240.0


def convert_all(requests: Iterable[DerivationRequest], file_cache: FileCache) -> Derivations:
    """Run all conversions and store their outputs. Failures are returned; only `StorageFailed` is raised."""
    pending = list(requests)
    if len(pending) < 2:
        return {want: convert(want, file_cache) for want in pending}
    with ThreadPoolExecutor(MAX_CONCURRENT, thread_name_prefix="showandtell-load") as pool:
        results = [pool.submit(copy_context().run, convert, want, file_cache) for want in pending]
        return {want: result.result() for want, result in zip(pending, results, strict=True)}


async def convert_in_turn(requests: Iterable[DerivationRequest], file_cache: FileCache) -> Derivations:
    """Like `convert_all`, once it is the caller's turn. Waiting takes no thread, and ends after `WAIT_SECONDS`."""
    pending = list(requests)
    try:
        async with LOADS.awaited(caller.get().owner, WAIT_SECONDS) as place:
            return await asyncio.wrap_future(place.keep_for(LONG_JOBS.submit(convert_all, pending, file_cache)))
    except TooBusy as error:
        return {request: Failed(f"was not converted now: {error}", passing=True) for request in pending}


def convert(request: DerivationRequest, file_cache: FileCache) -> Derivative | Failed:
    """Run one conversion."""
    facts = file_cache.facts.get(request.sha256)
    if facts is None:
        return Failed("is not stored here: add the file again", passing=True)
    try:
        with file_cache.blobs.local(facts) as path, tempfile.TemporaryDirectory(prefix="showandtell-") as folder:
            return store(gate.make(path, facts.media_type, request.conversion, Path(folder)), file_cache)
    except BadFile as error:
        return Failed(f"{error.problem}: {error.advice}", passing=error.passing)
    except FileChanged as error:
        return Failed(str(error), passing=True)
    except BadInput as error:
        return Failed(str(error))
    except OSError as error:
        return Failed(f"can't be converted now ({error.strerror or type(error).__name__}): try again", passing=True)


def store(output: ConversionOutput, file_cache: FileCache) -> Derivative:
    """Store and probe the output of a conversion. Raises `BadFile` if that fails.

    Such a failure may pass: the output is a complete file, so the cause is a quota, a limit or the disk.
    """
    files: list[Facts] = []
    for path in output.files:
        proved = file_cache.probe(File.from_path(path))
        if proved.facts is None:
            advice = "ask for it in another form"
            raise BadFile(path.name, f"became a file that {proved.problem}", advice, passing=True)
        files.append(proved.facts)
    return Derivative(
        files=tuple(files),
        text=text_with_cut_note(output) if output.text is not None else None,
        scale=output.scale,
        pages=output.pages,
        times=output.times,
        total=output.total,
        cut=output.cut,
    )


def text_with_cut_note(output: ConversionOutput) -> str:
    """The text, at most 200,000 characters. If it was cut, a note at the end says so."""
    text = output.text or ""
    if not output.cut and len(text) <= MAX_CHARACTERS:
        return text
    shown = f", up to page {output.pages[-1]} of {output.total:g}" if output.pages and output.total else ""
    note = f"\n(cut here{shown}: the rest is not shown)"
    return text[: MAX_CHARACTERS - len(note)] + note
