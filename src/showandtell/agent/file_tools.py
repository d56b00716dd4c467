"""Tools that look back at the files of a conversation: `view_file` shows, `get_document` reads, `list_files` lists."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TypeAlias

from showandtell.agent.context import Files, RunContext, called, check_problem, stored
from showandtell.core.collect.values import ToolResult
from showandtell.core.media_types.kinds import Kind
from showandtell.core.messages.attachments import Attachment, Facts, find
from showandtell.core.messages.conversion import Conversion, spell
from showandtell.core.messages.derivations import DerivationRequest, Derivative, Failed
from showandtell.core.messages.parts import Selection, Shown
from showandtell.core.planning.conversions import PAGE_SIDE, PAGES_ASKED, PDF, SVG
from showandtell.errors import BadInput, ToolError

Crop: TypeAlias = tuple[int, int, int, int]

#: The characters of a document that are given at once.
MOST_TEXT = 100_000
#: The files that are listed at once, and those that a name may mean.
MOST_FILES, MOST_CANDIDATES = 200, 20
TIFF = "image/tiff"
NUMBER = re.compile(r"(?:(?P<kind>image|document|audio|video|text|file) )?#?(?P<number>\d{1,9})", re.IGNORECASE)
PAGE = re.compile(r"^\[page (\d+)\]$", re.MULTILINE)


async def view_file(
    number: int, context: RunContext, pages: list[int] | None = None, crop: list[int] | None = None
) -> Shown:
    """Show a file of this conversation again, by its number ("image 5" is number 5), or a part of it, closer.

    pages: of a PDF or a TIFF, from 1, at most 10 at a time. crop: [left, top, right, bottom] in pixels of the original
    picture; of a PDF in pixels of its page, whose longer side counts as 1568. A part is shown as large as can be.
    """
    file = find(context.files.attachments, number)
    if not pages and not crop:
        return show(context.files, file)
    facts = stored(file)
    chosen = choose_pages(file, facts, pages) if pages else None
    box = await choose_crop(context.files, file, facts, chosen, crop) if crop else None
    return Shown(number, file.id, Selection(chosen, box))


async def get_document(number_or_name: int | str, context: RunContext, return_original: bool = False) -> ToolResult:
    """Give the text of a file of this conversation, found by its number or its name.

    PDFs, office documents and text files have text, sound and film a transcript. With return_original=true the file
    itself is shown instead.
    """
    file = find_document(context.files, number_or_name)
    if return_original:
        return ToolResult(show(context.files, file))
    try:
        text = await context.files.text(file.number)
    except BadInput as error:
        raise ToolError(f"{error}{advise_original(file)}") from None
    return ToolResult(f"{called(file)} as text:\n{cut_text(file, text)}")


def list_files(context: RunContext, kind: Kind | None = None) -> ToolResult:
    """List the files of this conversation, or those of one kind: number, name, type, size, who brought each."""
    found = [file for file in context.files if kind in {None, file.kind}]
    records = [describe_file(file) for file in found[-MOST_FILES:]]
    if len(found) <= MOST_FILES:
        return ToolResult(records)
    said = f"These are the newest {MOST_FILES} of {len(found):,} files. The others can be had by number or name, too."
    return ToolResult(records, said)


def describe_file(file: Attachment) -> dict[str, object]:
    """What is known of a file, in JSON's values; what isn't is left out."""
    facts = file.facts
    known: dict[str, object] = {
        "pixels": facts and facts.pixels,
        "pages": facts and facts.pages,
        "frames": facts and facts.frames,
        "seconds": facts and facts.seconds,
        "state": file.state if file.state != "ready" else None,
        "problem": file.problem,
    }
    return {
        "number": file.number,
        "kind": file.kind,
        "name": file.name,
        "media_type": file.media_type,
        "size": facts.size if facts else None,
        "origin": str(file.origin),
        **{key: value for key, value in known.items() if value is not None},
    }


def show(files: Files, file: Attachment) -> Shown:
    """The whole file; raises `BadInput` for one that has a problem, an address may be shown."""
    check_problem(file)
    return files.show(file.number)


def choose_pages(file: Attachment, facts: Facts, pages: Sequence[int]) -> tuple[int, ...]:
    """The pages that are asked for, each once; raises `ToolError` where the file doesn't have them."""
    count = count_pages(facts)
    if count is None:
        advice = "get_document gives its text" if file.kind in {"document", "text", "other"} else "ask without pages"
        raise ToolError(f"{called(file)} is {file.media_type} and has no pages that can be shown: {advice}")
    wrong = [page for page in pages if not 1 <= page <= count]
    if wrong:
        has = f"it has {count} page{'s' * (count > 1)}, counted from 1"
        raise ToolError(f"{called(file)} has no page {', '.join(map(str, wrong[:PAGES_ASKED]))}: {has}")
    chosen = tuple(dict.fromkeys(pages))
    if len(chosen) > PAGES_ASKED:
        raise ToolError(f"{len(chosen)} pages are too many at a time: ask for {PAGES_ASKED}, then for the next")
    return chosen


