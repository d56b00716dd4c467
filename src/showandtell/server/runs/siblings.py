"""What the parent process tells this worker: that another worker of this machine has died.

Its runs can be taken over at once. A process without a parent of ours hears nothing, and finds them by its own checks.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress

_listeners: set[Callable[[], object]] = set()


@contextmanager
def on_death(listener: Callable[[], object]) -> Generator[None]:
    """Call a function, from any thread, whenever another worker has died."""
    _listeners.add(listener)
    try:
        yield
    finally:
        _listeners.discard(listener)


def report_death() -> None:
    """Tell the listeners that a worker has died."""
    for listener in tuple(_listeners):
        with suppress(RuntimeError):  # its event loop has just been closed
            listener()
