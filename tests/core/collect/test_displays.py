"""Objects that show themselves in notebooks are pictures, or words and HTML for the user."""

import pybase64
import pytest
from hypothesis import given
from hypothesis import strategies as st

from showandtell.core.collect.entry import collect
from showandtell.core.collect.html_words import MAX_WORDS, words_of
from showandtell.core.collect.libraries import recognize
from showandtell.core.messages.file import File
from showandtell.core.messages.parts import Json, Text
from showandtell.errors import BadValue
from support.fixtures import png

PNG = png()
SVG = '<svg xmlns="http://www.w3.org/2000/svg" width="8" height="8"/>'
PAGE = "<h1>Rain</h1><script>alert('no')</script><p onclick='x()'>1 &lt; <b>2</b></p>"


def show(**methods):
    """An object whose display methods return these values, or raise them."""

    def give(value):
        def method(_):
            if isinstance(value, Exception):
                raise value
            return value

        return method

    return type("Chart", (), {f"_repr_{name}_": give(value) for name, value in methods.items()})()


@pytest.mark.parametrize("content", [PNG, bytearray(PNG), pybase64.b64encode(PNG).decode(), (PNG, {"width": 8})])
def test_a_png_is_a_file(content):
    assert collect(show(png=content)) == (File(PNG, "image/png"),)


def test_png_is_preferred_then_jpeg_then_svg_then_html():
    assert collect(show(html=PAGE, svg=SVG, jpeg=b"jpeg", png=PNG)) == (File(PNG, "image/png"),)
    assert collect(show(html=PAGE, svg=SVG, jpeg=b"jpeg")) == (File(b"jpeg", "image/jpeg"),)
    assert collect(show(html=PAGE, svg=SVG)) == (File(SVG.encode(), "image/svg+xml"),)


def test_html_is_words_for_the_model_and_a_file_for_the_user():
    assert collect(show(html=PAGE)) == (
        Text("Rain\n1 < 2"),
        File(PAGE.encode(), "text/html", "Chart.html", audience="user"),
    )


@pytest.mark.parametrize("failed", [ValueError("no"), None, b"", "", "not base64!", 3, object(), ()])
def test_a_method_that_raises_or_gives_nothing_leaves_it_to_the_next(failed):
    assert collect({"chart": show(png=failed, svg=(SVG, {}))})[0].files[0][1].media_type == "image/svg+xml"


def test_a_method_that_raises_is_logged(caplog):
    with pytest.raises(BadValue, match="has no JSON"):
        collect(show(png=ValueError("no fonts")))
    assert "_repr_png_ of Chart raised" in caplog.text
    assert "no fonts" in caplog.text


def test_an_object_with_fields_is_json_if_it_shows_nothing():
    class Row(dict):
        def _repr_html_(self):
            return None

    assert collect(Row(a=1)) == (Json('{"a":1}'),)


class Proxy:
    """Answers to any attribute."""

    def __getattr__(self, name):
        return lambda: b"anything"


def test_attributes_that_a_class_doesn_t_have_are_not_called():
    assert recognize(Proxy()) is None


def test_words_of_a_table_are_rows():
    table = "<table>\n<tr><th>a</th>\n<th>b</th></tr>\n<tr><td>1</td><td>2 &amp; 3</td></tr></table>"
    assert words_of(table) == "a | b\n1 | 2 & 3"


def test_scripts_styles_and_comments_have_no_words():
    hidden = "<style>p{}</style><!-- a --><svg><text>b</text></svg><script>c</script >"
    assert words_of(f"<!doctype html>{hidden}<p>d<script>never closed") == "d"


def test_long_html_is_cut():
    assert words_of("<p>word</p>" * 10_000).endswith("word\n… (cut here)")
    assert len(words_of("x" * 10**6)) < MAX_WORDS + 50


@given(st.text("<>/!-& ;\"'=scriptabdx\n|", max_size=300))
def test_any_markup_has_words_without_tags_that_run(text):
    assert "<script>" not in words_of(text + "<script>")


@pytest.mark.parametrize("piece", ["<!--", "<script", "<a ", "<script></script", "<a href='", "> ", "&", "</td>"])
def test_long_broken_markup_has_words_in_time(piece):
    assert len(words_of(piece * 100_000)) < MAX_WORDS + 50
