"""The fields of settings and other values, and names that are none of them."""

from __future__ import annotations

import dataclasses
from dataclasses import MISSING
from difflib import get_close_matches
from typing import Any, Final, cast

from msgspec import NODEFAULT, Struct, structs

#: The defaults of fields that have no value as their default.
REQUIRED: Final = object()
MADE: Final = object()


def fields_of(kind: Any) -> dict[str, object]:
    """The fields of a dataclass or Struct, each with its default, `MADE` if it is made anew, or `REQUIRED`."""
    if issubclass(kind, Struct):
        return {
            each.name: REQUIRED
            if each.required
            else MADE
            if each.default is NODEFAULT
            else cast("object", each.default)
            for each in structs.fields(kind)
        }
    return {
        each.name: (REQUIRED if each.default_factory is MISSING else MADE) if each.default is MISSING else each.default
        for each in dataclasses.fields(kind)
        if each.init
    }


def unknown(problem: str, name: str, known: list[str]) -> str:
    """A problem with a name that isn't known, with the name that was probably meant, or all that there are."""
    meant = get_close_matches(name, known, 1)
    return f"{problem}: did you mean {meant[0]}?" if meant else f"{problem}: it may have {', '.join(known)}"
