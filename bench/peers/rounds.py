"""A peer's side of `processes.Peer`: one round for each line that comes, and its cost as the answer."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from importlib.metadata import version
from time import process_time


def answer_lines(distribution: str, work: Callable[[], object]) -> None:
    """Say the version, then run the work for each line."""
    print(json.dumps({"version": version(distribution)}), flush=True)
    for _ in sys.stdin:
        start = process_time()
        work()
        print(json.dumps({"ms": (process_time() - start) * 1000}), flush=True)
