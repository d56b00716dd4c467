"""Errors that know their place in a value, as a JSON pointer."""

from __future__ import annotations

from collections.abc import Iterable

from showandtell.errors import BadValue

#: Maximum characters of a pointer in an error. The first steps of a long one say enough.
MAX_POINTER = 120
#: Maximum characters of one step.
MAX_STEP = 40


class PointerError(Exception):
    """A value that can't be collected. Each container on the way up appends the step that led to it."""

    def __init__(self, problem: str) -> None:
        super().__init__(problem)
        self.problem = problem
        self.steps: list[object] = []

    def to_bad_value(self) -> BadValue:
        """The public error, which names the place."""
        pointer = format_pointer(reversed(self.steps))
        if len(pointer) > MAX_POINTER:
            pointer = pointer[:MAX_POINTER] + "…"
        return BadValue(f"{pointer or 'the value'}: {self.problem}")


def escape(step: object) -> str:
    """Escape one step of a JSON pointer (RFC 6901)."""
    return str(step).replace("~", "~0").replace("/", "~1")


def shorten(step: object) -> str:
    """A step for an error message: short, and encodable as UTF-8."""
    try:
        name = str(step).encode(errors="replace").decode()
    except ValueError:  # an integer with more digits than Python converts
        return "…"
    return name if len(name) <= MAX_STEP else name[: MAX_STEP - 1] + "…"


def format_pointer(steps: Iterable[object]) -> str:
    """Join steps to a JSON pointer for an error message. Empty for the value itself."""
    return "".join(f"/{escape(shorten(step))}" for step in steps)
