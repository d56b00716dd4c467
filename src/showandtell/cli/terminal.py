"""What people read in a terminal: a run's events as lines, receipts as a list, the matrix as a table."""

from __future__ import annotations

import io
import logging
import sys
import traceback
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, TextIO

import msgspec

from showandtell.core.capabilities.matrix import one_line
from showandtell.core.events.types import (
    ApprovalNeeded,
    ErrorEvent,
    Event,
    FileEvent,
    Finish,
    ReceiptEvent,
    Retry,
    TextDelta,
    ToolOutput,
    ToolProgress,
    ToolStart,
)
from showandtell.core.messages.attachments import spoken
from showandtell.core.planning.labels import size_of
from showandtell.core.planning.values import Receipt

PLACES = {"tool_result": "in the tool result", "user": "in a user message"}
#: Types that people know by another name.
TYPES = {
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": "docx",
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": "xlsx",
    "application/vnd.openxmlformats-officedocument.presentationml.presentation": "pptx",
}
#: How a reason begins that also says what became of the file.
BECAME = ("converted: ", "given as words: ")
LONGEST = 400


def plain(text: object) -> str:
    """Text of others without control characters, which could drive the terminal; line ends and tabs stay."""
    return "".join(letter for letter in str(text) if letter.isprintable() or letter in "\n\t")


def short(text: object) -> str:
    """The same on one line, cut where it is long."""
    return one_line(text, LONGEST)


class Printer:
    """Writes one run: words as they come, a line for each tool call, each file and each receipt.

    asking: a person is put the questions, so that a run that waits for them needs no line of its own.
    denied: the calls that the person said no to; they don't run.
    """

    def __init__(self, out: TextIO | None = None, *, asking: bool = False, denied: Collection[str] = ()) -> None:
        self.out = out or sys.stdout
        self.asking = asking
        self.denied = denied
        self.column = 0
        self.told_error = False

    def event(self, event: Event) -> None:
        """Write one event, if it is one that people read."""
        match event:
            case TextDelta():
                self.words(event.text)
            case ToolStart() if event.call_id in self.denied:
                pass
            case ToolStart():
                self.line(f"→ {event.tool} {short(event.arguments)}")
            case ToolProgress():
                of = f" of {event.total:g}" if event.total is not None else ""
                self.line(f"  … {event.done:g}{of} {short(event.note)}")
            case ToolOutput() if event.is_error:
                self.line(f"  ✗ {short(event.text)}")
            case ToolOutput() if event.tool == "list_files":
                for line in listing(event.text):
                    self.line(f"  {line}")
            case FileEvent():
                self.line(f"  + {file_line(event)}")
            case ReceiptEvent():
                self.line(f"  = {receipt_line(event.receipt)}")
            case Retry(files=()):
                self.line(f"  … asking again in {event.seconds:.1f} s: {short(event.reason)}")
            case Retry():
                numbers = ", ".join(map(str, event.files))
                self.line(f"  … asking again without file {numbers}: {short(event.reason)}")
            case ApprovalNeeded():
                self.line(f"? {event.tool} {short(event.arguments)} waits for a yes or no")
            case ErrorEvent():
                self.told_error = True
                self.line(f"{event.kind}: {short(event.text)}")
            case Finish() if self.is_news(event):
                self.line(f"[{event.status}: {short(event.reason)}]")
            case Finish():
                self.end()
            case _:
                pass
        self.out.flush()

    def is_news(self, event: Finish) -> bool:
        """Whether the end of a run says what nobody was told yet."""
        return not (event.status == "complete" or self.told_error or (event.status == "waiting" and self.asking))

    def words(self, text: str) -> None:
        """Write on, without a line end."""
        self.out.write(plain(text))
        self.column = 0 if text.endswith("\n") else 1

    def line(self, text: str) -> None:
        """Write a line of its own. Nothing in it, whoever said it, can drive the terminal."""
        self.end()
        self.out.write(plain(text) + "\n")

    def end(self) -> None:
        """End a line that has begun."""
        if self.column:
            self.out.write("\n")
        self.column = 0


def file_line(event: FileEvent) -> str:
    """A file that joined the conversation."""
    what = event.problem or f"{by_ending(event.media_type)}, {size_of(event.size)}"
    return f"{spoken(event.kind, event.number)}: {short(event.name)} ({short(what)})"


def receipt_line(record: Mapping[str, Any]) -> str:
    """What the model was given of a file, in one line."""
    return f"{spoken(record['kind'], record['number'])} {delivery_line(record)}"


def delivery_line(record: Mapping[str, Any]) -> str:
    """How a file was delivered, as what, where, and why."""
    reason = str(record["reason"])
    for start in BECAME if record["converted"] else ():
        reason = reason.removeprefix(start)
    place = PLACES.get(record["place"])
    words = [delivered(record), *([place] if place else [])]
    return f"{' '.join(words)}: {short(by_ending(reason))}"


