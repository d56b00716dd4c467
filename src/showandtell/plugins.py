"""What other packages add: the objects that their entry points name, imported when they are first needed."""

from __future__ import annotations

import warnings
from functools import cache
from importlib.metadata import EntryPoint, entry_points


@cache
def load_plugins(group: str) -> tuple[object, ...]:
    """The objects of all entry points of a group. One that can't be imported is left out with a warning."""
    return tuple(found for entry in entry_points(group=group) for found in _load(entry))


def _load(entry: EntryPoint) -> tuple[object, ...]:
    try:
        return (entry.load(),)
    except Exception as error:  # noqa: BLE001 - it is other people's code
        package = entry.dist.name if entry.dist is not None else "a package"
        text = f"{package}: its entry point {entry.name!r} in {entry.group} can't be loaded: {error}"
        warnings.warn(text, RuntimeWarning, stacklevel=3)
        return ()
