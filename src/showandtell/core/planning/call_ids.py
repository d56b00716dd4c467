"""Call ids and tool names as a wire takes them: pure functions, so that a call and its result always agree."""

from __future__ import annotations

import hashlib
import re
from typing import Literal, TypeAlias

Style: TypeAlias = Literal["any", "anthropic", "bedrock", "litellm", "mistral"]

#: What each wire accepts (docs/providers.md, "Call ids").
PATTERNS: dict[Style, re.Pattern[str]] = {
    "any": re.compile(r"[!-~]{1,64}"),
    "anthropic": re.compile(r"[a-zA-Z0-9_-]{1,64}"),
    "bedrock": re.compile(r"[a-zA-Z0-9_.:-]{1,64}"),
    # A LiteLLM proxy hangs Gemini's thought signature on the id, which may be of any length.
    "litellm": re.compile(r"[!-~]+"),
    "mistral": re.compile(r"[a-zA-Z0-9]{9}"),
}
LONGEST = 64
ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


#: What every api takes as a tool's name.
NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")


def spell(call_id: str, style: Style) -> str:
    """Keep an id that the wire takes; make any other one from its hash, nine letters and digits that all wires take."""
    return call_id if PATTERNS[style].fullmatch(call_id) else hashed(call_id)


def hashed(text: str) -> str:
    """Nine letters and digits, the same for the same text."""
    number = int.from_bytes(hashlib.sha256(text.encode(errors="surrogatepass")).digest(), "big")
    letters: list[str] = []
    for _ in range(9):
        number, digit = divmod(number, len(ALPHABET))
        letters.append(ALPHABET[digit])
    return "".join(letters)


def spell_name(tool: str) -> str:
    """A tool's name as every api takes it: a model may make one up that its own api refuses in history."""
    if NAME.fullmatch(tool):
        return tool
    return f"{re.sub('[^a-zA-Z0-9_-]', '_', tool[:LONGEST])[:50]}_{hashed(tool)}"
