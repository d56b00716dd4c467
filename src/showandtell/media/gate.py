"""The entry point to media: probe, describe and convert files. Decoders run in child processes with limits.

Nothing is cached: each call probes the file again.
"""

from __future__ import annotations

import atexit
import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, BinaryIO, Literal, TypeAlias

from msgspec import Meta, Raw, Struct
from msgspec.structs import replace

from showandtell.core.media_types.claims import AUDIO_ONLY, AUDIO_TYPES, UNKNOWN, find_wrong_claim
from showandtell.core.media_types.compound import ENCRYPTED
from showandtell.core.media_types.converters import claim_of, detect_claimed, detect_converted, find_converter
from showandtell.core.media_types.kinds import Kind, kind_of
from showandtell.core.media_types.signatures import ARCHIVE, Peek, detect_type
from showandtell.core.messages.conversion import MAX_CHARACTERS, parse_conversion
from showandtell.errors import BadFile, DecoderBusy, TooBusy
from showandtell.media import structure
from showandtell.media.encodings import UTF_8, read_start
from showandtell.media.refusals import clean_line
from showandtell.media.text import name_text
from showandtell.media.turns import Budget, caller
from showandtell.media.worker import RESPONSE_LIMIT, ChildFailed, ChildLate, WorkerPool, decode

#: Numbers as a child may answer them: more would be nonsense, and `inf` isn't JSON.
Count: TypeAlias = Annotated[int, Meta(ge=0, le=1_000_000_000)]
Amount: TypeAlias = Annotated[float, Meta(ge=0, le=1e13)]
Task: TypeAlias = Literal["probe", "describe", "read", "convert", "strip"]

#: Time limit for decoding a file; for the first one it includes the start of the child.
SECONDS = 10.0
#: OCR is slower and loads its models first.
OCR_SECONDS = 60.0
TEXT_LIMIT = 100_000
COMMAND = (sys.executable, "-P", "-B", "-m", "showandtell.media.child")
TOO_MUCH = "became too much when it was converted"
#: What a file that stops a decoder does, and what to do with it.
STOPPED = "stopped the decoder"
SAVE_ANEW = "it may be damaged or hostile; save it anew, or smaller"
#: The same where a converter of a package ran, which may be what failed.
OR_MISTAKE = "it may be damaged or hostile, or its converter {} has a mistake"
#: What converters have that come with us.
OURS = "showandtell."
#: Time limits of conversions, by name.
CONVERT_SECONDS = {
    "image": 20.0,
    "pages": 60.0,
    "text": 60.0,
    "audio": 120.0,
    "frames": 120.0,
    "transcript": 120.0,
    "thumbnail": 30.0,
    "whole": 60.0,
}
#: The least for a file that a converter of a package makes first.
PACKAGE_SECONDS = 60.0
#: Limits for the output of a conversion; a video's frames and its audio track stay far below.
MAX_OUTPUT_FILES, MAX_OUTPUT_BYTES = 64, 256 << 20
#: Conversions whose output is text; that of all others is files.
TEXT_CONVERSIONS = ("text", "transcript")
#: Maximum bytes of a result about a file; 200,000 characters take less.
RESULT_LIMIT = 2 << 20
#: Maximum characters of a child's problem and of its advice.
PROBLEM_LENGTH, ADVICE_LENGTH = 300, 200
#: Seconds that children have worked for each owner. A server sets the limit.
BUDGET = Budget()
#: One user has two children at most and the third is for the next one, so that a hostile file that uses up its time
#: limit doesn't block the files of others.
MEDIA = WorkerPool(COMMAND, 3, nice=5, budget=BUDGET)
#: Conversions run in separate children, which may write: a probe never waits for a video. A video may wait for another.
CONVERTERS = WorkerPool((*COMMAND, "--convert"), 3, timeout=240.0, nice=10, budget=BUDGET)
#: Thumbnails are short and people look at them: they never wait for other conversions.
THUMBNAILS = WorkerPool((*COMMAND, "--convert"), 3, nice=5, budget=BUDGET)
OCR = WorkerPool((*COMMAND, "--ocr"), 1, nice=10, budget=BUDGET)
POOLS = (MEDIA, CONVERTERS, THUMBNAILS, OCR)


