"""How a command ends: its exit statuses, and the signals that end it."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from showandtell.core.events.types import Status

EXIT: dict[Status, int] = {"complete": 0, "error": 1, "incomplete": 3, "waiting": 3, "refused": 4}
INTERRUPTED = 130
#: Signals that ask a program to end.
ENDING = (signal.SIGTERM, signal.SIGHUP)
