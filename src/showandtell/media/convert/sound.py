"""Sounds made into other sounds, for the child only: another type, fewer samples a second, or the beginning alone."""

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
    """How a type of sound is written: FFmpeg's muxer and encoder, how many of its bits go into each of PCM's."""

    muxer: str
    codec: str
    ending: str
    options: dict[str, str]
    share: float | None = None


@dataclass(frozen=True)
class Quality:
    """At most so many samples a second in so many channels; bits a second for each, where the type has a choice."""

    rate: int
    channels: int
    bits: int


FORMS = {
    "audio/wav": AudioFormat("wav", "pcm_s16le", "wav", {}, 1.0),
    "audio/mpeg": AudioFormat("mp3", "libmp3lame", "mp3", {}),
    "audio/ogg": AudioFormat("ogg", "libopus", "ogg", {"vbr": "off"}),
    "audio/flac": AudioFormat("flac", "flac", "flac", {}, 0.4),
    "audio/aac": AudioFormat("adts", "aac", "aac", {}),
}
#: From the best to what speech still bears.
MONO = Quality(24_000, 1, 32_000)
QUALITIES = (
    Quality(48_000, 2, 64_000),
    Quality(24_000, 2, 40_000),
    MONO,
    Quality(16_000, 1, 24_000),
)
#: Measured: ten minutes to MP3 or AAC take 16 s of one core in stereo, 5 s in mono at 24 kHz.
MOST_SECONDS, LONG_SECONDS = 3600.0, 1200.0
#: A file of the child may have 64 MiB.
MOST_BYTES = 48 << 20
#: How often the end is cut off anew until what is left fits.
ROUNDS = 6


def make_audio(path: str, media_type: str, recipe: Conversion, folder: str) -> dict[str, Any]:
    """One file: the sound as the first of the recipe's types that can be written, within its bytes.

    `total` is the length in seconds, `cut` whether the end is missing. A film gives its sound track. Raises `BadFile`.
    """
    made = write_sound(Source(path, media_type), recipe.types, recipe.bytes, folder)
    return {"files": [made.path], "total": made.total, "cut": made.cut}


@dataclass(frozen=True)
class Source:
    """A file with sound in it."""

    path: str
    media_type: str


@dataclass(frozen=True)
class Output:
    """Where a sound is written, as what, and in how many bytes."""

    path: str
    form: AudioFormat
    limit: int


@dataclass(frozen=True)
class Written:
    """A sound that was written: how many bytes, how many seconds, and whether anything of its end was left out."""

    path: str
    size: int
    seconds: float
    cut: bool
    total: float | None = None


def write_sound(
    source: Source, types: tuple[str, ...], limit: int | None, folder: str, most: float = MOST_SECONDS
) -> Written:
    """Write the first `most` seconds of a file's sound, in the best quality that fits into so many bytes.

    What lasts longer than 20 minutes becomes mono at 24 kHz, for more would take too long to encode. Raises `BadFile`.
    """
    with open_sound(source.path, source.media_type) as container:
        form = choose_form(types)
        total = measure_seconds(container)
        codec = container.streams.audio[0].codec_context
        if codec is None:
            raise BadFile("", "has sound of a kind that can't be decoded", "save it anew, as MP3 or WAV")
        choices = list_qualities(form, codec.sample_rate, codec.channels)
    output = Output(str(Path(folder) / f"sound.{form.ending}"), form, min(limit or MOST_BYTES, MOST_BYTES))
    heard = min(total or most, most)
    if heard > LONG_SECONDS:
        choices = [one for one in choices if one.channels == 1 and one.rate <= MONO.rate] or choices[-1:]
    fitting = [one for one in choices if estimate(form, one) * heard <= output.limit]
    for quality in fitting[:-1]:
        made = encode(source, output, quality, most)
        if made.size <= output.limit:
            return settle(made, total)
    return settle(cut_to_fit(source, output, choices[-1], most), total)


def cut_to_fit(source: Source, output: Output, quality: Quality, most: float) -> Written:
    """As much of the beginning as the bytes hold; raises `BadFile` where not even a moment fits."""
    for _ in range(ROUNDS):
        made = encode(source, output, quality, most)
        if made.size <= output.limit and (made.seconds or not made.cut):
            return made
        most = made.seconds * 0.97 * min(1.0, output.limit / max(made.size, 1))
    raise BadFile("", f"can't be made as small as {output.limit} bytes", "allow it more bytes")


