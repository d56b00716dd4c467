"""What every peer shares: the moment its body is ready, a canned answer, and one line of JSON about it.

A peer hands its finished body to `arrive`, in a transport of its own: no byte leaves the process.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from importlib.metadata import version
from pathlib import Path
from time import process_time

from memory import peak_mib

ROUNDS = 7
ASKED = "Draw every page, and tell me what changed."
CLAUDE = {
    "id": "msg_1",
    "type": "message",
    "role": "assistant",
    "model": "claude-sonnet-4-5",
    "content": [{"type": "text", "text": "Nothing."}],
    "stop_reason": "end_turn",
    "stop_sequence": None,
    "usage": {"input_tokens": 1, "output_tokens": 1},
}
CHAT = {
    "id": "chat_1",
    "object": "chat.completion",
    "created": 1,
    "model": "gpt-5-mini",
    "choices": [{"index": 0, "message": {"role": "assistant", "content": "Nothing."}, "finish_reason": "stop"}],
    "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
}
arrivals: list[tuple[float, float, int]] = []


def files() -> list[Path]:
    """The files of the folder that the first argument names."""
    return sorted(path for path in Path(sys.argv[1]).rglob("*") if path.is_file())


def calls() -> Iterator[tuple[str, Path]]:
    """A call id for each file."""
    return ((f"toolu_{index:04}", path) for index, path in enumerate(files()))


def arrive(body: bytes) -> None:
    """The last byte of a body is there."""
    arrivals.append((process_time(), peak_mib(), len(body)))


def report(distribution: str, place: str, work: Callable[[], object]) -> None:
    """Run a job a few times: its memory is that of the first, its time that of the cheapest."""
    base = peak_mib()
    seconds: list[float] = []
    for _ in range(ROUNDS):
        start = process_time()
        work()
        seconds.append(arrivals[-1][0] - start)
    min_size = sum(path.stat().st_size for path in files()) * 4 // 3
    assert all(size > min_size for _, _, size in arrivals), "a file is missing from the body"
    line = {
        "peer": distribution,
        "version": version(distribution),
        "case": place,
        "cpu_ms": round(min(seconds) * 1000, 1),
        "peak_mib": round(arrivals[0][1] - base, 1),
        "body": arrivals[0][2],
    }
    print(json.dumps(line))
