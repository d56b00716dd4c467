"""Python's garbage collector in a command. What is loaded at the start is no garbage, so looking for it is waste."""

from __future__ import annotations

import atexit
import gc

#: New objects between two collections: Python's own number, with which collections are a fifth of the time of a start,
#: and that of a start.
USUAL = gc.get_threshold()
AT_START = 100_000


def collect_seldom() -> None:
    """Collect seldom, and not at the exit: the system takes the memory back anyway."""
    gc.set_threshold(AT_START)
    atexit.register(gc.freeze)


def collect_what_is_new() -> None:
    """Collect as usual, but look only through objects that are made from now on."""
    gc.freeze()
    gc.set_threshold(*USUAL)
