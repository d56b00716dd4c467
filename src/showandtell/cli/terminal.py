"""Text for a terminal: a run's events as lines, and receipts as a list."""

from __future__ import annotations

import logging
import sys
import traceback
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, TextIO

import msgspec

from showandtell.cli.footnotes import Footnotes, hosted_line
from showandtell.core.display.words import plain, short
from showandtell.core.events.types import (
    ApprovalNeeded,
    ErrorEvent,
    Event,
    FileEvent,
    Finish,
    HostedCall,
    ReceiptEvent,
    Retry,
    SourceEvent,
    StepStart,
    TextDelta,
    ToolOutput,
    ToolProgress,
    ToolStart,
)
from showandtell.core.messages.attachments import format_label
from showandtell.core.planning.labels import format_size
from showandtell.core.planning.receipt_words import by_ending, delivery_line
from showandtell.core.planning.values import Receipt


class Printer:
    """Prints one run: the model's text as it arrives, and a line for each tool call, file, receipt and source.

    asking: the user is asked for approvals, so a waiting run needs no line of its own.
    denied: ids of denied calls, which don't run.
    """

    def __init__(self, out: TextIO | None = None, *, asking: bool = False, denied: Collection[str] = ()) -> None:
        self.out = out or sys.stdout
        self.asking = asking
        self.denied = denied
        self.column = 0
        self.has_error = False
        self.footnotes = Footnotes()
        self.labels: dict[int, str] = {}
        self.running: dict[str, HostedCall] = {}
        self.lengths: dict[str, int] = {}

    def event(self, event: Event) -> None:
        """Print one event, if it is for people."""
        match event:
            case TextDelta():
                self.lengths[event.id] = self.lengths.get(event.id, 0) + len(event.text)
                self.write(event.text)
            case StepStart():
                self.lengths.clear()
            case HostedCall() | SourceEvent():
                self.from_provider(event)
            case ToolStart() if event.call_id in self.denied:
                pass
            case ToolStart():
                self.line(f"→ {event.tool} {short(event.arguments)}")
            case ToolProgress() if event.preview is None:
                of = f" of {event.total:g}" if event.total is not None else ""
                self.line(f"  … {event.done:g}{of} {short(event.note)}")
            case ToolOutput() if event.is_error:
                self.line(f"  ✗ {short(event.text)}")
            case ToolOutput() if event.tool == "list_files":
                for line in listing(event.text):
                    self.line(f"  {line}")
            case FileEvent():
                self.labels[event.number] = format_label(event.kind, event.number)
                self.line(f"  + {file_line(event)}")
            case ReceiptEvent():
                self.line(f"  = {receipt_line(event.receipt)}")
            case Retry(files=(), seconds=0.0):
                self.line(f"  … {short(event.reason)}")
            case Retry(files=()):
                self.line(f"  … retrying in {event.seconds:.1f} s: {short(event.reason)}")
            case Retry():
                numbers = ", ".join(map(str, event.files))
                self.line(f"  … retrying without file {numbers}: {short(event.reason)}")
            case ApprovalNeeded():
                self.line(f"? {event.tool} {short(event.arguments)} waits for approval")
            case ErrorEvent():
                self.has_error = True
                self.line(f"{event.kind}: {short(event.text)}")
            case Finish():
                self.finish(event)
            case _:
                pass
        self.out.flush()

    def from_provider(self, event: HostedCall | SourceEvent) -> None:
        """Print a call once it has ended, and the mark of a source where the text before it ends."""
        match event:
            case HostedCall(call_id, state="running"):
                self.running[call_id] = event
            case HostedCall(state="waiting"):  # a line asks for the approval
                pass
            case HostedCall(call_id):
                self.running.pop(call_id, None)
                self.line(hosted_line(event))
            case SourceEvent(name, source):
                number = self.footnotes.add(source)
                if source.end is None or source.end >= self.lengths.get(name, 0):
                    self.write(f" [{number}]")

    def finish(self, event: Finish) -> None:
        """Print what is known at the end of a run: unfinished calls, sources, and how the run ended."""
        for call in self.running.values():
            self.line(hosted_line(call))
        for line in self.footnotes.lines(lambda number: self.labels.get(number, f"file {number}")):
            self.line(f"  {line}")
        if self.needs_line(event):
            self.line(f"[{event.status}: {short(event.reason)}]")
        self.end()

    def needs_line(self, event: Finish) -> bool:
        """Whether the end of a run is not obvious from the lines before it."""
        return not (event.status == "complete" or self.has_error or (event.status == "waiting" and self.asking))

    def write(self, text: str) -> None:
        """Print text without a line end."""
        self.out.write(plain(text))
        self.column = 0 if text.endswith("\n") else 1

    def line(self, text: str) -> None:
        """Print a separate line, without control characters."""
        self.end()
        self.out.write(plain(text) + "\n")

    def end(self) -> None:
        """End an unfinished line."""
        if self.column:
            self.out.write("\n")
        self.column = 0


