"""Sound and film, for the child only: what a container's header says. PyAV is optional; WAV needs only Python."""

from __future__ import annotations

import contextlib
import wave
from collections.abc import Generator
from pathlib import Path
from typing import Any

from showandtell.errors import BadFile

try:
    import av as found_av
except ImportError:
    found_av = None

#: PyAV; None where it is not installed.
av: Any = found_av
#: What FFmpeg raises, where it is installed.
FFMPEG: tuple[type[Exception], ...] = () if av is None else (av.FFmpegError,)
#: FFmpeg's unit of time for a whole container (AV_TIME_BASE).
MICROSECONDS = 1_000_000

#: FFmpeg's demuxer for a type; naming it keeps playlists and other formats that open files of their own out.
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


def read_wave(path: str) -> dict[str, Any] | None:
    """Seconds, channels and rate of a PCM WAV, by the samples that are there; None for other encodings."""
    try:
        with wave.open(path) as sound:
            frame = sound.getnchannels() * sound.getsampwidth()
            frames = min(sound.getnframes(), Path(path).stat().st_size // frame)
            return {
                "seconds": round(frames / sound.getframerate(), 3),
                "channels": sound.getnchannels(),
                "rate": sound.getframerate(),
            }
    except (wave.Error, EOFError, ZeroDivisionError, RuntimeError):  # the last for a chunk that points outside
        return None


def read_container(path: str, media_type: str) -> dict[str, Any]:
    """Seconds (None where the header doesn't say) and streams; empty without PyAV, `BadFile` where it can't open."""
    if av is None:
        return {}
    with open_container(path, media_type) as container:
        return {"seconds": measure_seconds(container), "streams": name_streams(container, media_type)}


@contextlib.contextmanager
def open_container(path: str, media_type: str) -> Generator[Any]:
    """A sound or a film, by PyAV and the demuxer of its type alone, which may open nothing else; raises `BadFile`."""
    with contextlib.ExitStack() as opened:
        stream = opened.enter_context(Path(path).open("rb"))
        options = {"protocol_whitelist": ""}
        try:
            found = av.open(stream, format=DEMUXERS[media_type], options=options, metadata_errors="replace")
            container = opened.enter_context(found)
        except (OSError, EOFError, ValueError, *FFMPEG) as error:
            raise torn(media_type, getattr(error, "strerror", None) or "it ends early") from None
        yield container


def torn(media_type: str, why: str) -> BadFile:
    """What to say of a container that doesn't open."""
    return BadFile("", f"is torn: it begins as {media_type} but can't be read ({why})", "save or download it anew")


def measure_seconds(container: Any) -> float | None:
    """The duration of the whole, else of its longest stream."""
    if container.duration is not None:
        return round(container.duration / MICROSECONDS, 3)
    found = [float(one.duration * one.time_base) for one in container.streams if one.duration and one.time_base]
    return round(max(found), 3) if found else None


def name_streams(container: Any, media_type: str) -> list[dict[str, Any]]:
    """Every stream; at least one must have a codec, for a header cut short leaves streams that have none."""
    if not any(stream.codec_context for stream in container.streams):
        raise torn(media_type, "no stream has a known codec")
    return [name_stream(stream) for stream in container.streams]


def is_cover(stream: Any) -> bool:
    """Whether a stream is one still picture that belongs to a sound or a film, as the cover of a song."""
    disposition: Any = stream.disposition
    return "attached_pic" in (disposition.name or "")


def name_stream(stream: Any) -> dict[str, Any]:
    """A stream's kind, such as audio, video or cover, and codec, with pixels for film, channels and rate for sound."""
    found: dict[str, Any] = {"kind": "cover" if is_cover(stream) else stream.type}
    codec = stream.codec_context
    if codec:
        found["codec"] = codec.name
    if codec and stream.type == "video":
        found["pixels"] = [codec.width, codec.height]
    if codec and stream.type == "audio":
        found |= {"channels": codec.channels, "rate": codec.rate}
    return found
