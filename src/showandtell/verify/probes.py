"""Makes files with random code words: a model that answers with the word has seen, read or heard the file.

Codes derive from a seed, so that a recorded check can be replayed. Each new check has a new seed.
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

ProbeKind: TypeAlias = Literal["image", "document", "audio", "video"]
#: Where a code is hidden: "sound" is speech, "text" an invisible text layer.
Layer: TypeAlias = Literal["pixels", "text", "sound"]
KINDS: tuple[ProbeKind, ...] = get_args(ProbeKind)

#: The media type for each kind, the one that most APIs support.
TYPES: dict[ProbeKind, str] = {
    "image": "image/png",
    "document": "application/pdf",
    "audio": "audio/wav",
    "video": "video/mp4",
}
ENDINGS: dict[ProbeKind, str] = {"image": "png", "document": "pdf", "audio": "wav", "video": "mp4"}
#: Characters that can't be confused, read or heard: without 0, 1, 2, 5, 6, 8 and similar letters.
ALPHABET = "ACDEFHJKLMNPRTUWXY3479"
CODE_LENGTH = 7
#: Words of two syllables that sound different from each other.
WORDS = re.findall(
    r"\w+",
    """
    anchor basket candle dragon engine falcon garden hammer island jacket kitten lemon marble needle orange pepper
    rabbit saddle tiger umbrella velvet walnut yellow zebra
    """,
)
SPOKEN_WORDS = 4
SPEAKER = "espeak-ng"
SPEECH_TIMEOUT = 30


class Probe(Struct, frozen=True):
    """A file, the codes hidden in it with their layers, and the number of shapes to count (0: none)."""

    data: bytes
    media_type: str
    name: str
    codes: tuple[tuple[Layer, str], ...]
    shapes: int = 0


#: Makes a file of a kind. Raises `BadInput`, which names what this machine lacks.
Make: TypeAlias = Callable[[ProbeKind, Random], Probe]


def new_seed() -> str:
    """A random seed from the system's secure source."""
    return secrets.token_hex(16)


def choose_code(random: Random) -> str:
    """A random code word of letters and digits."""
    return "".join(random.choices(ALPHABET, k=CODE_LENGTH))


def make_probe(kind: ProbeKind, random: Random) -> Probe:
    """Make a file with new codes. Raises `BadInput` if it needs espeak-ng or PyAV, and that isn't installed."""
    shapes = 0
    match kind:
        case "image":
            codes: tuple[tuple[Layer, str], ...] = (("pixels", choose_code(random)),)
            shapes = random.randint(3, 7)
            data = gate.draw_probe(kind, [codes[0][1]], shapes)
        case "document":
            codes = (("text", choose_code(random)), ("pixels", choose_code(random)))
            data = gate.draw_probe(kind, [code for _, code in codes])
        case "video":
            codes = (("pixels", choose_code(random)),)
            data = gate.draw_probe(kind, [codes[0][1]])
        case "audio":
            codes = (("sound", " ".join(random.sample(WORDS, SPOKEN_WORDS))),)
            data = speak(codes[0][1])
    return Probe(data, TYPES[kind], f"{kind}-{random.randint(100, 999)}.{ENDINGS[kind]}", codes, shapes)


def speak(text: str) -> bytes:
    """A WAV file with a text, spoken slowly. Raises `BadInput` if espeak-ng isn't installed, or fails."""
    executable = shutil.which(SPEAKER)
    if executable is None:
        raise BadInput(f"{SPEAKER} is not installed, and is needed to make audio: install it with your package manager")
    with tempfile.TemporaryDirectory(prefix="showandtell-speech-") as folder:
        path = Path(folder) / "words.wav"
        command = [executable, "-v", "en", "-s", "120", "-w", str(path), text.replace(" ", ", ")]
        try:
            subprocess.run(command, check=True, capture_output=True, timeout=SPEECH_TIMEOUT)  # noqa: S603 - our own text
            return path.read_bytes()
        except (OSError, subprocess.SubprocessError) as error:
            raise BadInput(f"{SPEAKER} failed ({type(error).__name__})") from None