def settle(made: Written, total: float | None) -> Written:
    """The same, with the length that the container told, else the length that was heard to its end."""
    if made.seconds == 0:
        raise BadFile("", "has a sound track that can't be decoded", "save it anew as WAV or MP3")
    return replace(made, total=total or (None if made.cut else round(made.seconds, 3)))


def choose_form(types: tuple[str, ...]) -> AudioFormat:
    """The first type that can be written here; raises `BadFile`."""
    for one in types:
        if one in FORMS and can_encode(FORMS[one].codec):
            return FORMS[one]
    raise BadFile("", f"can't be written as {' or '.join(types) or 'nothing'}", "ask for audio/wav or audio/mpeg")


def can_encode(codec: str) -> bool:
    """Whether FFmpeg was built with an encoder of that name."""
    try:
        av.Codec(codec, "w")
    except av.codec.codec.UnknownCodecError:
        return False
    return True


def list_qualities(form: AudioFormat, rate: int, channels: int) -> list[Quality]:
    """Qualities from the best to the least, none of them finer than the sound itself, in rates that the type has."""
    rates = av.Codec(form.codec, "w").audio_rates
    found = (
        Quality(fit_rate(min(rate, one.rate), rates), max(1, min(channels, one.channels)), one.bits)
        for one in QUALITIES
    )
    return list(dict.fromkeys(found))


def fit_rate(rate: int, rates: list[int] | None) -> int:
    """The nearest rate that an encoder has, from above where there is one."""
    if not rates:
        return max(rate, 1)
    return min((one for one in rates if one >= rate), default=max(rates))


def estimate(form: AudioFormat, quality: Quality) -> float:
    """About how many bytes a second of it takes."""
    if form.share is not None:
        return quality.rate * quality.channels * 2 * form.share
    return quality.bits * quality.channels / 8


def encode(source: Source, output: Output, quality: Quality, most: float) -> Written:
    """Write at most `most` seconds; where the file passes its limit it stops early, and is then larger than that."""
    samples, cut, form = 0, False, output.form
    layout = "mono" if quality.channels == 1 else "stereo"
    with (
        Path(output.path).open("wb") as file,
        av.open(file, "w", format=form.muxer, options={"protocol_whitelist": ""}) as out,
    ):
        stream = out.add_stream(form.codec, rate=quality.rate, layout=layout, options=form.options)
        if form.share is None:
            stream.bit_rate = quality.bits * quality.channels
        for frame in resample(source, stream.format.name, layout, quality.rate):
            cut = samples + frame.samples > most * quality.rate or file.tell() > output.limit
            if cut:
                break
            samples += frame.samples
            frame.pts = None
            out.mux(stream.encode(frame))
        out.mux(stream.encode())
    return Written(output.path, Path(output.path).stat().st_size, samples / quality.rate, cut)


def resample(source: Source, form: str, layout: str, rate: int) -> Iterator[Any]:
    """The frames of a file's first sound in another sample format, layout and rate."""
    with open_media(source.path, source.media_type) as container:
        resampler = av.AudioResampler(form, layout, rate)
        for frame in decode(container, container.streams.audio[0]):
            frame.pts = None
            parts: list[Any] = []
            with contextlib.suppress(av.FFmpegError, ValueError):  # of another shape than the first, in a torn file
                parts = resampler.resample(frame)
            yield from parts
        yield from resampler.resample(None)


def decode(container: Any, stream: Any) -> Iterator[Any]:
    """All frames of a stream that can be decoded; what is torn is passed over, and a torn container ends."""
    packets = container.demux(stream)
    while True:
        try:
            packet = next(packets)
        except (StopIteration, OSError, EOFError, IndexError, av.FFmpegError):  # the last but one: a stream too late
            return
        frames: list[Any] = []
        with contextlib.suppress(av.FFmpegError):
            frames = packet.decode()
        yield from frames


def open_media(path: str, media_type: str) -> contextlib.AbstractContextManager[Any]:
    """A sound or a film, opened; raises `BadFile` where it can't be, or PyAV is not installed."""
    if av is None:
        raise missing("av", " to be converted")
    if media_type not in DEMUXERS:
        raise BadFile("", f"is no sound or film that can be opened here ({media_type})", "save it as MP4 or MP3")
    return open_container(path, media_type)


@contextlib.contextmanager
def open_sound(path: str, media_type: str) -> Generator[Any]:
    """The same, of a file with sound in it."""
    with open_media(path, media_type) as container:
        if not container.streams.audio:
            raise BadFile("", "has no sound", "send it as what it shows")
        yield container
