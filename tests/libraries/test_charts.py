# A union, or JSON whose types the test knows.
# pyright: reportGeneralTypeIssues=false
"""Charts are pictures if a renderer is installed, else words; the log says what is missing."""

import logging
import math
from importlib.util import find_spec

import altair as alt
import matplotlib as mpl
import msgspec
import numpy as np
import pandas as pd
import plotly.graph_objects as go
import pytest
from matplotlib.figure import Figure

from showandtell import BadValue, ToolResult
from showandtell.core.collect import charts
from showandtell.core.collect.charts import describe_altair, render
from showandtell.core.collect.entry import collect
from support.fixtures import png


def words(part):
    return msgspec.json.decode(part.text)


@pytest.fixture(autouse=True)
def untold():
    """No advice was given before."""
    charts.advise.cache_clear()


def test_an_array_of_axes_is_their_figure():
    figure = Figure()
    grid = figure.subplots(2, 2)
    assert [part.media_type for part in collect(grid)] == ["image/png"]
    assert [part.media_type for part in collect(grid[0, 0])] == ["image/png"]


def test_a_figure_is_a_png_whatever_matplotlib_is_set_to():
    with mpl.rc_context({"savefig.format": "svg"}):
        (file,) = collect(Figure())
    assert file.read().startswith(b"\x89PNG")


def test_axes_are_their_figure_also_in_a_part_of_one():
    figure = Figure()
    left, _ = figure.subfigures(1, 2)
    for axes in (figure.subplots(), left.subplots()):
        assert [part.media_type for part in collect(axes)] == ["image/png"]


@pytest.mark.skipif(find_spec("kaleido") is not None, reason="kaleido is installed")
def test_a_plotly_figure_without_a_renderer_is_words_and_one_hint(caplog):
    scatter = go.Scatter(x=np.arange(100_000), y=[1, None], name="rain")
    figure = go.Figure(scatter, layout={"title": {"text": "Rain"}})
    (part,) = collect([figure, figure])
    (chart, _) = words(part)
    assert chart["layout"] == {"title": {"text": "Rain"}}
    (trace,) = chart["traces"]
    assert (trace["type"], trace["name"], trace["y"]) == ("scatter", "rain", [1, None])
    assert trace["x"] == [*range(20), "… 99,980 more"]
    assert [record.getMessage() for record in caplog.records] == [
        "Plotly figures are described in words: install kaleido, and models get pictures of them"
    ]


def test_a_renderer_that_fails_is_logged_and_the_chart_is_words(caplog):
    def fail():
        raise RuntimeError("no browser was found")

    assert render("Charts", "json", fail) is None
    assert "no browser was found" in caplog.text


def test_what_a_renderer_draws_is_the_picture(caplog):
    assert render("Charts", "json", png) == png()
    assert caplog.records == []


def bars(frame):
    return alt.Chart(frame).mark_bar().encode(x="city:N", y="rain:Q")


def test_an_altair_chart_is_a_png():
    (file,) = collect(bars(pd.DataFrame({"city": ["Oslo"], "rain": [3]})))
    assert (file.media_type, file.read()[:4]) == ("image/png", b"\x89PNG")


@pytest.mark.parametrize("rows", [30, 6_000])
def test_an_altair_chart_in_words_has_its_marks_and_the_start_of_its_data(rows):
    (chart,) = describe_altair(bars(pd.DataFrame({"city": ["Oslo"] * rows, "rain": range(rows)})))
    assert chart["mark"] == {"type": "bar"}
    assert chart["encoding"]["y"] == {"field": "rain", "type": "quantitative"}
    (data,) = chart["datasets"].values()
    assert data[:2] == [{"city": "Oslo", "rain": 0}, {"city": "Oslo", "rain": 1}]
    assert "… 10 more" in data if rows == 30 else chart["rows"] == rows


def test_charts_log_where_tools_log():
    assert charts.log is logging.getLogger("showandtell.tools")


@pytest.mark.parametrize(
    ("make", "problem"),
    [
        (lambda plt: plt, r"matplotlib\.pyplot is a module; return the figure"),
        (lambda plt: plt.plot([1, 2]), "/0: a Line2D is a part of a chart; return the figure"),
        (lambda plt: plt.pie([1, 2]), "a PieContainer is a part of a chart; return the figure"),
        (lambda plt: plt.bar([1], [2]), "a BarContainer is a part of a chart; return the figure"),
        (lambda plt: {"bars": plt.hist([1, 2])}, "/bars/2: a BarContainer is a part"),
        (lambda plt: plt.title("Sales"), "a Text is a part of a chart; return the figure"),
        (lambda _: math, "math is a module; return what you made with it"),
    ],
)
def test_what_is_no_figure_says_to_return_it(make, problem):
    plt = pytest.importorskip("matplotlib.pyplot")
    with pytest.raises(BadValue, match=problem):
        ToolResult(make(plt))
    plt.close("all")
