"""Jupyter notebooks become Markdown: their cells and what they printed, without the bytes of pictures."""

import base64
import contextlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from showandtell import Agent, File
from showandtell.errors import BadFile
from showandtell.media.convert.notebooks import write_notebook
from support.fixtures import png
from support.properties import examples

PLOT = base64.b64encode(png(40, 30)).decode()


def code(source, *outputs):
    return {"cell_type": "code", "id": "a1", "execution_count": 1, "metadata": {}, "source": source, "outputs": outputs}


def notebook(*cells, language="python"):
    """A notebook as Jupyter saves it."""
    kernel = {"display_name": "Kernel", "language": language, "name": "kernel"}
    return {"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}


def show(data, name="sales.ipynb"):
    """Let a tool show a file to the model. Returns the receipt."""

    def get() -> File:
        """Return the file."""
        return File.from_bytes(data if isinstance(data, bytes) else json.dumps(data).encode(), name=name)

    return Agent("inspector", [get]).run_sync("/get").receipts[0]


def test_cells_come_in_order_with_what_they_printed():
    title = {"cell_type": "markdown", "id": "a2", "metadata": {}, "source": ["# Sales\n", "By *month*."]}
    printed = {"output_type": "stream", "name": "stdout", "text": ["\x1b[31m3\x1b[0m rows\n"]}
    result = {"output_type": "execute_result", "data": {"text/html": "<table>", "text/plain": ["   a\n", "0  1"]}}
    receipt = show(notebook(title, code("df", printed, result), code("  ")))
    assert receipt.media_type == "application/x-ipynb+json"
    assert receipt.variant.text == (
        "# Sales\nBy *month*.\n\n```python\ndf\n```\n\n```\n3 rows\n```\n\n```\n   a\n0  1\n```"
    )


def test_a_picture_leaves_a_mark_and_an_error_its_message():
    plot = {"output_type": "display_data", "data": {"image/png": PLOT, "text/plain": "<Figure>"}}
    failed = {"output_type": "error", "ename": "KeyError", "evalue": "'b'", "traceback": ["\x1b[31mlong"]}
    text = show(notebook(code("plot()", plot), code("df.b", failed), language="R")).variant.text
    assert text == "```R\nplot()\n```\n\n[image]\n\n```R\ndf.b\n```\n\n```\nKeyError: 'b'\n```"


def test_an_output_without_words_or_picture_leaves_its_types():
    chart = {"output_type": "display_data", "data": {"application/vnd.plotly.v1+json": {"y": [float("nan")]}}}
    text = show(notebook(code("chart", chart))).variant.text
    assert text == "```python\nchart\n```\n\n[output as application/vnd.plotly.v1+json]"


def test_halves_of_characters_are_replaced():
    assert show(notebook(code("'\ud83d'"))).variant.text == "```python\n'?'\n```"


def test_a_picture_within_the_words_loses_its_bytes():
    drawn = {"cell_type": "markdown", "id": "a2", "source": f"See ![plot](data:image/png;base64,{PLOT * 9})."}
    assert show(notebook(drawn)).variant.text == "See ![plot](data:image/png)."


def test_words_of_a_result_stay_markup_and_backticks_close_no_fence():
    formula = {"output_type": "display_data", "data": {"text/latex": "$x^2$", "text/plain": "x**2"}}
    text = show(notebook(code("'''\n```\n'''", formula))).variant.text
    assert text == "````python\n'''\n```\n'''\n````\n\n$x^2$"


@pytest.mark.parametrize("data", [b"{}", b"[1]", b"print('hello')", b'{"cells": [], "nbformat": 4', b"[" * 5_000])
def test_what_is_no_notebook_is_refused_with_the_reason(data):
    receipt = show(data)
    assert receipt.place is None
    assert "is no notebook as Jupyter saves it" in receipt.reason


def test_a_notebook_without_cells_is_called_empty():
    assert show(notebook()).variant.text == "(an empty notebook)"


def test_a_notebook_of_another_name_is_json():
    assert show(notebook(code("1")), "sales.json").media_type == "application/json"


NAMES = st.sampled_from(["cells", "cell_type", "source", "outputs", "output_type", "text", "data", "text/plain"])
WORDS = st.none() | st.integers() | st.text(max_size=8)
VALUES = st.recursive(WORDS, lambda each: st.lists(each) | st.dictionaries(NAMES, each))


@examples()
@given(cells=VALUES, outputs=VALUES)
def test_any_json_becomes_markdown_or_is_refused(tmp_path_factory, cells, outputs):
    folder = tmp_path_factory.mktemp("notebook")
    for data in (notebook(code("1") | {"outputs": outputs}), notebook() | {"cells": cells}):
        (folder / "in").write_text(json.dumps(data))
        with contextlib.suppress(BadFile):
            write_notebook(str(folder / "in"), str(folder / "out"))
            assert (folder / "out").read_text()