def file_line(event: FileEvent) -> str:
    """A new file of the conversation."""
    what = event.problem or f"{by_ending(event.media_type)}, {format_size(event.size)}"
    return f"{format_label(event.kind, event.number)}: {short(event.name)} ({short(what)})"


def receipt_line(record: Mapping[str, Any]) -> str:
    """How a file was sent to the model, in one line."""
    return f"{format_label(record['kind'], record['number'])} {delivery_line(record)}"


def listing(text: str) -> list[str]:
    """The result of `list_files`, one line per file; empty for the result of another tool with that name."""
    try:
        listed, _, more = text.partition("\n")
        files = msgspec.json.decode(listed, type=list[Listed])
    except msgspec.DecodeError:
        return []
    return [*(file.line() for file in files), *more.splitlines()] or ["there are no files"]


class Listed(msgspec.Struct):
    """A file in the result of `list_files`."""

    number: int
    kind: str
    name: str
    media_type: str
    size: int | None
    origin: str
    problem: str | None = None

    def line(self) -> str:
        """The file in one line."""
        size = f", {format_size(self.size)}" if self.size is not None else ""
        what = self.problem or by_ending(self.media_type) + size
        return f"{format_label(self.kind, self.number)}: {short(self.name)} ({short(what)}), {from_whom(self.origin)}"


def from_whom(origin: str) -> str:
    """The origin of a file."""
    return f"from {'the user' if origin == 'user' else short(origin)}"


class OneLine(logging.Formatter):
    """Formats a tool's failure as one line, with its log id and error but without the traceback."""

    def format(self, record: logging.LogRecord) -> str:
        """The first line of the record, and the last of the error's."""
        first, *rest = record.getMessage().strip().splitlines() or [""]
        error = record.exc_info[1] if record.exc_info else None
        last = "".join(traceback.format_exception_only(error)) if error else next(iter(rest[-1:]), "")
        head = first.removesuffix("Traceback (most recent call last):").strip()
        return short(f"{head}: {last.strip()}" if last else head)


def configure_logging(*, verbose: bool) -> None:
    """Log to stderr, one line per record, or with tracebacks if `verbose`."""
    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter() if verbose else OneLine())
    logging.getLogger("showandtell").handlers = [handler]


def format_receipts(receipts: Sequence[Receipt], model: str, origin: str | None = None) -> Iterable[str]:
    """How each file would be sent to a model, three lines each; `origin` replaces that of the receipts."""
    if not receipts:
        yield f"{model}: there are no files to explain"
    for receipt in receipts:
        record, source = receipt.record(), origin or from_whom(receipt.origin)
        yield f"{receipt.label}  {short(receipt.name)}  {short(by_ending(receipt.media_type))}  {source}"
        yield f"  {delivery_line(record)}"
        if receipt.cell is not None:
            yield f"  {record['cell']}, {format_size(receipt.bytes)}; evidence: {record['evidence']}"
