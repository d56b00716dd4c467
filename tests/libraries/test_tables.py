"""Tables of pandas and polars: bounded words at once, and a CSV file that is written only when it is read."""

import io
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from showandtell.core.collect.quick import is_quick
from showandtell.core.collect.tables import CELLS_AT_A_TIME, MAX_TABLE, CsvSource
from showandtell.core.collect.tool_result import ToolResult
from showandtell.errors import BadValue

LIBRARIES = pytest.mark.parametrize("library", [pd, pl], ids=["pandas", "polars"])


def words(frame):
    return ToolResult(frame).parts[0].text


def csv(frame):
    (file,) = ToolResult(frame).files
    assert (file.media_type, file.name, file.audience) == ("text/csv", None, "user")
    return file.read().decode()


@LIBRARIES
def test_a_small_table_is_whole_in_words_and_in_csv(library):
    frame = library.DataFrame({"city": ["Oslo", "Bergen"], "rain": [1.5, None]})
    assert words(frame) == (
        "table of 2 rows and 2 columns\n| city | rain |\n| --- | --- |\n| Oslo | 1.5 |\n| Bergen |  |"
    )
    assert csv(frame) == "city,rain\nOslo,1.5\nBergen,\n"


@LIBRARIES
def test_rows_columns_and_cells_over_the_bounds_are_left_out_and_counted(library):
    frame = library.DataFrame({f"c{column}": ["x" * 500] * 3_000 for column in range(30)})
    text = words(frame)
    assert text.startswith("table of 3,000 rows and 30 columns\n| c0 |")
    assert text.endswith("more rows\n… 10 more columns")
    assert "x" * 101 not in text
    assert len(text) < MAX_TABLE + 500


@LIBRARIES
def test_csv_has_every_row_once(library):
    count = 2 * CELLS_AT_A_TIME + 1
    frame = library.DataFrame({"n": range(count)})
    assert csv(frame).split() == ["n", *map(str, range(count))]


