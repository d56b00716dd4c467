"""The embedded model goes through a document page by page, and takes the numbers of a table for a tool."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from showandtell import Agent, File, ToolResult, builtin_tools, samples
from showandtell.core.messages.parts import ToolCall
from showandtell.inspector.answering.arguments import Series
from showandtell.inspector.answering.tables import choose_series, read_table
from support.inspector_requests import people
from support.scripted import MODELS, two_apis

GUIDE, VISITORS = (File.from_path(samples.folder() / name) for name in ("guide.pdf", "visitors.csv"))
TABLE = "Day,Visitors,Boats\nMonday,120,14\nTuesday,95.5,11\n"


def run_with(text, *files, model="inspector", tools=None):
    """A run, and the arguments of its calls."""
    run = Agent(model, builtin_tools(samples.folder()) if tools is None else tools).run_sync(text, files=files)
    parts = [part for message in run.messages for part in message.parts if isinstance(part, ToolCall)]
    return run, [(part.tool, part.arguments) for part in parts]


@two_apis
def test_each_page_of_a_pdf_has_a_call_of_its_own(model):
    run, calls = run_with("Go through this PDF page by page", GUIDE, model=model)
    assert calls == [("view_file", f'{{"number":1,"pages":[{page}]}}') for page in (1, 2, 3)]
    assert run.status == "complete"
    assert [f"Document 1, guide.pdf, page {page}: " in people(run.text) for page in (1, 2, 3, 4)] == [True] * 3 + [
        False
    ]


def test_the_document_that_is_named_is_gone_through():
    _, calls = run_with("Show each page of guide.pdf", GUIDE, File.from_path(samples.folder() / "invoice.pdf"))
    assert [arguments for _, arguments in calls] == [f'{{"number":1,"pages":[{page}]}}' for page in (1, 2, 3)]


@pytest.mark.parametrize("text", ["look", "Show the pages"])
def test_a_message_that_does_not_ask_for_pages_gets_none(text):
    assert run_with(text, GUIDE)[1] == []


def test_without_a_tool_for_pages_the_document_is_described():
    def view(number: int) -> str:
        """Show a file."""
        return f"{number}"

    run, calls = run_with("Go through this PDF page by page", GUIDE, tools=[view])
    assert calls == []
    assert "Document 1, guide.pdf: 3 pages" in run.text


@pytest.mark.parametrize("model", MODELS)
def test_a_chart_of_a_table_has_its_numbers_and_labels(model):
    _, calls = run_with('Draw a chart titled "Visitors" from this table', VISITORS, model=model)
    labels = '"labels":["Monday","Tuesday","Wednesday","Thursday","Friday"]'
    assert calls == [("chart", f'{{"title":"Visitors","values":[120,95,140,180,230],{labels}}}')]


def test_a_tool_that_takes_no_list_of_numbers_gets_nothing_of_a_table():
    def mark(row: int) -> ToolResult:
        """Mark a row of a table."""
        return ToolResult(f"{row}")

    assert run_with("mark row 2 of this table", VISITORS, tools=[mark])[1] == [("mark", '{"row":2}')]


@pytest.mark.parametrize(
    ("text", "numbers"), [("chart the visitors", [120, 95.5]), ("chart boats", [14, 11]), ("a chart", [14, 11])]
)
def test_the_named_column_is_drawn_or_the_last_one(text, numbers):
    assert choose_series(read_table(TABLE), text) == Series(numbers, ["Monday", "Tuesday"])


@pytest.mark.parametrize(
    "text", ["", "a,b\n", "a,b\n1\n", "words\nmore\n", "a,b\nx,y\n", "a,b\nx,nan\n", 'a,b\n"1,2\n']
)
def test_what_is_no_table_of_numbers_gives_none(text):
    table = read_table(text)
    assert table is None or choose_series(table, "") is None


@given(st.text(st.sampled_from('ab1.5,;\t"\n\r\0-e')))
def test_any_text_is_a_table_or_none(text):
    table = read_table(text)
    series = table and choose_series(table, text)
    assert series is None or len(series.numbers) == len(series.labels) == len(table.rows)
