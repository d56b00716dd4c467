"""Cost of arrays and tables that tools return, in CPU time of this process and of those that decode for it.

A photo of 1920 by 1080 pixels, as an array, becomes a PNG that is stored and proved: from `ToolResult` to the facts of
the stored file, and in a whole run. A table of a million rows becomes its words; its CSV is written apart.
"""

from __future__ import annotations

import contextlib
import io
import time
from collections.abc import Callable
from statistics import median
from typing import Any

import matplotlib.cbook as samples
import numpy as np
import pandas as pd
import polars as pl
import psutil
from PIL import Image

from cases import table, verdict
from showandtell import Agent, FileCache, ToolResult

ROUNDS = 15
SIZE = (1920, 1080)
GOAL_PHOTO_MS, GOAL_WORDS_MS = 150.0, 50.0
ROWS = 1_000_000
#: The standard deviation of a sensor's noise, of 256 levels.
NOISE = 3


def photo() -> Any:
    """A real photo as large as a screen, with the noise that scaling removed."""
    with samples.get_sample_data("grace_hopper.jpg") as stream:
        portrait = Image.open(stream).convert("RGB")
    scaled = portrait.resize((SIZE[0], SIZE[0] * portrait.height // portrait.width), Image.Resampling.LANCZOS)
    pixels = np.asarray(scaled)[: SIZE[1]].astype(np.int16)
    noise = np.random.default_rng(0).normal(0, NOISE, pixels.shape).round().astype(np.int16)
    return np.clip(pixels + noise, 0, 255).astype(np.uint8)


def spent() -> float:
    """The CPU seconds of this process and of its children, with those that have ended."""
    total = time.process_time()
    for child in psutil.Process().children(recursive=True):
        with contextlib.suppress(psutil.NoSuchProcess):  # its parent counts it once it has ended
            total += sum(child.cpu_times()[:4])
    return total


def measure(work: Callable[[], object]) -> list[float]:
    """The CPU milliseconds of each of some rounds, after one that starts the decoder."""
    costs: list[float] = []
    for _ in range(ROUNDS + 1):
        start = spent()
        work()
        costs.append((spent() - start) * 1000)
    return costs[1:]


def store(pixels: Any) -> int:
    """Store a photo in a new store, and return the bytes of its PNG."""
    (file,) = ToolResult(pixels).files
    facts = FileCache().probe(file).facts
    assert facts is not None
    assert facts.pixels == SIZE
    return facts.size


def run(pixels: Any) -> None:
    """A run of a tool that returns a photo, which the inspector looks at."""

    def take() -> Any:
        """Take a photo."""
        return pixels

    done = Agent("inspector", [take]).run_sync("/take")
    assert done.receipts[0].delivery == "native"


def pillow(pixels: Any) -> int:
    """Encode a photo with Pillow, and return the bytes of the PNG."""
    stream = io.BytesIO()
    Image.fromarray(pixels).save(stream, "PNG")
    return stream.tell()


def row(name: str, costs: list[float], goal: float | None = None, size: int | None = None) -> list[object]:
    """One line of the table."""
    held = "" if goal is None else f"{verdict(median(costs), goal)} (<= {goal:g})"
    return [name, f"{median(costs):.1f}", f"{max(costs):.1f}", "" if size is None else f"{size / 1e6:.2f}", held]


def main() -> None:
    """Print what photos and tables cost."""
    pixels, sizes = photo(), []
    columns = {"id": np.arange(ROWS), "rain": np.random.default_rng(0).random(ROWS)}
    frames = {"pandas": pd.DataFrame(columns | {"city": "Oslo"}), "polars": pl.DataFrame(columns | {"city": "Oslo"})}
    rows = [
        row("photo, encoded", measure(lambda: ToolResult(pixels)), size=len(ToolResult(pixels).files[0].read())),
        row("photo, encoded by Pillow", measure(lambda: sizes.append(pillow(pixels))), size=pillow(pixels)),
        row("photo, encoded, stored and proved", measure(lambda: store(pixels)), GOAL_PHOTO_MS, store(pixels)),
        row("photo, a whole run", measure(lambda: run(pixels))),
    ]
    for library, frame in frames.items():
        rows.append(row(f"{library}, words", measure(lambda frame=frame: ToolResult(frame).text), GOAL_WORDS_MS))
        written = ToolResult(frame).files[0].read
        rows.append(row(f"{library}, CSV", measure(written), size=len(written())))
    print(f"CPU ms, median and most of {ROUNDS}; a photo of {SIZE[0]} by {SIZE[1]}, a table of {ROWS:,} rows")
    print(table(["case", "median", "most", "MB", "goal"], rows))


if __name__ == "__main__":
    main()
