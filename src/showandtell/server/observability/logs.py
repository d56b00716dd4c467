"""Logging, as text or as one JSON object per line. Never logs content, keys or query strings.

The formatters clean all text, whatever its origin. Requests are logged with their route's template, not their path.
"""

from __future__ import annotations

import logging
import os
import re
import sys
import threading
import time
import traceback
from collections.abc import Callable, Generator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime
from queue import Full, Queue
from typing import Any, Final, Literal, TypeAlias

import msgspec

from showandtell.core.events.types import Event, Finish
from showandtell.server.observability.requests import RequestRecord
from showandtell.server.runs.live_run import LiveRun

Format: TypeAlias = Literal["text", "json"]
log = logging.getLogger(__name__)

#: Longer than any word or path of this program: mostly base64.
LONG_WORD: Final = re.compile(r"\S{257,}")
#: Queries contain tokens and signatures. The other patterns match keys, passwords and credentials in URLs.
SECRETS: Final = (
    (re.compile(r"\?[\w.~%-]+=[^\s\"'<>]*"), "?…"),
    (re.compile(r"(?i)\b(bearer|basic|token|api[_-]?key|secret|password)([=: ]+)[^\s,;\"']{6,}"), r"\1\2…"),
    (re.compile(r"\b(?:sk|pk|rk|gsk|xai|AKIA|AIza)[-_A-Za-z0-9]{16,}"), "…"),
    (re.compile(r"://[^/@\s]+@"), "://…@"),
)
#: Maximum number of lines that wait to be written, and how long the end of the process waits for them, in seconds.
MAX_LINES: Final = 10_000
FLUSH_SECONDS: Final = 2.0
#: Seconds between two tries to write to a pipe that is full and doesn't block.
POLL_SECONDS: Final = 0.05
#: Fields of all log lines of the current task: the ids of its request, run and conversation.
CONTEXT: ContextVar[dict[str, str]] = ContextVar("CONTEXT")


def clean(text: str) -> str:
    """Remove query strings, keys, and words long enough to be a file's bytes."""
    for pattern, replacement in SECRETS:
        text = pattern.sub(replacement, text)
    return LONG_WORD.sub(lambda match: f"{match[0][:32]}…({len(match[0])} characters)", text)


class TextFormatter(logging.Formatter):
    """Formats records as text. Errors show their class and traceback locations; with `verbose` also their message."""

    def __init__(self, *, verbose: bool = False) -> None:
        super().__init__()
        self._verbose = verbose

    def format(self, record: logging.LogRecord) -> str:
        """Return one line for the record, and one for each traceback location of an error."""
        fields = "".join(f" {name}={value}" for name, value in fields_of(record).items())
        text = " ".join(clean(record.getMessage()).split())
        head = f"{record.levelname.lower()} {record.name}: {text}{fields}"
        error = record.exc_info[1] if record.exc_info else None
        if error is None:
            return head
        if self._verbose:
            return f"{head}\n{clean(''.join(traceback.format_exception(error)))}"
        return "\n  ".join([f"{head} ({type(error).__name__})", *places_of(error)])


class JsonFormatter(logging.Formatter):
    """Formats records as JSON: time (UTC), level, logger, text, fields, an error's class and traceback locations."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the record as one line of JSON."""
        error = record.exc_info[1] if record.exc_info else None
        details = {"error": {"kind": type(error).__name__, "places": places_of(error)}} if error is not None else {}
        line = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "text": clean(record.getMessage()),
            **fields_of(record),
            **details,
        }
        return msgspec.json.encode(line).decode(errors="replace")


