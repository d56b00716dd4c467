"""The phase of a model's message: an opaque part directly after its text, so that no other provider gets it.

gpt-5.3-codex and later label each message "commentary" or "final_answer", and answer worse if a request leaves the
label out (openai 3.54, ResponseOutputMessage).
"""

from __future__ import annotations

import msgspec
from msgspec import Struct


class _Phase(Struct, forbid_unknown_fields=True):
    phase: str


def format_phase(phase: str | None) -> str | None:
    """Return the text of the opaque part, or None if the message has no phase."""
    return msgspec.json.encode(_Phase(phase)).decode() if phase else None


def parse_phase(opaque: str) -> str | None:
    """Return the phase of an opaque part's text, or None if it holds something else."""
    try:
        return msgspec.json.decode(opaque, type=_Phase).phase
    except msgspec.MsgspecError:
        return None
