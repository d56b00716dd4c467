"""Examine the files of a request: type, size, hash, and media properties."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Callable, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeAlias

from msgspec import Struct

from showandtell.errors import BadFile
from showandtell.inspector.answering.words import InlinedFile, has_failed, result_text, title_of
from showandtell.inspector.request import ReceivedFile, Result
from showandtell.media import gate

MAX_QUOTE = 600
#: OCR text of recent images by sha256. Images come again with each step, and OCR takes a second.
ocr_cache: dict[str, str] = {}
MAX_OCR_CACHE = 256


class FileReport(Struct, frozen=True):
    """A description of a file. `text` is all of its text, or `unread` says why there is none."""

    title: str
    location: str
    media_type: str
    size: int
    sha256: str
    facts: Mapping[str, Any]
    text: str = ""
    problem: str = ""
    unread: str = ""


#: The text in an image or scan by its path, media type and sha256, and why there is none.
ReadImage: TypeAlias = Callable[[Path, str, str], tuple[str, str]]


def read_image(path: Path, media_type: str, sha256: str) -> tuple[str, str]:
    """Run OCR, unless the text is known."""
    text = ocr_cache.get(sha256)
    return describe_text(sha256, gate.read_text_in(path, media_type) if text is None else text)


def describe_text(sha256: str, text: str | None) -> tuple[str, str]:
    """What OCR read, and why there is no text. Caches it."""
    if text is None:
        return "", "text not read: OCR is not installed"
    ocr_cache[sha256] = text
    while len(ocr_cache) > MAX_OCR_CACHE:
        ocr_cache.pop(next(iter(ocr_cache)), None)
    return text, "" if text.strip() else "no text found in it"


def examine(file: ReceivedFile, index: int, *, read: bool, read_image: ReadImage = read_image) -> FileReport:
    """Hash, probe and describe a file. With `read`, read the text in images. Blocks: run it in a thread."""
    title, where = title_of(file, index), _format_location(file)
    if file.data is None:
        return FileReport(title, where, file.media_type, 0, "", {}, problem=f"only a reference came: {file.reference}")
    digest = hashlib.sha256(file.data).hexdigest()
    with tempfile.TemporaryDirectory(prefix="inspector-") as folder:
        path = Path(folder) / "file"
        path.write_bytes(file.data)
        try:
            probed = gate.probe(path, claimed=file.media_type, name=title)
            facts = dict(gate.describe(path, probed.media_type))
            text, unread = str(facts.pop("text", "") or ""), ""
            if not text.strip() and ("pixels" in facts or "pages" in facts):
                text, unread = read_image(path, probed.media_type, digest) if read else ("", _ocr_hint())
        except BadFile as error:
            return FileReport(
                title, where, file.media_type, len(file.data), digest, {}, problem=f"it {error.problem}: {error.advice}"
            )
    return FileReport(title, where, probed.media_type, len(file.data), digest, facts, text, unread=unread)


def _ocr_hint() -> str:
    return "text not read: ask what it says" if find_spec("rapidocr") else ""


def _format_location(file: ReceivedFile) -> str:
    places = {"tool_result": f"in the tool result of {file.call_id}", "answer": "in the answer before"}
    location = places.get(file.place, "in the user message")
    return f"{location}, at {file.position}"


def format_file(report: FileReport) -> str:
    """The lines about a file."""
    lines = [f"- {report.title}", f"  {report.location}"]
    if report.sha256:
        lines.append(f"  {report.media_type}, {report.size:,} bytes, sha256 {report.sha256}")
    lines += [f"  {format_fact(name, value)}" for name, value in report.facts.items() if value not in (None, "", [])]
    if report.problem:
        lines.append(f"  {report.problem}")
    if report.text.strip():
        lines.append(f"  text: {quote(report.text)}")
    elif report.unread:
        lines.append(f"  {report.unread}")
    return "\n".join(lines)


def format_fact(name: str, value: Any) -> str:
    """A media property as text."""
    match name, value:
        case "pixels", [width, height]:
            return f"{width} x {height} pixels"
        case (("pages" | "channels"), int()):
            return f"{value} {name.removesuffix('s') if value == 1 else name}"
        case "seconds", int() | float():
            return f"{value:g} seconds"
        case "turned", str():
            return f"turned {value}"
        case _:
            return f"{name}: {_format_value(value)}"


def _format_value(value: Any) -> str:
    match value:
        case [str() as word, float() as share]:
            return f"{word} {share:.0%}"
        case list() | tuple():
            return ", ".join(_format_value(item) for item in value)  # pyright: ignore[reportUnknownVariableType] - what the gate said, as it said it
        case dict():
            return " ".join(_format_value(item) for item in value.values())  # pyright: ignore[reportUnknownVariableType] - the same
        case float():
            return f"{value:.2g}"
        case _:
            return str(value)


def format_inlined(file: InlinedFile) -> str:
    """The lines about an inlined file."""
    report = examine_inlined(file)
    size = f"{len(file.text):,} characters, {report.size:,} bytes in UTF-8, sha256 {report.sha256}"
    return f"- {file.title}\n  {report.location}, {size}\n  text: {quote(file.text)}"


def examine_inlined(file: InlinedFile) -> FileReport:
    """Describe an inlined file."""
    data = file.text.encode()
    return FileReport(
        file.title, "as words", "text, as words", len(data), hashlib.sha256(data).hexdigest(), {}, file.text
    )


def format_result(result: Result, tool: str) -> str:
    """The output or error of a tool. Empty without text."""
    text = result_text(result)
    if has_failed(result):
        return f"- {tool} ({result.call_id}) failed: {quote(text)}"
    return f"- {tool} ({result.call_id}) said: {quote(text)}" if text else ""


def quote(text: str, limit: int = MAX_QUOTE) -> str:
    """Text in quotes, on one line, truncated with a note."""
    flat = " ".join(text.split())
    return f'"{flat}"' if len(flat) <= limit else f'"{flat[:limit]}…" ({len(flat) - limit:,} more characters)'


def format_report(
    head: str,
    reports: Sequence[FileReport],
    inlined: Sequence[InlinedFile],
    results: Sequence[str],
    notes: Sequence[str],
) -> str:
    """Everything since the last user text, below a head that counts it."""
    files = [*(format_file(report) for report in reports), *(format_inlined(file) for file in inlined)]
    note_lines = [f"- {note}" for note in notes]
    return "\n".join(line for line in [head, *files, *results, *note_lines] if line)
