"""Puts together the arguments of a call that Vertex streams: each piece says by a JSON path where it belongs.

Only programs that ask for `streamFunctionCallArguments` get them so; to all others a call comes whole.
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
#: The values so far by their places, in the order in which they began; a text is a list of its pieces.
Gathered: TypeAlias = dict[tuple[Step, ...], list[str] | float | None]


class Partial(Struct, gc=False, rename="camel"):
    """Some of one argument (google-genai 3.4, PartialArg). On the wire null is null, or a word."""

    json_path: str = "$"
    string_value: str | None = None
    number_value: int | float | None = None
    bool_value: bool | None = None
    null_value: object = UNSET


def gather(gathered: Gathered, partial: Partial) -> None:
    """Note some of one argument; one without a value only says that a text is whole.

    `ValueError` for a path that names no argument, and for a text that goes on where a value of another kind is.
    """
    steps = steps_of(partial.json_path)
    if partial.string_value is not None:
        pieces = gathered.setdefault(steps, [])
        if not isinstance(pieces, list):
            raise ValueError(f"the argument at {partial.json_path} is of two kinds")
        pieces.append(partial.string_value)
    elif partial.number_value is not None:
        gathered[steps] = partial.number_value
    elif partial.bool_value is not None:
        gathered[steps] = partial.bool_value
    elif partial.null_value is not UNSET:
        gathered[steps] = None


def join(args: str, gathered: Gathered) -> str:
    """The arguments as JSON: those that came whole in `args`, an object, and those that were gathered.

    `ValueError` where two values want one place, or a list has a gap.
    """
    root = msgspec.json.decode(args, type=dict[str, Any])
    for steps, value in gathered.items():
        _place(root, steps, "".join(value) if isinstance(value, list) else value)
    return msgspec.json.encode(root).decode()


def steps_of(path: str) -> tuple[Step, ...]:
    """The keys and indexes of a JSON path such as `$.foo.bar[0]`; `ValueError` for any that is not so plain."""
    steps: list[Step] = []
    at = 1
    while path.startswith("$") and (found := STEP.match(path, at)):
        key, index, *quoted = found.groups()
        steps.append(int(index) if index else next(name for name in (key, *quoted) if name is not None))
        at = found.end()
    if not steps or at != len(path):
        raise ValueError(f"{path!r} names no argument")
    return tuple(steps)


def _place(root: dict[str, Any], steps: Sequence[Step], value: object) -> None:
    """Put a value into the arguments, and what holds it where that is missing."""
    holder: object = root
    for step, following in pairwise(steps):
        holder = _child(holder, step, [] if isinstance(following, int) else {})
    if _child(holder, steps[-1], value) is not value:
        raise ValueError(f"the argument at {steps} is given twice")


def _child(holder: object, step: Step, fresh: object) -> object:
    """What stands at a key or an index, or else `fresh`, which is put there; a list grows only at its end."""
    if isinstance(holder, dict) and isinstance(step, str):
        return cast("dict[str, object]", holder).setdefault(step, fresh)
    items = cast("list[object]", holder)
    if not (isinstance(holder, list) and isinstance(step, int) and step <= len(items)):
        raise ValueError(f"an argument has no place at {step!r}")
    if step == len(items):
        items.append(fresh)
    return items[step]
