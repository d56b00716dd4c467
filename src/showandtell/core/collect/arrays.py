"""Arrays of numpy, torch, jax and others, by the array protocols: pictures, short lists, and an excerpt of all others.

numpy is imported for pictures and for arrays of other libraries only, when a program has returned one.
"""

from __future__ import annotations

from importlib import import_module
from itertools import chain
from math import ceil, isfinite, prod, sqrt
from typing import Any

from showandtell.core.collect.charts import find_figures
from showandtell.core.collect.excerpts import describe
from showandtell.core.collect.png import encode_png
from showandtell.core.messages.file import File
from showandtell.core.messages.parts import Shown

PROTOCOLS = ("__array__", "__array_interface__", "__dlpack__")
#: Number of values up to which an array becomes a list.
MAX_LISTED = 1_000
#: Larger pictures are reduced, because the PNG of a photo would exceed the limit of a file. A 4K screen fits.
MAX_PIXELS = 3840 * 2160
#: A longer side is that of a table of numbers rather than of a picture.
MAX_SIDE = 20_000
CHANNELS = (1, 3, 4)
#: How many items of each axis an excerpt has, by the number of axes. Of more than five axes, the first ones have one.
EXCERPTS = ((), (64,), (12, 12), (4, 6, 6), (2, 3, 5, 5), (2, 2, 3, 4, 4))
PLAIN_TYPES = frozenset({str, bool, type(None), File, Shown})
#: Maximum bits of an integer in a list.
MAX_BITS = 64


def has_array(kind: type) -> bool:
    """Whether a class has one of the array protocols."""
    return any(hasattr(kind, name) for name in PROTOCOLS)


def read_array(value: Any) -> tuple[object, ...]:
    """An array as a picture, a list, or words. Values that can't be read, such as those on a GPU, are left out."""
    shape, kind = None, ""
    try:
        array = value if hasattr(value, "shape") and hasattr(value, "dtype") else to_numpy(value)
        shape, kind = tuple(map(int, array.shape)), name_type(array)
        if is_picture(shape, kind):
            return (draw(array, shape),)
        if prod(shape) <= MAX_LISTED and (listed := list_values(array, shape)) is not None:
            return listed
        return (f"{describe_shape(value, shape, kind)}: {format_nested(excerpt(array, shape), shape)}",)
    except Exception:  # noqa: BLE001 - an array may be on another device, and its library may raise anything
        return (f"{describe_shape(value, shape, kind)}, whose values can't be read here",)


def read_scalar(value: Any) -> tuple[object, ...]:
    """A scalar of numpy as a value of Python. Complex numbers, dates and durations are text."""
    plain = value.item()
    return (str(value) if value.dtype.kind in "cmM" else plain,)


def to_numpy(value: object) -> Any:
    """An array of another library as one of numpy, without a copy if the library allows it."""
    numpy = import_module("numpy")
    by_dlpack = not any(hasattr(type(value), name) for name in PROTOCOLS[:2])
    return numpy.from_dlpack(value) if by_dlpack else numpy.asarray(value)


def name_type(array: Any) -> str:
    """The name of the type of an array's values, like "uint8"."""
    return str(getattr(array.dtype, "name", None) or str(array.dtype).rpartition(".")[2])


def describe_shape(value: object, shape: tuple[int, ...] | None, kind: str) -> str:
    """The class, shape and type of an array in words."""
    size = "" if shape is None else f" of shape {shape}, {kind}"
    return type(value).__name__ + size


def is_picture(shape: tuple[int, ...], kind: str) -> bool:
    """Whether an array is grey, RGB or RGBA pixels of 8 bits, or a mask."""
    has_form = len(shape) == 2 or (len(shape) == 3 and shape[2] in CHANNELS)
    return kind in {"uint8", "bool"} and has_form and min(shape) > 0 and max(shape[:2]) <= MAX_SIDE


def draw(array: Any, shape: tuple[int, ...]) -> File:
    """The picture of an array as PNG. Of a large one, every second (third …) row and column."""
    step = ceil(sqrt(shape[0] * shape[1] / MAX_PIXELS))
    pixels = to_numpy(array[::step, ::step] if step > 1 else array)
    reduced = f"1 of {step} rows and columns of {shape[1]} x {shape[0]} pixels" if step > 1 else None
    return File.from_bytes(encode_png(pixels), "image/png", description=reduced)


def list_values(array: Any, shape: tuple[int, ...]) -> tuple[object, ...] | None:
    """A small array as a list. None if it holds values without JSON, such as NaN."""
    values = array.tolist() if hasattr(array, "tolist") else to_numpy(array).tolist()
    leaves = [values]
    for _ in shape:
        leaves = list(chain.from_iterable(leaves))
    if name_type(array) == "object" and (figures := find_figures(leaves)):
        return figures
    return (values,) if all(map(is_plain, leaves)) and name_type(array)[:8] not in {"datetime", "timedelt"} else None


def is_plain(value: object) -> bool:
    """Whether a value of an array is JSON or a file. Neither NaN nor a number of hundreds of digits is."""
    if type(value) is int:
        return value.bit_length() <= MAX_BITS
    return isfinite(value) if type(value) is float else type(value) in PLAIN_TYPES


def excerpt(array: Any, shape: tuple[int, ...]) -> Any:
    """The first values of each axis, as nested lists."""
    counts = (1,) * (len(shape) - len(EXCERPTS) + 1) + EXCERPTS[min(len(shape), len(EXCERPTS) - 1)]
    first = array[tuple(slice(count) for count in counts)]
    if name_type(array)[:8] in {"datetime", "timedelt"}:
        first = first.astype(str)
    return first.tolist() if hasattr(first, "tolist") else to_numpy(first).tolist()


def format_nested(values: Any, shape: tuple[int, ...]) -> str:
    """Nested lists in words, with a mark where an axis has more."""
    if not shape:
        return f"{values:.6g}" if isinstance(values, float) else describe(values)
    more = ["…"] if shape[0] > len(values) else []
    return f"[{', '.join([*(format_nested(value, shape[1:]) for value in values), *more])}]"
