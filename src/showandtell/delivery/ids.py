"""Call ids as a wire takes them: a pure function of ours, so that a call and its result always agree."""

from __future__ import annotations

import hashlib
import re
from functools import lru_cache
from typing import Literal, TypeAlias

Style: TypeAlias = Literal["any", "anthropic", "bedrock", "mistral"]

#: What each wire accepts (docs/providers.md, "Call ids").
PATTERNS: dict[Style, re.Pattern[str]] = {
    "any": re.compile(r".{1,64}", re.DOTALL),
    "anthropic": re.compile(r"[a-zA-Z0-9_-]{1,64}"),
    "bedrock": re.compile(r"[a-zA-Z0-9_.:-]{1,64}"),
    "mistral": re.compile(r"[a-zA-Z0-9]{9}"),
}
ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


@lru_cache(maxsize=8192)
def spell(call_id: str, style: Style) -> str:
    """Keep an id that the wire takes; make any other one from its hash, nine letters and digits that all wires take."""
    if PATTERNS[style].fullmatch(call_id):
        return call_id
    number = int.from_bytes(hashlib.sha256(call_id.encode()).digest(), "big")
    letters: list[str] = []
    for _ in range(9):
        number, digit = divmod(number, len(ALPHABET))
        letters.append(ALPHABET[digit])
    return "".join(letters)