class LineWriter(logging.Handler):
    """Writes lines to a file descriptor in a thread of its own, so that a reader that hangs stops nothing else.

    While `limit` lines wait, further ones are dropped; a line says how many.
    """

    def __init__(self, descriptor: int, limit: int = MAX_LINES) -> None:
        super().__init__()
        self._descriptor, self._dropped = descriptor, 0
        self._lines = Queue[str](limit)
        threading.Thread(target=self._write_lines, name="log", daemon=True).start()

    def emit(self, record: logging.LogRecord) -> None:
        """Format a record here, because its fields are those of this task, and queue it."""
        try:
            self._lines.put_nowait(self.format(record))
        except Full:
            self._dropped += 1
        except Exception:  # noqa: BLE001 - as in every handler
            self.handleError(record)

    def flush(self) -> None:
        """Wait for the queued lines, but not for a reader that hangs."""
        with self._lines.all_tasks_done:
            self._lines.all_tasks_done.wait_for(lambda: not self._lines.unfinished_tasks, FLUSH_SECONDS)

    def _write_lines(self) -> None:
        reported = 0
        while True:
            self._write(self._lines.get())
            if self._dropped > reported and self._lines.empty():
                dropped, reported = self._dropped - reported, self._dropped
                text = "%d log lines were dropped, because nobody read the log"
                self._write(self.format(logging.LogRecord(__name__, logging.WARNING, "", 0, text, (dropped,), None)))
            self._lines.task_done()

    def _write(self, line: str) -> None:
        data = f"{line}\n".encode(errors="replace")
        while data:
            try:
                data = data[os.write(self._descriptor, data) :]
            except BlockingIOError:
                time.sleep(POLL_SECONDS)
            except OSError:  # its reader is gone
                return


def fields_of(record: logging.LogRecord) -> dict[str, Any]:
    """Return the fields of the task, updated with those of the record."""
    fields: dict[str, Any] = getattr(record, "fields", {})
    return {**CONTEXT.get({}), **fields}


def places_of(error: BaseException) -> list[str]:
    """Return the traceback locations, innermost last, without the error's message, which may quote a user."""
    return [f"{frame.filename}:{frame.lineno} in {frame.name}" for frame in traceback.extract_tb(error.__traceback__)]


def configure_logging(form: Format, *, verbose: bool) -> None:
    """Log to stderr. Requests and runs are included for JSON and with `verbose`."""
    try:
        handler = LineWriter(sys.stderr.fileno())
    except (OSError, ValueError):  # stderr was replaced by an object without one
        handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonFormatter() if form == "json" else TextFormatter(verbose=verbose))
    logging.basicConfig(level=logging.WARNING, handlers=[handler], force=True)
    has_info = form == "json" or verbose
    logging.getLogger("showandtell").setLevel(logging.INFO if has_info else logging.WARNING)


def log_run(live_run: LiveRun) -> Callable[[Event], None]:
    """Add the run's ids to its task's log lines, and log how it ends. A `Watch` for every run."""
    row, started = live_run.row, time.monotonic()
    CONTEXT.set({**CONTEXT.get({}), "run_id": row.id, "conversation_id": row.conversation_id})

    def log_finish(event: Event) -> None:
        if isinstance(event, Finish):
            tokens = {"input_tokens": event.usage.input_tokens, "output_tokens": event.usage.output_tokens}
            fields = {
                "status": event.status,
                "seconds": round(time.monotonic() - started, 3),
                "model": row.model,
                **tokens,
            }
            log.info("run ended", extra={"fields": fields})

    return log_finish


@contextmanager
def log_request(record: RequestRecord, *, clients: bool = False) -> Generator[None]:
    """Add the request's id to its task's log lines, and log how it ends, and whether an attempt to sign in was refused.

    With `clients`, the address of the client and the name of the user are logged as well.
    """
    CONTEXT.set({"request_id": record.id})
    try:
        yield
    finally:
        if not record.is_probe:
            fields = {
                **({"client": record.client, "user": record.user} if clients else {}),
                "method": record.scope["method"],
                "route": record.route,
                "status": record.status,
                "seconds": round(record.seconds, 3),
            }
            if record.is_refused_sign_in:
                log.info("sign-in refused", extra={"fields": fields})
            log.info("request", extra={"fields": fields})
