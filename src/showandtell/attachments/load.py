"""What answers the plan's wants: text files become words here; every other conversion isn't installed yet."""

from __future__ import annotations

from collections.abc import Iterable

from showandtell.attachments.shelf import Shelf
from showandtell.files import Failed, Known, Variant, Want

#: The most characters of a text file that are given as words.
MAX_TEXT = 200_000


def answer(want: Want, shelf: Shelf) -> Variant | Failed:
    """One conversion, done now."""
    facts = shelf.facts.get(want.sha256)
    if want.recipe == "text" and facts is not None and facts.kind == "text":
        text = shelf.blobs.read(facts).decode(errors="replace")
        cut = f"\n(the first {MAX_TEXT} of {len(text)} characters)" if len(text) > MAX_TEXT else ""
        return Variant(text=text[:MAX_TEXT] + cut)
    return Failed("can't be converted yet")


def load_now(wants: Iterable[Want], shelf: Shelf) -> Known:
    """Answer every want."""
    return {want: answer(want, shelf) for want in wants}
