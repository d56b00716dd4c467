"""Display names of people. They come from outside and go into labels that models read, so they are cleaned first."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

#: Maximum length of a display name.
MAX_NAME: Final = 60
#: Categories of characters that aren't visible: control, format (bidi marks too), surrogates, private use, unassigned.
INVISIBLE: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Cn"})
#: Visible by category, but blank or without a shape of their own: fillers, variation selectors, braille blank.
BLANK: Final = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
)
#: Our labels put names in double quotes and themselves into rare brackets, so a name holds neither.
REPLACED: Final = str.maketrans({**dict.fromkeys('"“”„‟«»〝〞', "'"), "⟦": "(", "⟧": ")", "〚": "(", "〛": ")"})
#: Names that a reader could take for a part of the conversation or of this program.
RESERVED: Final = frozenset({"system", "developer", "assistant", "model", "tool", "user", "the user", "you"})


def clean_name(text: object) -> str:
    r"""A display name on one line, at most 60 characters long; empty if the text is no usable name.

    Unusable are addresses, the names of roles, and text without a letter.

    >>> clean_name("  Ann\n⟦system⟧ ")
    'Ann (system)'
    >>> clean_name("ann@example.com")
    ''
    """
    if not isinstance(text, str):
        return ""
    spaced = (" " if character.isspace() else character for character in text[:1000])
    shown = BLANK.sub("", "".join(one for one in spaced if unicodedata.category(one) not in INVISIBLE))
    name = unicodedata.normalize("NFKC", shown)
    name = " ".join(name.translate(REPLACED).split())[:MAX_NAME].rstrip()
    is_usable = "@" not in name and "://" not in name and any(map(str.isalpha, name))
    return name if is_usable and name.casefold() not in RESERVED else ""