class ProbeResult(Struct, frozen=True):
    """What the bytes are, by signature and structure: the IANA media type and, if they apply, size, pages and seconds.

    `frames` counts the frames of an animation or the pages of a TIFF, up to 10,000; None for a single one.
    `corrected` is the type that the file claimed, by media type or by name, if its bytes say otherwise. `encoding` is
    that of text that isn't UTF-8.
    """

    media_type: str
    pixels: tuple[Count, Count] | None = None
    pages: Count | None = None
    seconds: Amount | None = None
    corrected: str | None = None
    frames: Count | None = None
    encoding: str | None = None


class ConversionOutput(Struct, frozen=True):
    """The output of a conversion: `files` in the caller's folder, or `text`. The other fields are as in `Derivative`.

    `scale` is linear, output to original. `pages` count from 1. `times` and, for audio and video, `total` are seconds.
    """

    files: tuple[Path, ...] = ()
    text: str | None = None
    scale: float = 1.0
    pages: tuple[int, ...] = ()
    times: tuple[float, ...] = ()
    total: float | None = None
    cut: bool = False


class ConverterResult(Struct, frozen=True):
    """The fields of `ConversionOutput` as a child answers them."""

    files: tuple[str, ...] = ()
    text: str | None = None
    scale: Amount = 1.0
    pages: tuple[Count, ...] = ()
    times: tuple[Amount, ...] = ()
    total: Amount | None = None
    cut: bool = False


def probe(path: Path, *, claimed: str | None, name: str) -> ProbeResult:
    """Find out what a file is. `claimed` is the media type that the sender declared; errors use `name`.

    Raises `BadFile` if the file is empty, torn, locked or without pages, has too many pixels, or stops the decoder.
    """
    claim = claim_of(claimed, name)
    candidate, encoding = name_type(path, claim, name, claimed)
    result = measure(path, candidate, name)
    if result is None:
        result = ask_child("probe", path, candidate, name, ProbeResult)
        if result.media_type != candidate and AUDIO_ONLY.get(result.media_type) != candidate:
            raise BadFile(name, STOPPED, SAVE_ANEW)
    return replace(result, corrected=find_wrong_claim(claimed, claim, result.media_type), encoding=encoding)


def measure(path: Path, media_type: str, name: str) -> ProbeResult | None:
    """What the structure of a file alone proves; None if it needs a decoder. Raises `BadFile`."""
    if not needs_decoder(media_type):
        return ProbeResult(media_type)
    try:
        measured = structure.measure(path, media_type)
    except BadFile as error:
        raise BadFile(name, error.problem, error.advice) from None
    if measured is None:
        return None
    proved = AUDIO_TYPES.get(media_type, media_type) if measured.is_audio else media_type
    frames = measured.frames if measured.frames > 1 else None
    return ProbeResult(proved, measured.pixels, measured.pages, measured.seconds, frames=frames)


def describe(path: Path, media_type: str) -> dict[str, object]:
    """The content of a probed file as JSON values; empty for types without a decoder.

    Images: `pixels` [width, height] and `colours`, up to three [word, share of 1]. PDFs: `pages`, `text`. WAV:
    `seconds`, `channels`, `rate`. Other audio and video: `seconds`, `streams`. Text: `text`. Raises `BadFile`.
    """
    if kind_of(media_type) == "text":
        return {"text": read_text(path)}
    return ask_child("describe", path, media_type, path.name, dict[str, Any]) if needs_decoder(media_type) else {}


def read_text_in(path: Path, media_type: str, *, has_turn: bool = False) -> str | None:
    """Read the text in an image, or in those of a PDF's first three pages that have no text layer; empty if no text.

    None if OCR is not installed or the type is neither of these. `has_turn`: the caller has one of `OCR.turns`. Raises
    `BadFile`.
    """
    if not (media_type.startswith("image/") or media_type == "application/pdf"):
        return None
    text: str | None = ask_child("read", path, media_type, path.name, str | None, has_turn=has_turn)
    return None if text is None else text[:TEXT_LIMIT]


