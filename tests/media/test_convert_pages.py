"""PDFs as pictures of their pages, or as words: the pages that were asked for, within time, and bombs by name."""

import functools
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from showandtell.core.messages.conversion import MOST_CHARACTERS, Conversion, spell
from showandtell.errors import BadFile
from showandtell.media import gate
from showandtell.media.convert import shapes
from support import fixtures
from support.bombs import packed_zeros
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


def make(folder: Path, data: bytes, recipe: Conversion) -> gate.Made:
    path = folder / "given.pdf"
    path.write_bytes(data)
    made = folder / f"made-{len(list(folder.iterdir()))}"
    made.mkdir()
    return gate.make(path, PDF, spell(recipe), made)


def look(path: Path) -> Image.Image:
    with Image.open(path) as image:
        image.load()
        return image


def test_the_first_five_of_forty_pages_are_shown(tmp_path):
    made = make(tmp_path, forty(), Conversion("pages", PNG, most=5, side=1568))
    assert (made.pages, made.total, made.scale) == ((1, 2, 3, 4, 5), 40, 1.0)
    assert {max(look(file).size) for file in made.files} == {1568}


def test_later_pages_are_shown_where_they_are_asked_for(tmp_path):
    assert make(tmp_path, forty(), Conversion("pages", PNG, first=39, side=64)).pages == (39, 40)
    assert make(tmp_path, forty(), Conversion("pages", PNG, only=(7, 6, 7, 99), side=64)).pages == (7, 6)
    with pytest.raises(BadFile, match="has 40 pages: there is no page 41"):
        make(tmp_path, forty(), Conversion("pages", PNG, only=(41,)))


@given(st.integers(1, 60), st.integers(1, 70), st.integers(1, 40), st.integers(1, 32))
def test_pages_are_there_and_in_a_row(total, first, most, ceiling):
    recipe = Conversion("pages", first=first, most=most)
    if first > total:
        with pytest.raises(BadFile, match="there is no page"):
            shapes.choose_pages(total, recipe, 5, ceiling)
    else:
        chosen = shapes.choose_pages(total, recipe, 5, ceiling)
        assert chosen == list(range(first, first + len(chosen)))
        assert len(chosen) == min(most, ceiling, total - first + 1)


@examples(20)
@given(st.integers(1, 3000), st.integers(1, 3000), st.integers(1, 700), st.integers(40, 500_000))
def test_a_page_of_any_shape_is_no_larger_than_asked_for(tmp_path_factory, width, height, side, pixels):
    page = b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 %d %d] /Contents 4 0 R >>" % (width, height)
    made = make(
        tmp_path_factory.mktemp("page"), drawn(b"", page=page), Conversion("pages", PNG, side=side, pixels=pixels)
    )
    size = look(made.files[0]).size
    assert max(size) <= side
    assert size[0] * size[1] <= pixels or 1 in size


def test_a_part_of_a_page_is_drawn_anew_and_larger(tmp_path):
    data = drawn(b"0 0 1 rg 30 140 30 30 re f")
    whole = look(make(tmp_path, data, Conversion("pages", PNG, side=300)).files[0])
    made = make(tmp_path, data, Conversion("pages", PNG, side=300, crop=(20, 20, 80, 60)))
    part = look(made.files[0]).convert("RGB")
    assert (part.size, made.scale) == ((300, 200), 5.0)
    assert [part.getpixel(at) for at in ((25, 100), (100, 100), (225, 100))] == [
        (255, 255, 255),
        (0, 0, 255),
        (255,) * 3,
    ]
    assert whole.convert("RGB").getpixel((45, 45)) == (0, 0, 255)


def test_text_on_paper_becomes_a_small_grey_png(tmp_path):
    made = make(tmp_path, forty(), Conversion("pages", ("image/jpeg", "image/png"), only=(1,)))
    assert (look(made.files[0]).format, look(made.files[0]).mode) == ("PNG", "L")
    assert made.files[0].stat().st_size < 20_000


def test_what_was_filled_in_is_part_of_the_page(tmp_path):
    field = b"<< /Type /Annot /Subtype /Widget /FT /Tx /T (a) /F 4 /Rect [50 50 250 150] /P 3 0 R /AP << /N 6 0 R >> >>"
    look_of_it = stream(b"1 0 0 rg 0 0 200 100 re f", b"/Type /XObject /Subtype /Form /BBox [0 0 200 100]")
    page = PAGE.removesuffix(b">>") + b"/Annots [5 0 R] >>"
    catalogue = CATALOGUE.removesuffix(b">>") + b"/AcroForm << /Fields [5 0 R] >> >>"
    data = drawn(b"", field, look_of_it, page=page, catalogue=catalogue)
    made = make(tmp_path, data, Conversion("pages", PNG, side=300))
    assert look(made.files[0]).convert("RGB").getpixel((150, 100)) == (255, 0, 0)


