"""Which function probes or describes a file, only in the child. Only the decoders of its kind are imported."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any, Final

from showandtell.core.media_types.kinds import kind_of

#: Module and function by task and kind. Functions take a path and a media type.
READERS: Final[dict[tuple[str, str], tuple[str, str]]] = {
    ("probe", "audio"): ("sound", "probe_sound"),
    ("probe", "document"): ("documents", "probe_document"),
    ("probe", "image"): ("pictures", "probe_image"),
    ("probe", "video"): ("sound", "probe_sound"),
    ("describe", "audio"): ("sound", "describe_sound"),
    ("describe", "document"): ("documents", "describe_document"),
    ("describe", "image"): ("describe", "describe_image"),
    ("describe", "video"): ("sound", "describe_sound"),
}


def load_reader(task: str, media_type: str) -> Callable[[str, str], dict[str, Any]]:
    """Import what a task needs for files of a type."""
    module, function = READERS[task, kind_of(media_type)]
    return getattr(importlib.import_module(f"showandtell.media.{module}"), function)
