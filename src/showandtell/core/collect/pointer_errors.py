"""Places inside a value: JSON pointers, and the misfit that is found at one."""

from __future__ import annotations

from collections.abc import Iterable

from showandtell.errors import BadValue

#: A pointer of a hundred steps says no more than its first few.
SHOWN_POINTER = 120
#: A longer step is shown by its beginning.
SHOWN_STEP = 40


class PointerError(Exception):
    """A value that has no place in a result; each container on the way up adds the step that led to it."""

    def __init__(self, problem: str) -> None:
        super().__init__(problem)
        self.problem = problem
        self.steps: list[object] = []

    def located(self) -> BadValue:
        """The error for the program, which names the place."""
        pointer = point(reversed(self.steps))
        if len(pointer) > SHOWN_POINTER:
            pointer = pointer[:SHOWN_POINTER] + "…"
        return BadValue(f"{pointer or 'the value'}: {self.problem}")


def escape(step: object) -> str:
    """One step of a JSON pointer as RFC 6901 spells it."""
    return str(step).replace("~", "~0").replace("/", "~1")


def brief(step: object) -> str:
    """A step as it is shown to people: in letters that can be printed, stored and sent."""
    try:
        name = str(step).encode(errors="replace").decode()
    except ValueError:  # a number of more digits than Python writes out
        return "…"
    return name if len(name) <= SHOWN_STEP else name[: SHOWN_STEP - 1] + "…"


def point(steps: Iterable[object]) -> str:
    """Join steps to a JSON pointer for people; no steps give the empty pointer, which is the whole value."""
    return "".join(f"/{escape(brief(step))}" for step in steps)
