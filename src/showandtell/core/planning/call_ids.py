"""Call ids and tool names in the form that an API accepts. Pure functions, so a call and its result always agree."""

from __future__ import annotations

import hashlib
import re

MAX_LENGTH = 64
ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


#: Tool names that every API accepts.
TOOL_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
#: The name of a call and a result without one, which no API accepts.
NO_NAME = "tool"


def fit_call_id(call_id: str, accepted: str) -> str:
    """Return an id that the API accepts unchanged, else its hash: nine letters and digits, which every API accepts.

    `accepted` is a regular expression, as `Order.call_ids` has it.
    """
    return call_id if re.fullmatch(accepted, call_id) else hash_id(call_id)


def hash_id(text: str) -> str:
    """Hash a text to nine letters and digits."""
    number = int.from_bytes(hashlib.sha256(text.encode(errors="surrogatepass")).digest(), "big")
    characters: list[str] = []
    for _ in range(9):
        number, digit = divmod(number, len(ALPHABET))
        characters.append(ALPHABET[digit])
    return "".join(characters)


def fit_tool_name(tool: str) -> str:
    """Return a tool name that every API accepts. A model may invent a name that its own API rejects in history."""
    if not tool or TOOL_NAME.fullmatch(tool):
        return tool or NO_NAME
    return f"{re.sub('[^a-zA-Z0-9_-]', '_', tool[:MAX_LENGTH])[:50]}_{hash_id(tool)}"
