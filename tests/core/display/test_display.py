"""Blocks as HTML and as lines: escaped and bounded, whatever the texts are."""

import base64
import re
from html.parser import HTMLParser
from io import StringIO

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from showandtell.core.display.displayed import Displayed, to_lines
from showandtell.core.display.html import to_html
from showandtell.core.display.layout import (
    MAX_BLOCKS,
    MAX_PICTURE_BYTES,
    MAX_PICTURES,
    MAX_ROWS,
    MAX_TEXT,
    MAX_TOTAL,
    MAX_TOTAL_BYTES,
    Picture,
    Rows,
    Words,
)
from showandtell.core.display.words import one_line

EVIL = """<script>alert(1)</script><img src=x onerror=alert(1)>"'> [red]x[/red] $\\href{javascript:alert(1)}{x}$ \x1b[31m"""
TAGS = {"div", "b", "pre", "figure", "img", "figcaption", "details", "summary", "ul", "li"}
TEXTS = st.text() | st.just(EVIL)
BLOCKS = st.lists(
    st.builds(Words, TEXTS, TEXTS)
    | st.builds(Picture, TEXTS, st.tuples(TEXTS | st.just("image/png"), st.binary()).map(lambda loaded: lambda: loaded))
    | st.builds(Rows, TEXTS, st.lists(TEXTS, max_size=3).map(tuple)),
    max_size=6,
)


class Tags(HTMLParser):
    """Collects the tags and attributes of a document."""

    def __init__(self, html):
        super().__init__()
        self.tags, self.attributes = [], []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs


class Shown(Displayed):
    def __init__(self, *blocks):
        self.blocks = blocks

    def _blocks(self):
        return self.blocks


def drawn(data=b"x", media_type="image/png"):
    return Picture("image 1", lambda: (media_type, data))


@given(BLOCKS)
def test_html_has_no_other_tags_and_no_address_but_data(blocks):
    found = Tags(to_html(blocks))
    assert set(found.tags) <= TAGS
    assert {name for name, _ in found.attributes} <= {"class", "style", "src", "alt"}
    assert all(
        re.fullmatch(r"data:image/\w+;base64,[\w+/=]+", value) for name, value in found.attributes if name == "src"
    )


@pytest.mark.parametrize("block", [Words(EVIL, EVIL), Rows(EVIL, (EVIL,)), Picture(EVIL, lambda: ("image/png", b"x"))])
def test_texts_are_escaped_everywhere(block):
    html = to_html([block])
    assert "&lt;script&gt;" in html
    assert "<script" not in html
    assert "\x1b" not in html


@pytest.mark.parametrize("media_type", ["image/svg+xml", "text/html", "", 'image/png" onload="x'])
def test_only_plain_images_are_shown(media_type):
    assert "<img" not in to_html([drawn(media_type=media_type)])


def test_a_picture_is_a_data_uri_with_its_caption():
    assert f'src="data:image/png;base64,{base64.b64encode(b"x").decode()}" alt="image 1"' in to_html([drawn()])


def test_pictures_are_limited_in_number_and_bytes_and_keep_their_captions():
    html = to_html([drawn()] * (MAX_PICTURES + 3))
    assert (html.count("<img"), html.count("<figcaption>image 1")) == (MAX_PICTURES, MAX_PICTURES + 3)
    assert to_html([drawn(bytes(MAX_PICTURE_BYTES + 1))]).count("<img") == 0
    many = to_html([drawn(bytes(MAX_PICTURE_BYTES))] * MAX_PICTURES)
    assert many.count("<img") == MAX_TOTAL_BYTES // MAX_PICTURE_BYTES


def test_pictures_are_not_loaded_for_a_terminal_or_beyond_the_limit():
    loaded = []
    pictures = [Picture(str(at), lambda at=at: loaded.append(at) or ("image/png", b"x")) for at in range(20)]
    assert [*to_lines(pictures)][:1] == [("cyan", "[0]")]
    assert loaded == []
    to_html(pictures)
    assert loaded == list(range(MAX_PICTURES))


@pytest.mark.parametrize(
    "blocks",
    [[Words("a", "x" * 10**6)], [Words("a", "x" * 5000)] * 10**4, [Rows("a", ("x" * 10**5,) * 10**4)] * 9],
)
def test_the_output_is_bounded_and_says_so(blocks):
    html = to_html(blocks)
    assert len(html) <= 3 * MAX_TOTAL + MAX_ROWS * 1000
    assert "more" in html or "not shown" in html


def test_many_blocks_are_cut():
    assert [*to_lines([Words("a")] * 10**4)][-1] == ("", "the rest is not shown")
    assert len([*to_lines([Words("a")] * 10**4)]) == MAX_BLOCKS + 2


def test_a_notebook_gets_html_and_text():
    bundle = Shown(Words("model", "hi"), drawn(), Rows("What the model saw", ("image 1 shown",)))._repr_mimebundle_()
    assert bundle["text/plain"] == "model\nhi\n[image 1]\nWhat the model saw:\n  image 1 shown"
    assert bundle["text/html"].startswith('<div class="showandtell')


def test_rich_prints_texts_without_markup_or_control_characters():
    out = StringIO()
    Console(file=out, width=500, force_terminal=False).print(Shown(Words("[bold]model[/bold]", EVIL)))
    assert out.getvalue().startswith("[bold]model[/bold]\n<script>")
    assert "[red]x[/red]" in out.getvalue()
    assert "\x1b" not in out.getvalue()


def test_a_long_text_is_cut_with_its_length():
    assert f"{'x' * MAX_TEXT}… (1,000 more characters)" in to_html([Words("a", "x" * (MAX_TEXT + 1000))])


def test_a_line_of_a_long_text_is_made_of_its_start():
    assert one_line("a\x1b\n b" * 100_000, 7) == "a ba ba …"
    assert one_line(f"{' ' * 100_000}b", 7) == "…"
    assert one_line("a b", 3) == "a b"
