"""A peer's side of `processes.Peer`: one round for each line that comes, and its cost as the answer."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from importlib.metadata import version
from time import process_time


def answer_lines(distribution: str, work: Callable[[], object]) -> None:
    """Say the version, then run the work for each line."""
    answer_costs(distribution, lambda: spend(work))


def answer_costs(distribution: str, cost: Callable[[], float]) -> None:
    """The same of work that measures its milliseconds itself."""
    print(json.dumps({"version": version(distribution)}), flush=True)
    for _ in sys.stdin:
        print(json.dumps({"ms": cost()}), flush=True)


def spend(work: Callable[[], object]) -> float:
    """The CPU milliseconds of some work in this process."""
    start = process_time()
    work()
    return (process_time() - start) * 1000


def difference(run: Callable[[int], object], counts: tuple[int, int]) -> float:
    """What each step of a long run costs more than those of a short one; of one step, all of it."""
    short, long = counts
    if short == long:
        return spend(lambda: run(long))
    begin = spend(lambda: run(short))
    return (spend(lambda: run(long)) - begin) / (long - short)
