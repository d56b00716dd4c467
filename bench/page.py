"""Cost of the page in a browser: scripts at startup, first paint, a conversation of 500 messages and 200 images.

The server is a separate process on the same machine. Each figure is the median of five fresh browsers. Requires
chromium, Node, and the page built by `make page`.
"""

from __future__ import annotations

import asyncio
import io
import json
import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from PIL import Image

from cases import table, verdict
from showandtell.core.messages.file import File
from showandtell.core.messages.message import Draft
from showandtell.core.messages.parts import Text
from showandtell.storage.conversations.store import Store
from showandtell.storage.location import StorageLocation

ROOT = Path(__file__).parent.parent
TOKEN = "a-token-for-the-bench"  # noqa: S105 - it opens nothing
MESSAGES, IMAGES = 500, 200
WORDS = """The quarter was **good**: revenue grew by 4 %.

- harbour: 120
- kiwi: 95

```py
print(1)
```

See image {}.

"""
#: Bytes, milliseconds, and milliseconds of one frame at 60 a second with as much again to spare.
GOALS = {"bytes": 80_000.0, "paint": 500.0, "opened": 1000.0, "p95": 34.0}
SAYS = {
    "bytes": ("JavaScript at the start, gzip", "kB", 1000),
    "paint": ("first paint", "ms", 1),
    "opened": ("500 messages, 200 images: newest shown", "ms", 1),
    "blocked": ("longest task while opening", "ms", 1),
    "p95": ("frame while scrolling through all, p95", "ms", 1),
    "stuck": ("longest task while scrolling", "ms", 1),
    "heap": ("memory of the page's scripts after it", "MB", 1_000_000),
}


def draw(at: int) -> bytes:
    """A picture unlike the others: 640 x 480, in bands."""
    image = Image.new("RGB", (640, 480), (at * 7 % 256, at * 13 % 256, at * 29 % 256))
    image.paste((250, 250, 250), (at % 300, at % 200, at % 300 + 120, at % 200 + 90))
    buffer = io.BytesIO()
    image.save(buffer, "PNG")
    return buffer.getvalue()


async def fill(folder: Path) -> str:
    """A conversation in a folder, as a server would have stored it; gives its id."""
    place = StorageLocation(folder)
    async with place.store() as store:
        return await write(store)


async def write(store: Store) -> str:
    """Questions with a picture each for as long as there are some, and answers of some lines."""
    conversation = await store.create("local")
    for at in range(MESSAGES // 2):
        files = (File.from_bytes(draw(at), name=f"picture {at}.png"),) if at < IMAGES else ()
        for draft in (
            Draft("user", (*files, Text(f"What is there in picture {at + 1}?"))),
            Draft("assistant", (Text(WORDS.format(at + 1) * 3),), stop="end"),
        ):
            await conversation.record(draft, await conversation.probe(draft))
    return conversation.id


@contextmanager
def serving(folder: Path) -> Generator[str]:
    """A server over a folder, as its users start it; gives its address."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "showandtell", "serve", "--port", str(port), "--data", str(folder)]
    own = {**os.environ, "SHOWANDTELL_TOKEN": TOKEN}
    with subprocess.Popen(command, env=own, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        server.stdout.readline()
        try:
            yield f"http://127.0.0.1:{port}"
        finally:
            server.terminate()


def measure(folder: Path) -> dict[str, float]:
    """Fill a folder, serve it, and measure in a browser."""
    id_ = asyncio.run(fill(folder))
    asked = [sys.executable, "hatch_build.py", "--node"]
    node = subprocess.run(asked, cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()
    with serving(folder) as url:
        script = ROOT / "web" / "tests" / "benchmark.mjs"
        command = [str(Path(node) / "node"), str(script), url, TOKEN, id_]
        received = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout
    return json.loads(received)


def main() -> None:
    """Print a row for each figure."""
    with tempfile.TemporaryDirectory(prefix="showandtell-bench-") as folder:
        found = measure(Path(folder))
    rows: list[tuple[str, str, str, str]] = []
    for name, (words, unit, scale) in SAYS.items():
        goal = GOALS.get(name)
        received = "" if goal is None else f"{goal / scale:g} {unit}"
        rows.append(
            (words, f"{found[name] / scale:.1f} {unit}", received, "" if goal is None else verdict(found[name], goal))
        )
    print(table(("figure", "measured", "goal", ""), rows))


if __name__ == "__main__":
    main()
