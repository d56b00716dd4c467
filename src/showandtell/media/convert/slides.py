"""Slides made into Markdown, for the child only: titles, bullets, tables, charts' values and notes, in their order."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from showandtell.media.convert.extras import missing
from showandtell.media.convert.zipped import Shortener, copy_markup, open_archive

try:
    import pptx as found_pptx
    from pptx.enum import shapes as found_shapes
except ImportError:
    found_pptx = found_shapes = None

pptx: Any = found_pptx
enums: Any = found_shapes

#: Measured: 100,000 elements take about 1 s and 60 MiB.
MOST_ELEMENTS = 600_000
DEEPEST = 20


def write_slides(path: str, most: int) -> tuple[str, bool]:
    """All slides as text of about `most` characters, and whether the end is missing. Raises `BadFile`."""
    if pptx is None:
        raise missing("office")
    shortener = Shortener(MOST_ELEMENTS)
    with open_archive(path) as archive:
        copy = copy_markup(archive, shortener.shorten)
    parts: list[str] = []
    left, number = most, 0
    for number, slide in enumerate(pptx.Presentation(copy).slides, 1):
        if left <= 0:
            return "\n\n".join(parts), True
        parts.append(write_slide(number, slide))
        left -= len(parts[-1])
    return "\n\n".join(parts) if number else "(no slides)", shortener.cut


def write_slide(number: int, slide: Any) -> str:
    """One slide under its number and title."""
    title = slide.shapes.title
    words = " ".join(title.text_frame.text.split()) if title is not None and title.has_text_frame else ""
    rest = (one for one in slide.shapes if title is None or one.shape_id != title.shape_id)
    parts = [f"## Slide {number}: {words}" if words else f"## Slide {number}", *write_shapes(rest)]
    if slide.has_notes_slide and slide.notes_slide.notes_text_frame is not None:
        notes = slide.notes_slide.notes_text_frame.text.strip()
        parts += [f"Notes: {notes}"] if notes else []
    return "\n\n".join(parts)


def write_shapes(shapes: Any, depth: int = 0) -> Iterator[str]:
    """What each shape says, groups from the inside."""
    for shape in shapes:
        if shape.shape_type == enums.MSO_SHAPE_TYPE.GROUP:
            if depth < DEEPEST:
                yield from write_shapes(shape.shapes, depth + 1)
        elif words := write_shape(shape):
            yield words


def write_shape(shape: Any) -> str:
    """A table, a chart, a picture's mark, or words; empty where it says nothing, as a slide's number does."""
    if shape.has_table:
        return write_table(shape.table)
    if shape.has_chart:
        return write_chart(shape.chart)
    if shape.shape_type == enums.MSO_SHAPE_TYPE.PICTURE:
        said = " ".join((shape._element._nvXxPr.cNvPr.get("descr") or "").split())  # noqa: SLF001 - no public name
        return f"[image: {said}]" if said else "[image]"
    numbering = {enums.PP_PLACEHOLDER.SLIDE_NUMBER, enums.PP_PLACEHOLDER.DATE, enums.PP_PLACEHOLDER.FOOTER}
    if not shape.has_text_frame or (shape.is_placeholder and shape.placeholder_format.type in numbering):
        return ""
    lines = [(one.level, " ".join(one.text.split())) for one in shape.text_frame.paragraphs]
    said = [(level, words) for level, words in lines if words]
    return said[0][1] if len(said) == 1 else "\n".join(f"{'  ' * level}- {words}" for level, words in said)


def write_table(table: Any) -> str:
    """A table in Markdown, its first row on top."""
    rows = [[" ".join(cell.text.split()).replace("|", "\\|") for cell in row.cells] for row in table.rows]
    lines = [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join([*lines[:1], f"|{' --- |' * len(rows[0])}", *lines[1:]]) if rows else ""


def write_chart(chart: Any) -> str:
    """A chart's title, and its values by category, a line for each series."""
    title = " ".join(chart.chart_title.text_frame.text.split()) if chart.has_title else ""
    lines = [f"[chart: {title}]" if title else "[chart]"]
    for plot in chart.plots:
        names = [str(name) for name in plot.categories]
        for series in plot.series:
            values = ["" if value is None else format(value, "g") for value in series.values]
            pairs = zip(names, values, strict=False) if names else (("", value) for value in values)
            lines.append(f"- {series.name}: " + ", ".join(f"{name} {value}".strip() for name, value in pairs))
    return "\n".join(lines)
