import io
import socket
import struct
import time
import zipfile
from contextlib import closing
from copy import deepcopy
from xml.dom import minidom

import docx
import pptx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from showandtell.core.messages.conversion import Conversion
from showandtell.errors import BadFile
from showandtell.media import gate
from showandtell.media.convert import markup, office, sheets, slides, word, zipped
from support.compound import compound
from support.fixtures import png
from support.properties import examples

OPENXML = "application/vnd.openxmlformats-officedocument."
DOCX, XLSX = OPENXML + "wordprocessingml.document", OPENXML + "spreadsheetml.sheet"
PPTX, ODS = OPENXML + "presentationml.presentation", "application/vnd.oasis.opendocument.spreadsheet"
W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
R = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
MAIN = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
PACKAGE = "http://schemas.openxmlformats.org/package/2006"


def text_of(folder, data, media_type, name="file"):
    path = folder / name
    path.write_bytes(data)
    return gate.make(path, media_type, "text", folder)


def try_make(folder, data, media_type):
    """The output or the error."""
    try:
        return text_of(folder, data, media_type)
    except BadFile as error:
        return error


def pack(parts):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, data in parts.items():
            packed.writestr(name, data)
    return buffer.getvalue()


def relations(*targets):
    rows = "".join(
        f'<Relationship Id="r{at}" Type="{R}/{kind}" Target="{target}" {more}/>'
        for at, (kind, target, more) in enumerate(targets, 1)
    )
    return f'<Relationships xmlns="{PACKAGE}/relationships">{rows}</Relationships>'


def written(body, prolog="", more=()):
    """A .docx of hand-written parts."""
    document = f'{prolog}<w:document {W} xmlns:r="{R}"><w:body>{body}</w:body></w:document>'
    types = f'<Types xmlns="{PACKAGE}/content-types"><Default Extension="xml" ContentType="application/xml"/></Types>'
    top = relations(("officeDocument", "word/document.xml", ""))
    return pack({"[Content_Types].xml": types, "_rels/.rels": top, "word/document.xml": document, **dict(more)})


def paragraph(text):
    return f"<w:p><w:r><w:t>{text}</w:t></w:r></w:p>"


def workbook(*rows, name="Budget", head="", tail=""):
    """An .xlsx of one sheet; a row is the markup of its cells, or bytes that stand for the whole of it."""
    body = "".join(f'<row r="{at}">{row}</row>' for at, row in enumerate(rows, 1))
    sheet = f"{head}<worksheet {MAIN}><sheetData>{body}</sheetData></worksheet>{tail}"
    book = f'<workbook {MAIN} xmlns:r="{R}"><sheets><sheet name="{name}" sheetId="1" r:id="r1"/></sheets></workbook>'
    styles = f'<styleSheet {MAIN}><cellXfs count="2"><xf numFmtId="0"/><xf numFmtId="14"/></cellXfs></styleSheet>'
    within = relations(("worksheet", "worksheets/sheet1.xml", ""), ("styles", "styles.xml", ""))
    return pack(
        {
            "[Content_Types].xml": f'<Types xmlns="{PACKAGE}/content-types"/>',
            "_rels/.rels": relations(("officeDocument", "xl/workbook.xml", "")),
            "xl/workbook.xml": book,
            "xl/_rels/workbook.xml.rels": within,
            "xl/styles.xml": styles,
            "xl/worksheets/sheet1.xml": sheet,
        }
    )


def opendocument(rows):
    names = "".join(
        f'xmlns:{one}="urn:oasis:names:tc:opendocument:xmlns:{one}:1.0" ' for one in ("office", "table", "text")
    )
    table = f'<table:table table:name="Rooms">{rows}</table:table>'
    content = f"<office:document-content {names}><office:body><office:spreadsheet>{table}</office:spreadsheet></office:body></office:document-content>"
    manifest = f'<m:manifest xmlns:m="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0"><m:file-entry m:full-path="/" m:media-type="{ODS}"/></m:manifest>'
    return pack({"mimetype": ODS, "META-INF/manifest.xml": manifest, "content.xml": content})


