"""Tools for a conversation's files: `view_file` shows one, `get_document` gives its text, `list_files` lists all."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TypeAlias

from showandtell.agent.context import Files, RunContext, check_problem, format_name, stored_facts
from showandtell.agent.read_document import is_plain, read_document
from showandtell.checking.checked import checked
from showandtell.core.collect.tool_result import ToolResult
from showandtell.core.media_types.kinds import Kind
from showandtell.core.messages.attachments import Attachment, Facts, find_attachment
from showandtell.core.messages.conversion import Conversion, serialize_conversion
from showandtell.core.messages.derivations import DerivationRequest, Derivative, Failed
from showandtell.core.messages.parts import Selection, Shown
from showandtell.core.planning.conversions import MAX_VIEWED_PAGES, PAGE_SIDE, PDF, SVG
from showandtell.core.planning.labels import FOR_USER
from showandtell.errors import BadInput, FileChanged, ToolError

Crop: TypeAlias = tuple[int, int, int, int]

#: Maximum number of files in one list, and of files that an ambiguous name may mean.
MAX_FILES, MAX_CANDIDATES = 200, 20
TIFF = "image/tiff"
NUMBER = re.compile(r"(?:(?P<kind>image|document|audio|video|text|file) )?#?(?P<number>\d{1,9})", re.IGNORECASE)


@checked
async def view_file(
    number: int, context: RunContext, pages: list[int] | None = None, crop: list[int] | None = None
) -> Shown:
    """Show a file of this conversation again, by its number ("image 5" is number 5), or a part of it, closer.

    pages: of a PDF or a TIFF, from 1, at most 10 at a time. crop: [left, top, right, bottom] in pixels of the original
    picture; of a PDF in pixels of its page, whose longer side counts as 1568. A part is shown as large as can be.
    """
    file = check_audience(find_attachment(context.files.attachments, number))
    if not pages and not crop:
        return show(context.files, file)
    facts = check_convertible(file)
    chosen = choose_pages(file, facts, pages) if pages else None
    box = await choose_crop(context.files, file, facts, chosen, crop) if crop else None
    return Shown(number, file.id, Selection(chosen, box))


@checked
async def get_document(
    number_or_name: int | str,
    context: RunContext,
    offset: int = 0,
    search: str | None = None,
    return_original: bool = False,
) -> ToolResult:
    """Give the text of a file of this conversation, found by its number or its name.

    PDFs, office documents and text files have text, sound and film a transcript. A long text comes in pieces: the end
    of each says with which offset (in characters) the next one begins. search: find this text instead, in any case,
    from offset on; the answer has the position of each place, to be read with offset. With return_original=true the
    file itself is shown instead.
    """
    file = check_audience(find_document(context.files, number_or_name))
    if return_original:
        return ToolResult(show(context.files, file))
    if not is_plain(file):
        check_convertible(file)
    try:
        return ToolResult(await read_document(context.files, file, offset, search))
    except (BadInput, FileChanged) as error:
        raise ToolError(f"{error}{advise_original(file)}") from None


@checked
def list_files(context: RunContext, kind: Kind | None = None) -> ToolResult:
    """List the files of this conversation, or those of one kind: number, name, type, size, who brought each."""
    files = [file for file in context.files if kind in {None, file.kind}]
    records = [describe_file(file) for file in files[-MAX_FILES:]]
    if len(files) <= MAX_FILES:
        return ToolResult(records)
    note = f"These are the newest {MAX_FILES} of {len(files):,} files. The others can be had by number or name, too."
    return ToolResult(records, note)


def check_audience(file: Attachment) -> Attachment:
    """The file, if the model may see it. Raises `ToolError` for a file that is for the user alone."""
    if file.audience == "user":
        raise ToolError(f"{format_name(file)} is for the user alone: the user sees it, and you can't")
    return file


def check_convertible(file: Attachment) -> Facts:
    """The facts about a file that may be shown in another form. Raises `ToolError` for any other."""
    if not file.convert:
        raise ToolError(f"{format_name(file)} is shown as it is or not at all: ask for the whole file")
    return stored_facts(file)


def describe_file(file: Attachment) -> dict[str, object]:
    """A file as a JSON object, without the facts that are unknown."""
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
        "name": file.name_for_model or FOR_USER,
        "media_type": file.media_type,
        "size": facts.size if facts else None,
        "origin": str(file.origin),
        **{key: value for key, value in known.items() if value is not None},
    }


def show(files: Files, file: Attachment) -> Shown:
    """The complete file; its bytes may still be at a URL. Raises `BadInput` for a file with a problem.

    Raises `ToolError` for a file that is kept out of the context.
    """
    check_problem(file)
    if not file.in_context:
        advice = f"get_document({file.number}) reads it in pieces and searches it"
        raise ToolError(f"{format_name(file)} is too long to be shown: {advice}")
    return files.show(file.number)


def choose_pages(file: Attachment, facts: Facts, pages: Sequence[int]) -> tuple[int, ...]:
    """The requested pages without duplicates. Raises `ToolError` if the file doesn't have them."""
    count = count_pages(facts)
    if count is None:
        advice = "get_document gives its text" if file.kind in {"document", "text", "other"} else "ask without pages"
        raise ToolError(f"{format_name(file)} is {file.media_type} and has no pages that can be shown: {advice}")
    wrong = [page for page in pages if not 1 <= page <= count]
    if wrong:
        has = f"it has {count} page{'s' * (count > 1)}, counted from 1"
        raise ToolError(f"{format_name(file)} has no page {', '.join(map(str, wrong[:MAX_VIEWED_PAGES]))}: {has}")
    chosen = tuple(dict.fromkeys(pages))
    if len(chosen) > MAX_VIEWED_PAGES:
        raise ToolError(f"{len(chosen)} pages are too many at a time: ask for {MAX_VIEWED_PAGES}, then for the next")
    return chosen


