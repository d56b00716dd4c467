"""Assembles the arguments of a call that Vertex streams in pieces, each with the JSON path of its argument.

Vertex does so only for requests with `streamFunctionCallArguments`; otherwise a call comes complete.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, TypeAlias, cast

import msgspec
from msgspec import UNSET, Struct

#: A step of a JSON path into a call's arguments: a key or an index.
Step: TypeAlias = str | int
STEP = re.compile(r"""\.([^.\[\]]+)|\[(\d+)\]|\['([^'\\]*)'\]|\["([^"\\]*)"\]""")
#: Values received so far by path, in order of arrival. A text is a list of its pieces.
PartialValues: TypeAlias = dict[tuple[Step, ...], list[str] | float | None]


class Partial(Struct, gc=False, rename="camel"):
    """A piece of one argument (google-genai 3.4, PartialArg). A null value comes as null or as a string."""

    json_path: str = "$"
    string_value: str | None = None
    number_value: int | float | None = None
    bool_value: bool | None = None
    null_value: object = UNSET


def add_partial(values: PartialValues, partial: Partial) -> None:
    """Add a piece of one argument. A piece without a value only marks the end of a text.

    Raises `ValueError` if the path names no argument, or if a text continues a value of another type.
    """
    steps = parse_path(partial.json_path)
    if partial.string_value is not None:
        pieces = values.setdefault(steps, [])
        if not isinstance(pieces, list):
            raise ValueError(f"the argument at {partial.json_path} has two types")
        pieces.append(partial.string_value)
    elif partial.number_value is not None:
        values[steps] = partial.number_value
    elif partial.bool_value is not None:
        values[steps] = partial.bool_value
    elif partial.null_value is not UNSET:
        values[steps] = None


def merge_arguments(args: str, values: PartialValues) -> str:
    """Return the arguments as JSON: `args`, an object of complete values, merged with the partial values.

    Raises `ValueError` if two values have the same path, or if a list has a gap.
    """
    root = msgspec.json.decode(args, type=dict[str, Any])
    for steps, value in values.items():
        _insert(root, steps, "".join(value) if isinstance(value, list) else value)
    return msgspec.json.encode(root).decode()


def parse_path(path: str) -> tuple[Step, ...]:
    """Return the keys and indexes of a JSON path such as `$.foo.bar[0]`. Raises `ValueError` for any other syntax."""
    steps: list[Step] = []
    position = 1
    while path.startswith("$") and (match := STEP.match(path, position)):
        key, index, *quoted = match.groups()
        steps.append(int(index) if index else next(name for name in (key, *quoted) if name is not None))
        position = match.end()
    if not steps or position != len(path):
        raise ValueError(f"{path!r} names no argument")
    return tuple(steps)


def _insert(root: dict[str, Any], steps: Sequence[Step], value: object) -> None:
    """Insert a value and any missing container above it."""
    container: object = root
    for step, next_step in pairwise(steps):
        container = _child(container, step, [] if isinstance(next_step, int) else {})
    if _child(container, steps[-1], value) is not value:
        raise ValueError(f"the argument at {steps} is given twice")


def _child(container: object, step: Step, default: object) -> object:
    """Return the value at a key or index, inserting `default` if there is none. Lists grow only at their end."""
    if isinstance(container, dict) and isinstance(step, str):
        return cast("dict[str, object]", container).setdefault(step, default)
    items = cast("list[object]", container)
    if not (isinstance(container, list) and isinstance(step, int) and step <= len(items)):
        raise ValueError(f"an argument has no place at {step!r}")
    if step == len(items):
        items.append(default)
    return items[step]
