"""What answers the plan's wants: conversions by the gate, in a folder of their own, stored and proved like any file."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

from showandtell.core.messages.attachments import Facts
from showandtell.core.messages.conversion import MOST_CHARACTERS
from showandtell.core.messages.derivations import DerivationRequest, Derivations, Derivative, Failed
from showandtell.core.messages.file import File
from showandtell.errors import BadFile, BadInput, FileChanged
from showandtell.media import gate
from showandtell.media.gate import Made
from showandtell.storage.files.file_cache import FileCache

#: Conversions side by side; the gate has as many children for them.
AT_ONCE = 2


def load_now(wants: Iterable[DerivationRequest], file_cache: FileCache) -> Derivations:
    """Answer every want, with what was made, which is stored now, or why not. Raises nothing but `StorageFailed`."""
    listed = list(wants)
    if len(listed) < 2:
        return {want: answer(want, file_cache) for want in listed}
    with ThreadPoolExecutor(AT_ONCE, thread_name_prefix="showandtell-load") as pool:
        return dict(zip(listed, pool.map(partial(answer, file_cache=file_cache), listed), strict=True))


def answer(want: DerivationRequest, file_cache: FileCache) -> Derivative | Failed:
    """One conversion, done now."""
    facts = file_cache.facts.get(want.sha256)
    if facts is None:
        return Failed("is not stored here: add the file again", passing=True)
    try:
        with file_cache.blobs.local(facts) as path, tempfile.TemporaryDirectory(prefix="showandtell-") as folder:
            return keep(gate.make(path, facts.media_type, want.conversion, Path(folder)), file_cache)
    except BadFile as error:
        return Failed(f"{error.problem}: {error.advice}", passing=error.passing)
    except FileChanged as error:
        return Failed(str(error), passing=True)
    except BadInput as error:
        return Failed(str(error))
    except OSError as error:
        return Failed(f"can't be converted now ({error.strerror or type(error).__name__}): try again", passing=True)


def keep(made: Made, file_cache: FileCache) -> Derivative:
    """Store and prove what was made; raises `BadFile` where it can't be kept.

    It is a whole file: what is against it is a quota, a limit or a disk, each of which may give way.
    """
    files: list[Facts] = []
    for path in made.files:
        proved = file_cache.prove(File.from_path(path))
        if proved.facts is None:
            advice = "ask for it in another form"
            raise BadFile(path.name, f"became a file that {proved.problem}", advice, passing=True)
        files.append(proved.facts)
    return Derivative(
        files=tuple(files),
        text=tell_cut(made) if made.text is not None else None,
        scale=made.scale,
        pages=made.pages,
        times=made.times,
        total=made.total,
        cut=made.cut,
    )


def tell_cut(made: Made) -> str:
    """The words, at most 200,000 characters; where the end is missing, the last of them say so."""
    text = made.text or ""
    if not made.cut and len(text) <= MOST_CHARACTERS:
        return text
    shown = f", up to page {made.pages[-1]} of {made.total:g}" if made.pages and made.total else ""
    told = f"\n(cut here{shown}: the rest is not shown)"
    return text[: MOST_CHARACTERS - len(told)] + told
