"""Files of about a size, by kind, for benches: a photo with noise as of a sensor, scanned pages, sound."""

from __future__ import annotations

import io
import wave
from collections.abc import Callable
from pathlib import Path
from typing import Any

import av
import numpy as np
from PIL import Image

MIB = 1 << 20
#: Pixels of a scanned page, A4 at 150 dots per inch.
PAGE = (1240, 1754)


def photo(width: int, height: int, seed: int = 1) -> Image.Image:
    """Soft colours and noise."""
    y, x = np.mgrid[0:height, 0:width]
    soft = np.stack([np.sin(x / 97 + y / 53), np.cos(x / 61 - y / 87), np.sin((x + y) / 131)], -1) * 80 + 128
    noise = np.random.default_rng(seed).normal(0, 6, soft.shape)
    return Image.fromarray((soft + noise).clip(0, 255).astype("uint8"))


def image(form: str, size: int, **options: Any) -> bytes:
    """A photo of about this many bytes: its sides grow until it has them."""
    side, data = 600.0, b""
    while len(data) < 0.9 * size:
        data = saved(photo(round(side), round(side * 3 / 4)), form, **options)
        side *= max(1.05, (size / len(data)) ** 0.5)
    return data


def saved(drawn: Image.Image, form: str, **options: Any) -> bytes:
    """An image as a file."""
    buffer = io.BytesIO()
    drawn.save(buffer, form, **options)
    return buffer.getvalue()


def scan(size: int) -> bytes:
    """A PDF of scanned pages."""
    page = len(saved(photo(*PAGE), "JPEG"))
    first, *others = [photo(*PAGE, seed) for seed in range(max(1, round(size / page)))]
    return saved(first, "PDF", save_all=True, append_images=others)


def sound(size: int) -> bytes:
    """A WAV."""
    buffer = io.BytesIO()
    with wave.open(buffer, "wb") as out:
        out.setnchannels(1)
        out.setsampwidth(2)
        out.setframerate(24_000)
        noise = np.random.default_rng(1).normal(0, 3000, size // 2)
        out.writeframes(noise.astype("<i2").tobytes())
    return buffer.getvalue()


def packed(form: str, codec: str, size: int) -> bytes:
    """The same sound, encoded until it has about this many bytes."""
    seconds = size * 8 / 64_000
    buffer = io.BytesIO()
    with av.open(buffer, "w", format=form) as out, av.open(io.BytesIO(sound(round(seconds * 48_000)))) as given:
        stream: Any = out.add_stream(codec, rate=48_000, layout="mono")
        stream.bit_rate = 64_000
        resampler = av.AudioResampler(stream.format, "mono", 48_000, frame_size=stream.frame_size or 1024)
        for frame in [*given.decode(audio=0), None]:
            for part in resampler.resample(frame):
                out.mux(stream.encode(part))
        out.mux(stream.encode())
    return buffer.getvalue()


KINDS: dict[str, Callable[[int], bytes]] = {
    "PNG": lambda size: image("PNG", size),
    "JPEG": lambda size: image("JPEG", size, quality=90),
    "WebP": lambda size: image("WEBP", size, quality=90),
    "GIF": lambda size: image("GIF", size),
    "PDF": scan,
    "WAV": sound,
    "MP3": lambda size: packed("mp3", "libmp3lame", size),
    "Ogg": lambda size: packed("ogg", "libopus", size),
    "M4A": lambda size: packed("ipod", "aac", size),
}


def write(folder: Path, kind: str, size: int) -> Path:
    """A file of a kind in a folder."""
    path = folder / f"{kind}-{size}.{kind.lower()}"
    path.write_bytes(KINDS[kind](size))
    return path