def count_pages(facts: Facts) -> int | None:
    """The number of pages of a PDF or TIFF; None for other types."""
    if facts.media_type == PDF:
        return facts.pages
    return facts.frames or 1 if facts.media_type == TIFF else None


async def choose_crop(
    files: Files, file: Attachment, facts: Facts, pages: tuple[int, ...] | None, crop: Sequence[int]
) -> Crop:
    """The requested part. Raises `ToolError` if it isn't inside the image, or the file can't be cropped."""
    if len(crop) != 4:
        raise ToolError("crop takes four numbers: [left, top, right, bottom]")
    box = (crop[0], crop[1], crop[2], crop[3])
    sizes = [facts.pixels] if facts.pixels and file.kind == "image" else await measure(files, file, facts, pages, box)
    for width, height in sizes:
        if not (0 <= box[0] < box[2] <= width and 0 <= box[1] < box[3] <= height):
            size = f"{format_name(file)} is {width} x {height} pixels{' a page' * (facts.media_type == PDF)}"
            raise ToolError(f"{size}: crop takes [left, top, right, bottom] inside it, not {list(box)}")
    return box


async def measure(
    files: Files, file: Attachment, facts: Facts, pages: tuple[int, ...] | None, crop: Crop
) -> list[tuple[int, int]]:
    """The sizes in pixels of the rendered pages of a PDF; for an SVG nothing, since rendering it checks the part.

    Raises `ToolError` if rendering fails, for example for a part that isn't inside the SVG.
    """
    if facts.media_type == PDF:
        only = pages or (1,)
        conversion = Conversion("pages", ("image/png",), side=PAGE_SIDE, max_count=len(only), pages=only)
    elif facts.media_type == SVG:
        conversion = Conversion("image", ("image/png",), side=PAGE_SIDE, crop=crop)
    else:
        raise ToolError(f"{format_name(file)} is {file.media_type}: only pictures and pages of PDFs can be cropped")
    derivative = await files.convert(DerivationRequest(facts.sha256, serialize_conversion(conversion)))
    if isinstance(derivative, Failed):
        raise ToolError(f"{format_name(file)} can't be shown closer: {derivative.reason}")
    return sizes_of(derivative) if facts.media_type == PDF else []


def sizes_of(derivative: Derivative) -> list[tuple[int, int]]:
    """Width and height of each image."""
    return [facts.pixels for facts in derivative.files if facts.pixels is not None]


def find_document(files: Files, number_or_name: int | str) -> Attachment:
    """The file with a number ("3", "document 3") or a name: exact, in other case, or a part of it.

    Of several files with the same bytes the newest. Raises `ToolError` if no file matches, or more than one.
    """
    query = str(number_or_name).strip()
    match = NUMBER.fullmatch(query)
    if match and (isinstance(number_or_name, int) or int(match["number"]) in files.attachments):
        return check_kind(find_attachment(files.attachments, int(match["number"])), (match["kind"] or "file").lower())
    matches = distinct(find_named(list(files), query))
    if len(matches) == 1:
        return matches[0]
    if not matches:
        raise ToolError(f"no file is called {query[:80]!r}; there are: {format_files(list(files)) or 'none'}")
    raise ToolError(f"{query[:80]!r} may mean {format_files(matches)}: ask by number")


def check_kind(file: Attachment, kind: str) -> Attachment:
    """The file, if it is of this kind. Raises `ToolError` otherwise."""
    if kind not in {"file", file.kind}:
        raise ToolError(f"there is no {kind} {file.number}: number {file.number} is {format_name(file)}")
    return file


def find_named(files: Sequence[Attachment], name: str) -> list[Attachment]:
    """The files whose names match best, without unreadable ones if any is readable."""
    low = name.casefold()
    partial = [file for file in files if low and low in file.name_for_model.casefold()]
    full = [file for file in partial if file.name_for_model.casefold() == low]
    best = [file for file in full if file.name_for_model == name] or full or partial
    return [file for file in best if file.problem is None] or best


def distinct(files: Sequence[Attachment]) -> list[Attachment]:
    """The files without older ones that have the name and bytes of a newer one."""
    newest = {(file.name, file.facts.sha256 if file.facts else file.id): file for file in files}
    return sorted(newest.values(), key=lambda file: file.number)


def format_files(files: Sequence[Attachment]) -> str:
    """Labels and names of files, at most of the 20 newest."""
    shown = [format_name(file) for file in files[-MAX_CANDIDATES:]]
    more = [f"{len(files) - MAX_CANDIDATES} older ones"] if len(files) > MAX_CANDIDATES else []
    return ", ".join([*shown, *more])


def advise_original(file: Attachment) -> str:
    """Advice on viewing a file that has no text; empty if it can't be viewed either."""
    can_be_shown = file.problem is None and file.in_context
    return ". Ask with return_original=true to be shown the file itself" if can_be_shown else ""
