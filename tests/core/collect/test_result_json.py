"""A tool's result as JSON: what it returned comes back, with references in place of its files."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from showandtell import File
from showandtell.core.collect.entry import collect
from showandtell.core.collect.result_json import result_json
from showandtell.core.messages.parts import Json, Shown, Text
from support.fixtures import png
from support.properties import examples

PICTURE = File.from_bytes(png(2, 2), "image/png", "dot.png")
SCALARS = st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats(allow_nan=False, allow_infinity=False)
VALUES = st.recursive(
    SCALARS | st.text('abc~/"\\ é', max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text("ab~/0", max_size=3), inner, max_size=4),
    max_leaves=12,
)
#: JSON with files among its values.
FILED = st.recursive(
    SCALARS | st.just(PICTURE),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text("ab~/0", max_size=3), inner, max_size=4),
    max_leaves=12,
)


def refer(number):
    return {"type": "file", "number": number}


def returned(value):
    """What a front end gets of a value that a tool returned."""
    numbers = iter(range(1, 100))

    def show(part):
        match part:
            case File():
                return Shown(next(numbers), "att")
            case Json(text, files):
                return Json(text, tuple((pointer, Shown(next(numbers), "att")) for pointer, _ in files))
            case _:
                return part

    return json.loads(bytes(result_json([show(part) for part in collect(value)], refer)))


def referring(value):
    """A value with references in place of its files, numbered in order."""
    numbers = iter(range(1, 100))

    def replace(item):
        match item:
            case File():
                return refer(next(numbers))
            case list():
                return [replace(inner) for inner in item]
            case dict():
                return {key: replace(inner) for key, inner in item.items()}
            case _:
                return item

    return replace(value)


@given(VALUES)
@examples(200)
def test_json_comes_back_as_it_was_returned(value):
    assert returned(value) == (None if value == "" else value)


@given(st.dictionaries(st.text("ab~/0", max_size=3), FILED, min_size=1, max_size=4))
@examples(200)
def test_files_are_references_in_their_places(value):
    assert returned(value) == referring(value)


@pytest.mark.parametrize(
    ("parts", "value"),
    [
        ((), None),
        ((Text("hot"),), "hot"),
        ((Text("a"), Text("b")), "a\nb"),
        ((Json("7"),), 7),
        ((Shown(1, "att"),), refer(1)),
        ((Text("Look:"), Shown(3, "att"), Json('{"rows":2}')), ["Look:", refer(3), {"rows": 2}]),
        ((Json('{"a":[null,1]}', (("/a/0", Shown(2, "att")),)),), {"a": [refer(2), 1]}),
        ((Json("{broken"),), "{broken"),
        ((Json("[null]", (("/7", Shown(2, "att")),)),), "[null]"),
    ],
)
def test_one_value_stands_alone_and_several_are_a_list(parts, value):
    assert json.loads(bytes(result_json(parts, refer))) == value


def test_numbers_are_written_as_the_tool_wrote_them():
    text = '{"id":12345678901234567890123,"price":1.10,"file":null}'
    written = bytes(result_json([Json(text, (("/file", Shown(1, "att")),))], refer)).decode()
    assert written == '{"id":12345678901234567890123,"price":1.10,"file":{"type":"file","number":1}}'
