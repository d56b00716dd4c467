"""Probes a file with its decoder, only in the child: pixels, pages or seconds, and the exact media type."""

from __future__ import annotations

from typing import Any

from showandtell.core.media_types.claims import AUDIO_ONLY
from showandtell.media.documents import count_pages
from showandtell.media.pictures import FORMATS, measure_image
from showandtell.media.sound import DEMUXERS, read_container, read_wave

AUDIO_TYPES = {video: audio for audio, video in AUDIO_ONLY.items()}


def probe_file(path: str, media_type: str) -> dict[str, Any]:
    """`pixels`, `frames`, `pages` and `seconds` as far as they apply, and the exact `media_type`."""
    if media_type in FORMATS:
        return {"media_type": media_type, **measure_image(path, media_type)}
    if media_type == "application/pdf":
        return {"media_type": media_type, "pages": count_pages(path)}
    return probe_audio(path, media_type) if media_type in DEMUXERS else {"media_type": media_type}


def probe_audio(path: str, media_type: str) -> dict[str, Any]:
    """Seconds and type; a container without video has the audio type."""
    container = (read_wave(path) if media_type == "audio/wav" else None) or read_container(path, media_type)
    kinds = [stream["kind"] for stream in container.get("streams", ())]
    is_audio = "audio" in kinds and "video" not in kinds
    return {
        "media_type": AUDIO_TYPES.get(media_type, media_type) if is_audio else media_type,
        "seconds": container.get("seconds"),
    }