def test_the_words_of_all_pages_are_given_page_by_page(tmp_path):
    made = make(tmp_path, fixtures.pdf("Hello", "", "Grüße"), Conversion("text"))
    assert made.text == "[page 1]\nHello\n\n[page 3]\nGrüße\n"
    assert (made.pages, made.total, made.cut, made.files) == ((1, 3), 3, False, ())


def test_words_beyond_the_limit_are_cut_and_that_is_told(tmp_path):
    page = "\n".join(["forty letters of nothing but some letters"] * 12)
    made = make(tmp_path, fixtures.pdf(*[page] * 500), Conversion("text"))
    assert len(made.text) <= MOST_CHARACTERS
    assert made.cut
    assert made.pages[-1] < made.total == 500


def test_a_scan_has_no_words(tmp_path):
    with pytest.raises(BadFile, match="has no text layer"):
        make(tmp_path, fixtures.pdf("", ""), Conversion("text"))


def test_one_damaged_page_costs_itself_alone(tmp_path):
    kids = b"<< /Type /Pages /Kids [3 0 R 99 0 R 3 0 R] /Count 3 >>"
    made = make(tmp_path, fixtures.pdf_file([CATALOGUE, kids, PAGE, stream(b"")]), Conversion("pages", PNG, side=64))
    assert (made.pages, made.total) == ((1, 3), 3)


def test_two_hundred_thousand_pages_cost_no_more_than_five(tmp_path):
    kids = b"<< /Type /Pages /Kids [%s] /Count 200000 >>" % (b"3 0 R " * 200_000)
    data = fixtures.pdf_file([CATALOGUE, kids, PAGE, stream(b"")])
    made = make(tmp_path, data, Conversion("pages", PNG, side=64))
    assert (made.pages, made.total) == ((1, 2, 3, 4, 5), 200_000)


def inflating() -> bytes:
    """A PDF whose page would inflate to 1 GiB."""
    contents = stream(packed_zeros(1024), b"/Filter /FlateDecode")
    return fixtures.pdf_file([CATALOGUE, b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>", PAGE, contents])


def deep() -> bytes:
    """A page below 20,000 nodes of the page tree."""
    nodes = [b"<< /Type /Pages /Kids [%d 0 R] /Count 1 >>" % (at + 3) for at in range(20_000)]
    return fixtures.pdf_file([CATALOGUE, *nodes, PAGE])


@pytest.mark.parametrize("build", [inflating, deep, fixtures.locked_pdf, lambda: b"%PDF-1.7\n" + bytes(200)])
@pytest.mark.parametrize("recipe", [Conversion("pages", PNG), Conversion("text")], ids=lambda recipe: recipe.name)
def test_a_bomb_is_refused_by_name(tmp_path, build, recipe):
    with pytest.raises(BadFile, match=r"given\.pdf (stopped|has pages|has no text|is locked|can't be opened)"):
        make(tmp_path, build(), recipe)


@examples(40)
@given(st.integers(0, 2000), st.binary(min_size=1, max_size=8))
def test_damage_anywhere_ends_in_pages_or_a_refusal(tmp_path_factory, at, damage):
    data = fixtures.pdf("one", "two")
    at %= len(data)
    try:
        made = make(
            tmp_path_factory.mktemp("torn"),
            data[:at] + damage + data[at + len(damage) :],
            Conversion("pages", PNG, side=99),
        )
    except BadFile as error:
        made = error
    assert getattr(made, "pages", None) or made.problem


def test_html_is_words_and_other_text_is_itself(tmp_path):
    page, rows = tmp_path / "a.html", tmp_path / "a.csv"
    page.write_text("<html><script>let hidden = 1</script><p>Some <b>words</b></p></html>")
    rows.write_bytes(b"\xef\xbb\xbfa,b\r\n1,2\r\n")
    assert "words" in gate.make(page, "text/html", "text", tmp_path).text
    assert gate.make(rows, "text/csv", "text", tmp_path) == gate.Made(text="a,b\n1,2\n")


@pytest.mark.parametrize(("length", "cut"), [(MOST_CHARACTERS, False), (MOST_CHARACTERS + 1, True)])
def test_long_text_is_cut_and_that_is_told(tmp_path, length, cut):
    path = tmp_path / "a.txt"
    path.write_text("é" * length)
    made = gate.make(path, "text/plain", "text", tmp_path)
    assert (len(made.text), made.cut) == (MOST_CHARACTERS, cut)
