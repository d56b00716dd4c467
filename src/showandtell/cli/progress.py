"""Progress bars of commands that take long."""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator
from contextlib import ExitStack, contextmanager
from typing import Any

import typer


@contextmanager
def progress_bars(verb: str = "checking") -> Generator[Callable[[str, int, int], None]]:
    """Show a bar for each step on stderr, if that is a terminal."""
    bars: dict[str, Any] = {}
    shown: dict[str, int] = {}
    with ExitStack() as stack:

        def show(step: str, done: int, total: int) -> None:
            if not sys.stderr.isatty():
                return
            if step not in bars:
                stack.close()
                bars[step] = stack.enter_context(
                    typer.progressbar(length=total, label=f"{verb} {step}", file=sys.stderr)
                )
            bars[step].update(done - shown.get(step, 0))
            shown[step] = done

        yield show
