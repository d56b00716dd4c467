"""Small plain values are collected in the event loop, all others outside of it."""

import numpy as np
import pytest

from showandtell.core.collect.quick import is_quick
from showandtell.core.collect.tool_result import ToolResult
from showandtell.core.messages.file import File
from showandtell.core.messages.parts import Json, Text

LOOP: list = []
LOOP.append(LOOP)


@pytest.mark.parametrize(
    "value",
    ["a", 1, 0.5, None, True, b"a", [], {"a": [1, {"b": "c"}]}, ("a", File.from_bytes(b"a")), Text("a"), Json("[]")],
)
def test_small_plain_values_are_quick(value):
    assert is_quick(value)
    assert is_quick([value, {"a": value}])


def test_a_result_is_quick_because_it_is_collected_already():
    assert is_quick(ToolResult(np.zeros((4, 4), np.uint8)))


@pytest.mark.parametrize(
    "value",
    [
        "a" * 10**6,
        b"a" * 10**6,
        [0] * 10**6,
        [[0] * 600] * 2,
        {"a": {"b": object()}},
        LOOP,
        np.zeros(3),
    ],
)
def test_large_values_and_objects_are_not(value):
    assert not is_quick(value)
