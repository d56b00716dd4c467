"""Modules whose public names are imported on first use, so that a program loads what it uses."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping
from typing import Any


def lazy_names(module: str, module_of: Mapping[str, str]) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """The functions `__getattr__` and `__dir__` of a module. `module_of` names the module of each name."""

    def get(name: str) -> Any:
        if name not in module_of:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        value = getattr(importlib.import_module(f"showandtell.{module_of[name]}"), name)
        setattr(sys.modules[module], name, value)
        return value

    return get, lambda: [*module_of]