def delivered(record: Mapping[str, Any]) -> str:
    """The delivery in a word; of a file that was converted, what it became."""
    if not record["converted"]:
        return str(record["delivery"])
    how = "relocated " if record["delivery"] == "relocated" else ""
    return how + became(record)


def became(record: Mapping[str, Any]) -> str:
    """What a converted file is given as: text, pages, frames, a sound, a picture; of how much of it."""
    kind, pages = record["kind"], pages_of(record)
    found: list[str]
    if record["cell"] is None:
        spoken_words = kind in {"audio", "video"}
        found = ["a machine transcript" if spoken_words else "text", *([pages] if " of " in pages else [])]
    elif record.get("times"):
        found = [f"{counted(len(record['times']), 'frame')}{of_seconds(record)}"]
    elif kind == "audio":
        found = [f"another kind of sound{of_seconds(record) if record.get('cut') else ''}"]
    else:
        found = [pages or "a picture"]
        if record.get("crop"):
            found.append(f"its part {', '.join(map(str, record['crop']))}")
        if kind == "image" and (scale := record.get("scale", 1.0)) != 1.0:
            found.append(f"{'scaled' if scale < 1 else 'enlarged'} to {scale:.0%}")
    return f"as {', '.join([*found, *(['cut'] if record.get('cut') else [])])}"


def pages_of(record: Mapping[str, Any]) -> str:
    """Which pages are shown, and of how many; empty where there are none."""
    pages, total = record.get("pages"), record.get("total")
    if not pages:
        return ""
    if total is None or len(pages) == total:
        return counted(len(pages), "page")
    first, last = pages[0], pages[-1]
    if len(pages) == 1:
        which = f"page {first}"
    elif last - first == len(pages) - 1:
        which = f"pages {first} to {last}"
    else:
        which = f"pages {', '.join(map(str, pages))}"
    return f"{which} of {total:g}"


def of_seconds(record: Mapping[str, Any]) -> str:
    """How long the original is, where that is known."""
    return f" of {record['total']:.3g} s" if record.get("total") else ""


def counted(number: int, what: str) -> str:
    """So many of something."""
    return f"{number} {what}{'' if number == 1 else 's'}"


def by_ending(text: str) -> str:
    """Words in which types with long names are called by the ending of their files."""
    for name, ending in TYPES.items():
        text = text.replace(name, ending)
    return text


def listing(text: str) -> list[str]:
    """What `list_files` said, a line for each file; a tool of that name that says something else has none."""
    try:
        listed, _, more = text.partition("\n")
        files = msgspec.json.decode(listed, type=list[Listed])
    except msgspec.DecodeError:
        return []
    return [*(file.line() for file in files), *more.splitlines()] or ["there are no files"]


class Listed(msgspec.Struct):
    """A file as `list_files` gives it."""

    number: int
    kind: str
    name: str
    media_type: str
    size: int | None
    origin: str
    problem: str | None = None

    def line(self) -> str:
        """The file in one line."""
        what = self.problem or by_ending(self.media_type) + (f", {size_of(self.size)}" if self.size is not None else "")
        return f"{spoken(self.kind, self.number)}: {short(self.name)} ({short(what)}), {from_whom(self.origin)}"


def from_whom(origin: str) -> str:
    """Who brought a file, in words."""
    return f"from {'the user' if origin == 'user' else short(origin)}"


class OneLine(logging.Formatter):
    """A tool's failure in one line: what failed, its log id, the error. Its traceback is for those who ask for it."""

    def format(self, record: logging.LogRecord) -> str:
        """The first line of the record, and the last of the error's."""
        first, *rest = record.getMessage().strip().splitlines() or [""]
        error = record.exc_info[1] if record.exc_info else None
        last = "".join(traceback.format_exception_only(error)) if error else next(iter(rest[-1:]), "")
        head = first.removesuffix("Traceback (most recent call last):").strip()
        return short(f"{head}: {last.strip()}" if last else head)


def tell_log(*, verbose: bool) -> None:
    """Let what the library logs reach stderr: a line for each record, with `verbose` the traceback, too."""
    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter() if verbose else OneLine())
    logging.getLogger("showandtell").handlers = [handler]


def forgive_encodings() -> None:
    """Let letters that the terminal's encoding lacks become question marks, not errors."""
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


def receipts(found: Sequence[Receipt], model: str, brought: str | None = None) -> Iterable[str]:
    """What a model would be given of each file, three lines each; `brought` says by whom where nobody has yet."""
    if not found:
        yield f"{model}: there are no files to explain"
    for one in found:
        record = one.record()
        yield f"{one.label}  {short(one.name)}  {short(by_ending(one.media_type))}  {brought or from_whom(one.origin)}"
        yield f"  {delivery_line(record)}"
        if one.cell is not None:
            yield f"  {record['cell']}, {size_of(one.bytes)}; evidence: {record['evidence']}"