def cells(count, more=""):
    return f'<table:table-cell office:value-type="string" table:number-columns-repeated="{count}" {more}><text:p>x</text:p></table:table-cell>'


def saved(document):
    buffer = io.BytesIO()
    document.save(buffer)
    return buffer.getvalue()


def test_a_document_keeps_its_structure_and_marks_its_images(tmp_path):
    document = docx.Document()
    document.add_heading("Lease", 1)
    document.add_paragraph("Rent is ").add_run("900 EUR").bold = True
    document.add_paragraph("heating", style="List Bullet")
    document.add_paragraph("keys", style="List Number")
    table = document.add_table(2, 2)
    for at, words in enumerate(("Room", "m|2", "Hall", "12")):
        table.cell(at // 2, at % 2).text = words
    document.add_picture(io.BytesIO(png()))
    output = text_of(tmp_path, saved(document), DOCX)
    assert output.text == (
        "# Lease\n\nRent is **900 EUR**\n\n- heating\n\n1. keys\n\n"
        "| Room | m\\|2 |\n| --- | --- |\n| Hall | 12 |\n\n[image]"
    )
    assert not output.cut


def test_a_documents_footnotes_follow_its_text(tmp_path):
    noted = '<w:p><w:r><w:t>Paid</w:t></w:r><w:r><w:footnoteReference w:id="2"/></w:r></w:p>'
    notes = f'<w:footnotes {W}><w:footnote w:id="2">{paragraph("by cheque")}</w:footnote></w:footnotes>'
    more = {"word/footnotes.xml": notes, "word/_rels/document.xml.rels": relations(("footnotes", "footnotes.xml", ""))}
    assert text_of(tmp_path, written(noted, more=more), DOCX).text == "Paid[1]\n\n1. by cheque"


def test_a_workbook_gives_each_sheets_values_as_csv(tmp_path):
    cell = '<c r="A1" t="inlineStr"><is><t>Rent, cold</t></is></c><c r="B1"><v>900.5</v></c>'
    dated = '<c r="A2" s="1"><v>45000</v></c><c r="B2" t="b"><v>1</v></c><c r="C2"><v>3</v></c>'
    output = text_of(tmp_path, workbook(cell, dated), XLSX)
    assert output.text == '## Sheet 1: Budget\n\n"Rent, cold",900.5\n2023-03-15,TRUE,3'


def test_an_opendocument_workbook_is_read_without_its_empty_end(tmp_path):
    end = '<table:table-row table:number-rows-repeated="1048574"><table:table-cell table:number-columns-repeated="16384"/></table:table-row>'
    row = f"<table:table-row>{cells(2)}</table:table-row>"
    assert text_of(tmp_path, opendocument(row + end), ODS).text == "## Sheet 1: Rooms\n\nx,x"


def test_slides_give_titles_bullets_tables_charts_and_notes(tmp_path):
    show = pptx.Presentation()
    slide = show.slides.add_slide(show.slide_layouts[1])
    slide.shapes.title.text = "Plan"
    body = slide.placeholders[1].text_frame
    body.text = "one"
    below = body.add_paragraph()
    below.text, below.level = "two", 1
    table = slide.shapes.add_table(2, 1, 0, 0, 99, 99).table
    table.cell(0, 0).text, table.cell(1, 0).text = "Room", "Hall"
    slide.shapes.add_picture(io.BytesIO(png()), 0, 0)
    slide.notes_slide.notes_text_frame.text = "speak slowly"
    assert text_of(tmp_path, saved(show), PPTX).text == (
        "## Slide 1: Plan\n\n- one\n  - two\n\n| Room |\n| --- |\n| Hall |\n\n[image: image.png]\n\nNotes: speak slowly"
    )


def test_a_picture_in_a_placeholder_is_marked_and_a_group_is_read(tmp_path):
    show = pptx.Presentation()
    slide = show.slides.add_slide(show.slide_layouts[8])
    slide.placeholders[1].insert_picture(io.BytesIO(png()))
    group = slide.shapes.add_group_shape()
    group.shapes.add_textbox(0, 0, 99, 99).text_frame.text = "below it"
    assert text_of(tmp_path, saved(show), PPTX).text.endswith("[image: image.png]\n\nbelow it")


def test_a_charts_values_are_reported(tmp_path):
    from pptx.chart.data import CategoryChartData
    from pptx.enum.chart import XL_CHART_TYPE

    show, data = pptx.Presentation(), CategoryChartData()
    data.categories = ["Q1", "Q2"]
    data.add_series("Sales", (1.5, 2))
    slide = show.slides.add_slide(show.slide_layouts[6])
    slide.shapes.add_chart(XL_CHART_TYPE.COLUMN_CLUSTERED, 0, 0, 99, 99, data)
    assert "[chart]\n- Sales: Q1 1.5, Q2 2" in text_of(tmp_path, saved(show), PPTX).text


def test_a_page_loses_scripts_styles_and_image_data(tmp_path):
    page = (
        "<title>Rooms</title><style>p{}</style><h2>Hall</h2><script>steal()</script>"
        f'<p>See <a href="https://example.org/x">this</a>, <a href="javascript:x()">that</a> <img alt="a plan" src="data:image/png;base64,{"A" * 3000}"></p>'
        "<table><thead><tr><th>A</th></tr></thead><tbody><tr><td>1|2</td></tr></tbody></table><ol><li>a<ul><li>b</li></ul></li><li>c</li></ol>"
    )
    assert text_of(tmp_path, page.encode(), "text/html").text == (
        "Rooms\n\n## Hall\n\nSee [this](https://example.org/x), that [image: a plan]\n\n"
        "| A |\n| --- |\n| 1\\|2 |\n\n1. a\n   - b\n2. c"
    )


@pytest.mark.parametrize(
    ("data", "media_type"),
    [
        (written(paragraph("word " * 20) * 4000), DOCX),
        (workbook(*['<c t="inlineStr"><is><t>word word</t></is></c>' * 10] * 4000), XLSX),
        (b"<p>" + b"word " * 60_000, "text/html"),
        ((f'<p class="{"c" * 300}">' + "word " * 12).encode() * 3000, "text/html"),
    ],
    ids=["docx", "xlsx", "html", "html that is cut as markup"],
)
def test_a_long_text_is_cut_at_200_000_characters(tmp_path, data, media_type):
    output = text_of(tmp_path, data, media_type)
    assert output.cut
    assert 120_000 <= len(output.text) <= 200_000


def test_more_rows_than_anybody_reads_are_read_up_to_the_limit(tmp_path):
    row = "<row><c><v>7</v></c><c><v>8</v></c></row>"
    output = text_of(tmp_path, workbook("</row>" + row * 200_000 + "<row>"), XLSX)
    assert output.cut
    assert output.text.startswith("## Sheet 1: Budget\n\n7,8\n7,8\n")


#: Files of blanks, which took quadratic time; stress/test_office.py has larger ones of other shapes.
SLOW = {
    "a document": (written(paragraph(" " * 4000 + "x") * 2000), DOCX),
    "a page": (b"<p>start" + (" " * 4000 + "x<p>").encode() * 240, "text/html"),
}


@pytest.mark.parametrize("shape", SLOW)
def test_long_runs_of_blanks_take_no_time(tmp_path, shape):
    data, media_type = SLOW[shape]
    started = time.process_time()
    output = office_text(tmp_path, data, media_type)
    assert output["text"]
    assert time.process_time() - started < 30


def office_text(folder, data, media_type):
    """The text, made in this process, so that its time is known."""
    (folder / "file").write_bytes(data)
    return office.make_text(str(folder / "file"), media_type, Conversion("text"), str(folder))


def test_looks_and_marks_of_the_editor_cost_no_text(tmp_path):
    looks = "<w:rPr><w:rFonts w:ascii='a'/><w:b/><w:sz w:val='22'/><w:lang w:val='en'/></w:rPr>"
    run = f"<w:proofErr w:type='x'/><w:r>{looks}<w:t xml:space='preserve'>word </w:t></w:r><w:bookmarkEnd w:id='1'/>"
    output = office_text(tmp_path, written(f"<w:p>{run * 12}</w:p>" * 500), DOCX)
    assert not output["cut"]
    assert output["text"].count("word") == 12 * 500


def test_a_large_table_on_a_slide_is_read(tmp_path):
    show = pptx.Presentation()
    slide = show.slides.add_slide(show.slide_layouts[6])
    table = slide.shapes.add_table(1, 1, 0, 0, 99, 99).table
    table.cell(0, 0).text = "Hall"
    row = table._tbl.tr_lst[0]
    for _ in range(3000):
        row.addnext(deepcopy(row))
    output = office_text(tmp_path, saved(show), PPTX)
    assert output["text"].count("| Hall |") == 3001


LAUGHS = "".join(f'<!ENTITY l{at} "{f"&l{at - 1};" * 10}">' for at in range(1, 10))
BOMB = f'<!DOCTYPE x [<!ENTITY l0 "lol">{LAUGHS}]>'
LOCKED = bytearray(written(paragraph("x")))
LOCKED[LOCKED.index(b"PK\1\2") + 8] |= 1
OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(504) + "EncryptedPackage".encode("utf-16-le")
FAR = '<c r="A1"><v>1</v></c><c r="XFD1048576"><v>2</v></c>'
#: The same content, as only an XML parser sees it.
HIDDEN = {
    "far cells with a space": FAR.replace('r="X', 'r = "X'),
    "far cells on a line of their own": FAR.replace('r="X', '\nr\n=\n"X'),
    "far cells in small letters": FAR.replace("XFD", "xfd"),
    "far cells by entity": FAR.replace("XFD", "&#88;FD"),
}
NAMELESS = "<c><v>1</v></c>" * 16384 + '</row><row r="1048576"><c><v>2</v></c>'
#: Files that are slow to build are built when their test starts.
HOSTILE = {
    "entity bomb": (written(paragraph("&l9;"), BOMB), DOCX, "defines entities"),
    "zip bomb": (lambda: pack({"word/document.xml": bytes(1 << 26)}), DOCX, "unpacks to more than 48 MiB"),
    "zip bomb in a workbook": (lambda: workbook("x" * (1 << 26)), XLSX, "row of more than 12 MiB"),
    "zip bomb in slides": (lambda: pack({"ppt/presentation.xml": bytes(1 << 26)}), PPTX, "unpacks to more than 48 MiB"),
    "many small bombs": (
        lambda: pack({f"{at}.xml": b"<a>" + b" " * 40_000_000 + b"</a>" for at in range(3)}),
        DOCX,
        "96 MiB",
    ),
    "many parts": (lambda: pack({f"{at}.bin": b"" for at in range(5000)}), DOCX, "has 5000 parts"),
    "deep tables": (
        written("<w:tbl><w:tr><w:tc>" * 5000 + "</w:tc></w:tr></w:tbl>" * 5000),
        DOCX,
        "nested too deeply",
    ),
    "far cells": (workbook(FAR), XLSX, "spreads over 1048576 rows and 16384 columns"),
    **{name: (workbook(row), XLSX, "spreads over 1048576 rows") for name, row in HIDDEN.items()},
    "far cells without names": (workbook(NAMELESS), XLSX, "spreads over 1048576 rows and 16384 columns"),
    "a cell nowhere": (workbook('<c r="A1B"><v>1</v></c>'), XLSX, "'A1B', which is no place"),
    "an entity bomb in a workbook": (workbook("<c><v>&l9;</v></c>", head=BOMB), XLSX, "defines entities"),
    "far runs": (
        opendocument(f'<table:table-row table:number-rows-repeated="9999999">{cells(9999999)}</table:table-row>'),
        ODS,
        "spreads over",
    ),
    "a password": (OLE, DOCX, "locked with a password"),
    "a workbook's password": (OLE, XLSX, "locked with a password"),
    "a zip's password": (bytes(LOCKED), DOCX, "locked with a password"),
    "no zip": (b"PK\3\4 nothing more", PPTX, "is torn"),
    "half a zip": (written(paragraph("x"))[:-40], DOCX, "is torn"),
    "half its markup": (pack({"word/document.xml": f"<w:document {W}><w:bo"}), DOCX, "is torn"),
    "no document": (pack({"a.xml": "<a/>"}), DOCX, "can't be read"),
    "no slides": (pack({"a.xml": "<a/>"}), PPTX, "can't be read"),
    "no workbook": (pack({"a.xml": "<a/>"}), XLSX, "can't be read"),
    "nothing written": (written(""), DOCX, "has no text"),
    "an old document": (OLE, "application/msword", "save it as .docx"),
    "old slides": (OLE, "application/vnd.ms-powerpoint", "save it as .pptx"),
}


@pytest.mark.parametrize("case", HOSTILE)
def test_a_hostile_locked_or_torn_file_is_rejected(tmp_path, case):
    build, media_type, problem = HOSTILE[case]
    data = build() if callable(build) else build
    with pytest.raises(BadFile, match=problem):
        text_of(tmp_path, data, media_type)
    assert text_of(tmp_path, written(paragraph("still there")), DOCX).text == "still there"


@pytest.mark.parametrize(
    "page",
    [
        "<div>" * 50_000 + "x",
        "<table><tr><td>" * 3000 + "x",
        "<ul><li>" * 50 + "a\n" * 200_000,
        "<ol>" + "<li>a" * 10_000,
        "<p " + " ".join(f"a{at}=1" for at in range(200_000)) + ">x",
        "<table>" + "<tr><td colspan=1000>a" * 5_000,
        "<a " * 100_000 + "x",
    ],
    ids=["deep", "deep tables", "deep lists", "long list", "many attributes", "wide cells", "no end"],
)
def test_a_hostile_page_gives_bounded_text(tmp_path, page):
    output = text_of(tmp_path, f"<h1>start</h1>{page}".encode(), "text/html")
    assert output.text.startswith("# start")
    assert len(output.text) <= 200_000


def test_nothing_that_a_file_refers_to_is_opened(tmp_path):
    (tmp_path / "canary.txt").write_text("CANARY SINGS")
    with closing(socket.create_server(("127.0.0.1", 0))) as server:
        server.settimeout(0)
        url = f"http://127.0.0.1:{server.getsockname()[1]}/canary.png"
        for target in (url, (tmp_path / "canary.txt").as_uri()):
            for data, media_type in list_referring(target):
                output = try_make(tmp_path, data, media_type)
                assert "CANARY SINGS" not in str(getattr(output, "text", output))
        with pytest.raises(BlockingIOError):
            server.accept()


def list_referring(target):
    """Files that refer to a target in every way that their format has."""
    entity = f'<!DOCTYPE x [<!ENTITY e SYSTEM "{target}">]>'
    picture = f'<w:p><w:r><w:pict><v:shape xmlns:v="urn:schemas-microsoft-com:vml"><v:imagedata r:id="r1" xmlns:r="{R}"/></v:shape></w:pict></w:r></w:p>'
    linked = {"word/_rels/document.xml.rels": relations(("image", target, 'TargetMode="External"'))}
    show = io.BytesIO(saved(pptx.Presentation()))
    with zipfile.ZipFile(show) as packed:
        parts = {one: packed.read(one) for one in packed.namelist()}
    parts["ppt/presentation.xml"] = parts["ppt/presentation.xml"].replace(b"?>", f"?>{entity}".encode(), 1)
    yield written(paragraph("&e;"), entity), DOCX
    yield written(paragraph("x") + picture, more=linked), DOCX
    yield pack(parts), PPTX
    yield workbook('<c t="inlineStr"><is><t>&e;</t></is></c>', head=entity), XLSX
    yield (
        f'{entity}<base href="{target}"><link rel=stylesheet href="{target}"><img src="{target}"><iframe src="{target}"></iframe>&e;x'.encode(),
        "text/html",
    )


@pytest.mark.parametrize(
    ("module", "name", "media_type"),
    [
        (word, "mammoth", DOCX),
        (sheets, "calamine", XLSX),
        (slides, "pptx", PPTX),
    ],
)
def test_without_the_extra_it_says_what_to_install(tmp_path, monkeypatch, module, name, media_type):
    monkeypatch.setattr(module, name, None)
    (tmp_path / "file").write_bytes(b"<p>x")
    with pytest.raises(BadFile, match=r"needs showandtell\[office\]: `showandtell doctor` says"):
        office.make_text(str(tmp_path / "file"), media_type, Conversion("text"), str(tmp_path))


def test_without_the_extra_a_page_is_unchanged_and_its_errors_are_reported(tmp_path, monkeypatch):
    (tmp_path / "file").write_bytes(b"<p>x")
    (tmp_path / "bare").write_bytes(b"<script>1</script>")
    arguments = "text/html", Conversion("text"), str(tmp_path)
    with pytest.raises(BadFile, match="has no text"):
        office.make_text(str(tmp_path / "bare"), *arguments)
    monkeypatch.setattr(markup, "parsed", None)
    assert office.make_text(str(tmp_path / "file"), *arguments) == {"text": "<p>x", "cut": False}


WHOLE = {
    DOCX: written(paragraph("a whole document") * 20),
    XLSX: workbook(*['<c r="A1"><v>1</v></c>'] * 20),
    ODS: opendocument(f"<table:table-row>{cells(3)}</table:table-row>"),
}


@examples(60)
@given(
    media_type=st.sampled_from(sorted(WHOLE)),
    at=st.floats(0, 1),
    byte=st.binary(min_size=1, max_size=4),
    cut=st.booleans(),
)
def test_a_flipped_or_missing_byte_gives_text_or_an_error(tmp_path_factory, media_type, at, byte, cut):
    data, place = WHOLE[media_type], int(at * (len(WHOLE[media_type]) - 1))
    changed = data[:place] if cut else data[:place] + byte + data[place + len(byte) :]
    output = try_make(tmp_path_factory.mktemp("flipped"), changed or b"x", media_type)
    assert "stopped the decoder" not in getattr(output, "problem", "")
    assert getattr(output, "text", None) or (output.problem and output.advice)


TREES = st.recursive(
    st.text("abcxyzABCXYZ", max_size=3),
    lambda inner: st.lists(inner, max_size=4).map(lambda parts: f"<w:t a='1'>{''.join(parts)}</w:t>"),
    max_leaves=30,
)


@given(tree=TREES, max_elements=st.integers(1, 40))
def test_cut_markup_is_well_formed_and_within_its_limit(tree, max_elements):
    data = f"<w:d xmlns:w='w'>{tree}</w:d>".encode()
    count, offset, still_open = zipped.measure(data, max_elements)
    closed = (
        data if offset is None else data[:offset] + b"".join(b"</%s>" % tag.encode() for tag in reversed(still_open))
    )
    remaining = minidom.parseString(closed).getElementsByTagName("*").length  # noqa: S318 - it is ours
    assert remaining == count == min(max_elements, tree.count("<w:t") + 1)


@given(st.integers(1, 16384))
def test_a_column_name_gives_its_number(number):
    name, rest = "", number
    while rest:
        rest, digit = divmod(rest - 1, 26)
        name = chr(65 + digit) + name
    assert sheets.column_number(name) == number


def test_an_old_workbook_is_read(tmp_path):
    assert (
        text_of(tmp_path, old_workbook("Hall", 12.5), "application/vnd.ms-excel").text == "## Sheet 1: A\n\nHall,12.5"
    )


def old_workbook(words, number):
    """A BIFF5 workbook of two cells, hand-written ([MS-XLS] 2.4)."""

    def record(kind, data):
        return struct.pack("<HH", kind, len(data)) + data

    def opening(what):
        return record(0x0809, struct.pack("<HHHH", 0x0500, what, 0, 0))

    sheet = opening(0x0010) + record(0x0204, struct.pack("<HHHH", 0, 0, 0, len(words)) + words.encode())
    sheet += record(0x0203, struct.pack("<HHHd", 0, 1, 0, number)) + record(0x000A, b"")
    start = opening(0x0005)
    name = record(0x0085, struct.pack("<IBBB", len(start) + 12 + 4, 0, 0, 1) + b"A")
    return compound("Book", start + name + record(0x000A, b"") + sheet)
