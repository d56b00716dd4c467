"""Metadata of files and results is a program's own JSON: checked when it is given, and the same when it is read."""

import io
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from showandtell import BadConversation, BadInput, File
from showandtell.core.messages.conversation_file import parse
from showandtell.core.messages.metadata import MAX_METADATA, dump_metadata, load_metadata

TEXTS = st.text(st.characters(exclude_categories=["Cs"]))
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=10,
)
CONSTRUCTORS = [
    lambda **details: File.from_bytes(b"a,b", "text/csv", "a.csv", **details),
    lambda **details: File.from_path("a.csv", **details),
    lambda **details: File.from_path("a.csv", within="/", **details),
    lambda **details: File.from_uri("https://example.org/a.csv", "text/csv", **details),
    lambda **details: File.from_reader(lambda: io.BytesIO(b"a,b"), 3, "text/csv", "a.csv", **details),
]


@given(VALUES)
def test_any_json_is_the_same_when_it_is_read(value):
    assert load_metadata(dump_metadata(value)) == value


def cyclic():
    value = {}
    value["a"] = value
    return value


def deep():
    value = []
    for _ in range(10_000):
        value = [value]
    return value


@pytest.mark.parametrize(
    "value",
    [math.nan, [math.inf], object(), {"a": b"x"}, {(1, 2): 3}, {"a": "\ud800"}, {1, 2}, cyclic(), deep(), 10**5000],
    ids=lambda value: type(value).__name__,
)
def test_what_is_not_json_is_refused(value):
    with pytest.raises(BadInput, match="metadata is not JSON"):
        dump_metadata(value)


@pytest.mark.parametrize("value", ["x" * MAX_METADATA, ["x"] * MAX_METADATA, {str(at): at for at in range(10_000)}])
def test_metadata_is_bounded(value):
    with pytest.raises(BadInput, match="metadata has more than 32,000 characters"):
        File.from_bytes(b"x", metadata={"value": value})


@pytest.mark.parametrize("build", CONSTRUCTORS)
def test_every_constructor_takes_the_same_details(build):
    details = {"id": "row 7", "metadata": {"a": [1]}, "description": "rain", "convert": False, "audience": "user"}
    file = build(**details)
    assert {name: getattr(file, name) for name in details} == details
    assert hash(file)


def test_metadata_is_a_copy_of_a_dict():
    metadata = {"rows": (1, 2)}
    file = File.from_bytes(b"x", metadata=metadata)
    metadata["rows"] = ()
    assert file.metadata == {"rows": [1, 2]}
    with pytest.raises(BadInput, match=r"metadata is \[1\]: give a dict"):
        File.from_bytes(b"x", metadata=[1])


@pytest.mark.parametrize("identifier", ["", "x" * 257, 7, b"x", "a\nb", "\ud800"])
def test_an_id_that_cannot_be_stored_is_refused(identifier):
    with pytest.raises(BadInput, match=r"the id of a file|id is .*: give a str"):
        File.from_bytes(b"x", id=identifier)


@pytest.mark.parametrize("field", ['"metadata": {"a": "%s"}', '"id": "%s"'])
def test_a_conversation_file_with_too_much_of_it_is_refused_with_the_message(tmp_path, field):
    part = f'{{"type": "file", "data": "", {field % ("x" * MAX_METADATA)}}}'
    with pytest.raises(BadConversation, match=r"messages\[0\]: "):
        parse(f'{{"version": 1, "messages": [{{"role": "user", "parts": [{part}]}}]}}'.encode(), tmp_path)
