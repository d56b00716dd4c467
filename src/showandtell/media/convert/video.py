"""Converts videos to frames at even distances and their audio track, only in the child."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import Any

from PIL import Image

from showandtell.core.messages.conversion import Conversion
from showandtell.errors import BadFile
from showandtell.media.convert.audio import Source, decode, open_media, write_audio
from showandtell.media.convert.shapes import choose_factor, compare, scale_size
from showandtell.media.convert.writing import write_within
from showandtell.media.sound import FFMPEG, is_cover, measure_seconds

DEFAULT_FRAMES, MAX_FRAMES = 8, 40
#: A frame of 8K video has 33 megapixels.
MAX_PIXELS = 36_000_000
#: After this many decoded pixels, key frames must do: 2,000 frames of 4K, about 30 s on two cores.
MAX_DECODED_PIXELS = 16_000_000_000
THREADS = 2
#: Maximum length of the audio track.
AUDIO_SECONDS = 600.0
#: Transposition by the rotation of a decoded frame, in degrees counterclockwise.
TURNS = {90: Image.Transpose.ROTATE_90, 180: Image.Transpose.ROTATE_180, 270: Image.Transpose.ROTATE_270}


def make_frames(path: str, media_type: str, conversion: Conversion, folder: str) -> dict[str, Any]:
    """Frames from the middles of equal parts, upright; if `conversion.audio_type` is set, followed by the audio track.

    `times` are the seconds of the frames, `total` is the length of the video; `cut` is True if the end of the audio
    track is missing. A video without audio, or with audio that can't be decoded, has no track. Raises `BadFile`.
    """
    with open_media(path, media_type) as container:
        stream = find_stream(container)
        total = measure_seconds(container) or count_seconds(container, stream)
        paths, times, scale = write_frames(container, stream, total, conversion, folder)
    output = {"files": paths, "times": times, "total": total, "scale": scale, "cut": False}
    if conversion.audio_type:
        with contextlib.suppress(BadFile):
            track = write_audio(
                Source(path, media_type), (conversion.audio_type,), conversion.bytes, folder, AUDIO_SECONDS
            )
            output |= {"files": [*paths, track.path], "cut": track.cut}
    return output


def find_stream(container: Any) -> Any:
    """The first video stream that is not a cover; raises `BadFile`."""
    for stream in container.streams.video:
        if stream.codec_context and not is_cover(stream):
            if stream.codec_context.width * stream.codec_context.height > MAX_PIXELS:
                raise BadFile("", "has frames of more than 36 megapixels", "save it smaller")
            stream.thread_type, stream.codec_context.thread_count = "AUTO", THREADS
            return stream
    raise BadFile("", "has no moving pictures that can be decoded here", "save it as MP4 (H.264)")


def count_seconds(container: Any, stream: Any) -> float:
    """The length of a video whose header has none, by its packets, without decoding."""
    ends = [
        float((packet.pts + (packet.duration or 0)) * stream.time_base)
        for packet in container.demux(stream)
        if packet.pts is not None
    ]
    container.seek(0)
    return round(max(ends, default=0.0) - start_of(stream), 3)


def start_of(stream: Any) -> float:
    """The time of the first frame on the stream's own clock."""
    return float((stream.start_time or 0) * stream.time_base)


def write_frames(
    container: Any, stream: Any, total: float, conversion: Conversion, folder: str
) -> tuple[list[str], list[float], float]:
    """Write the frames; returns their paths, their times from the start of the video, and the smallest scale."""
    count, start = min(conversion.max_count or DEFAULT_FRAMES, MAX_FRAMES), start_of(stream)
    targets = [start + total * (index + 0.5) / count for index in range(count)]
    paths: list[str] = []
    times: list[float] = []
    scales: list[float] = []
    for time, frame in find_frames(container, stream, targets, total / count / 3):
        image, size = draw(frame, float(stream.sample_aspect_ratio or 1), conversion)
        path, written = write_within(image, conversion, folder, f"frame-{len(paths) + 1:02}")
        paths.append(path)
        times.append(round(max(0.0, time - start), 3))
        scales.append(compare(written, size))
    if not paths:
        raise BadFile("", "has no frame that can be decoded", "save it anew as MP4 (H.264)")
    return paths, times, min(scales)


def find_frames(container: Any, stream: Any, targets: Sequence[float], tolerance: float) -> Iterator[tuple[float, Any]]:
    """For each target a frame with its time: a key frame less than `tolerance` before it, or the first one after.

    Seeks for each target until one key frame turns out to serve several targets; then it continues to decode.
    """
    position, decoded, seeking = float("-inf"), 0, True
    frames: Iterator[Any] = iter(())
    last: Any = None
    for target in targets:
        if seeking:
            frames = seek(container, stream, target)
        is_first, last = True, None
        for frame in frames:
            decoded += frame.width * frame.height
            time = position if frame.time is None else frame.time
            if is_first and time <= position:
                seeking = False
            is_first, last = False, frame
            is_near = frame.key_frame and target - tolerance <= time
            if time > position and (time >= target or is_near or decoded > MAX_DECODED_PIXELS):
                break
        if last is not None and (last.time is None or last.time > position):
            position = last.time or 0.0
            yield position, last
        seeking = seeking or decoded > MAX_DECODED_PIXELS


def seek(container: Any, stream: Any, target: float) -> Iterator[Any]:
    """The frames from the last key frame before a time; from the current position if the video can't seek."""
    try:
        container.seek(int(target / stream.time_base), stream=stream)
    except (OSError, ValueError, *FFMPEG):
        with contextlib.suppress(OSError, ValueError, *FFMPEG):  # without an index it stays at its position
            container.seek(0)
    return decode(container, stream)


def draw(frame: Any, ratio: float, conversion: Conversion) -> tuple[Image.Image, tuple[int, int]]:
    """The frame as an upright image within the conversion's limits, and its size without limits.

    `ratio` is width by height of a stored pixel as it is shown.
    """
    size = (max(1, round(frame.width * ratio)), frame.height)
    width, height = scale_size(size, choose_factor(size, conversion))
    image = frame.to_image(width=width, height=height)
    rotation = frame.rotation % 360
    if rotation in {90, 270}:
        size = (size[1], size[0])
    return (image.transpose(TURNS[rotation]) if rotation in TURNS else image), size
