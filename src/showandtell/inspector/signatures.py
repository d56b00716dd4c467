"""Signatures of reasoning: the inspector recognizes its own reasoning, and refuses it if it was changed or moved.

Signatures that the inspector didn't make are those of real APIs, which nobody else can check.
"""

from __future__ import annotations

import base64
import hashlib

#: Nine bytes, which are twelve whole characters of base64.
PREFIX = b"inspected"


def sign(api: str, text: str) -> str:
    """The signature of a text: base64, as those of real APIs."""
    digest = hashlib.sha256(text.encode()).hexdigest()[:32]
    return base64.b64encode(PREFIX + f" {api} {digest}".encode()).decode()


def is_valid(signature: str, api: str, text: str) -> bool:
    """Whether a signature is that of a text. One that the inspector didn't make is valid unless it is empty."""
    is_own = signature.startswith(base64.b64encode(PREFIX).decode())
    return signature == sign(api, text) if is_own else bool(signature)
