"""Arrays and tables.

A photo of 1920 x 1080 pixels, as an array with the noise of a sensor, becomes a PNG that is stored and proved, and a
table of a million rows becomes its words. CPU time of the process and of those that decode for it. Beside it stand
Pillow's PNG at its usual level and at its fastest, and what a program would send of a table itself. The floor of
storing is Pillow at its fastest level with a sha256 and a write.
"""

from __future__ import annotations

import hashlib
import io
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import matplotlib.cbook as samples
import numpy as np
import pandas as pd
import polars as pl
from PIL import Image

from figures import FLOOR, Figure, rounds, save
from processes import cost
from showandtell import Agent, FileCache, ToolResult

ROUNDS = 15
SIZE = (1920, 1080)
GOAL_PHOTO, GOAL_WORDS = 150.0, 50.0
ROWS = 1_000_000
#: The standard deviation of a sensor's noise, of 256 levels.
NOISE = 3


def photo() -> Any:
    """A real photo as large as a screen, with the noise that scaling removed."""
    with samples.get_sample_data("grace_hopper.jpg") as stream:  # pyright: ignore[reportGeneralTypeIssues] - a file, as asfileobj is not False
        portrait = Image.open(stream).convert("RGB")
    scaled = portrait.resize((SIZE[0], SIZE[0] * portrait.height // portrait.width), Image.Resampling.LANCZOS)
    pixels = np.asarray(scaled)[: SIZE[1]].astype(np.int16)
    noise = np.random.default_rng(0).normal(0, NOISE, pixels.shape).round().astype(np.int16)
    return np.clip(pixels + noise, 0, 255).astype(np.uint8)


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


def pillow(pixels: Any, **level: Any) -> bytes:
    """Encode a photo with Pillow."""
    stream = io.BytesIO()
    Image.fromarray(pixels).save(stream, "PNG", **level)
    return stream.getvalue()


def store_plainly(pixels: Any, folder: Path) -> None:
    """What storing can't do without."""
    data = pillow(pixels, compress_level=1)
    (folder / hashlib.sha256(data).hexdigest()).write_bytes(data)


def measured(**ways: Callable[[], object]) -> tuple[list[float], dict[str, list[float]]]:
    """The CPU milliseconds of ours, and of the others."""
    costs = rounds(ROUNDS, **{name: (lambda work=work: cost(work)) for name, work in ways.items()})
    return costs.pop("ours"), costs


def of_photo(pixels: Any, folder: Path) -> Iterator[Figure]:
    """A photo, first encoded alone."""
    others = {
        "Pillow": lambda: pillow(pixels),
        "Pillow, fastest": lambda: pillow(pixels, compress_level=1),
    }
    yield Figure("a photo to PNG", "ms", *measured(ours=lambda: ToolResult(pixels), **others))
    sizes = {"Pillow": [len(pillow(pixels)) / 1e6], "Pillow, fastest": [len(pillow(pixels, compress_level=1)) / 1e6]}
    yield Figure("its PNG", "MB", [store(pixels) / 1e6], sizes)
    plain = {FLOOR: lambda: store_plainly(pixels, folder), **others}
    yield Figure(
        "a photo to PNG, stored and proved", "ms", *measured(ours=lambda: store(pixels), **plain), goal=GOAL_PHOTO
    )
    yield Figure("a run whose tool returns a photo", "ms", measured(ours=lambda: run(pixels))[0])


def of_tables() -> Iterator[Figure]:
    """Tables of two libraries."""
    columns = {"id": np.arange(ROWS), "rain": np.random.default_rng(0).random(ROWS), "city": "Oslo"}
    pandas, polars = pd.DataFrame(columns), pl.DataFrame(columns)
    written: dict[str, tuple[Any, Callable[[], object], Callable[[], object]]] = {
        "pandas": (pandas, lambda: str(pandas), lambda: pandas.describe().to_json()),
        "polars": (polars, lambda: str(polars), lambda: polars.describe().write_json()),
    }
    for name, (frame, words, summary) in written.items():
        ours, others = measured(ours=lambda frame=frame: ToolResult(frame).text, words=words, summary=summary)
        beside = {f"{name}, its own words": others["words"], f"{name}, describe": others["summary"]}
        yield Figure(f"a million rows of {name} to words", "ms", ours, beside, goal=GOAL_WORDS)
        file = ToolResult(frame).files[0]
        own = {"pandas": lambda: pandas.to_csv(index=False), "polars": polars.write_csv}[name]
        ours, others = measured(ours=lambda file=file: file.read(), own=own)
        yield Figure(f"a million rows of {name} to CSV", "ms", ours, {f"{name}, to_csv": others["own"]})


def main() -> None:
    """Print the table."""
    with tempfile.TemporaryDirectory() as folder:
        save(__doc__ or "", [*of_photo(photo(), Path(folder)), *of_tables()])


if __name__ == "__main__":
    main()
