"""PDFs as images of their pages or as text: the requested pages, time limits, and bombs rejected by name."""

import functools
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from showandtell.core.messages.conversion import MAX_CHARACTERS, Conversion, serialize_conversion
from showandtell.errors import BadFile
from showandtell.media import gate
from showandtell.media.convert import shapes
from showandtell.media.convert.plain import MAX_EMPTY_PAGES
from support import fixtures
from support.decompression_bombs import packed_zeros
from support.properties import examples

PDF = "application/pdf"
PNG = ("image/png",)
CATALOGUE = b"<< /Type /Catalog /Pages 2 0 R >>"
PAGE = b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 300 200] /Contents 4 0 R >>"


@functools.cache
def forty() -> bytes:
    """A PDF of 40 pages; page n has the word "pagen" in it."""
    return fixtures.pdf(*[f"page{number}" for number in range(1, 41)])


def stream(data: bytes, header: bytes = b"") -> bytes:
    return b"<< /Length %d %s >>\nstream\n%s\nendstream" % (len(data), header, data)


def drawn(contents: bytes, *more: bytes, page: bytes = PAGE, catalogue: bytes = CATALOGUE) -> bytes:
    """A PDF of one page that is 300 x 200 points large, with these operators."""
    return fixtures.pdf_file([catalogue, b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>", page, stream(contents), *more])


def make(folder: Path, data: bytes, conversion: Conversion) -> gate.ConversionOutput:
    path = folder / "given.pdf"
    path.write_bytes(data)
    output = folder / f"made-{len(list(folder.iterdir()))}"
    output.mkdir()
    return gate.make(path, PDF, serialize_conversion(conversion), output)


def look(path: Path) -> Image.Image:
    with Image.open(path) as image:
        image.load()
        return image


def test_the_first_five_of_forty_pages_are_shown(tmp_path):
    output = make(tmp_path, forty(), Conversion("pages", PNG, max_count=5, side=1568))
    assert (output.pages, output.total, output.scale) == ((1, 2, 3, 4, 5), 40, 1.0)
    assert {max(look(file).size) for file in output.files} == {1568}


def test_later_pages_can_be_requested(tmp_path):
    assert make(tmp_path, forty(), Conversion("pages", PNG, first_page=39, side=64)).pages == (39, 40)
    assert make(tmp_path, forty(), Conversion("pages", PNG, pages=(7, 6, 7, 99), side=64)).pages == (7, 6)
    with pytest.raises(BadFile, match="has 40 pages: there is no page 41"):
        make(tmp_path, forty(), Conversion("pages", PNG, pages=(41,)))


@given(st.integers(1, 60), st.integers(1, 70), st.integers(1, 40), st.integers(1, 32))
def test_chosen_pages_exist_and_are_consecutive(total, first, max_count, maximum):
    conversion = Conversion("pages", first_page=first, max_count=max_count)
    if first > total:
        with pytest.raises(BadFile, match="there is no page"):
            shapes.choose_pages(total, conversion, 5, maximum)
    else:
        chosen = shapes.choose_pages(total, conversion, 5, maximum)
        assert chosen == list(range(first, first + len(chosen)))
        assert len(chosen) == min(max_count, maximum, total - first + 1)


@examples(20)
@given(st.integers(1, 3000), st.integers(1, 3000), st.integers(1, 700), st.integers(40, 500_000))
def test_a_page_of_any_shape_is_not_larger_than_requested(tmp_path_factory, width, height, side, pixels):
    page = b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 %d %d] /Contents 4 0 R >>" % (width, height)
    output = make(
        tmp_path_factory.mktemp("page"), drawn(b"", page=page), Conversion("pages", PNG, side=side, pixels=pixels)
    )
    size = look(output.files[0]).size
    assert max(size) <= side
    assert size[0] * size[1] <= pixels or 1 in size


def test_a_crop_of_a_page_is_drawn_again_and_larger(tmp_path):
    data = drawn(b"0 0 1 rg 30 140 30 30 re f")
    full = look(make(tmp_path, data, Conversion("pages", PNG, side=300)).files[0])
    output = make(tmp_path, data, Conversion("pages", PNG, side=300, crop=(20, 20, 80, 60)))
    part = look(output.files[0]).convert("RGB")
    assert (part.size, output.scale) == ((300, 200), 5.0)
    assert [part.getpixel(at) for at in ((25, 100), (100, 100), (225, 100))] == [
        (255, 255, 255),
        (0, 0, 255),
        (255,) * 3,
    ]
    assert full.convert("RGB").getpixel((45, 45)) == (0, 0, 255)


def test_text_on_paper_becomes_a_small_grey_png(tmp_path):
    output = make(tmp_path, forty(), Conversion("pages", ("image/jpeg", "image/png"), pages=(1,)))
    assert (look(output.files[0]).format, look(output.files[0]).mode) == ("PNG", "L")
    assert output.files[0].stat().st_size < 20_000


def test_form_fields_are_part_of_the_page(tmp_path):
    field = b"<< /Type /Annot /Subtype /Widget /FT /Tx /T (a) /F 4 /Rect [50 50 250 150] /P 3 0 R /AP << /N 6 0 R >> >>"
    look_of_it = stream(b"1 0 0 rg 0 0 200 100 re f", b"/Type /XObject /Subtype /Form /BBox [0 0 200 100]")
    page = PAGE.removesuffix(b">>") + b"/Annots [5 0 R] >>"
    catalogue = CATALOGUE.removesuffix(b">>") + b"/AcroForm << /Fields [5 0 R] >> >>"
    data = drawn(b"", field, look_of_it, page=page, catalogue=catalogue)
    output = make(tmp_path, data, Conversion("pages", PNG, side=300))
    assert look(output.files[0]).convert("RGB").getpixel((150, 100)) == (255, 0, 0)


def test_the_text_of_all_pages_is_given_page_by_page(tmp_path):
    output = make(tmp_path, fixtures.pdf("Hello", "", "Grüße"), Conversion("text"))
    assert output.text == "[page 1]\nHello\n\n[page 3]\nGrüße\n"
    assert (output.pages, output.total, output.cut, output.files) == ((1, 3), 3, False, ())


def test_text_beyond_the_limit_is_cut_and_reported(tmp_path):
    page = "\n".join(["forty letters of nothing but some letters"] * 12)
    output = make(tmp_path, fixtures.pdf(*[page] * 500), Conversion("text"))
    assert len(output.text) <= MAX_CHARACTERS
    assert output.cut
    assert output.pages[-1] < output.total == 500


def test_a_scan_has_no_text(tmp_path):
    with pytest.raises(BadFile, match="has no text layer"):
        make(tmp_path, fixtures.pdf("", ""), Conversion("text"))


def test_a_thousand_pages_without_text_end_the_reading(tmp_path):
    output = make(
        tmp_path,
        fixtures.pdf("first", *[""] * (MAX_EMPTY_PAGES - 1), "second", *[""] * MAX_EMPTY_PAGES, "x"),
        Conversion("text"),
    )
    assert (output.pages, output.cut, output.total) == ((1, MAX_EMPTY_PAGES + 1), True, 2 * MAX_EMPTY_PAGES + 2)


def test_pages_without_end_cost_little(tmp_path, monkeypatch):
    monkeypatch.setitem(gate.CONVERT_SECONDS, "text", 5.0)  # all of them take 10 s
    with pytest.raises(BadFile, match="has no text layer"):
        make(tmp_path, fixtures.blank_pdf(200_000), Conversion("text"))


def test_a_damaged_page_is_skipped(tmp_path):
    kids = b"<< /Type /Pages /Kids [3 0 R 99 0 R 3 0 R] /Count 3 >>"
    output = make(tmp_path, fixtures.pdf_file([CATALOGUE, kids, PAGE, stream(b"")]), Conversion("pages", PNG, side=64))
    assert (output.pages, output.total) == ((1, 3), 3)


def test_two_hundred_thousand_pages_are_as_fast_as_five(tmp_path):
    kids = b"<< /Type /Pages /Kids [%s] /Count 200000 >>" % (b"3 0 R " * 200_000)
    data = fixtures.pdf_file([CATALOGUE, kids, PAGE, stream(b"")])
    output = make(tmp_path, data, Conversion("pages", PNG, side=64))
    assert (output.pages, output.total) == ((1, 2, 3, 4, 5), 200_000)


def inflating() -> bytes:
    """A PDF whose page would inflate to 1 GiB."""
    contents = stream(packed_zeros(1024), b"/Filter /FlateDecode")
    return fixtures.pdf_file([CATALOGUE, b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>", PAGE, contents])


def deep() -> bytes:
    """A page below 20,000 nodes of the page tree."""
    nodes = [b"<< /Type /Pages /Kids [%d 0 R] /Count 1 >>" % (at + 3) for at in range(20_000)]
    return fixtures.pdf_file([CATALOGUE, *nodes, PAGE])


@pytest.mark.parametrize("build", [inflating, deep, fixtures.locked_pdf, lambda: b"%PDF-1.7\n" + bytes(200)])
@pytest.mark.parametrize(
    "conversion", [Conversion("pages", PNG), Conversion("text")], ids=lambda conversion: conversion.name
)
def test_a_bomb_is_rejected_by_name(tmp_path, build, conversion):
    with pytest.raises(BadFile, match=r"given\.pdf (stopped|has pages|has no text|is locked|can't be opened)"):
        make(tmp_path, build(), conversion)


@examples(40)
@given(st.integers(0, 2000), st.binary(min_size=1, max_size=8))
def test_a_damaged_file_gives_pages_or_an_error(tmp_path_factory, at, damage):
    data = fixtures.pdf("one", "two")
    at %= len(data)
    try:
        output = make(
            tmp_path_factory.mktemp("torn"),
            data[:at] + damage + data[at + len(damage) :],
            Conversion("pages", PNG, side=99),
        )
    except BadFile as error:
        output = error
    assert getattr(output, "pages", None) or output.problem


def test_html_becomes_text_and_other_text_is_unchanged(tmp_path):
    page, rows = tmp_path / "a.html", tmp_path / "a.csv"
    page.write_text("<html><script>let hidden = 1</script><p>Some <b>words</b></p></html>")
    rows.write_bytes(b"\xef\xbb\xbfa,b\r\n1,2\r\n")
    assert "words" in gate.make(page, "text/html", "text", tmp_path).text
    assert gate.make(rows, "text/csv", "text", tmp_path) == gate.ConversionOutput(text="a,b\n1,2\n")


@pytest.mark.parametrize(("length", "cut"), [(MAX_CHARACTERS, False), (MAX_CHARACTERS + 1, True)])
def test_long_text_is_cut_and_reported(tmp_path, length, cut):
    path = tmp_path / "a.txt"
    path.write_text("é" * length)
    output = gate.make(path, "text/plain", "text", tmp_path)
    assert (len(output.text), output.cut) == (MAX_CHARACTERS, cut)
