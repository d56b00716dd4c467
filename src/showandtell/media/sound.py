"""Audio and video, only in the child: what a container's header says. PyAV is optional; WAV needs only Python."""

from __future__ import annotations

import contextlib
import wave
from collections.abc import Generator
from pathlib import Path
from typing import Any

from showandtell.core.media_types.claims import AUDIO_TYPES
from showandtell.media.refusals import explain_damage, torn_sound

try:
    import av as imported_av
except ImportError:
    imported_av = None

#: PyAV; None if it is not installed.
av: Any = imported_av
#: What FFmpeg raises, if it is installed.
FFMPEG: tuple[type[Exception], ...] = () if av is None else (av.FFmpegError,)
#: FFmpeg's unit of time for a whole container (AV_TIME_BASE).
MICROSECONDS = 1_000_000

#: FFmpeg's demuxer for a type. A fixed demuxer keeps out playlists and other formats that open further files.
DEMUXERS = {
    "audio/aac": "aac",
    "audio/aiff": "aiff",
    "audio/flac": "flac",
    "audio/mp4": "mov",
    "audio/mpeg": "mp3",
    "audio/ogg": "ogg",
    "audio/wav": "wav",
    "audio/webm": "matroska",
    "video/3gpp": "mov",
    "video/mp4": "mov",
    "video/mpeg": "mpeg",
    "video/ogg": "ogg",
    "video/quicktime": "mov",
    "video/webm": "matroska",
    "video/x-flv": "flv",
    "video/x-matroska": "matroska",
    "video/x-ms-wmv": "asf",
    "video/x-msvideo": "avi",
}


def probe_sound(path: str, media_type: str) -> dict[str, Any]:
    """Seconds and type; a container without video has the audio type."""
    if media_type not in DEMUXERS:
        return {"media_type": media_type}
    container = describe_sound(path, media_type)
    kinds = [stream["kind"] for stream in container.get("streams", ())]
    is_audio = "audio" in kinds and "video" not in kinds
    return {
        "media_type": AUDIO_TYPES.get(media_type, media_type) if is_audio else media_type,
        "seconds": container.get("seconds"),
    }


def describe_sound(path: str, media_type: str) -> dict[str, Any]:
    """What the header says: as `read_wave`, otherwise as `read_container`; empty for a type without a demuxer."""
    if media_type == "audio/wav" and (audio := read_wave(path)):
        return audio
    return read_container(path, media_type) if media_type in DEMUXERS else {}


def read_wave(path: str) -> dict[str, Any] | None:
    """Seconds, channels and rate of a PCM WAV, by the samples that it contains; None for other encodings."""
    try:
        with wave.open(path) as audio:
            frame = audio.getnchannels() * audio.getsampwidth()
            frames = min(audio.getnframes(), Path(path).stat().st_size // frame)
            return {
                "seconds": round(frames / audio.getframerate(), 3),
                "channels": audio.getnchannels(),
                "rate": audio.getframerate(),
            }
    except (wave.Error, EOFError, ZeroDivisionError, RuntimeError):  # RuntimeError: a chunk that points outside
        return None


def read_container(path: str, media_type: str) -> dict[str, Any]:
    """Seconds (None if the header doesn't say) and streams; empty without PyAV. Raises `BadFile` if it can't open."""
    if av is None:
        return {}
    with open_container(path, media_type) as container:
        return {"seconds": measure_seconds(container), "streams": name_streams(container, media_type)}


@contextlib.contextmanager
def open_container(path: str, media_type: str) -> Generator[Any]:
    """An audio or video file, opened with the demuxer of its type, which may open nothing else; raises `BadFile`."""
    with contextlib.ExitStack() as stack:
        stream = stack.enter_context(Path(path).open("rb"))
        options = {"protocol_whitelist": ""}
        try:
            opened = av.open(stream, format=DEMUXERS[media_type], options=options, metadata_errors="replace")
            container = stack.enter_context(opened)
        except (OSError, EOFError, ValueError, *FFMPEG) as error:
            raise torn_sound(media_type, explain_damage(error)) from None
        yield container


def measure_seconds(container: Any) -> float | None:
    """The duration of the container, otherwise of its longest stream."""
    if container.duration is not None and container.duration >= 0:
        return round(container.duration / MICROSECONDS, 3)
    durations = [
        float(stream.duration * stream.time_base)
        for stream in container.streams
        if stream.duration and stream.duration > 0 and stream.time_base
    ]
    return round(max(durations), 3) if durations else None


def name_streams(container: Any, media_type: str) -> list[dict[str, Any]]:
    """Describe every stream. At least one must have a codec: a header that is cut off leaves streams without."""
    if not any(stream.codec_context for stream in container.streams):
        raise torn_sound(media_type, "no stream has a known codec")
    return [name_stream(stream) for stream in container.streams]


def is_cover(stream: Any) -> bool:
    """Whether a stream is a still image that belongs to an audio or video file, such as the cover of a song."""
    disposition: Any = stream.disposition
    return "attached_pic" in (disposition.name or "")


def name_stream(stream: Any) -> dict[str, Any]:
    """A stream's kind, such as audio, video or cover, and codec; pixels for video, channels and rate for audio."""
    description: dict[str, Any] = {"kind": "cover" if is_cover(stream) else stream.type}
    codec = stream.codec_context
    if codec:
        description["codec"] = codec.name
    if codec and stream.type == "video":
        description["pixels"] = [codec.width, codec.height]
    if codec and stream.type == "audio":
        description |= {"channels": codec.channels, "rate": codec.rate}
    return description
