"""The error for a conversion whose library comes with an extra that is not installed."""

from __future__ import annotations

from showandtell.errors import BadFile
from showandtell.installation import ADVICE


def missing(extra: str, purpose: str = "") -> BadFile:
    """The error to raise, passing because the extra can be installed; `purpose` starts with a space or is empty."""
    return BadFile("", f"needs showandtell[{extra}]{purpose}", ADVICE, passing=True)
