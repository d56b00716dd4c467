"""What the benches share: files on disk, conversations of tool results, targets without limits, and a table."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from msgspec.structs import replace

from showandtell.core.capabilities.cells import Budget, FileLimits, Target
from showandtell.core.capabilities.resolve import resolve
from showandtell.core.messages.attachments import Attachment, Facts, Origin
from showandtell.core.messages.message import Message
from showandtell.core.messages.parts import Shown, Text, ToolCall
from showandtell.core.planning.values import View
from showandtell.storage.blobs.folder import Folder

MIB = 1024 * 1024
#: One model for each api.
MODELS = {
    "anthropic-messages": "anthropic:claude-sonnet-4-5",
    "openai-chat": "openai-chat:gpt-5-mini",
    "openai-responses": "openai:gpt-5-mini",
    "gemini": "google:gemini-3-flash-preview",
    "bedrock-converse": "bedrock:us.anthropic.claude-sonnet-4-5-20250929-v1:0",
}


def unlimited(model: str) -> Target:
    """The target with its cells and order, but no limit of bytes or counts: 100 MiB must go into one request."""
    target = resolve(model)
    cells = tuple(replace(cell, limits=FileLimits()) for cell in target.cells)
    return replace(target, cells=cells, budget=Budget())


def store(folder: Folder, count: int, size: int) -> list[Facts]:
    """Files of random bytes where proved files lie; that they are pictures is said, not proved."""
    return [_store(folder, size) for _ in range(count)]


def stored(folder: Folder) -> list[Facts]:
    """The files of a folder that `store` has filled, by another process perhaps."""
    paths = sorted(path for path in folder.path.rglob("*") if path.is_file())
    return [Facts(path.name, "image/png", path.stat().st_size, (1024, 1024)) for path in paths]


def _store(folder: Folder, size: int) -> Facts:
    data = os.urandom(size)
    sha256 = hashlib.sha256(data).hexdigest()
    path = folder.blob(sha256)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return Facts(sha256, "image/png", size, (1024, 1024))


def step(number: int, files: Sequence[Facts], seed: str = "") -> tuple[list[Message], dict[int, Attachment]]:
    """One step: a call for each file, numbered from `number`, and its result. Another `seed`, other values."""
    numbers = range(number, number + len(files))
    calls = tuple(ToolCall(f"toolu_{seed}{at:04}", "plot", f'{{"page":{at}}}') for at in numbers)
    attachments = {at: _attachment(at, facts, call) for at, facts, call in zip(numbers, files, calls, strict=True)}
    results = [_result(call, attachments[at]) for at, call in zip(numbers, calls, strict=True)]
    return [Message(f"a_{seed}{number}", "assistant", calls), *results], attachments


def _attachment(number: int, facts: Facts, call: ToolCall) -> Attachment:
    origin = Origin("tool", call.tool, call.call_id)
    return Attachment(f"att_{call.call_id}", number, f"chart_{number}.png", origin, "2026-11-21", facts)


def _result(call: ToolCall, file: Attachment) -> Message:
    parts = (Text(f"Page {file.number} is drawn."), Shown(file.number, file.id))
    return Message(f"t_{call.call_id}", "tool", parts, call.call_id, call.tool)


def question(seed: str = "") -> Message:
    """What the run answers."""
    return Message(f"u_{seed}", "user", (Text("Draw every page, and tell me what changed."),))


def one_step(files: Sequence[Facts]) -> View:
    """A conversation in which one step showed all files."""
    messages, attachments = step(1, files)
    asked = question()
    return View((asked, *messages), attachments, asked.id)


def cpu(work: Callable[[], object]) -> float:
    """The CPU seconds that some work takes."""
    start = time.process_time()
    work()
    return time.process_time() - start


def table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Rows under a head, in columns as wide as they need."""
    texts = [[str(cell) for cell in row] for row in [head, *rows]]
    widths = [max(map(len, column)) for column in zip(*texts, strict=True)]
    return "\n".join(_lines(texts, widths))


def _lines(texts: list[list[str]], widths: list[int]) -> Iterator[str]:
    for index, row in enumerate(texts):
        yield "  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip()
        if index == 0:
            yield "  ".join("-" * width for width in widths)


def verdict(measured: float, target: float) -> str:
    """Whether a figure keeps to its goal."""
    return "ok" if measured <= target else "MISSED"


def temporary(parent: str | None = None) -> Folder:
    """A folder of blobs that goes when it is collected."""
    return Folder(Path(parent) if parent else None)
