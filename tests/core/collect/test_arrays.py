"""Arrays become pictures, short lists or bounded words, never an error, by the protocols alone."""

import io

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from showandtell.core.collect.arrays import MAX_PIXELS
from showandtell.core.collect.entry import collect
from showandtell.core.messages.file import File
from showandtell.core.messages.parts import Json, Text


def picture(value):
    (file,) = collect(value)
    assert file.media_type == "image/png"
    return np.asarray(Image.open(io.BytesIO(file.read()))), file


def words(value):
    (part,) = collect(value)
    assert isinstance(part, Text)
    return part.text


class OnlyInterface:
    """An array of a library without methods of numpy's."""

    def __init__(self, array):
        self.__array_interface__ = array.__array_interface__
        self._array = array

    __array_interface__ = None


class OnlyArray:
    def __init__(self, array):
        self._array = array

    def __array__(self, dtype=None, copy=None):
        return np.array(self._array, dtype, copy=copy)


class OnlyDlpack:
    def __init__(self, array):
        self._array = array

    def __dlpack__(self, **options):
        return self._array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self._array.__dlpack_device__()


class OnGpu(OnlyArray):
    """An array with a shape, whose values aren't here."""

    shape, dtype = (480, 640, 3), np.dtype("uint8")

    def __array__(self, dtype=None, copy=None):
        raise TypeError("can't convert cuda:0 device type tensor to numpy")

    def __getitem__(self, part):
        return self


PIXELS = np.arange(5 * 6 * 3, dtype=np.uint8).reshape(5, 6, 3)


@pytest.mark.parametrize("library", [np.asarray, OnlyInterface, OnlyArray, OnlyDlpack])
def test_pixels_of_any_library_are_a_picture(library):
    assert np.array_equal(picture(library(PIXELS))[0], PIXELS)


@pytest.mark.parametrize("shape", [(4, 6), (4, 6, 1), (4, 6, 3), (4, 6, 4)])
@pytest.mark.parametrize("kind", [np.uint8, bool])
def test_grey_rgb_rgba_and_masks_are_pictures(shape, kind):
    part = collect({"photo": np.ones(shape, kind)})[0]
    assert (part.text, part.files[0][1].media_type) == ('{"photo":null}', "image/png")


@pytest.mark.parametrize("shape", [(6,), (4, 6, 2), (2, 4, 6, 3), (0, 6), (3, 4, 6)])
def test_bytes_of_other_shapes_are_numbers(shape):
    (part,) = collect(np.zeros(shape, np.uint8))
    assert isinstance(part, Json)


def test_a_picture_with_too_many_pixels_is_reduced_and_says_so():
    reduced, file = picture(np.broadcast_to(np.uint8(7), (16_000, 18_000)))
    assert reduced.size <= MAX_PIXELS
    assert file.description == "1 of 6 rows and columns of 18000 x 16000 pixels"


def test_small_arrays_are_lists():
    assert collect({"a": np.arange(3), "b": np.array([[1.5, 2]]), "c": np.array(["x"])}) == (
        Json('{"a":[0,1,2],"b":[[1.5,2.0]],"c":["x"]}'),
    )


def test_an_array_of_nan_is_words():
    assert words(np.array([1, np.nan])) == "ndarray of shape (2,), float64: [1, nan]"
    assert collect({"a": np.array([np.inf])}) == (Json('{"a":"ndarray of shape (1,), float64: [inf]"}'),)


def test_of_a_billion_values_the_first_are_shown():
    text = words(np.broadcast_to(np.arange(10**5, dtype=np.float32), (10**4, 10**5)))
    assert text.startswith("ndarray of shape (10000, 100000), float32: [[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, …], [0")
    assert text.endswith("…], …]")
    assert len(text) < 2_000


def test_of_more_than_five_axes_the_first_ones_show_one_item():
    assert words(np.full((30, 30, 2, 2, 2, 2, 2), 7)).count("7") == 2**5


def test_a_row_of_a_billion_bytes_is_no_picture():
    assert words(np.broadcast_to(np.uint8(1), (1, 10**9))).startswith(
        "ndarray of shape (1, 1000000000), uint8: [[1, 1,"
    )


class Loud:
    def __str__(self):
        raise RuntimeError("never")


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (np.array([object(), {"a": 1}, Loud(), b"\0\1"], object), "[<object>, {'a': 1}, <Loud>, <2 bytes>]"),
        (np.array([10**5000, None], object), "[<int>, None]"),
        (np.array([1 + 2j]), "[(1+2j)]"),
        (np.array(["2026-05-01"], "M8[ns]"), "[2026-05-01T00:00:00.000000000]"),
        (np.zeros(1, [("a", "i4"), ("b", "f8")]), "[(0, 0.0)]"),
        (np.array(np.nan), "nan"),
    ],
)
def test_values_without_json_are_words(value, shown):
    assert words(value).partition(": ")[2] == shown


def test_an_array_on_another_device_is_its_shape():
    assert words(OnGpu(None)) == "OnGpu of shape (480, 640, 3), uint8, whose values can't be read here"


def test_files_in_an_array_of_objects_stay_files():
    file = File.from_bytes(b"a,b", "text/csv", "table.csv")
    assert collect(np.array([file, "x", 1], object)) == (file, Text("x"), Json("1"))


@given(
    st.lists(st.integers(0, 9), min_size=0, max_size=8),
    st.sampled_from(["uint8", "bool", "float16", "int64", "complex64", "U5", "O", "M8[s]", "m8[D]", "V3", "S2"]),
)
def test_no_array_is_an_error_or_long(shape, kind):
    array = np.broadcast_to(np.zeros((), kind), shape)
    for part in collect({"array": array}):
        assert len(part.text) < 20_000


def test_scalars_of_numpy_are_values():
    assert collect([np.float32(0.5), np.bool_(True), np.complex64(1j), np.datetime64("2026-05-01")]) == (
        Json('[0.5,true,"1j","2026-05-01"]'),
    )
