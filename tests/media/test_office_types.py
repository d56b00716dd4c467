"""Office files of every age and form are recognized as what they are, and read or refused in words for people."""

import io
import zipfile

import docx
import pptx
import pytest
from pptx.chart.data import CategoryChartData
from pptx.enum.chart import XL_CHART_TYPE

from showandtell.core.media_types.claims import EXTENSIONS
from showandtell.core.media_types.kinds import kind_of
from showandtell.errors import BadFile
from showandtell.media import gate
from support.compound import compound
from support.fixtures import png, zipped

#: A suffix, the base format that has it, and the content type of its main part ([MS-OFFMACRO2] 2.2).
FORMS = {
    ".dotx": ("docx", "openxmlformats-officedocument.wordprocessingml.template"),
    ".docm": ("docx", "ms-word.document.macroEnabled"),
    ".dotm": ("docx", "ms-word.template.macroEnabledTemplate"),
    ".xltx": ("xlsx", "openxmlformats-officedocument.spreadsheetml.template"),
    ".xlsm": ("xlsx", "ms-excel.sheet.macroEnabled"),
    ".xltm": ("xlsx", "ms-excel.template.macroEnabled"),
    ".potx": ("pptx", "openxmlformats-officedocument.presentationml.template"),
    ".ppsx": ("pptx", "openxmlformats-officedocument.presentationml.slideshow"),
    ".pptm": ("pptx", "ms-powerpoint.presentation.macroEnabled"),
    ".ppsm": ("pptx", "ms-powerpoint.slideshow.macroEnabled"),
    ".potm": ("pptx", "ms-powerpoint.template.macroEnabled"),
}
PLAIN = {
    "docx": b"openxmlformats-officedocument.wordprocessingml.document.main+xml",
    "xlsx": b"openxmlformats-officedocument.spreadsheetml.sheet.main+xml",
    "pptx": b"openxmlformats-officedocument.presentationml.presentation.main+xml",
}
OLD = {
    "WordDocument": "application/msword",
    "Workbook": "application/vnd.ms-excel",
    "Book": "application/vnd.ms-excel",
    "PowerPoint Document": "application/vnd.ms-powerpoint",
    "VisioDocument": "application/vnd.visio",
    "__properties_version1.0": "application/vnd.ms-outlook",
}


NOTE = '<w:footnoteReference w:id="9"></w:footnoteReference>'
PICTURE = (
    "<w:drawing><wp:inline><a:graphic><a:graphicData><pic:pic><pic:blipFill>"
    '<a:blip r:embed="r9"/></pic:blipFill></pic:pic></a:graphicData></a:graphic></wp:inline></w:drawing>'
)


def build(form):
    """A file of a format with the word Rent."""
    buffer = io.BytesIO()
    if form == "docx":
        file = docx.Document()
        file.add_paragraph("Rent")
    elif form == "xlsx":
        return workbook()
    else:
        file = pptx.Presentation()
        file.slides.add_slide(file.slide_layouts[5]).shapes.title.text = "Rent"
    file.save(buffer)
    return buffer.getvalue()


def workbook():
    """An .xlsx of one cell, by hand."""
    main, related = (
        f"http://schemas.openxmlformats.org/{name}"
        for name in ("spreadsheetml/2006/main", "officeDocument/2006/relationships")
    )
    package = "http://schemas.openxmlformats.org/package/2006"

    def relation(kind, target):
        row = f'<Relationship Id="r1" Type="{related}/{kind}" Target="{target}"/>'
        return f'<Relationships xmlns="{package}/relationships">{row}</Relationships>'

    part = f'<Override PartName="/xl/workbook.xml" ContentType="application/vnd.{PLAIN["xlsx"].decode()}"/>'
    sheets = '<sheets><sheet name="A" sheetId="1" r:id="r1"/></sheets>'
    cell = '<sheetData><row r="1"><c r="A1" t="inlineStr"><is><t>Rent</t></is></c></row></sheetData>'
    parts = {
        "[Content_Types].xml": f'<Types xmlns="{package}/content-types">{part}</Types>',
        "_rels/.rels": relation("officeDocument", "xl/workbook.xml"),
        "xl/workbook.xml": f'<workbook xmlns="{main}" xmlns:r="{related}">{sheets}</workbook>',
        "xl/_rels/workbook.xml.rels": relation("worksheet", "worksheets/sheet1.xml"),
        "xl/worksheets/sheet1.xml": f'<worksheet xmlns="{main}">{cell}</worksheet>',
    }
    return zipped({name: part.encode() for name, part in parts.items()})


