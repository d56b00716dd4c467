"""What a decoder proves of one file, for the child only: its pixels, pages or seconds, and the type made exact."""

from __future__ import annotations

from typing import Any

from showandtell.core.media_types.claims import SOUND_ALONE
from showandtell.media.documents import count_pages
from showandtell.media.pictures import FORMATS, measure_picture
from showandtell.media.sound import DEMUXERS, read_container, read_wave

WITHOUT_FILM = {film: sound for sound, film in SOUND_ALONE.items()}


def probe_file(path: str, media_type: str) -> dict[str, Any]:
    """`pixels`, `frames`, `pages`, `seconds` as far as they apply, and the `media_type` that came out."""
    if media_type in FORMATS:
        return {"media_type": media_type, **measure_picture(path, media_type)}
    if media_type == "application/pdf":
        return {"media_type": media_type, "pages": count_pages(path)}
    return probe_sound(path, media_type) if media_type in DEMUXERS else {"media_type": media_type}


def probe_sound(path: str, media_type: str) -> dict[str, Any]:
    """Seconds; a container without film is sound."""
    found = (read_wave(path) if media_type == "audio/wav" else None) or read_container(path, media_type)
    kinds = [stream["kind"] for stream in found.get("streams", ())]
    alone = "audio" in kinds and "video" not in kinds
    return {
        "media_type": WITHOUT_FILM.get(media_type, media_type) if alone else media_type,
        "seconds": found.get("seconds"),
    }
