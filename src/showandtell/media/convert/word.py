"""Converts Word documents to Markdown, only in the child: their markup is reduced to what mammoth reads, and cut."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass, field
from typing import Any
from xml.parsers import expat

from showandtell.core.messages.conversion import MAX_CHARACTERS
from showandtell.media.convert.extras import missing
from showandtell.media.convert.markup import write_markdown
from showandtell.media.convert.zipped import LimitReached, copy_markup, open_archive, parse, refuse_large, refuse_total

try:
    import mammoth as untyped_mammoth  # pyright: ignore[reportMissingTypeStubs] - it ships none
    from mammoth import html as untyped_elements  # pyright: ignore[reportMissingTypeStubs] - it ships none
except ImportError:
    untyped_mammoth = untyped_elements = None

mammoth: Any = untyped_mammoth
elements: Any = untyped_elements

#: Elements that mammoth reads. Measured: each takes 30 to 50 µs; running text of 200,000 characters has 30,000.
MAX_ELEMENTS = 50_000
#: All elements, also those that are left out. Measured: 100,000 take 0.2 s.
MAX_PARSED = 1_000_000
#: Every document has these parts for notes, numbering and relations: each keeps some, whatever came before it.
MIN_ELEMENTS = 1000
#: Parts without text of the document, or text that mammoth doesn't read.
SKIPPED_PARTS = (
    "/theme/",
    "/charts/",
    "/diagrams/",
    "/embeddings/",
    "/glossary/",
    "customxml/",
    "docprops/",
    "settings.xml",
    "fonttable.xml",
    "word/header",
    "word/footer",
)
#: Looks of text, tables and pictures, and marks of the editor. Word writes most of its elements for these.
SKIPPED_TAGS = frozenset({
    "w:bCs", "w:bdr", "w:bidi", "w:bidiVisual", "w:bookmarkEnd", "w:bookmarkStart", "w:cnfStyle",
    "w:color", "w:contextualSpacing", "w:divId", "w:docGrid", "w:effect", "w:em", "w:fitText",
    "w:iCs", "w:ind", "w:jc", "w:keepLines", "w:keepNext", "w:kern", "w:kinsoku",
    "w:lang", "w:lastRenderedPageBreak", "w:latentStyles", "w:mirrorIndents", "w:noProof", "w:outline", "w:outlineLvl",
    "w:pBdr", "w:pgMar", "w:pgSz", "w:position", "w:proofErr", "w:rFonts", "w:rsids",
    "w:rtl", "w:sectPr", "w:shadow", "w:shd", "w:snapToGrid", "w:spacing", "w:specVanish",
    "w:suppressAutoHyphens", "w:sz", "w:szCs", "w:tabs", "w:tblBorders", "w:tblCellMar", "w:tblGrid",
    "w:tblInd", "w:tblLayout", "w:tblLook", "w:tblW", "w:tcBorders", "w:tcMar", "w:tcW",
    "w:textAlignment", "w:trHeight", "w:vAlign", "w:webHidden", "w:widowControl", "w:wordWrap",
    "pic:spPr", "pic:nvPicPr", "wp:effectExtent", "wp:cNvGraphicFramePr", "wp14:sizeRelH", "wp14:sizeRelV",
})  # fmt: skip
#: What refers to other parts, which may be missing.
REFERRING = frozenset({"w:footnoteReference", "w:endnoteReference", "w:drawing", "w:pict", "w:object"})


def write_document(path: str) -> tuple[str, bool]:
    """A .docx as Markdown, without its comments and headers; and whether its end is missing. Raises `BadFile`."""
    if mammoth is None:
        raise missing("office")
    try:
        markup, was_cut = write_html(path, Reducer())
    except KeyError:  # of a note or a picture that isn't in the file, or was cut
        markup, was_cut = write_html(path, Reducer(skipped=SKIPPED_TAGS | REFERRING, cut=True))
    text, cut = write_markdown(markup)
    return text, cut or was_cut


def write_html(path: str, reducer: Reducer) -> tuple[str, bool]:
    """A .docx as HTML, and whether its end is missing."""
    with open_archive(path) as archive:
        copy = copy_markup(archive, reducer.reduce, SKIPPED_PARTS)
    result = mammoth.convert_to_html(copy, convert_image=mark_image, external_file_access=False)
    return result.value, reducer.cut


def mark_image(image: Any) -> list[Any]:
    """The mark for an embedded image, with its alt text; its bytes are not read."""
    alt = " ".join((image.alt_text or "").split())
    return [elements.text(f"[image: {alt}]" if alt else "[image]")]


@dataclass
class Reducer:
    """Leaves out what makes no text, and cuts after a number of elements and characters, counted over all parts."""

    elements: int = MAX_ELEMENTS
    parsed: int = MAX_PARSED
    characters: int = 2 * MAX_CHARACTERS
    unpacked: int = 0
    cut: bool = False
    skipped: frozenset[str] = SKIPPED_TAGS

    def reduce(self, name: str, data: bytes) -> bytes:
        """Well-formed markup, not longer than before; raises `BadFile` if it is torn or defines entities."""
        self.unpacked += len(data)
        refuse_total(self.unpacked)
        limits = max(self.elements, MIN_ELEMENTS), max(self.parsed, MIN_ELEMENTS), max(self.characters, MIN_ELEMENTS)
        scan = Scan(self.skipped, *limits)
        kept = scan.run(refuse_large(name, data))
        self.elements, self.parsed, self.characters = (
            self.elements - scan.elements,
            self.parsed - scan.parsed,
            self.characters - scan.characters,
        )
        self.cut = self.cut or scan.is_cut
        return kept


@dataclass
class Scan:
    """One pass over markup. What is kept is copied by its offsets, so that nothing is written again."""

    skipped_tags: frozenset[str]
    max_elements: int
    max_parsed: int
    max_characters: int
    elements: int = 0
    parsed: int = 0
    characters: int = 0
    is_cut: bool = False
    open_tags: list[str] = field(default_factory=list[str])
    #: Start and end of what is kept; the last one is still open unless something is being left out.
    kept: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])
    start: int = 0
    #: Levels below the element that is left out; 0 outside of one, -1 right after its end.
    skipped: int = 0

    def run(self, data: bytes) -> bytes:
        """The part that is kept, with end tags for what is open."""
        parser = self.parser = expat.ParserCreate()
        parser.StartElementHandler, parser.EndElementHandler = self.open, self.close
        parser.CharacterDataHandler = self.count
        self.end = len(data)
        with contextlib.suppress(LimitReached):
            parse(parser, data)
        self.kept.append((self.start, self.end))
        closing = [b"</%s>" % tag.encode() for tag in reversed(self.open_tags)] if self.is_cut else []
        return b"".join([*(data[first:last] for first, last in self.kept), *closing])

    def cut(self) -> LimitReached:
        """End here; expat itself continues to the end of its input, so its offset isn't known later."""
        self.is_cut, self.end = True, self.parser.CurrentByteIndex
        return LimitReached()

    def resume(self) -> None:
        """Keep from here on: the end of what was left out is known only when the next thing begins."""
        if self.skipped < 0:
            self.skipped, self.start = 0, self.parser.CurrentByteIndex

    def open(self, name: str, _attributes: dict[str, str]) -> None:
        """A start tag."""
        self.resume()
        self.parsed += 1
        if self.skipped and self.parsed <= self.max_parsed:
            self.skipped += 1
        elif self.elements >= self.max_elements or self.parsed > self.max_parsed:
            raise self.cut()
        elif name in self.skipped_tags:
            self.kept.append((self.start, self.parser.CurrentByteIndex))
            self.skipped = 1
        else:
            self.elements += 1
            self.open_tags.append(name)

    def close(self, _name: str) -> None:
        """An end tag."""
        self.resume()
        if not self.skipped:
            self.open_tags.pop()
        elif self.skipped == 1:
            self.skipped = -1
        else:
            self.skipped -= 1

    def count(self, text: str) -> None:
        """A piece of text; it is cut only where a piece begins, at the latest after a line."""
        self.resume()
        if not self.skipped:
            if self.characters > self.max_characters:
                raise self.cut()
            self.characters += len(text)
