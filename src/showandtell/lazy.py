"""Imports on first use, so that a program loads what it uses: modules, and the public names of a package.

It is used if a module is slow to import, and many programs that import the one that names it don't need it.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping
from typing import Any


class LazyModule:
    """A module that is imported when one of its names is first used, in any thread."""

    def __init__(self, name: str) -> None:
        self.__name__ = name

    def __getattr__(self, name: str) -> Any:
        value = getattr(importlib.import_module(self.__name__), name)
        setattr(self, name, value)
        return value


def lazy_names(module: str, module_of: Mapping[str, str]) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """The functions `__getattr__` and `__dir__` of a module. `module_of` names the module of each name."""

    def get(name: str) -> Any:
        if name not in module_of:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        try:
            value = getattr(importlib.import_module(f"showandtell.{module_of[name]}"), name)
        except ModuleNotFoundError as error:
            from showandtell.installation import missing_module  # noqa: PLC0415 - needed only here

            raise missing_module(f"{module}.{name}", error) from None
        setattr(sys.modules[module], name, value)
        return value

    return get, lambda: [*module_of]
