"""What the server logs, as lines for people or one JSON object a line for machines: never content, keys or queries.

Text that came from anywhere is cleaned on its way out, whoever logged it. Requests are told by their route's template.
"""

from __future__ import annotations

import logging
import re
import sys
import time
import traceback
from collections.abc import Callable, Generator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import Any, Final, Literal, TypeAlias

import msgspec

from showandtell.core.events.types import Event, Finish
from showandtell.server.observability.requests import RequestRecord
from showandtell.server.runs.live_run import LiveRun

Format: TypeAlias = Literal["text", "json"]
log = logging.getLogger(__name__)

#: Longer than any word or path of ours: base64, mostly.
LONG: Final = re.compile(r"\S{257,}")
#: Queries hold tokens and seals; what follows these words, or begins so, is a key.
SECRET: Final = (
    (re.compile(r"\?[\w.~%-]+=[^\s\"'<>]*"), "?…"),
    (re.compile(r"(?i)\b(bearer|basic|token|api[_-]?key|secret|password)([=: ]+)[^\s,;\"']{6,}"), r"\1\2…"),
    (re.compile(r"\b(?:sk|pk|rk|gsk|xai|AKIA|AIza)[-_A-Za-z0-9]{16,}"), "…"),
    (re.compile(r"://[^/@\s]+@"), "://…@"),
)
#: What is known of what goes on in this task: the id of its request, and of its run and conversation.
AROUND: ContextVar[dict[str, str]] = ContextVar("AROUND")


def clean(text: str) -> str:
    """A line without queries, keys, and anything as long as a file's bytes would be."""
    for pattern, instead in SECRET:
        text = pattern.sub(instead, text)
    return LONG.sub(lambda found: f"{found[0][:32]}…({len(found[0])} characters)", text)


class Lines(logging.Formatter):
    """A line for people. Of an error its class and where it was raised; with `verbose` also what it says."""

    def __init__(self, *, verbose: bool = False) -> None:
        super().__init__()
        self._verbose = verbose

    def format(self, record: logging.LogRecord) -> str:
        """The record in one line, and one more for each place of an error."""
        around = "".join(f" {name}={value}" for name, value in fields_of(record).items())
        told = " ".join(clean(record.getMessage()).split())
        head = f"{record.levelname.lower()} {record.name}: {told}{around}"
        found = record.exc_info[1] if record.exc_info else None
        if found is None:
            return head
        if self._verbose:
            return f"{head}\n{clean(''.join(traceback.format_exception(found)))}"
        return "\n  ".join([f"{head} ({type(found).__name__})", *places_of(found)])


class JsonLines(logging.Formatter):
    """One JSON object a line: time (UTC), level, logger, text, what is known around it, an error's class and places."""

    def format(self, record: logging.LogRecord) -> str:
        """The record as JSON."""
        found = record.exc_info[1] if record.exc_info else None
        error = {"error": {"kind": type(found).__name__, "places": places_of(found)}} if found is not None else {}
        line = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "text": clean(record.getMessage()),
            **fields_of(record),
            **error,
        }
        return msgspec.json.encode(line).decode(errors="replace")


def fields_of(record: logging.LogRecord) -> dict[str, Any]:
    """What is known besides the text: given with the record, or around it."""
    given: dict[str, Any] = getattr(record, "fields", {})
    return {**AROUND.get({}), **given}


def places_of(error: BaseException) -> list[str]:
    """Where an error was raised, the innermost place last; not what it says, for that could be anybody's words."""
    return [f"{one.filename}:{one.lineno} in {one.name}" for one in traceback.extract_tb(error.__traceback__)]


def set_up(form: Format, *, verbose: bool) -> None:
    """Let all that is logged here reach stderr in a form; requests and runs too, where that is JSON or verbose."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines() if form == "json" else Lines(verbose=verbose))
    logging.basicConfig(level=logging.WARNING, handlers=[handler], force=True)
    talks = form == "json" or verbose
    logging.getLogger("showandtell").setLevel(logging.INFO if talks else logging.WARNING)


def log_run(going: LiveRun) -> Callable[[Event], None]:
    """Name the run in whatever its task logs from now on, and tell how it ended: a `Watch` for every run."""
    row, since = going.row, time.monotonic()
    AROUND.set({**AROUND.get({}), "run_id": row.id, "conversation_id": row.conversation_id})

    def take(event: Event) -> None:
        if isinstance(event, Finish):
            tokens = {"input_tokens": event.usage.input_tokens, "output_tokens": event.usage.output_tokens}
            told = {"status": event.status, "seconds": round(time.monotonic() - since, 3), "model": row.model, **tokens}
            log.info("run ended", extra={"fields": told})

    return take


@contextmanager
def log_visit(visit: RequestRecord) -> Generator[None]:
    """Name a request in whatever its task logs, and tell how it ended."""
    AROUND.set({"request_id": visit.id})
    try:
        yield
    finally:
        if not visit.is_probe:
            seconds = round(visit.seconds, 3)
            told = {"method": visit.scope["method"], "route": visit.route, "status": visit.status, "seconds": seconds}
            log.info("request", extra={"fields": told})
