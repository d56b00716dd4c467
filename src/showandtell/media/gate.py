"""The one gate to media: what a file is, what is in it, what can be made of it. Decoders run in a child with limits.

Nothing is remembered here: a file is proved again each time it is asked about.
"""

from __future__ import annotations

import atexit
import os
import sys
from base64 import b64decode
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO, Literal, TypeAlias

from msgspec import Struct, convert
from msgspec.structs import replace

from showandtell.core.media_types.claims import UNKNOWN, name_correction, read_claim
from showandtell.core.media_types.kinds import Kind, kind_of
from showandtell.core.media_types.signatures import Peek, narrow_type, recognise
from showandtell.core.messages.conversion import MOST_CHARACTERS
from showandtell.errors import BadFile
from showandtell.media.text import is_other_text, name_text
from showandtell.media.worker import ChildFailed, ChildLate, WorkerPool

Task: TypeAlias = Literal["prove", "describe", "read", "make", "strip"]

#: How long a file may take to decode; the first one waits for the child to start, too.
SECONDS = 10.0
#: Reading words takes longer, and loads its models first.
OCR_SECONDS = 60.0
TEXT_LIMIT = 100_000
COMMAND = (sys.executable, "-P", "-B", "-m", "showandtell.media.child")
#: What a conversion may take, by the recipe's name.
MAKE_SECONDS = {
    "image": 20.0,
    "pages": 60.0,
    "text": 60.0,
    "audio": 120.0,
    "frames": 120.0,
    "transcript": 120.0,
    "thumbnail": 30.0,
}
#: What one conversion may hand back: a film's frames and its sound are far below.
MADE_FILES, MADE_BYTES = 64, 256 << 20
#: Two, so that a hostile file that takes all its time doesn't stop every other one.
MEDIA = WorkerPool(COMMAND, 2)
#: Conversions have children of their own, who may write: proving never waits for a film. A film may wait for another.
MAKERS = WorkerPool((*COMMAND, "--convert"), 2, patience=240.0)
OCR = WorkerPool((*COMMAND, "--ocr"), 1)


class Proof(Struct, frozen=True):
    """What the bytes are, by signature and structure: IANA type, width and height, pages, seconds, each if any.

    `frames` counts the pictures of an animation or of a TIFF with several pages, up to 10,000; None for a single one.
    `corrected` is what the file claimed to be, by media type or by name, where its bytes say otherwise.
    """

    media_type: str
    pixels: tuple[int, int] | None = None
    pages: int | None = None
    seconds: float | None = None
    corrected: str | None = None
    frames: int | None = None


class Made(Struct, frozen=True):
    """What a conversion gave: `files`, which lie in the given folder, or `text`. The rest is as in `Derivative`.

    `scale` is linear, made to original; `pages` count from 1; `times` and, of sound and film, `total` are seconds.
    """

    files: tuple[Path, ...] = ()
    text: str | None = None
    scale: float = 1.0
    pages: tuple[int, ...] = ()
    times: tuple[float, ...] = ()
    total: float | None = None
    cut: bool = False


def prove(path: Path, *, claimed: str | None, name: str) -> Proof:
    """Find out what a file is; `claimed` is the media type that somebody gave it, `name` what to call it in errors.

    Raises `BadFile` where it is empty, torn, locked, without pages, a picture of too many pixels, or stops the decoder.
    """
    claim = read_claim(claimed, name)
    candidate = name_type(path, claim, name)
    proof = Proof(candidate)
    if needs_decoder(candidate):
        proof = convert(ask_child("prove", path, candidate, name), Proof)
    return replace(proof, corrected=name_correction(claimed, claim, proof.media_type))


def describe(path: Path, media_type: str) -> dict[str, object]:
    """What is in a proved file, in JSON's values; empty for types that nothing here can read.

    Images: `pixels` [width, height] and `colours`, up to three [word, share of 1]. PDFs: `pages`, `text`. WAV:
    `seconds`, `channels`, `rate`. Other sound and film: `seconds`, `streams`. Text: `text`. Raises `BadFile`.
    """
    if kind_of(media_type) == "text":
        return {"text": read_text(path)}
    return ask_child("describe", path, media_type, path.name) if needs_decoder(media_type) else {}


def read_text_in(path: Path, media_type: str) -> str | None:
    """The words in an image, or in a PDF's first three pages where they have no text layer; empty where none are found.

    None where OCR is not installed or the type is neither of these. Raises `BadFile`.
    """
    if not (media_type.startswith("image/") or media_type == "application/pdf"):
        return None
    return ask_child("read", path, media_type, path.name)


def make(path: Path, media_type: str, recipe: str, folder: Path) -> Made:
    """Convert a proved file as `recipe` says; what is made is written into `folder`, an empty one of the caller's.

    Raises `BadFile` where that can't be made of this type, a decoder is not installed, or the limits are passed.
    """
    if media_type != "text/html" and kind_of(media_type) == "text" and recipe.partition("?")[0] == "text":
        text = read_text(path, MOST_CHARACTERS + 1)
        return Made(text=text[:MOST_CHARACTERS], cut=len(text) > MOST_CHARACTERS)
    found = ask_child("make", path, media_type, path.name, recipe=recipe, folder=os.fspath(folder.resolve(strict=True)))
    files = [check_made(Path(one), folder, path.name) for one in found.pop("files", ())]
    if len(files) > MADE_FILES or sum(one.stat().st_size for one in files) > MADE_BYTES:
        raise BadFile(path.name, "became too much when it was converted", "ask for less of it")
    return replace(convert(found, Made), files=tuple(files))


