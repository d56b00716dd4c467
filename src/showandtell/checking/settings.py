"""Settings that a program gives as a value, as a dict of its fields, or not at all."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from showandtell.checking.checked import TakesDict

S = TypeVar("S", bound=TakesDict)


def settings_of(kind: type[S], given: S | Mapping[str, Any] | None) -> S:
    """The settings, or the default ones. Raises `BadInput` for a dict with a wrong field."""
    return given if isinstance(given, kind) else kind(**cast("Mapping[str, Any]", given or {}))
