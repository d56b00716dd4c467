"""The one gate to media: what a file is, what is in it, what it says. Decoders run in a child process with limits.

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

from showandtell.errors import BadFile
from showandtell.files import Kind, kind_of
from showandtell.media.claims import UNKNOWN, name_correction, read_claim
from showandtell.media.signatures import Peek, narrow_type, recognise
from showandtell.media.text import is_other_text, name_text
from showandtell.media.worker import ChildFailed, Crew

Ask: TypeAlias = Literal["prove", "describe", "read"]

#: How long a file may take to decode; the first one waits for the child to start, too.
SECONDS = 10.0
#: Reading words takes longer, and loads its models first.
OCR_SECONDS = 60.0
TEXT_LIMIT = 100_000
COMMAND = (sys.executable, "-P", "-B", "-m", "showandtell.media.child")
#: Two, so that a hostile file that takes all its time doesn't stop every other one.
MEDIA = Crew(COMMAND, 2)
OCR = Crew((*COMMAND, "--ocr"), 1)


class Proof(Struct, frozen=True):
    """What the bytes are, by signature and structure: IANA type, width and height, pages, seconds, each if any.

    `corrected` is what the file claimed to be, by media type or by name, where its bytes say otherwise.
    """

    media_type: str
    pixels: tuple[int, int] | None = None
    pages: int | None = None
    seconds: float | None = None
    corrected: str | None = None


def prove(path: Path, *, claimed: str | None, name: str) -> Proof:
    """Find out what a file is; `claimed` is the media type that somebody gave it, `name` what to call it in errors.

    Raises `BadFile` where it is empty, torn, locked, over 100 megapixels, without pages, or stops the decoder.
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


def draw_chart(title: str, values: list[float], labels: list[str]) -> bytes:
    """A bar chart as PNG, 720 by 420 pixels; `labels` stand under the first bars. Raises `BadFile`."""
    request = {"ask": "draw", "title": title, "values": values, "labels": labels}
    return ask_to_draw(request, "the chart", "try again with fewer values")


def draw_probe(kind: Kind, codes: Sequence[str], shapes: int = 0) -> bytes:
    """A file that holds these codes, over up to seven shapes: a PNG, a PDF of two pages, or an MP4 (with PyAV).

    A PDF has its first code in a text layer alone, its second in pixels alone. Raises `BadFile`.
    """
    request = {"ask": "probe", "kind": kind, "codes": list(codes), "shapes": shapes}
    return ask_to_draw(request, f"the {kind} of the eye test", "try again")


def ask_to_draw(request: Mapping[str, object], name: str, advice: str) -> bytes:
    """What the child draws; `advice` is for when it can't be heard of again."""
    try:
        answer = MEDIA.ask({"path": name, **request}, SECONDS)
    except ChildFailed as error:
        raise BadFile(name, str(error), advice) from None
    if "found" not in answer:
        raise BadFile(name, answer["problem"], answer["advice"])
    return b64decode(answer["found"])


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


def ask_child(ask: Ask, path: Path, media_type: str, name: str) -> Any:
    """The child's finding; its refusal, its death and its silence become `BadFile` with the file's name."""
    worker, seconds = (OCR, OCR_SECONDS) if ask == "read" else (MEDIA, SECONDS)
    try:
        answer = worker.ask(
            {"ask": ask, "path": os.fspath(path.resolve(strict=True)), "media_type": media_type}, seconds
        )
    except ChildFailed as error:
        raise BadFile(name, str(error), "it may be damaged or hostile; save it anew, or smaller") from None
    if "found" not in answer:
        raise BadFile(name, answer["problem"], answer["advice"])
    return answer["found"]


def read_text(path: Path) -> str:
    """The first 100,000 characters."""
    with path.open(encoding="utf-8-sig", errors="replace", newline=None) as stream:
        return stream.read(TEXT_LIMIT)


def close() -> None:
    """End the children; the next question starts them again."""
    MEDIA.stop()
    OCR.stop()


def forget_children() -> None:
    """In a forked process the children belong to the parent."""
    MEDIA.forget()
    OCR.forget()


atexit.register(close)
os.register_at_fork(after_in_child=forget_children)
