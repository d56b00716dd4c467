"""Ids that nobody can guess."""

from __future__ import annotations

import secrets


def new_id(prefix: str) -> str:
    """A random id of 132 bits."""
    return f"{prefix}_{secrets.token_urlsafe(17)[:22]}"
