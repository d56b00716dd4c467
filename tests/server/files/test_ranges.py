"""Range requests: one range by RFC 9110; invalid and multiple ranges are ignored."""

from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.datastructures import Headers

from showandtell.server.files.ranges import Unsatisfiable, choose_span, matches_etag

SIZE = 1000
TAG = '"abc"'
#: Range headers and the bytes that they select; None is the complete file.
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


def span(header, method="GET", **headers):
    raw = [(b"range", header.encode())] + [
        (name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()
    ]
    return choose_span(method, Headers(raw=raw), TAG, SIZE)


@pytest.mark.parametrize(("value", "expected"), RANGES)
def test_a_single_valid_range_is_used_and_others_are_ignored(value, expected):
    assert span(value) == expected
    assert span(value, method="HEAD") is None


@pytest.mark.parametrize("value", ["bytes=1000-", "bytes=1000-1001", "bytes=123456789012345678-", "bytes=-0"])
def test_a_range_behind_the_end_is_unsatisfiable(value):
    with pytest.raises(Unsatisfiable):
        span(value)


def test_a_range_of_another_version_of_the_file_is_ignored():
    assert span("bytes=1-2", if_range=TAG) == (1, 3)
    for other in ('"other"', "W/" + TAG, "Sun, 22 Nov 2026 10:00:00 GMT", "*", ""):
        assert span("bytes=1-2", if_range=other) is None
    assert span("bytes=5000-", if_range='"other"') is None


@given(st.integers(0, 2000), st.integers(0, 2000) | st.none())
def test_a_range_equals_a_python_slice(first, last):
    data = bytes(number % 251 for number in range(SIZE))
    try:
        selected = span(f"bytes={first}-{'' if last is None else last}")
    except Unsatisfiable:
        assert first >= SIZE
        return
    if selected is None:
        assert last < first
    else:
        assert data[slice(*selected)] == data[first : None if last is None else last + 1]
        assert 0 <= selected[0] < selected[1] <= SIZE


@given(st.text(alphabet="bytes=0123456789-, ", max_size=80))
def test_any_header_gives_a_part_of_the_file_or_none(value):
    try:
        selected = span(value)
    except Unsatisfiable:
        return
    assert selected is None or 0 <= selected[0] < selected[1] <= SIZE


def test_ten_thousand_ranges_take_no_time():
    value = "bytes=" + ",".join(f"{number}-{number + 5000}" for number in range(10_000))
    before = process_time()
    assert span(value) is None
    assert process_time() - before < 0.05


def test_several_range_headers_are_ignored():
    assert choose_span("GET", Headers(raw=[(b"range", b"bytes=0-1"), (b"range", b"bytes=2-3")]), TAG, SIZE) is None


@pytest.mark.parametrize(
    ("value", "matches"),
    [(TAG, True), ("W/" + TAG, True), ('"x", "abc"', True), ("*", True), ('"x"', False), ("abc", False), ("", False)],
)
def test_any_of_several_etags_may_match(value, matches):
    assert matches_etag(Headers({"if-none-match": value}), TAG) is matches
