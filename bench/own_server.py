"""The server as its users start it, in a folder of its own, and what its processes hold."""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil

TOKEN = "bench-token-bench-token"  # noqa: S105 - of a server that lives for this bench
HEADERS = {"authorization": f"Bearer {TOKEN}"}


@contextmanager
def own_server(folder: Path) -> Iterator[tuple[str, int]]:
    """A server with the inspector, and its URL and process id."""
    command = [sys.executable, "-m", "showandtell", "serve", "--port", "0", "--data", str(folder)]
    environ = os.environ | {"SHOWANDTELL_TOKEN": TOKEN, "XDG_STATE_HOME": str(folder)}
    with subprocess.Popen(command, stdout=-1, stderr=subprocess.STDOUT, text=True, env=environ) as process:
        assert process.stdout is not None
        try:
            found = next(filter(None, (re.search(r"(http://[\d.:]+)", line) for line in process.stdout)))
            threading.Thread(target=deque, args=(process.stdout, 0), daemon=True).start()  # a full pipe would block it
            yield found[1], process.pid
        finally:
            process.terminate()
            process.wait()


def memory(process: int) -> float:
    """MB of a process and its children (proportional set size: what several share counts once)."""
    total = 0
    for one in [psutil.Process(process), *psutil.Process(process).children(recursive=True)]:
        with contextlib.suppress(OSError, psutil.NoSuchProcess, IndexError):  # it has just ended
            total += int(Path(f"/proc/{one.pid}/smaps_rollup").read_text().partition("\nPss:")[2].split()[0])
    return total / 1000
