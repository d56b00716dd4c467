"""Python's garbage collector in a command. What is loaded at the start is no garbage, so looking for it is waste."""

from __future__ import annotations

import atexit
import gc

#: New objects between two collections: of a start, which Python's own 700 make a fifth slower, and of a server, most of
#: whose objects are gone by then without a collection.
AT_START, SERVING = 100_000, 5_000
#: Collections of new objects until those that outlived one are looked through again, which holds everything else.
SERVING_AGAIN = 3


def collect_seldom() -> None:
    """Collect seldom, and not at the exit: the system takes the memory back anyway."""
    gc.set_threshold(AT_START)
    atexit.register(gc.freeze)


def collect_what_is_new() -> None:
    """Collect more often again, but look only through objects that are made from now on."""
    gc.freeze()
    gc.set_threshold(SERVING, SERVING_AGAIN)
