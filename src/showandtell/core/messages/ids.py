"""Ids that can't be guessed."""

from __future__ import annotations

import secrets


def new_id(prefix: str) -> str:
    """A random id of 132 bits, after a prefix."""
    return f"{prefix}_{secrets.token_urlsafe(17)[:22]}"
