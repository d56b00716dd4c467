"""Display names of people. They come from outside and go into labels that models read, so they are cleaned first."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
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
#: Words that a reader could take for a part of the conversation or of this program, alone or with the words below.
ROLES: Final = frozenset({"system", "developer", "assistant", "model", "tool", "user", "you"})
BESIDE_ROLES: Final = frozenset(
    {"the", "message", "messages", "prompt", "instruction", "instructions", "result", "results", "output", "reply"}
    | {"response", "answer"}
)
NO_ALNUM: Final = re.compile(r"[\W_]+")
WORD: Final = re.compile(r"[^\W\d_]+")
#: Small letters of Greek and Cyrillic that look like Latin ones, or whose capitals do.
LOOK_ALIKE: Final = str.maketrans(
    "\u03b1\u03b2\u03b5\u03b6\u03b7\u03b9\u03ba\u03bc\u03bd\u03bf\u03c1\u03c4\u03c5\u03c7\u0430\u0432\u0435\u043a\u043c\u043d\u043e\u0440\u0441\u0442\u0443\u0445\u044c\u0455\u0456\u0458\u04af\u04bb\u04cf\u0501\u051b\u051d\u0131\u0251\u0261",
    "abezhikmnoptyxabekmhopctyxbsijyhldqwiag",
)
#: Accents that are left when each letter and its accents are written as one character, if there is one.
ACCENTS: Final = re.compile("[\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff]")


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
    return name if is_usable and not is_role(name) else ""


@lru_cache(20_000)
def name_key(name: str) -> str:
    """A text that is the same for names that look alike: letters and digits only, in one case and one alphabet.

    >>> name_key("Ann-Lee"), name_key("\N{CYRILLIC CAPITAL LETTER A}nn lee")
    ('annlee', 'annlee')
    """
    folded = fold(name)
    if folded.isascii():
        return NO_ALNUM.sub("", folded)
    return "".join(one for one in folded if unicodedata.category(one)[0] in "LMN")


def is_role(name: str) -> bool:
    """Whether a name names a part of the conversation, such as "system (2)", "The Model" or "tool result:"."""
    words = WORD.findall(fold(name))
    return "".join(words) in ROLES or (not ROLES.isdisjoint(words) and ROLES.union(BESIDE_ROLES).issuperset(words))


def fold(name: str) -> str:
    """A name in small letters, with Latin letters for those that look alike."""
    if name.isascii():
        return name.lower()
    decomposed = unicodedata.normalize("NFKD", unicodedata.normalize("NFKC", name).casefold()).translate(LOOK_ALIKE)
    return ACCENTS.sub("", unicodedata.normalize("NFKC", decomposed))
