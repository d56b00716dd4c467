"""Checks files by their structure up to the last byte, and measures most by it, without decoding them.

It is Python alone, and reads a file once in small pieces, so it needs no process of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final

from msgspec.structs import replace

from showandtell.errors import BadFile
from showandtell.media.pixels import FRAME_LIMIT, check_pixels
from showandtell.media.refusals import DAMAGED, END_MISSING, torn_document, torn_image, torn_sound
from showandtell.media.structure.ends import CHECKS
from showandtell.media.structure.gif import measure_gif
from showandtell.media.structure.jpeg import measure_jpeg
from showandtell.media.structure.measured import Measured
from showandtell.media.structure.mpeg_audio import measure_mpeg_audio
from showandtell.media.structure.pdf import measure_pdf
from showandtell.media.structure.png import measure_png
from showandtell.media.structure.scan import WINDOW, Damaged, EndMissing, Scan, Unusual
from showandtell.media.structure.tracks import measure_movie, measure_wav
from showandtell.media.structure.webp import measure_webp

#: Types whose structure shows whether they are whole, and measures them. The decoder checks the others.
MEASURES: Final[dict[str, Callable[[Scan], Measured]]] = {
    "application/pdf": measure_pdf,
    "audio/mp4": measure_movie,
    "audio/mpeg": measure_mpeg_audio,
    "audio/wav": measure_wav,
    "image/gif": measure_gif,
    "image/jpeg": measure_jpeg,
    "image/png": measure_png,
    "image/webp": measure_webp,
    "video/3gpp": measure_movie,
    "video/mp4": measure_movie,
    "video/quicktime": measure_movie,
}


def measure(path: Path, media_type: str) -> Measured | None:
    """What a whole file is; None if the decoder must tell, after the end is checked as far as it shows.

    Raises `BadFile` if it is torn or has too many pixels.
    """
    walk = MEASURES.get(media_type) or CHECKS.get(media_type)
    if walk is None:
        return None
    with path.open("rb", buffering=WINDOW) as stream:
        try:
            measured = walk(Scan(stream, path.stat().st_size))
        except EndMissing:
            raise torn(media_type, END_MISSING) from None
        except Damaged:
            raise torn(media_type, DAMAGED) from None
        except Unusual:
            return None
    if measured is None:
        return None
    if measured.pixels is not None:
        if 0 in measured.pixels:
            raise torn(media_type, DAMAGED)
        check_pixels(*measured.pixels, media_type)
    return replace(measured, frames=min(measured.frames, FRAME_LIMIT))


def torn(media_type: str, reason: str) -> BadFile:
    """The error for a file that isn't whole, in the words of its decoder."""
    if media_type == "application/pdf":
        return torn_document(reason)
    name = media_type.removeprefix("image/")
    return torn_sound(media_type, reason) if name == media_type else torn_image(name.upper(), reason)
