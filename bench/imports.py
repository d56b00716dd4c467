"""Cost of imports: wall time and memory of a fresh interpreter, compared to one that imports nothing."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median

from cases import table, verdict

GOAL_MS, GOAL_MB = 120.0, 35.0
ROUNDS = 15
CASES = {
    "nothing": "pass",
    "import showandtell": "import showandtell",
    "from showandtell import render": "from showandtell import render",
    "from showandtell import render, Agent": "from showandtell import render, Agent",
}
GOALS = frozenset({"import showandtell"})
PEAK = f"; import sys; sys.path.append({str(Path(__file__).parent)!r}); from memory import peak_mib; print(peak_mib())"
#: The same without any import, so that nothing is counted that the statement didn't bring.
PEAK_LINUX = "; print(int(open('/proc/self/status').read().partition('VmHWM:')[2].split()[0]) / 1024)"


#: Compiled modules go to a folder of our own, so that each is compiled once however the bench is called.
COMPILED = tempfile.TemporaryDirectory(prefix="bench-imports-")


def python(*words: str) -> subprocess.CompletedProcess[str]:
    """Run a fresh interpreter that finds its modules compiled."""
    env = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    env["PYTHONPYCACHEPREFIX"] = COMPILED.name
    return subprocess.run([sys.executable, *words], check=True, capture_output=True, text=True, env=env)


def wall(code: str) -> float:
    """Milliseconds from start to end."""
    start = time.perf_counter()
    python("-c", code)
    return (time.perf_counter() - start) * 1000


def megabytes(code: str) -> float:
    """The peak memory in MB of 10^6 bytes."""
    return float(python("-c", code + (PEAK_LINUX if sys.platform == "linux" else PEAK)).stdout) * 1.048576


def heaviest(code: str, max_rows: int = 12) -> list[Sequence[object]]:
    """The modules that cost max_rows by themselves, in ms."""
    lines = re.findall(r"import time:\s+(\d+) \|\s+(\d+) \|\s+(\S+)", python("-X", "importtime", "-c", code).stderr)
    costs = sorted(((int(own) / 1000, int(all_) / 1000, name) for own, all_, name in lines), reverse=True)
    return [(f"{own:.1f}", f"{all_:.1f}", name) for own, all_, name in costs[:max_rows]]


def loaded(code: str) -> int:
    """How many modules a statement leaves loaded."""
    return int(python("-c", f"{code}; import sys; print(len(sys.modules))").stdout)


def main() -> None:
    """Print time and memory of each statement, then the slowest modules of the largest."""
    rounds = [{name: wall(code) for name, code in CASES.items()} for _ in range(ROUNDS + 1)][1:]
    times = {name: median(item[name] for item in rounds) for name in CASES}
    rows: list[Sequence[object]] = []
    for name, code in CASES.items():
        ms, mb = times[name], megabytes(code)
        good = (verdict(ms, GOAL_MS), verdict(mb, GOAL_MB)) if name in GOALS else ("", "")
        rows.append([name, f"{ms:.0f}", f"{ms - times['nothing']:.0f}", good[0], f"{mb:.1f}", good[1], loaded(code)])
    head = ["statement", "wall ms", "over none", f"<= {GOAL_MS:.0f}", "peak MB", f"<= {GOAL_MB:.0f}", "modules"]
    print(f"A fresh interpreter, median of {ROUNDS}")
    print(table(head, rows))
    print("\nImport times of the last statement (own ms, ms with its imports)")
    print(table(["own", "all", "module"], heaviest(CASES["from showandtell import render, Agent"])))


if __name__ == "__main__":
    main()
