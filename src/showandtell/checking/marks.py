"""What an annotation may say beside its type, in `Annotated`."""

from __future__ import annotations

from typing import Final, NamedTuple


class Wanted(NamedTuple):
    """What to give, in the error for a wrong value; by default the types are named."""

    text: str


#: The value is never shown, not even in the error for a wrong one.
HIDDEN: Final = "hidden"
#: The function checks this parameter itself, since it knows better advice.
OWN_CHECK: Final = "own check"