def make(path: Path, media_type: str, conversion: str, folder: Path) -> ConversionOutput:
    """Convert a probed file by a serialized `Conversion`; files are written into `folder`, which must be empty.

    Raises `BadFile` if the type can't be converted to that, a decoder is not installed, or a limit is exceeded.
    """
    name, converter = conversion.partition("?")[0], find_converter(media_type)
    is_text = media_type != "text/html" and kind_of(media_type) == "text"
    if is_text and name == "text" and (converter is None or kind_of(converter.becomes) != "text"):
        text = read_text(path, MAX_CHARACTERS + 1, parse_conversion(conversion).encoding)
        return ConversionOutput(text=text[:MAX_CHARACTERS], cut=len(text) > MAX_CHARACTERS)
    target = os.fspath(folder.resolve(strict=True))
    function, becomes = (converter.function, converter.becomes) if converter is not None else ("", "")
    more = {"conversion": conversion, "folder": target, "converter": function, "becomes": becomes}
    result = ask_child("convert", path, media_type, path.name, ConverterResult, more=more)
    return check_result(result, name, folder, path.name)


def check_result(result: ConverterResult, conversion: str, folder: Path, name: str) -> ConversionOutput:
    """Check the result of a child, which is not trusted. A video's audio track is a file without a time."""
    count, shown = len(result.files), len(result.pages or result.times)
    if count > MAX_OUTPUT_FILES:
        raise BadFile(name, TOO_MUCH, "ask for less of it")
    has_form = result.text is not None if conversion in TEXT_CONVERSIONS else count and shown in {0, count, count - 1}
    if not has_form:
        raise BadFile(name, STOPPED, SAVE_ANEW)
    files = tuple(check_output(file, folder, name) for file in result.files)
    if sum(file.stat().st_size for file in files) > MAX_OUTPUT_BYTES:
        raise BadFile(name, TOO_MUCH, "ask for less of it")
    text = None if result.text is None else result.text[:MAX_CHARACTERS]
    cut = result.cut or text != result.text
    return ConversionOutput(files, text, result.scale, result.pages, result.times, result.total, cut)


def check_output(file: str, folder: Path, name: str) -> Path:
    """Check a path from the child: it must be a regular file directly in the folder."""
    path, is_file = Path(file), False
    with suppress(OSError):  # its name is too long
        is_file = path.parent == folder.resolve() and not path.is_symlink() and path.is_file()
    if not is_file:
        raise BadFile(name, "was converted into something that is no file", "it may be hostile; save it anew")
    return folder / path.name


def strip_location(path: Path, media_type: str, folder: Path) -> Path | None:
    """A copy in `folder` without the location where an image was taken; None if it has no location or is not an image.

    Removes GPS from EXIF and XMP; pixels, orientation and all other bytes stay as they are. Raises `BadFile` if the
    location can't be removed without encoding the image again.
    """
    if kind_of(media_type) != "image":
        return None
    target = os.fspath(folder.resolve(strict=True))
    stripped = ask_child("strip", path, media_type, path.name, str | None, more={"folder": target})
    return check_output(stripped, folder, path.name) if stripped else None


def draw_chart(title: str, values: list[float], labels: list[str]) -> bytes:
    """A bar chart as PNG, 720 by 420 pixels; `labels` go under the first bars. Raises `BadFile`."""
    request = {"task": "draw_chart", "path": "the chart", "title": title, "values": values, "labels": labels}
    return ask(MEDIA, SECONDS, request, bytes, name="the chart", advice="try again with fewer values")


def draw_probe(kind: Kind, codes: Sequence[str], shapes: int = 0) -> bytes:
    """A file for a vision check that shows these codes over up to seven shapes: PNG, PDF of two pages, or MP4 (PyAV).

    A PDF has its first code only in a text layer, its second only in pixels. Raises `BadFile`.
    """
    name = f"the {kind} of the vision check"
    request = {"task": "draw_probe", "path": name, "kind": kind, "codes": list(codes), "shapes": shapes}
    return ask(MEDIA, SECONDS, request, bytes, name=name, advice="try again")


def name_type(path: Path, claim: str | None, name: str, claimed: str | None = None) -> tuple[str, str | None]:
    """The candidate type by signature, otherwise by text, and the encoding of text that isn't UTF-8.

    A claim decides what archives and text are to a converter.
    """
    encoding: str | None = None
    size = path.stat().st_size
    if size == 0:
        raise BadFile(name, "is empty (0 bytes)", "check that it was written before it was handed in")
    with path.open("rb") as stream:
        peek = peek_into(stream)
        candidate = detect_type(peek, size)
        if candidate in {None, ARCHIVE}:
            candidate = detect_claimed(peek, claim) or candidate
        if candidate is None and (found := name_text(stream, size, claim, claimed)):
            candidate, encoding = found
        candidate = candidate or detect_converted(peek)
    if candidate == ENCRYPTED:
        raise BadFile(name, "is locked with a password", "save it without one")
    return candidate or UNKNOWN, None if encoding == UTF_8 else encoding


