"""Converts audio, only in the child: to another type, to fewer samples a second, or to its beginning."""

from __future__ import annotations

import contextlib
from collections.abc import Generator, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from showandtell.core.messages.conversion import Conversion
from showandtell.errors import BadFile
from showandtell.media.convert.extras import missing
from showandtell.media.sound import DEMUXERS, av, measure_seconds, open_container


@dataclass(frozen=True)
class AudioFormat:
    """How an audio type is written: FFmpeg's muxer and encoder, and its size as a share of PCM if that is fixed."""

    muxer: str
    codec: str
    ending: str
    options: dict[str, str]
    share: float | None = None


@dataclass(frozen=True)
class Quality:
    """Maximum samples a second and channels; bits a second for each channel if the type has a choice."""

    rate: int
    channels: int
    bits: int


FORMATS = {
    "audio/wav": AudioFormat("wav", "pcm_s16le", "wav", {}, 1.0),
    "audio/mpeg": AudioFormat("mp3", "libmp3lame", "mp3", {}),
    "audio/ogg": AudioFormat("ogg", "libopus", "ogg", {"vbr": "off"}),
    "audio/flac": AudioFormat("flac", "flac", "flac", {}, 0.4),
    "audio/aac": AudioFormat("adts", "aac", "aac", {}),
}
#: From the best to the lowest that speech needs.
MONO = Quality(24_000, 1, 32_000)
QUALITIES = (
    Quality(48_000, 2, 64_000),
    Quality(24_000, 2, 40_000),
    MONO,
    Quality(16_000, 1, 24_000),
)
#: Measured: ten minutes to MP3 or AAC take 16 s of one core in stereo, 5 s in mono at 24 kHz.
MAX_SECONDS, LONG_SECONDS = 3600.0, 1200.0
#: The child may write files of 64 MiB.
MAX_BYTES = 48 << 20
#: How often the end is cut off again until the rest fits.
ROUNDS = 6


def make_audio(path: str, media_type: str, conversion: Conversion, folder: str) -> dict[str, Any]:
    """One file: the audio as the first of the conversion's types that can be written, within its bytes.

    `total` is the length in seconds, `cut` is True if the end is missing. Of a video, it converts the audio track.
    Raises `BadFile`.
    """
    encoded = write_audio(Source(path, media_type), conversion.types, conversion.bytes, folder)
    return {"files": [encoded.path], "total": encoded.total, "cut": encoded.cut}


@dataclass(frozen=True)
class Source:
    """A file with audio."""

    path: str
    media_type: str


@dataclass(frozen=True)
class Output:
    """Where audio is written, in which format, and the maximum of bytes."""

    path: str
    audio_format: AudioFormat
    limit: int


@dataclass(frozen=True)
class EncodedAudio:
    """An encoded file: its size in bytes, its seconds, and whether the end was cut off."""

    path: str
    size: int
    seconds: float
    cut: bool
    total: float | None = None


def write_audio(
    source: Source, types: tuple[str, ...], limit: int | None, folder: str, max_seconds: float = MAX_SECONDS
) -> EncodedAudio:
    """Write the first `max_seconds` of a file's audio in the best quality that fits into `limit` bytes.

    Audio of more than 20 minutes becomes mono at 24 kHz, because more takes too long to encode. Raises `BadFile`.
    """
    with open_audio(source.path, source.media_type) as container:
        audio_format = choose_format(types)
        total = measure_seconds(container)
        codec = container.streams.audio[0].codec_context
        if codec is None:
            raise BadFile("", "has sound of a kind that can't be decoded", "save it anew, as MP3 or WAV")
        choices = list_qualities(audio_format, codec.sample_rate, codec.channels)
    output = Output(
        str(Path(folder) / f"sound.{audio_format.ending}"), audio_format, min(limit or MAX_BYTES, MAX_BYTES)
    )
    seconds = min(total or max_seconds, max_seconds)
    if seconds > LONG_SECONDS:
        mono = [quality for quality in choices if quality.channels == 1 and quality.rate <= MONO.rate]
        choices = mono or choices[-1:]
    fitting = [quality for quality in choices if estimate(audio_format, quality) * seconds <= output.limit]
    for quality in fitting[:-1]:
        encoded = encode(source, output, quality, max_seconds)
        if encoded.size <= output.limit:
            return finish(encoded, total)
    return finish(cut_to_fit(source, output, choices[-1], max_seconds), total)


def cut_to_fit(source: Source, output: Output, quality: Quality, max_seconds: float) -> EncodedAudio:
    """As much of the beginning as fits into the bytes; raises `BadFile` if nothing fits."""
    for _ in range(ROUNDS):
        encoded = encode(source, output, quality, max_seconds)
        if encoded.size <= output.limit and (encoded.seconds or not encoded.cut):
            return encoded
        max_seconds = encoded.seconds * 0.97 * min(1.0, output.limit / max(encoded.size, 1))
    raise BadFile("", f"can't be made as small as {output.limit} bytes", "allow it more bytes")


