"""Films made into pictures at even distances, and their sound track, for the child only."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import Any

from PIL import Image

from showandtell.core.messages.conversion import Conversion
from showandtell.errors import BadFile
from showandtell.media.convert.shapes import choose_factor, compare, scale_size
from showandtell.media.convert.sound import Source, decode, open_media, write_sound
from showandtell.media.convert.writing import write_within
from showandtell.media.sound import FFMPEG, is_cover, measure_seconds

FRAMES, MOST_FRAMES = 8, 40
#: One frame of 8K film has 33 megapixels.
MOST_PIXELS = 36_000_000
#: So many pixels are decoded before exactness is given up: 2,000 frames of 4K, about 30 s on two cores.
PIXELS_DECODED = 16_000_000_000
THREADS = 2
#: Of the sound track so much goes along, in seconds.
SOUND_SECONDS = 600.0
#: Decoded frames are turned by so many degrees, counterclockwise.
TURNS = {90: Image.Transpose.ROTATE_90, 180: Image.Transpose.ROTATE_180, 270: Image.Transpose.ROTATE_270}


def make_frames(path: str, media_type: str, recipe: Conversion, folder: str) -> dict[str, Any]:
    """Pictures from the middles of equal parts, upright; where `recipe.sound` is a type, the sound track behind them.

    `times` are the seconds of each picture, `total` those of the film; `cut` says that the sound track's end is
    missing. A film without sound, or with one that can't be decoded, has no track. Raises `BadFile`.
    """
    with open_media(path, media_type) as film:
        stream = find_film(film)
        total = measure_seconds(film) or count_seconds(film, stream)
        paths, times, scale = write_frames(film, stream, total, recipe, folder)
    found = {"files": paths, "times": times, "total": total, "scale": scale, "cut": False}
    if recipe.sound:
        with contextlib.suppress(BadFile):
            track = write_sound(Source(path, media_type), (recipe.sound,), recipe.bytes, folder, SOUND_SECONDS)
            found |= {"files": [*paths, track.path], "cut": track.cut}
    return found


def find_film(film: Any) -> Any:
    """The first stream of moving pictures, which a cover is not; raises `BadFile`."""
    for stream in film.streams.video:
        if stream.codec_context and not is_cover(stream):
            if stream.codec_context.width * stream.codec_context.height > MOST_PIXELS:
                raise BadFile("", "has frames of more than 36 megapixels", "save it smaller")
            stream.thread_type, stream.codec_context.thread_count = "AUTO", THREADS
            return stream
    raise BadFile("", "has no moving pictures that can be decoded here", "save it as MP4 (H.264)")


def count_seconds(film: Any, stream: Any) -> float:
    """The length of a film whose header tells none, by its packets, undecoded."""
    ends = [
        float((one.pts + (one.duration or 0)) * stream.time_base) for one in film.demux(stream) if one.pts is not None
    ]
    film.seek(0)
    return round(max(ends, default=0.0) - start_of(stream), 3)


def start_of(stream: Any) -> float:
    """The time of the first frame on the stream's own clock."""
    return float((stream.start_time or 0) * stream.time_base)


def write_frames(
    film: Any, stream: Any, total: float, recipe: Conversion, folder: str
) -> tuple[list[str], list[float], float]:
    """Write the pictures; gives their paths, their times from the film's start, and the smallest scale."""
    count, start = min(recipe.most or FRAMES, MOST_FRAMES), start_of(stream)
    targets = [start + total * (at + 0.5) / count for at in range(count)]
    paths: list[str] = []
    times: list[float] = []
    scales: list[float] = []
    for time, frame in find_frames(film, stream, targets, total / count / 3):
        image, size = draw(frame, float(stream.sample_aspect_ratio or 1), recipe)
        path, made = write_within(image, recipe, folder, f"frame-{len(paths) + 1:02}")
        paths.append(path)
        times.append(round(max(0.0, time - start), 3))
        scales.append(compare(made, size))
    if not paths:
        raise BadFile("", "has no frame that can be decoded", "save it anew as MP4 (H.264)")
    return paths, times, min(scales)


def find_frames(film: Any, stream: Any, targets: Sequence[float], near: float) -> Iterator[tuple[float, Any]]:
    """For each target a frame with its time: a key frame less than `near` before it, else the first one from there on.

    It seeks ahead, unless the film turns out to have one key frame for many targets; then it decodes on from there.
    """
    at, decoded, seeking = float("-inf"), 0, True
    frames: Iterator[Any] = iter(())
    last: Any = None
    for target in targets:
        if seeking:
            frames = seek(film, stream, target)
        landed, last = True, None
        for frame in frames:
            decoded += frame.width * frame.height
            time = at if frame.time is None else frame.time
            if landed and time <= at:
                seeking = False
            landed, last = False, frame
            is_near = frame.key_frame and target - near <= time
            if time > at and (time >= target or is_near or decoded > PIXELS_DECODED):
                break
        if last is not None and (last.time is None or last.time > at):
            at = last.time or 0.0
            yield at, last
        seeking = seeking or decoded > PIXELS_DECODED


def seek(film: Any, stream: Any, target: float) -> Iterator[Any]:
    """The frames from the last key frame before a time on; from where it is, in a film that can't be searched."""
    try:
        film.seek(int(target / stream.time_base), stream=stream)
    except (OSError, ValueError, *FFMPEG):
        with contextlib.suppress(OSError, ValueError, *FFMPEG):  # one without an index goes on from where it is
            film.seek(0)
    return decode(film, stream)


def draw(frame: Any, ratio: float, recipe: Conversion) -> tuple[Image.Image, tuple[int, int]]:
    """The frame as a picture within the recipe's bounds, upright; and its size without bounds.

    `ratio` is how much wider than high a stored pixel is shown.
    """
    size = (max(1, round(frame.width * ratio)), frame.height)
    width, height = scale_size(size, choose_factor(size, recipe))
    image = frame.to_image(width=width, height=height)
    turned = frame.rotation % 360
    if turned in {90, 270}:
        size = (size[1], size[0])
    return (image.transpose(TURNS[turned]) if turned in TURNS else image), size
