"""Converts slides to Markdown, only in the child: titles, bullets, tables, charts' values and notes, in order."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from typing import Any

from showandtell.media.convert.extras import missing
from showandtell.media.convert.zipped import Shortener, copy_markup, open_archive

try:
    import pptx as imported_pptx
    from pptx.enum import shapes as imported_shapes
except ImportError:
    imported_pptx = imported_shapes = None

pptx: Any = imported_pptx
enums: Any = imported_shapes

#: Measured: 100,000 elements take about 1 s and 60 MiB.
MAX_ELEMENTS = 300_000
MAX_DEPTH = 20
#: Shapes that are not read by then are cut off.
SECONDS = 10.0
#: The part types of a show, a template and their forms with macros. python-pptx only takes that of a presentation.
MAIN_TYPE = re.compile(
    rb"application/vnd\.(?:openxmlformats-officedocument\.presentationml|ms-powerpoint)\."
    rb"(?:presentation|slideshow|template)(?:\.macroEnabled)?\.main\+xml"
)
PRESENTATION = b"application/vnd.openxmlformats-officedocument.presentationml.presentation.main+xml"
#: Markup of charts and text in slides (ECMA-376, part 1, 21.1 and 21.2).
CHART = "{http://schemas.openxmlformats.org/drawingml/2006/chart}"
CHOICES = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"
SLIDE = "{http://schemas.openxmlformats.org/presentationml/2006/main}"
#: Elements that python-pptx makes shapes of, and those that hold shapes.
SHAPES = frozenset(SLIDE + name for name in ("sp", "grpSp", "graphicFrame", "cxnSp", "pic"))
HOLDERS = frozenset({SLIDE + "spTree", SLIDE + "grpSp"})
#: Marks of graphic frames that are not read, by a part of their type's URI.
MARKS = {"chart": "chart", "diagram": "diagram", "ole": "object"}
DRAWING = "{http://schemas.openxmlformats.org/drawingml/2006/main}"


def write_slides(path: str, max_characters: int) -> tuple[str, bool]:
    """All slides as text of about `max_characters`, and whether the end is missing. Raises `BadFile`."""
    if pptx is None:
        raise missing("office")
    shortener = Shortener(MAX_ELEMENTS)
    with open_archive(path) as archive:
        copy = copy_markup(archive, lambda name, data: MAIN_TYPE.sub(PRESENTATION, shortener.shorten(name, data)))
    parts: list[str] = []
    remaining, number, deadline = max_characters, 0, time.monotonic() + SECONDS
    for number, slide in enumerate(pptx.Presentation(copy).slides, 1):
        if remaining <= 0 or time.monotonic() > deadline:
            return "\n\n".join(parts), True
        parts.append(write_slide(number, slide, deadline))
        remaining -= len(parts[-1])
    is_late = time.monotonic() > deadline
    return "\n\n".join(parts) if number else "(no slides)", shortener.cut or is_late


def write_slide(number: int, slide: Any, deadline: float) -> str:
    """A slide under its number and title, with the shapes that are read before the deadline."""
    unwrap_choices(slide.shapes._spTree)  # noqa: SLF001 - no public name
    title = slide.shapes.title
    text = " ".join(title.text_frame.text.split()) if title is not None and title.has_text_frame else ""
    rest = (shape for shape in slide.shapes if title is None or shape.shape_id != title.shape_id)
    parts = [f"## Slide {number}: {text}" if text else f"## Slide {number}", *write_shapes(rest, deadline)]
    if slide.has_notes_slide and slide.notes_slide.notes_text_frame is not None:
        notes = slide.notes_slide.notes_text_frame.text.strip()
        parts += [f"Notes: {notes}"] if notes else []
    return "\n\n".join(parts)


def unwrap_choices(tree: Any) -> None:
    """Put the shapes of alternatives (mc:AlternateContent) in their place, which python-pptx doesn't read."""
    for alternatives in list(tree.iter(CHOICES + "AlternateContent")):
        parent = alternatives.getparent()
        if parent is None or parent.tag not in HOLDERS:
            continue
        for option in alternatives:  # the choices, then the fallback
            if any(shape.tag in SHAPES for shape in option):
                for shape in list(option):
                    alternatives.addprevious(shape)
                break
        parent.remove(alternatives)


