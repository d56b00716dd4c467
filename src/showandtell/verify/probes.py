"""Fresh files with code words that nobody can guess: a model that says the word has seen, read or heard the file.

Codes come from a seed, so that a recorded test can be played again; a new test has a new seed.
"""

from __future__ import annotations

import re
import secrets
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Literal, TypeAlias, get_args

from msgspec import Struct

from showandtell.errors import BadInput
from showandtell.media import gate

Sort: TypeAlias = Literal["image", "document", "audio", "video"]
#: What a code is written in: "sound" is spoken, "text" a layer of words that is not drawn.
Layer: TypeAlias = Literal["pixels", "text", "sound"]
SORTS: tuple[Sort, ...] = get_args(Sort)

#: One type for each kind, the one that most apis take.
TYPES: dict[Sort, str] = {
    "image": "image/png",
    "document": "application/pdf",
    "audio": "audio/wav",
    "video": "video/mp4",
}
ENDINGS: dict[Sort, str] = {"image": "png", "document": "pdf", "audio": "wav", "video": "mp4"}
#: No two of these are taken for each other, read or heard: neither 0, 1, 2, 5, 6, 8 nor their likes.
LETTERS = "ACDEFHJKLMNPRTUWXY3479"
LENGTH = 7
#: Words of two syllables that sound like no other of them.
WORDS = re.findall(
    r"\w+",
    """
    anchor basket candle dragon engine falcon garden hammer island jacket kitten lemon marble needle orange pepper
    rabbit saddle tiger umbrella velvet walnut yellow zebra
    """,
)
SPOKEN = 4
SPEAKER = "espeak-ng"
SECONDS = 30


class Probe(Struct, frozen=True):
    """A file, the codes that are hidden in it by their layer, and how many shapes there are to count (0: none)."""

    data: bytes
    media_type: str
    name: str
    codes: tuple[tuple[Layer, str], ...]
    shapes: int = 0


#: Makes a file of a kind. Raises `BadInput` where this machine can't, which says what is missing.
Make: TypeAlias = Callable[[Sort, Random], Probe]


def new_seed() -> str:
    """A seed that nobody can guess."""
    return secrets.token_hex(16)


def choose_code(random: Random) -> str:
    """A code word of letters and digits."""
    return "".join(random.choices(LETTERS, k=LENGTH))


def make_probe(sort: Sort, random: Random) -> Probe:
    """A fresh file of a kind. Raises `BadInput` where espeak-ng or PyAV would be needed and is not installed."""
    shapes = 0
    match sort:
        case "image":
            codes: tuple[tuple[Layer, str], ...] = (("pixels", choose_code(random)),)
            shapes = random.randint(3, 7)
            data = gate.draw_probe(sort, [codes[0][1]], shapes)
        case "document":
            codes = (("text", choose_code(random)), ("pixels", choose_code(random)))
            data = gate.draw_probe(sort, [code for _, code in codes])
        case "video":
            codes = (("pixels", choose_code(random)),)
            data = gate.draw_probe(sort, [codes[0][1]])
        case "audio":
            codes = (("sound", " ".join(random.sample(WORDS, SPOKEN))),)
            data = speak(codes[0][1])
    return Probe(data, TYPES[sort], f"{sort}-{random.randint(100, 999)}.{ENDINGS[sort]}", codes, shapes)


def speak(words: str) -> bytes:
    """Words as a WAV, spoken slowly. Raises `BadInput` where espeak-ng is not installed, or fails."""
    program = shutil.which(SPEAKER)
    if program is None:
        raise BadInput(f"{SPEAKER} is not installed, and nothing else here can speak: install it with your packages")
    with tempfile.TemporaryDirectory(prefix="showandtell-speech-") as folder:
        path = Path(folder) / "words.wav"
        command = [program, "-v", "en", "-s", "120", "-w", str(path), words.replace(" ", ", ")]
        try:
            subprocess.run(command, check=True, capture_output=True, timeout=SECONDS)  # noqa: S603 - words of ours
            return path.read_bytes()
        except (OSError, subprocess.SubprocessError) as error:
            raise BadInput(f"{SPEAKER} could not speak ({type(error).__name__})") from None
