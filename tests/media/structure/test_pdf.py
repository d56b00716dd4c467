"""Pages are counted by the structure of a PDF that is written as usual; other PDFs are left to the decoder."""

import re
import sys
import zlib

import pytest

from showandtell.errors import BadFile
from showandtell.media import gate, structure
from showandtell.media.structure import pdf
from support import fixtures

WORDS = ["a page", "another", "the last"]


def measure(folder, data):
    path = folder / "a.pdf"
    path.write_bytes(data)
    return structure.measure(path, "application/pdf")


def stream(head: bytes, data: bytes) -> bytes:
    return b"<< %s /Filter /FlateDecode /Length %d >>\nstream\n%s\nendstream" % (head, len(data), data)


def modern(count: int = 3, index: bytes = b"") -> bytes:
    """A PDF whose catalog and pages are in a stream of objects, and whose references are a predicted stream."""
    texts = [b"<< /Type /Catalog /Pages 2 0 R >>", b"<< /Type /Pages /Kids [3 0 R] /Count %d >>" % count]
    texts.append(b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] >>")
    starts = [sum(len(text) + 1 for text in texts[:at]) for at in range(3)]
    index = index or b" ".join(b"%d %d" % (at + 1, start) for at, start in enumerate(starts)) + b" "
    packed = stream(b"/Type /ObjStm /N 3 /First %d" % len(index), zlib.compress(index + b" ".join(texts)))
    body = b"%PDF-1.5\n4 0 obj\n" + packed + b"\nendobj\n"
    rows = [
        b"\0\0\0\0",
        *(bytes([2, 0, 4, at]) for at in range(3)),
        b"\1\0\x09\0",
        b"\1" + len(body).to_bytes(2, "big") + b"\0",
    ]
    above = [bytes(4), *rows[:-1]]
    pairs = [zip(*pair, strict=True) for pair in zip(rows, above, strict=True)]
    predicted = b"".join(b"\2" + bytes((new - old) & 255 for new, old in pair) for pair in pairs)
    head = b"/Type /XRef /Size 6 /W [1 2 1] /Root 1 0 R /DecodeParms << /Predictor 12 /Columns 4 >>"
    references = b"5 0 obj\n" + stream(head, zlib.compress(predicted)) + b"\nendobj\n"
    return body + references + b"startxref\n%d\n%%%%EOF\n" % len(body)


def updated() -> bytes:
    """Two versions in one file: the second one has a page more."""
    first = fixtures.pdf("a page", "another")
    start = int(re.findall(rb"startxref\n(\d+)", first)[-1])
    pages = b"2 0 obj\n<< /Type /Pages /Kids [4 0 R 4 0 R 4 0 R] /Count 3 >>\nendobj\n"
    table = b"xref\n2 1\n%010d 00000 n \n" % len(first)
    end = b"trailer\n<< /Size 9 /Root 1 0 R /Prev %d >>\nstartxref\n%d\n%%%%EOF\n" % (start, len(first + pages))
    return first + pages + table + end


@pytest.mark.parametrize("build", [lambda: fixtures.pdf(*WORDS), modern, updated], ids=["table", "stream", "update"])
def test_pages_are_counted_without_a_decoder(tmp_path, monkeypatch, build):
    monkeypatch.setattr(gate, "MEDIA", gate.WorkerPool((sys.executable, "-c", "raise SystemExit"), 1))
    (tmp_path / "a.pdf").write_bytes(build())
    assert gate.probe(tmp_path / "a.pdf", claimed=None, name="a.pdf") == gate.ProbeResult("application/pdf", pages=3)


def test_references_that_lead_elsewhere_are_left_to_the_decoder(tmp_path):
    whole = fixtures.pdf(*WORDS)
    assert measure(tmp_path, whole).pages == 3
    assert measure(tmp_path, whole.replace(b"1 0 obj", b"1 0 obj\n% longer now", 1)) is None
    assert measure(tmp_path, modern().replace(b"%PDF-1.5\n", b"%PDF-1.5\n\n\n")) is None


@pytest.mark.parametrize("words", [b"/Encrypt 9 0 R", b"/XRefStm 9", b"{}"])
def test_a_trailer_with_something_unusual_is_left_to_the_decoder(tmp_path, words):
    assert measure(tmp_path, fixtures.pdf("a").replace(b"/Size", words + b" /Size", 1)) is None


def test_more_references_than_documents_have_are_left_to_the_decoder(tmp_path, monkeypatch):
    monkeypatch.setattr(pdf, "MAX_OBJECTS", 5)
    assert measure(tmp_path, fixtures.pdf(*WORDS)) is None
    assert measure(tmp_path, modern()) is None


@pytest.mark.parametrize("index", [b"1 a 2 b ", b"1 " + b"9" * 5000 + b" 2 9 ", b"1 0 "])
def test_a_stream_of_objects_without_their_places_is_left_to_the_decoder(tmp_path, index):
    assert measure(tmp_path, modern(index=index)) is None


def test_a_tree_of_pages_without_pages_is_left_to_the_decoder(tmp_path):
    assert measure(tmp_path, modern(0)) is None
    assert measure(tmp_path, fixtures.pdf()) is None


@pytest.mark.parametrize("share", [0.3, 0.6, 0.95])
def test_a_pdf_without_its_end_is_refused(tmp_path, share):
    whole = fixtures.pdf(*WORDS)
    assert measure(tmp_path, whole + bytes(100_000)).pages == 3
    with pytest.raises(BadFile, match="can't be opened: it begins as a PDF but its end is missing"):
        measure(tmp_path, whole[: round(len(whole) * share)])


def test_an_update_of_a_pdf_that_breaks_off_is_refused(tmp_path):
    data = fixtures.pdf("one page") + b"9 0 obj\n<< /Length 900 >>\nstream\n"
    with pytest.raises(BadFile, match="its end is missing"):
        measure(tmp_path, data)