def write_shapes(shapes: Any, deadline: float, depth: int = 0) -> Iterator[str]:
    """The text of each shape; of a group, that of its shapes."""
    for shape in shapes:
        if time.monotonic() > deadline:
            return
        if isinstance(shape, pptx.shapes.group.GroupShape):
            if depth < MAX_DEPTH:
                yield from write_shapes(shape.shapes, deadline, depth + 1)
        elif text := write_or_mark(shape):
            yield text


def write_or_mark(shape: Any) -> str:
    """The text of a shape, or a mark for one that can't be read, so that it doesn't take the others with it."""
    try:
        return write_shape(shape)
    except (RecursionError, MemoryError):
        raise
    except Exception:  # noqa: BLE001 - python-pptx raises anything, such as KeyError for a missing part
        return "[chart]" if shape.has_chart else "[unreadable]"


def write_shape(shape: Any) -> str:
    """A table, a chart, the mark for an image, or text; empty for slide numbers, dates and footers."""
    if shape.has_table:
        return write_table(shape.table)
    if shape.has_chart:
        return write_chart(shape.chart_part._element)  # noqa: SLF001 - no public name
    if isinstance(shape, pptx.shapes.picture.Picture):  # also one that fills a placeholder
        alt = " ".join((shape._element._nvXxPr.cNvPr.get("descr") or "").split())  # noqa: SLF001 - no public name
        return f"[image: {alt}]" if alt else "[image]"
    if shape._element.tag == SLIDE + "graphicFrame":  # noqa: SLF001 - the same
        uri = shape._element.graphicData_uri or ""  # noqa: SLF001 - the same
        return next((f"[{mark}]" for part, mark in MARKS.items() if part in uri), "[graphic]")
    numbering = {enums.PP_PLACEHOLDER.SLIDE_NUMBER, enums.PP_PLACEHOLDER.DATE, enums.PP_PLACEHOLDER.FOOTER}
    if not shape.has_text_frame or (shape.is_placeholder and shape.placeholder_format.type in numbering):
        return ""
    paragraphs = [(entry.level, " ".join(entry.text.split())) for entry in shape.text_frame.paragraphs]
    lines = [(level, text) for level, text in paragraphs if text]
    return lines[0][1] if len(lines) == 1 else "\n".join(f"{'  ' * level}- {text}" for level, text in lines)


def write_table(table: Any) -> str:
    """A table in Markdown, with its first row as header; by its markup, because python-pptx takes quadratic time."""
    rows = [
        [join_text(cell).replace("|", "\\|") for cell in row.tc_lst]
        for row in table._tbl.tr_lst  # noqa: SLF001 - no public name
    ]
    lines = [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join([*lines[:1], f"|{' --- |' * len(rows[0])}", *lines[1:]]) if rows else ""


def join_text(element: Any) -> str:
    """The text of an element on one line, its paragraphs apart."""
    paragraphs = ("".join(text.text or "" for text in each.iter(DRAWING + "t")) for each in element.iter(DRAWING + "p"))
    return " ".join(" ".join(paragraphs).split())


def write_chart(space: Any) -> str:
    """A chart's title, and its values by category, a line for each series.

    By its markup: python-pptx doesn't know all types of charts, such as 3D ones, and all have these elements.
    """
    heading = space.find(f"{CHART}chart/{CHART}title")
    title = join_text(heading) if heading is not None else ""
    lines = [f"[chart: {title}]" if title else "[chart]"]
    for series in space.iter(CHART + "ser"):
        names = read_points(series, "cat") or read_points(series, "xVal")
        values = read_points(series, "val") or read_points(series, "yVal")
        points = [f"{names.get(index, '')} {format_number(value)}".strip() for index, value in values.items()]
        name = " ".join(read_points(series, "tx").values()) or "series"
        lines.append(f"- {name}: " + ", ".join(points))
    return "\n".join(lines)


def read_points(series: Any, role: str) -> dict[int, str]:
    """The cached values of one role in a series, by their index; of nested categories, the innermost level."""
    holder = series.find(CHART + role)
    if holder is None:
        return {}
    level = next(holder.iter(CHART + "lvl"), holder)
    points: dict[int, str] = {}
    for point in level.iter(CHART + "pt"):
        index, text = point.get("idx", ""), point.findtext(CHART + "v") or ""
        if index.isascii() and index.isdigit() and len(index) < 8:
            points[int(index)] = " ".join(text.split())
    return points


def format_number(text: str) -> str:
    """A number with at most six digits: the cache of a float has up to seventeen. Other text is unchanged."""
    try:
        return format(float(text), "g")
    except ValueError:
        return text
