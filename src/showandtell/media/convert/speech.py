"""Speech made into words by PocketSphinx, for the child only: American English, on this machine, without a network.

It is small and old, and its words are often wrong; the text says so first.
"""

from __future__ import annotations

import functools
import io
import time
from collections.abc import Callable, Iterator
from typing import Any

from showandtell.core.messages.conversion import Conversion
from showandtell.errors import BadFile
from showandtell.media.convert.extras import missing
from showandtell.media.convert.sound import Source, open_sound, resample
from showandtell.media.sound import measure_seconds

try:
    import pocketsphinx as untyped  # pyright: ignore[reportMissingTypeStubs] - it ships none
except ImportError:
    untyped = None

sphinx: Any = untyped

RATE = 16_000
BYTES_A_SECOND = RATE * 2
MOST_SECONDS = 600
#: One line holds so many seconds; what is said without a pause for longer is parted there.
LINE_SECONDS = 30
#: What isn't done by then is cut off, rather than lose it all.
MOST_WORK = 90.0
#: Measured on read English (34 s of LibriVox): 23 % of the words wrong, as with the defaults, in half the time: 10 min
#: take about 50 s.
QUICK = {"fwdflat": False, "ds": 2, "maxhmmpf": 3000}
HEADING = (
    "Machine transcript by PocketSphinx (American English only). Many of its words may be wrong; "
    "music, noise and other languages come out as words that nobody said."
)


def make_transcript(
    path: str, media_type: str, recipe: Conversion, folder: str, clock: Callable[[], float] = time.monotonic
) -> dict[str, Any]:
    """The words as `text`, a line for each half minute or so with its time, `[1:30] …`; `total` seconds of sound.

    `cut` says that not all was heard: there are more than ten minutes, or it took too long. Raises `BadFile`.
    """
    del recipe, folder
    if sphinx is None:
        raise missing("asr", " to be written down")
    sound, total, cut = read_samples(path, media_type)
    until = clock() + MOST_WORK
    spoken: list[tuple[float, str]] = []
    for start, samples in part_speech(sound):
        if clock() > until:
            cut = True
            break
        spoken += [(start, words)] if (words := recognise(samples)) else []
    return {"text": f"{HEADING}\n\n{write_lines(spoken)}", "total": total, "cut": cut}


def read_samples(path: str, media_type: str) -> tuple[bytes, float, bool]:
    """The first ten minutes as 16-bit samples, mono, 16 kHz; the seconds of the whole; and whether there is more."""
    with open_sound(path, media_type) as container:
        told = measure_seconds(container)
    samples, most = bytearray(), MOST_SECONDS * BYTES_A_SECOND
    for frame in resample(Source(path, media_type), "s16", "mono", RATE):
        samples += bytes(frame.planes[0])[: frame.samples * 2]
        if len(samples) > most:
            break
    if not samples:
        raise BadFile("", "has a sound track that can't be decoded", "save it anew as WAV or MP3")
    heard = len(samples) / BYTES_A_SECOND
    return bytes(samples[:most]), told or round(heard, 3), len(samples) > most


def part_speech(sound: bytes) -> Iterator[tuple[float, bytes]]:
    """The stretches in which somebody seems to speak, each with the second it starts at."""
    most = LINE_SECONDS * BYTES_A_SECOND
    for stretch in sphinx.Segmenter(sample_rate=RATE).segment(io.BytesIO(sound)):
        for at in range(0, len(stretch.pcm), most):
            yield stretch.start_time + at / BYTES_A_SECOND, stretch.pcm[at : at + most]


def recognise(samples: bytes) -> str:
    """The words of a stretch; empty where none are made out."""
    decoder = start_decoder()
    decoder.start_utt()
    decoder.process_raw(samples, full_utt=True)
    decoder.end_utt()
    found = decoder.hyp()
    return found.hypstr if found else ""


@functools.cache
def start_decoder() -> Any:
    """The decoder, its model loaded at first need and kept."""
    model = {
        "hmm": sphinx.get_model_path("en-us/en-us"),
        "lm": sphinx.get_model_path("en-us/en-us.lm.bin"),
        "dict": sphinx.get_model_path("en-us/cmudict-en-us.dict"),
    }
    return sphinx.Decoder(**model, **QUICK, samprate=RATE, loglevel="FATAL")


def write_lines(spoken: list[tuple[float, str]]) -> str:
    """Stretches joined into lines of about half a minute, each with the time of its first word."""
    lines: list[tuple[float, list[str]]] = []
    for start, words in spoken:
        if lines and start - lines[-1][0] < LINE_SECONDS:
            lines[-1][1].append(words)
        else:
            lines.append((start, [words]))
    return "\n".join(f"{spell_time(start)} {' '.join(words)}" for start, words in lines) or "No words were made out."


def spell_time(seconds: float) -> str:
    """`[1:05]`, from one hour on `[1:01:05]`."""
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"[{hours}:{minutes:02}:{rest:02}]" if hours else f"[{minutes}:{rest:02}]"
