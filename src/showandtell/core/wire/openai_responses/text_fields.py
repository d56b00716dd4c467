"""Fields of a model's text that go back with it: an opaque part after the text, so that no other provider gets them.

gpt-5.3-codex and later label each message "commentary" or "final_answer", and answer worse if a request leaves the
label out (openai 3.54, ResponseOutputMessage). Annotations name the sources of a text.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
from msgspec import Struct

from showandtell.core.wire.hosted_blocks import Fields


class TextFields(Struct, forbid_unknown_fields=True, omit_defaults=True):
    """What goes back with a text: the phase of its message, and its annotations."""

    phase: str | None = None
    annotations: Sequence[Fields] = ()


def format_text_fields(phase: str | None, annotations: Sequence[Fields] = ()) -> str | None:
    """Return the text of the opaque part, or None if there are no fields."""
    return msgspec.json.encode(TextFields(phase, tuple(annotations))).decode() if phase or annotations else None


def parse_text_fields(opaque: str) -> TextFields | None:
    """Return the fields of an opaque part's text, or None if it holds something else."""
    try:
        return msgspec.json.decode(opaque, type=TextFields)
    except msgspec.MsgspecError:
        return None