def peek_into(stream: BinaryIO) -> Peek:
    """A function that reads anywhere in an open file; bytes outside of it are empty."""

    def peek(offset: int, length: int) -> bytes:
        stream.seek(max(offset, 0))
        return stream.read(max(length, 0))

    return peek


def needs_decoder(media_type: str) -> bool:
    """Whether a decoder is needed to probe this type."""
    is_decoded = media_type == "application/pdf" or kind_of(media_type) in {"image", "audio", "video"}
    return is_decoded and find_converter(media_type) is None


def ask_child(
    task: Task,
    path: Path,
    media_type: str,
    name: str,
    kind: Any,
    *,
    has_turn: bool = False,
    more: Mapping[str, str] = MappingProxyType({}),
) -> Any:
    """Run a task for a file in a child; its result has the type `kind`, and at most `RESULT_LIMIT` bytes.

    `more` are further fields of the request.
    """
    request = {"task": task, "path": os.fspath(path.resolve(strict=True)), "media_type": media_type, **more}
    pool, seconds = choose_pool(task, more.get("conversion", ""))
    converter = more.get("converter", "")
    seconds = max(seconds, PACKAGE_SECONDS) if converter else seconds
    advice = OR_MISTAKE.format(converter) if converter and not converter.startswith(OURS) else SAVE_ANEW
    pool = THUMBNAILS if caller.get().in_lane else pool
    return ask(pool, seconds, request, kind, name=name, advice=advice, limit=RESULT_LIMIT, has_turn=has_turn)


def choose_pool(task: Task, conversion: str) -> tuple[WorkerPool, float]:
    """The pool for a task, and its time limit in seconds."""
    match task:
        case "read":
            return OCR, OCR_SECONDS
        case "convert":
            return CONVERTERS, CONVERT_SECONDS.get(conversion.partition("?")[0], SECONDS)
        case "strip":
            return CONVERTERS, CONVERT_SECONDS["image"]
        case "probe" | "describe":
            return MEDIA, SECONDS


class Answer(Struct):
    """What a child answers: a result, or a problem. Hostile code may have written it."""

    result: Raw = Raw()
    problem: str = STOPPED
    advice: str = ""
    passing: bool = False


def ask(
    pool: WorkerPool,
    seconds: float,
    request: Mapping[str, object],
    kind: Any,
    *,
    name: str,
    advice: str,
    limit: int = RESPONSE_LIMIT,
    has_turn: bool = False,
) -> Any:
    """The child's result, of the type `kind` and of at most `limit` bytes.

    Raises `BadFile` if the child reports a problem, dies, is too late or answers something else. `name` and `advice`
    are for the error, the advice only if the child gives none itself. Raises `DecoderBusy` if no child is free in
    time, or if the caller has used its budget.
    """
    try:
        get_response = pool.ask_now if has_turn else pool.ask
        answer = get_response(request, seconds, caller.get().owner, Answer)
        size = len(memoryview(answer.result))
        if size > limit:
            raise BadFile(name, STOPPED, advice)
        if size:
            return decode(answer.result, kind)
    except TooBusy as error:
        problem, _, busy_advice = str(error).partition(": ")
        raise DecoderBusy(name, f"was not read ({problem})", busy_advice, retry_after=error.retry_after) from None
    except ChildFailed as error:
        raise BadFile(name, str(error), advice, passing=isinstance(error, ChildLate)) from None
    problem, own_advice = clean_line(answer.problem, PROBLEM_LENGTH), clean_line(answer.advice, ADVICE_LENGTH)
    raise BadFile(name, problem or STOPPED, own_advice or advice, passing=answer.passing)


def read_text(path: Path, max_characters: int = TEXT_LIMIT, encoding: str | None = None) -> str:
    """The first characters of a text file, in UTF-8 unless its facts name another encoding."""
    return read_start(path.open("rb"), encoding, max_characters)


def close() -> None:
    """End the children; the next request starts them again."""
    for pool in POOLS:
        pool.stop()


def forget_children() -> None:
    """Let go of the children in a forked process: they belong to the parent."""
    for pool in POOLS:
        pool.forget()


atexit.register(close)
os.register_at_fork(after_in_child=forget_children)
