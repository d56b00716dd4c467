"""What to say of a conversion whose library comes with one of our extras, where that is not installed."""

from __future__ import annotations

from showandtell.errors import BadFile


def missing(extra: str, purpose: str = "") -> BadFile:
    """The error to raise, which passes once the extra is there; `purpose`, if any, begins with a space."""
    return BadFile(
        "", f"needs showandtell[{extra}]{purpose}", f"install it: pip install 'showandtell[{extra}]'", passing=True
    )
