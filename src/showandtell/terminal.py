"""What people read in a terminal: a run's events as lines, receipts as a list, the matrix as a table."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TextIO

from showandtell.delivery.labels import size_of
from showandtell.delivery.values import Receipt
from showandtell.events.types import (
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
from showandtell.files import spoken

PLACES = {"tool_result": "in the tool result", "user": "in a user message"}
LONGEST = 400


def plain(text: object) -> str:
    """Text of others without control characters, which could drive the terminal; line ends and tabs stay."""
    return "".join(letter for letter in str(text) if letter.isprintable() or letter in "\n\t")


def short(text: object) -> str:
    """The same on one line, cut where it is long."""
    line = " ".join(plain(text).split())
    return line if len(line) <= LONGEST else line[:LONGEST] + " …"


class Printer:
    """Writes one run: words as they come, a line for each tool call, each file and each receipt."""

    def __init__(self, out: TextIO | None = None) -> None:
        self.out = out or sys.stdout
        self.column = 0

    def event(self, event: Event) -> None:
        """Write one event, if it is one that people read."""
        match event:
            case TextDelta():
                self.words(plain(event.text))
            case ToolStart():
                self.line(f"→ {event.tool} {short(event.arguments)}")
            case ToolProgress():
                of = f" of {event.total:g}" if event.total is not None else ""
                self.line(f"  … {event.done:g}{of} {short(event.note)}")
            case ToolOutput() if event.is_error:
                self.line(f"  ✗ {short(event.text)}")
            case FileEvent():
                self.line(f"  + {file_line(event)}")
            case ReceiptEvent():
                self.line(f"  = {receipt_line(event.receipt)}")
            case Retry():
                self.line(f"  … asking again in {event.seconds:.0f} s: {short(event.reason)}")
            case ApprovalNeeded():
                self.line(f"? {event.tool} {short(event.arguments)} waits for a yes or no")
            case ErrorEvent():
                self.line(f"{event.kind}: {short(event.text)}")
            case Finish() if event.status != "complete":
                self.line(f"[{event.status}: {short(event.reason)}]")
            case Finish():
                self.end()
            case _:
                pass
        self.out.flush()

    def words(self, text: str) -> None:
        """Write on, without a line end."""
        self.out.write(text)
        self.column = 0 if text.endswith("\n") else 1

    def line(self, text: str) -> None:
        """Write a line of its own."""
        self.end()
        self.out.write(text + "\n")

    def end(self) -> None:
        """End a line that has begun."""
        if self.column:
            self.out.write("\n")
        self.column = 0


def file_line(event: FileEvent) -> str:
    """A file that joined the conversation."""
    what = event.problem or f"{event.media_type}, {size_of(event.size)}"
    return f"{spoken(event.kind, event.number)}: {short(event.name)} ({short(what)})"


def receipt_line(record: Mapping[str, Any]) -> str:
    """What the model was given of a file, in one line."""
    converted = ", converted" if record["converted"] else ""
    place = f" {PLACES[record['place']]}" if record["place"] else ""
    label = spoken(record["kind"], record["number"])
    return f"{label} {record['delivery']}{converted}{place}: {short(record['reason'])}"


def receipts(found: Sequence[Receipt], model: str) -> Iterable[str]:
    """What a model would be given of each file, three lines each."""
    if not found:
        yield f"{model}: there are no files to explain"
    for one in found:
        record = one.record()
        yield f"{one.label}  {plain(one.name)}  {one.media_type}  from {plain(one.origin)}"
        yield f"  {receipt_line(record).split(' ', 2)[2]}"
        if one.cell is not None:
            yield f"  {record['cell']}, {size_of(one.bytes)}; evidence: {record['evidence']}"
