"""How much memory a process has held. It imports little, for what it measures includes itself."""

from __future__ import annotations

import resource
import sys
from pathlib import Path

MIB = 1024 * 1024


def peak_mib() -> float:
    """The peak memory that this process has held, in MiB; a parent's share before exec isn't counted on Linux."""
    status = Path("/proc/self/status")
    if status.exists():
        return int(status.read_text().partition("VmHWM:")[2].split()[0]) / 1024
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / MIB if sys.platform == "darwin" else peak / 1024
