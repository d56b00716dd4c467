"""Office files and pages of shapes that take long: each is cut, says so, and takes bounded time."""

import io
import time
import zipfile

import pytest

from showandtell.core.messages.conversion import Conversion
from showandtell.media.convert import office

DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument"
PACKAGE = "http://schemas.openxmlformats.org/package/2006"
#: Seconds of processor time for one file.
SECONDS = 8.0


def written(body):
    types = f'<Types xmlns="{PACKAGE}/content-types"><Default Extension="xml" ContentType="application/xml"/></Types>'
    relation = f'<Relationship Id="r1" Type="{OFFICE}" Target="word/document.xml"/>'
    parts = {
        "[Content_Types].xml": types,
        "_rels/.rels": f'<Relationships xmlns="{PACKAGE}/relationships">{relation}</Relationships>',
        "word/document.xml": f"<w:document {W}><w:body>{body}</w:body></w:document>",
    }
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, data in parts.items():
            packed.writestr(name, data)
    return buffer.getvalue()


RUN = "<w:r><w:t>word </w:t></w:r>"
BOLD = "<w:r><w:rPr><w:b/></w:rPr><w:t>word </w:t></w:r>"
SHAPES = {
    "paragraphs": (lambda: written(f"<w:p>{RUN}</w:p>" * 60_000), DOCX),
    "runs": (lambda: written(f"<w:p>{RUN * 90_000}</w:p>"), DOCX),
    "bold paragraphs": (lambda: written(f"<w:p>{BOLD}</w:p>" * 60_000), DOCX),
    "rows": (lambda: written(f"<w:tbl>{f'<w:tr><w:tc><w:p>{RUN}</w:p></w:tc></w:tr>' * 40_000}</w:tbl>"), DOCX),
    "cells": (lambda: written(f"<w:tbl><w:tr>{f'<w:tc><w:p>{RUN}</w:p></w:tc>' * 40_000}</w:tr></w:tbl>"), DOCX),
    "quotes": (lambda: b"<p>start" + b"<blockquote>" * 50 + b"<p>a" * 100_000, "text/html"),
    "tags": (lambda: b"<p>start" + b"<b>a</b>" * 120_000, "text/html"),
    "rows of a page": (lambda: b"<table>" + b"<tr><td>a" * 90_000, "text/html"),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_a_file_that_takes_long_is_cut_and_says_so(tmp_path, shape):
    build, media_type = SHAPES[shape]
    data = build()
    (tmp_path / "file").write_bytes(data)
    started = time.process_time()
    output = office.make_text(str(tmp_path / "file"), media_type, Conversion("text"), str(tmp_path))
    seconds = time.process_time() - started
    print(f"{shape}: {len(data) // 1000} kB, {len(output['text'])} characters in {seconds:.1f} s")  # noqa: T201
    assert output["cut"]
    assert seconds < SECONDS