@LIBRARIES
def test_wide_tables_are_written_in_fewer_rows_at_a_time(library):
    frame = library.DataFrame({f"c{column}": range(9) for column in range(CELLS_AT_A_TIME // 4)})
    source = ToolResult(frame).files[0].source.open
    assert isinstance(source, CsvSource)
    assert [chunk.count(b"\n") for chunk in source.chunks()] == [5, 4, 1]


def test_a_query_that_has_not_run_is_an_error_that_says_what_to_do():
    with pytest.raises(BadValue, match=r"/rows: a LazyFrame holds no rows yet; return frame.collect\(\)"):
        ToolResult({"rows": pl.LazyFrame({"a": [1]})})


def test_missing_values_of_pandas_are_null():
    assert ToolResult({"a": pd.NA, "b": [pd.NaT]}).text == '{"a":null,"b":[null]}'
    assert ToolResult(pd.array([1, None], dtype="Int64")).text == "IntegerArray of shape (2,), Int64: [1, NA]"


def test_text_doesn_t_write_the_csv(monkeypatch):
    def fail(*_, **__):
        raise AssertionError("the CSV was written")

    monkeypatch.setattr(pd.DataFrame, "to_csv", fail)
    result = ToolResult("the rows:", pd.DataFrame({"a": range(9)}))
    assert "table of 9 rows and 1 column" in result.text
    assert "[file 1: text/csv]" in result.text
    with pytest.raises(AssertionError, match="was written"):
        result.files[0].read()


@LIBRARIES
def test_csv_is_written_only_as_far_as_it_is_read(library):
    frame = library.DataFrame({"n": range(10**6)})
    with ToolResult(frame).files[0].open() as stream:
        assert stream.read(10) == b"n\n0\n1\n2\n3\n"
        assert not stream.seekable()


@LIBRARIES
def test_changes_after_the_call_are_not_in_the_csv(library):
    frame = library.DataFrame({"n": [1, 2]})
    (file,) = ToolResult(frame).files
    if library is pd:
        frame.loc[0, "n"] = 9
    else:
        frame[0, "n"] = 9
    assert file.read() == b"n\n1\n2\n"


@LIBRARIES
def test_bytes_lists_and_objects_don_t_break_a_table(library):
    values = {"b": [b"\xff\0", None], "l": [[1, 2], [3]], "d": [{"a": 1}, None], "s": ["a|b\nc", "\ud800"]}
    if library is pl:
        values["s"] = ["a|b\nc", None]
    frame = library.DataFrame(values)
    assert "| <2 bytes> | [1, 2] | {'a': 1} | a\\|b c |" in words(frame)
    assert "b'\\xff\\x00','" not in csv(frame)
    assert csv(frame).startswith("b,l,d,s\nb'\\xff\\x00',\"[1, 2]\",{'a': 1},\"a|b\nc\"\n")


def test_an_index_is_shown_if_it_is_more_than_a_count():
    frame = pd.DataFrame({"a": [1, 2], "b": ["x", "y"], "c": [3, 4]})
    by_two = frame.set_index(["a", "b"])
    assert (
        words(by_two)
        == "table of 2 rows and 1 column\n| a | b | c |\n| --- | --- | --- |\n| 1 | x | 3 |\n| 2 | y | 4 |"
    )
    assert csv(by_two) == "a,b,c\n1,x,3\n2,y,4\n"
    assert "| a | b | c |\n| --- | --- | --- |\n| 2 |" in words(frame.rename_axis("id")[1:]).replace(
        "| id ", ""
    ).replace("--- | --- | --- | ---", "--- | --- | ---").replace("| 1 | 2", "| 2")


def test_column_names_of_several_levels_are_side_by_side():
    frame = pd.DataFrame([[1, 2]], columns=pd.MultiIndex.from_tuples([("rain", "mean"), ("rain", 2)]))
    assert "| rain mean | rain 2 |" in words(frame)


@LIBRARIES
def test_a_series_is_a_table_of_one_column(library):
    assert words(library.Series([1, 2])).splitlines()[0] == "table of 2 rows and 1 column"
    assert (
        csv(library.Series("rain", [1, 2]) if library is pl else library.Series([1, 2], name="rain")) == "rain\n1\n2\n"
    )


@LIBRARIES
def test_empty_tables_are_words(library):
    assert ToolResult(library.DataFrame()).text == "table of 0 rows and 0 columns"
    assert csv(library.DataFrame({"a": []})) == "a\n"


@LIBRARIES
def test_a_table_in_json_is_words_and_a_file(library):
    result = ToolResult({"rows": library.DataFrame({"a": [1]})})
    assert result.text == (
        '{"rows":["table of 1 row and 1 column\\n| a |\\n| --- |\\n| 1 |",null]}\n[file 1: text/csv]'
    )


@LIBRARIES
def test_a_result_with_a_table_can_be_pickled(library):
    result = pickle.loads(pickle.dumps(ToolResult(library.DataFrame({"a": [1]}))))  # noqa: S301 - our own
    assert result.files[0].read() == b"a\n1\n"


CELLS = st.none() | st.integers() | st.floats() | st.text() | st.binary() | st.lists(st.integers()) | st.dates()


@given(st.lists(st.lists(CELLS, min_size=1, max_size=3), max_size=4), st.booleans())
def test_any_cells_have_words_and_csv_in_utf_8(rows, twice):
    width = min(map(len, rows), default=1)
    frame = pd.DataFrame([row[:width] for row in rows], columns=["n"] * width, dtype=object)
    result = ToolResult(pd.concat([frame, frame]) if twice and rows else frame)
    result.text.encode()
    with result.files[0].open() as stream:
        assert io.TextIOWrapper(stream, "utf-8").read().startswith("n" if not twice or not rows else ",n")


def test_objects_in_a_polars_table_are_written_as_python():
    frame = pl.DataFrame({"a": pl.Series([{1, 2}, None], dtype=pl.Object)})
    assert ToolResult(frame).files[0].read() == b'a\n"{1, 2}"\n\n'


def test_huge_cells_are_cut():
    frame = pd.DataFrame({"a": [np.zeros(10**6), [0] * 10**6]})
    assert len(words(frame)) < 500


@LIBRARIES
def test_a_table_is_collected_outside_of_the_event_loop(library):
    assert not is_quick(library.DataFrame())
