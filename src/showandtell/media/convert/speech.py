"""Transcribes speech by PocketSphinx, only in the child: American English, locally, without a network.

PocketSphinx is small and old, and its words are often wrong. The transcript says so first.
"""

from __future__ import annotations

import functools
import io
import time
from collections.abc import Callable, Iterator
from typing import Any

from showandtell.core.messages.conversion import Conversion
from showandtell.errors import BadFile
from showandtell.media.convert.audio import Source, open_audio, resample
from showandtell.media.convert.extras import missing
from showandtell.media.sound import measure_seconds

try:
    import pocketsphinx as untyped  # pyright: ignore[reportMissingTypeStubs] - it ships none
except ImportError:
    untyped = None

sphinx: Any = untyped

RATE = 16_000
BYTES_A_SECOND = RATE * 2
MAX_SECONDS = 600
#: Length of a line; longer speech without a pause is split there.
LINE_SECONDS = 30
#: Speech that isn't transcribed by then is cut off, so that the rest isn't lost.
MAX_WORK_SECONDS = 90.0
#: Measured on read English (34 s of LibriVox): 23 % of the words wrong, as with the defaults, in half the time: 10 min
#: take about 50 s.
QUICK = {"fwdflat": False, "ds": 2, "maxhmmpf": 3000}
HEADING = (
    "Machine transcript by PocketSphinx (American English only). Many of its words may be wrong; "
    "music, noise and other languages come out as words that nobody said."
)


def make_transcript(
    path: str, media_type: str, conversion: Conversion, folder: str, clock: Callable[[], float] = time.monotonic
) -> dict[str, Any]:
    """The transcript as `text`, a line for about each half minute with its time, `[1:30] …`; `total` seconds of audio.

    `cut` is True if the end is missing: there are more than ten minutes, or it took too long. Raises `BadFile`.
    """
    del conversion, folder
    if sphinx is None:
        raise missing("asr", " to be written down")
    samples, total, cut = read_samples(path, media_type)
    deadline = clock() + MAX_WORK_SECONDS
    spoken: list[tuple[float, str]] = []
    for start, chunk in split_speech(samples):
        if clock() > deadline:
            cut = True
            break
        spoken += [(start, words)] if (words := recognize(chunk)) else []
    return {"text": f"{HEADING}\n\n{write_lines(spoken)}", "total": total, "cut": cut}


def read_samples(path: str, media_type: str) -> tuple[bytes, float, bool]:
    """The first ten minutes as 16-bit samples, mono, 16 kHz; the total seconds; and whether there is more."""
    with open_audio(path, media_type) as container:
        duration = measure_seconds(container)
    samples, max_bytes = bytearray(), MAX_SECONDS * BYTES_A_SECOND
    for frame in resample(Source(path, media_type), "s16", "mono", RATE):
        samples += bytes(frame.planes[0])[: frame.samples * 2]
        if len(samples) > max_bytes:
            break
    if not samples:
        raise BadFile("", "has a sound track that can't be decoded", "save it anew as WAV or MP3")
    seconds = len(samples) / BYTES_A_SECOND
    return bytes(samples[:max_bytes]), duration or round(seconds, 3), len(samples) > max_bytes


def split_speech(samples: bytes) -> Iterator[tuple[float, bytes]]:
    """The segments that seem to hold speech, each with its start in seconds."""
    max_bytes = LINE_SECONDS * BYTES_A_SECOND
    for segment in sphinx.Segmenter(sample_rate=RATE).segment(io.BytesIO(samples)):
        for offset in range(0, len(segment.pcm), max_bytes):
            yield segment.start_time + offset / BYTES_A_SECOND, segment.pcm[offset : offset + max_bytes]


def recognize(samples: bytes) -> str:
    """The words in a segment; empty if none are recognized."""
    decoder = start_decoder()
    decoder.start_utt()
    decoder.process_raw(samples, full_utt=True)
    decoder.end_utt()
    hypothesis = decoder.hyp()
    return hypothesis.hypstr if hypothesis else ""


@functools.cache
def start_decoder() -> Any:
    """The decoder; its model is loaded at first use."""
    model = {
        "hmm": sphinx.get_model_path("en-us/en-us"),
        "lm": sphinx.get_model_path("en-us/en-us.lm.bin"),
        "dict": sphinx.get_model_path("en-us/cmudict-en-us.dict"),
    }
    return sphinx.Decoder(**model, **QUICK, samprate=RATE, loglevel="FATAL")


def write_lines(spoken: list[tuple[float, str]]) -> str:
    """Join segments into lines of about half a minute, each with the start of its first segment."""
    lines: list[tuple[float, list[str]]] = []
    for start, words in spoken:
        if lines and start - lines[-1][0] < LINE_SECONDS:
            lines[-1][1].append(words)
        else:
            lines.append((start, [words]))
    return "\n".join(f"{format_time(start)} {' '.join(words)}" for start, words in lines) or "No words were made out."


def format_time(seconds: float) -> str:
    """`[1:05]`, from one hour on `[1:01:05]`."""
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"[{hours}:{minutes:02}:{rest:02}]" if hours else f"[{minutes}:{rest:02}]"