def finish(encoded: EncodedAudio, total: float | None) -> EncodedAudio:
    """Set `total` to the container's length, otherwise to the decoded length if it is complete; raises `BadFile`."""
    if encoded.seconds == 0:
        raise BadFile("", "has a sound track that can't be decoded", "save it anew as WAV or MP3")
    return replace(encoded, total=total or (None if encoded.cut else round(encoded.seconds, 3)))


def choose_format(types: tuple[str, ...]) -> AudioFormat:
    """The format of the first type that can be written; raises `BadFile`."""
    for media_type in types:
        if media_type in FORMATS and can_encode(FORMATS[media_type].codec):
            return FORMATS[media_type]
    raise BadFile("", f"can't be written as {' or '.join(types) or 'nothing'}", "ask for audio/wav or audio/mpeg")


def can_encode(codec: str) -> bool:
    """Whether FFmpeg was built with an encoder of that name."""
    try:
        av.Codec(codec, "w")
    except av.codec.codec.UnknownCodecError:
        return False
    return True


def list_qualities(audio_format: AudioFormat, rate: int, channels: int) -> list[Quality]:
    """Qualities from the best to the lowest, none above that of the source, in rates that the encoder has."""
    rates = av.Codec(audio_format.codec, "w").audio_rates
    qualities = (
        Quality(fit_rate(min(rate, quality.rate), rates), max(1, min(channels, quality.channels)), quality.bits)
        for quality in QUALITIES
    )
    return list(dict.fromkeys(qualities))


def fit_rate(rate: int, rates: list[int] | None) -> int:
    """The lowest rate of the encoder that is high enough, otherwise its highest."""
    if not rates:
        return max(rate, 1)
    return min((candidate for candidate in rates if candidate >= rate), default=max(rates))


def estimate(audio_format: AudioFormat, quality: Quality) -> float:
    """Estimated bytes per second."""
    if audio_format.share is not None:
        return quality.rate * quality.channels * 2 * audio_format.share
    return quality.bits * quality.channels / 8


def encode(source: Source, output: Output, quality: Quality, max_seconds: float) -> EncodedAudio:
    """Write at most `max_seconds`; stops early when the file exceeds its limit, and is then larger than it."""
    samples, cut, audio_format = 0, False, output.audio_format
    layout = "mono" if quality.channels == 1 else "stereo"
    with (
        Path(output.path).open("wb") as file,
        av.open(file, "w", format=audio_format.muxer, options={"protocol_whitelist": ""}) as out,
    ):
        stream = out.add_stream(audio_format.codec, rate=quality.rate, layout=layout, options=audio_format.options)
        if audio_format.share is None:
            stream.bit_rate = quality.bits * quality.channels
        for frame in resample(source, stream.format.name, layout, quality.rate):
            cut = samples + frame.samples > max_seconds * quality.rate or file.tell() > output.limit
            if cut:
                break
            samples += frame.samples
            frame.pts = None
            out.mux(stream.encode(frame))
        out.mux(stream.encode())
    return EncodedAudio(output.path, Path(output.path).stat().st_size, samples / quality.rate, cut)


def resample(source: Source, sample_format: str, layout: str, rate: int) -> Iterator[Any]:
    """The frames of a file's first audio stream in another sample format, layout and rate."""
    with open_media(source.path, source.media_type) as container:
        resampler = av.AudioResampler(sample_format, layout, rate)
        for frame in decode(container, container.streams.audio[0]):
            frame.pts = None
            parts: list[Any] = []
            with contextlib.suppress(av.FFmpegError, ValueError):  # frames in a torn file may differ from the first
                parts = resampler.resample(frame)
            yield from parts
        yield from resampler.resample(None)


def decode(container: Any, stream: Any) -> Iterator[Any]:
    """All frames of a stream that can be decoded. Skips torn packets and stops where the container is torn."""
    packets = container.demux(stream)
    while True:
        try:
            packet = next(packets)
        except (StopIteration, OSError, EOFError, IndexError, av.FFmpegError):  # IndexError: a late stream
            return
        frames: list[Any] = []
        with contextlib.suppress(av.FFmpegError):
            frames = packet.decode()
        yield from frames


def open_media(path: str, media_type: str) -> contextlib.AbstractContextManager[Any]:
    """Open an audio or video file; raises `BadFile` if that fails or PyAV is not installed."""
    if av is None:
        raise missing("av", " to be converted")
    if media_type not in DEMUXERS:
        raise BadFile("", f"is no sound or film that can be opened here ({media_type})", "save it as MP4 or MP3")
    return open_container(path, media_type)


@contextlib.contextmanager
def open_audio(path: str, media_type: str) -> Generator[Any]:
    """Open a file that has audio; raises `BadFile` otherwise."""
    with open_media(path, media_type) as container:
        if not container.streams.audio:
            raise BadFile("", "has no sound", "send it as what it shows")
        yield container
