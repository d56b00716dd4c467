"""Look at a file that came back out of a body, and say what it is: type, size, hash, and what its media hold."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from msgspec import Struct

from showandtell.errors import BadFile
from showandtell.inspector.answering.words import Inlined, has_failed, result_words, title_of
from showandtell.inspector.request import ReceivedFile, Result
from showandtell.media import gate

MOST_TEXT = 600
#: The words found in the last pictures, by their sha256: a picture comes again with each step, and to read one takes
#: a second.
READ: dict[str, str] = {}
MOST_READ = 256


class Sight(Struct, frozen=True):
    """What was found in one file; `text` is all of its words, or `unread` why there are none; `facts` the gate's."""

    title: str
    where: str
    media_type: str
    size: int
    sha256: str
    facts: Mapping[str, Any]
    text: str = ""
    problem: str = ""
    unread: str = ""


def look_at(seen: ReceivedFile, index: int, *, read: bool) -> Sight:
    """Hash, prove and describe a file; with `read`, find the words in a picture too. Blocks: run it in a thread."""
    title, where = title_of(seen, index), _where(seen)
    if seen.data is None:
        return Sight(title, where, seen.media_type, 0, "", {}, problem=f"only a reference came: {seen.reference}")
    digest = hashlib.sha256(seen.data).hexdigest()
    with tempfile.TemporaryDirectory(prefix="inspector-") as folder:
        path = Path(folder) / "file"
        path.write_bytes(seen.data)
        try:
            proof = gate.prove(path, claimed=seen.media_type, name=title)
            facts = dict(gate.describe(path, proof.media_type))
            text, unread = str(facts.pop("text", "") or ""), ""
            if not text.strip() and ("pixels" in facts or "pages" in facts):
                text, unread = _read_picture(path, proof.media_type, digest) if read else ("", _say_unread())
        except BadFile as error:
            return Sight(
                title, where, seen.media_type, len(seen.data), digest, {}, problem=f"it {error.problem}: {error.advice}"
            )
    return Sight(title, where, proof.media_type, len(seen.data), digest, facts, text, unread=unread)


def _read_picture(path: Path, media_type: str, digest: str) -> tuple[str, str]:
    """The words in a picture or scan, and why there are none."""
    text = READ.get(digest)
    if text is None:
        text = gate.read_text_in(path, media_type)
        if text is None:
            return "", "text not read: OCR is not installed"
        READ[digest] = text
        while len(READ) > MOST_READ:
            READ.pop(next(iter(READ)), None)
    return text, "" if text.strip() else "no text found in it"


def _say_unread() -> str:
    return "text not read: ask what it says" if find_spec("rapidocr") else ""


def _where(seen: ReceivedFile) -> str:
    place = f"in the tool result of {seen.call_id}" if seen.place == "tool_result" else "in the user message"
    return f"{place}, at {seen.position}"


def spell_sight(sight: Sight) -> str:
    """A few lines about one file."""
    lines = [f"- {sight.title}", f"  {sight.where}"]
    if sight.sha256:
        lines.append(f"  {sight.media_type}, {sight.size:,} bytes, sha256 {sight.sha256}")
    lines += [f"  {spell_fact(name, value)}" for name, value in sight.facts.items() if value not in (None, "", [])]
    if sight.problem:
        lines.append(f"  {sight.problem}")
    if sight.text.strip():
        lines.append(f"  text: {quote(sight.text)}")
    elif sight.unread:
        lines.append(f"  {sight.unread}")
    return "\n".join(lines)


def spell_fact(name: str, value: Any) -> str:
    """One finding of the gate in words."""
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
            return f"{name}: {_spell_value(value)}"


def _spell_value(value: Any) -> str:
    match value:
        case [str() as word, float() as share]:
            return f"{word} {share:.0%}"
        case list() | tuple():
            return ", ".join(_spell_value(item) for item in value)  # pyright: ignore[reportUnknownVariableType] - what the gate said, as it said it
        case dict():
            return " ".join(_spell_value(item) for item in value.values())  # pyright: ignore[reportUnknownVariableType] - the same
        case float():
            return f"{value:.2g}"
        case _:
            return str(value)


def spell_inlined(file: Inlined) -> str:
    """A file that came as words."""
    sight = look_at_words(file)
    size = f"{len(file.text):,} characters, {sight.size:,} bytes in UTF-8, sha256 {sight.sha256}"
    return f"- {file.title}\n  {sight.where}, {size}\n  text: {quote(file.text)}"


def look_at_words(file: Inlined) -> Sight:
    """What can be said of a file that came as words: they are all of it."""
    data = file.text.encode()
    return Sight(file.title, "as words", "text, as words", len(data), hashlib.sha256(data).hexdigest(), {}, file.text)


def spell_result(result: Result, tool: str) -> str:
    """What a tool said, or how it failed."""
    words = result_words(result)
    if has_failed(result):
        return f"- {tool} ({result.call_id}) failed: {quote(words)}"
    return f"- {tool} ({result.call_id}) said: {quote(words)}" if words else ""


def quote(text: str, most: int = MOST_TEXT) -> str:
    """Words in quotes, on one line, cut with a note of what is left out."""
    flat = " ".join(text.split())
    return f'"{flat}"' if len(flat) <= most else f'"{flat[:most]}…" ({len(flat) - most:,} more characters)'


def spell_report(
    head: str, sights: Sequence[Sight], inlined: Sequence[Inlined], results: Sequence[str], notes: Sequence[str]
) -> str:
    """Everything that arrived since the person last spoke, below a head that counts it."""
    files = [*(spell_sight(sight) for sight in sights), *(spell_inlined(file) for file in inlined)]
    told = [f"- {note}" for note in notes]
    return "\n".join(line for line in [head, *files, *results, *told] if line)
