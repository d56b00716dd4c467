"""Converts slides to Markdown, only in the child: titles, bullets, tables, charts' values and notes, in order."""

from __future__ import annotations

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
MAX_ELEMENTS = 600_000
MAX_DEPTH = 20


def write_slides(path: str, max_characters: int) -> tuple[str, bool]:
    """All slides as text of about `max_characters`, and whether the end is missing. Raises `BadFile`."""
    if pptx is None:
        raise missing("office")
    shortener = Shortener(MAX_ELEMENTS)
    with open_archive(path) as archive:
        copy = copy_markup(archive, shortener.shorten)
    parts: list[str] = []
    remaining, number = max_characters, 0
    for number, slide in enumerate(pptx.Presentation(copy).slides, 1):
        if remaining <= 0:
            return "\n\n".join(parts), True
        parts.append(write_slide(number, slide))
        remaining -= len(parts[-1])
    return "\n\n".join(parts) if number else "(no slides)", shortener.cut


def write_slide(number: int, slide: Any) -> str:
    """A slide under its number and title."""
    title = slide.shapes.title
    text = " ".join(title.text_frame.text.split()) if title is not None and title.has_text_frame else ""
    rest = (shape for shape in slide.shapes if title is None or shape.shape_id != title.shape_id)
    parts = [f"## Slide {number}: {text}" if text else f"## Slide {number}", *write_shapes(rest)]
    if slide.has_notes_slide and slide.notes_slide.notes_text_frame is not None:
        notes = slide.notes_slide.notes_text_frame.text.strip()
        parts += [f"Notes: {notes}"] if notes else []
    return "\n\n".join(parts)


def write_shapes(shapes: Any, depth: int = 0) -> Iterator[str]:
    """The text of each shape; of a group, that of its shapes."""
    for shape in shapes:
        if shape.shape_type == enums.MSO_SHAPE_TYPE.GROUP:
            if depth < MAX_DEPTH:
                yield from write_shapes(shape.shapes, depth + 1)
        elif text := write_shape(shape):
            yield text


def write_shape(shape: Any) -> str:
    """A table, a chart, the mark for an image, or text; empty for slide numbers, dates and footers."""
    if shape.has_table:
        return write_table(shape.table)
    if shape.has_chart:
        return write_chart(shape.chart)
    if shape.shape_type == enums.MSO_SHAPE_TYPE.PICTURE:
        alt = " ".join((shape._element._nvXxPr.cNvPr.get("descr") or "").split())  # noqa: SLF001 - no public name
        return f"[image: {alt}]" if alt else "[image]"
    numbering = {enums.PP_PLACEHOLDER.SLIDE_NUMBER, enums.PP_PLACEHOLDER.DATE, enums.PP_PLACEHOLDER.FOOTER}
    if not shape.has_text_frame or (shape.is_placeholder and shape.placeholder_format.type in numbering):
        return ""
    paragraphs = [(entry.level, " ".join(entry.text.split())) for entry in shape.text_frame.paragraphs]
    lines = [(level, text) for level, text in paragraphs if text]
    return lines[0][1] if len(lines) == 1 else "\n".join(f"{'  ' * level}- {text}" for level, text in lines)


def write_table(table: Any) -> str:
    """A table in Markdown, with its first row as header."""
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
