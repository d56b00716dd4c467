"""Which part of a file a request wants: one range as RFC 9110 means it, and nothing of what it doesn't."""

from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.datastructures import Headers

from showandtell.server.files.ranges import Unsatisfiable, choose_span, has_it

SIZE = 1000
TAG = '"abc"'
#: What is asked for, and the bytes that it means; None is all of them.
RANGES = [
    ("bytes=0-0", (0, 1)),
    ("bytes=0-999", (0, 1000)),
    ("bytes=10-", (10, 1000)),
    ("bytes=999-", (999, 1000)),
    ("bytes=-1", (999, 1000)),
    ("bytes=-5000", (0, 1000)),
    ("bytes=500-99999", (500, 1000)),
    ("BYTES = 1-2 ", (1, 3)),
    ("bytes=5-4", None),
    ("bytes=1-2,4-5", None),
    ("bytes=0-,0-,0-", None),
    ("bytes=", None),
    ("bytes=-", None),
    ("bytes=a-b", None),
    ("bytes=--1", None),
    ("bytes=1-2-3", None),
    ("bytes=+1-2", None),
    ("bytes=٣-4", None),
    ("bytes=1_0-20", None),
    ("items=0-1", None),
    ("bytes 0-1", None),
    ("bytes=" + "9" * 40 + "-", None),
    ("", None),
]


def span(said, method="GET", **headers):
    raw = [(b"range", said.encode())] + [
        (name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()
    ]
    return choose_span(method, Headers(raw=raw), TAG, SIZE)


@pytest.mark.parametrize(("said", "meant"), RANGES)
def test_one_range_is_read_and_what_is_none_is_ignored(said, meant):
    assert span(said) == meant
    assert span(said, method="HEAD") is None


@pytest.mark.parametrize("said", ["bytes=1000-", "bytes=1000-1001", "bytes=123456789012345678-", "bytes=-0"])
def test_what_lies_behind_the_end_cannot_be_satisfied(said):
    with pytest.raises(Unsatisfiable):
        span(said)


def test_a_range_of_another_form_of_the_file_is_ignored():
    assert span("bytes=1-2", if_range=TAG) == (1, 3)
    for other in ('"other"', "W/" + TAG, "Sun, 22 Nov 2026 10:00:00 GMT", "*", ""):
        assert span("bytes=1-2", if_range=other) is None
    assert span("bytes=5000-", if_range='"other"') is None


@given(st.integers(0, 2000), st.integers(0, 2000) | st.none())
def test_a_range_is_what_python_slices(first, last):
    data = bytes(number % 251 for number in range(SIZE))
    try:
        found = span(f"bytes={first}-{'' if last is None else last}")
    except Unsatisfiable:
        assert first >= SIZE
        return
    if found is None:
        assert last < first
    else:
        assert data[slice(*found)] == data[first : None if last is None else last + 1]
        assert 0 <= found[0] < found[1] <= SIZE


@given(st.text(alphabet="bytes=0123456789-, ", max_size=80))
def test_anything_gives_a_part_of_the_file_or_none(said):
    try:
        found = span(said)
    except Unsatisfiable:
        return
    assert found is None or 0 <= found[0] < found[1] <= SIZE


def test_ten_thousand_ranges_take_no_time():
    said = "bytes=" + ",".join(f"{number}-{number + 5000}" for number in range(10_000))
    before = process_time()
    assert span(said) is None
    assert process_time() - before < 0.05


def test_several_headers_are_none():
    assert choose_span("GET", Headers(raw=[(b"range", b"bytes=0-1"), (b"range", b"bytes=2-3")]), TAG, SIZE) is None


@pytest.mark.parametrize(
    ("said", "has"),
    [(TAG, True), ("W/" + TAG, True), ('"x", "abc"', True), ("*", True), ('"x"', False), ("abc", False), ("", False)],
)
def test_a_client_has_what_one_of_its_tags_names(said, has):
    assert has_it(Headers({"if-none-match": said}), TAG) is has
