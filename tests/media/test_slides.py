"""Slides with shapes that can't be read: each leaves a mark, and the others are read."""

import io

from lxml import etree
from pptx import Presentation

from showandtell.core.messages.conversion import Conversion
from showandtell.media.convert import office

PPTX = "application/vnd.openxmlformats-officedocument.presentationml.presentation"
NAMES = (
    'xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main" '
    'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" '
    'xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"'
)
PROPERTIES = '<p:cNvPr id="9" name="x"/>'
CHARTEX = "http://schemas.microsoft.com/office/drawing/2014/chartex"
CHART = "http://schemas.openxmlformats.org/drawingml/2006/chart"


def frame(uri, content=""):
    """The markup of a graphic frame of any type."""
    head = f"<p:nvGraphicFramePr>{PROPERTIES}<p:cNvGraphicFramePr/><p:nvPr/></p:nvGraphicFramePr><p:xfrm/>"
    graphic = f'<a:graphic><a:graphicData uri="{uri}">{content}</a:graphicData></a:graphic>'
    return f"<p:graphicFrame {NAMES}>{head}{graphic}</p:graphicFrame>"


def words(text):
    head = f"<p:nvSpPr>{PROPERTIES}<p:cNvSpPr/><p:nvPr/></p:nvSpPr><p:spPr/>"
    return f"<p:sp {NAMES}>{head}<p:txBody><a:bodyPr/><a:p><a:r><a:t>{text}</a:t></a:r></a:p></p:txBody></p:sp>"


def alternatives(choice, fallback):
    options = f'<mc:Choice Requires="cx1">{choice}</mc:Choice><mc:Fallback>{fallback}</mc:Fallback>'
    return f"<mc:AlternateContent {NAMES}>{options}</mc:AlternateContent>"


def read(tmp_path, *markup):
    """The lines of a slide with this markup."""
    deck = Presentation()
    slide = deck.slides.add_slide(deck.slide_layouts[6])
    for element in markup:
        slide.shapes._spTree.append(etree.fromstring(element))
    buffer = io.BytesIO()
    deck.save(buffer)
    (tmp_path / "a.pptx").write_bytes(buffer.getvalue())
    return office.make_text(str(tmp_path / "a.pptx"), PPTX, Conversion("text"), str(tmp_path))["text"].split("\n\n")[1:]


def test_a_graphic_that_is_not_read_leaves_a_mark(tmp_path):
    uris = [CHARTEX, "http://schemas.openxmlformats.org/drawingml/2006/diagram", "urn:other"]
    assert read(tmp_path, *map(frame, uris)) == ["[chart]", "[diagram]", "[graphic]"]


def test_shapes_of_alternatives_are_read_once(tmp_path):
    chart = alternatives(frame(CHARTEX), words("no chart here"))
    ink = alternatives(f'<p:contentPart {NAMES} bwMode="auto"/>', words("as a picture"))
    assert read(tmp_path, words("before"), chart, ink, words("after")) == ["before", "[chart]", "as a picture", "after"]


def test_a_chart_without_its_part_leaves_a_mark_and_the_rest_is_read(tmp_path):
    relation = 'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships" r:id="rId99"'
    assert read(tmp_path, frame(CHART, f'<c:chart xmlns:c="{CHART}" {relation}/>'), words("after")) == [
        "[chart]",
        "after",
    ]