def count_pages(facts: Facts) -> int | None:
    """How many pages can be shown of a file; None where it has none."""
    if facts.media_type == PDF:
        return facts.pages
    return facts.frames or 1 if facts.media_type == TIFF else None


async def choose_crop(
    files: Files, file: Attachment, facts: Facts, pages: tuple[int, ...] | None, crop: Sequence[int]
) -> Crop:
    """The part that is asked for; raises `ToolError` where it isn't inside the picture, or the file is none."""
    if len(crop) != 4:
        raise ToolError("crop takes four numbers: [left, top, right, bottom]")
    box = (crop[0], crop[1], crop[2], crop[3])
    sizes = [facts.pixels] if facts.pixels and file.kind == "image" else await measure(files, file, facts, pages, box)
    for width, height in sizes:
        if not (0 <= box[0] < box[2] <= width and 0 <= box[1] < box[3] <= height):
            size = f"{called(file)} is {width} x {height} pixels{' a page' * (facts.media_type == PDF)}"
            raise ToolError(f"{size}: crop takes [left, top, right, bottom] inside it, not {list(box)}")
    return box


async def measure(
    files: Files, file: Attachment, facts: Facts, pages: tuple[int, ...] | None, crop: Crop
) -> list[tuple[int, int]]:
    """The sizes of what has no pixels of its own: pages of a PDF as they are shown. A drawing is cropped at once.

    Raises `ToolError` where that fails, as for a part of a drawing that isn't inside it.
    """
    if facts.media_type == PDF:
        only = pages or (1,)
        recipe = Conversion("pages", ("image/png",), side=PAGE_SIDE, most=len(only), only=only)
    elif facts.media_type == SVG:
        recipe = Conversion("image", ("image/png",), side=PAGE_SIDE, crop=crop)
    else:
        raise ToolError(f"{called(file)} is {file.media_type}: only pictures and pages of PDFs can be cropped")
    made = await files.convert(DerivationRequest(facts.sha256, spell(recipe)))
    if isinstance(made, Failed):
        raise ToolError(f"{called(file)} can't be shown closer: {made.reason}")
    return sizes_of(made) if facts.media_type == PDF else []


def sizes_of(made: Derivative) -> list[tuple[int, int]]:
    """Width and height of each picture that was made."""
    return [facts.pixels for facts in made.files if facts.pixels is not None]


def find_document(files: Files, number_or_name: int | str) -> Attachment:
    """The file of a number ("3", "document 3") or of a name: as it is, in other letters, or a part of it.

    Of several with the same bytes the newest. Raises `ToolError` where there is none, or more than one.
    """
    said = str(number_or_name).strip()
    spoken = NUMBER.fullmatch(said)
    if spoken and (isinstance(number_or_name, int) or int(spoken["number"]) in files.attachments):
        return check_kind(find(files.attachments, int(spoken["number"])), (spoken["kind"] or "file").lower())
    found = distinct(find_named(list(files), said))
    if len(found) == 1:
        return found[0]
    if not found:
        raise ToolError(f"no file is called {said[:80]!r}; there are: {spell_files(list(files)) or 'none'}")
    raise ToolError(f"{said[:80]!r} may mean {spell_files(found)}: ask by number")


def check_kind(file: Attachment, kind: str) -> Attachment:
    """The file, where it is of the kind that was said; raises `ToolError`."""
    if kind not in {"file", file.kind}:
        raise ToolError(f"there is no {kind} {file.number}: number {file.number} is {called(file)}")
    return file


def find_named(files: Sequence[Attachment], said: str) -> list[Attachment]:
    """The files of the best match: those that can be read, if any can."""
    low = said.casefold()
    part = [file for file in files if low and low in file.name.casefold()]
    whole = [file for file in part if file.name.casefold() == low]
    best = [file for file in whole if file.name == said] or whole or part
    return [file for file in best if file.problem is None] or best


def distinct(files: Sequence[Attachment]) -> list[Attachment]:
    """Of files with the same name and bytes the newest alone."""
    same = {(file.name, file.facts.sha256 if file.facts else file.id): file for file in files}
    return sorted(same.values(), key=lambda file: file.number)


def spell_files(files: Sequence[Attachment]) -> str:
    """Files by label and name, the newest where they are many."""
    shown = [called(file) for file in files[-MOST_CANDIDATES:]]
    more = [f"{len(files) - MOST_CANDIDATES} older ones"] if len(files) > MOST_CANDIDATES else []
    return ", ".join([*shown, *more])


def advise_original(file: Attachment) -> str:
    """How to look at a file that has no text; nothing for one that can't be looked at either."""
    return "" if file.problem else ". Ask with return_original=true to be shown the file itself"


def cut_text(file: Attachment, text: str) -> str:
    """The first 100,000 characters; where that isn't all, the last line says how to get the rest."""
    if len(text) <= MOST_TEXT:
        return text
    kept = text[:MOST_TEXT]
    at = PAGE.findall(kept)
    if file.media_type == PDF and at:
        rest = f"in page {at[-1]}: view_file({file.number}, pages=[{at[-1]}, ...]) shows the rest"
    else:
        rest = f"after {MOST_TEXT:,} characters: return_original=true gives the whole file"
    return f"{kept}\n(cut here, {rest})"