def check_made(path: Path, folder: Path, name: str) -> Path:
    """One result of the child, which is not to be trusted: a plain file that lies in the folder itself."""
    if path.parent != folder.resolve() or path.is_symlink() or not path.is_file():
        raise BadFile(name, "was converted into something that is no file", "it may be hostile; save it anew")
    return folder / path.name


def strip_location(path: Path, media_type: str, folder: Path) -> Path | None:
    """A copy in `folder` without the place where a picture was taken; None where it tells no place, or is no picture.

    GPS goes from EXIF and XMP; pixels, orientation and all else stay byte for byte. Raises `BadFile` where a place
    can't be taken out without encoding the picture anew.
    """
    if kind_of(media_type) != "image":
        return None
    stripped = ask_child("strip", path, media_type, path.name, folder=os.fspath(folder.resolve(strict=True)))
    return check_made(Path(stripped), folder, path.name) if stripped else None


def draw_chart(title: str, values: list[float], labels: list[str]) -> bytes:
    """A bar chart as PNG, 720 by 420 pixels; `labels` stand under the first bars. Raises `BadFile`."""
    request = {"ask": "draw", "path": "the chart", "title": title, "values": values, "labels": labels}
    return b64decode(ask(MEDIA, SECONDS, request, "the chart", "try again with fewer values"))


def draw_probe(kind: Kind, codes: Sequence[str], shapes: int = 0) -> bytes:
    """A file that holds these codes, over up to seven shapes: a PNG, a PDF of two pages, or an MP4 (with PyAV).

    A PDF has its first code in a text layer alone, its second in pixels alone. Raises `BadFile`.
    """
    name = f"the {kind} of the eye test"
    request = {"ask": "probe", "path": name, "kind": kind, "codes": list(codes), "shapes": shapes}
    return b64decode(ask(MEDIA, SECONDS, request, name, "try again"))


def name_type(path: Path, claim: str | None, name: str) -> str:
    """The candidate by signature, else by its text."""
    size = path.stat().st_size
    if size == 0:
        raise BadFile(name, "is empty (0 bytes)", "check that it was written before it was handed in")
    with path.open("rb") as stream:
        candidate = recognise(peek_into(stream), size) or name_text(stream, size, claim)
        if candidate is None and claim and kind_of(claim) == "text":
            refuse_other_text(stream, name)
    return narrow_type(candidate or UNKNOWN, claim)


def refuse_other_text(stream: BinaryIO, name: str) -> None:
    """Raise `BadFile` where what should be text is text, but not UTF-8: models would be given other letters."""
    stream.seek(0)
    if is_other_text(stream):
        raise BadFile(name, "is not UTF-8 text", "save it as UTF-8")


def peek_into(stream: BinaryIO) -> Peek:
    """Read anywhere in an open file; what lies outside is empty."""

    def peek(offset: int, length: int) -> bytes:
        stream.seek(max(offset, 0))
        return stream.read(max(length, 0))

    return peek


def needs_decoder(media_type: str) -> bool:
    """Whether a type has something that only a decoder can tell."""
    return media_type == "application/pdf" or kind_of(media_type) in {"image", "audio", "video"}


def ask_child(task: Task, path: Path, media_type: str, name: str, **more: str) -> Any:
    """What a child finds in a file."""
    request = {"ask": task, "path": os.fspath(path.resolve(strict=True)), "media_type": media_type, **more}
    crew, seconds = choose_crew(task, more.get("recipe", ""))
    return ask(crew, seconds, request, name, "it may be damaged or hostile; save it anew, or smaller")


def choose_crew(task: Task, recipe: str) -> tuple[WorkerPool, float]:
    """Who is asked, and how many seconds it may take."""
    match task:
        case "read":
            return OCR, OCR_SECONDS
        case "make":
            return MAKERS, MAKE_SECONDS.get(recipe.partition("?")[0], SECONDS)
        case "strip":
            return MAKERS, MAKE_SECONDS["image"]
        case "prove" | "describe":
            return MEDIA, SECONDS


def ask(crew: WorkerPool, seconds: float, request: Mapping[str, object], name: str, advice: str) -> Any:
    """The child's finding; its refusal, its death and its silence become `BadFile` with this name.

    `advice` is for when it says nothing itself.
    """
    try:
        answer = crew.ask(request, seconds)
    except ChildFailed as error:
        raise BadFile(name, str(error), advice, passing=isinstance(error, ChildLate)) from None
    if "found" not in answer:
        raise BadFile(name, answer["problem"], answer["advice"], passing=answer.get("passing", False))
    return answer["found"]


def read_text(path: Path, most: int = TEXT_LIMIT) -> str:
    """The first 100,000 characters, or as many as that."""
    with path.open(encoding="utf-8-sig", errors="replace", newline=None) as stream:
        return stream.read(most)


def close() -> None:
    """End the children; the next question starts them again."""
    for crew in (MEDIA, MAKERS, OCR):
        crew.stop()


def forget_children() -> None:
    """In a forked process the children belong to the parent."""
    for crew in (MEDIA, MAKERS, OCR):
        crew.forget()


atexit.register(close)
os.register_at_fork(after_in_child=forget_children)