def change_main(data, plain, other):
    """The same file with another content type of its main part."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            new.writestr(name, old.read(name).replace(plain, other))
    return buffer.getvalue()


def probe(folder, data, name):
    (folder / name).write_bytes(data)
    return gate.probe(folder / name, claimed=None, name=name)


def read(folder, data, name):
    return gate.make(folder / name, probe(folder, data, name).media_type, "text", folder).text


@pytest.mark.parametrize("suffix", FORMS)
def test_templates_shows_and_files_with_macros_are_recognized_and_read(tmp_path, suffix):
    form, main = FORMS[suffix]
    data = change_main(build(form), PLAIN[form], f"{main}.main+xml".encode())
    result = probe(tmp_path, data, f"rent{suffix}")
    assert (result.media_type, result.corrected) == (EXTENSIONS[suffix], None)
    assert kind_of(result.media_type) == "document"
    assert "Rent" in read(tmp_path, data, f"rent{suffix}")


@pytest.mark.parametrize("stream", OLD)
def test_an_office_97_file_is_recognized_by_its_structure_whatever_its_name(tmp_path, stream):
    assert probe(tmp_path, compound(stream, b""), "file").media_type == OLD[stream]
    assert probe(tmp_path, compound(stream, b""), "file.doc").media_type == OLD[stream]


def test_a_claim_alone_makes_no_office_file(tmp_path):
    torn = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(504)
    for data in (torn, compound("Catalog", b""), compound("WordDocument", b"")[:600]):
        assert probe(tmp_path, data, "letter.doc").media_type == "application/octet-stream"


def test_a_directory_that_refers_to_itself_ends(tmp_path):
    data = bytearray(compound("WordDocument", b""))
    at = data.index("WordDocument".encode("utf-16-le"))
    data[at + 68 : at + 80] = (1).to_bytes(4, "little") * 3
    data[512 + 4 : 512 + 8] = (1).to_bytes(4, "little")  # the directory's sector follows itself
    assert probe(tmp_path, bytes(data), "letter").media_type == "application/msword"


def test_an_office_file_with_a_password_is_refused_with_what_to_do(tmp_path):
    with pytest.raises(BadFile, match=r"^plan\.xlsx is locked with a password: save it without one$"):
        probe(tmp_path, compound("EncryptedPackage", b""), "plan.xlsx")


@pytest.mark.parametrize(("stream", "suffix"), [("WordDocument", ".docx"), ("PowerPoint Document", ".pptx")])
def test_words_for_an_old_document_say_how_to_save_it(tmp_path, stream, suffix):
    with pytest.raises(BadFile, match=rf"in a format that can't be read here: save it as {suffix}"):
        read(tmp_path, compound(stream, b""), "old")


@pytest.mark.parametrize("kind", ["THREE_D_COLUMN", "THREE_D_PIE", "SURFACE", "PIE", "XY_SCATTER"])
def test_a_chart_of_any_type_gives_its_values(tmp_path, kind):
    buffer, data, show = io.BytesIO(), CategoryChartData(), pptx.Presentation()
    data.categories = ["Q1", "Q2"]
    data.add_series("Sales", (1.5, 2))
    slide = show.slides.add_slide(show.slide_layouts[6])
    drawn = getattr(XL_CHART_TYPE, "PIE" if kind in {"THREE_D_PIE", "XY_SCATTER"} else "COLUMN_CLUSTERED")
    slide.shapes.add_chart(drawn, 0, 0, 99, 99, data)
    show.save(buffer)
    # python-pptx can't make 3D charts: the element's name is all that differs in what is read.
    names = {"THREE_D_COLUMN": b"bar3DChart", "THREE_D_PIE": b"pie3DChart", "SURFACE": b"surface3DChart"}
    plain = b"pieChart" if drawn == XL_CHART_TYPE.PIE else b"barChart"
    file = change_main(buffer.getvalue(), plain, names.get(kind, plain))
    assert "[chart]\n- Sales: Q1 1.5, Q2 2" in read(tmp_path, file, "show.pptx")


def test_a_document_of_pictures_says_that_its_pages_can_be_shown(tmp_path):
    buffer, document = io.BytesIO(), docx.Document()
    for _ in range(3):
        document.add_picture(io.BytesIO(png()))
    document.save(buffer)
    with pytest.raises(BadFile, match="has only pictures and no words: save it as PDF, so that its pages can be shown"):
        read(tmp_path, buffer.getvalue(), "photos.docx")


@pytest.mark.parametrize("tag", [NOTE, PICTURE], ids=["a note", "a picture"])
def test_a_document_that_refers_to_missing_parts_keeps_its_words(tmp_path, tag):
    names = {
        "w": "http://schemas.openxmlformats.org/wordprocessingml/2006/main",
        "a": "http://schemas.openxmlformats.org/drawingml/2006/main",
        "wp": "http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing",
        "pic": "http://schemas.openxmlformats.org/drawingml/2006/picture",
        "r": "http://schemas.openxmlformats.org/officeDocument/2006/relationships",
    }
    declared = "".join(f' xmlns:{name}="{uri}"' for name, uri in names.items())
    data = change_main(
        build("docx"), b"<w:t>Rent</w:t>", f"<w:t>Rent</w:t>{tag.replace('>', f'{declared}>', 1)}".encode()
    )
    assert "Rent" in read(tmp_path, data, "lease.docx")
